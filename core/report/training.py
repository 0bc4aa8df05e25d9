"""How did a network get trained? Its epochs, as they stand in the report of such a run: no verdict."""

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.models.stopping import CEILING_REACHED, ENDED, LEARNED, NOT_LEARNED, PLATEAU
from touchstone.core.report.parts import Answer, Section, Table
from touchstone.core.trials import TrainingPlan

NO_VERDICT = (
    "A network was trained and stored. This run has no verdict. Below: its epochs and its accuracy on held-out samples."
)


MOST_LINES = 50
"""Of so many epochs every one is listed, of more every second, third, …"""
HOW = {
    LEARNED: "Training ended when its loss on the training part was nearly 0.",
    PLATEAU: "Training ended when its loss on the training part fell no more.",
    ENDED: "Training ended while the loss was still falling: more epochs might give a better network.",
    CEILING_REACHED: "Training ended at the most updates allowed, while the loss was still falling.",
    NOT_LEARNED: "The network learned nothing: its loss stayed near that of guessing.",
}
"""Why a training ended, as the report says it."""


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: TrainingPlan) -> Answer:
    """Everything about a run, from the rows of its trial."""
    how = rows["stopped"].dropna() if "stopped" in rows else []
    ended = [HOW[one] for one in how if one in HOW]
    columns = {"epoch": "Epoch", "loss": "Loss", "seconds": "Seconds", "accuracy": "Accuracy", "status": "Status"}
    *epochs, total = rows.index
    shown = rows.loc[[*epochs[:: -(-len(epochs) // MOST_LINES) or 1], total]]
    lines = shown[list(columns)].rename(columns=columns)
    return Answer(None, (), (Section("", (NO_VERDICT, *ended, Table("Epochs; the last line is the total", lines))),))
