"""Data sets whose file marks parts: what a test asks of a test set of one's own."""

from dataclasses import replace

import numpy as np

from touchstone.core.data import Dataset, load_example

SHARES = {"train": 0.5, "validation": 0.2, "test": 0.3}


def marked(dataset: Dataset | None = None, shares: dict[str, float] | None = None, seed: int = 3) -> Dataset:
    """A data set (the wine data, unless another is given) whose rows are marked at random in these shares."""
    dataset, shares = dataset or load_example("wine"), shares or SHARES
    rng = np.random.default_rng(seed)
    return replace(dataset, part=rng.choice(list(shares), dataset.n_samples, p=list(shares.values())).astype(object))
