"""Do other packages' splits reach more shift than ours, at the same labels, and in what time?

Prints a table for each data set; asserts nothing. splytters, astartes and DataSAIL (`benchmarks/requirements.txt`; what
is not installed is left out and named) split 1,000 samples in 20 principal components, a fifth of them to test. Ours is
then asked for a test part with the very same number of samples of each label, so that labels are equal to the sample,
however the other one treats them. What is measured belongs to no method: the ratio of ways to the nearest neighbour,
energy distance, the AUC of a classifier that tells the parts apart (`core.split.describe_folds.part_distances`), all on
100 components instead of 20 (or as many as there are), and the accuracy of logistic regression on the data as they are.
Six pairs, each of another sample and seed: 95 % over pairs, seconds of the processor with one thread. MNIST and SST-2
need ``../shared/data``.

    python -m benchmarks.bench_fold_rivals [digits mnist sst2 synthetic]
"""

import logging
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.bench_agreement import part, sst2
from benchmarks.paired import ratio
from benchmarks.true_sources import DATA, mnist
from touchstone.core.cluster.sds import SDSKMeans
from touchstone.core.data import Dataset, load_example
from touchstone.core.models import MODELS
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent import default_representation, features_for_splits
from touchstone.core.split.describe_folds import part_distances
from touchstone.core.split.folds import StratifiedFolds
from touchstone.core.split.scheme import NO_FOLD, Split

N_PAIRS, N_SAMPLES, N_COMPONENTS, N_FOLDS = 6, 1000, 20, 5
TRAIN_SHARE = 1 - 1 / N_FOLDS
N_MEASURED = 100
SECONDS_OF_SOLVER = 5
MEASURES = {"nearest": "nearest", "energy": "energy", "auc": "AUC", "accuracy": "accuracy"}
Folds = np.ndarray
Splitter = Callable[[np.ndarray, np.ndarray, int], Folds]


def synthetic() -> Dataset:
    """Five labels, each of four sources that overlap with those of others."""
    rng = np.random.default_rng(0)
    y, source = rng.integers(5, size=4000), rng.integers(4, size=4000)
    x = rng.normal(size=(4000, 30)) + rng.normal(size=(5, 30))[y] + rng.normal(scale=0.7, size=(5, 4, 30))[y, source]
    return Dataset("synthetic", "tabular", x, y, tuple("abcde"), tuple(map(str, range(4000))))


CASES: dict[str, Callable[[], Dataset]] = {
    "digits": lambda: load_example("digits"),
    "mnist": lambda: mnist("writers"),
    "sst2": sst2,
    "synthetic": synthetic,
}


class NoSplit(Exception):
    """The package found no split within its limits."""


def tested(rows: np.ndarray, n_samples: int) -> Folds:
    """One split as folds are written: 0 is tested, all else is not."""
    folds = np.full(n_samples, NO_FOLD)
    folds[np.asarray(rows, dtype=np.intp)] = 0
    return folds


def of_splytters(name: str, *, labelled: bool = False, **options: object) -> Splitter:
    """A splitter of that package, given the labels if it reads them."""

    def split(x: np.ndarray, y: np.ndarray, seed: int) -> Folds:
        import splytters

        given = options | ({"y": y} if labelled else {})
        _, test = getattr(splytters, name)(x, train_size=TRAIN_SHARE, random_state=seed, **given)
        return tested(test, len(x))

    return split


def cluster_kfold(x: np.ndarray, y: np.ndarray, seed: int) -> Folds:
    from splytters import cluster_kfold

    return np.asarray(cluster_kfold(x, y, N_FOLDS, random_state=seed))


def of_astartes(sampler: str, **options: object) -> Splitter:
    def split(x: np.ndarray, y: np.ndarray, seed: int) -> Folds:
        from astartes import train_test_split

        sizes = {"train_size": TRAIN_SHARE, "test_size": 1 - TRAIN_SHARE, "random_state": seed}
        given = train_test_split(x, y, sampler=sampler, hopts=dict(options), return_indices=True, **sizes)
        return tested(given[-1], len(x))

    return split


def datasail_split(x: np.ndarray, y: np.ndarray, seed: int, *, stratified: bool = False) -> Folds:
    """DataSAIL's, by similarity (a Gaussian kernel): its matrices of distances fail with scipy 1.17."""
    from datasail.sail import datasail
    from scipy.spatial.distance import pdist, squareform

    distance = squareform(pdist(x))
    ids = [str(at) for at in range(len(x))]
    labels = {"e_strat": dict(zip(ids, map(str, y), strict=True)), "delta": 0.3} if stratified else {}
    parts, _, _ = datasail(
        techniques=["C1e"],
        splits=[TRAIN_SHARE, 1 - TRAIN_SHARE],
        names=["train", "test"],
        e_type="O",
        e_data=dict.fromkeys(ids, "x"),
        e_sim=(ids, np.exp(-2 * (distance / np.median(distance)) ** 2)),
        e_clusters=100 if stratified else 50,
        max_sec=SECONDS_OF_SOLVER,
        verbose="C",
        **labels,
    )
    if not parts or not parts["C1e"][0]:
        raise NoSplit
    return tested([at for at, name in enumerate(ids) if parts["C1e"][0].get(name) == "test"], len(x))


def farthest(x: np.ndarray, y: np.ndarray, seed: int) -> Folds:
    """No package's: of each label the fifth that is farthest from the middle of all."""
    away = np.square(x - x.mean(axis=0)).sum(axis=1)
    labels = (np.flatnonzero(y == label) for label in np.unique(y))
    return tested(np.concatenate([rows[np.argsort(-away[rows])[: len(rows) // N_FOLDS]] for rows in labels]), len(x))


RIVALS: dict[str, tuple[str, Splitter]] = {
    "farthest fifth of each label": ("numpy", farthest),
    "cluster_kfold (5 folds)": ("splytters", cluster_kfold),
    "cluster_split, subset sum of 50": (
        "splytters",
        of_splytters("cluster_split", labelled=True, strategy="subset_sum", n_clusters=50),
    ),
    "cluster_split, closest of 50": ("splytters", of_splytters("cluster_split", strategy="closest", n_clusters=50)),
    "normalized_cut_split": ("splytters", of_splytters("normalized_cut_split")),
    "mmd_maximized_split": ("splytters", of_splytters("mmd_maximized_split")),
    "wasserstein_adversarial_split": ("splytters", of_splytters("wasserstein_adversarial_split")),
    "distance_adversarial_split": ("splytters", of_splytters("distance_adversarial_split")),
    "class_boundary_split": ("splytters", of_splytters("class_boundary_split", labelled=True)),
    "decision_boundary_split": ("splytters", of_splytters("decision_boundary_split", labelled=True)),
    "kmeans, clusters of 10": ("astartes", of_astartes("kmeans")),
    "kmeans, 10 clusters": ("astartes", of_astartes("kmeans", n_clusters=10)),
    "optisim": ("astartes", of_astartes("optisim")),
    "kennard_stone": ("astartes", of_astartes("kennard_stone")),
    "C1e": ("datasail", datasail_split),
    "C1e, stratified": ("datasail", partial(datasail_split, stratified=True)),
}


def ours(x: np.ndarray, y: np.ndarray, seed: int, *, like: Folds) -> Folds:
    """SDS k-means, as `MaxShift` and `SDSFolds` are, with the labels of the other one's parts."""
    parts = np.where(like == NO_FOLD, like.max() + 1, like)
    counts = np.array([np.bincount(parts[y == label], minlength=parts.max() + 1) for label in np.unique(y)])
    found = SDSKMeans(counts.shape[1], quotas=counts, random_state=seed).fit(x, y).labels_
    return found if NO_FOLD not in like else np.where(found == 0, 0, NO_FOLD)


@dataclass(frozen=True)
class Measured:
    """What one split gave: its measures (means over folds), how far labels are off, the tested share, the seconds."""

    values: dict[str, float]
    deviation: float
    share: float
    seconds: float


def measured(dataset: Dataset, features: np.ndarray, folds: Folds, seconds: float, seed: int) -> Measured:
    rows: list[dict[str, float]] = []
    deviation, whole = 0.0, np.bincount(dataset.y, minlength=dataset.n_classes) / dataset.n_samples
    for fold in range(folds.max() + 1):
        train, test = Split.of(folds == fold)
        apart = part_distances(features[train], features[test], rng=np.random.default_rng(seed))
        model = MODELS["logistic"]().fit(dataset.x[train], dataset.y[train], seed=seed, n_classes=dataset.n_classes)
        accuracy = float(np.mean(model.predict(dataset.x[test]) == dataset.y[test]))
        rows.append({"nearest": apart.nearest, "energy": apart.energy, "auc": apart.auc, "accuracy": accuracy})
        shares = np.bincount(dataset.y[test], minlength=dataset.n_classes) / len(test)
        deviation = max(deviation, float(np.abs(shares - whole).max()))
    means = {name: float(np.mean([row[name] for row in rows])) for name in MEASURES}
    share = float((folds >= 0).mean() / (folds.max() + 1))
    return Measured(means, deviation, share, seconds)


@contextmanager
def quiet() -> Iterator[None]:
    """What the packages print, log and warn of is not of this table."""
    printed = sys.stdout
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), open(os.devnull, "w") as sys.stdout:
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            sys.stdout.close()
            sys.stdout = printed
            logging.disable(logging.NOTSET)


def timed(split: Callable[[], Folds]) -> tuple[Folds, float]:
    with quiet(), single_threaded():
        start = time.process_time()
        folds = split()
        return folds, time.process_time() - start


def differences(these: list[float], others: list[float]) -> str:
    """The mean difference of pairs with its 95 % interval (t)."""
    from touchstone.core.evaluate.intervals import t_interval

    by_pair = np.subtract(these, others)
    half = t_interval(float(by_pair.mean()), float(by_pair.std(ddof=1) / np.sqrt(len(by_pair))), len(by_pair) - 1.0)
    return f"{by_pair.mean():+.2f} [{half.lower:+.2f}, {half.upper:+.2f}]"


def report(name: str) -> None:
    """Every rival on one data set."""
    whole = CASES[name]()
    cases: list[tuple[Dataset, np.ndarray, np.ndarray]] = []
    for pair in range(N_PAIRS):
        rows = np.random.default_rng(pair).permutation(whole.n_samples)[:N_SAMPLES]
        dataset, representation = part(whole, rows), default_representation(whole.kind)
        spaces = (features_for_splits(dataset, representation, n_components=n) for n in (N_COMPONENTS, N_MEASURED))
        cases.append((dataset, *spaces))
    at_random = []
    for seed, (dataset, _, features) in enumerate(cases):
        folds = np.where(StratifiedFolds(N_FOLDS, seed).assign(None, dataset.y) == 0, 0, NO_FOLD)
        at_random.append(measured(dataset, features, folds, 0.0, seed))
    print(f"\n## {whole.name}; load {os.getloadavg()[0]:.1f}\n")
    random_means = (f"{title} {np.mean([one.values[m] for one in at_random]):.2f}" for m, title in MEASURES.items())
    print(f"At random, labels in proportion: {', '.join(random_means)}.\n")
    titles = " | ".join(f"{title}: theirs, ours more by" for title in MEASURES.values())
    print(f"| theirs | tested | labels off by | {titles} | theirs, s | theirs to ours, time |")
    print("|" + "---|" * (5 + len(MEASURES)), flush=True)
    for title, (package, split) in RIVALS.items():
        if find_spec(package) is not None:
            print(row(f"{package}: {title}", split, cases), flush=True)


def row(title: str, split: Splitter, cases: list[tuple[Dataset, np.ndarray, np.ndarray]]) -> str:
    """One rival on the samples of a data set, beside ours with the same labels."""
    theirs, mine = [], []
    for seed, (dataset, x, features) in enumerate(cases):
        try:
            folds, seconds = timed(partial(split, x, dataset.y, seed))
        except NoSplit:
            continue
        theirs.append(measured(dataset, features, folds, seconds, seed))
        folds, seconds = timed(partial(ours, x, dataset.y, seed, like=folds))
        mine.append(measured(dataset, features, folds, seconds, seed))
    if len(theirs) < len(cases):
        title += f" ({len(theirs)} of {len(cases)} pairs: no other had a split within its limits)"
    if len(theirs) < 2:
        return f"| {title} |"
    cells = []
    for measure in MEASURES:
        values, own = ([one.values[measure] for one in some] for some in (theirs, mine))
        cells.append(f"{np.mean(values):.2f}, {differences(own, values)}")
    share, deviation, seconds = (
        np.mean([getattr(one, of) for one in theirs]) for of in ("share", "deviation", "seconds")
    )
    times = ratio(*([one.seconds for one in some] for some in (theirs, mine))).partition("],")[0] + "]"
    return f"| {title} | {share:.2f} | {deviation:.2f} | {' | '.join(cells)} | {seconds:.3f} | {times} |"


def main() -> None:
    print(f"# Folds beside other packages', {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    missing = sorted({package for package, _ in RIVALS.values() if find_spec(package) is None})
    if missing:
        print(f"Not installed, so left out: {', '.join(missing)} (pip install -r benchmarks/requirements.txt)")
    SDSKMeans(2, random_state=0).fit(np.random.default_rng(0).normal(size=(300, 5)), np.arange(300) % 3)  # compiles
    for name in sys.argv[1:] or CASES:
        if name in ("mnist", "sst2") and not DATA.is_dir():
            print(f"\n{name}: not run, for ../shared/data is not beside this checkout")
            continue
        report(name)


if __name__ == "__main__":
    main()
