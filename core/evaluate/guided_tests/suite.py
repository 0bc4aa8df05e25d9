"""Which generated pictures can judge a whole model? A suite that belongs to a data set, and to no model.

Pictures at the boundary of the model under test cannot judge it: they are chosen by that model's own confidence, so
that its accuracy on them says how calibrated it is. Here a *reference* chooses them, a linear model of principal
components, and an *oracle* says what they show: support vector machines, each of which reads only pictures made from
samples that it was not fitted on. Every model that meets the same suite meets the same pictures.
"""

from dataclasses import dataclass, field, fields

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped, UInt8

from touchstone.core.evaluate.guided_tests.generate import Recipe, generate_tests, start
from touchstone.core.evaluate.guided_tests.oracle import MOST_FOR_ORACLE, kept_by_others, read_by_oracle
from touchstone.core.evaluate.guided_tests.results import SAMPLES, GeneratedTests, Origin
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.test_quality import fit_regions
from touchstone.core.models.classical import ShouldStop, stop_if
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.threads import single_threaded

CENTROID_SHARE = 0.3
"""Of a suite's tests, near the centroid; the others are at the boundary, where models differ."""
MOST_TESTS, FEWEST_A_CLASS = 2000, 10
_N_COMPONENTS = 50
_PARENTS_UP_TO = 1.0  # the reference's confidence; every test sample can be a parent, so that there are many


@dataclass(frozen=True, eq=False)
class Suite:
    """Pictures of 0 to 255, the class `y` that each was made for, and what speaks for it.

    `for_centroid` says for which region of the reference, `in_region` whether the picture still lies there, `read_as`
    as which class the oracle reads it, and `kept_again` whether it would count by each of some oracles that were fitted
    on real samples drawn anew (`core.evaluate.guided_tests.oracle`). `rival` is the class beyond the boundary.
    `parent_ids` and `parent_part` name the real sample that it was made from. The oracle read `oracle_right` of
    `oracle_n` real samples right.
    """

    class_names: tuple[str, ...]
    images: UInt8[np.ndarray, "n height width channels"] = field(repr=False)
    y: Integer[np.ndarray, " n"] = field(repr=False)
    for_centroid: Bool[np.ndarray, " n"] = field(repr=False)
    in_region: Bool[np.ndarray, " n"] = field(repr=False)
    read_as: Integer[np.ndarray, " n"] = field(repr=False)
    kept_again: Bool[np.ndarray, "n n_oracles"] = field(repr=False)
    rival: Integer[np.ndarray, " n"] = field(repr=False)
    parent_ids: Shaped[np.ndarray, " n"] = field(repr=False)
    parent_part: Shaped[np.ndarray, " n"] = field(repr=False)
    oracle_right: int
    oracle_n: int
    origin: Origin = SAMPLES

    def __len__(self) -> int:
        return len(self.y)

    @property
    def pixels(self) -> Float[np.ndarray, "n height width channels"]:
        """The pictures as a data set has them: 0 black, 1 white."""
        return (self.images / 255).astype(np.float32)

    @property
    def kept(self) -> Bool[np.ndarray, " n"]:
        """Which tests count: their picture lies in its region, and the oracle reads it as its class."""
        return self.in_region & (self.read_as == self.y)

    @property
    def clusters(self) -> Integer[np.ndarray, " n"]:
        """A number for each parent, or its unit: pictures of one parent are no independent evidence."""
        return self.origin.clusters(self.parent_part, self.parent_ids)

    @property
    def oracle_accuracy(self) -> tuple[float, Interval]:
        """The share of real samples that the oracle reads right without having been fitted on them."""
        right, n = float(self.oracle_right), float(self.oracle_n)
        return (right / n if n else float("nan")), wilson(right, n)

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "Suite":
        """Give some of the tests, by position or by one truth value each."""
        whole = {name: getattr(self, name) for name in ("class_names", "oracle_right", "oracle_n", "origin")}
        return Suite(
            **whole, **{each.name: getattr(self, each.name)[rows] for each in fields(self) if each.name not in whole}
        )


@dataclass(frozen=True, eq=False)
class Reference:
    """A linear classifier of principal components, which pictures are made and chosen by. It can be turned around."""

    mean: Float[np.ndarray, " n_pixels"]
    axes: Float[np.ndarray, "n_components n_pixels"]
    weights: Float[np.ndarray, "n_classes n_components"]
    offsets: Float[np.ndarray, " n_classes"]
    shape: tuple[int, int, int]

    def encode(self, images: Float[np.ndarray, "n height width channels"]) -> Float[np.ndarray, "n n_components"]:
        """Give the components of pictures."""
        return ((images.reshape(len(images), -1) - self.mean) @ self.axes.T).astype(np.float32)

    def decode(self, features: Float[np.ndarray, "n n_components"]) -> UInt8[np.ndarray, "n height width channels"]:
        """Give the picture of components, rounded to whole grey levels."""
        pixels = np.clip(features @ self.axes + self.mean, 0.0, 1.0)
        return np.round(255 * pixels).astype(np.uint8).reshape(len(features), *self.shape)

    def __call__(self, features: Float[np.ndarray, "n n_components"]) -> Float[np.ndarray, "n n_classes"]:
        """Give the probability of every class."""
        from scipy.special import softmax

        return softmax(features.astype(np.float64) @ self.weights.T + self.offsets, axis=1)


def make_suite(
    images: Float[np.ndarray, "n_samples height width channels"],
    y: Integer[np.ndarray, " n_samples"],
    ids: Shaped[np.ndarray, " n_samples"],
    *,
    train_rows: Integer[np.ndarray, " n_train"],
    test_rows: Integer[np.ndarray, " n_test"],
    class_names: tuple[str, ...],
    seed: int,
    should_stop: ShouldStop | None = None,
) -> Suite:
    """Make a suite from real pictures: the reference is fitted on the training part, parents are of the test part.

    Raises DataError where the reference has no regions (`fit_regions`), and Cancelled between two fits.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> digits = load_example("digits")
    >>> parts = {"train_rows": np.arange(1200), "test_rows": np.arange(1200, 1797)}
    >>> suite = make_suite(digits.x, digits.y, digits.ids, class_names=digits.class_names, seed=0, **parts)
    >>> len(suite) <= MOST_TESTS, suite.oracle_accuracy[0] > 0.95
    (True, True)
    """
    with single_threaded():
        stop_if(should_stop)
        reference = fit_reference(images[train_rows], y[train_rows], n_classes=len(class_names))
        tests = _generated(reference, images, y, (train_rows, test_rows), class_names, seed)
        pictures = reference.decode(tests.features)
        features = reference.encode((pictures / 255).astype(np.float32))
        regions = fit_regions(_samples(reference, images, y, train_rows, class_names))
        inside = np.where(
            tests.for_centroid, regions.in_centroid(features, tests.y), regions.in_boundary(reference(features))
        )
        rows = tests.parent_ids.astype(np.int64)
        real = np.concatenate([train_rows, test_rows])
        real_ones = {"images": images, "y": y, "rows": real, "seed": seed, "should_stop": should_stop}
        read_as, right = read_by_oracle(pictures / 255, rows, **real_ones)
        kept_again = inside[:, None] & kept_by_others(pictures / 255, tests.y, **real_ones)
    return Suite(
        class_names,
        pictures,
        tests.y,
        tests.for_centroid,
        inside.astype(bool),
        read_as,
        kept_again,
        tests.rival,
        np.asarray(ids, dtype=object)[rows],
        tests.parent_part,
        int(right.sum()),
        len(right),
    )


def fit_reference(
    images: Float[np.ndarray, "n height width channels"], y: Integer[np.ndarray, " n"], *, n_classes: int
) -> Reference:
    """Fit the reference on real pictures."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression

    flat = images.reshape(len(images), -1)
    few = np.random.default_rng(0).permutation(len(flat))[:MOST_FOR_ORACLE]
    pca = PCA(min(_N_COMPONENTS, flat.shape[1], len(few) - 1), svd_solver="full", random_state=0).fit(flat[few])
    linear = LogisticRegression(C=0.1, max_iter=500).fit(pca.transform(flat[few]), y[few])
    weights, offsets = np.zeros((n_classes, len(pca.components_))), np.full(n_classes, -1e3)
    both = linear.coef_, linear.intercept_
    if len(linear.classes_) == 2:  # one row for both classes
        both = np.vstack([-both[0] / 2, both[0] / 2]), np.concatenate([-both[1] / 2, both[1] / 2])
    weights[linear.classes_], offsets[linear.classes_] = both
    return Reference(pca.mean_, pca.components_, weights, offsets, (images.shape[1], images.shape[2], images.shape[3]))


def _generated(
    reference: Reference,
    images: np.ndarray,
    y: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray],
    class_names: tuple[str, ...],
    seed: int,
) -> GeneratedTests:
    """Features at the reference's regions; their parents' ids are rows of the data set."""
    train, test = (_samples(reference, images, y, rows, class_names) for rows in parts)
    begin = start(fit_regions(train), reference, train=train, test=test, recipe=Recipe(wcl=_PARENTS_UP_TO))
    n = max(MOST_TESTS // len(class_names), FEWEST_A_CLASS)
    return generate_tests(begin, n, centroid_share=CENTROID_SHARE, seed=seed)


def _samples(
    reference: Reference, images: np.ndarray, y: np.ndarray, rows: np.ndarray, class_names: tuple[str, ...]
) -> LayerSamples:
    features = reference.encode(images[rows])
    return LayerSamples(features, y[rows], reference(features), class_names, ids=[str(row) for row in rows])
