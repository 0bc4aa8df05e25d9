"""What if the truth is in one file and the predictions in another? They join by id, or by line; models pair by name."""

from dataclasses import replace

from core.data.errors import DataError, RolesNeeded
from core.data.limits import File, Limits
from core.data.predictions.contents import PredictionTable, prediction_table
from core.data.predictions.files import read_prediction_table
from core.data.predictions.guess import complete_roles, guess_roles
from core.data.predictions.matching import matching_rows
from core.data.predictions.roles import Part, Roles
from core.data.predictions.truth import find_truth, fold_truth
from core.data.tables import Table

_FROM_TRUTH = ("truth", "set", "fold", "source", "task", "trial")


def join_predictions(
    truth: File | Table,
    predictions: File | Table,
    *,
    roles: Roles | None = None,
    truth_roles: Roles | None = None,
    name: str | None = None,
    limits: Limits | None = None,
) -> PredictionTable:
    """Read the truth, or how rows are divided into sets, folds or sources, from one file and predictions from another.

    Rows join by id where both files have ids, or by another column that names every row in both, and by line where
    nothing speaks against it and there are as many; `notes` say which. RolesNeeded asks where columns contradict that.
    `truth_roles` and `roles` say what the columns of each are, or are guessed; the roles of what was joined before, or
    of a question about it, do for both. DataError where ids do not join, with
    the counts both ways, or where both files hold a truth and these differ.

    >>> from core.data.tables import make_table
    >>> truth = make_table("truth.tsv", ["id", "label"], [["a", "b"], ["cat", "dog"]], lines=[2, 3])
    >>> said = make_table("said.tsv", ["id", "label"], [["b", "a"], ["dog", "dog"]], lines=[2, 3])
    >>> join_predictions(truth, said).select().correct
    array([ True, False])
    """
    known = truth if isinstance(truth, Table) else read_prediction_table(truth, limits=limits)
    said = predictions if isinstance(predictions, Table) else read_prediction_table(predictions, limits=limits)
    known, said = fold_truth(known, said)
    confirmed = roles is not None and roles.says_something and (roles.has_truth or truth_roles is not None)
    if roles is not None and truth_roles is None:
        roles, truth_roles = _apart(roles, known, said)
    question = None
    try:
        roles = complete_roles(said, roles, half="predictions")
    except RolesNeeded as needed:  # the truth may answer it
        question, roles = needed, needed.guess
    truth_roles, roles = find_truth(known, truth_roles, said, roles)
    rows, roles, note = matching_rows(known, truth_roles, said, roles, confirmed=confirmed)
    joined, roles = _with_columns(known.take(rows), truth_roles, said, roles)
    if not roles.has_truth:
        raise DataError(
            f"{known.name} and {said.name}: neither holds the truth. Give a column such as 'gold' in one of them."
        )
    if question is not None and not roles.says_something:
        try:
            roles = complete_roles(joined, roles)
        except DataError:
            raise question from None
    return prediction_table(replace(joined, notes=(*said.notes, *known.notes, note)), roles=roles, name=name)


def in_joined(column: str, said: Table, known: Table) -> str:
    """What a column of the truth is called beside the predictions: by its own name, unless these have one like it."""
    return column if column not in said.columns else f"{column} ({known.name})"


def _with_columns(known: Table, truth_roles: Roles, said: Table, roles: Roles) -> tuple[Table, Roles]:
    """The predictions with the columns that the truth, its rows in their order, has a role for; and all the roles."""
    columns = dict(said.columns)

    def add(role: str, column: str) -> str:
        new = in_joined(column, said, known)
        columns[new] = known.columns[column]
        return new

    for role in _FROM_TRUTH:
        column = getattr(truth_roles, role)
        if column is None:
            continue
        own = getattr(roles, role)
        if own is not None:
            _check_same(role, own, column, known, said)
            continue
        roles = replace(roles, **{role: add(role, column)}).because(
            **{role: dict(truth_roles.why).get(role, "as given")}
        )
    truths = {part.name: part.truth for part in truth_roles.parts if part.truth is not None}
    if truths:
        parts = (
            replace(part, truth=add("truth", truths[part.name])) if part.name in truths else part
            for part in roles.parts
        )
        roles = replace(roles, parts=tuple(parts))
    elif roles.truth is not None and roles.task is None and any(part.kind == "task" for part in roles.parts):
        # one truth for all that stand side by side: these are models
        roles = replace(roles, parts=tuple(replace(part, kind="model") for part in roles.parts), model=None)
    return replace(said, columns=columns), roles


def _apart(roles: Roles, known: Table, said: Table) -> tuple[Roles, Roles | None]:
    """Roles of joined files as those of the predictions, and those of the truth, whose ids have to be guessed."""
    columns = {role: getattr(roles, role) for role in _FROM_TRUTH}
    moved = {role: column for role, column in columns.items() if column is not None and column not in said.columns}
    truths = {part.name: part.truth for part in roles.parts if part.truth and part.truth not in said.columns}
    if not moved and not truths:
        return roles, None
    suffix = f" ({known.name})"
    own = {role: column.removesuffix(suffix) for role, column in moved.items()}
    parts = tuple(Part("task", name, truth=column.removesuffix(suffix)) for name, column in truths.items())
    left = tuple(replace(part, truth=None) if part.name in truths else part for part in roles.parts)
    return replace(roles, **dict.fromkeys(moved), parts=left), Roles(id=guess_roles(known).id, parts=parts, **own)


def _check_same(role: str, own: str, column: str, known: Table, said: Table) -> None:
    other = known.strings(column)
    differing = [row for row, (a, b) in enumerate(zip(said.strings(own), other, strict=True)) if a != b]
    if differing:
        raise DataError(
            f"{said.place(differing[0])}: {role} is {said.strings(own)[differing[0]]!r} here (column {own!r}) but "
            f"{other[differing[0]]!r} in {known.name} (column {column!r}), and in {len(differing):,} of "
            f"{said.n_rows:,} rows in all. Are these the same rows? Leave one of the two columns out."
        )


def pair_models(reference: PredictionTable, target: PredictionTable) -> tuple[list[tuple[str, str]], list[str]]:
    """Which model of one file is which of another, and the models that stand in one of them only.

    Models of the same name are the same; so are those whose paths end alike, where only one does in either file; and
    the only model of one file is paired with the only one of the other, whatever their names (`same_model` tells). A
    file that names no model has none to pair.

    >>> from core.data.predictions.files import read_predictions
    >>> from core.data.tables import make_table
    >>> def file(*models):
    ...     columns = [[str(row) for row in range(2)], ["a", "b"], ["a", "a"], list(models)]
    ...     return prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "model"], columns, lines=[2, 3]))
    >>> pair_models(file("here/resnet", "vit"), file("/home/me/resnet", "mlp"))
    ([('here/resnet', '/home/me/resnet')], ['vit', 'mlp'])
    """
    left, right = list(reference.models), list(target.models)
    if len(left) == len(right) == 1:
        return [(left[0], right[0])], []
    pairs = [(model, model) for model in left if model in right]
    left = [model for model in left if (model, model) not in pairs]
    right = [model for model in right if (model, model) not in pairs]
    for model in list(left):
        same = [other for other in right if same_model(other, model)]
        if len(same) == 1 and sum(same_model(other, model) for other in left) == 1:
            pairs.append((model, same[0]))
            left.remove(model)
            right.remove(same[0])
    order = {model: position for position, model in enumerate(reference.models)}
    return sorted(pairs, key=lambda pair: order[pair[0]]), [*left, *right]


def same_model(one: str, other: str) -> bool:
    """Whether two names, or the ends of two paths, are the same.

    >>> same_model("here/resnet", "/home/me/resnet"), same_model("resnet", "vit")
    (True, False)
    """
    return _last(one) == _last(other)


def _last(model: str) -> str:
    return model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
