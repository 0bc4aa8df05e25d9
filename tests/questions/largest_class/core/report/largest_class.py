"""How large is the largest class? The verdict and its figure."""

import pandas as pd
from touchstone.core.evaluate.largest_class import LargestClassPlan, largest_class_verdict
from touchstone.core.figures.largest_class import draws_chart

from touchstone.core.data import Dataset
from touchstone.core.report.parts import Answer, Figure, KeyNumber, Section


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: LargestClassPlan) -> Answer:
    figure = Figure("draws", lambda *, dark=False: draws_chart(rows, dark=dark), "Each dot is a draw.")
    draws = KeyNumber("Draws", str(len(rows)))
    return Answer(largest_class_verdict(rows), (draws,), (Section("", (figure,)),))
