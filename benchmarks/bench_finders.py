"""What do ways of finding sources differ in? Rho, agreement with k-means and with known sources, and seconds.

Run `python -m benchmarks.bench_finders`. Clusterers of scikit-learn that are no entries are held against k-means, too.
Each is one entry here, as it would be in `SOURCE_FINDERS`.
"""

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from datetime import date
from itertools import product

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

from benchmarks.true_sources import vowels
from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import by_estimator
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.represent import default_representation
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.sources_plan import features

DATA: dict[str, Callable[[], Dataset]] = {
    "wine": lambda: load_example("wine"),
    "digits": lambda: load_example("digits"),
    "vowels": vowels,
}
TRIED = {
    "ward": SourceFinder("Ward", cluster=by_estimator("sklearn.cluster:AgglomerativeClustering")),
    "spectral": SourceFinder(
        "Spectral", cluster=by_estimator("sklearn.cluster:SpectralClustering", affinity="nearest_neighbors")
    ),
    "hdbscan": SourceFinder("HDBSCAN", cluster=by_estimator("sklearn.cluster:HDBSCAN", number=None, copy=True)),
}
"""Beside those that are entries."""
N_CLUSTERINGS = 4


def plan_of(finders: tuple[str, ...], n_repeats: int) -> TrialPlan:
    """The plan of these finders: the same sizes for all, so that only the sources differ."""
    schemes = ("source_exclusive", "source_inclusive")
    return TrialPlan(models=("logistic",), source_finders=finders, schemes=schemes, n_repeats=n_repeats)


def clusterings(dataset: Dataset, finder: str) -> tuple[list[np.ndarray], float]:
    """The sources of each clustering, and the seconds of one. DataError where there are none."""
    plan, began = plan_of((finder,), 20), time.process_time()
    found = [plan.sources(dataset, finder, clustering) for clustering in range(N_CLUSTERINGS)]
    return found, (time.process_time() - began) / N_CLUSTERINGS


def agreement(dataset: Dataset, one: np.ndarray, other: np.ndarray) -> float:
    """The adjusted Rand index within classes, their mean."""
    members = [dataset.y == code for code in range(dataset.n_classes)]
    return float(np.mean([adjusted_rand_score(one[rows], other[rows]) for rows in members]))


def measure(dataset: Dataset, n_repeats: int) -> pd.DataFrame:
    """A row for each finder."""
    names = [name for name, finder in SOURCE_FINDERS.items() if not finder.trains]
    known = None if dataset.sources is None else np.unique(dataset.sources.astype(str), return_inverse=True)[1]
    found: dict[str, list[np.ndarray]] = {}
    rows: dict[str, dict[str, object]] = {}
    for name in names:
        rows[name] = {"finder": SOURCE_FINDERS[name].title}
        try:
            found[name], seconds = clusterings(dataset, name)
        except DataError as problem:
            rows[name]["refused"] = str(problem).partition(": ")[2].partition(".")[0]
            continue
        sizes = np.concatenate([np.bincount(sources) for sources in found[name]])
        # Of other seeds: those of one seed begin with the same means.
        pairs = [
            agreement(dataset, *both)
            for place, both in enumerate(product(found[name], found["kmeans"]))
            if place % (N_CLUSTERINGS + 1)
        ]
        rows[name] |= {"smallest": sizes.min(), "largest": sizes.max(), "as k-means": np.mean(pairs)}
        if known is not None:
            rows[name]["as known"] = np.mean([agreement(dataset, known, sources) for sources in found[name]])
        rows[name]["seconds"] = seconds
    plan = plan_of(tuple(found), n_repeats)
    trials = [plan.run_trial(dataset, trial, context=Context()) for trial in range(plan.n_trials(dataset))]
    table = expected_accuracy_intervals(pd.concat(trials, ignore_index=True)).table()
    for _, row in table[table["label"].isna()].iterrows():
        ends = f"[{row['rho_sources_lower']:.3f}, {row['rho_sources_upper']:.3f}]"
        rows[row["source_finder"]] |= {"held out": f"{100 * row['exclusive']:.1f}", "rho": f"{row['rho']:.3f} {ends}"}
    return pd.DataFrame(rows.values()).round(3)


def by_density(dataset: Dataset) -> str:
    """How many clusters HDBSCAN finds in each class, and which share it calls noise."""
    encoded = features(dataset, default_representation(dataset.kind))
    labels = [HDBSCAN(copy=True).fit_predict(encoded[dataset.y == code]) for code in range(dataset.n_classes)]
    return ", ".join(f"{of_class.max() + 1} ({100 * np.mean(of_class < 0):.0f} %)" for of_class in labels)


def cut(dataset: Dataset, n_sources: int = 5) -> str:
    """In how many classes HDBSCAN makes this number of clusters at some least size, a share of the class at most."""
    encoded = features(dataset, default_representation(dataset.kind))
    hits = 0
    for code in range(dataset.n_classes):
        rows = encoded[dataset.y == code]
        sizes = range(len(rows) // n_sources, 1, -1)
        found = (HDBSCAN(min_cluster_size=size, min_samples=1, copy=True).fit_predict(rows).max() + 1 for size in sizes)
        hits += any(n_clusters == n_sources for n_clusters in found)
    return f"{hits} of {dataset.n_classes}"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--repeats", type=int, default=20)
    given = options.parse_args()
    warnings.filterwarnings("ignore", message="Graph is not fully connected")
    for name, finder in TRIED.items():
        SOURCE_FINDERS[name] = finder
    print(f"# Ways of finding sources, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    for make in DATA.values():
        dataset = make()
        print(f"\n## {dataset.name}: n = {dataset.n_samples}, logistic regression, {given.repeats} repeats")
        print(measure(dataset, given.repeats).astype(object).fillna("").to_string(index=False))
        print(f"HDBSCAN, clusters of each class (and noise): {by_density(dataset)}")
        print(f"Classes of which it makes five at some least size: {cut(dataset)}")


if __name__ == "__main__":
    main()
