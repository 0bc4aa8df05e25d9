"""Is what the page says of held-out sources true? Worlds of sources whose truth is known, with ridge fits.

Each class has a mean along an axis of its own in every block of features, so that classes are alike; a source moves its
samples of a class in all directions, also in those that say nothing of the class. A model is a ridge classifier that
sees one block, so that models are alike, too, unless a world makes one block or one class more at the mercy of sources.
Splits are those of the product; a method seed draws them anew. What is true of sources that are alike is 0 by symmetry;
other truths are means of `statistics` over 100 other data sets, as are their standard deviations, which the best test
knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from tests.worlds.world import World
from touchstone.core.cluster.finders import find_sources
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.source_robustness import (
    AccuracyIntervals,
    HeldOutSource,
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
    hardest,
    source_verdict,
)
from touchstone.core.split.scheme import SourceExclusive, SourceInclusive, Split
from touchstone.core.split.units import partners
from touchstone.core.trials.run import as_frame, count

QUESTION = "source_robustness"
FALLS, CLASS, MODEL, WORST, BASELINE = (
    f"{QUESTION}.{name}"
    for name in ("falls", "class_falls_further", "model_keeps_more", "worst_source", "below_baseline")
)


@dataclass(frozen=True)
class Sources:
    """A population of sources, and how trials are made of a data set that is drawn from it."""

    n_classes: int = 2
    n_sources: int = 10
    shared: bool = True
    size: int = 30
    """Samples of a source (of a class, where shared)."""
    size_sd: float = 0.0
    first_class: float = 1.0
    """How many times as large the sources of the first class are."""
    apart: float = 1.6
    n_idle: int = 10
    """Features of each block that say nothing of the class."""
    source_sd: float = 0.0
    class_sd: float | None = None
    """How far sources move the first class, where that differs from the others."""
    block_sd: float | None = None
    """How far sources move the first model's block, where that differs from the others'."""
    foreign: tuple[int, float] | None = None
    """A source of the first class, and how far it is moved towards the next class (1 is all the way)."""
    catastrophic: float = 0.0
    noise_sd: float = 0.0
    """How much the spread of samples differs from source to source (of its logarithm): some are harder, seen or not."""
    models: int = 1
    penalty: float = 1.0
    n_repeats: int = 20
    finder: str = "known"

    def data(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs (n, models, n_classes + n_idle), labels, and the source of every sample."""
        rng = np.random.default_rng([2026, seed])
        shape = (1 if self.shared else self.n_classes, self.n_sources)
        size = np.broadcast_to(
            np.maximum(np.rint(self.size * np.exp(self.size_sd * rng.standard_normal(shape))), 4),
            (self.n_classes, self.n_sources),
        ).copy()
        size[0] = np.rint(size[0] * self.first_class)
        spread = np.full((self.n_classes, 1, self.models, 1), self.source_sd)
        spread[0] = self.source_sd if self.class_sd is None else self.class_sd
        if self.block_sd is not None:
            spread[:, :, 0] = self.block_sd
        n_features = self.n_classes + self.n_idle
        moved = spread * rng.standard_normal((self.n_classes, self.n_sources, self.models, n_features))
        means = self.apart * np.eye(self.n_classes, n_features)[:, None, None, :]
        centre = means + moved
        if self.foreign is not None:
            source, share = self.foreign
            centre[0, source] += share * (means[1] - means[0])[0]
        lost = rng.random(shape) < self.catastrophic
        centre += lost[..., None, None] * (np.roll(means, 1, axis=0) - means)
        y, source = (np.repeat(code.ravel(), size.astype(int).ravel()) for code in np.indices(size.shape))
        noise = rng.standard_normal((len(y), self.models, n_features))
        wide = np.broadcast_to(np.exp(self.noise_sd * rng.standard_normal(shape)), size.shape)
        x = centre[y, source] + wide[y, source][:, None, None] * noise
        return x, y, source if self.shared else y * self.n_sources + source

    def trials(self, data_seed: int, method_seed: int) -> pd.DataFrame:
        """The frame that a run on a data set would write."""
        x, y, sources = self.data(data_seed)
        if self.finder != "known":
            rng = np.random.default_rng(method_seed)
            sources = find_sources(x.reshape(len(y), -1), y, n_sources=self.n_sources, method=self.finder, rng=rng)
            sources = y * self.n_sources + sources
        return _frame(self, x, y, sources, method_seed)

    def intervals(self, data_seed: int, method_seed: int) -> tuple[AccuracyIntervals, tuple[ModelComparison, ...]]:
        """What the page makes of it."""
        trials = self.trials(data_seed, method_seed)
        return expected_accuracy_intervals(trials), compare_models(trials) if self.models > 1 else ()


def splits_of(n_repeats: int, seed: int, y: np.ndarray, sources: np.ndarray) -> dict[str, list[Split]]:
    """The splits of both schemes, partners of one size, as a plan draws them."""
    held_out, seen = (
        list(kind(n_repeats=n_repeats, seed=seed).split(None, y, sources))
        for kind in (SourceExclusive, SourceInclusive)
    )
    return {"source_exclusive": held_out, "source_inclusive": list(partners(seen, held_out, y, seed=seed))}


def _frame(world: Sources, x: np.ndarray, y: np.ndarray, sources: np.ndarray, seed: int) -> pd.DataFrame:
    parts = []
    target = np.eye(world.n_classes)[y]
    for scheme, splits in splits_of(world.n_repeats, seed, y, sources).items():
        for model in range(world.models):
            z = np.column_stack([np.ones(len(y)), x[:, model]])
            ridge = world.penalty * np.diag([1e-6] + [1.0] * (z.shape[1] - 1))
            for repeat, split in enumerate(splits):
                known, test = z[split.train], z[split.test]
                weights = np.linalg.solve(known.T @ known + ridge, known.T @ target[split.train])
                counts = count(y[split.test], (test @ weights).argmax(axis=1), sources[split.test], world.n_classes)
                same = {"model": f"model {model}", "scheme": scheme, "repeat": repeat}
                sizes = {"n_train": len(split.train), "n_test": len(split.test)}
                n_rows = len(counts["label"])
                parts.append(counts | {name: np.full(n_rows, value) for name, value in (same | sizes).items()})
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    label = np.append([f"class {code}" for code in range(world.n_classes)], None)[rows["label"]]
    source = np.append(np.arange(sources.max() + 1).astype(str).astype(object), None)[rows["source"]]
    held_out = np.where(rows["scheme"] == "source_exclusive", source, None)
    same = {"source_finder": world.finder, "clustering": 0, "seconds": 0.0, "status": "ok"}
    n_rows = len(label)
    return as_frame(
        rows
        | {"label": label, "source": source, "held_out_source": held_out}
        | {name: np.full(n_rows, value, dtype=object) for name, value in same.items()}
    )


_GAUSSIAN = Sources(4, 5, shared=False, apart=2.0, finder="kmeans")
_CLASS = Sources(4, 10, shared=False, apart=2.5, class_sd=1.0)
_THREE_MODELS = Sources(models=3, n_sources=20, size=15, block_sd=1.0)
_PATIENTS = Sources(2, 8, shared=False, size=6, first_class=3.0, apart=0.5)


def statistics(world: Sources, data_seed: int, method_seed: int) -> dict[str, float]:
    """The plain estimates of one data set, by kind: what a test that knows the world rests on."""
    trials = world.trials(data_seed, method_seed)
    intervals = expected_accuracy_intervals(trials)
    row, first = intervals.rows[0], intervals.rows[1]
    tested = trials.loc[(trials["scheme"] == "source_exclusive") & (trials["model"] == "model 0")]
    of_first = tested.loc[(tested["label"] == "class 0") & tested["source"].isna()]
    estimates = {
        FALLS: row.inclusive.value - row.exclusive.value,
        BASELINE: float((of_first["n_label"] / of_first["n_test"]).mean()) - row.exclusive.value,
    }
    if first.against_rest is not None:
        estimates[CLASS] = -first.against_rest.value
    if world.foreign is not None:
        estimates[WORST] = _of_foreign(world, intervals.sources_of(row))
    if world.models > 1:
        estimates[MODEL] = compare_models(trials)[0].difference.value
    return estimates


def _of_foreign(world: Sources, sources: Sequence[HeldOutSource]) -> float:
    """How far the others of its class lie above the source that was made hard."""
    hard = next(source for source in sources if _is_foreign(world, source))
    alike = [source.exclusive for source in sources if source.label == hard.label and source is not hard]
    return float(np.mean(alike)) - hard.exclusive


def _is_foreign(world: Sources, source: HeldOutSource) -> bool:
    return world.foreign is not None and source.source == str(world.foreign[0])


def claims(world: Sources, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
    """What the page says of one data set, one claim of each kind.

    Of a family of claims it is that of the first class, of the first pair and of the foreign source where the world
    made them differ (a source named wrongly counts as the opposite of the truth); else the one that is most likely
    wrong, which is the one with the smallest p-value.
    """
    intervals, comparisons = world.intervals(data_seed, method_seed)
    row = intervals.overall[0]
    verdict = source_verdict(intervals, comparisons, row=row)
    classes = [claim for claim in verdict.claims if claim.kind == CLASS]
    pairs = [comparison.claim for comparison in comparisons]
    hard = hardest(intervals.sources_of(row))[0]
    right = world.foreign is None or _is_foreign(world, hard.source)
    baseline = intervals.baseline_of(row)
    named = {
        FALLS: row.falls,
        BASELINE: None if baseline is None else baseline.claim,
        CLASS: classes[0] if world.class_sd is not None else _likeliest(classes),
        MODEL: pairs[0] if world.block_sd is not None else _likeliest(pairs),
        WORST: hard.claim if right or not hard.claim.decided else replace(hard.claim, decision="below"),
    }
    return {kind: claim for kind, claim in named.items() if claim is not None}


def _likeliest(family: Sequence[Claim]) -> Claim | None:
    return min(family, key=lambda claim: claim.p_value, default=None)


@cache
def _best(world: Sources, kind: str, sd: float, data_seed: int) -> bool:
    return abs(statistics(world, data_seed, 0)[kind]) > 1.96 * sd


def _world(name: str, sources: Sources, kind: str, effect: float, sd: float | None, *, reported: bool = False) -> World:
    """`sd` is that of the estimate over data sets, where a test that knows it is the best there is."""
    return World(
        QUESTION,
        name,
        {kind: effect},
        lambda data_seed, method_seed: claims(sources, data_seed, method_seed),
        best=None if sd is None else lambda data_seed: {kind: _best(sources, kind, sd, data_seed)},
        reported=reported,
    )


WORLDS: tuple[World, ...] = (
    _world("10 shared sources, alike", Sources(), FALLS, 0.0, None),
    _world("5 sources in each of 2 classes, alike", Sources(n_sources=5, shared=False), FALLS, 0.0, None),
    _world("5 shared sources, alike", Sources(n_sources=5), FALLS, 0.0, None),
    _world("5 shared sources, some of more noise", Sources(n_sources=5, noise_sd=0.5), FALLS, 0.0, None),
    _world("20 shared sources that differ", Sources(n_sources=20, size=15, source_sd=0.8), FALLS, 0.049, 0.0153),
    _world("10 shared sources that differ, uneven", Sources(source_sd=0.7, size_sd=0.5), FALLS, 0.079, 0.0297),
    _world("5 shared sources that differ", Sources(n_sources=5, source_sd=0.8), FALLS, 0.163, 0.0658),
    _world(
        "4 classes, 5 sources in each, differ",
        Sources(4, 5, shared=False, apart=2.5, source_sd=0.6),
        FALLS,
        0.082,
        0.0178,
    ),
    _world("one Gaussian a class, 5 clusters in each", _GAUSSIAN, FALLS, 0.098, None),
    _world(
        "5 shared sources, 8 % fail altogether",
        Sources(n_sources=5, source_sd=0.5, catastrophic=0.08),
        FALLS,
        0.111,
        None,
        reported=True,
    ),
    _world(
        "5 classes alike, 5 sources in each", Sources(5, 5, shared=False, apart=2.5, source_sd=0.5), CLASS, 0.0, None
    ),
    _world(
        "3 classes alike, 5 sources in each", Sources(3, 5, shared=False, apart=2.0, source_sd=0.5), CLASS, 0.0, None
    ),
    _world(
        "4 classes alike, 5 shared sources, uneven",
        Sources(4, 5, apart=2.5, source_sd=0.6, size_sd=0.5),
        CLASS,
        0.0,
        None,
    ),
    _world("1 class of 4 differs by source, 10 in each", _CLASS, CLASS, 0.168, 0.055),
    _world("3 models alike, 10 shared sources", Sources(models=3, source_sd=0.5), MODEL, 0.0, None),
    _world("2 models alike, 5 shared sources", Sources(models=2, n_sources=5, source_sd=0.6), MODEL, 0.0, None),
    _world("1 of 2 models at the mercy of 10 sources", Sources(models=2, block_sd=0.8), MODEL, -0.102, 0.0354),
    _world("1 of 3 models at the mercy of 20 sources", _THREE_MODELS, MODEL, -0.09, 0.0269),
    _world("100 sources alike", Sources(10, 10, shared=False, apart=3.0), WORST, 0.0, None),
    _world("10 shared sources alike, 60 repeats", Sources(n_repeats=60), WORST, 0.0, None),
    _world("10 sources alike, 3 repeats", Sources(n_sources=5, shared=False, n_repeats=3), WORST, 0.0, None),
    _world("3 shared sources alike, hardly ever wrong", Sources(n_sources=3, apart=3.1), WORST, 0.0, None),
    _world(
        "5 sources in each of 10 classes, alike, hardly ever wrong",
        Sources(10, 5, shared=False, apart=4.0),
        WORST,
        0.0,
        None,
    ),
    _world("1 of 10 shared sources is hard", Sources(foreign=(4, 0.7)), WORST, 0.265, 0.047),
    _world("1 of 20 sources is hard", Sources(4, 5, shared=False, apart=2.5, foreign=(2, 0.6)), WORST, 0.593, 0.084),
    _world("nothing to learn, majority 75 %", replace(_PATIENTS, apart=0.0), BASELINE, 0.014, None),
    _world("one answer throughout, majority 75 %", replace(_PATIENTS, penalty=1e6), BASELINE, 0.0, None),
    _world("learns, majority 75 %", replace(_PATIENTS, n_sources=12, apart=1.8), BASELINE, -0.157, 0.0161),
)
