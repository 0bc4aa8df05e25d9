"""Folds whose scores go with a number of theirs, or with nothing; folds that foretell a held-out set, or do not.

These worlds were chosen after the others were frozen. A number of every sample (as the length of a text) either decides
how often its label is drawn by lot, or nothing; folds are made by it, or at random. A held-out set is drawn
as the samples were, or in groups that the samples do not have; the model that predicts it was fitted on four fifths of
the samples, as those of the folds were, so that nothing but chance and the groups can set the two scores apart.
True effects are means over 100 other data sets (`truth`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tests.evaluate.fold_populations import frame
from tests.worlds.cluster_folds import MODELS
from tests.worlds.cluster_folds_claims import claims_beside
from tests.worlds.world import World
from touchstone.core.data import Predictions
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions
from touchstone.core.split.folds import FOLD_SCHEMES

GOES, FORETELLS = "cluster_folds.goes_with", "cluster_folds.predicts_held_out"
LENGTH = "mean length"
NAMES = ("a", "b")


@dataclass(frozen=True)
class Design:
    """Samples, folds by which scheme, how many and with how many seeds, and what is to be found.

    With `harder`, labels of long samples are drawn by lot. With `new_groups` the held-out set has other groups than the
    samples; `n_held_out` of 0 is none. `unrelated` numbers have to do with nothing.
    """

    name: str
    n: int
    scheme: str
    effects: Mapping[str, float] = field(hash=False)
    n_folds: int = 5
    n_seeds: int = 1
    model: str = "ridge"
    harder: bool = False
    unrelated: int = 0
    n_held_out: int = 0
    groups: bool = False
    new_groups: bool = False

    def world(self) -> World:
        """The world of this design."""
        return World("cluster_folds", f"{self.name}, n = {self.n}, {self.model}", dict(self.effects), self.claims)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of data drawn anew."""
        drawn = self.drawn(data_seed)
        folded = self.folded(drawn, method_seed)
        performance = fold_performance(folded, metric=ScoredBy("accuracy"))
        about = LENGTH if self.harder else ""
        held_out = self.held_out(drawn)
        return claims_beside(folded, performance, drawn.numbers, held_out, about=about, seed=method_seed)

    def drawn(self, data_seed: int) -> "Drawn":
        """Samples and a held-out set; the same seed gives the same."""
        rng = np.random.default_rng([data_seed, self.n])
        length = rng.gamma(4.0, 5.0, size=self.n)
        centres = 4 * rng.normal(size=(2, 5, 4)) if self.groups else np.zeros((2, 5, 4))
        x, y = _samples(rng, self.n, centres)
        if self.harder:
            lot = rng.random(self.n) < np.clip((length - 10) / 30, 0.0, 0.9)
            y = np.where(lot, rng.integers(2, size=self.n), y)
        numbers = {f"number {place}": rng.normal(size=self.n) for place in range(self.unrelated)}
        numbers |= {LENGTH: length} if self.harder else {}
        foreign = 4 * rng.normal(size=(2, 5, 4)) if self.new_groups else centres
        new_x, new_y = _samples(rng, self.n_held_out, foreign)
        return Drawn(x, y, length, numbers, new_x, new_y)

    def folded(self, drawn: "Drawn", method_seed: int) -> FoldPredictions:
        """What the model predicts on every fold, with the seeds that follow one another from a first."""
        parts, rows = [], np.arange(self.n)
        for seed in range(self.n_seeds * method_seed, self.n_seeds * (method_seed + 1)):
            scheme = FOLD_SCHEMES[self.scheme](n_folds=self.n_folds, seed=seed)
            folds = scheme.assign(drawn.length[:, None], drawn.y, None)
            parts.append(frame(self.scheme, seed, None, folds, rows, None))
            for fold in range(self.n_folds):
                mine, test = np.flatnonzero(folds == fold), folds == fold
                y_pred = MODELS[self.model](drawn.x[~test], drawn.y[~test], drawn.x[test])
                parts.append(frame(self.scheme, seed, self.model, np.full(len(mine), fold), mine, y_pred))
        ids = np.array([f"row {row}" for row in rows], dtype=object)
        return FoldPredictions(pd.concat(parts, ignore_index=True), drawn.y, NAMES, ids, {}, planned=True)

    def held_out(self, drawn: "Drawn") -> Predictions | None:
        """What a model fitted on four fifths of the samples predicts on the held-out set."""
        if not self.n_held_out:
            return None
        some = np.arange(self.n) % 5 > 0
        y_pred = MODELS[self.model](drawn.x[some], drawn.y[some], drawn.new_x)
        return Predictions([f"new {row}" for row in range(self.n_held_out)], drawn.new_y, y_pred, NAMES)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Inputs, labels, the number that folds may be made in, the numbers of the page, and the held-out set."""

    x: np.ndarray
    y: np.ndarray
    length: np.ndarray
    numbers: Mapping[str, np.ndarray]
    new_x: np.ndarray
    new_y: np.ndarray


def _samples(rng: np.random.Generator, n: int, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, 2 apart in the first column, in groups with these centres."""
    y, group = rng.integers(2, size=n), rng.integers(5, size=n)
    x = rng.normal(size=(n, 4)) + centres[y, group]
    x[:, 0] += 2.0 * y
    return x, y


def truth(design: Design, n_data_sets: int = 100) -> dict[str, tuple[float, float]]:
    """The estimate of every kind: its mean over data sets, and that mean's standard error."""
    claims = [design.claims(seed, seed) for seed in range(10_000, 10_000 + n_data_sets)]
    values = {kind: [made[kind].estimate for made in claims] for kind in design.effects}
    return {kind: (float(np.mean(of)), float(np.std(of) / np.sqrt(n_data_sets))) for kind, of in values.items()}


DESIGNS = (
    Design("four numbers that say nothing, stratified folds", 400, "stratified_folds", {GOES: 0.0},
           n_folds=10, unrelated=4),
    Design("a number that says nothing, five stratified folds, three seeds", 300, "stratified_folds", {GOES: 0.0},
           n_seeds=3, unrelated=1),
    Design("labels of long texts by lot, ten folds by length", 600, "quantile_folds", {GOES: -0.88},
           n_folds=10, harder=True, unrelated=2),
    Design("held-out set drawn alike, stratified folds", 400, "stratified_folds", {FORETELLS: 0.0}, n_held_out=300),
    Design("held-out set drawn alike, few samples, stratified folds", 100, "stratified_folds", {FORETELLS: 0.0},
           n_held_out=80, n_seeds=3),
    Design("held-out set of new groups, stratified folds", 400, "stratified_folds", {FORETELLS: 0.45},
           n_held_out=300, groups=True, new_groups=True, model="neighbours"),
)  # fmt: skip

WORLDS = tuple(design.world() for design in DESIGNS)
