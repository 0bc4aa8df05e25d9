"""Which generated pictures can judge a whole model? A suite that belongs to a data set, and to no model.

Pictures at the boundary of the model under test cannot judge it: they are chosen by that model's own confidence, so
that its accuracy on them says how calibrated it is. Here a *reference* chooses them, a linear model of principal
components, and an *oracle* says what they show: support vector machines, each of which reads only pictures made from
samples that it was not fitted on. Every model that meets the same suite meets the same pictures.
"""

import io
import zipfile
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped, UInt8

from touchstone.core.data import DataError
from touchstone.core.data.values import Bools, Codes, Floats, Ints
from touchstone.core.evaluate.guided_tests import results
from touchstone.core.evaluate.guided_tests.generate import Recipe, generate_tests, start
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, joined, sum_of_errors, t_interval, wilson
from touchstone.core.evaluate.test_quality.regions import THETA_2, fit_regions
from touchstone.core.models.classical import ShouldStop, stop_if
from touchstone.core.models.late import torch
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.load import Model
from touchstone.core.models.networks import one_torch_thread
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
    on real samples drawn anew (`core.evaluate.guided_tests.results`). `rival` is the class beyond the boundary.
    `parent_ids` and `parent_part` name the real sample that it was made from. The oracle read `oracle_right` of
    `oracle_n` real samples right.
    """

    class_names: tuple[str, ...]
    images: UInt8[np.ndarray, "n height width channels"] = field(repr=False)
    y: Ints = field(repr=False)
    for_centroid: Bools = field(repr=False)
    in_region: Bools = field(repr=False)
    read_as: Ints = field(repr=False)
    kept_again: Bool[np.ndarray, "n n_oracles"] = field(repr=False)
    rival: Ints = field(repr=False)
    parent_ids: Shaped[np.ndarray, " n"] = field(repr=False)
    parent_part: Shaped[np.ndarray, " n"] = field(repr=False)
    oracle_right: int
    oracle_n: int
    origin: results.Origin = results.SAMPLES

    def __len__(self) -> int:
        return len(self.y)

    @property
    def pixels(self) -> Float[np.ndarray, "n height width channels"]:
        """The pictures as a data set has them: 0 black, 1 white."""
        return (self.images / 255).astype(np.float32)

    @property
    def kept(self) -> Bools:
        """Which tests count: their picture lies in its region, and the oracle reads it as its class."""
        return self.in_region & (self.read_as == self.y)

    @property
    def clusters(self) -> Ints:
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
    y: Codes,
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
        read_as, right = results.read_by_oracle(pictures / 255, rows, **real_ones)
        kept_again = inside[:, None] & results.kept_by_others(pictures / 255, tests.y, **real_ones)
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


def fit_reference(images: Float[np.ndarray, "n height width channels"], y: Ints, *, n_classes: int) -> Reference:
    """Fit the reference on real pictures."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression

    flat = images.reshape(len(images), -1)
    few = np.random.default_rng(0).permutation(len(flat))[: results.MOST_FOR_ORACLE]
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
) -> results.GeneratedTests:
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


# How does a whole model fare on a suite, and how do two models differ on the same one?

_BATCH = 512
_FEWEST_CHANGED = 10  # parents whose tests changed, for a normal approximation to hold


@dataclass(frozen=True, eq=False)
class JudgedSuite:
    """A suite, and what a whole model takes each of its pictures for, with its confidence."""

    suite: Suite
    predicted: Ints = field(repr=False)
    confidence: Floats = field(repr=False)

    def __len__(self) -> int:
        return len(self.predicted)

    @property
    def y(self) -> Ints:
        """The classes that the pictures were made for."""
        return self.suite.y

    @property
    def for_centroid(self) -> Bools:
        """Which pictures were made for the centroid region."""
        return self.suite.for_centroid

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "JudgedSuite":
        """Give some of the tests, by position or by one truth value each."""
        return JudgedSuite(self.suite.take(rows), self.predicted[rows], self.confidence[rows])

    def kept(self) -> "JudgedSuite":
        """Give the tests that count."""
        return self.take(self.suite.kept)

    @property
    def correct(self) -> Bools:
        """Which pictures the model takes for the class that they were made for."""
        return self.predicted == self.suite.y

    def accuracy(self, region: str | None = None) -> results.SharedAccuracy:
        """The accuracy on the tests that are kept, or on those of one of `REGIONS`; the interval is over parents."""
        rows = np.ones(len(self), dtype=bool)
        if region is not None:
            rows &= self.suite.for_centroid == (region == results.REGIONS[0])
        return self._accuracy(rows)

    def _accuracy(self, rows: Bools) -> results.SharedAccuracy:
        """The accuracy on the tests that are kept, of these rows."""
        kept, again = rows & self.suite.kept, rows[:, None] & self.suite.kept_again
        error = results.oracle_error(self.correct.astype(np.float64), again)
        return results.shared_accuracy(
            self.correct[kept], self.suite.clusters[kept], oracle=error, parent_word=self.suite.origin.word
        )

    def class_table(self) -> pd.DataFrame:
        """Tidy rows, one for each class and region, of the tests that are kept.

        label, region, placed (how many), n_parents, accuracy, lower, upper.
        """
        rows, suite = [], self.suite
        for label, name in enumerate(suite.class_names):
            for region in results.REGIONS:
                share = self._accuracy((suite.y == label) & (suite.for_centroid == (region == results.REGIONS[0])))
                counts = {"placed": share.n, "n_parents": share.n_parents, "accuracy": share.accuracy}
                rows.append({"label": name, "region": region, **counts, **share.interval.columns()})
        return pd.DataFrame(rows)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each test: label, region, rival, parent, part, in_region, read_as, kept, predicted, ...

        Then confidence, and whether it is correct.
        """
        names, suite = np.array(self.suite.class_names, dtype=object), self.suite
        return pd.DataFrame(
            {
                "label": names[suite.y],
                "region": np.where(suite.for_centroid, *results.REGIONS),
                "rival": names[suite.rival],
                "parent": suite.parent_ids,
                "part": suite.parent_part,
                "in_region": suite.in_region,
                "read_as": names[suite.read_as],
                "kept": suite.kept,
                "predicted": names[self.predicted],
                "confidence": self.confidence,
                "correct": self.correct,
            }
        )


@dataclass(frozen=True)
class SuiteDifference:
    """By how much the second model is more accurate than the first on `n` tests that both met.

    It got `n_gained` right that the first got wrong, and `n_lost` the other way round. The interval of the
    `difference` is paired, over the `n_parents` real samples that the tests were made from, and over oracles that might
    have decided which tests count.
    """

    n: int
    n_parents: int
    n_gained: int
    n_lost: int
    difference: float
    interval: Interval


def judge_suite(suite: Suite, model: Model) -> JudgedSuite:
    """Ask a whole model about every picture of a suite."""
    with one_torch_thread(), torch.inference_mode():
        parts = [model.logits(batch).float().cpu() for batch in model.inputs(suite.pixels).split(_BATCH)]
        proba = torch.cat(parts).double().softmax(dim=1).numpy()
    return JudgedSuite(suite, proba.argmax(axis=1), proba.max(axis=1))


def suite_difference(first: JudgedSuite, second: JudgedSuite) -> SuiteDifference:
    """Compare two models on the suite that both met. Raises DataError where they met different ones.

    Examples
    --------
    >>> n, part, every = 4, np.array(["test"] * 4, dtype=object), np.ones(4, bool)
    >>> suite = Suite(("a", "b"), np.zeros((n, 1, 1, 1), np.uint8), np.zeros(n, int), ~every, every, np.zeros(n, int),
    ...               np.ones((n, 0), bool), np.ones(n, int), np.array(list("wxyz"), object), part, 9, 9)
    >>> old, new = (JudgedSuite(suite, np.array(said), np.ones(n)) for said in ([0, 0, 1, 1], [0, 0, 0, 1]))
    >>> found = suite_difference(old, new)
    >>> found.n_gained, found.n_lost, found.difference
    (1, 0, 0.25)
    """
    if not _alike(first.suite, second.suite):
        raise DataError("The two models met different suites. Run both on one data set, split and seed.")
    rows = first.suite.kept
    changes = second.correct.astype(np.int64) - first.correct
    error = results.oracle_error(changes.astype(np.float64), first.suite.kept_again)
    return paired_difference(changes[rows], first.suite.clusters[rows], oracle=error)


def paired_difference(
    changes: Ints, clusters: Ints, *, oracle: results.OracleError = results.NO_ERROR
) -> SuiteDifference:
    """Give the mean of changes of 1 (gained), -1 (lost) and 0, with its interval over clusters and over oracles."""
    n, gained, lost = len(changes), int((changes > 0).sum()), int((changes < 0).sum())
    if n == 0:
        return SuiteDifference(0, 0, 0, 0, float("nan"), UNKNOWN)
    _, cluster = np.unique(clusters, return_inverse=True)
    k, value = int(cluster.max()) + 1, float(changes.mean())
    sums = np.bincount(cluster, weights=changes)
    off = sums - value * np.bincount(cluster)
    se = float(np.sqrt(k / max(k - 1, 1) * np.square(off).sum())) / n
    around = t_interval(value, *sum_of_errors((se, float(max(k - 1, 1))), oracle))
    few = _few_changes(gained / n, lost / n, k)
    interval = around if int((sums != 0).sum()) >= _FEWEST_CHANGED else joined(around, few)
    return SuiteDifference(n, k, gained, lost, value, interval)


def _few_changes(gained: float, lost: float, n: int) -> Interval:
    """The interval of a paired difference where next to nothing changed (Agresti and Min 2005).

    >>> _few_changes(0.0, 0.0, 98)
    Interval(lower=-0.0196, upper=0.0196)
    """
    plus, minus, whole = gained * n + 0.5, lost * n + 0.5, n + 2
    value = (plus - minus) / whole
    half = 1.96 * float(np.sqrt(plus + minus - (plus - minus) ** 2 / whole)) / whole
    return Interval(value - half, value + half)


def _alike(first: Suite, second: Suite) -> bool:
    same = first.class_names == second.class_names and first.images.shape == second.images.shape
    return same and bool((first.images == second.images).all() and (first.y == second.y).all())


# How does somebody run a suite on the next version of a model, without this app? One archive: pictures and a test.

SUITE_FILE, RUNNER_FILE = "guided_suite.npz", "test_guided_suite.py"
_RUNNER = Path(__file__).with_name("suite_runner.py")


def suite_archive(judged: JudgedSuite, *, model: str, dataset: str, seed: int) -> bytes:
    """Write a ZIP archive with the suite and the file that pytest runs.

    `model` and `dataset` are fingerprints: of the model whose answers are in it, and of the data it was made from.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(SUITE_FILE, suite_npz(judged, model=model, dataset=dataset, seed=seed))
        archive.writestr(RUNNER_FILE, _RUNNER.read_text("utf-8"))
    return stream.getvalue()


def suite_npz(judged: JudgedSuite, *, model: str, dataset: str, seed: int) -> bytes:
    """Write a suite as NPZ that needs no pickle to be read.

    Per test: test_ids, images (see `pixel_scale`), labels, region, rival, parent_ids, parent_part; image_in_region and
    oracle_reads, counts (both speak for it) and counts_again (they would with each of the oracles fitted anew);
    image_predicted and image_confidence of the model. Of the whole: class_names, pixel_scale, model_fingerprint,
    data_fingerprint, layer (what the regions lie in), thresholds as theta1 and theta2 with r (nan: each class's
    training median), oracle_accuracy and seed.
    """
    suite = judged.suite
    names = np.array(suite.class_names, dtype=str)
    arrays = {
        "test_ids": np.arange(len(suite)),
        "images": suite.images,
        "labels": names[suite.y],
        "region": np.where(suite.for_centroid, *results.REGIONS).astype(str),
        "rival": names[suite.rival],
        "parent_ids": suite.parent_ids.astype(str),
        "parent_part": suite.parent_part.astype(str),
        "image_in_region": suite.in_region,
        "oracle_reads": names[suite.read_as],
        "counts": suite.kept,
        "counts_again": suite.kept_again,
        "image_predicted": names[judged.predicted],
        "image_confidence": judged.confidence,
        "class_names": names,
        "pixel_scale": np.array([0, 255]),
        "model_fingerprint": np.array(model),
        "data_fingerprint": np.array(dataset),
        "layer": np.array("principal components of the pictures (a linear reference, not the model)"),
        "theta1": np.array(1 / len(names)),
        "theta2": np.array(THETA_2),
        "r": np.array(np.nan),
        "oracle_accuracy": np.array(suite.oracle_accuracy[0]),
        "seed": np.array(seed),
    }
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()
