"""How much harder is each kind of fold? Logistic regression on digits, tested on folds of every scheme.

Prints a table; asserts nothing. Accuracy is the mean over folds, then over seeds. Two 95 % intervals stand beside it:
over samples (digits drawn anew; a sample counts once, by its mean over seeds) and over seeds (folds made anew on these
digits). The fall against random folds is paired: the samples that are tested, in these folds and in random ones.
"apart" is the energy distance of train and test (0 alike, 1 largest), the mean over the folds of the first seed.
"""

import os
import platform
import time
from datetime import date

import numpy as np

from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.intervals import Interval, t_interval
from touchstone.core.models import MODELS
from touchstone.core.represent import features_for_splits
from touchstone.core.split.describe_folds import describe_folds
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.scheme import NO_FOLD, Split

N_FOLDS = 5
N_SEEDS = 10
MODEL = "logistic"
ROWS = [("random_folds", 5), ("stratified_folds", 5)] + [
    (scheme, n_components)
    for scheme in (
        "source_inclusive_folds",
        "kmeans_folds",
        "same_size_folds",
        "sds_folds",
        "nearest_neighbour_balls",
        "paired_source_folds",
        "max_shift",
    )
    for n_components in (5, 20, None)
]


def tested(dataset: Dataset, features: np.ndarray, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """Fold of each sample (column) for each seed (row), and whether it was predicted right; NaN: not tested."""
    folds = np.full((N_SEEDS, dataset.n_samples), NO_FOLD)
    correct = np.full((N_SEEDS, dataset.n_samples), np.nan)
    for seed in range(N_SEEDS):
        folds[seed] = FOLD_SCHEMES[scheme](n_folds=N_FOLDS, seed=seed).assign(features, dataset.y)
        for fold in range(folds[seed].max() + 1):
            train, test = Split.of(folds[seed] == fold)
            fitted = MODELS[MODEL]().fit(dataset.x[train], dataset.y[train], seed=seed, n_classes=dataset.n_classes)
            correct[seed, test] = fitted.predict(dataset.x[test]) == dataset.y[test]
    return folds, correct


def accuracies(folds: np.ndarray, correct: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over folds for each seed, and how far each sample moves the mean of these (in units of one sample of n)."""
    accuracy, moves = np.zeros(N_SEEDS), np.zeros(correct.shape)
    for seed in range(N_SEEDS):
        n_folds = folds[seed].max() + 1
        for fold in range(n_folds):
            members = folds[seed] == fold
            in_fold = correct[seed, members]
            accuracy[seed] += in_fold.mean() / n_folds
            moves[seed, members] = (in_fold - in_fold.mean()) * len(members) / (len(in_fold) * n_folds)
    return accuracy, moves.mean(axis=0)


def over(values: np.ndarray, centre: float = 0.0) -> Interval:
    """A t interval of a mean, moved by `centre`."""
    se = float(values.std(ddof=1) / np.sqrt(len(values)))
    return t_interval(centre + float(values.mean()), se, float(len(values) - 1))


def shown(interval: Interval) -> str:
    return f"[{interval.lower:.3f}, {interval.upper:.3f}]"


def main() -> None:
    dataset = load_example("digits")
    pixels = features_for_splits(dataset, "raw", n_components=None)
    print(f"# Folds of every scheme, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"{MODEL} on digits (n = {dataset.n_samples:,}), {N_FOLDS} folds, {N_SEEDS} seeds. PCA: the components")
    print("that folds are made in; models always learn from all pixels")
    print(f"{'scheme':24} PCA  accuracy  over samples    over seeds      fall on these samples    apart")
    at_random = None
    for scheme, n_components in ROWS:
        start = time.perf_counter()
        features = features_for_splits(dataset, "raw", n_components=n_components)
        folds, correct = tested(dataset, features, scheme)
        accuracy, moves = accuracies(folds, correct)
        ever = ~np.isnan(correct).all(axis=0)
        per_sample = np.nanmean(correct[:, ever], axis=0)
        fall = " " * 23
        if at_random is None:
            at_random = per_sample
        else:
            fallen = at_random[ever] - per_sample
            fall = f"{fallen.mean():+.3f} {shown(over(fallen)):16}"
        rng = np.random.default_rng(0)
        described = describe_folds(folds[0], dataset.y, pixels, class_names=dataset.class_names, rng=rng)
        print(
            f"{scheme:24} {n_components or 'all':>3}  {accuracy.mean():.3f}     "
            f"{shown(over(moves, float(accuracy.mean())))}  {shown(over(accuracy))}  {fall}  "
            f"{described.table()['energy'].mean():+.3f}  {time.perf_counter() - start:3.0f} s"
            + ("" if ever.all() else f"  ({ever.sum()} samples tested)"),
            flush=True,
        )


if __name__ == "__main__":
    main()
