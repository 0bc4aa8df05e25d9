"""What does it cost to cluster under quotas? How does it grow, and against another exact solver? And does it work?

Prints tables; asserts nothing. Every clustering runs in a process of its own, with one thread, after a small one that
compiles. Seconds are of the processor (and of the clock), the least of two runs; memory is the most that the process
ever held, libraries and data included. k-means-constrained (requirements-dev.txt) is asked for clusters of the same
size, also from 8 starts. The last table is the task itself: a classifier on folds of digits.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.paired import ratio

N_FEATURES, N_LABELS, N_STARTS = 50, 100, 8
SIZES = (10_000, 30_000, 100_000)
MOST_ROUNDS_OF_SWAPS = 100
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def made(kind: str, n: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features as principal components have them, or "noise" (no cluster at all, so that k-means is slow to end)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_LABELS, size=n)
    x = rng.normal(size=(n, N_FEATURES))
    if kind == "components":
        x += rng.normal(size=(N_LABELS, N_FEATURES))[y]
        x *= (1 + np.arange(N_FEATURES)) ** -0.5
    return x, y


def timed(work: Callable[[], object]) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - processor, time.perf_counter() - clock


def most_memory() -> int:
    """In MB: VmHWM is of this process only (ru_maxrss would count the one that started it, too)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def cluster_once(way: str, kind: str, n: int, n_clusters: int) -> None:
    """Run in a process of its own; prints what it found as JSON."""
    x, y = made(kind, n)
    from touchstone.core.cluster.sds import SameSizeKMeans, SDSKMeans

    SDSKMeans(3, n_init=1, random_state=0).fit(x[:300], y[:300])
    model = {"SDS": SDSKMeans, "same size": SameSizeKMeans}[way](n_clusters, n_init=N_STARTS, random_state=0)
    processor, clock = timed(lambda: model.fit(x, y))
    labels = hashlib.sha256(np.asarray(model.labels_, dtype=np.int64).tobytes()).hexdigest()
    found = {"processor": processor, "clock": clock, "inertia": float(model.inertia_), "steps": int(model.n_iter_)}
    print(json.dumps(found | {"memory": most_memory(), "labels": labels}))


def in_a_process(way: str, kind: str, n: int, n_clusters: int, *, times: int = 2) -> dict:
    """The fastest of `times` runs, and whether all gave the same labels."""
    runs = []
    for _ in range(times):
        command = [sys.executable, "-m", "benchmarks.bench_cluster_folds", way, kind, str(n), str(n_clusters)]
        done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return min(runs, key=lambda run: run["processor"]) | {"equal": len({run["labels"] for run in runs}) == 1}


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def print_costs() -> None:
    print(
        f"\n{N_FEATURES} features, {N_LABELS} labels, {N_STARTS} starts. Goals at n = 100 000: 3 s for K = 5, 15 s for"
    )
    print("K = 20, less than 500 MB; growth at most n ** 1.2")
    print("way        data        K         n  processor     clock  steps  memory  labels of both runs")
    for way, kind in (("SDS", "components"), ("SDS", "noise"), ("same size", "components")):
        for n_clusters in (5, 20):
            seconds = []
            for n in SIZES:
                run = in_a_process(way, kind, n, n_clusters)
                seconds.append(run["processor"])
                print(
                    f"{way:10} {kind:10} {n_clusters:2} {n:9,}  {run['processor']:7.2f} s {run['clock']:7.2f} s"
                    f"  {run['steps']:5}  {run['memory']:3} MB  {'equal to the bit' if run['equal'] else 'DIFFERENT'}"
                )
            print(f"{'':24} grows like n ** {exponent(SIZES, seconds):.2f}")


def print_one_assignment() -> None:
    from touchstone.core.cluster.quota_assignment import assign_labels
    from touchstone.core.cluster.quotas import first_of_each

    print("\nOne exact assignment to random centres, prices from zero (processor, the least of 5)")
    print("labels   K " + "".join(f"{n:>12,}" for n in SIZES))
    for n_labels in (1, N_LABELS):
        for n_clusters in (5, 20):
            seconds = []
            for n in SIZES:
                x, _ = made("components", n)
                centers = x[np.random.default_rng(1).choice(n, n_clusters, replace=False)]
                quotas = np.full((n_labels, n_clusters), n // n_labels // n_clusters)
                first, sink = first_of_each(quotas.sum(axis=1)), np.empty(n, dtype=np.int32)

                def work(x=x, centers=centers, first=first, quotas=quotas, sink=sink) -> None:
                    assign_labels(x, centers, first, quotas, np.zeros(quotas.shape), sink)

                work()
                seconds.append(min(timed(work)[0] for _ in range(5)))
            times = "".join(f"{1000 * each:9.1f} ms" for each in seconds)
            print(f"{n_labels:6} {n_clusters:3} {times}   n ** {exponent(SIZES, seconds):.2f}")


def real(name: str) -> np.ndarray | None:
    """Principal components of real images: digits of scikit-learn, MNIST of ``../shared/data`` (None without it)."""
    from benchmarks.true_sources import DATA, mnist
    from touchstone.core.data import load_example
    from touchstone.core.represent import features_for_splits

    if name == "mnist" and not DATA.is_dir():
        return None
    dataset = load_example("digits") if name == "digits" else mnist("writers")
    return features_for_splits(dataset, "raw", n_components=N_FEATURES)


def print_comparison(n: int = 3000, n_clusters: int = 5) -> None:
    if find_spec("k_means_constrained") is None:
        print("\nk-means-constrained is not installed: no comparison (pip install -r requirements-dev.txt)")
        return
    from k_means_constrained import KMeansConstrained

    from touchstone.core.cluster.sds import SameSizeKMeans
    from touchstone.core.models.threads import single_threaded

    print(
        f"\nClusters of the same size, K = {n_clusters}, {N_STARTS} starts each: k-means-constrained against ours, six"
    )
    print("pairs of seeds (goals: ten times as fast at an equal sum of squares)")
    for kind in ("components", "noise", "digits", "mnist"):
        ours, theirs, more = [], [], []
        x = real(kind) if kind in ("digits", "mnist") else made(kind, n)[0]
        if x is None:
            print(f"{kind}: not run, for ../shared/data is not beside this checkout")
            continue
        SameSizeKMeans(3, n_init=1, random_state=0).fit(x[:300])
        sizes = {"size_min": len(x) // n_clusters, "size_max": -(-len(x) // n_clusters)}
        for seed in range(6):
            model = SameSizeKMeans(n_clusters, n_init=N_STARTS, random_state=seed)
            other = KMeansConstrained(n_clusters, **sizes, n_init=N_STARTS, random_state=seed, n_jobs=1)
            with single_threaded():
                ours.append(timed(partial(model.fit, x))[0])
                theirs.append(timed(partial(other.fit, x))[0])
            more.append(100 * (model.inertia_ / other.inertia_ - 1))
        print(
            f"{kind:10} {len(x):,} samples: {np.median(ours):.3f} s, theirs {np.median(theirs):.2f} s, "
            f"{ratio(theirs, ours)}; sum of squares, ours / theirs - 1: {min(more):+.3f} to {max(more):+.3f} %",
            flush=True,
        )


def published(x: np.ndarray, y: np.ndarray, centers: np.ndarray, quotas: np.ndarray) -> np.ndarray:
    """Wecker et al. 2020, section 3.3: who is most decided comes first, then pairs of one label swap while that helps.

    Lists of those that wait for a swap are as in ELKI's tutorial on same-size k-means, which the paper follows.
    """
    cluster, labels = np.empty(len(x), dtype=np.int64), [np.flatnonzero(y == label) for label in np.unique(y)]
    for rows, quota in zip(labels, quotas, strict=True):
        cluster[rows] = _first_assignment(((x[rows, None] - centers) ** 2).sum(axis=2), quota.copy())
    for _ in range(MOST_ROUNDS_OF_SWAPS):
        centers = np.stack([x[cluster == k].mean(axis=0) for k in range(len(centers))])
        n_swaps = 0
        for rows in labels:
            own = cluster[rows]
            n_swaps += _swap_pairs(((x[rows, None] - centers) ** 2).sum(axis=2), own)
            cluster[rows] = own
        if not n_swaps:
            break
    return cluster


def _first_assignment(distance: np.ndarray, room: np.ndarray) -> np.ndarray:
    cluster, left = np.empty(len(distance), dtype=np.int64), np.arange(len(distance))
    while len(left):
        open_ = np.flatnonzero(room)
        near = distance[np.ix_(left, open_)]
        order = np.argsort(near.min(axis=1) - near.max(axis=1), kind="stable")
        n_placed = 0
        for i in order:
            k = open_[near[i].argmin()]
            cluster[left[i]] = k
            room[k] -= 1
            n_placed += 1
            if not room[k]:
                break
        left = left[np.sort(order[n_placed:])]
    return cluster


def _swap_pairs(distance: np.ndarray, cluster: np.ndarray) -> int:
    waiting: list[list[int]] = [[] for _ in range(distance.shape[1])]
    gain, n_swaps = distance[np.arange(len(distance)), cluster][:, None] - distance, 0
    for i in np.argsort(-gain.max(axis=1), kind="stable").tolist():
        own = int(cluster[i])
        for k in np.argsort(-gain[i], kind="stable").tolist():
            if k == own:
                continue
            j = next((j for j in waiting[k] if gain[i, k] + gain[j, own] > 0), None)
            if j is not None:
                waiting[k].remove(j)
                cluster[i], cluster[j], n_swaps = k, own, n_swaps + 1
                break
        else:
            if gain[i].max() > 0:
                waiting[own].append(i)
    return n_swaps


def print_published(n: int) -> None:
    from sklearn.cluster import kmeans_plusplus

    from touchstone.core.cluster.quotas import spread_quotas
    from touchstone.core.cluster.sds import SDSKMeans
    from touchstone.core.models.threads import single_threaded

    print(
        f"\nSDS against the published algorithm, {n:,} samples, K = 10, one start each; load {os.getloadavg()[0]:.1f}"
    )
    SDSKMeans(3, n_init=1, random_state=0).fit(*(array[:300] for array in made("noise", 400)))
    ours, theirs, more = [], [], []
    for kind in ("components", "noise"):
        for seed in range(3):
            x, y = made(kind, n, seed=seed)
            y = y % 10
            centers = kmeans_plusplus(x, 10, random_state=seed)[0]
            quotas = spread_quotas(np.bincount(y), 10)
            with single_threaded():
                start = time.process_time()
                cluster = published(x, y, centers, quotas)
                theirs.append(time.process_time() - start)
                model = SDSKMeans(10, n_init=1, random_state=seed)
                ours.append(timed(partial(model.fit, x, y))[0])
            means = np.stack([x[cluster == k].mean(axis=0) for k in range(10)])
            more.append(model.inertia_ / ((x - means[cluster]) ** 2).sum() - 1)
            print(
                f"{kind}, seed {seed}: ours {ours[-1]:.3f} s, published {theirs[-1]:.1f} s, "
                f"{theirs[-1] / ours[-1]:.0f} times; sum of squares, ours / theirs - 1: {100 * more[-1]:+.3f} %",
                flush=True,
            )
    print(f"published by ours: {ratio(theirs, ours)}; lower in {sum(one < 0 for one in more)} of {len(more)}")


def print_task() -> None:
    import pandas as pd

    from touchstone.core.data import load_example
    from touchstone.core.evaluate.cluster_folds.performance import fold_performance
    from touchstone.core.evaluate.cluster_folds.results import ScoredBy
    from touchstone.core.evaluate.cluster_folds.tested import rows_of_run
    from touchstone.core.trials import Context, FoldPlan

    print("\nAccuracy of logistic regression on folds of digits (K = 5, mean of 3 seeds)")
    print("folds                 PCA   accuracy  95 % over samples   over seeds")
    dataset = load_example("digits")
    for n_components in (5, 20):
        schemes = ("random_folds", "sds_folds", "paired_source_folds", "max_shift")
        plan = FoldPlan(schemes=schemes, n_components=n_components, seeds=(0, 1, 2))
        trials = [plan.run_trial(dataset, i, context=Context()) for i in range(plan.n_trials(dataset))]
        folded = rows_of_run(pd.concat(trials, ignore_index=True), dataset)
        performance = fold_performance(folded, metric=ScoredBy("accuracy"))
        for row in performance.schemes:
            interval, seeds = row.mean.interval, row.over_seeds
            print(
                f"{row.scheme:20} {n_components:4} {row.mean.value:10.3f}  [{interval.lower:.3f}, {interval.upper:.3f}]"
                f"      [{seeds.lower:.3f}, {seeds.upper:.3f}]"
            )


def main() -> None:
    print(f"# Cluster folds, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print_costs()
    print_one_assignment()
    print_comparison()
    print_task()


if __name__ == "__main__":
    if sys.argv[1:2] == ["published"]:
        print(f"# SDS k-means, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
        print_published(int(sys.argv[3]) if sys.argv[2:3] == ["--size"] else 3000)
    elif sys.argv[1:2] == ["same-size"]:
        print(f"# Same-size k-means, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
        print_comparison()
    elif len(sys.argv) > 1:
        cluster_once(*sys.argv[1:3], *map(int, sys.argv[3:]))
    else:
        main()
