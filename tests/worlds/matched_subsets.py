"""Two test sets of one fitted model: in which worlds does accuracy fall, and at equal confidence too?

A model is fitted on data that are drawn anew (MNIST's: once, on real images), and the sets are drawn for it. Where the
target is chosen by the fitted model's own confidence, or not at all, accuracy at equal confidence is the same in both
sets by construction, however badly calibrated the model is. Where labels of the target are drawn anew for a share of
samples, it is lower by construction. The parts of a fall: what the mix of confidences accounts for (all of it where
calibration is kept), and what samples lose that found no match, beyond what matched ones do. Effects other than 0 are
means over 400 data sets of the same world, seeds from 10 000 on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tests.worlds.seen import SHARED, Digits, Gaussians, ManyClasses, Noise, Population, Seen
from tests.worlds.world import World
from touchstone.core.data import Predictions
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.matched_subsets import ModelComparisons, Outcomes, compare_models, compare_sets
from touchstone.core.evaluate.matched_subsets.findings import with_confusions
from touchstone.core.evaluate.metric_estimates import metrics_on_sets
from touchstone.core.evaluate.units import samples_as_units

FALLS, RESIDUAL, MIX, UNMATCHED, LABELS, MODELS, BASELINE, CALIBRATION, CONFUSION = (
    f"matched_subsets.{name}"
    for name in ("falls", "residual", "mix", "unmatched", "labels", "models", "baseline", "calibration", "confusion")
)


@dataclass(frozen=True)
class Pair:
    """How the two sets of a world are drawn, and how they are compared."""

    population: Population = field(default_factory=Gaussians)
    target_population: Population | None = None
    n_reference: int = 2000
    n_target: int = 500
    shift: str = "none"
    """Of the target: "none", "harder" or "easier" by the model's own confidence."""
    flipped: float = 0.0
    """Share of target samples whose label is drawn anew."""
    flipped_label: int | None = None
    """Only of this predicted label."""
    unknown: float = 0.0
    """Share of target samples of a class that the model does not know, which it is as unsure of as it ever is."""
    too_sure: float | None = None
    """Answers of both sets are right with the probability that the fitted model says, less this; None: as they are."""
    n_models: int = 1
    decimals: int | None = None
    method: str = "random"

    def sets(self, rng: np.random.Generator) -> tuple[Seen, Seen]:
        draw = self.population.fitted(rng)
        reference = self.as_sure(draw(self.n_reference, rng), rng)
        draw = draw if self.target_population is None else self.target_population.fitted(rng)
        if self.shift == "none":
            target = draw(self.n_target, rng)
        else:
            many = draw(6 * self.n_target, rng)
            hardness = 1.05 - many.confidence
            keep = rng.random(len(many.y)) < (
                hardness / hardness.max() if self.shift == "harder" else many.confidence**4
            )
            target = many.part(np.flatnonzero(keep)[: self.n_target])
        target = self.as_sure(target, rng)
        if self.unknown:
            many = draw(40 * self.n_target, rng)
            unsure = np.argsort(many.confidence)[: round(self.unknown * self.n_target)]
            rows = rng.choice(len(target.y), size=len(unsure), replace=False)
            target = target.with_unknown(rows, many.part(unsure))
        anew = rng.random(len(target.y)) < self.flipped
        if self.flipped_label is not None:
            anew &= target.label == self.flipped_label
        y = np.where(anew, rng.integers(self.population.n_classes, size=len(anew)), target.y)
        return reference, Seen(target.label, target.confidence, y, target.chance)

    def as_sure(self, seen: Seen, rng: np.random.Generator) -> Seen:
        """The same answers, right as often as the model says or `too_sure` less."""
        if self.too_sure is None:
            return seen
        right = rng.random(len(seen.y)) < seen.confidence - self.too_sure
        other = (seen.label + rng.integers(1, self.population.n_classes, size=len(seen.y))) % self.population.n_classes
        return Seen(seen.label, seen.confidence, np.where(right, seen.label, other), seen.chance)

    def outcomes(self, seen: Seen) -> Outcomes:
        names = tuple(f"class {i}" for i in range(self.population.n_classes))
        confidence = seen.confidence if self.decimals is None else seen.confidence.round(self.decimals)
        truth = seen.y if (seen.y >= 0).all() else None
        return Outcomes(seen.label.astype(np.int64), confidence, seen.label == seen.y, names, truth)

    def models(self, data_seed: int) -> list[tuple[Seen, Seen]]:
        rng = np.random.default_rng(data_seed)
        return [self.sets(rng) for _ in range(self.n_models)]

    def compared(self, data_seed: int, method_seed: int) -> ModelComparisons:
        pairs = [[self.outcomes(seen) for seen in pair] for pair in self.models(data_seed)]
        rng = np.random.default_rng(method_seed)
        if len(pairs) == 1:
            return ModelComparisons((compare_sets(*pairs[0], method=self.method, rng=rng),), ())
        references, targets = ({f"model {i}": pair[side] for i, pair in enumerate(pairs)} for side in (0, 1))
        return compare_models(references, targets, method=self.method, rng=rng)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        return claims_of(self.compared(data_seed, method_seed))

    def confused(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """Of the confusions, that with the smallest p-value."""
        [pair] = self.models(data_seed)
        names = [f"class {i}" for i in range(self.population.n_classes)]
        old, new = (Predictions(map(str, range(len(seen.y))), seen.y, seen.label, names) for seen in pair)
        known = with_confusions(metrics_on_sets(old, new, samples_as_units(old.n_samples, new.n_samples)))
        return {} if known.most_changed is None else {CONFUSION: known.most_changed}

    def best(self, data_seed: int) -> Mapping[str, bool]:
        """Tests of one kind each that know how often the model is right for every input, and in the reference at large.

        Of the fall and of what is left at equal confidence: the target's labels against their true probabilities (for
        the fall: against the accuracy on a reference without end). Of the mix: these probabilities themselves.
        """
        [(_, target)] = self.models(data_seed)
        right = (target.label == target.y).astype(float)
        residual = (target.chance - right).sum() / np.sqrt((target.chance * (1 - target.chance)).sum())
        known = self.population.fitted(np.random.default_rng(data_seed))(50_000, np.random.default_rng(1)).chance
        n = len(right)
        falls = (known.mean() - right.mean()) / np.sqrt(known.mean() * (1 - known.mean()) / n)
        mix = (known.mean() - target.chance.mean()) / (known.std() / np.sqrt(n))
        return {name: abs(z) > 1.96 for name, z in ((FALLS, falls), (RESIDUAL, residual), (MIX, mix))}


def claims_of(comparisons: ModelComparisons) -> dict[str, Claim]:
    """What the page says, by kind; of labels, models and baselines that with the smallest p-value."""
    rows = list(comparisons.rows)
    if len(rows) > 1:
        residuals = [claim for row in rows if (claim := row.claim("residual"))]
        return {MODELS: min(residuals, key=lambda claim: claim.p_value)}
    row = rows[0]
    claims = {claim.kind: claim for claim in row.claims}
    labels = [label.claim for label in row.labels if label.claim]
    gains = [baseline.gain for baseline in row.baselines]
    sure = [each.claim for each in row.calibrations]
    least = {
        kind: min(family, key=lambda claim: claim.p_value)
        for kind, family in ((LABELS, labels), (BASELINE, gains), (CALIBRATION, sure))
        if family
    }
    return claims | least


NOTHING = {FALLS: 0.0, RESIDUAL: 0.0, MIX: 0.0, UNMATCHED: 0.0, LABELS: 0.0}
KEPT = {RESIDUAL: 0.0, UNMATCHED: 0.0, LABELS: 0.0}
"""Where the target was chosen by confidence alone."""


def world(name: str, pair: Pair, effects: Mapping[str, float], *, best: bool = True) -> World:
    return World("matched_subsets", name, effects, pair.claims, pair.best if best else None)


def confusions(name: str, pair: Pair, effect: float) -> World:
    return World("matched_subsets", f"confusions, {name}", {CONFUSION: effect}, pair.confused)


DRAWN: tuple[World, ...] = (
    world("no shift, 2 000 x 500, logistic", Pair(), NOTHING | {BASELINE: 0.55}, best=False),
    world(
        "inputs that say nothing, 75 % of one class, 900 x 400, tree",
        Pair(Noise(), n_reference=900, n_target=400),
        {FALLS: 0.0, RESIDUAL: 0.0, BASELINE: -0.03},
        best=False,
    ),
    world("no shift, 600 x 600, logistic", Pair(n_reference=600, n_target=600), NOTHING, best=False),
    world("no shift, hardly ever wrong, 2 000 x 500, logistic", Pair(Gaussians(apart=1.6)), NOTHING, best=False),
    world(
        "no shift, 60 classes, 3 000 x 3 000, discriminant",
        Pair(ManyClasses(60), n_reference=3000, n_target=3000),
        NOTHING,
        best=False,
    ),
    world(
        "no shift, 300 classes, 1 500 x 800, discriminant",
        Pair(ManyClasses(300, apart=1.9), n_reference=1500, n_target=800),
        {FALLS: 0.0, RESIDUAL: 0.0, MIX: 0.0, UNMATCHED: 0.0},
        best=False,
    ),
    world(
        "harder inputs, calibration kept, 2 000 x 500, logistic",
        Pair(shift="harder"),
        KEPT | {FALLS: 0.137, MIX: 0.137},
    ),
    world(
        "harder inputs, calibration kept, 600 x 600, logistic",
        Pair(shift="harder", n_reference=600, n_target=600),
        KEPT | {FALLS: 0.136, MIX: 0.136},
    ),
    world(
        "harder inputs, calibration kept, overfitted, 2 000 x 500, logistic",
        Pair(Gaussians(n_train=30), shift="harder"),
        KEPT | {FALLS: 0.152, MIX: 0.152},
        best=False,
    ),
    world(
        "harder inputs, two decimals, 600 x 300, logistic",
        Pair(shift="harder", n_reference=600, n_target=300, decimals=2),
        KEPT | {FALLS: 0.137, MIX: 0.137},
    ),
    world(
        "harder inputs, maximum matching, 1 000 x 500, logistic",
        Pair(shift="harder", n_reference=1000, n_target=500, method="maximum"),
        {FALLS: 0.136, RESIDUAL: 0.0, LABELS: 0.0},
    ),
    world(
        "12 % of labels drawn anew, 2 000 x 500, logistic",
        Pair(flipped=0.12),
        {FALLS: 0.067, RESIDUAL: 0.067, MIX: 0.0, UNMATCHED: -0.0009},
    ),
    world(
        "harder inputs and 15 % of labels drawn anew, 2 000 x 500, logistic",
        Pair(shift="harder", flipped=0.15),
        {FALLS: 0.200, RESIDUAL: 0.067, MIX: 0.137, UNMATCHED: -0.0038},
    ),
    world(
        "harder inputs and 20 % of labels drawn anew, 2 000 x 500, logistic",
        Pair(shift="harder", flipped=0.2),
        {FALLS: 0.221, RESIDUAL: 0.089, MIX: 0.137, UNMATCHED: -0.005},
    ),
    world(
        "easier inputs and 15 % of labels drawn anew, 2 000 x 500, logistic",
        Pair(shift="easier", flipped=0.15),
        {FALLS: 0.032, RESIDUAL: 0.092, MIX: -0.059, UNMATCHED: -0.0001},
    ),
    world(
        "hardly ever wrong, 6 % of labels drawn anew, 2 000 x 500, logistic",
        Pair(Gaussians(apart=1.6), flipped=0.06),
        {FALLS: 0.039, RESIDUAL: 0.040, MIX: 0.0, UNMATCHED: -0.0004},
    ),
    world(
        "half of the labels predicted as one class drawn anew, 2 000 x 500, logistic",
        Pair(flipped=0.5, flipped_label=1),
        {FALLS: 0.093, RESIDUAL: 0.093, MIX: 0.0, LABELS: 0.28},
    ),
    world(
        "15 % of an unknown class at low confidence, 2 000 x 500, logistic",
        Pair(unknown=0.15),
        {FALLS: 0.134, RESIDUAL: 0.0073, MIX: 0.075, UNMATCHED: 0.051},
        best=False,
    ),
    world(
        "as often right as the model says, 2 000 x 500, logistic",
        Pair(too_sure=0.0),
        {CALIBRATION: 0.0, FALLS: 0.0, RESIDUAL: 0.0},
        best=False,
    ),
    world(
        "as often right as the model says, hardly ever wrong, 600 x 300, logistic",
        Pair(Gaussians(apart=1.6), n_reference=600, n_target=300, too_sure=0.0),
        {CALIBRATION: 0.0, FALLS: 0.0, RESIDUAL: 0.0},
        best=False,
    ),
    world(
        "too sure by 6 points, 2 000 x 500, logistic",
        Pair(too_sure=0.06),
        {CALIBRATION: 0.06, FALLS: 0.0, RESIDUAL: 0.0},
        best=False,
    ),
    world(
        "5 models, harder inputs, calibration kept, 1 000 x 300, logistic",
        Pair(shift="harder", n_reference=1000, n_target=300, n_models=5),
        {MODELS: 0.0},
        best=False,
    ),
    world(
        "5 models, 30 % of labels drawn anew, 1 000 x 300, logistic",
        Pair(flipped=0.3, n_reference=1000, n_target=300, n_models=5),
        {MODELS: 0.173},
        best=False,
    ),
    confusions("no shift, 2 000 x 500, logistic", Pair(), 0.0),
    confusions("no shift, 600 x 600, logistic", Pair(n_reference=600, n_target=600), 0.0),
    confusions("no shift, hardly ever wrong, 2 000 x 500, logistic", Pair(Gaussians(apart=1.6)), 0.0),
    confusions(
        "no shift, 60 classes, 3 000 x 3 000, discriminant",
        Pair(ManyClasses(60), n_reference=3000, n_target=3000),
        0.0,
    ),
    confusions("half of the labels predicted as one class drawn anew", Pair(flipped=0.5, flipped_label=1), 0.132),
    confusions("12 % of labels drawn anew, 2 000 x 500, logistic", Pair(flipped=0.12), 0.063),
)
"""On drawn data."""

DIGITS: tuple[World, ...] = (
    world(
        "MNIST, no shift, 3 000 x 800, network", Pair(Digits(0), n_reference=3000, n_target=800), NOTHING, best=False
    ),
    world(
        "MNIST, harder inputs, calibration kept, 3 000 x 800, network",
        Pair(Digits(0), shift="harder", n_reference=3000, n_target=800),
        KEPT | {FALLS: 0.114, MIX: 0.114},
        best=False,
    ),
    world(
        "MNIST, 8 % of labels drawn anew, 3 000 x 800, network",
        Pair(Digits(0), flipped=0.08, n_reference=3000, n_target=800),
        {FALLS: 0.065, RESIDUAL: 0.066, MIX: 0.0},
        best=False,
    ),
    world(
        "MNIST, employees against students, 6 000 x 3 000, network",
        Pair(Digits(0), Digits(4), n_reference=6000, n_target=3000),
        {FALLS: 0.116, RESIDUAL: 0.026, MIX: 0.088, UNMATCHED: 0.0025},
        best=False,
    ),
)
"""On the shared data, where they are beside the checkout."""
WORLDS: tuple[World, ...] = (*DRAWN, *(DIGITS if SHARED.is_dir() else ()))
