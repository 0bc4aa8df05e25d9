"""How hard are held-out clusters of data without groups? The gaps side by side, and the one sentence they allow."""

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.source_robustness import parametric_null
from touchstone.core.evaluate.wording import count, fixed
from touchstone.core.report.parts import Answer, Column, Section, Table


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: parametric_null.ParametricNullPlan) -> Answer:
    """Everything about a run, from the rows of its trials."""
    gaps = parametric_null.cloud_gaps(rows)
    return Answer(
        None, (), (Section("", (parametric_null.cloud_sentence(gaps.claim), gap_table(gaps, dataset.n_samples))),)
    )


def gap_table(gaps: parametric_null.CloudGaps, n_samples: int) -> Table:
    """The gap of the data, and the mean and spread of those of each kind of cloud, in percentage points."""
    of_shape = {
        "These data": np.array([gaps.observed]),
        "Simulated data with the same marginals and rank correlations": gaps.copula,
        "Gaussian data with the same covariances": gaps.gaussian,
    }
    used = f"{count(gaps.n_samples)} of {count(n_samples)} samples" if gaps.n_samples < n_samples else "All samples"
    caption = (
        f"Gap: accuracy on clusters seen in training less that on held-out ones, by a linear discriminant. {used}, in "
        f"{count(gaps.n_dimensions)} dimensions."
    )
    return Table.of(
        "Held-out clusters beside those of data without groups",
        (row for row in of_shape.items() if len(row[1]) and not np.isnan(row[1]).any()),
        (
            Column("", lambda row: row[0]),
            Column("Clouds", lambda row: len(row[1])),
            Column("Gap (points)", lambda row: fixed(100 * row[1].mean(), 1)),
            Column("Lowest to highest", lambda row: _ends(row[1])),
        ),
        caption,
    )


def _ends(gaps: np.ndarray) -> str:
    return "" if len(gaps) < 2 else f"{fixed(100 * gaps.min(), 1)} to {fixed(100 * gaps.max(), 1)}"
