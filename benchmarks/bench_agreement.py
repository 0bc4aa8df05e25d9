"""Do the methods agree on which samples are hard, and is what several call hard hard on fresh samples, too?

Half of each data set is worked off as *Ask all* does it: folds made to differ, one network, its robustness to noise.
Prints the rank correlations of the sheet, and the accuracy of weak slices on the other half, which is fresh; asserts
nothing. MNIST (4,037 images), SST-2 (6,000 texts) and vowels need ``../shared/data``; digits come with scikit-learn.

    python -m benchmarks.bench_agreement [digits mnist vowels sst2]
"""

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.true_sources import DATA, mnist, vowels
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.cluster_folds.tested import rows_of_run
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.overview import (
    agreement,
    agreement_by_class,
    agreement_table,
    find_slices,
    held_out_by,
    known_of_samples,
    weak_slices,
)
from touchstone.core.models import MODELS
from touchstone.core.represent import default_representation, features_for_splits
from touchstone.core.workspace import LOCAL_OWNER, Workspace
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine, usual_steps

N_SAMPLES = 6000
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


def part(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Some samples of a data set as one of its own."""
    sources = None if dataset.sources is None else dataset.sources[rows]
    ids = [str(dataset.ids[row]) for row in rows]
    of = (dataset.name, dataset.kind, dataset.x[rows], dataset.y[rows], dataset.class_names, ids)
    return Dataset(*of, sources=sources)


def some(dataset: Dataset) -> Dataset:
    """As many samples as are enough here, without sources: those of MNIST are writers of a few images each."""
    rows = np.random.default_rng(0).permutation(dataset.n_samples)[:N_SAMPLES]
    return replace(part(dataset, rows), sources=None)


CASES: dict[str, Callable[[], Dataset]] = {
    "digits": lambda: load_example("digits"),
    "mnist": lambda: some(mnist("writers")),
    "vowels": vowels,
    "sst2": sst2,
}


def worked_off(dataset: Dataset) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """What the two questions know of every sample, and who was right on which fold."""
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
        folds = rows_of_run(rows["folds"], dataset) if "folds" in rows else None
        known = known_of_samples(
            dataset,
            folds=folds,
            robustness=None if robust is None else evaluate_robustness(robust, class_names=dataset.class_names),
        )
        engine.close()
    return known, {} if folds is None else held_out_by(folds)


def halves(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The rows that are cross-examined, and the fresh ones."""
    order = np.random.default_rng(1).permutation(dataset.n_samples)
    return np.sort(order[: dataset.n_samples // 2]), np.sort(order[dataset.n_samples // 2 :])


def _away(features: np.ndarray, dataset: Dataset, members: np.ndarray, fresh: np.ndarray) -> np.ndarray:
    """How far fresh samples are from the mean of a slice; infinitely far if of no class or source of it."""
    away = np.linalg.norm(features[fresh] - features[members].mean(axis=0), axis=1)
    away[~np.isin(dataset.y[fresh], dataset.y[members])] = np.inf
    if dataset.sources is not None and len(set(dataset.sources[members])) == 1:
        away[dataset.sources[fresh] != dataset.sources[members[0]]] = np.inf
    return away


def weak_on_fresh(
    known: pd.DataFrame,
    tested: dict[str, pd.DataFrame],
    dataset: Dataset,
    rows: np.ndarray,
    fresh: np.ndarray,
) -> str:
    """The slices that half of the examined samples chose: what the other half says, and fresh samples of them.

    A fresh sample belongs to the slice of its class whose mean is nearest, or to that of its source. The model is the
    one of the folds, trained on all that was examined.
    """
    features = features_for_splits(dataset, default_representation(dataset.kind), n_components=50)
    examined = part(dataset, rows)
    slices = find_slices(examined, features[rows])
    weak = weak_slices(known, tested, slices, rng=np.random.default_rng(0))
    model = MODELS["logistic"]().fit(examined.x, examined.y, seed=0)
    right = model.predict_proba(dataset.x[fresh]).argmax(axis=1) == dataset.y[fresh]
    distances = np.column_stack(
        [_away(features, dataset, rows[slices.codes == code], fresh) for code in range(len(slices.names))]
    )
    own = distances.argmin(axis=1)
    lines = []
    for each in weak:
        inside = own == slices.names.index(each.name)
        accuracies = []
        for of in (inside, ~inside):
            ends = wilson(float(right[of].sum()), float(of.sum()))
            accuracies.append(f"{right[of].mean():.3f} [{ends.lower:.3f}, {ends.upper:.3f}] (n = {of.sum()})")
        second = f"{each.accuracy:.3f} [{each.interval.lower:.3f}, {each.interval.upper:.3f}] (n = {each.n})"
        claimed = "yes" if each.is_weak else "no"
        lines.append(f"| {each.name} | {claimed} | {second} | {accuracies[0]} | {accuracies[1]} |")
    head = (
        "| slice that one half of the examined samples chose | called weak | accuracy in the other half "
        "| on fresh samples | on the other fresh samples |\n|---|---|---|---|---|"
    )
    return "\n".join([head, *lines]) if lines else "No slice was below average by every method."


def by_class(known: pd.DataFrame) -> str:
    """The rank correlations of each class by itself, a column each."""
    table = agreement_by_class(known)
    if table.empty:
        return "No class has 20 samples that two measures know."
    said = [f"{row.rho:.2f} [{row.lower:.2f}, {row.upper:.2f}]" for row in table.itertuples()]
    marked = [text + "*" * (p < 0.05) for text, p in zip(said, table["p_holm"], strict=True)]
    wide = table.assign(rho=marked).pivot(index=["measure", "other"], columns="label", values="rho").fillna("")
    head = ["within", "and", *(f"class “{label}”" for label in wide.columns)]
    lines = [[*pair, *cells] for pair, cells in zip(wide.index, wide.to_numpy().tolist(), strict=True)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *lines])


def main(names: list[str]) -> None:
    print(f"{date.today()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    for name in names or list(CASES):
        start = time.perf_counter()
        dataset = CASES[name]()
        rows, fresh = halves(dataset)
        known, tested = worked_off(part(dataset, rows))
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
        print(f"\n{by_class(known)}")
        print(f"\n{weak_on_fresh(known, tested, dataset, rows, fresh)}")


if __name__ == "__main__":
    main(sys.argv[1:])
