"""What if a file of predictions by trial holds no truth? The data set knows it: its labels join by id."""

from dataclasses import replace

import numpy as np
import pandas as pd

from touchstone.core.data import DataError, Dataset, Roles, guess_roles
from touchstone.core.data.predictions.guess import complete_roles
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.data.tables import Table

_GOLD = "gold"
_TRUTH = Roles(truth="label", id="id")


def with_labels(upload: PredictionUpload, dataset: Dataset) -> PredictionUpload:
    """The upload, with the data set's labels beside it as a second file where its own file holds no truth.

    What it then holds is all that reading it needs, so that it can be stored. Labels are given of the ids in the file
    only; where none of its ids is the data set's, all are given, and reading says how few join. Roles of the file are
    filled in as far as they can be guessed. DataError where the file cannot be read at all.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> file = GivenFile("mine.tsv", b"trial\\tid\\tlabel\\n0\\t3\\tclass_0\\n0\\t170\\tclass_0\\n")
    >>> upload = with_labels(PredictionUpload(file), load_example("wine"))
    >>> upload.truth.name, upload.read().select().accuracy
    ('wine-labels.tsv', 0.5)
    """
    said = upload.predictions
    table = read_prediction_table(said.open())
    roles = said.roles or guess_roles(table)
    if roles.has_truth and (roles.says_something or said.roles is not None):
        return upload
    labels, known = _labels(dataset, table, roles.id)
    if said.roles is None:
        said = replace(said, roles=_roles(table, known))
    return PredictionUpload(said, GivenFile(f"{dataset.name}-labels.tsv", labels, _TRUTH))


def _labels(dataset: Dataset, table: Table, id_column: str | None) -> tuple[bytes, list[str] | None]:
    """The labels as TSV and, where every row of the table has one, that of each row."""
    names = [dataset.class_names[code] for code in dataset.y]
    label_of = dict(zip(dataset.ids.astype(str).tolist(), names, strict=True))
    wanted = [] if id_column is None else table.strings(id_column)
    ids = [name for name in dict.fromkeys(wanted) if name in label_of] or list(label_of)
    content = pd.DataFrame({"id": ids, "label": [label_of[name] for name in ids]}).to_csv(sep="\t", index=False)
    complete = bool(wanted) and all(name in label_of for name in wanted)
    return content.encode(), [label_of[name] for name in wanted] if complete else None


def _roles(table: Table, labels: list[str] | None) -> Roles | None:
    """What the columns are, knowing that none is the truth; None where that has to be asked or refused.

    With the labels beside them columns are told by what they hold, too, and several are of several models.
    """
    if labels is not None:
        beside = {**table.columns, _GOLD: np.array(labels, dtype=object)}
        roles = guess_roles(Table(table.name, beside, table.lines, table.unit))
        if roles.truth == _GOLD and roles.says_something:
            return replace(roles, truth=None)
    try:
        return complete_roles(table, half="predictions")
    except DataError:  # reading the file says it, or asks
        return None
