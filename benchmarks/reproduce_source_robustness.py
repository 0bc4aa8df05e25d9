"""Tables 1 to 3 of Kilinc & Uysal 2017 on MNIST, all 70,000 pooled as in the paper: ours beside the printed values.

`python -m benchmarks.reproduce_source_robustness --subset 10000 --models svm,mlp_small,cnn_1 --epochs 4` takes hours on
two cores. Every finished trial is a file in a folder of `--out` for its data and epochs, so that the next call goes on
from there; `--report` only prints. On a GPU the repeats of a network train together, 16 at a time.
Networks are tested after the last epoch and at the best one on the test part, as in the paper. Asserts nothing.
"""

import argparse
import os
import platform
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import date
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from tests.papers.source_aware_robustness import CNNS, INTERVALS
from tests.papers.source_aware_robustness import MODELS as TABLE_1
from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, SIZES, AdequacyPlan
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.results import ExpectedValue
from touchstone.core.models import MODELS
from touchstone.core.models.networks import PaperNetwork
from touchstone.core.split.scheme import Split
from touchstone.core.trials import Context, Draw, found_in, needed_by, notes_in, sources_at_hand
from touchstone.core.trials.epochs import Fitted, predict_at, untrained
from touchstone.core.trials.run import table_of
from touchstone.core.trials.trial_plan import predict_together

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "mnist.npz"
SCHEMES = ("source_exclusive", "source_inclusive")
EPOCHS = ("last", "best")
PRINTED = {"svm": "SVM", "mlp_2048": "MLP", "cnn_1": "CNN-1", "cnn_2": "CNN-2", "cnn_3": "CNN-3"}
CLUSTERINGS = {"kmeans": "k-means", "acol": "ACOL"}
PRINTED_SIZES = {100: "100", 300: "300", 1000: "1K", 3000: "3K", 10_000: "10K", 30_000: "30K", ALL: "56K"}


@dataclass(frozen=True)
class Budget:
    """What is to be run, and where its results are."""

    subset: int
    repeats: int
    epochs: int | None
    models: tuple[str, ...]
    finders: tuple[str, ...]
    sizes: tuple[int, ...]
    out: Path

    @property
    def folder(self) -> Path:
        """Where the trials on these data and with so many epochs are: others are never taken for them."""
        return self.out / f"{mnist(self.subset).fingerprint[:12]}-epochs-{self.epochs or 'usual'}"

    def plan(self, finder: str) -> AdequacyPlan:
        """The draws of one source finder; random splits know of no sources, so that one finder's are enough."""
        schemes = (*SCHEMES, "random") if finder == self.finders[0] else SCHEMES
        return AdequacyPlan(
            models=self.models,
            source_finders=(finder,),
            schemes=schemes,
            n_repeats=self.repeats,
            n_clusterings=1,
            sizes=(*self.sizes, ALL),
        )


@dataclass(frozen=True)
class Trial:
    """One model on one draw and training-set size."""

    draw: Draw
    size: int
    model: str

    @property
    def file(self) -> str:
        """The name of the file of its rows: the same whatever else the budget holds."""
        return f"{self.draw.source_finder}-{self.draw.scheme}-{self.draw.repeat}-{self.size}-{self.model}.parquet"


@cache
def mnist(subset: int) -> Dataset:
    """So many of the 70,000 images, at random; 0 for all."""
    with np.load(DATA, allow_pickle=False) as file:
        x, y = (np.concatenate([file[f"{name}_train"], file[f"{name}_test"]]) for name in ("x", "y"))
    rows = np.arange(len(y)) if not subset else np.sort(np.random.default_rng(0).choice(len(y), subset, replace=False))
    names = tuple(map(str, range(10)))
    images = x[rows][..., None] / np.float32(255)
    return Dataset("MNIST", "image", images, y[rows].astype(np.int64), names, list(map(str, rows)), scale=255.0)


def trials(budget: Budget) -> list[Trial]:
    """All there are: table 1 first, repeat by repeat; the smaller training sets of tables 2 and 3 for CNNs alone."""
    dataset, found = mnist(budget.subset), []
    for finder in budget.finders:
        plan = budget.plan(finder)
        for draw in plan.trial_plan.draws(dataset):
            for size in plan.fitting(dataset):
                if size == ALL or (draw.scheme in SCHEMES and finder == budget.finders[-1]):
                    models = [name for name in budget.models if size == ALL or name.startswith("cnn")]
                    found += [(size != ALL, draw.repeat, Trial(draw, size, model)) for model in models]
    return [trial for _, _, trial in sorted(found, key=lambda one: one[:2])]


def in_groups(left: list[Trial], at_once: int) -> list[list[Trial]]:
    """Trials of one network and training-set size together, where more than one is to be trained at once."""
    alike: dict[tuple, list[Trial]] = {}
    for trial in left:
        network = at_once > 1 and issubclass(MODELS[trial.model], PaperNetwork)
        alike.setdefault((trial.model, trial.size) if network else (trial,), []).append(trial)
    return [of[first : first + at_once] for of in alike.values() for first in range(0, len(of), at_once)]


def sources(budget: Budget) -> dict:
    """The sources of the finders that train a network: found once, and kept in a file."""
    dataset, found = mnist(budget.subset), {}
    for finder in budget.finders:
        for plan in needed_by(budget.plan(finder), dataset):
            file = budget.folder / f"sources-{finder}.parquet"
            if not file.exists():
                print(f"Finding sources: {plan.title}", flush=True)
                told = Context(report=lambda done, of, what: print(f"  {what} {done} of {of}", flush=True))
                keep(plan.run_trial(dataset, 0, context=told), file)
            rows = pd.read_parquet(file)
            found |= found_in(plan, rows)
            for note in notes_in(plan, rows):
                print(f"NOTE on {plan.title}: {note}", flush=True)
    return found


def run(budget: Budget, found: dict, trials: list[Trial], *, together: bool) -> list[str]:
    """Fit, test at both epochs, and keep the rows; gives a line for each trial."""
    dataset, model = mnist(budget.subset), MODELS[trials[0].model]
    with sources_at_hand(dataset.fingerprint, found):
        plans = [budget.plan(trial.draw.source_finder) for trial in trials]
        splits = [plan.split(dataset, one.draw, one.size) for plan, one in zip(plans, trials, strict=True)]
        seeds = [plan.trial_plan.fit_seed(one.draw) for plan, one in zip(plans, trials, strict=True)]
        epochs = budget.epochs if issubclass(model, PaperNetwork) else None
        if together and issubclass(model, PaperNetwork):
            fitted = predict_together(EPOCHS, untrained(model, epochs), dataset, splits, seeds=seeds, should_stop=never)
        else:
            fitted = [
                predict_at(EPOCHS, untrained(model, epochs), dataset, split, seed=seed, should_stop=never)
                for split, seed in zip(splits, seeds, strict=True)
            ]
        return [store(budget, *one) for one in zip(plans, trials, splits, fitted, strict=True)]


def store(budget: Budget, plan: AdequacyPlan, trial: Trial, split: Split, fitted: Fitted) -> str:
    """Keep the rows of a trial, and say in a line what came of it."""
    dataset, draw = mnist(budget.subset), trial.draw
    about = {"model": trial.model, **fitted.about}
    rows = [
        table_of([plan.trial_plan.counted(dataset, draw, labels, split=split, **about)]).assign(
            size=trial.size, epoch=epoch
        )
        for epoch, labels in fitted.predicted.items()
    ]
    keep(pd.concat(rows, ignore_index=True), budget.folder / trial.file)
    right = {epoch: (labels == dataset.y[split.test]).mean() for epoch, labels in fitted.predicted.items()}
    accuracy = ", ".join(f"{epoch} {value:.4f}" for epoch, value in right.items())
    where = f"{draw.source_finder} {draw.scheme} {draw.repeat}"
    return f"{where} n={len(split.train)} {trial.model}: {accuracy}, {fitted.seconds:.0f} s"


def never() -> bool:
    return False


def keep(rows: pd.DataFrame, file: Path) -> None:
    """Write a file whole or not at all."""
    part = file.with_suffix(f".{os.getpid()}")
    rows.to_parquet(part, index=False)
    part.replace(file)


def work_off(budget: Budget, n_processes: int, at_once: int) -> None:
    """Run the missing trials, side by side."""
    left = [trial for trial in trials(budget) if not (budget.folder / trial.file).exists()]
    found, done = sources(budget), 0
    print(f"{len(left)} trials left, {n_processes} processes, {at_once} networks at once", flush=True)
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:  # CUDA does not survive a fork
        groups = in_groups(left, at_once)
        for future in as_completed([pool.submit(run, budget, found, of, together=at_once > 1) for of in groups]):
            for line in future.result():
                done += 1
                print(f"{done} of {len(left)}: {line}", flush=True)


def report(budget: Budget) -> None:
    """Tables 1 to 3, ours beside the printed ones, as far as the trials have come."""
    files = [budget.folder / trial.file for trial in trials(budget)]
    there = [file for file in files if file.exists()]
    print(f"\n# Tables of source-aware robustness, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"{len(there)} of {len(files)} trials; n = {len(mnist(budget.subset).y)}; epochs {budget.epochs or 'usual'}")
    if not there:
        return
    rows = pd.concat([pd.read_parquet(file) for file in there], ignore_index=True)
    of_size = rows["size"].to_numpy()
    for epoch in EPOCHS:
        print(f"\n## Table 1, networks tested at the {epoch} epoch")
        table_1(rows[(rows["epoch"] == epoch).to_numpy() & (of_size == ALL)].drop(columns=["size", "epoch"]))
    optimism(rows[of_size == ALL])
    cnns = rows[
        rows["model"].str.startswith("cnn").to_numpy() & (rows["source_finder"] == budget.finders[-1]).to_numpy()
    ]
    for finder in budget.finders:
        for plan in needed_by(budget.plan(finder), mnist(budget.subset)):
            for note in notes_in(plan, pd.read_parquet(budget.folder / f"sources-{finder}.parquet")):
                print(f"\nNote on {plan.title}: {note}")
    if (cnns["size"] != ALL).any():
        print(f"\n## Tables 2 and 3, sources by {budget.finders[-1]}, networks tested at the best epoch")
        tables_2_and_3(cnns[(cnns["epoch"] == "best").to_numpy()], whole=not budget.subset)


def table_1(rows: pd.DataFrame) -> None:
    intervals = expected_accuracy_intervals(rows)
    print("| model | sources | E[AccX] | E[AccI] | rho | sd AccX | sd AccI | random | AccI - random | printed |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for one in intervals.overall:
        printed = TABLE_1.get(PRINTED.get(one.model, ""), {}).get(CLUSTERINGS.get(one.source_finder, ""))
        less = one.inclusive_less_random
        cells = [
            *(MODELS[one.model].label, one.source_finder),
            *(percent(one.exclusive), percent(one.inclusive), ratio(one.rho)),
            *(f"{100 * one.exclusive.sd:.2f}", f"{100 * one.inclusive.sd:.2f}"),
            percent(one.random, sources=False) if one.random.n_draws else "",
            f"{100 * less.value:+.2f} [{100 * less.over_draws.lower:+.2f}, {100 * less.over_draws.upper:+.2f}]"
            if one.random.n_draws
            else "",
            "" if printed is None else f"[{printed[0]:.2f}, {printed[1]:.2f}] {printed[2]:.3f}",
        ]
        print(f"| {' | '.join(cells)} |")
    print("\nPairs of models, differences of rho on the draws that both finished, corrected over all pairs (Holm):")
    for pair in compare_models(rows):
        told = pair.difference
        ends = f"[{told.over_sources.lower:+.3f}, {told.over_sources.upper:+.3f}]"
        draws = f"[{told.over_draws.lower:+.3f}, {told.over_draws.upper:+.3f}]"
        says = (
            "separate"
            if pair.claim.decision in ("above", "below")
            else "separate on these data only"
            if pair.told_apart_on_these_data
            else ("no significant difference")
        )
        print(
            f"- {pair.source_finder}: {pair.model} less {pair.other} {told.value:+.3f}, over sources and samples "
            f"{ends}, over draws {draws}, n = {pair.n_draws} draws: {says}"
        )


def optimism(rows: pd.DataFrame) -> None:
    """How much the best epoch flatters, draw by draw."""
    whole = rows[rows["label"].isna().to_numpy() & rows["source"].isna().to_numpy()]
    whole = whole.assign(accuracy=whole["n_correct"] / whole["n_test"])
    draw = ["model", "source_finder", "scheme", "repeat"]
    wide = whole.pivot_table(index=draw, columns="epoch", values="accuracy", aggfunc="first").astype(float)
    gain = 100 * (wide["best"] - wide["last"])
    print("\nThe best epoch less the last one, in points, mean over draws with 1.96 standard errors:")
    for (model, scheme), of in gain.groupby(["model", "scheme"]):
        if issubclass(MODELS[model], PaperNetwork) or model == "mlp_small":
            print(f"- {model}, {scheme}: {of.mean():+.2f} +- {1.96 * of.std() / len(of) ** 0.5:.2f}, n = {len(of)}")


def tables_2_and_3(rows: pd.DataFrame, *, whole: bool) -> None:
    """The printed values of all samples are of the `whole` data set, and stand beside those alone."""
    print("| n_train | model | E[AccX] | E[AccI] | rho | draws | printed |")
    print("|---|---|---|---|---|---|---|")
    for size in [*sorted(set(rows["size"]) - {ALL}), ALL]:
        part = rows[(rows["size"] == size).to_numpy() & rows["scheme"].isin(SCHEMES).to_numpy()]
        for one in expected_accuracy_intervals(part.drop(columns=["size", "epoch"])).overall:
            printed = INTERVALS.get(PRINTED_SIZES.get(size, "")) if size != ALL or whole else None
            x, i = printed[CNNS.index(PRINTED[one.model])] if printed else (0.0, 0.0)
            ours = f"{percent(one.exclusive)} | {percent(one.inclusive)} | {ratio(one.rho)} | {one.exclusive.n_draws}"
            theirs = f"[{x:.2f}, {i:.2f}] {x / i:.3f}" if printed else ""
            print(f"| {size or one.n_train} | {one.model} | {ours} | {theirs} |")


def percent(one: ExpectedValue, *, sources: bool = True) -> str:
    over = one.over_sources if sources else one.over_draws
    return f"{100 * one.value:.2f} [{100 * over.lower:.2f}, {100 * over.upper:.2f}]"


def ratio(one: ExpectedValue) -> str:
    return f"{one.value:.3f} [{one.over_sources.lower:.3f}, {one.over_sources.upper:.3f}]"


def names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=100)
    options.add_argument("--epochs", type=int, help="of the paper's networks; each has its usual number without it")
    options.add_argument("--models", type=names, default=tuple(PRINTED))
    options.add_argument("--finders", type=names, default=("kmeans", "acol"))
    options.add_argument("--sizes", type=names, default=tuple(str(size) for size in SIZES if size != ALL))
    options.add_argument("--subset", type=int, default=0, help="so many images; 0 for all 70,000")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options.add_argument("--processes", type=int, default=os.cpu_count())
    options.add_argument("--together", type=int, help="networks trained at once: 16 on a GPU, else 1")
    options.add_argument("--out", type=Path, default=Path("source-robustness"))
    options.add_argument("--report", action="store_true", help="only print what is there")
    given = options.parse_args()
    if given.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    sizes = tuple(int(size) for size in given.sizes)
    budget = Budget(given.subset, given.repeats, given.epochs, given.models, given.finders, sizes, given.out)
    budget.folder.mkdir(parents=True, exist_ok=True)
    if not given.report:
        work_off(
            budget,
            given.processes if given.device == "cpu" else 1,
            given.together or (1 if given.device == "cpu" else 16),
        )
    report(budget)


if __name__ == "__main__":
    main()
