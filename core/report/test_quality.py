"""Did classes shift between training and test? The figure with its caption and the table of a run of covariate "
"shift."""

from functools import partial

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan, shift_of_rows, shift_verdict
from touchstone.core.evaluate.wording import p_value
from touchstone.core.figures import test_quality as figures
from touchstone.core.report.parts import Answer, Column, Figure, Section, Table


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: CovariateShiftPlan) -> Answer:
    """Everything about a run, from the rows of its trials."""
    return answer(shift_of_rows(rows, plan, dataset.class_names, unit=dataset.unit_word))


def answer(found: CovariateShift) -> Answer:
    """Everything about a run."""
    return Answer(shift_verdict(found), (), (Section("", (shift_figure(found), table(found))),))


def shift_figure(found: CovariateShift) -> Figure:
    """Every class beside what re-splits of it give."""
    return Figure(
        "shift",
        partial(figures.shift_chart, found),
        "Grey boxes: re-splits of the same samples, which also differ by chance. A dot beyond its box has shifted; "
        "its bar is the Monte-Carlo error.",
    )


def table(found: CovariateShift) -> Table:
    """A line for each class."""
    of = found.table()
    lines = pd.DataFrame(
        {
            "Class": of["label"],
            "Training": of["n_train"],
            "Test": of["n_test"],
            "Divergence": of["divergence"],
            "Error": of["error"],
            "By chance": of["null_mean"],
            "Beyond": of["excess"],
            "p": [p_value(p).removeprefix("p ").removeprefix("= ") for p in of["p_corrected"]],
            "Kept (%)": 100 * of["kept_variance"],
            "Components": [
                f"{train} / {test}"
                for train, test in zip(of["n_train_components"], of["n_test_components"], strict=True)
            ],
        }
    )
    decimals = {"Divergence": 3, "Error": 4, "By chance": 3, "Beyond": 3, "Kept (%)": 1}
    return Table(
        "Covariate shift of every class", lines, tuple(Column(name, "", decimals=n) for name, n in decimals.items())
    )
