"""Generated tests? Features that lie where they were asked for, with their truth, and what could not be placed."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.values import Bools, Codes, Floats, Ints
from touchstone.core.evaluate import intervals
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.evaluate.wording import plural
from touchstone.core.models.classical import ShouldStop, stop_if
from touchstone.core.models.decoder import Decoder
from touchstone.core.models.layers import Layer
from touchstone.core.models.load import Model

Pictures = Float[np.ndarray, "n height width channels"]

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


# Who says what a generated picture shows, and how far does a result hang on that? Machines fitted on real samples.
#
# An oracle decides which pictures count. Another one, fitted on other real samples, would let a few others count, most
# of them at the boundary, where models differ. What it decides is alike for all tests, so that no spread between tests
# shows it: where nothing separated two models, 28 % of "more accurate" were wrong by the spread over samples alone
# (tests/worlds/guided_tests_two_models.py). So oracles are fitted on bootstrap samples, too, and each result's standard
# deviation over these is a part of its error (Efron 1979).

MOST_FOR_ORACLE = 10_000
"""An oracle is fitted on so many real samples at most, taken at random."""
N_OTHERS = 20
"""Oracles that are fitted on real samples drawn anew."""
_N_FOLDS, _N_COMPONENTS = 5, 50


class OracleError(NamedTuple):
    """The standard error that a mean owes to the oracle, and its degrees of freedom (0: nothing is known of it)."""

    se: float
    df: float


NO_ERROR = OracleError(0.0, 0.0)


def read_by_oracle(
    pictures: Pictures,
    parents: Ints,
    *,
    images: Float[np.ndarray, "n_samples height width channels"],
    y: Codes,
    rows: Integer[np.ndarray, " n_rows"],
    seed: int,
    should_stop: ShouldStop | None = None,
) -> tuple[Ints, Bool[np.ndarray, " n_read"]]:
    """Read pictures by machines that have seen none of their `parents` (rows of `images`).

    Give the class of each picture, and of the real samples `rows` (or of many of them) whether they are read right.
    """
    rng = np.random.default_rng([seed, 1])
    fold = np.full(len(images), -1)
    fold[rows] = rng.permutation(np.arange(len(rows)) % _N_FOLDS)
    few = rng.permutation(rows)[:MOST_FOR_ORACLE]
    read_as, right = np.full(len(pictures), -1), []
    for held_out in range(_N_FOLDS):
        stop_if(should_stop)
        fitted, others = few[fold[few] != held_out], few[fold[few] == held_out]
        oracle = _fitted(images[fitted], y[fitted])
        own = fold[parents] == held_out
        if own.any():
            read_as[own] = oracle.predict(_flat(pictures[own]))
        if len(others):
            right.append(oracle.predict(_flat(images[others])) == y[others])
    return read_as, np.concatenate(right)


def kept_by_others(
    pictures: Pictures,
    wanted: Ints,
    *,
    images: Float[np.ndarray, "n_samples height width channels"],
    y: Codes,
    rows: Integer[np.ndarray, " n_rows"],
    seed: int,
    should_stop: ShouldStop | None = None,
) -> Bool[np.ndarray, "n n_others"]:
    """Say which pictures each of `N_OTHERS` oracles reads as what they were made for (`wanted`).

    Each is fitted on as many of the real samples `rows`, drawn with replacement.
    """
    rng = np.random.default_rng([seed, 2])
    few = rng.permutation(rows)[:MOST_FOR_ORACLE]
    kept = np.zeros((len(pictures), N_OTHERS), dtype=bool)
    for place in range(N_OTHERS if len(pictures) else 0):
        stop_if(should_stop)
        drawn = few[rng.integers(len(few), size=len(few))]
        kept[:, place] = _fitted(images[drawn], y[drawn]).predict(_flat(pictures)) == wanted
    return kept


def oracle_error(values: Floats, kept_again: Bool[np.ndarray, "n n_oracles"]) -> OracleError:
    """Give the error that the mean of `values` over the tests that count owes to the oracle.

    It is the standard deviation of that mean over oracles, each with the tests that it keeps.

    Examples
    --------
    >>> oracle_error(np.array([0.0, 1.0]), np.array([[True, True], [True, False]]))
    OracleError(se=0.35..., df=1.0)
    """
    n = kept_again.sum(axis=0)
    means = (values @ kept_again)[n > 0] / n[n > 0]
    if len(means) < 2:
        return NO_ERROR
    return OracleError(float(means.std(ddof=1)), float(len(means) - 1))


def _fitted(images: np.ndarray, y: np.ndarray) -> "Pipeline":
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    n_components = min(_N_COMPONENTS, images[0].size, len(images) - 1)
    return make_pipeline(PCA(n_components, svd_solver="full"), SVC(C=10.0, random_state=0)).fit(_flat(images), y)


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1)


# What are generated tests? Features that lie where they were asked for, with their truth.


REGIONS = ("centroid", "boundary")


@dataclass(frozen=True)
class Origin:
    """What the real samples are that tests are made from: the unit of each, by id, and what one is called.

    >>> Origin({"a": "ann", "b": "ann"}, "author").clusters(["test"] * 3, ["a", "b", "a"])
    array([0, 0, 0])
    """

    unit_of: Mapping[str, str] = field(default_factory=dict)
    word: str = "sample"

    @classmethod
    def of(cls, dataset: Dataset) -> "Origin":
        """That of the samples of a data set."""
        if dataset.units is None or dataset.unit_codes is None:
            return SAMPLES
        return cls(dict(zip(dataset.ids.tolist(), dataset.units.tolist(), strict=True)), dataset.unit_word)

    def clusters(self, parts: Sequence[str] | np.ndarray, ids: Sequence[str] | np.ndarray) -> np.ndarray:
        """A number for each parent or, where samples came in units, for the unit that it is of."""
        both = [self.unit_of.get(str(own)) or f"{part} {own}" for part, own in zip(parts, ids, strict=True)]
        return np.unique(both, return_inverse=True)[1] if both else np.zeros(0, dtype=np.int64)


SAMPLES = Origin()


@dataclass(frozen=True, eq=False)
class GeneratedTests:
    """Features that were generated for classes `y`, which is their truth by the metamorphic rule.

    Each lies in the region it was generated for: the centroid region of its class where `for_centroid`, else the
    boundary region; `in_centroid` and `in_boundary` say in which regions it lies, which may be both. It began at the
    sample `parent_ids` of a `parent_part` and went the share `t` of the way to its own centroid, or past the boundary
    with its `rival`. `predicted` and `confidence` are what the head says. `asked` and `placed` count by class and
    region, in the order of `REGIONS`.
    """

    class_names: tuple[str, ...]
    features: Float[np.ndarray, "n n_features"] = field(repr=False)
    y: Ints = field(repr=False)
    for_centroid: Bools = field(repr=False)
    parent_ids: Shaped[np.ndarray, " n"] = field(repr=False)
    parent_part: Shaped[np.ndarray, " n"] = field(repr=False)
    rival: Ints = field(repr=False)
    t: Floats = field(repr=False)
    distance: Floats = field(repr=False)
    confidence: Floats = field(repr=False)
    predicted: Ints = field(repr=False)
    in_centroid: Bools = field(repr=False)
    in_boundary: Bools = field(repr=False)
    asked: Integer[np.ndarray, "n_classes 2"]
    placed: Integer[np.ndarray, "n_classes 2"]
    origin: "Origin" = field(default_factory=lambda: SAMPLES, repr=False)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def correct(self) -> Bools:
        """Which of them the head takes for the class that they were generated for."""
        return self.predicted == self.y

    @property
    def n_unplaced(self) -> int:
        """How many were asked for and could not be placed."""
        return int((self.asked - self.placed).sum())

    @property
    def clusters(self) -> Ints:
        """A number for each parent, or its unit: features of one parent are no independent evidence."""
        return self.origin.clusters(self.parent_part, self.parent_ids)

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "GeneratedTests":
        """Give some of them, by position or by one truth value each; as if no more had been asked for."""
        per_row = {name: getattr(self, name)[rows] for name in _PER_ROW}
        sides = per_row["for_centroid"], ~per_row["for_centroid"]
        counts = np.stack([np.bincount(per_row["y"][side], minlength=len(self.class_names)) for side in sides], axis=1)
        return GeneratedTests(self.class_names, **per_row, asked=counts, placed=counts, origin=self.origin)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each: label, region, rival, parent, part, t, distance, confidence, predicted, correct.

        Then in_centroid and in_boundary, which are truth values.
        """
        names = np.array(self.class_names, dtype=object)
        return pd.DataFrame(
            {
                "label": names[self.y],
                "region": np.where(self.for_centroid, *REGIONS),
                "rival": names[self.rival],
                "parent": self.parent_ids,
                "part": self.parent_part,
                "t": self.t,
                "distance": self.distance,
                "confidence": self.confidence,
                "predicted": names[self.predicted],
                "correct": self.correct,
                "in_centroid": self.in_centroid,
                "in_boundary": self.in_boundary,
            }
        )

    def counts_table(self) -> pd.DataFrame:
        """Tidy rows, one for each class and region: label, region, asked, placed, unplaced."""
        return pd.DataFrame(
            {
                "label": np.repeat(np.array(self.class_names, dtype=object), 2),
                "region": list(REGIONS) * len(self.class_names),
                "asked": self.asked.ravel(),
                "placed": self.placed.ravel(),
                "unplaced": (self.asked - self.placed).ravel(),
            }
        )

    def to_npz(
        self,
        images: Pictures | None = None,
        *,
        facts: Mapping[str, Shaped[np.ndarray, "..."] | str | float] | None = None,
    ) -> bytes:
        """Write features, labels, region, rival and parent ids (and images) as NPZ that needs no pickle to be read.

        `facts` are arrays beside: what the features are of, and what is known of each test.
        """
        names = np.array(self.class_names, dtype=str)
        arrays: dict[str, np.ndarray] = {
            "features": self.features,
            "labels": names[self.y],
            "region": np.where(self.for_centroid, *REGIONS).astype(str),
            "rival": names[self.rival],
            "parent_ids": self.parent_ids.astype(str),
            "parent_part": self.parent_part.astype(str),
            "predicted": names[self.predicted],
            "confidence": self.confidence,
            "class_names": names,
        }
        if images is not None:
            arrays |= {"images": images, "pixel_scale": np.array([0.0, 1.0])}
        arrays |= {name: np.asarray(value) for name, value in (facts or {}).items()}
        stream = io.BytesIO()
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()


_PER_ROW = (
    *("features", "y", "for_centroid", "parent_ids", "parent_part", "rival", "t", "distance", "confidence"),
    *("predicted", "in_centroid", "in_boundary"),
)


def all_of(parts: "list[GeneratedTests]") -> GeneratedTests:
    """Put several together, class after class."""
    per_row = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _PER_ROW}
    asked, placed = (sum(getattr(part, name) for part in parts) for name in ("asked", "placed"))
    return GeneratedTests(parts[0].class_names, **per_row, asked=asked, placed=placed, origin=parts[0].origin)


# How does the model fare on generated tests? Accuracy of its head over mixes and sizes (section 5.4, table 2).


TABLE_MIXES = (0.0, 0.3, 0.5, 0.7, 1.0)
"""The mixes of table 2, as shares of the centroid region."""
TABLE_SIZES = (0.01, 0.03, 0.07, 0.1)
"""The sizes of table 2, as shares of the test set, for *each* class."""
_FEWEST_MIXED = 10


@dataclass(frozen=True)
class SharedAccuracy:
    """Of `n` generated tests from `n_parents` real samples `n_correct` are taken for what they were generated for.

    The interval is over parents: generating more from the same samples does not make it shorter.
    """

    n: int
    n_correct: int
    n_parents: int
    accuracy: float
    interval: intervals.Interval
    parent_word: str = "sample"
    """What the parents count as: samples, or the units that these came in."""

    @property
    def parents(self) -> str:
        """How many real samples the tests are from, or how many units of such."""
        return plural(self.n_parents, self.parent_word)


@dataclass(frozen=True)
class MixAccuracy:
    """One cell of table 2, and the same for either region.

    `at_boundary` is the share of the boundary tests on their own class's side of the boundary, and nothing else: at a
    mix of 0-100 the accuracy is that share. `asked` and `n_unplaced` count over all classes.
    """

    centroid_share: float
    n_per_class: int
    asked: int
    n_unplaced: int
    overall: SharedAccuracy
    near_centroid: SharedAccuracy
    at_boundary: SharedAccuracy


@dataclass(frozen=True)
class AccuracyGrid:
    """Accuracies over mixes and sizes, beside that on the original test set (`n_correct` of `n_test`, Wilson's)."""

    n_test: int
    n_correct: int
    accuracy: float
    interval: intervals.Interval
    cells: tuple[MixAccuracy, ...]

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each mix and size.

        centroid_share, n_per_class, asked, n_unplaced; n, n_parents, accuracy, lower, upper over all, and the same for
        each region (with _centroid and _boundary); test_accuracy, test_lower, test_upper.
        """
        rows = []
        for cell in self.cells:
            row: dict[str, object] = {
                "centroid_share": cell.centroid_share,
                "n_per_class": cell.n_per_class,
                "asked": cell.asked,
                "n_unplaced": cell.n_unplaced,
            }
            named = (("", cell.overall), ("_centroid", cell.near_centroid), ("_boundary", cell.at_boundary))
            for suffix, accuracy in named:
                row |= {
                    f"n{suffix}": accuracy.n,
                    f"n_parents{suffix}": accuracy.n_parents,
                    f"accuracy{suffix}": accuracy.accuracy,
                }
                row |= {f"lower{suffix}": accuracy.interval.lower, f"upper{suffix}": accuracy.interval.upper}
            rows.append(row | {"test_accuracy": self.accuracy, **self.interval.columns("test_")})
        return pd.DataFrame(rows)


def shared_accuracy(
    correct: Bools, cluster: Ints, *, oracle: OracleError = NO_ERROR, parent_word: str = "sample"
) -> SharedAccuracy:
    """Give the share of correct ones, with an interval over clusters, Wilson's by Student's t.

    Where hardly a cluster differs from the others it is Wilson's as well, of as many samples as there are clusters.
    `oracle` is the error that it owes to who decides which tests count. `parent_word` says what a cluster is of.

    Examples
    --------
    >>> one = shared_accuracy(np.array([True, True, False, True]), np.array([0, 0, 1, 1]))
    >>> one.accuracy, one.n_parents
    (0.75, 2)
    """
    n = len(correct)
    if n == 0:
        return SharedAccuracy(0, 0, 0, float("nan"), intervals.UNKNOWN, parent_word)
    _, cluster = np.unique(cluster, return_inverse=True)
    size, right = np.bincount(cluster), np.bincount(cluster, weights=correct)
    k, value = len(size), float(correct.mean())
    interval = whole = intervals.wilson(value * k, float(k))
    if k > 1:
        # The linearised variance of a ratio over clusters (Cochran 1977, section 11.2): sizes differ, too.
        se = float(np.sqrt(k / (k - 1) * np.square(right - value * size).sum())) / n
        interval = intervals.share_interval(value, *intervals.sum_of_errors((se, float(k - 1)), oracle))
        few = min((right > 0).sum(), (right < size).sum()) < _FEWEST_MIXED
        interval = intervals.joined(interval, whole) if few else interval
    return SharedAccuracy(n, int(correct.sum()), k, value, interval, parent_word)


def mix_accuracy(tests: GeneratedTests, *, centroid_share: float, n_per_class: int) -> MixAccuracy:
    """Say how the head fares on generated tests: on all of them, and on those of either region."""
    cluster, correct, near = tests.clusters, tests.correct, tests.for_centroid
    word, sides = tests.origin.word, (np.ones_like(near), near, ~near)
    parts = [shared_accuracy(correct[rows], cluster[rows], parent_word=word) for rows in sides]
    return MixAccuracy(centroid_share, n_per_class, int(tests.asked.sum()), tests.n_unplaced, *parts)


def accuracy_grid(
    near: GeneratedTests, boundary: GeneratedTests, *, n_test: int, n_correct: int, sizes: tuple[int, ...]
) -> AccuracyGrid:
    """Fill table 2 from two sets of generated tests, one of either region: every mix takes the first of each class.

    Mixes and sizes thus share their tests, so that what differs between them is the mix. `sizes` are tests for each
    class. Of the test set no more is asked than how many of it were right. Classes that no test was asked for are left
    out, so that an unfinished generation has a figure, too. Raises DataError where fewer were asked for than the
    largest size.
    """
    largest, wanted = max(sizes), _wanted(near, boundary)
    if not wanted.any() or min(near.asked[wanted, 0].min(), boundary.asked[wanted, 1].min()) < largest:
        raise DataError(f"{largest} tests for each class and region must be generated first.")
    cells = []
    for size in dict.fromkeys(sizes):  # of small test sets several are one test
        for share in TABLE_MIXES:
            n_near = round(share * size)
            taken = _first(near, boundary, n_near, size - n_near)
            cells.append(mix_accuracy(taken, centroid_share=share, n_per_class=size))
    interval = intervals.wilson(float(n_correct), float(n_test))
    return AccuracyGrid(n_test, n_correct, n_correct / n_test, interval, tuple(cells))


def table_sizes(n_test: int) -> tuple[int, ...]:
    """Give the sizes of table 2 for a test set: for each class 1, 3, 7 and 10 % of the whole.

    Examples
    --------
    >>> table_sizes(10_000), table_sizes(26_032)
    ((100, 300, 700, 1000), (260, 781, 1822, 2603))
    """
    return tuple(max(1, round(share * n_test)) for share in TABLE_SIZES)


def _first(near: GeneratedTests, boundary: GeneratedTests, n_near: int, n_boundary: int) -> GeneratedTests:
    """The first of each class and region, or as many as could be placed."""
    parts = []
    for tests, n, column in ((near, n_near, 0), (boundary, n_boundary, 1)):
        own = tests.for_centroid == (column == 0)
        rank = np.zeros(len(tests), dtype=np.int64)
        for label in range(len(tests.class_names)):
            rows = np.flatnonzero(own & (tests.y == label))
            rank[rows] = 1 + np.arange(len(rows))
        parts.append(tests.take((rank > 0) & (rank <= n)))
    made = all_of(parts)
    asked = np.outer(_wanted(near, boundary), [n_near, n_boundary])
    return replace(made, asked=asked)


def _wanted(near: GeneratedTests, boundary: GeneratedTests) -> Bool[np.ndarray, " n_classes"]:
    return (near.asked + boundary.asked).sum(axis=1) > 0


# What do generated features look like, and does the whole model agree with its head about them? (figure 6)


@dataclass(frozen=True)
class Reconstruction:
    """How well images come back from their features: the root of the mean squared error of a pixel (0 black, 1 white).

    `baseline` is that of showing the mean image every time. Of `n` images that the decoder has not seen.
    """

    error: float
    interval: intervals.Interval
    baseline: float
    n: int


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """Generated features, decoded, and sent through the whole model again.

    `proba` is what the model gives for the images. It disagrees with its head where it takes an image for another class
    than the head took the features for: the decoder then shows something else than was tested. `in_region` says whose
    image lies in the region that its features were made for.
    """

    predicted: Ints = field(repr=False)
    confidence: Floats = field(repr=False)
    disagrees: Bools = field(repr=False)
    in_region: Bools = field(repr=False)
    class_names: tuple[str, ...]

    @property
    def disagreement(self) -> tuple[int, int, float, intervals.Interval]:
        """How many disagree, of how many, the share, and Wilson's interval."""
        return _share(self.disagrees)

    @property
    def kept_region(self) -> tuple[int, int, float, intervals.Interval]:
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


def reconstruction(decoder: Decoder, features: Float[np.ndarray, "n n_features"], images: Pictures) -> Reconstruction:
    """Measure a decoder on images that it has not seen."""
    errors, plain = decoder.squared_errors(features, images)
    n, mean = len(errors), float(errors.mean())
    se = float(errors.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    around = intervals.t_interval(mean, se, float(n - 1))
    ends = intervals.Interval(float(np.sqrt(max(around.lower, 0.0))), float(np.sqrt(max(around.upper, 0.0))))
    return Reconstruction(float(np.sqrt(mean)), ends if around.known else around, float(np.sqrt(plain.mean())), n)


def round_trip(tests: GeneratedTests, images: Pictures, *, model: Model, layer: Layer, regions: Regions) -> RoundTrip:
    """Send decoded images through the whole model, and hold it against what the head said of the features."""
    features = layer.features(model.inputs(images))
    proba = layer(features)
    near = regions.in_centroid(features, tests.y)
    inside = np.where(tests.for_centroid, near, regions.in_boundary(proba))
    predicted = proba.argmax(axis=1)
    return RoundTrip(predicted, proba.max(axis=1), predicted != tests.predicted, inside, tests.class_names)


def _share(which: Bools) -> tuple[int, int, float, intervals.Interval]:
    k, n = int(which.sum()), len(which)
    return k, n, k / n if n else float("nan"), intervals.wilson(float(k), float(n))
