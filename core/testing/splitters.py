"""What does a splitter promise? Schemes that cut all samples into folds."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import numpy as np

from touchstone.core.data import DataError
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.scheme import NO_FOLD, FoldScheme
from touchstone.core.split.units import folds_of_units


def samples_to_cut() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels and sources of sixty samples.

    Examples
    --------
    >>> [len(each) for each in samples_to_cut()]
    [60, 60, 60]
    """
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [20, 17, 23]))
    sources = rng.integers(0, 5, size=60)
    return np.column_stack([y + rng.normal(size=60), sources + rng.normal(size=60)]), y, sources


def read_by(scheme: Any, x: np.ndarray) -> np.ndarray:
    """What a scheme reads as X: one number per row where it needs one."""
    return x[:, :1] if scheme.needs == "values" else x


def splitter_is_a_frozen_dataclass(name: str, scheme: type) -> None:
    """It has the fields that all have, first and with the usual defaults, and facts and a column of its own."""
    made = scheme()
    assert is_dataclass(made), "it is no dataclass"
    own = [field.name for field in fields(made)]
    assert own[:2] == ["n_folds", "seed"], f"its first fields are {own[:2]}, not n_folds and seed"
    assert (made.n_folds, made.seed) == (5, 0), "it makes 5 folds from seed 0, unless something else is asked for"
    needs = {"features", "labels", "groups", "values", "nothing"}
    assert made.needs in needs, f"it needs {made.needs!r}, which is none of {', '.join(sorted(needs))}"
    columns = [other.column for other in FOLD_SCHEMES.values()]
    assert columns.count(made.column) == 1, f"another scheme is called {made.column!r} in files"
    try:
        made.seed = 1
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("its fields can be changed: write @dataclass(frozen=True)")
    assert hash(made) == hash(scheme())


def splitter_serves_in_scikit_learn(name: str, scheme: type) -> None:
    """In `cross_val_score`, and in a search over frames, series and names."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score

    x, y, sources = samples_to_cut()
    x, made = read_by(scheme, x), scheme(n_folds=4, seed=2)
    scores = cross_val_score(LogisticRegression(), x, y, groups=sources, cv=made)
    by_hand = [LogisticRegression().fit(x[a], y[a]).score(x[b], y[b]) for a, b in made.split(x, y, sources)]
    assert scores.tolist() == by_hand
    n_splits = made.get_n_splits(x, y, sources)
    assert len(scores) == n_splits, f"`get_n_splits` says {n_splits}, and there are {len(scores)} splits"

    names, frame = pd.Series(np.array(["ant", "bee", "cat"])[y]), pd.DataFrame(x).rename(columns=str)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=check_cv(scheme(n_folds=3)))
    search.fit(frame, names, groups=pd.Series(sources).astype(str))
    assert search.n_splits_ == scheme(n_folds=3).get_n_splits(frame, names, sources)


def splitter_takes_lists_and_names(name: str, scheme: type) -> None:
    """They give the same folds as arrays and numbers."""
    x, y, sources = samples_to_cut()
    made, x = scheme(n_folds=3, seed=4), read_by(scheme, x)
    labels = np.array(["ant", "bee", "cat"])[y].tolist()
    writers = np.array(["ann", "bob", "cem", "dan", "eve"])[sources].tolist()
    again = made.assign(x.tolist(), labels, writers)
    np.testing.assert_array_equal(made.assign(x, y, sources), again, err_msg="lists or names give other folds")


def splitter_checks_its_fields(name: str, scheme: type) -> None:
    """A single fold and a negative seed are refused in words, by a DataError."""
    for field in ({"n_folds": 1}, {"seed": -1}):
        _refused(f"{field}", scheme, **field)


def splitter_refuses_what_it_cannot_read(name: str, scheme: type) -> None:
    """What it needs and is not there, is no number or never varies is refused in words, by a DataError."""
    x, y, sources = samples_to_cut()
    made = scheme(n_folds=3)
    if scheme.label_exact:
        _refused("labels that are not there", made.assign, read_by(scheme, x), None, sources)
    if scheme.needs == "features":
        _refused("features that are not there", made.assign, None, y)
        _refused("features that are words", made.assign, np.array([["a", "b"]] * 60), y)
        _refused("a missing feature", made.assign, np.where(np.arange(60)[:, None] == 7, np.nan, x), y)
    if scheme.needs == "groups":
        _refused("sources that are not there", made.assign, x, y)
        _refused("a missing source", made.assign, x, y, np.where(np.arange(60) == 3, np.nan, sources))


def _refused(what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    try:
        function(*arguments, **named)
    except DataError:
        return
    except Exception as problem:
        raise AssertionError(f"{what}: {type(problem).__name__} in the place of a DataError") from problem
    raise AssertionError(f"{what}: it is not refused")


def splitter_keeps_what_it_promises(name: str, scheme: type) -> None:
    """Whatever the data, the number of folds and the seed: folds are whole, the same again, and as even as is said."""
    n_made = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n_folds = int(rng.integers(2, 8))
        n_rows = int(rng.integers(max(n_folds, 12), 40))
        x = rng.integers(0, 4, size=(n_rows, 2)).astype(float) if seed % 3 == 0 else rng.normal(size=(n_rows, 2))
        x[0] = x[1] + 1.0  # never all the same
        x = x[:, 0] + 10 * x[:, 1] if scheme.needs == "values" else x
        y, sources = rng.choice([0, 0, 0, 1, 1, 2, 3], n_rows), rng.integers(0, 9, n_rows)
        try:
            folds_as_promised(scheme(n_folds=n_folds, seed=seed), x, y, sources)
        except DataError:
            continue
        n_made += 1
    assert n_made >= 10, f"of 30 small data sets it refuses {30 - n_made}"


def folds_as_promised(scheme: FoldScheme, x: np.ndarray, y: np.ndarray, sources: np.ndarray) -> None:
    """Assert what a scheme promises of its folds of some data; DataError where it refuses these.

    Examples
    --------
    >>> folds_as_promised(FOLD_SCHEMES["random_folds"](), *samples_to_cut())
    """
    folds, n_splits = scheme.assign(x, y, sources), scheme.get_n_splits(x, y, sources)
    assert folds.shape == y.shape, f"there are {folds.shape} folds of {y.shape} rows"
    assert folds.dtype == np.int64, f"folds are {folds.dtype}, not int64"
    there, expected = set(folds.tolist()), {0, NO_FOLD} if scheme.single else set(range(n_splits))
    assert there == expected, f"folds are called {sorted(there)}, not {sorted(expected)}"
    np.testing.assert_array_equal(folds, scheme.assign(x, y, sources), err_msg="the same seed gives other folds")

    splits = list(scheme.split(x, y, sources))
    assert len(splits) == n_splits
    for fold, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(test, np.flatnonzero(folds == fold))
        np.testing.assert_array_equal(train, np.flatnonzero(folds != fold))

    table = np.zeros((y.max() + 1, n_splits), dtype=int)  # rows of each label (row) in each fold (column)
    np.add.at(table, (y[folds != NO_FOLD], folds[folds != NO_FOLD]), 1)
    if scheme.same_size and not scheme.single:
        assert np.ptp(table.sum(axis=0)) <= 1, "folds differ by more than one sample, though `same_size` says no"
    if scheme.single:
        n_test = min(max(round(len(y) / scheme.n_folds), 1), len(y) - 1)
        assert table.sum() == n_test, f"the test part has {table.sum()} samples, not {n_test}"
        assert (np.abs(table[:, 0] - np.bincount(y) * n_test / len(y)) < 1).all(), "labels are not those of the whole"
    elif scheme.label_exact:
        assert np.ptp(table, axis=1).max() <= 1, "a label is spread unevenly, though `label_exact` says no"


def splitter_keeps_units_whole(name: str, scheme: type) -> None:
    """No unit is in two folds, and where each sample is one, nothing changes."""
    x, y, sources = samples_to_cut()
    x, made = read_by(scheme, x), scheme(n_folds=3)
    as_it_is, by_unit = (folds_of_units(made, units, x, y, sources) for units in (None, np.arange(60)))
    np.testing.assert_array_equal(by_unit, as_it_is, err_msg="units of one sample give other folds")
    units = np.arange(60) // 2
    folds = folds_of_units(made, units, x, y[units * 2], sources[units * 2])
    assert all(len(set(folds[units == unit].tolist())) == 1 for unit in range(30)), "a unit is in two folds"


LAWS = (
    splitter_is_a_frozen_dataclass,
    splitter_serves_in_scikit_learn,
    splitter_takes_lists_and_names,
    splitter_checks_its_fields,
    splitter_refuses_what_it_cannot_read,
    splitter_keeps_what_it_promises,
    splitter_keeps_units_whole,
)
"""What is asked of an entry."""
