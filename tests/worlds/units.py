"""Runs on samples that came in units: texts by few authors, clumps of samples alike, every row three times.

For folds, test sets and shifts a model is fitted on data that are drawn anew. For weak groups and for noise, whether
samples are right, and how often noise leaves them so, is drawn itself: alike in a unit. What is counted is a whole
verdict: in how many data sets is any of its sentences false? In `NULLS` nothing that they speak of differs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from tests.evaluate.average_case_rows import rows_of
from tests.evaluate.fold_populations import frame
from tests.worlds.cluster_folds import neighbours, ridge
from tests.worlds.designs import said_wrongly
from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions, labels_shift
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict
from touchstone.core.evaluate.covariate_shift import covariate_shift
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.verdict import adequacy_verdict
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.overview import Slices, weak_classes, weak_slices
from touchstone.core.evaluate.source_robustness import AccuracyIntervals, expected_accuracy_intervals, source_verdict
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.verdict import claims_of, moved, moved_together
from touchstone.core.evaluate.test_quality.verdict import findings as quality_findings
from touchstone.core.evaluate.two_samples import classifier_two_sample_test
from touchstone.core.evaluate.units import Design as Sampled
from touchstone.core.models.layers import LayerSamples
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.units import folds_of_units
from touchstone.core.trials import TrialPlan
from touchstone.core.trials.run import table_of

NAMES = ("plum", "melon", "fig")
SAID = claim("test_quality.class_share", 1.0, Interval(0.5, 1.5), 0.01)
"""A sentence that was said."""
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
    finding: str = ""
    """The kind of what is there to be found."""

    def claims(self, seed: int) -> list[tuple[str, Claim]]:
        """What is claimed of the data set of a seed."""
        return list(self.asks(self, np.random.default_rng([crc32(self.name.encode()), seed])))

    def wrong(self, seed: int) -> list[str]:
        """The sentences of a data set that are false, by name."""
        return [name for name, made in self.claims(seed) if said_wrongly(made, self.effects.get(name, 0.0))]

    def finds(self, seed: int) -> bool:
        """Whether what is there is said."""
        return any(self.finding in name and made.decided for name, made in self.claims(seed))

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
    scores = fold_performance(folded, metric=ScoredBy("accuracy"))
    for made in fold_verdict(scores, scheme="stratified_folds", shifts=[shift] if shift else []).claims:
        if not (made.kind.endswith("beats_baselines") and made.decision == "below" and not design.effect):
            yield made.kind.partition(".")[2], made


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
        yield "weak class", each.claim
    slices = Slices(n_groups * y + group, tuple(f"group {i}" for i in range(n_classes * n_groups)))
    for each in weak_slices(table, tested, slices, rng=rng, design=design.sampled()):
        yield "weak group", each.claim


def noise(design: Design, rng: np.random.Generator) -> Claims:
    """Clumps are as robust as one another's samples are, right or wrong together, and estimated too high or too low."""
    n, n_classes = design.n_units * design.per_unit, 3
    y = design.of_units(np.arange(design.n_units) % n_classes)
    if design.per_unit > 1:
        p, right = design.of_units(rng.beta(4, 1, design.n_units)), design.of_units(rng.random(design.n_units) < 0.8)
        off = design.of_units(rng.normal(0, 0.05, design.n_units))
    else:
        p, right, off = rng.beta(4, 1, n), rng.random(n) < 0.8, rng.normal(0, 0.05, n)
    p = np.where(y == 0, (1 - design.effect) * p, p)
    predicted = np.where(right, y, (y + 1) % n_classes)
    rows = [
        rows_of(p, y, sigma=0.1, predicted=predicted),
        rows_of(p, y, sigma=0.1, estimator="monte_carlo", part="audit", predicted=predicted),
        rows_of(p - 0.5 * off, y, sigma=0.1, part="audit", predicted=predicted),
    ]
    found = evaluate_robustness(pd.concat(rows, ignore_index=True), class_names=NAMES, design=design.sampled())
    for made in average_case_verdict(found).claims:
        yield made.kind.partition(".")[2], made


def covers(design: Design, rng: np.random.Generator) -> Claims:
    """Authors have a style; training and test authors come from one population, of every class alike."""
    quality = measure_quality(*_two_parts(design, rng, n_train=3 * design.n_units), rng=rng)
    for each in quality_findings(quality):
        yield each.dimension, SAID
    for each in claims_of(quality).differs.values():
        yield "differs between classes", each


def shifts(design: Design, rng: np.random.Generator) -> Claims:
    """The same, asked whether the inputs of a class have moved, by mixtures."""
    arrays, asked = _arrays(*_two_parts(design, rng, n_train=2 * design.n_units))
    shift = covariate_shift(*arrays, seed=0, n_resplits=39, **asked)
    for each in shift.classes:
        yield "shift", moved(each)
    yield "shift together", moved_together(shift)


def separated(design: Design, rng: np.random.Generator) -> Claims:
    """The same, asked by a classifier that separates training from test samples."""
    arrays, asked = _arrays(*_two_parts(design, rng, n_train=2 * design.n_units))
    parts = classifier_two_sample_test(*arrays, seed=int(rng.integers(2**30)), **asked)
    if parts.named or parts.p_together < 0.05:
        yield "separated", SAID


def _arrays(train: LayerSamples, test: LayerSamples) -> tuple[tuple[np.ndarray, ...], dict[str, Any]]:
    """What tests of two parts take: the arrays of both, and names and units."""
    units = None if train.units is None or test.units is None else (train.units, test.units)
    arrays = (train.features, train.labels, test.features, test.labels)
    return arrays, {"class_names": train.class_names, "units": units}


def _two_parts(design: Design, rng: np.random.Generator, n_train: int) -> list[LayerSamples]:
    """Training and test part of a logistic regression, as of one layer; the features are the inputs."""
    from sklearn.linear_model import LogisticRegression

    n_units, place = n_train + design.n_units, 2.0 * np.eye(3, 4)
    author = np.repeat(np.arange(n_units), design.per_unit)
    style = (0.0 if design.per_unit == 1 else 0.8) * rng.normal(size=(n_units, 4))
    y = rng.integers(3, size=len(author)) if not design.copies else rng.integers(3, size=n_units)[author]
    noise = rng.normal(size=(len(author), 4)) if not design.copies else rng.normal(size=(n_units, 4))[author]
    x = place[y] + style[author] + noise
    is_test = author >= n_train
    x[:, 0] += design.effect * ((y == 0) & is_test)
    model = LogisticRegression().fit(x[~is_test], y[~is_test])
    told = design.known and design.per_unit > 1
    return [
        LayerSamples(
            x[part], y[part], model.predict_proba(x[part]), NAMES, units=author[part] if told else None,
            unit_word="author" if told else "sample",
        )
        for part in (~is_test, is_test)
    ]  # fmt: skip


def sites(design: Design, rng: np.random.Generator) -> Claims:
    """One site has 70 % of the samples, and none differs from another: is a model said to lose on new ones?"""
    intervals = _robustness(_of_sites(design, rng), rng)
    for made in source_verdict(intervals).claims:
        if not made.kind.endswith("below_baseline"):
            yield made.kind.partition(".")[2], made
    rho = intervals.overall[0].rho.over_sources
    yield "rho", SAID if not rho.lower <= 1 <= rho.upper and not design.effect else replace(SAID, decision="undecided")


def leaning_sites(design: Design, rng: np.random.Generator) -> Claims:
    """Sites lean to one label or the other, and their style tells nothing: a model is better than one class or is not.

    With an `effect` labels show in the data, with none a model cannot know them: it is not better than the majority.
    """
    n, n_sites, d = design.n_units, 10, 5
    site = rng.integers(n_sites, size=n)
    y = (rng.random(n) < rng.beta(0.3, 0.3, size=n_sites)[site]).astype(np.int64)
    x = rng.normal(size=(n, d)) + np.outer(design.effect * y, np.eye(d)[0])
    ids, sources = [str(row) for row in range(n)], [f"s{each}" for each in site]
    intervals = _robustness(Dataset("sites", "tabular", x, y, ("a", "b"), ids, sources), rng)
    made = intervals.baselines[0].claim
    yield "better than the majority", replace(made, decision="above" if made.decision == "below" else "undecided")


def sizes_of_sites(design: Design, rng: np.random.Generator) -> Claims:
    """The same, asked what more data would bring: is it said that new sites are harder?"""
    data, seed = _of_sites(design, rng), int(rng.integers(2**30))
    plan = AdequacyPlan(models=("logistic",), source_finders=("known",), sizes=(40, 80, 0), n_repeats=20, seed=seed)
    rows = []
    for draw in plan.trial_plan.draws(data):
        for size in plan.fitting(data):
            split = plan.split(data, draw, size)
            predicted = ridge(data.x[split.train], data.y[split.train], data.x[split.test])
            counted = plan.trial_plan.counted(data, draw, predicted, model="logistic", seconds=0.0, split=split)
            rows.append(counted | {"size": size})
    n_per_class = dict(zip(data.class_names, data.n_per_class.tolist(), strict=True))
    for made in adequacy_verdict(adequacy_of(table_of(rows), n_per_class=n_per_class)).claims:
        if made.kind.endswith("gap"):
            yield "gap", made


def _robustness(data: Dataset, rng: np.random.Generator) -> AccuracyIntervals:
    """What a run of source robustness finds of a ridge."""
    plan = TrialPlan(models=("logistic",), source_finders=("known",), n_repeats=20, seed=int(rng.integers(2**30)))
    rows = []
    for draw in plan.draws(data):
        split = plan.split(data, draw)
        predicted = ridge(data.x[split.train], data.y[split.train], data.x[split.test])
        rows.append(plan.counted(data, draw, predicted, model="logistic", seconds=0.0, split=split))
    return expected_accuracy_intervals(table_of(rows))


def _of_sites(design: Design, rng: np.random.Generator) -> Dataset:
    """Samples of two classes 2 apart in 30 dimensions; `effect` is how far each site moves those of each class."""
    n, n_sites, d = design.n_units, 10, 30
    site = np.where(rng.random(n) < 0.7, 0, rng.integers(1, n_sites, size=n))
    y = rng.integers(2, size=n)
    moved = design.effect * rng.normal(size=(2, n_sites, d))
    x = rng.normal(size=(n, d)) + np.outer(2.0 * y, np.eye(d)[0]) + moved[y, site]
    return Dataset("sites", "tabular", x, y, ("a", "b"), [str(row) for row in range(n)], [f"s{each}" for each in site])


NULLS = (
    Design("folds, 20 authors x 25", folds),
    Design("folds, 60 authors x 10", folds, 60, 10),
    Design("folds, 150 rows three times", folds, 150, 3, copies=True),
    Design("folds, 500 samples", folds, 500, 1),
    Design("weak classes and groups, 60 clumps of 10", examined, 60, 10),
    Design("weak classes and groups, 200 clumps of 10", examined, 200, 10),
    Design("weak classes and groups, 300 rows three times", examined, 300, 3, copies=True),
    Design("weak classes and groups, 600 samples", examined, 600, 1),
    Design("test quality, 10 test authors x 30", covers, 10, 30),
    Design("test quality, 30 test authors x 10", covers, 30, 10),
    Design("test quality, 100 test rows three times", covers, 100, 3, copies=True),
    Design("test quality, 300 test samples", covers, 300, 1),
    Design("covariate shift, 15 test authors x 20", shifts, 15, 20),
    Design("covariate shift, 100 test rows three times", shifts, 100, 3, copies=True),
    Design("covariate shift, 300 test samples", shifts, 300, 1),
    Design("a classifier of parts, 15 test authors x 20", separated, 15, 20),
    Design("a classifier of parts, 100 test rows three times", separated, 100, 3, copies=True),
    Design("a classifier of parts, 300 test samples", separated, 300, 1),
    Design("noise, 30 clumps of 20", noise, 30, 20),
    Design("noise, 90 clumps of 5", noise, 90, 5),
    Design("noise, 200 rows three times", noise, 200, 3),
    Design("noise, 450 samples", noise, 450, 1),
    Design("source robustness, one site of 70 %", sites, 200, 1),
    Design("adequacy, one site of 70 %", sizes_of_sites, 200, 1),
    Design("majority class, sites that lean to a label", leaning_sites, 400, 1),
)

POWER = (
    Design("folds, 60 authors x 10, classes 1.2 apart", folds, 60, 10, effect=1.2, finding="beats_baselines"),
    Design("weak classes, 90 clumps of 10, one 25 points lower", examined, 90, 10, effect=0.5, finding="weak class"),
    Design("test quality, 30 test authors x 10", covers, 30, 10, effect=1.8, finding="boundary"),
    Design("covariate shift, 15 test authors x 20", shifts, 15, 20, effect=1.9, finding="shift"),
    Design("noise, 90 clumps of 5, one class a fifth lower", noise, 90, 5, effect=0.2, finding="classes_differ"),
    Design("source robustness, one site of 70 %", sites, 1000, 1, effect=0.5, finding="falls"),
    Design("adequacy, one site of 70 %", sizes_of_sites, 1000, 1, effect=0.5, finding="gap"),
    Design("majority class, sites that lean to a label", leaning_sites, 400, 1, effect=2.2, finding="majority"),
)
