"""What sets folds apart, and do scores go with it? (Wecker et al. 2020, sections 4.3, 5.2 and 5.3)

The paper finds its worst fold to have shorter sentences, and in another task finds no explanation at all. A handful of
folds can hardly show a correlation: the p-values here are exact for so few, and say how low they could get.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, permutations
from math import factorial, nan, sqrt

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, Relation, RunScore
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions
from touchstone.core.evaluate.intervals import holm, t_interval
from touchstone.core.split.describe_folds import describe_folds

MOST_EXACT = 10_000
"""Up to so many ways to exchange folds all of them are gone through, else as many at random."""

SIZE, LABELS, SHARE = "samples", "label distance to training", "share of "
MEASURED = {
    "label_tv": LABELS,
    "variance": "variance within the fold",
    "energy": "energy distance to training",
    "nearest": "distance to the nearest training sample",
}
"""Measures of `describe_folds` that scores are held against, and what they are called here."""


def fold_characteristics(
    folds: Integer[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    *,
    class_names: Sequence[str],
    features: Float[np.ndarray, "n_samples n_features"] | None = None,
    numbers: Mapping[str, Float[np.ndarray, " n_samples"]] | None = None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """One row per fold: `fold` (from 0), then what is known of it, each column called as an axis would be.

    Samples; the label distance (total variation between the labels of the fold and of all others); of two classes the
    share of the second; the mean of each of `numbers`; with `features` also the mean squared distance of the fold's
    samples to their centre, and how far the fold lies from the rest. Samples with fold -1 count as training. DataError
    where a fold is empty or leaves nothing to train on.

    Examples
    --------
    >>> folds, y = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    >>> rng = np.random.default_rng(0)
    >>> fold_characteristics(folds, y, class_names=("no", "yes"), numbers={"mean length": np.array([1.0, 3, 4, 6])},
    ...                      rng=rng).values.tolist()
    [[0.0, 2.0, 0.5, 0.0, 2.0], [1.0, 2.0, 0.5, 0.5, 5.0]]
    """
    description = describe_folds(folds, y, features, class_names=class_names, n_random=0, rng=rng)
    rows = pd.DataFrame({"fold": np.arange(len(description.n_test)), SIZE: description.n_test})
    for measure, title in MEASURED.items():
        if measure in description.measures:
            rows[title] = description.values[:, description.measures.index(measure)]
    if len(class_names) == 2:
        rows[f"{SHARE}{class_names[1]}"] = description.n_label[:, 1] / description.n_test
    for name, values in (numbers or {}).items():
        rows[name] = [float(values[folds == fold].mean()) for fold in rows["fold"]]
    return rows


def mean_by_fold(folds: Integer[np.ndarray, " n_samples"], values: Float[np.ndarray, " n_samples"]) -> pd.DataFrame:
    """The mean of a number in every fold: `fold` (from 0), `n, mean, lower, upper` (Student's t, over samples).

    Examples
    --------
    >>> mean_by_fold(np.array([0, 0, 0, 1, -1]), np.array([1.0, 2, 3, 7, 9])).round(2).values.tolist()
    [[0.0, 3.0, 2.0, -0.48, 4.48], [1.0, 1.0, 7.0, nan, nan]]
    """
    rows = []
    for fold in range(int(folds.max(initial=-1)) + 1):
        of_fold = values[folds == fold]
        n, mean = len(of_fold), float(of_fold.mean()) if len(of_fold) else nan
        se = float(of_fold.std(ddof=1)) / sqrt(n) if n > 1 else nan
        interval = t_interval(mean, se, float(n - 1))
        rows.append({"fold": fold, "n": n, "mean": mean, "lower": interval.lower, "upper": interval.upper})
    return pd.DataFrame(rows, columns=["fold", "n", "mean", "lower", "upper"])


def characteristics_of(
    folded: FoldPredictions,
    *,
    features: Float[np.ndarray, "n_samples n_features"] | None = None,
    numbers: Mapping[str, Float[np.ndarray, " n_samples"]] | None = None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """The characteristics of all folds of all schemes and seeds: `scheme, seed`, then as `fold_characteristics`.

    Only samples whose truth is known count. Folds that leave nothing to train on are left out, and so are those of a
    seed of which a fold is empty so far.
    """
    known, parts = folded.y >= 0, []
    for scheme in folded.schemes:
        for seed in folded.seeds(scheme):
            folds = folded.folds(scheme, seed)[known]
            if len(np.unique(folds)) < 2 or 0 in np.bincount(folds[folds >= 0]):
                continue
            characteristics = fold_characteristics(
                folds,
                folded.y[known],
                class_names=folded.class_names,
                features=None if features is None else features[known],
                numbers={name: values[known] for name, values in (numbers or {}).items()},
                rng=rng,
            )
            characteristics.insert(0, "scheme", scheme)
            characteristics.insert(1, "seed", seed)
            parts.append(characteristics)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["scheme", "seed", "fold"])


def relations(
    performance: FoldPerformance, characteristics: pd.DataFrame, *, rng: np.random.Generator
) -> tuple[Relation, ...]:
    """How the scores of whole runs go with every characteristic, scheme by scheme and model by model.

    Characteristics that are the same in all folds but for rounding (sizes and labels, where folds are made equal) tell
    nothing and are left out, and so are folds without a score and schemes with fewer than three folds.

    Examples
    --------
    >>> from touchstone.core.evaluate.cluster_folds import ScoredBy
    >>> nothing = FoldPerformance(ScoredBy(), ("a", "b"), (), (), (), n_samples=0, n_failed=0)
    >>> relations(nothing, pd.DataFrame(), rng=np.random.default_rng(0))
    ()
    """
    whole = sorted((run for run in performance.runs if run.whole and len(run.folds_defined) > 2), key=_scheme_and_model)
    all_relations: list[Relation] = []
    for _, runs in groupby(whole, key=_scheme_and_model):
        all_relations += _of_scheme(list(runs), characteristics, rng)
    return tuple(all_relations)


def _scheme_and_model(run: RunScore) -> tuple[str, str]:
    return run.scheme, run.model


def _of_scheme(runs: Sequence[RunScore], characteristics: pd.DataFrame, rng: np.random.Generator) -> list[Relation]:
    indexed = characteristics.set_index(["scheme", "seed", "fold"])
    scores = [np.array([fold.score.value for fold in run.folds_defined]) for run in runs]
    sizes = [np.array([fold.n for fold in run.folds_defined], dtype=np.float64) for run in runs]
    related = []
    for name in indexed.columns:
        values = [indexed[name].reindex(_places(run)).to_numpy(dtype=np.float64) for run in runs]
        if not _differs(str(name), np.concatenate(values)):
            continue
        r, p, p_least, exact = correlation(values, scores, sizes, rng=rng)
        if not np.isnan(r):
            n = sum(map(len, scores))
            related.append(Relation(runs[0].scheme, runs[0].model, str(name), r, n, p, nan, p_least, exact))
    corrected = holm([each.p for each in related])
    return [replace(each, p_holm=p) for each, p in zip(related, corrected, strict=True)]


def _places(run: RunScore) -> list[tuple[str, int, int]]:
    return [(run.scheme, run.seed, fold.fold) for fold in run.folds_defined]


def _differs(name: str, values: Float[np.ndarray, " n_folds"]) -> bool:
    """Whether folds differ at all; sizes within 2 % and label shares within 1 point are equal but for rounding."""
    spread = float(np.ptp(values))
    if name == SIZE:
        return spread > 0.02 * float(values.mean())
    return spread > 0.01 if name == LABELS or name.startswith(SHARE) else spread > 0


def correlation(
    values: Sequence[Float[np.ndarray, " n_folds"]],
    scores: Sequence[Float[np.ndarray, " n_folds"]],
    sizes: Sequence[Float[np.ndarray, " n_folds"]],
    *,
    rng: np.random.Generator,
) -> tuple[float, float, float, bool]:
    """Pearson's r within runs, its two-sided p-value, the least p there could be, and whether these are exact.

    `values`, `scores` and `sizes` (samples, the weights of folds) have an array for each seed. Each seed is tested by
    exchanging how far its folds lie off, times the root of their sizes, since small folds lie farther off by chance;
    and as they are, since folds that differ by more than chance do not. The larger p of the two counts. Seeds often
    find much the same folds, so that they are no independent witnesses: p is twice the mean of theirs, which holds
    however they depend on each other (Vovk & Wang 2020). NaN where nothing varies, or anything is unknown.

    Examples
    --------
    >>> line = np.arange(5.0)
    >>> r, p, least, exact = correlation([line], [line**2], [np.ones(5)], rng=np.random.default_rng(0))
    >>> round(r, 3), round(p, 4), round(least, 4), exact
    (0.959, 0.0167, 0.0083, True)
    """
    x, y = ([_off(*part) for part in zip(parts, sizes, strict=True)] for parts in (values, scores))
    norm = float(np.linalg.norm(np.concatenate(x)) * np.linalg.norm(np.concatenate(y)))
    scale = max(float(np.abs(np.concatenate(list(values))).max()), 1e-300)
    if np.isnan(norm) or norm == 0 or np.ptp(np.concatenate(x)) < 1e-9 * scale:
        return nan, nan, nan, False
    r = float(sum(a @ b for a, b in zip(x, y, strict=True))) / norm
    n_ways = [factorial(len(part)) for part in x]
    alike = [[_off(part, np.ones(len(part))) for part in parts] for parts in (values, scores)]
    p = [
        max(_exchanged(*weighted, n, rng), _exchanged(*plain, n, rng))
        for weighted, plain, n in zip(zip(x, y, strict=True), zip(*alike, strict=True), n_ways, strict=True)
    ]
    factor = 2.0 if len(p) > 1 else 1.0
    least = factor * float(np.mean([1 / min(n, MOST_EXACT + 1) for n in n_ways]))
    return r, min(factor * float(np.mean(p)), 1.0), least, max(n_ways) <= MOST_EXACT


def _off(part: Float[np.ndarray, " n_folds"], size: Float[np.ndarray, " n_folds"]) -> np.ndarray:
    """How far each lies off the weighted mean, times the root of its weight (of mean 1)."""
    return np.sqrt(size / size.mean()) * (part - float(size @ part) / size.sum())


def _exchanged(
    x: Float[np.ndarray, " n_folds"], y: Float[np.ndarray, " n_folds"], n_ways: int, rng: np.random.Generator
) -> float:
    """The share of ways to exchange folds that give as strong a correlation, of either sign."""
    exact = n_ways <= MOST_EXACT
    ways = np.array(list(permutations(y))) if exact else rng.permuted(np.tile(y, (MOST_EXACT, 1)), axis=1)
    as_far = int(np.sum(np.abs(ways @ x) >= abs(float(x @ y)) * (1 - 1e-9)))
    return as_far / n_ways if exact else (as_far + 1) / (MOST_EXACT + 1)
