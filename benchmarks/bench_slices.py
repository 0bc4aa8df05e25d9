"""Are planted slices found, and how often is one said where nothing is? Beside two published rules that do not split.

`python -m benchmarks.bench_slices` prints hits in 60 planted data sets (one or two conditions, drawn columns and those
of scikit-learn's data sets, a real model's answers), false alarms in 200 without any slice, a third of them by author,
both with exact intervals, and CPU seconds. A hit shares more samples with the planted slice than either has beside.

The rivals are short forms of published rules, not the packages: quantile slices whose metric is 5 % below that of all
(giskard's scan), and trees of depth two over pairs of columns, leaves below .8 of the average score (deepchecks' weak
segments). Asserts nothing.
"""

import os
import platform
import time
from collections.abc import Iterator
from datetime import date
from itertools import combinations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.worlds.weak_slices import drawn
from touchstone.core.data import Predictions
from touchstone.core.evaluate.intervals import clopper_pearson
from touchstone.core.evaluate.weak_slices import find_weak_slices

N_PLANTED, N_NULL, FEWEST = 60, 200, 20
Columns = dict[str, np.ndarray]
Case = tuple[Predictions, Columns, np.ndarray]
REAL = (load_breast_cancer, load_digits, load_wine)


def main() -> None:
    print(f"# Slices, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| finder | hits | false alarms | CPU seconds |\n|---|---|---|---|")
    planted = [planted_case(seed) for seed in range(N_PLANTED)]
    nothing = [drawn(10_000 + seed, authors=300 if seed % 3 == 0 else 0) for seed in range(N_NULL)]
    for name, finder in {"Touchstone": ours, "quantile slices": quantiles, "pairwise trees": trees}.items():
        began = time.process_time()
        n_hits = sum(any(is_hit(mask, case[2]) for mask in finder(*case[:2])) for case in planted)
        n_false = sum(any(True for _ in finder(*case[:2])) for case in nothing)
        spent = time.process_time() - began
        print(f"| {name} | {counted(n_hits, len(planted))} | {counted(n_false, N_NULL)} | {spent:.1f} |", flush=True)


def planted_case(seed: int) -> Case:
    """Answers of a real model, half of which are turned in a rule of one or two conditions, 10 to 25 % of samples."""
    if seed % 2:
        return drawn(seed, 2000, planted=True)
    rng = np.random.default_rng(seed)
    x, y = REAL[seed // 2 % len(REAL)](return_X_y=True)
    y_pred = cross_val_predict(make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)), x, y, cv=5)
    varies = np.flatnonzero([len(np.unique(column)) > 10 for column in x.T])
    first, second = rng.choice(varies, 2, replace=False)
    members = x[:, first] >= np.quantile(x[:, first], 0.8)
    if seed % 4:
        members = (x[:, first] >= np.median(x[:, first])) & (x[:, second] >= np.median(x[:, second]))
    turned = members & (rng.random(len(y)) < 0.5)
    y_pred = np.where(turned, (y + 1) % (y.max() + 1), y_pred)
    shown = {first, second, *rng.choice(varies, 6, replace=False)}
    columns = {f"column {place}": x[:, place] for place in sorted(shown)}
    return Predictions(map(str, range(len(y))), y, y_pred, map(str, range(y.max() + 1))), columns, members


def ours(answers: Predictions, columns: Columns) -> Iterator[np.ndarray]:
    """The slices that are said to be weak."""
    for each in find_weak_slices(answers, columns).weak:
        yield np.logical_and.reduce([condition.holds(columns) for condition in each.rule])


def quantiles(answers: Predictions, columns: Columns) -> Iterator[np.ndarray]:
    """Quarters of numbers, and kinds, whose accuracy is 5 % below that of all samples."""
    for values in columns.values():
        codes = values if values.dtype.kind in "UO" else np.searchsorted(np.quantile(values, [0.25, 0.5, 0.75]), values)
        for kind in np.unique(codes):
            mask = codes == kind
            if mask.sum() >= FEWEST and answers.correct[mask].mean() < 0.95 * answers.accuracy:
                yield mask


def trees(answers: Predictions, columns: Columns) -> Iterator[np.ndarray]:
    """Leaves of a tree of depth two over each pair of columns, whose accuracy is below .8 of that of all."""
    numbers = {
        name: np.unique(values, return_inverse=True)[1] * 1.0 if values.dtype.kind in "UO" else values
        for name, values in columns.items()
    }
    for pair in combinations(numbers.values(), 2):
        x = np.column_stack(pair)
        leaves = DecisionTreeClassifier(max_depth=2, min_samples_leaf=FEWEST).fit(x, answers.correct).apply(x)
        for leaf in np.unique(leaves):
            if answers.correct[leaves == leaf].mean() < 0.8 * answers.accuracy:
                yield leaves == leaf


def is_hit(mask: np.ndarray, members: np.ndarray) -> bool:
    return bool((mask & members).sum() > 0.5 * (mask | members).sum())


def counted(k: int, n: int) -> str:
    lower, upper = clopper_pearson(k, n, 0.05)
    return f"{k} of {n} ({100 * k / n:.1f} % [{100 * lower:.1f}, {100 * upper:.1f}])"


if __name__ == "__main__":
    main()
