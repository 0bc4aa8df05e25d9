"""How did a network get trained? Its epochs, as they stand in the report of such a run: no verdict."""

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.report.parts import Answer, Section, Table
from touchstone.core.trials import TrainingPlan

NO_VERDICT = (
    "A network was trained and stored. This run has no verdict. Below: its epochs and its accuracy on held-out samples."
)


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: TrainingPlan) -> Answer:
    """Everything about a run, from the rows of its trial."""
    columns = {"epoch": "Epoch", "loss": "Loss", "seconds": "Seconds", "accuracy": "Accuracy", "status": "Status"}
    lines = rows[list(columns)].rename(columns=columns)
    return Answer(None, (), (Section("", (NO_VERDICT, Table("Epochs; the last line is the total", lines))),))
