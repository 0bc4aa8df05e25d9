"""Which samples of a pool should be labelled so that few labels tell its accuracy, and what do these labels tell?

Samples are drawn at random within strata of confidence, more of them where errors are expected (Neyman's rule), and
each stratum counts by its size. So the estimate is unbiased whatever the model; that confidence ranks the errors only
makes its interval shorter. Where it is not expected to, the pool is one stratum: labels are then drawn at random. What
is labelled is known, so that the interval speaks of the rest.
"""

import io
import time
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.data.limits import Archive, Limits, opened
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.tables.table import Table
from touchstone.core.evaluate.intervals import Interval, clopper_pearson, wilson
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.models.layer_files import open_layer_file, read_layer_samples
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.networks import one_torch_thread
from touchstone.core.parameters import asks
from touchstone.core.trials.layer_parts import LayerParts
from touchstone.core.trials.plan import Context, check_fields, check_whole

OfPool = Float[np.ndarray, " n_pool"]
"""A number for each unlabelled sample."""
OfStrata = Integer[np.ndarray, " n_strata"]

FEWEST_LABELS = 20
N_STRATA = 5
IN_PROPORTION = 2 / 3
"""This part of the labels goes to each stratum by its size: it insures against errors where none are expected.

Half of them was as good where confidence ranks errors, and lost more of the labels where it does not.
"""
WORTH_IT = 1.05
"""Strata are used where they are expected to make a label worth at least so many drawn at random."""
_PSEUDO = 2.0  # samples with the overall rate of errors, added to each step of the calibration
_EACH = 2  # labels a stratum gets at least
_TINY = 1e-9  # of an error, for floats that should be whole


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """Which samples of a pool to label, and what that is expected to bring.

    `stratum` is that of each sample of the pool, of which `n_in` samples are in each and `n_drawn` are to be labelled.
    `expected_errors` is the rate of errors that confidences predict, by stratum: a guess, on which no interval rests.
    `doubt` is the share of the pool to which the guess does not apply (`unlike`): half of it is taken to be wrong.
    """

    stratum: Integer[np.ndarray, " n_pool"]
    n_in: OfStrata
    n_drawn: OfStrata
    expected_errors: Float[np.ndarray, " n_strata"]
    doubt: float = 0.0

    @property
    def n_labels(self) -> int:
        """How many samples are to be labelled."""
        return int(self.n_drawn.sum())

    @property
    def stratified(self) -> bool:
        """Whether labels are drawn by confidence, and not simply at random."""
        return len(self.n_in) > 1

    @property
    def predicted_accuracy(self) -> float:
        """What the accuracy would be if confidences were as reliable here as where they were calibrated."""
        return 1 - float(self.n_in @ self.expected_errors / self.n_in.sum())

    @property
    def half_width(self) -> float:
        """Half the length of the interval that the labels are expected to give."""
        return _half_width(_doubted(self.expected_errors, self.doubt), self.n_drawn, self.n_in)

    @property
    def n_at_random(self) -> int:
        """How many labels drawn at random would be expected to give an interval as short."""
        rate, n_pool = _doubted(np.array([1 - self.predicted_accuracy]), self.doubt), int(self.n_in.sum())
        all_of, low, high = np.array([n_pool]), 1, 1
        while _half_width(rate, np.array([high]), all_of) > self.half_width:
            low, high = high, min(2 * high, n_pool)
        while high - low > 1:
            middle = (low + high) // 2
            shorter = _half_width(rate, np.array([middle]), all_of) <= self.half_width
            low, high = (low, middle) if shorter else (middle, high)
        return high

    def draw(self, rng: np.random.Generator) -> Integer[np.ndarray, " n_labels"]:
        """The positions of the samples to label, strata mixed in proportion, so that one may stop early."""
        drawn, turns = [], []
        for stratum, n in enumerate(self.n_drawn):
            drawn.append(rng.choice(np.flatnonzero(self.stratum == stratum), size=n, replace=False))
            turns.append((np.arange(n) + rng.random()) / n)
        return np.concatenate(drawn)[np.argsort(np.concatenate(turns), kind="stable")]


@dataclass(frozen=True)
class LabelledAccuracy:
    """The accuracy of a whole pool, its 95 % interval, and from how many labels of how many samples."""

    accuracy: float
    interval: Interval
    n_labels: int
    n_pool: int


def expected_errors(
    confidence: OfPool, known_confidence: Float[np.ndarray, " n_known"], known_wrong: Bool[np.ndarray, " n_known"]
) -> OfPool:
    """How probably each sample is wrong, by how often samples of its confidence were wrong where labels are known.

    Isotonic: a higher confidence never means more errors, but for a pull of each step towards the overall rate.

    Examples
    --------
    >>> expected_errors(np.array([0.5, 0.99]), np.array([0.4, 0.6, 0.9, 0.95]), np.array([True, True, False, False]))
    array([0.75, 0.25])
    """
    from sklearn.isotonic import IsotonicRegression

    ranked = IsotonicRegression(increasing=False, out_of_bounds="clip").fit(known_confidence, known_wrong)
    steps, n = np.unique(ranked.predict(known_confidence), return_counts=True)
    pulled = (steps * n + _PSEUDO * known_wrong.mean()) / (n + _PSEUDO)
    return np.interp(ranked.predict(confidence), steps, pulled)


def unlike(confidence: OfPool, known_confidence: Float[np.ndarray, " n_known"]) -> float:
    """At least this share of a pool is unlike the known samples: it is less confident than so many of them could be.

    Of a pool that is a mixture of samples like the known ones and of others, it is the least share of others (Smirnov's
    one-sided distance, less what it stays below by chance in 95 %). A pool of higher confidence is not doubted: shifts
    that bring errors lower it.

    Examples
    --------
    >>> known = np.linspace(0.6, 1.0, 1000)
    >>> round(unlike(np.r_[known, np.full(1000, 0.5)], known), 2), unlike(known[::2], known)
    (0.45, 0.0)
    """
    places = np.unique(np.r_[confidence, known_confidence])
    below, known_below = (
        np.searchsorted(np.sort(each), places, side="right") / len(each) for each in (confidence, known_confidence)
    )
    by_chance = np.sqrt(-np.log(0.05) / 2 * (1 / len(confidence) + 1 / len(known_confidence)))
    return float(max(np.max(below - known_below) - by_chance, 0.0))


def design_labels(confidence: OfPool, expected: OfPool, *, n_labels: int, doubt: float = 0.0) -> LabelDesign:
    """Decide how many samples of which confidence to label; at random where strata are not expected to help.

    The more the guess is in `doubt`, the more the labels go to each stratum by its size. All of this is decided before
    any label, so that the interval holds as it says.

    Raises DataError for fewer than `FEWEST_LABELS` labels, or more than there are samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> confidence = 1 - 0.5 * rng.random(5000) ** 4
    >>> design = design_labels(confidence, 1 - confidence, n_labels=300)
    >>> design.n_drawn.tolist(), round(100 * design.half_width, 1), design.n_at_random
    ([133, 50, 42, 38, 37], 2.7, 453)
    >>> doubted = design_labels(confidence, 1 - confidence, n_labels=300, doubt=0.6)
    >>> doubted.n_drawn.tolist(), (300 * doubted.n_in / 5000).round().astype(int).tolist()
    ([61, 61, 61, 59, 58], [62, 62, 61, 59, 57])
    """
    if not FEWEST_LABELS <= n_labels <= len(confidence):
        raise DataError(
            f"{n_labels} labels cannot be drawn: of the {len(confidence)} samples, label at least {FEWEST_LABELS} and "
            "at most all."
        )
    simple = LabelDesign(
        np.zeros(len(confidence), dtype=np.int64),
        np.array([len(confidence)]),
        np.array([n_labels]),
        np.array([expected.mean()]),
        doubt,
    )
    rates = _doubted(expected, doubt)
    deviations = np.sqrt(np.clip(rates * (1 - rates), 0, None))
    if not deviations.any():
        return simple
    stratum = _strata(confidence, deviations)
    n_in = np.bincount(stratum)
    by_stratum = np.bincount(stratum, deviations) / n_in
    n_drawn = _allocated(n_in, by_stratum, n_labels)
    design = LabelDesign(stratum, n_in, n_drawn, np.bincount(stratum, expected) / n_in, doubt)
    # Strata by size cost next to nothing: whether to have any is asked of the guess, doubted or not.
    width, usual_width = (replace(each, doubt=0.0).half_width for each in (design, simple))
    return design if usual_width**2 >= WORTH_IT * width**2 else simple


def labelled_accuracy(n_wrong: OfStrata, n_labelled: OfStrata, n_in: OfStrata) -> LabelledAccuracy:
    """Give the accuracy of a pool from the labels drawn in each stratum.

    The interval is one of the samples without a label. Its lower end is Wilson's at the number of random labels that
    would vary as much, each stratum with one more label of the overall rate; it leaves room for as many errors in the
    stratum that hides most as its labels may have missed. The upper end is Clopper and Pearson's.

    Raises DataError where a stratum has no label.

    Examples
    --------
    >>> found = labelled_accuracy(np.array([1, 12]), np.array([100, 100]), np.array([4000, 1000]))
    >>> round(found.accuracy, 3), round(found.interval.lower, 3), round(found.interval.upper, 3)
    (0.968, 0.939, 0.984)
    """
    if not n_labelled.all():
        empty = int(np.flatnonzero(n_labelled == 0)[0]) + 1
        raise DataError(f"Stratum {empty} has no label yet. Label at least one sample of each stratum.")
    errors, fewest, most = _errors(n_wrong.astype(np.float64), n_labelled, n_in)
    # Errors are whole. Of few that are left there may be none, which a lower end above 0 would leave out.
    n_pool, fewest, most = int(n_in.sum()), np.floor(fewest + _TINY), max(np.round(most), errors)
    interval = Interval(float(1 - most / n_pool), float(1 - fewest / n_pool))
    return LabelledAccuracy(1 - errors / n_pool, interval, int(n_labelled.sum()), n_pool)


def _of_strata(counts: "FewLabelsPlan | LabelsBack") -> LabelledAccuracy:
    """What the labels tell of the whole pool; raises DataError where a stratum has none."""
    return labelled_accuracy(*map(np.array, (counts.n_wrong, counts.n_labelled, counts.n_in)))


def _errors(n_wrong: np.ndarray, n_labelled: np.ndarray, n_in: np.ndarray) -> tuple[float, float, float]:
    """Errors in the pool: the estimate, the fewest and the most. Counts of errors need not be whole."""
    n_rest, rates = n_in - n_labelled, n_wrong / n_labelled
    rest, errors, known = float(n_rest.sum()), float(n_in @ rates), float(n_wrong.sum())
    if rest == 0:
        return errors, errors, errors
    weights = n_rest / rest
    rate, smooth = float(weights @ rates), (n_wrong + errors / n_in.sum()) / (n_labelled + 1)
    # Labels may miss the rate, and so may the rest, which is a sample as well; a stratum without rest has no weight.
    spread = weights**2 * (1 / n_labelled + 1 / np.maximum(n_rest, 1))
    variance, expected = float(spread @ (smooth * (1 - smooth))), float(weights @ smooth)
    n = expected * (1 - expected) / variance if variance > 0 else 1 / float(spread.sum())
    # As many errors may be in a stratum of which n labels show none (the closed form is never too few).
    hidden = (1 - 0.025 ** (1 / n_labelled)) * (n_in - (n_labelled - 1) / 2)
    unseen = float(np.minimum(hidden, n_rest).max()) / rest
    upper = min(max(wilson(rate * n, n).upper, rate + unseen), 1.0)
    return errors, known + rest * clopper_pearson(rate * n, n, 0.05)[0], known + rest * upper


def _doubted(rates: np.ndarray, doubt: float) -> np.ndarray:
    return (1 - doubt) * rates + doubt / 2


def _half_width(rates: np.ndarray, n_labelled: np.ndarray, n_in: np.ndarray) -> float:
    _, fewest, most = _errors(rates * n_labelled, n_labelled, n_in)
    return (most - fewest) / (2 * float(n_in.sum()))


def _strata(confidence: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """The stratum of each sample, from the most confident: in each the deviations sum to the same."""
    order = np.argsort(-confidence, kind="stable")
    reached = np.cumsum(deviations[order])
    strata = np.empty(len(order), dtype=np.int64)
    strata[order] = np.minimum(N_STRATA * reached / reached[-1] - 1e-9, N_STRATA - 1).astype(np.int64)
    return np.unique(strata, return_inverse=True)[1]


def _allocated(n_in: np.ndarray, deviations: np.ndarray, n_labels: int) -> np.ndarray:
    """How many labels each stratum gets: whole numbers that sum to `n_labels`, a few each, and no more than it has."""
    size, spread = n_in / n_in.sum(), n_in * deviations
    wanted = n_labels * (IN_PROPORTION * size + (1 - IN_PROPORTION) * spread / spread.sum())
    least = np.minimum(_EACH, n_in)
    n = np.clip(wanted.astype(np.int64), least, n_in)
    while n.sum() != n_labels:
        step = 1 if n.sum() < n_labels else -1
        room = n < n_in if step > 0 else n > least
        n[np.argmax(np.where(room, step * (wanted - n), -np.inf))] += step
    return n


# How accurate is a model on a pool of which few samples were labelled? The counts that came back, kept as a plan.


COLUMNS = {
    "accuracy": "float64",
    "lower": "float64",
    "upper": "float64",
    "n_labels": "Int64",
    "n_pool": "Int64",
    "seconds": "float64",
    "status": TEXTS,
}
"""The columns of the one row and their types: the accuracy of the pool with its 95 % interval, both as fractions."""


@dataclass(frozen=True)
class FewLabelsPlan:
    """Give the accuracy of a stored model on a pool of samples, from the labels of few of them.

    Parameters
    ----------
    model
        The fingerprint of the stored model whose predictions were labelled.
    pool
        What the pool is called, such as the name of its file.
    n_wrong, n_labelled, n_in
        Of each stratum: how many of its labelled samples are wrong, how many were labelled, how many it has in all.
    n_skipped
        Rows above the last label that have none.

    Raises DataError where the counts contradict each other, or a stratum has no label.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = FewLabelsPlan("f1", "new.csv", (1, 12), (100, 100), (4000, 1000))
    >>> plan.run_trial(load_example("wine"), 0, context=Context())[["accuracy", "n_labels", "n_pool"]].round(3)
       accuracy  n_labels  n_pool
    0     0.968       200    5000
    """

    model: str = asks(
        label="Model",
        help="The stored model whose predictions were labelled.",
        place="command",
        choices=lambda about: None,
    )
    pool: str = asks(label="Samples", help="What the pool is called.", place="command", choices=lambda about: None)
    n_wrong: tuple[int, ...] = asks(
        label="Wrong", help="Labelled samples of each stratum that are wrong.", place="command", lowest=0, many=True
    )
    n_labelled: tuple[int, ...] = asks(
        label="Labelled", help="Labelled samples of each stratum.", place="command", lowest=1, many=True
    )
    n_in: tuple[int, ...] = asks(
        label="Samples of each stratum", help="Labelled or not.", place="command", lowest=1, many=True
    )
    n_skipped: int = asks(
        0, label="Skipped", help="Rows above the last label that have none.", place="command", lowest=0
    )

    described: ClassVar[str] = "{pool}"

    kind: ClassVar[str] = "few_labels"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        check_whole(self, {"n_skipped": 0})
        if not self.n_in or len({len(self.n_wrong), len(self.n_labelled), len(self.n_in)}) > 1:
            raise DataError("n_wrong, n_labelled and n_in hold one number for each stratum, at least one.")
        for stratum, (n_wrong, n_labelled, n_in) in enumerate(self.strata, start=1):
            if not 0 <= n_wrong <= n_labelled <= n_in or n_in < 1:
                raise DataError(
                    f"Stratum {stratum}: {n_wrong} wrong of {n_labelled} labels of {n_in} samples cannot be. Each is "
                    "at most the next."
                )
        if not all(self.n_labelled):
            empty = self.n_labelled.index(0) + 1
            raise DataError(f"Stratum {empty} has no label yet. Label at least one sample of each stratum.")

    @property
    def strata(self) -> list[tuple[int, int, int]]:
        """Of each stratum: samples that are wrong, that are labelled, and all.

        >>> FewLabelsPlan("f1", "new.csv", (1, 12), (100, 100), (4000, 1000)).strata
        [(1, 100, 4000), (12, 100, 1000)]
        """
        return list(zip(self.n_wrong, self.n_labelled, self.n_in, strict=True))

    accuracy = property(_of_strata)

    def n_trials(self, dataset: Dataset) -> int:
        """One."""
        return 1

    def stored_models(self) -> tuple[str, ...]:
        """None: the model has predicted already, and may be gone."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """The accuracy of the pool (`COLUMNS`)."""
        start, labelled = time.perf_counter(), self.accuracy
        cells = {**vars(labelled), **labelled.interval.columns(), "status": "ok"}
        return _frame({**cells, "seconds": time.perf_counter() - start})

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        return _frame({"status": "failed"})


def accuracy_of_rows(rows: pd.DataFrame) -> LabelledAccuracy | None:
    """The accuracy that the rows of a run hold; None where its trial failed.

    >>> from touchstone.core.data import load_example
    >>> plan = FewLabelsPlan("f1", "new.csv", (1, 12), (100, 100), (4000, 1000))
    >>> accuracy_of_rows(plan.run_trial(load_example("wine"), 0, context=Context())) == plan.accuracy
    True
    """
    known = rows[rows["status"] == "ok"]
    if known.empty:
        return None
    row = known.iloc[0]
    interval = Interval(float(row["lower"]), float(row["upper"]))
    return LabelledAccuracy(float(row["accuracy"]), interval, int(row["n_labels"]), int(row["n_pool"]))


def _frame(row: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([row], columns=list(COLUMNS)).astype(COLUMNS)


# What do few labels bring, before and after somebody gives them? In sentences.


def promise(design: LabelDesign) -> str:
    """How short the interval is expected to be, and what it would take at random.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.guided_tests.few_labels import design_labels
    >>> errors = 0.5 * np.random.default_rng(0).random(5000) ** 4
    >>> print(promise(design_labels(1 - errors, errors, n_labels=300)))
    300 labels bring the accuracy of all 5 000 samples to about ±2.7 points; drawn at random it would take 453.
    >>> print(promise(design_labels(1 - errors, np.full(5000, 0.1), n_labels=300)))
    300 labels bring the accuracy of all 5 000 samples to about ±3.4 points. Confidence is not expected to save labels
    here, so they are drawn at random.
    """
    brings = (
        f"{plural(design.n_labels, 'label')} bring the accuracy of all {count(len(design.stratum))} samples to about "
        f"±{100 * design.half_width:.1f} points"
    )
    if not design.stratified:
        return f"{brings}. Confidence is not expected to save labels here, so they are drawn at random."
    if design.n_at_random < WORTH_IT * design.n_labels:
        return f"{brings}. Drawn at random it would take as many."
    return f"{brings}; drawn at random it would take {count(design.n_at_random)}."


def guess(design: LabelDesign) -> str:
    """What matched confidences would predict before any label, with the assumption that it rests on.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.guided_tests.few_labels import design_labels
    >>> print(guess(design_labels(np.full(100, 0.9), np.full(100, 0.1), n_labels=50)))
    This assumes that confidence is as reliable here as on the test samples: accuracy would then be 90.0 %. The
    accuracy from the labels does not need this assumption.
    >>> print(guess(design_labels(np.full(100, 0.9), np.full(100, 0.1), n_labels=50, doubt=0.4)))
    At least 40.0 % of the samples are unlike the test samples: their confidence is lower. This assumes half of these
    wrong. Were confidence as reliable as on the test samples, accuracy would be 90.0 %. The accuracy from the labels
    does not need these assumptions.
    """
    accuracy = percent(design.predicted_accuracy)
    if design.doubt:
        return (
            f"At least {percent(design.doubt)} of the samples are unlike the test samples: their confidence is lower. "
            "This assumes half of these wrong. Were confidence as reliable as on the test samples, accuracy would be "
            f"{accuracy}. The accuracy from the labels does not need these assumptions."
        )
    return (
        f"This assumes that confidence is as reliable here as on the test samples: accuracy would then be {accuracy}. "
        "The accuracy from the labels does not need this assumption."
    )


def accuracy_in_words(labelled: LabelledAccuracy, *, n_skipped: int = 0) -> str:
    """The accuracy that labels tell, and a warning where rows above the last one have none.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.guided_tests.few_labels import labelled_accuracy
    >>> print(accuracy_in_words(labelled_accuracy(np.array([1, 12]), np.full(2, 100), np.array([4000, 1000]))))
    Accuracy is 96.8 % [93.9, 98.4] on all 5 000 samples, by 200 labels.
    """
    accuracy = (
        f"Accuracy is {percent(labelled.accuracy, labelled.interval)} on all {count(labelled.n_pool)} samples, "
        f"by {plural(labelled.n_labels, 'label')}."
    )
    if not n_skipped:
        return accuracy
    rows = plural(n_skipped, "row")
    return f"{accuracy} {rows} above the last label have none: if these were hard to label, it is too high."


# Which samples without labels could be labelled next? Features with probabilities, or inputs to run the model on.

ENDINGS = (".npz", ".tsv", ".csv", ".jsonl", ".parquet")
_INPUTS = ("x", "images", "texts")
_IDS = ("ids", "id")
_FEATURES = {"features", "embeddings"}


def open_pool(file: io.BytesIO) -> object:
    """Read the arrays or columns in a file that `read_pool` takes, whatever they mean.

    Examples
    --------
    >>> file = io.BytesIO(b"text,id\\nGood.,1\\n")
    >>> file.name = "new.csv"
    >>> list(open_pool(file).columns)
    ['text', 'id']
    """
    if PurePath(file.name).suffix.lower() != ".npz":
        return read_table(file)
    archive = Archive(file.getvalue(), file.name, Limits())
    keys = _keys(archive)
    return open_layer_file(file) if keys.keys() & _FEATURES else _arrays(archive, keys, file.name)


def read_pool(content: bytes, name: str, *, parts: LayerParts, dataset: Dataset) -> LayerSamples:
    """Read a file of samples whose labels nobody knows as the layer of `parts` sees them.

    An NPZ file has "features" and "proba" (see `read_layer_samples`), or inputs like those of the data set as "x" or
    "images" (texts as "x" or "texts"), perhaps with "ids". A table has a column of texts, or the data set's columns,
    perhaps with "id"; where there is no model, features and probabilities as in `read_layer_samples`. Raises
    DataError, with what is expected, for anything else.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> from touchstone.core.models.model_file import ModelFile
    >>> from touchstone.core.trials.layer_parts import layer_parts
    >>> wine, stream = load_example("wine"), io.BytesIO()
    >>> network = LinearNetwork(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> parts = layer_parts(ModelFile(network.to_bytes(), "w.safetensors", wine.fingerprint).to_bytes(), wine)
    >>> np.savez(stream, x=wine.x[:5])
    >>> len(read_pool(stream.getvalue(), "new.npz", parts=parts, dataset=wine))
    5
    """
    ids: list[str] | None
    if PurePath(name).suffix.lower() == ".npz":
        archive = Archive(content, name, Limits())
        keys = _keys(archive)
        if keys.keys() & _FEATURES:
            return read_layer_samples(content, name, class_names=parts.test.class_names)
        x, ids = _arrays(archive, keys, name)
    elif parts.model is None:
        return read_layer_samples(content, name, class_names=parts.test.class_names)
    else:
        x, ids = _columns(read_table(opened(content, name)), dataset)
    if parts.model is None or parts.of is None:
        raise DataError(
            f"{name}: there is no model that these inputs could be given to, only features. Save 'features' and "
            "'proba' of the unlabelled samples as NPZ, as of the test part."
        )
    if getattr(parts.model, "words", None) is None and dataset.kind == "text":
        raise DataError(f"{name}: the model takes vectors, and no texts. Save 'features' and 'proba' as NPZ instead.")
    inputs = parts.model.inputs(_like(x, dataset, name))
    with one_torch_thread():
        return parts.of.samples(inputs, None, ids=ids, name=name)


def _keys(archive: Archive) -> dict[str, str]:
    """The arrays' places by their names."""
    return {path.removesuffix(".npy").lower(): path for path in archive.paths}


def _arrays(archive: Archive, keys: dict[str, str], name: str) -> tuple[np.ndarray, list[str] | None]:
    inputs = [key for key in _INPUTS if key in keys]
    if len(inputs) != 1:
        raise DataError(
            f"{name}: it holds {', '.join(keys) or 'no array'}. Save inputs as 'x', or 'features' with 'proba'."
        )
    named = next((key for key in _IDS if key in keys), None)
    ids = None if named is None else [str(cell) for cell in _array(archive, keys[named])]
    return _array(archive, keys[inputs[0]]), ids


def _array(archive: Archive, path: str) -> np.ndarray:
    try:
        return np.lib.format.read_array(io.BytesIO(archive.read(path)), allow_pickle=False)
    except Exception as error:  # a header from somebody else can make numpy raise nearly anything
        raise DataError(f"{archive.name}: {path} is no plain NumPy array. Save it again, without objects.") from error


def _columns(table: Table, dataset: Dataset) -> tuple[np.ndarray, list[str] | None]:
    named = next((column for column in table.columns if column.lower() in _IDS), None)
    ids = None if named is None else table.strings(named)
    if dataset.kind == "image":
        raise DataError(f"{table.name} is a table, but {dataset.name} holds images. Save them as 'images' in NPZ.")
    if dataset.kind == "text":
        columns = [column for column in table.columns if column != named]
        text = next((column for column in columns if column.lower() == "text"), columns[0] if columns else None)
        if text is None:
            raise DataError(f"{table.name}: there is no column of texts. Call it 'text'.")
        return np.array(table.texts(text), dtype=object), ids
    lacking = [column for column in dataset.feature_names if column not in table.columns]
    if lacking:
        raise DataError(f"{table.name}: there is no column {lacking[0]!r}, which {dataset.name} has.")
    return np.column_stack([table.numbers(column) for column in dataset.feature_names]), ids


def _like(x: Shaped[np.ndarray, "n ..."], dataset: Dataset, name: str) -> Shaped[np.ndarray, "n ..."]:
    """Inputs as the data set holds its own: pixels in [0, 1], of the same shape."""
    if dataset.kind == "text":
        return np.array([str(text) for text in x.ravel()], dtype=object)
    if x.dtype.kind not in "buif" or not np.isfinite(x).all():
        raise DataError(f"{name}: inputs must be finite numbers.")
    if dataset.kind == "image" and x.ndim == 3:
        x = x[..., None]
    if x.shape[1:] != dataset.x.shape[1:]:
        raise DataError(f"{name}: inputs are of shape {x.shape[1:]}, those of {dataset.name} {dataset.x.shape[1:]}.")
    if dataset.kind == "tabular":
        return x.astype(np.float64)
    pixels = x.astype(np.float32)
    if len(pixels) and pixels.max() > 1:
        pixels = pixels / np.float32(dataset.scale)
    if len(pixels) and not (pixels.min() >= 0 and pixels.max() <= 1):
        raise DataError(f"{name}: pixels must lie in [0, 1], or in 0 to {dataset.scale:g} as those of {dataset.name}.")
    return pixels


# Which samples go to the annotators, and what comes back? One table, that tells all that its labels are counted by.


_COLUMNS = ("id", "predicted", "confidence", "stratum", "stratum_size", "pool_size", "label")


@dataclass(frozen=True)
class LabelsBack:
    """What a labelled list holds: of each stratum how many samples are wrong, labelled, and there in all.

    `n_skipped` of its rows above the last label have none.
    """

    n_wrong: tuple[int, ...]
    n_labelled: tuple[int, ...]
    n_in: tuple[int, ...]
    n_skipped: int

    accuracy = property(_of_strata)


def to_label(pool: LayerSamples, design: LabelDesign, *, rng: np.random.Generator) -> pd.DataFrame:
    """The list to label, strata mixed: columns id, predicted, confidence, stratum (from 1), stratum_size, pool_size
    and label, which is empty.
    """
    rows = design.draw(rng)
    names = np.array(pool.class_names, dtype=object)
    stratum = design.stratum[rows]
    cells = (
        pool.ids[rows],
        names[pool.predicted[rows]],
        pool.confidence[rows],
        stratum + 1,
        design.n_in[stratum],
        np.full(len(rows), len(pool)),
        np.full(len(rows), "", dtype=object),
    )
    return pd.DataFrame(dict(zip(_COLUMNS, cells, strict=True)))


def read_labels(content: bytes, name: str, *, class_names: tuple[str, ...]) -> LabelsBack:
    """Count the labels of a list that came back; rows without a label are passed over.

    Raises DataError for anything but such a list, naming the row: a sample that stands twice, a label that is no class,
    sizes that contradict each other, a stratum without any label.

    Examples
    --------
    >>> head = "id,predicted,stratum,stratum_size,pool_size,label"
    >>> rows = [f"{i},cat,1,500,500,{'cat' if i else 'dog'}" for i in range(100)]
    >>> back = read_labels("\\n".join([head, *rows]).encode(), "labels.csv", class_names=("cat", "dog"))
    >>> back.accuracy.accuracy, back.accuracy.n_labels, back.accuracy.n_pool
    (0.99, 100, 500)
    """
    table = read_table(opened(content, name))
    lacking = [column for column in _COLUMNS if column not in table.columns and column != "confidence"]
    if lacking:
        raise DataError(
            f"{name}: there is no column {lacking[0]!r}. Fill in 'label' in the list that was downloaded here, and "
            "leave its other columns as they are."
        )
    labels = [_without_point(label, class_names) for label in table.spelled("label")]
    labelled = np.array([label is not None for label in labels])
    if not labelled.any():
        raise DataError(f"{name}: the column 'label' is empty. Write the true class of each sample into it.")
    _check_ids(table)
    _check_labels(table, labels, class_names)
    stratum, n_in = _strata_of(table)
    wrong = labelled & (np.array(labels, dtype=object) != np.array(table.strings("predicted"), dtype=object))
    n_labelled = np.bincount(stratum[labelled], minlength=len(n_in))
    n_wrong = np.bincount(stratum[wrong], minlength=len(n_in))
    n_skipped = int((~labelled[: np.flatnonzero(labelled)[-1]]).sum())
    counts = (tuple(map(int, each)) for each in (n_wrong, n_labelled, n_in))
    back = LabelsBack(*counts, n_skipped)
    _ = back.accuracy  # raises where a stratum has no label
    return back


def _without_point(label: str | None, class_names: tuple[str, ...]) -> str | None:
    """A class 3 that came back as 3.0, as tables write numbers where some are missing."""
    whole = None if label is None else label.removesuffix(".0")
    return whole if label not in class_names and whole in class_names else label


def _check_ids(table: Table) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(table.strings("id")):
        if name in seen:
            raise DataError(
                f"{table.place(row)}: “{name}” is there already, in {table.place(seen[name])}. Keep one row."
            )
        seen[name] = row


def _check_labels(table: Table, labels: list[str | None], class_names: tuple[str, ...]) -> None:
    for row, label in enumerate(labels):
        if label is not None and label not in class_names:
            named = ", ".join(f"“{name}”" for name in class_names[:10]) + (" …" if len(class_names) > 10 else "")
            raise DataError(f"{table.place(row)}: “{label}” is no class. Write one of {named}, or leave it empty.")


def _strata_of(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The stratum of each row, from 0, and how many samples of the pool each stratum has."""
    numbers = {column: table.numbers(column) for column in ("stratum", "stratum_size", "pool_size")}
    stratum, first, at = np.unique(numbers["stratum"], return_index=True, return_inverse=True)
    n_in, pool_size = numbers["stratum_size"][first], numbers["pool_size"][0]
    odd = (numbers["stratum_size"] != n_in[at]) | (numbers["pool_size"] != pool_size) | (numbers["stratum_size"] < 1)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise DataError(
            f"{table.place(row)}: the size of its stratum or of the pool is not that of the rows above. Download the "
            "list again, and fill in 'label' only."
        )
    if n_in.sum() != pool_size or (np.bincount(at) > n_in).any():
        raise DataError(
            f"{table.name}: the strata hold {n_in.sum():g} samples, the pool {pool_size:g}. Rows of a whole stratum "
            f"are missing (there are {len(stratum)} here): keep all rows, labelled or not."
        )
    return at, n_in.astype(np.int64)
