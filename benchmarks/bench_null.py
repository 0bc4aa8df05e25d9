"""Are held-out clusters called harder than a cloud explains where classes have no groups? And in real data?

Prints the two tables of docs/measured/null.md; asserts nothing. Drawn worlds: `--data-sets N` of each (20), two seeds
of the method each. Real data: digits and wine of scikit-learn, three draws of MNIST (``../shared/data``).
"""

import argparse
import os
import platform
from collections.abc import Iterable, Iterator
from datetime import date

import numpy as np
import pandas as pd

from benchmarks.true_sources import DATA
from tests.worlds.null_worlds import WORLDS
from tests.worlds.world import World
from touchstone.core.data import Dataset
from touchstone.core.data.examples import load_example
from touchstone.core.evaluate.source_robustness.parametric_null import KIND, ParametricNullPlan, cloud_gaps
from touchstone.core.trials import Context

N_DRAWN = 6000
COLUMNS = "world", "claims", "mean excess", "half-width", "seeds disagree", "one seed undecided"
OF_REAL = "data", "n", "gap", "copula clouds", "Gaussian clouds", "excess, 95 % CI", "claim"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data-sets", type=int, default=20)
    n = arguments.parse_args().data_sets
    print(f"# The null, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(row(COLUMNS) + "\n" + "|---" * len(COLUMNS) + "|")
    for world in WORLDS:
        print(row(drawn(world, n)), flush=True)
    print("\n" + row(OF_REAL) + "\n" + "|---" * len(OF_REAL) + "|")
    for name, dataset in real():
        print(row(held_against_clouds(name, dataset)), flush=True)


def row(cells: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def drawn(world: World, n: int) -> tuple[str, ...]:
    """What is claimed of data sets of a world with two seeds of the method each, and by how much it is exceeded."""
    pairs = [[world.claims(seed, 1000 * seed + turn)[KIND] for turn in range(2)] for seed in range(n)]
    first = [claim for claim, _ in pairs]
    decisions = [{claim.decision for claim in pair} for pair in pairs]
    half = [(claim.interval.upper - claim.interval.lower) / 2 for claim in first]
    return (
        world.name,
        f"{sum(claim.decision == 'above' for claim in first)} of {n}",
        f"{100 * np.mean([claim.estimate for claim in first]):.1f}",
        f"{100 * np.mean(half):.1f}",
        f"{sum(len(each - {'undecided'}) > 1 for each in decisions)} of {n}",
        f"{sum(len(each) > 1 and 'undecided' in each for each in decisions)} of {n}",
    )


def real() -> Iterator[tuple[str, Dataset]]:
    """Data sets with a name each."""
    for name in ("digits", "wine"):
        yield name, load_example(name)
    if not (DATA / "mnist.npz").is_file():
        print("MNIST: not run, for ../shared/data is not beside this checkout")
        return
    with np.load(DATA / "mnist.npz", allow_pickle=False) as file:
        x, y = (np.concatenate([file[f"{name}_train"], file[f"{name}_test"]]) for name in ("x", "y"))
    for seed in range(3):
        rows = np.random.default_rng(seed).choice(len(y), size=N_DRAWN, replace=False)
        images, names = x[rows][..., None] / np.float32(255), tuple(map(str, range(10)))
        ids = list(map(str, rows))
        yield (
            f"MNIST, {N_DRAWN:,} drawn, seed {seed}",
            Dataset("MNIST", "image", images, y[rows], names, ids, scale=255.0),
        )


def held_against_clouds(name: str, dataset: Dataset) -> tuple[str, ...]:
    """The gap of a data set, those of its clouds, and what is claimed of them; in points."""
    plan = ParametricNullPlan()
    gaps = cloud_gaps(pd.concat([plan.run_trial(dataset, i, context=Context()) for i in range(plan.n_trials(dataset))]))
    copula, excess = 100 * gaps.copula, gaps.claim.interval
    return (
        name,
        f"{gaps.n_samples:,}",
        f"{100 * gaps.observed:.1f}",
        f"{copula.mean():.1f} [{copula.min():.1f}, {copula.max():.1f}]",
        f"{100 * gaps.gaussian.mean():.1f}",
        f"{100 * gaps.claim.estimate:.1f} [{100 * excess.lower:.1f}, {100 * excess.upper:.1f}]",
        gaps.claim.decision,
    )


if __name__ == "__main__":
    main()
