"""Which sources does a network find? How each search ended, as it stands in the report of such a run: no verdict."""

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.report.parts import Answer, Section, Table
from touchstone.core.trials import SourcesPlan, notes_in

NO_VERDICT = "Sources were found by training networks. This run has no verdict; other questions use its sources."


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: SourcesPlan) -> Answer:
    """Everything about a run, from the rows of its trials."""
    columns = {"clustering": "Clustering", "n_tries": "Tries", "options": "Options", "note": "Note", "status": "Status"}
    searches = rows.loc[rows["row"].isna(), list(columns)].rename(columns=columns).fillna("")
    return Answer(None, (), (Section("", (NO_VERDICT, *notes_in(plan, rows), Table(plan.title, searches))),))
