"""Which columns of a table are a layer's features, which the model's scores, labels and ids? By their names."""

import numpy as np

from touchstone.core.data import DataError
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.names import compact, families
from touchstone.core.data.tables.vectors import holds_lists, of_lists

_SCORES = {
    "logits": ("logit", "logits"),
    "proba": ("proba", "prob", "probs", "probability", "probabilities", "softmax", "p"),
}
_FEATURES = ("features", "embeddings", "embedding", "vector")


def arrays_of(table: Table, keys: dict[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    """Arrays by role, as from NPZ: `keys` are the names that a role has. All other columns of numbers are features.

    Scores are a column of lists, or one column for each class, called prob_cat, prob_dog and so on, which then name the
    classes. Raises DataError, with what is expected, where there are no scores or no features.

    Examples
    --------
    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.csv", ["f0", "prob_a", "prob_b", "label"], [[1.0], [0.9], [0.1], ["a"]], lines=[2])
    >>> {role: array.tolist() for role, array in arrays_of(table, {"y": ("label",)}).items()}
    {'y': ['a'], 'proba': [[0.9, 0.1]], 'class_names': ['a', 'b'], 'features': [[1.0]]}
    """
    found: dict[str, np.ndarray] = {}
    left = dict.fromkeys(table.columns)
    for role in ("y", "ids"):
        for column in [column for column in left if compact(column) in keys.get(role, ())][:1]:
            found[role] = np.array(table.strings(column), dtype=object).astype(str)
            left.pop(column)
    for role, names in _SCORES.items():
        columns = _of_family(table, list(left), names)
        if columns:
            if "" in columns:
                found[role] = of_lists(table, columns[""])
            else:
                found[role], found["class_names"] = table.matrix(columns.values()), np.array(list(columns))
            for column in columns.values():
                left.pop(column)
            break
    lists = [column for column in left if compact(column) in _FEATURES and holds_lists(table.sample(column))]
    if lists:
        found["features"] = of_lists(table, lists[0])
        return found
    numbers = [column for column in left if table.kind(column) in ("whole", "number", "fraction")]
    if not numbers:
        raise DataError(
            f"{table.name}: there are no columns of features. Give each its column, or one column of lists."
        )
    found["features"] = table.features(numbers)
    return found


def _of_family(table: Table, columns: list[str], names: tuple[str, ...]) -> dict[str, str]:
    """Columns by class; one column of lists stands under no name."""
    whole = [column for column in columns if compact(column) in names and holds_lists(table.sample(column))]
    if whole:
        return {"": whole[0]}
    return next((of for family, of in families(columns).items() if family in names and len(of) > 1), {})
