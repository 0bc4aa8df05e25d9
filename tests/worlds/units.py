"""Runs on samples that came in units: texts by few authors, clumps of samples alike, every row three times.

Models are fitted on data that are drawn anew. What is counted is a whole verdict: in how many data sets is any of its
sentences false? Nothing that the sentences speak of differs in these worlds, and power is that on independent samples.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import pandas as pd

from tests.evaluate.fold_populations import frame
from tests.worlds.cluster_folds import neighbours, ridge
from tests.worlds.designs import said_wrongly
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.cluster_folds import FoldPredictions, Metric, fold_performance, fold_verdict, labels_shift
from touchstone.core.evaluate.units import Design as Sampled
from touchstone.core.report.slices import Slices, weak_classes, weak_slices
from touchstone.core.split import FOLD_SCHEMES, folds_of_units

Claims = Iterable[tuple[str, Claim]]


@dataclass(frozen=True)
class Design:
    """How samples come about, what is asked of them, and the effects of what is not 0."""

    name: str
    asks: Callable[["Design", np.random.Generator], Claims]
    n_units: int = 20
    per_unit: int = 25
    copies: bool = False
    """Whether the samples of a unit are all the same."""
    known: bool = True
    """Whether the question is told of units."""
    effect: float = 0.0
    """Size of what is there to be found; 0 in a world where nothing is."""
    effects: Mapping[str, float] = field(default_factory=dict)

    def claims(self, seed: int) -> list[tuple[str, Claim]]:
        """What is claimed of the data set of a seed."""
        return list(self.asks(self, np.random.default_rng([crc32(self.name.encode()), seed])))

    def wrong(self, seed: int) -> list[str]:
        """The sentences of a data set that are false, by name."""
        return [name for name, claim in self.claims(seed) if said_wrongly(claim, self.effects.get(name, 0.0))]

    def units(self) -> np.ndarray:
        """The unit of each sample."""
        return np.repeat(np.arange(self.n_units), self.per_unit)

    def sampled(self) -> Sampled:
        """The design as the question is told it."""
        return Sampled(self.units(), "author") if self.known and self.per_unit > 1 else Sampled()

    def of_units(self, values: np.ndarray) -> np.ndarray:
        """What a unit gives to its samples."""
        return values[self.units()]


def folds(design: Design, rng: np.random.Generator) -> Claims:
    """Authors differ in style and in which label they give; a new one's labels are by lot. Random folds, stratified."""
    n, d = design.n_units * design.per_unit, 4
    style = design.of_units(rng.normal(size=(design.n_units, d)))
    leaning = design.of_units(rng.beta(1.0, 1.0, size=design.n_units))
    x = style + 0.7 * rng.normal(size=(n, d))
    y = (rng.random(n) < leaning).astype(np.int64)
    if design.copies:
        x, y = x[:: design.per_unit][design.units()], y[:: design.per_unit][design.units()]
    x[:, 0] += design.effect * y
    units = design.units()
    parts = []
    for scheme in ("random_folds", "stratified_folds"):
        for seed in range(3):
            kind = FOLD_SCHEMES[scheme](seed=int(rng.integers(2**30)), n_folds=5)
            fold = folds_of_units(kind, units, x, y, None)
            parts.append(frame(scheme, seed, None, fold, np.arange(n), None))
            for number in range(5):
                test = fold == number
                said = (ridge if design.effect else neighbours)(x[~test], y[~test], x[test])
                parts.append(frame(scheme, seed, "m", np.full(test.sum(), number), np.flatnonzero(test), said))
    sampled = design.sampled()
    ids = np.array([f"row {row}" for row in range(n)], dtype=object)
    named = None if sampled.codes is None else sampled.codes.astype(str).astype(object)
    folded = FoldPredictions(
        pd.concat(parts, ignore_index=True), y, ("a", "b"), ids, {}, planned=True, units=named, unit_word=sampled.word
    )
    of = [folded.folds("stratified_folds", seed) for seed in range(3)]
    shift = labels_shift("stratified_folds", x, y, of, rng=np.random.default_rng(0), design=sampled)
    scores = fold_performance(folded, metric=Metric("accuracy"))
    for claim in fold_verdict(scores, scheme="stratified_folds", shifts=[shift] if shift else []).claims:
        if not (claim.kind.endswith("beats_baselines") and claim.decision == "below" and not design.effect):
            yield claim.kind.partition(".")[2], claim


def examined(design: Design, rng: np.random.Generator) -> Claims:
    """Clumps are right or wrong together, in every class and group alike; a test of which is weak."""
    n, n_classes, n_groups = design.n_units * design.per_unit, 3, 4
    y = design.of_units(rng.integers(n_classes, size=design.n_units))
    group = design.of_units(rng.integers(n_groups, size=design.n_units))
    chance = design.of_units(rng.beta(4, 1, size=design.n_units)) if design.per_unit > 1 else np.full(n, 0.8)
    chance = chance - design.effect * ((y == 0) & (group == 0)) - design.effect / 2 * (y == 1)
    right = (rng.random(n) < chance).astype(float)
    if design.copies:
        right = right[:: design.per_unit][design.units()]
    fold = design.of_units(rng.permutation(design.n_units) % 5)
    table = pd.DataFrame({"id": np.arange(n), "label": y.astype(str), "correct on Random folds": right})
    tested = {"correct on Random folds": pd.DataFrame({"seed": 0, "fold": fold, "row": range(n), "right": right})}
    for each in weak_classes(table, tested, design=design.sampled()):
        yield f"weak class {each.name}", each.claim
    slices = Slices(n_groups * y + group, tuple(f"group {i}" for i in range(n_classes * n_groups)))
    for each in weak_slices(table, tested, slices, rng=rng, design=design.sampled()):
        yield f"weak group {each.name}", each.claim


NULLS = (
    Design("folds, 20 authors x 25", folds),
    Design("folds, 60 authors x 10", folds, 60, 10),
    Design("folds, 150 rows three times", folds, 150, 3, copies=True),
    Design("folds, 500 samples", folds, 500, 1),
    Design("weak classes and groups, 60 clumps of 10", examined, 60, 10),
    Design("weak classes and groups, 200 clumps of 10", examined, 200, 10),
    Design("weak classes and groups, 300 rows three times", examined, 300, 3, copies=True),
    Design("weak classes and groups, 600 samples", examined, 600, 1),
)
