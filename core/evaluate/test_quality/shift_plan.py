"""Which trials tell whether a class moved from training to test? Re-splits in blocks, every class in turn.

All classes' first blocks come first, with the split as it is, so that a run that is not finished knows every class by
fewer re-splits.
"""

import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate import covariate_shift
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.test_quality.verdict import Together, moved, moved_together, together
from touchstone.core.evaluate.wording import Verdict, bare, count, listed, p_value, percent, plural, quoted, resting
from touchstone.core.models.classical import stop_if
from touchstone.core.models.layers import LayerSamples
from touchstone.core.parameters import asks, asks_seed, follows, label_of
from touchstone.core.trials import Context, layer_parts
from touchstone.core.trials.plan import Aside, check_fields, check_whole

COLUMNS = {
    "label": "Int64",
    "resplit": "Int64",
    "n_train": "Int64",
    "n_test": "Int64",
    "divergence": "float64",
    "error": "float64",
    "n_dimensions": "Int64",
    "kept_variance": "float64",
    "n_train_components": "Int64",
    "n_test_components": "Int64",
    "seconds": "float64",
    "status": TEXTS,
}
"""The columns of the rows and their types; one row for each class and re-split, 0 being the split as it is.

`label` is the code of the class, `n_train` and `n_test` are its samples in either part; the other columns are those of
`Divergence`. A failed trial is one row without figures, whose re-split is the first that it would have measured.
"""

WAITING = "not measured yet"
FAILED = "could not be measured"
_FEWEST, _MOST = 5, 50  # re-splits a trial
_SAMPLES = 20_000  # divided by a class's samples, that many re-splits take a few seconds


@dataclass(frozen=True)
class Block:
    """The re-splits of one class that one trial measures, from `start` to before `stop`."""

    label: int
    start: int
    stop: int


@dataclass(frozen=True)
class CovariateShiftPlan:
    """Measure for each class how far its test part diverges from its training part, and from re-splits of both.

    Parameters
    ----------
    model
        The fingerprint of the stored model, or of a record of uploaded features.
    layer
        The layer whose features are compared; None takes the usual one.
    n_resplits
        Random splits of the same sizes that each class is held against.
    n_dimensions, n_components, n_draws
        Directions that are kept, components of a mixture, Monte-Carlo draws (`ShiftOptions`).
    test_share, split_seed, test_set
        The split is that of a TrainingPlan with these; of a record, it is the one that was uploaded.
    seed
        The one number that all randomness of the plan is derived from.

    Raises DataError for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> CovariateShiftPlan("f1").blocks(load_example("wine"))[:4]
    (Block(label=0, start=0, stop=50), Block(label=1, start=0, stop=50), Block(label=2, start=0, stop=50),
    Block(label=0, start=50, stop=100))
    """

    model: str = layer_parts.asks_model()
    layer: str | None = layer_parts.asks_layer()
    n_resplits: int = asks(
        covariate_shift.N_RESPLITS,
        "Re-splits",
        "Random splits of the same sizes for comparison. Twenty are enough for a significant class; more make p finer.",
        address="resplits",
        place="row",
        within=(1, 10_000, 100),
        says="re-split",
    )
    n_dimensions: int = asks(
        covariate_shift.N_DIMENSIONS,
        "Directions",
        "Principal components of the training part.",
        address="dimensions",
        place="row",
        within=(1, 50),
    )
    n_components: int = asks(
        covariate_shift.N_COMPONENTS,
        "Components",
        "Of each Gaussian mixture; fewer where samples are few.",
        address="mixture",
        place="row",
        within=(1, 50),
    )
    n_draws: int = asks(
        covariate_shift.N_DRAWS, "Draws", "Monte-Carlo draws of each divergence.", place="command", lowest=2
    )
    test_share: float = follows(0.2, of=layer_parts.split_field("test_share"))
    split_seed: int = follows(0, of=layer_parts.split_field("split_seed"))
    test_set: str = layer_parts.follows_test_set(layer_parts.split_field("test_set"))
    seed: int = asks_seed(address="shift_seed", place="row")

    described: ClassVar[str] = "Covariate shift · {n_resplits} · {layer} · {model}"

    kind: ClassVar[str] = "covariate_shift"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        layer_parts.check_model_and_layer(self.model, self.layer)
        lowest = {"n_resplits": 1, "n_dimensions": 1, "n_components": 1, "n_draws": 2, "split_seed": 0, "seed": 0}
        check_whole(self, lowest)
        if not isinstance(self.test_share, float) or not 0 < self.test_share < 1:
            raise DataError(f"{label_of(self, 'test_share')} must lie between 0 and 1, not {self.test_share!r}.")

        layer_parts.check_test_set(self)

    @property
    def options(self) -> covariate_shift.ShiftOptions:
        """How the divergence of a class is measured."""
        return covariate_shift.ShiftOptions(self.n_dimensions, self.n_components, self.n_draws)

    def stored_models(self) -> tuple[str, ...]:
        """The model."""
        return (self.model,)

    def blocks(self, dataset: Dataset) -> tuple[Block, ...]:
        """Every trial: a block of re-splits of each class in turn, shorter ones where a class has many samples."""
        return _blocks(dataset, self.n_resplits)

    def n_trials(self, dataset: Dataset) -> int:
        """Blocks of all classes."""
        return len(self.blocks(dataset))

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Rows of the trial (`COLUMNS`). Raises Cancelled before the next re-split once `context.should_stop()`."""
        block = self.blocks(dataset)[index]
        stop_if(context.should_stop)
        stored = Aside(context.model(self.model))
        split = (("test_share", self.test_share), ("split_seed", self.split_seed), ("test_set", self.test_set))
        both = _both(self.model, self.layer, split, dataset, stored)
        parts = both.of(block.label)
        counts = {"n_train": parts.n_train, "n_test": len(parts.features) - parts.n_train}
        rows = []
        for resplit in range(block.start, block.stop):
            stop_if(context.should_stop)
            begin = time.perf_counter()
            seeds = {"seed": covariate_shift.class_seed(self.seed, block.label), "units_seed": self.seed}
            divergence = covariate_shift.shift_of(parts, resplit=resplit, **seeds, options=self.options)
            cells = {name: getattr(divergence, name) for name in COLUMNS if hasattr(divergence, name)}
            cells |= {"label": block.label, "resplit": resplit, "divergence": divergence.value, "status": "ok"}
            rows.append({**counts, **cells, "seconds": time.perf_counter() - begin})
            context.report(resplit + 1 - block.start, block.stop - block.start, "re-split")
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        block = self.blocks(dataset)[index]
        cells = {**dict.fromkeys(COLUMNS), "label": block.label, "resplit": block.start, "status": "failed"}
        return pd.DataFrame({name: pd.Series([cells[name]]).astype(kind) for name, kind in COLUMNS.items()})


def shift_of_rows(
    rows: pd.DataFrame, plan: CovariateShiftPlan, class_names: tuple[str, ...], *, unit: str = "sample"
) -> covariate_shift.CovariateShift:
    """Give what the rows of a run say of every class, finished or not: as `covariate_shift` with the re-splits so far.

    A class whose own split has no row yet has NaN for its figures, and a note that says so. While a run goes on, only
    the classes that are known count for the correction. `unit` is what the data set's units are called.

    Examples
    --------
    >>> shift_of_rows(pd.DataFrame(), CovariateShiftPlan("f1"), ("a", "b")).table()["note"].tolist()
    ['not measured yet', 'not measured yet']
    """
    if rows.empty:
        return covariate_shift.corrected([_unknown(name, rows, WAITING) for name in class_names])
    classes = [_class(name, rows.loc[rows["label"] == code], plan, unit) for code, name in enumerate(class_names)]
    return replace(covariate_shift.corrected(classes), unit=unit)


def _class(name: str, rows: pd.DataFrame, plan: CovariateShiftPlan, unit: str) -> covariate_shift.ClassShift:
    ok = rows.loc[rows["status"] == "ok"].sort_values("resplit")
    if 0 not in ok["resplit"].to_numpy():
        return _unknown(name, ok, FAILED if 0 in rows["resplit"].to_numpy() else WAITING)
    kept = ["divergence", "error", "n_dimensions", "kept_variance", "n_train_components", "n_test_components"]
    pieces = [
        covariate_shift.Divergence(
            float(value), float(error), int(n_dimensions), float(variance), int(n_train), int(n_test)
        )
        for value, error, n_dimensions, variance, n_train, n_test in ok.loc[:, kept].itertuples(index=False)
    ]
    return covariate_shift.class_shift(
        name, int(ok["n_train"].iloc[0]), int(ok["n_test"].iloc[0]), pieces, options=plan.options, unit=unit
    )


def _unknown(name: str, rows: pd.DataFrame, note: str) -> covariate_shift.ClassShift:
    n_train, n_test = (int(rows[count].iloc[0]) if len(rows) else 0 for count in ("n_train", "n_test"))
    nothing, no_null = covariate_shift.NOT_MEASURED, np.zeros(0)
    return covariate_shift.ClassShift(name, n_train, n_test, nothing, no_null, float("nan"), note)


@dataclass(frozen=True, eq=False)
class _Both:
    """Both parts, and what was made of those classes that were asked for."""

    train: LayerSamples
    test: LayerSamples
    classes: dict[int, covariate_shift.ClassParts] = field(default_factory=dict)

    def of(self, label: int) -> covariate_shift.ClassParts:
        """Give the samples of one class."""
        if label not in self.classes:
            of_class = [part.labels == label for part in (self.train, self.test)]
            own, other = (part.features[rows] for part, rows in zip((self.train, self.test), of_class, strict=True))
            units = [part.units for part in (self.train, self.test)]
            known = [codes[rows] for codes, rows in zip(units, of_class, strict=True) if codes is not None]
            together = np.concatenate(known) if len(known) == 2 else None
            self.classes[label] = covariate_shift.class_parts(own, other, together)
        return self.classes[label]


@lru_cache(maxsize=1)
def _both(
    model: str, layer: str | None, split: tuple[tuple[str, Any], ...], dataset: Dataset, stored: Aside[bytes]
) -> _Both:
    return _Both(*layer_parts.both_parts(stored.value, dataset, layer=layer, **dict(split)))


@lru_cache(maxsize=8)
def _blocks(dataset: Dataset, n_resplits: int) -> tuple[Block, ...]:
    blocks = []
    for label, n in enumerate(dataset.n_per_class):
        length = max(_FEWEST, min(_MOST, _SAMPLES // int(n)))
        starts = range(0, 1 + n_resplits, length)
        blocks += [Block(label, start, min(start + length, 1 + n_resplits)) for start in starts]
    return tuple(sorted(blocks, key=lambda block: (block.start, block.label)))


# Which classes moved from training to test, and could one be told at all? A comparison in words.


FEWEST_RESPLITS = 20
"""With fewer no p-value is below 5 %, however far a class has moved."""


def shift_verdict(shift: covariate_shift.CovariateShift) -> Verdict:
    """The card of a comparison, as far as it has come.

    Examples
    --------
    >>> from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 0.9, 1, 1) for value in (0.30, *[0.1] * 39)]
    >>> print(shift_verdict(corrected([class_shift("a", 100, 50, pieces)])).headline)
    1 of 1 class has shifted significantly from training to test: “a”.
    """
    claims, all_of, overall = list(map(moved, shift.classes)), together(shift), moved_together(shift)
    named = [
        quoted(of_class.label)
        for of_class, claim in zip(shift.classes, claims, strict=True)
        if claim.decision == "above"
    ]
    if not all_of.n_classes:
        return Verdict("No class has enough samples for this test.", "", "", tuple(_notes(shift)))
    kept = [
        of_class.observed.kept_variance for of_class in shift.classes if not np.isnan(of_class.observed.kept_variance)
    ]
    n_test, n_train = sum(each.n_test for each in shift.classes), sum(each.n_train for each in shift.classes)
    whole = "" if shift.unit == "sample" else f", each {shift.unit} in one part"
    used = (
        f"n = {count(n_test)} test samples against {count(n_train)} training samples, "
        f"{plural(all_of.n_resplits, 're-split')} of each class{whole}. Directions used keep "
        f"{percent(min(kept))} to {percent(max(kept))} of the variance."
    )
    both = ("test_quality.shift", overall.kind)
    findings = (resting(_together(all_of), overall.kind), *_notes(shift))
    headline, advice = resting(_headline(named, all_of, overall), *both), resting(_advice(named, overall), *both)
    return Verdict(headline, used, advice, findings, (*claims, overall))


def _headline(named: list[str], all_of: Together, overall: Claim) -> str:
    classes = f"{count(len(named))} of {plural(all_of.n_classes, 'class', 'classes')}"
    if named:
        verb = "has" if len(named) == 1 else "have"
        return f"{classes} {verb} shifted significantly from training to test: {listed(named)}."
    if all_of.n_resplits < FEWEST_RESPLITS:
        too_few = f"{plural(all_of.n_resplits, 're-split')} are too few to decide whether a class has shifted"
        return f"{too_few}; at least {FEWEST_RESPLITS} are needed."
    if overall.decision == "above":
        return (
            f"All classes together have shifted significantly from training to test ({p_value(all_of.p_value)}), but "
            f"no single class significantly."
        )
    return f"No class of {count(all_of.n_classes)} has shifted significantly from training to test."


def _advice(named: list[str], overall: Claim) -> str:
    if named:
        return f"Next: find out how the test samples of {listed(named)} were collected."
    if overall.decision == "above":
        return "Next: find out how training and test samples were collected."
    return ""


def _together(all_of: Together) -> str:
    return (
        f"All classes together: mean divergence {bare(all_of.value, 3)}, of re-splits "
        f"{bare(all_of.by_chance, 3)}, {p_value(all_of.p_value)}."
    )


def _notes(shift: covariate_shift.CovariateShift) -> list[str]:
    """What was changed or left out, and for which classes: one sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for of_class in shift.classes:
        if of_class.note:
            reasons.setdefault(of_class.note, []).append(of_class.label)
    return [f"{listed([quoted(label) for label in labels])}: {note}." for note, labels in reasons.items()]
