"""How accurate is a model on new samples? What the report of a run says that holds labels which came back."""

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.guided_tests.few_labels import FewLabelsPlan, accuracy_in_words, accuracy_of_rows
from touchstone.core.report.parts import Answer, Quantity, Section, Table

STRATA = (
    "Strata go from the most confident samples to the least. The interval is 95 %, of the samples without a label. Its "
    "lower end is Wilson's at the number of random labels that would be as informative. Its upper end is Clopper and "
    "Pearson's."
)


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: FewLabelsPlan) -> Answer:
    """Everything about a run, from the row of its trial."""
    labelled = accuracy_of_rows(rows)
    assert labelled is not None, "a run without results is answered before"
    strata = pd.DataFrame(plan.strata, columns=["Wrong", "Labelled", "Samples"])
    strata.insert(0, "Stratum", range(1, len(strata) + 1))
    n = labelled.n_labels
    numbers = (Quantity("few_labels.accuracy", (plan.pool,), labelled.accuracy, labelled.interval, n),)
    sentence = accuracy_in_words(labelled, n_skipped=plan.n_skipped)
    section = Section("", (sentence, Table(f"Labels of {plan.pool}", strata, caption=STRATA)))
    return Answer(None, (), (section,), numbers)
