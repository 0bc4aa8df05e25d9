"""Does the interval that clustering gives hold the accuracy on truly unseen sources? Where the data know their sources.

Prints a table and a sentence for each model; asserts nothing. `--out FOLDER` keeps the rows of finished trials there,
and goes on from them; `--only NAME` runs one data set, `--repeats N` draws so often (20). All in one process.

Every training part is cut to the same number of rows, whichever the sources and the scheme.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.agreement import agreement
from touchstone.core.evaluate.source_robustness.true_sources import true_source_table, true_sources
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.sources_plan import KNOWN_SOURCES
from touchstone.core.trials.trial_plan import Draw

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
N_ROWS = 4000
N_TEXTS = 2000  # each trial makes its own word weights and their SVD, which takes most of the time
KEEP_EVERY = 10  # trials
FINDERS = (KNOWN_SOURCES, "kmeans", "same_size_kmeans")
TITLES = {"svm": "SVM", "logistic": "Logistic regression", "kmeans": "k-means", "same_size_kmeans": "same-size k-means"}


@dataclass(frozen=True)
class Case:
    """A data set that knows its sources, and the size that all training parts are cut to.

    Where another case has the same samples and size, trials with found sources are the same, and are taken from there.
    """

    make: Callable[[], Dataset]
    n_train: int
    like: str | None = None


def mnist(sources: str) -> Dataset:
    """All images of as many writers, taken at random, as make 4,000 or a little more."""
    with np.load(DATA / "mnist.npz", allow_pickle=False) as file:
        x, y = (np.concatenate([file[f"{name}_train"], file[f"{name}_test"]]) for name in ("x", "y"))
    with np.load(DATA / "mnist_sources.npz", allow_pickle=False) as file:
        series = np.concatenate([file["hsf_train"], file["hsf_test"]])
        writer = np.concatenate([file["writer_train"], file["writer_test"]])
    writers, n_of_each = np.unique(writer, return_counts=True)
    order = np.random.default_rng(0).permutation(len(writers))
    enough = int(np.searchsorted(np.cumsum(n_of_each[order]), N_ROWS)) + 1
    rows = np.flatnonzero(np.isin(writer, writers[order[:enough]]))
    named = {"writers": [f"writer {w}" for w in writer[rows]], "series": [f"NIST series {s}" for s in series[rows]]}
    return Dataset(
        f"MNIST, {sources}",
        "image",
        x[rows][..., None] / np.float32(255),
        y[rows].astype(np.int64),
        tuple(map(str, range(10))),
        list(map(str, rows)),
        named[sources],
        scale=255.0,
    )


def vowels() -> Dataset:
    """All 990 vowels of 15 speakers."""
    table = pd.read_csv(DATA / "vowel_speakers.tsv", sep="\t", keep_default_na=False)
    x = table[[f"x{number}" for number in range(1, 11)]].to_numpy(np.float64)
    speakers = [f"speaker {speaker}" for speaker in table["speaker"]]
    names = tuple(map(str, range(11)))
    return Dataset(
        "vowels, speakers", "tabular", x, table["vowel"].to_numpy(), names, list(map(str, table.index)), speakers
    )


def newsgroups() -> Dataset:
    """Subjects and bodies, told by top group; the newsgroup is the source. Only tops that have several groups."""
    table = pd.read_parquet(DATA / "newsgroups20_train.parquet")
    table = table.drop_duplicates("doc_id")  # posted to several groups at once
    table = table[(table.groupby("top")["newsgroup"].transform("nunique") > 1) & (table["body"].str.strip() != "")]
    rows = np.sort(np.random.default_rng(0).choice(len(table), N_TEXTS, replace=False))
    table = table.iloc[rows]
    names, y = np.unique(table["top"].astype(str), return_inverse=True)
    texts = (table["subject"] + "\n" + table["body"]).to_numpy(object)
    sources, ids = (table[name].astype(str).tolist() for name in ("newsgroup", "doc_id"))
    return Dataset("20 newsgroups, top groups", "text", texts, y, tuple(map(str, names)), ids, sources)


CASES = {
    "vowels": Case(vowels, 600),
    "writers": Case(lambda: mnist("writers"), 1600),
    "series": Case(lambda: mnist("series"), 1600, like="writers"),
    "newsgroups": Case(newsgroups, 1000),
}


def trials(plan: TrialPlan, dataset: Dataset, kept: Path, like: Path | None) -> pd.DataFrame:
    """The rows of every trial, those that were done before from the files."""
    parts = [pd.read_parquet(kept)] if kept.exists() else []
    first = int(parts[0]["trial"].max()) + 1 if parts else 0
    same = pd.read_parquet(like) if like is not None and like.exists() else None
    n_trials, begin = plan.n_trials(dataset), time.perf_counter()
    for trial in range(first, n_trials):
        draw = plan.draws(dataset)[trial // len(plan.models)]
        if same is not None and draw.source_finder != KNOWN_SOURCES:
            parts.append(_same_trial(same, draw, plan.models[trial % len(plan.models)]).assign(trial=trial))
        else:
            parts.append(plan.run_trial(dataset, trial, context=Context()).assign(trial=trial))
        if (trial + 1) % KEEP_EVERY == 0 or trial + 1 == n_trials:
            pd.concat(parts, ignore_index=True).to_parquet(kept.with_suffix(".part"), index=False)
            kept.with_suffix(".part").replace(kept)
            print(f"  {trial + 1} of {n_trials} trials, {time.perf_counter() - begin:.0f} s", flush=True)
    return pd.concat(parts, ignore_index=True)


def _same_trial(rows: pd.DataFrame, draw: Draw, model: str) -> pd.DataFrame:
    wanted = {"model": model, "source_finder": draw.source_finder, "scheme": draw.scheme, "repeat": draw.repeat}
    return rows[np.logical_and.reduce([(rows[name] == value).to_numpy(bool) for name, value in wanted.items()])]


def report(case: Case, plan: TrialPlan, dataset: Dataset, rows: pd.DataFrame) -> None:
    """The table of true sources, a sentence each, both intervals and rho, and how far the sources agree."""
    n_sources = len(plan.source_names(dataset, KNOWN_SOURCES))
    print(f"\n## {dataset.name}: n = {len(dataset.y)}, {n_sources} known sources, n_train {case.n_train}")
    told = true_sources(rows)
    with pd.option_context("display.width", 250, "display.max_columns", None):
        print(true_source_table(told).round(4).T.to_string(header=False))
        for one in told:
            print(f"- {one.sentence(TITLES)}")
        columns = ["model", "source_finder", "exclusive", "exclusive_sd", "inclusive", "inclusive_sd", "rho"]
        ends = ["rho_sources_lower", "rho_sources_upper", "n_train"]
        table = expected_accuracy_intervals(rows).table()
        print(table[table["label"].isna()][columns + ends].round(4).to_string(index=False))
        for finder in FINDERS:
            found = plan.silhouettes(dataset, finder, 0)
            print(f"silhouette of {finder}: {found.mean_within:.4f} within classes, {found.pooled:.4f} pooled")
        print(agreement(plan, dataset).table().round(4).to_string(index=False))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--out", type=Path, default=Path("true-sources"))
    options.add_argument("--only", choices=CASES)
    options.add_argument("--repeats", type=int, default=20)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    print(f"# True sources, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    for name, case in CASES.items():
        if given.only in (None, name):
            dataset = case.make()
            plan = TrialPlan(
                models=("logistic", "svm"),
                source_finders=FINDERS,
                schemes=("source_exclusive", "source_inclusive"),
                n_repeats=given.repeats,
                n_train=case.n_train,
            )
            print(f"{dataset.name}: {plan.n_trials(dataset)} trials", flush=True)
            kept, like = (given.out / f"{one}-{given.repeats}.parquet" if one else None for one in (name, case.like))
            report(case, plan, dataset, trials(plan, dataset, kept, like))


if __name__ == "__main__":
    main()
