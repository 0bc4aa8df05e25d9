"""What do generated features look like, and does the whole model agree with its head about them? (figure 6)"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.guided_tests.results import GeneratedTests
from touchstone.core.evaluate.intervals import Interval, t_interval, wilson
from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.models.decoder import Decoder
from touchstone.core.models.layers import Layer
from touchstone.core.models.load import Model


@dataclass(frozen=True)
class Reconstruction:
    """How well images come back from their features: the root of the mean squared error of a pixel (0 black, 1 white).

    `baseline` is that of showing the mean image every time. Of `n` images that the decoder has not seen.
    """

    error: float
    interval: Interval
    baseline: float
    n: int


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """Generated features, decoded, and sent through the whole model again.

    `proba` is what the model gives for the images. It disagrees with its head where it takes an image for another class
    than the head took the features for: the decoder then shows something else than was tested. `in_region` says whose
    image lies in the region that its features were made for.
    """

    predicted: Integer[np.ndarray, " n"] = field(repr=False)
    confidence: Float[np.ndarray, " n"] = field(repr=False)
    disagrees: Bool[np.ndarray, " n"] = field(repr=False)
    in_region: Bool[np.ndarray, " n"] = field(repr=False)
    class_names: tuple[str, ...]

    @property
    def disagreement(self) -> tuple[int, int, float, Interval]:
        """How many disagree, of how many, the share, and Wilson's interval."""
        return _share(self.disagrees)

    @property
    def kept_region(self) -> tuple[int, int, float, Interval]:
        """How many images still lie in the region, of how many, the share, and Wilson's interval."""
        return _share(self.in_region)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each test: image_predicted, image_confidence, disagrees, image_in_region."""
        return pd.DataFrame(
            {
                "image_predicted": np.array(self.class_names, dtype=object)[self.predicted],
                "image_confidence": self.confidence,
                "disagrees": self.disagrees,
                "image_in_region": self.in_region,
            }
        )


def reconstruction(
    decoder: Decoder,
    features: Float[np.ndarray, "n n_features"],
    images: Float[np.ndarray, "n height width channels"],
) -> Reconstruction:
    """Measure a decoder on images that it has not seen."""
    errors, plain = decoder.squared_errors(features, images)
    n, mean = len(errors), float(errors.mean())
    se = float(errors.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    around = t_interval(mean, se, float(n - 1))
    ends = Interval(float(np.sqrt(max(around.lower, 0.0))), float(np.sqrt(max(around.upper, 0.0))))
    return Reconstruction(float(np.sqrt(mean)), ends if around.known else around, float(np.sqrt(plain.mean())), n)


def round_trip(
    tests: GeneratedTests,
    images: Float[np.ndarray, "n height width channels"],
    *,
    model: Model,
    layer: Layer,
    regions: Regions,
) -> RoundTrip:
    """Send decoded images through the whole model, and hold it against what the head said of the features."""
    features = layer.features(model.inputs(images))
    proba = layer(features)
    near = regions.in_centroid(features, tests.y)
    inside = np.where(tests.for_centroid, near, regions.in_boundary(proba))
    predicted = proba.argmax(axis=1)
    return RoundTrip(predicted, proba.max(axis=1), predicted != tests.predicted, inside, tests.class_names)


def _share(which: Bool[np.ndarray, " n"]) -> tuple[int, int, float, Interval]:
    k, n = int(which.sum()), len(which)
    return k, n, k / n if n else float("nan"), wilson(float(k), float(n))
