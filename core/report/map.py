"""Where do the samples lie? What the report of a run says that worked out a map: no verdict, and no rows of data."""

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.wording import plural
from touchstone.core.report.parts import Answer, Section
from touchstone.core.trials import MapPlan


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: MapPlan) -> Answer:
    """Everything about a run, from the rows of its trial."""
    n = plural(len(rows), "sample")
    sentence = (
        f"A map of {n} was computed. This run has no verdict, and its points are rows of data, which reports leave out."
    )
    return Answer(None, (), (Section("", (sentence,)),))
