"""Do the methods agree on which samples are hard, and is what several call hard hard on fresh samples, too?

Each data set is worked off as *Ask all* does it: folds made to differ, one network, its robustness to noise. Prints the
rank correlations of the sheet, and the accuracy of weak classes on samples that did not choose them; asserts nothing.
MNIST (3,000 images), vowels and SST-2 (3,000 texts) need ``../shared/data``; digits come with scikit-learn.

    python -m benchmarks.bench_agreement [digits mnist vowels sst2]
"""

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.true_sources import DATA, mnist, vowels
from core.data import Dataset, load_example
from core.evaluate.average_case.robustness import evaluate_robustness
from core.evaluate.cluster_folds import rows_of_run
from core.evaluate.intervals import wilson
from core.report.samples import agreement, agreement_table, known_of_samples
from core.workspace.engine.agenda import usual_steps
from core.workspace.engine.executor import Executor
from core.workspace.engine.runner import Engine
from core.workspace.workspace import LOCAL_OWNER, Workspace

N_SAMPLES = 3000
ASKED = ("cluster_folds", "training", "average_case")
HOUR = 3600.0


def sst2() -> Dataset:
    """Sentences of film reviews, the first of the training part in an order of their own."""
    table = pd.read_csv(DATA / "sst2_train.tsv", sep="\t", keep_default_na=False)
    table = table.sample(N_SAMPLES, random_state=0)
    text, label = table.columns[0], table.columns[-1]
    names = sorted(table[label].astype(str).unique())
    y = table[label].astype(str).map(names.index).to_numpy()
    return Dataset("SST-2", "text", table[text].to_numpy(dtype=object), y, names, [str(n) for n in range(len(table))])


def some(dataset: Dataset) -> Dataset:
    """As many samples as are enough here."""
    chosen = np.random.default_rng(0).permutation(dataset.n_samples)[:N_SAMPLES]
    ids = [str(dataset.ids[row]) for row in chosen]
    return Dataset(dataset.name, dataset.kind, dataset.x[chosen], dataset.y[chosen], dataset.class_names, ids)


CASES: dict[str, Callable[[], Dataset]] = {
    "digits": lambda: load_example("digits"),
    "mnist": lambda: some(mnist("writers")),
    "vowels": vowels,
    "sst2": sst2,
}


def worked_off(dataset: Dataset) -> pd.DataFrame:
    """What the two questions know of every sample."""
    with tempfile.TemporaryDirectory() as home:
        workspace = Workspace(Path(home))
        fingerprint = workspace.add_dataset(LOCAL_OWNER, dataset)
        engine = Engine(workspace, Executor())
        steps = [step for step in usual_steps(workspace, LOCAL_OWNER, fingerprint) if step.stem in ASKED]
        agenda = engine.ask(LOCAL_OWNER, fingerprint, steps, HOUR)
        agenda.join()
        for stem, reason in agenda.left_out.items():
            print(f"{dataset.name}: {stem} left out. {reason}")
        rows = {run.kind: workspace.rows(LOCAL_OWNER, run.id) for run in workspace.runs(LOCAL_OWNER) if run.n_done}
        robust = rows.get("average_case")
        known = known_of_samples(
            dataset,
            folds=rows_of_run(rows["folds"], dataset) if "folds" in rows else None,
            robustness=None if robust is None else evaluate_robustness(robust, class_names=dataset.class_names),
        )
        engine.close()
    return known


def weak_classes(known: pd.DataFrame) -> str:
    """The class that has the lowest mean in a random half, by each measure; its accuracy in the other half, and of the
    other classes there.
    """
    correct = next((name for name in known.columns if name.startswith("correct on Random")), None)
    measures = [name for name in known.columns.drop(["id", "label"]) if name != "confidence"]
    if correct is None:
        return ""
    half = np.random.default_rng(1).random(len(known)) < 0.5
    lines = []
    for measure in measures:
        weakest = str(known[half].groupby("label")[measure].mean().idxmin())
        fresh = known[~half].dropna(subset=[correct])
        told = []
        for of in (fresh["label"] == weakest, fresh["label"] != weakest):
            n, k = int(of.sum()), float(fresh.loc[of, correct].sum())
            ends = wilson(k, float(n))
            told.append(f"{k / n:.3f} [{ends.lower:.3f}, {ends.upper:.3f}] (n = {n})")
        lines.append(f"| {measure} | {weakest} | {told[0]} | {told[1]} |")
    head = (
        "| weakest by (one half) | class | its accuracy in the other half | accuracy of the others |\n|---|---|---|---|"
    )
    return "\n".join([head, *lines])


def main(names: list[str]) -> None:
    print(f"{date.today()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    for name in names or list(CASES):
        start = time.perf_counter()
        dataset = CASES[name]()
        known = worked_off(dataset)
        table = agreement_table(agreement(known))
        print(f"\n## {dataset.name}: {dataset.n_samples} samples, {time.perf_counter() - start:.0f} s")
        if table.empty:
            print("No two measures of the same samples.")
            continue
        print("| measure | other | n | rho | within classes | p (Holm) |\n|---|---|---|---|---|---|")
        for row in table.itertuples():
            print(
                f"| {row.measure} | {row.other} | {row.n} | {row.rho:.2f} [{row.lower:.2f}, {row.upper:.2f}] "
                f"| {row.rho_within:.2f} [{row.within_lower:.2f}, {row.within_upper:.2f}] | {row.p_holm:.3f} |"
            )
        print(f"\n{weak_classes(known)}")


if __name__ == "__main__":
    main(sys.argv[1:])
