"""The papers' tables and figures, run again: ours beside the printed values, what agrees and what does not.

`python -m benchmarks.reproduce PAPER TABLE [--scale small|processor|paper]` runs one, `python -m benchmarks.reproduce`
lists all. Trials are kept in a workspace (`--home`), so that the same command goes on where it was stopped; all results
are appended to `results.jsonl` there. With `--stored` no more trials are run: the table is that of those that are
there. Asserts nothing.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import case_study_average_case, reproduce_test_quality
from benchmarks.reproduce_source_robustness import CLUSTERINGS, PRINTED, PRINTED_SIZES, SCHEMES, mnist
from tests.papers.cluster_folds import TABLE_1 as FOLDS_1
from tests.papers.source_aware_robustness import CNNS, INTERVALS
from tests.papers.source_aware_robustness import MODELS as SOURCES_1
from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import rows_of_run
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, AdequacyPlan
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.matched_subsets import Outcomes, SetComparison, compare_sets
from touchstone.core.evaluate.source_robustness import ExpectedInterval, expected_accuracy_intervals
from touchstone.core.models import MODELS
from touchstone.core.models.classical import Classifier
from touchstone.core.models.networks import LeNet, PaperNetwork, ResNet20
from touchstone.core.trials import FoldPlan, Plan, TrialPlan
from touchstone.core.trials.epochs import untrained
from touchstone.core.workspace import LOCAL_OWNER, Workspace
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SCALES = ("small", "processor", "paper")
FIGURES_9_AND_10 = ("0", "1", "5")
"""The digits that they draw."""


MARGIN = 0.02
"""What an accuracy or a rho may differ by from a printed one and still agree with it: two points."""


@dataclass(frozen=True)
class Row:
    """One number or claim: ours, printed, and whether they agree."""

    what: str
    ours: str
    printed: str = ""
    verdict: str = ""


class Bench:
    """Where runs are worked off and kept, and how large they are to be."""

    def __init__(self, home: Path, scale: str, *, stored: bool = False):
        home.mkdir(parents=True, exist_ok=True)
        self.home, self.scale, self.stored = home, scale, stored
        self.trials: list[str] = []
        """How many there are of all, of each run."""
        self.workspace, self.executor = Workspace(home), Executor()
        self.engine = Engine(self.workspace, self.executor)

    def size(self, small: int, processor: int, paper: int) -> int:
        """One of three, by the scale."""
        return (small, processor, paper)[SCALES.index(self.scale)]

    def rows(self, plan: Plan, dataset: Dataset) -> pd.DataFrame:
        """The rows of a plan: those stored, and the missing ones worked off now, unless the stored ones are enough."""
        run = self.workspace.create_run(LOCAL_OWNER, plan, self.workspace.add_dataset(LOCAL_OWNER, dataset))
        if not self.stored:
            self.engine.start(LOCAL_OWNER, run.id)
        while not self.stored and (run := self.workspace.run(LOCAL_OWNER, run.id)).state == "running":
            print(f"\r{run.n_done} of {run.n_trials} trials", end="", flush=True)
            time.sleep(1)
        print(f"\r{run.n_done} of {run.n_trials} trials, {run.n_failed} failed: {run.state} {'; '.join(run.errors)}")
        self.trials.append(f"{run.n_done} of {run.n_trials} trials")
        return self.workspace.rows(LOCAL_OWNER, run.id)

    def close(self) -> None:
        """Stop the workers; what is stored stays."""
        self.engine.close()


def percent(value: float, interval: Interval) -> str:
    return f"{100 * value:.1f} [{100 * interval.lower:.1f}, {100 * interval.upper:.1f}]"


def agreement(interval: Interval, printed: float) -> str:
    """Whether our whole interval lies within MARGIN of a printed number, or none of it; a wide one decides neither."""
    if interval.lower > printed + MARGIN:
        return "differs, ours is above"
    if interval.upper < printed - MARGIN:
        return "differs, ours is below"
    within = printed - MARGIN <= interval.lower and interval.upper <= printed + MARGIN
    return "agrees" if within else "undecided"


def sources_1(bench: Bench) -> list[Row]:
    """Table 1 of Kilinc & Uysal: models by both ways to find sources, tested at the best epoch."""
    models = ("svm", "mlp_small", "cnn_1") if bench.scale == "small" else tuple(PRINTED)
    plan = TrialPlan(
        models=models,
        source_finders=("kmeans",) if bench.scale == "small" else ("kmeans", "acol"),
        schemes=SCHEMES,
        n_repeats=bench.size(5, 20, 100),
        n_clusterings=1,
        epoch="best",
        n_epochs=2 if bench.scale == "small" else None,
    )
    rows, listed = bench.rows(plan, mnist(bench.size(600, 10_000, 0))), []
    for one in expected_accuracy_intervals(rows).overall:
        printed = SOURCES_1.get(PRINTED.get(one.model, ""), {}).get(CLUSTERINGS.get(one.source_finder, ""))
        listed += _ends(f"{one.model}, {one.source_finder}", one, printed)
    return listed


def _ends(name: str, one: object, printed: tuple[float, ...] | None) -> list[Row]:
    """E[AccX], E[AccI] and rho of one model, beside the printed ones in percent and as a ratio."""
    rows = []
    for at, (what, end) in enumerate({"E[AccX]": "exclusive", "E[AccI]": "inclusive", "rho": "rho"}.items()):
        estimate = getattr(one, end)
        value, interval, factor = estimate.value, estimate.over_sources, 1 if end == "rho" else 100
        ours = f"{factor * value:.{3 if factor == 1 else 1}f}"
        digits = 3 if factor == 1 else 1
        ours += f" [{factor * interval.lower:.{digits}f}, {factor * interval.upper:.{digits}f}]"
        told = "" if printed is None else f"{printed[at]:.{digits}f}"
        rows.append(
            Row(f"{name}, {what}", ours, told, "" if printed is None else agreement(interval, printed[at] / factor))
        )
    return rows


def sources_2_and_3(bench: Bench) -> list[Row]:
    """Tables 2 and 3: the ends and rho by training-set size."""
    models = ("cnn_1",) if bench.scale == "small" else ("cnn_1", "cnn_2", "cnn_3")
    sizes = {"small": (100, 300), "processor": (100, 300, 1000), "paper": (100, 300, 1000, 3000, 10_000, 30_000)}
    plan = AdequacyPlan(
        models=models,
        source_finders=("kmeans",) if bench.scale == "small" else ("acol",),
        n_repeats=bench.size(5, 20, 100),
        n_clusterings=1,
        sizes=(*sizes[bench.scale], ALL),
        n_epochs=3 if bench.scale == "small" else None,
    )
    rows, listed = bench.rows(plan, mnist(bench.size(600, 3000, 0))), []
    for size in [*sizes[bench.scale], ALL]:
        intervals = expected_accuracy_intervals(rows[(rows["size"] == size).to_numpy()].drop(columns="size"))
        for one in intervals.overall:
            cell = INTERVALS.get(PRINTED_SIZES[size]) if size != ALL or bench.scale == "paper" else None
            ends = cell[CNNS.index(PRINTED[one.model])] if cell else None
            name = f"{one.model}, {size or one.n_train} samples"
            listed += _ends(name, one, (*ends, ends[0] / ends[1]) if ends else None)
            listed += [_of_class(name, each) for each in intervals.classes_of(one) if each.label in FIGURES_9_AND_10]
    return listed


def _of_class(name: str, one: ExpectedInterval) -> Row:
    """What figures 9 and 10 draw of a digit; they print no numbers."""
    rho, over = one.rho.value, one.rho.over_sources
    ends = f"{100 * one.exclusive.value:.0f}, {100 * one.inclusive.value:.0f}"
    return Row(f"{name}, digit {one.label}", f"{ends}, {rho:.2f} [{over.lower:.2f}, {over.upper:.2f}]")


def matched_cifar(bench: Bench) -> list[Row]:
    """Figure 3a of Anzaku et al.: accuracies on CIFAR-10 and CIFAR-10.1; no confidences, so nothing is matched."""
    names = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
    files = [pd.read_csv(DATA / "cifar101" / f"cifar10_{part}_predictions.tsv", sep="\t") for part in ("test", "1_v4")]

    def outcomes(table: pd.DataFrame, model: str) -> Outcomes:
        label, truth = table[model].to_numpy(np.int64), table["label"].to_numpy(np.int64)
        return Outcomes(label, np.full(len(label), np.nan), label == truth, names, truth)

    rows = []
    for model in [name for name in files[0] if name not in ("id", "label")]:
        both = [outcomes(table, model) for table in files]
        gap = compare_sets(*both, rng=np.random.default_rng(0)).gap
        drops = "agrees" if gap.interval.lower > 0 else "undecided"
        ours = f"falls {percent(gap.value, gap.interval)} points from {100 * both[0].accuracy:.1f} %"
        rows.append(Row(model, ours, "falls", drops))
    return rows


def matched_digits(bench: Bench) -> list[Row]:
    """Figures 5 and 8, with LeNet on MNIST and semeion in the place of ImageNet: accuracy and confidence by subset."""
    x, y, x_test, y_test = digits_of(bench)
    network = LeNet(n_epochs=bench.size(5, 10, 20)).fit(x, y, seed=0, n_classes=10)
    comparison = compare_sets(
        digits_told(network, x_test, y_test),
        digits_told(network, *semeion()),
        scale="confidence",
        rng=np.random.default_rng(0),
    )
    rows = [
        Row(f"{subset.name}: accuracy, n", f"{percent(subset.reached.value, subset.reached.interval)}, {subset.n:.0f}")
        for subset in comparison.subsets
    ]
    return [*rows, *_falls("", comparison)]


def matched_models(bench: Bench) -> list[Row]:
    """Figures 4, 6 and 7, with models trained on MNIST and semeion in the place of CIFAR and ImageNet: many models,
    matched by label and confidence, and by confidence only.
    """
    x, y, x_test, y_test = digits_of(bench)
    names = ["logistic", "mlp_small", "lenet"]
    if bench.scale != "small":
        names += ["nearest_neighbours", "linear", "mlp_2048", "cnn_1"]
    if bench.scale == "paper":
        names += ["cnn_2", "cnn_3", "resnet18", "resnet20"]
    rows = []
    for name in names:
        model = untrained(MODELS[name], bench.size(5, 10, 20))
        model.fit(x, y, seed=0, n_classes=10)
        both = digits_told(model, x_test, y_test), digits_told(model, *semeion())
        for by, said in (("label", "label and confidence"), ("probability", "confidence only")):
            comparison = compare_sets(*both, by=by, scale="confidence", rng=np.random.default_rng(0))
            rows += _falls(f"{model.label}, by {said}: ", comparison)[0 if by == "label" else 1 :]
    return rows


def digits_of(bench: Bench) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images and labels of MNIST to train with, and those of its test set."""
    x, x_test, y, y_test = reproduce_test_quality.mnist()
    few = np.random.default_rng(0).choice(len(y), bench.size(6000, 20_000, len(y)), replace=False)
    return x[few], y[few], x_test, y_test


def semeion() -> tuple[np.ndarray, np.ndarray]:
    """Other writers' digits, 16 x 16 pixels in the middle of 28 x 28, with their labels."""
    with np.load(DATA / "semeion.npz", allow_pickle=False) as file:
        strokes, truth = file["x"].astype(np.float32), file["y"].astype(np.int64)
    return np.pad(strokes, ((0, 0), (6, 6), (6, 6)))[..., None], truth


def digits_told(model: Classifier, images: np.ndarray, truth: np.ndarray) -> Outcomes:
    """What a model says of images of digits, and how sure it is."""
    probabilities = model.predict_proba(images)
    label = probabilities.argmax(axis=1).astype(np.int64)
    confidence = probabilities.max(axis=1).astype(np.float64)
    return Outcomes(label, confidence, label == truth, tuple(map(str, range(10))), truth)


def _falls(name: str, comparison: SetComparison) -> list[Row]:
    """The fall of accuracy, printed to be there, and that of matched samples, printed to be narrower."""
    gap, matched = comparison.gap, comparison.matched_gap
    falls = "agrees" if gap.interval.lower > 0 else "undecided"
    narrower = "agrees" if matched.interval.upper < gap.interval.lower else "undecided"
    share = f"{100 * comparison.n_pairs / comparison.n_target:.0f} % of targets matched"
    return [
        Row(f"{name}fall of accuracy", percent(gap.value, gap.interval), "falls", falls),
        Row(
            f"{name}fall of matched samples",
            f"{percent(matched.value, matched.interval)}, {share}",
            "narrower",
            narrower,
        ),
    ]


def average_case_4(bench: Bench) -> list[Row]:
    """Figures 3 and 4 of Han et al., on MNIST: do classes differ in robustness, and does MMSE show it?"""
    with (bench.home / "average-case.txt").open("a") as log, redirect_stdout(log):
        study = case_study_average_case.main("mnist", n_seeds=bench.size(2, 10, 10))
    means, gap = study["means"].mean(axis=0), study["gap"]
    least, most = means.argmin(), means.argmax()
    differ = "agrees" if study["p"].max() < 0.05 else "differs"
    return [
        Row(
            "classes differ (largest Kruskal-Wallis p of all seeds)", f"{study['p'].max():.1e}", "significantly", differ
        ),
        Row("least and most robust digit", f"{least}: {means[least]:.3f}, {most}: {means[most]:.3f}"),
        Row("gap between them, over seeds", case_study_average_case.shown(gap), "", ""),
        Row("mean |MMSE - Monte-Carlo|, 200 images", f"{study['error']:.4f}", "accurately", ""),
    ]


def quality_of_lenet(bench: Bench) -> list[Row]:
    """Figures 4 and 5 of the test-quality paper with LeNet on MNIST."""
    return quality_figures(bench, LeNet(n_epochs=bench.size(5, 10, 20)), bench.size(6000, 20_000, 60_000))


def quality_of_resnet(bench: Bench) -> list[Row]:
    """The same with ResNet-20, of which an epoch takes as long as some twenty of LeNet."""
    return quality_figures(bench, ResNet20(n_epochs=bench.size(2, 4, 20)), bench.size(2000, 6000, 60_000))


def quality_figures(bench: Bench, network: PaperNetwork, n_train: int) -> list[Row]:
    """Equivalence partitioning and its kin of the test set of MNIST, as a network sees it."""
    from touchstone.core.evaluate.test_quality.quality import measure_quality
    from touchstone.core.models.layers import layer_names, layer_of
    from touchstone.core.models.networks import one_torch_thread

    x, x_test, y, y_test = reproduce_test_quality.mnist()
    few = np.random.default_rng(0).choice(len(y), n_train, replace=False)
    model = reproduce_test_quality.trained(network, x[few], y[few])
    with one_torch_thread():
        layer = layer_of(model, layer_names(model)[0])
        train = layer.samples(model.inputs(x[few]), y[few], name="training samples")
        test = layer.samples(model.inputs(x_test), y_test, name="test samples")
        table = measure_quality(train, test, rng=np.random.default_rng(0)).table()
    print(table.round(3).to_string(index=False))
    right = float((test.predicted == y_test).mean())
    rows = [Row("test accuracy", f"{100 * right:.2f} %")]
    for dimension, of in table[table["label"].notna()].groupby("dimension", sort=False):
        least, most = of.loc[of["value"].idxmin()], of.loc[of["value"].idxmax()]
        ends = f"{least['label']}: {_three(least)} to {most['label']}: {_three(most)}"
        shifted = of.loc[of["p_holm"] < 0.05, "label"].tolist()
        told = f"unlike the training set: {', '.join(map(str, shifted))}" if shifted else "as the training set"
        if dimension == "equivalence partitioning":
            unequal = of.loc[(of["upper"] < 1) | (of["lower"] > 1), "label"].tolist()
            verdict = f"differs in {', '.join(map(str, unequal))}" if unequal else "agrees"
            rows.append(Row(f"{dimension}, least and most", f"{ends}; {told}", "equal over classes", verdict))
        else:
            rows.append(Row(f"{dimension}, least and most", f"{ends}; {told}", "little variance"))
    return rows


def _three(row: pd.Series) -> str:
    return f"{row['value']:.3f} [{row['lower']:.3f}, {row['upper']:.3f}]"


def folds_1(bench: Bench) -> list[Row]:
    """Table 1 of Wecker et al. on SST-2: F1 of the positive class by fold, our models in the place of theirs."""
    files = [pd.read_csv(DATA / f"sst2_{part}.tsv", sep="\t", quoting=3) for part in ("train", "dev")]
    table = pd.concat(files, ignore_index=True).drop_duplicates("sentence")
    few = np.random.default_rng(0).permutation(len(table))[: bench.size(3000, 20_000, len(table))]
    table = table.iloc[np.sort(few)]
    text, y = table["sentence"].to_numpy(object), table["label"].to_numpy(np.int64)
    dataset = Dataset("SST-2", "text", text, y, ("negative", "positive"), list(map(str, table.index)))
    plan = FoldPlan(schemes=("random_folds", "sds_folds"), models=("logistic",), seeds=(0,))
    tested = rows_of_run(bench.rows(plan, dataset), dataset)
    performance = fold_performance(tested, metric=ScoredBy("f1", "positive"))
    rows, deviations = [], []
    for scheme, title in {"sds_folds": "SDS K-means", "random_folds": "Randomized"}.items():
        values = np.array([fold.score.value for fold in performance.runs_of(scheme, "logistic")[0].folds])
        folds, mean, deviation = FOLDS_1[title]
        rows.append(Row(f"{title}, by fold", " ".join(f"{100 * v:.1f}" for v in values), " ".join(map(str, folds))))
        mean_and_deviation = f"{100 * values.mean():.1f}, {100 * values.std():.1f}"
        rows.append(Row(f"{title}, mean and deviation", mean_and_deviation, f"{mean}, {deviation}"))
        deviations.append(values.std())
    (pair,) = performance.differences
    sign = 1 if pair.scheme == "sds_folds" else -1
    lower, upper = sorted(sign * end for end in (pair.difference.interval.lower, pair.difference.interval.upper))
    below = "agrees" if upper < 0 else "differs" if lower > 0 else "undecided"
    ours = percent(sign * pair.difference.value, Interval(lower, upper))
    rows.append(Row("mean of SDS folds less random ones", ours, "-1.7", below))
    wider = deviations[0] > deviations[1]
    larger = Row("deviation is larger on SDS folds", "yes" if wider else "no", "yes", "agrees" if wider else "differs")
    return [*rows, larger]


@dataclass(frozen=True)
class Piece:
    """A table or figure: what it shows, and how it is run again."""

    what: str
    run: Callable[[Bench], list[Row]]


PIECES: dict[tuple[str, str], Piece] = {
    ("000", "table-1"): Piece("MNIST, models by source finder", sources_1),
    ("000", "tables-2-3"): Piece("MNIST, by training-set size", sources_2_and_3),
    ("001", "figure-3"): Piece("CIFAR-10 and 10.1, accuracies", matched_cifar),
    ("001", "figure-5"): Piece("MNIST and semeion, matched subsets", matched_digits),
    ("001", "figure-6"): Piece("MNIST and semeion, many models, by confidence only", matched_models),
    ("002", "figure-4"): Piece("MNIST, robustness by class", average_case_4),
    ("003", "figure-4"): Piece("MNIST, LeNet, dimensions of test quality", quality_of_lenet),
    ("003", "figure-5"): Piece("MNIST, ResNet-20, dimensions of test quality", quality_of_resnet),
    ("004", "table-1"): Piece("SST-2, folds made to differ", folds_1),
}


def reproduce(paper: str, table: str, scale: str, home: Path, *, stored: bool = False) -> None:
    """Run a piece, keep what came of it, and print it."""
    bench, clock, load = Bench(home, scale, stored=stored), time.perf_counter(), os.getloadavg()[0]
    try:
        rows = PIECES[paper, table].run(bench)
    finally:
        bench.close()
    result = {
        "paper": paper,
        "table": table,
        "scale": scale,
        "date": str(date.today()),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f} to {os.getloadavg()[0]:.1f}",
        "seconds": round(time.perf_counter() - clock),
        "trials": bench.trials,
        "rows": [asdict(row) for row in rows],
    }
    with (home / "results.jsonl").open("a") as file:
        file.write(json.dumps(result) + "\n")
    show(result)


def show(result: dict) -> None:
    """Print a result as a table, and how much of it agrees."""
    print(
        f"\n## {result['paper']} {result['table']} ({PIECES[result['paper'], result['table']].what}), {result['scale']}"
    )
    print(f"{result['date']}, {result['machine']}, {result['seconds']} s of clock {' '.join(result['trials'])}\n")
    print("| | ours [95 %] | printed | verdict |\n|---|---|---|---|")
    for row in result["rows"]:
        print(f"| {row['what']} | {row['ours']} | {row['printed']} | {row['verdict']} |")
    verdicts = [row["verdict"] for row in result["rows"] if row["verdict"]]
    print(f"\n{verdicts.count('agrees')} of {len(verdicts)} agree.")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paper", nargs="?", choices=sorted({paper for paper, _ in PIECES}))
    options.add_argument("table", nargs="?")
    options.add_argument("--scale", choices=SCALES, default="small")
    options.add_argument("--home", type=Path, default=Path("reproduction"))
    options.add_argument("--stored", action="store_true", help="run no more trials, and take those that are stored")
    given = options.parse_args()
    if (given.paper, given.table) in PIECES:
        reproduce(given.paper, given.table, given.scale, given.home, stored=given.stored)
    else:
        for (paper, table), piece in PIECES.items():
            print(f"{paper} {table:12} {piece.what}")


if __name__ == "__main__":
    main()
