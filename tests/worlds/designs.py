"""How samples came about: authors of many texts, networks that are too sure, a thousand classes, eight models at once.

A model is fitted on data that are drawn anew, and two sets are drawn for it, whose truth is known by construction. What
is counted is a whole verdict: in how many data sets is any of its sentences false, whatever its kind and its model?
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np
from scipy import special

from tests.worlds.seen import ManyClasses
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.matched_subsets import ModelComparisons, Outcomes, compare_pairs
from touchstone.core.evaluate.matched_subsets.outcomes import SCORES, Scale

NOTHING = {"falls": 0.0, "residual": 0.0, "mix": 0.0, "unmatched": 0.0, "labels": 0.0}
HARDER = NOTHING | {"falls": 1.0, "mix": 1.0}
"""The target is chosen by the model's own confidence: all else is as in the reference."""
MANY = 40_000
"""Samples from which it is known how overconfident a fitted model truly is."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Samples as a fitted model sees them: logits, classes, and the author of each."""

    logits: np.ndarray
    y: np.ndarray
    author: np.ndarray

    def part(self, index: np.ndarray) -> "Drawn":
        return Drawn(self.logits[index], self.y[index], self.author[index])


Draw = Callable[[np.ndarray, np.random.Generator], Drawn]
"""Draws samples of a fitted model, one for each author that is named."""


@dataclass(frozen=True)
class Authors:
    """Texts have a style that their author gives to all; the model is a logistic regression on sixty others'."""

    n_classes: int = 3
    style: float = 0.7
    apart: float = 2.2
    n_inputs: int = 4
    n_train: int = 1200

    def fitted(self, rng: np.random.Generator) -> Draw:
        from sklearn.linear_model import LogisticRegression

        centres = self.apart * np.eye(self.n_classes, self.n_inputs)

        def draw_inputs(author: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
            names, codes = np.unique(author, return_inverse=True)
            drawn = [np.random.default_rng([7, name]).normal(size=self.n_inputs) for name in names]
            styles = self.style * np.stack(drawn)
            y = rng.integers(self.n_classes, size=len(author))
            return centres[y] + styles[codes] + rng.normal(size=(len(author), self.n_inputs)), y

        known = rng.integers(2**40, 2**41, size=60)
        x, y = draw_inputs(np.repeat(known, self.n_train // 60), rng)
        model = LogisticRegression(C=10.0).fit(x, y)

        def draw(author: np.ndarray, rng: np.random.Generator) -> Drawn:
            x, y = draw_inputs(author, rng)
            scores = model.decision_function(x)
            return Drawn(np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores, y, author)

        return draw


@dataclass(frozen=True)
class Classes:
    """Many classes, and a linear discriminant that had five samples of each."""

    n_classes: int

    def fitted(self, rng: np.random.Generator) -> Draw:
        drawn_from = ManyClasses(self.n_classes, apart=1.6)
        centres, model = drawn_from.learned(rng)

        def draw(author: np.ndarray, rng: np.random.Generator) -> Drawn:
            y = rng.integers(self.n_classes, size=len(author))
            x = centres[y] + rng.normal(size=(len(author), drawn_from.n_inputs))
            return Drawn(model.decision_function(x), y, author)

        return draw


@dataclass(frozen=True)
class Design:
    """A way in which two sets come about, and what is true of them."""

    name: str
    population: Authors | Classes = field(default_factory=Authors)
    n_units: tuple[int, int] = (10, 10)
    per_unit: int = 100
    zipf: bool = False
    """Whether the n-th author wrote 1 / n as much as the first."""
    shared: bool = False
    """Whether the authors of both sets are the same."""
    copies: int = 1
    n_samples: tuple[int, int] | None = None
    """Of sets without authors, how many samples each has."""
    temperature: float = 1.0
    map: str = "softmax"
    scale: Scale = "accuracy"
    """What is matched on; of a margin or an entropy, that is also what makes samples harder."""
    harder: bool = False
    flipped: float = 0.0
    """Share of target samples whose label is drawn anew."""
    n_models: int = 1
    effects: Mapping[str, float] = field(default_factory=lambda: NOTHING)

    def compared(self, seed: int, method_seed: int | None = None) -> tuple[ModelComparisons, list[dict[str, float]]]:
        """The comparison of one data set, and of each model how overconfident it truly is on either set."""
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        authors = self.authors(rng)
        references, targets, truths = {}, {}, []
        for i in range(self.n_models):
            draw = self.population.fitted(rng)
            own = self.sets(draw, authors, rng)
            many = tuple(rng.integers(2**50, 2**51, size=MANY // 20).repeat(20) for _ in range(2))
            known = [self.outcomes(each) for each in self.sets(draw, many, rng)]
            truths.append(
                {
                    f"calibration {side}": float(each.confidence.mean() - each.accuracy)
                    for side, each in zip(("reference", "target"), known, strict=True)
                }
            )
            references[f"model {i}"], targets[f"model {i}"] = map(self.outcomes, own)
        method = np.random.default_rng(seed + 77 if method_seed is None else method_seed)
        return compare_pairs(references, targets, scale=self.scale, rng=method), truths

    def wrong(self, seed: int) -> list[str]:
        """The sentences of a data set that are false, by name."""
        compared, truths = self.compared(seed)
        wrong = []
        for row, truth in zip(sorted(compared.rows, key=lambda row: row.model), truths, strict=True):
            for name, claim in claims_of(row):
                effect = truth.get(name, self.effects.get(name.partition(" ")[0], 0.0))
                if name.startswith("baseline"):
                    effect = 1.0
                if said_wrongly(claim, effect):
                    wrong.append(name)
        return wrong

    def found(self, seed: int) -> dict[str, bool]:
        """Of a data set, which effects its verdict names, and which a test of each alone would find at 5 %."""
        compared, _ = self.compared(seed)
        [row] = compared.rows
        claims, numbers = dict(claims_of(row)), {"falls": row.gap, "residual": row.matched_gap}
        named = {name: name in claims and claims[name].decision == "above" for name in numbers}
        return named | {f"{name} alone": each.value > 0 and each.p_value < 0.05 for name, each in numbers.items()}

    def authors(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The author of each sample of both sets."""
        if self.n_samples is not None:
            return tuple(rng.integers(2**50, 2**51, size=n) for n in self.n_samples)  # ty: ignore
        sides = []
        for n in self.n_units:
            sizes = np.full(n, self.per_unit)
            if self.zipf:
                share = 1 / np.arange(1, n + 1)
                sizes = np.maximum((share / share.sum() * n * self.per_unit).round().astype(int), 1)
            sides.append((rng.integers(2**50, 2**51, size=n), sizes))
        if self.shared:
            sides[1] = (sides[0][0], sides[1][1])
        return tuple(names.repeat(sizes) for names, sizes in sides)  # ty: ignore

    def sets(self, draw: Draw, authors: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> list[Drawn]:
        """Samples of both sets."""
        reference = draw(authors[0], rng)
        if self.harder:
            many = draw(authors[1].repeat(4), rng)
            sure = special.softmax(many.logits, axis=1).max(axis=1)
            if self.scale in SCORES:
                score = SCORES[self.scale](special.softmax(self.temperature * many.logits, axis=1))
                sure = special.expit(score / self.temperature)
            hardness = 1.05 - sure
            target = many.part(np.flatnonzero(rng.random(len(sure)) < hardness / hardness.max())[: len(authors[1])])
        else:
            target = draw(authors[1], rng)
        anew = rng.random(len(target.y)) < self.flipped
        y = np.where(anew, rng.integers(self.population.n_classes, size=len(anew)), target.y)
        return [reference, replace(target, y=y)]

    def outcomes(self, drawn: Drawn) -> Outcomes:
        """What the model says of samples, at the temperature and in the digits of the design."""
        scaled = self.temperature * drawn.logits
        label = scaled.argmax(axis=1)
        odds = -special.logsumexp(_others(scaled - scaled.max(axis=1, keepdims=True)), axis=1)
        sure, log_odds = special.expit(odds), odds if self.map == "with all" else None
        if self.map == "single":
            sure = special.softmax(scaled.astype(np.float32), axis=1).max(axis=1).astype(np.float64)
        elif self.map == "four decimals":
            sure = sure.round(4)
        elif self.map == "squared":
            sure = 1 - (1 - sure) ** 2
        names = tuple(f"class {i}" for i in range(self.population.n_classes))
        unit = drawn.author.astype(str) if self.n_samples is None else None
        outcomes = Outcomes(label, np.minimum(sure, 1.0), label == drawn.y, names, drawn.y, unit, "author", log_odds)
        if self.scale in SCORES:
            outcomes = replace(outcomes, score=SCORES[self.scale](special.softmax(scaled, axis=1)))
        if self.copies == 1:
            return outcomes
        rows = np.arange(len(label)).repeat(self.copies)
        own = np.array([f"{author} {row}" for row, author in enumerate(drawn.author)])
        return replace(outcomes, unit=own if unit is None else unit).part(rows)


def _others(shifted: np.ndarray) -> np.ndarray:
    """Of each row all but one that is 0, its highest."""
    rest = shifted.copy()
    rest[np.arange(len(rest)), rest.argmax(axis=1)] = -np.inf
    return rest


def claims_of(row) -> Iterator[tuple[str, Claim]]:
    """All claims of a model by name, those of labels one by one."""
    for claim in row.claims:
        yield claim.kind.partition(".")[2], claim
    for label in row.labels:
        if label.claim is not None:
            yield "labels", label.claim
    for each in row.calibrations:
        yield f"calibration {each.set}", each.claim
    for each in row.baselines:
        yield f"baseline {each.set}", each.gain


def said_wrongly(claim: Claim, effect: float) -> bool:
    """Whether a claim contradicts the true effect."""
    if claim.decision == "small":
        return abs(effect) >= claim.smallest
    return (claim.decision == "above" and effect <= 0) or (claim.decision == "below" and effect >= 0)


TWO = Authors(n_classes=2, style=0.0)
INDEPENDENT = {"population": TWO, "n_samples": (3000, 1500), "harder": True, "effects": HARDER}
OF_THREE = INDEPENDENT | {"population": Authors(style=0.0)}
NULLS: tuple[Design, ...] = (
    Design("10 authors x 100 a side"),
    Design("20 authors x 25 a side", n_units=(20, 20), per_unit=25),
    Design("50 authors x 10 a side", n_units=(50, 50), per_unit=10),
    Design("20 authors a side, sizes by Zipf, 1,000 texts", n_units=(20, 20), per_unit=50, zipf=True),
    Design("the same 10 authors x 100 in both files", shared=True),
    Design("1,000 samples a side, each row three times", Authors(style=0.0), n_samples=(1000, 1000), copies=3),
    *(Design(f"too sure, T = {t}, 3,000 x 1,500", **INDEPENDENT, temperature=t, map="with all") for t in (1, 3, 6, 10)),
    *(Design(f"T = {t}, single precision", **INDEPENDENT, temperature=t, map="single") for t in (1, 3, 6, 10)),
    *(Design(f"T = {t}, four decimals", **INDEPENDENT, temperature=t, map="four decimals") for t in (1, 3, 6, 10)),
    Design("a map that is not logistic, 3,000 x 1,500", **INDEPENDENT, map="squared"),
    Design("matched on the margin, T = 6, 3,000 x 1,500", temperature=6, scale="margin", **OF_THREE),
    Design("matched on the entropy, T = 6, 3,000 x 1,500", temperature=6, scale="entropy", **OF_THREE),
    Design("100 classes, 5,000 a side, underconfident", Classes(100), n_samples=(5000, 5000), temperature=0.25),
    Design("100 classes, 5,000 a side, overconfident", Classes(100), n_samples=(5000, 5000), temperature=2.5),
    Design("1,000 classes, 10,000 a side, underconfident", Classes(1000), n_samples=(10000, 10000), temperature=0.25),
    Design("1,000 classes, 10,000 a side, overconfident", Classes(1000), n_samples=(10000, 10000), temperature=2.5),
    Design("eight models, 1,000 samples a side", Authors(style=0.0), n_samples=(1000, 1000), n_models=8),
    Design("eight models, 20 authors x 50 a side", n_units=(20, 20), per_unit=50, n_models=8),
    Design("2,000 x 500 samples", Authors(style=0.0), n_samples=(2000, 500)),
    Design("600 x 600 samples", Authors(style=0.0), n_samples=(600, 600)),
    Design("2,000 x 500 samples, harder", Authors(style=0.0), n_samples=(2000, 500), harder=True, effects=HARDER),
)
FALL = NOTHING | {"falls": 1.0, "residual": 1.0}
POWER: tuple[Design, ...] = (
    Design("10 authors x 100, a fall of 10 points", flipped=0.202, effects=FALL),
    Design("50 authors x 20, a fall of 6 points", n_units=(50, 50), per_unit=20, flipped=0.121, effects=FALL),
    Design("the same 10 authors x 100, a fall of 6 points", shared=True, flipped=0.121, effects=FALL),
    Design("10 authors x 100, styles of .5, 10 points", Authors(style=0.5), flipped=0.202, effects=FALL),
    Design(
        "50 authors x 20, styles of .5, 6 points",
        Authors(style=0.5),
        n_units=(50, 50),
        per_unit=20,
        flipped=0.121,
        effects=FALL,
    ),
    Design(
        "the same 10 authors x 100, styles of .5, 6 points",
        Authors(style=0.5),
        shared=True,
        flipped=0.121,
        effects=FALL,
    ),
    Design(
        "2,000 x 500 samples, a fall of 6 points", Authors(style=0.0), n_samples=(2000, 500), flipped=0.11, effects=FALL
    ),
)
