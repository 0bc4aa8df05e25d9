"""What is each column of a file of predictions? Known by names, decided by values, and else asked."""

from core.data.predictions.columns import LIKELY, Draft, Half
from core.data.predictions.labels import only_one, tell_apart
from core.data.predictions.named import name_labels, name_rows
from core.data.predictions.parts import parts_by_name, parts_by_value
from core.data.predictions.questions import open_question
from core.data.predictions.roles import Roles
from core.data.predictions.score_columns import find_scores
from core.data.tables import Table


def guess_roles(table: Table, *, half: Half | None = None) -> Roles:
    """Say what each column is; `why` of the roles (and their `lines()`) tell how sure that is.

    `half` says that the table holds only the truth, or only the predictions, of two files. What cannot be decided stays
    None; reading the predictions then asks for it (RolesNeeded).

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["id", "label", "prediction"], [["a", "b"], ["x", "y"], ["x", "x"]], lines=[2, 3])
    >>> guess_roles(table).lines()
    ["Truth: column 'label' (likely, by its name and what else is there)",
     "Predicted label: column 'prediction' (likely, by its name and what else is there)",
     "Id: column 'id' (by its name)"]
    """
    return _draft(table, half).roles


def complete_roles(table: Table, roles: Roles | None = None, *, half: Half | None = None) -> Roles:
    """The roles to read a table with: guessed, or given and, where they lack truth or predictions, completed.

    `half` says that the table holds only the truth, or only the predictions, of two files. RolesNeeded asks what could
    not be decided; DataError where it can never be, because nothing could be the truth, or what a model said.
    """
    if roles is not None:
        roles.check(table)
        if roles.has_truth and roles.says_something:
            return roles
        if half is not None and roles.columns and (roles.has_truth or roles.says_something or half == "truth"):
            return roles
    draft = _draft(table, half, roles)
    if problem := open_question(draft):
        raise problem
    return draft.roles


def lacking(table: Table, roles: Roles | None = None) -> tuple[Half, ...]:
    """Which half a second file may hold, by what a table holds; both where its only labels may be either.

    >>> from core.data.tables import make_table
    >>> [lacking(make_table("t.tsv", ["id", name], [["a", "b", "c"], ["x", "y", "x"]], lines=[2, 3, 4]))
    ...  for name in ("gold", "predicted", "label")]
    [('predictions',), ('truth',), ('truth', 'predictions')]
    """
    roles = roles or guess_roles(table)
    either = dict(roles.why).get("truth") == LIKELY and not roles.says_something
    known: dict[Half, bool] = {"truth": roles.has_truth and not either, "predictions": roles.says_something}
    return tuple(half for half, there in known.items() if not there)


def _draft(table: Table, half: Half | None, given: Roles | None = None) -> Draft:
    """The roles, one kind of reason after the other: from names that decide to values that hint."""
    draft = Draft(table, half, given)
    if given is None:
        name_rows(draft)
    name_labels(draft)
    find_scores(draft)
    tell_apart(draft)
    if not draft.roles.says_something and half != "truth":
        parts_by_name(draft)
    if not draft.roles.says_something and draft.roles.has_truth and half is None:
        parts_by_value(draft)
    if half is not None:
        only_one(draft)
    return draft
