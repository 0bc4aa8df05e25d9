"""With scikit-learn's metadata routing, schemes that read sources get them, as scikit-learn's own splitters do."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from touchstone.core.split.folds import FOLD_SCHEMES, GroupFolds
from touchstone.core.split.scheme import DRAW_SCHEMES

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1, 2], [20, 17, 23]))
SOURCES = RNG.integers(0, 5, size=60)
X = np.column_stack([Y + RNG.normal(size=60), SOURCES + RNG.normal(size=60)])

READ_SOURCES = [
    *("group_folds", "leave_one_group_out", "source_inclusive_folds"),
    *("source_exclusive", "source_inclusive"),
]


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def made(name: str):
    return DRAW_SCHEMES[name](n_repeats=3) if name in DRAW_SCHEMES else FOLD_SCHEMES[name](n_folds=3)


@pytest.mark.parametrize("name", READ_SOURCES)
def test_sources_reach_the_scheme(name):
    scheme = made(name)
    scores = cross_val_score(KNeighborsClassifier(), X, Y, cv=scheme, params={"groups": SOURCES})
    by_hand = [KNeighborsClassifier().fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in scheme.split(X, Y, SOURCES)]
    assert scores.tolist() == by_hand


def test_every_scheme_that_needs_sources_asks_for_them():
    needing = {name for name, scheme in FOLD_SCHEMES.items() if scheme.needs == "groups"}
    asking = {n for n, one in {**DRAW_SCHEMES, **FOLD_SCHEMES}.items() if hasattr(one, "get_metadata_routing")}
    assert needing <= set(READ_SOURCES) == asking


def test_a_search_within_a_validation_keeps_sources_whole_on_both_levels():
    shared = []  # sources on both sides of an inner split; the scheme is copied with the search, this is not

    class Watched(GroupFolds):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                shared.append(set(groups[train]) & set(groups[test]))
                yield train, test

    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=Watched(n_folds=2))
    given = {"params": {"groups": SOURCES}, "return_estimator": True, "return_indices": True}
    ours = cross_validate(search, X, Y, cv=GroupFolds(n_folds=3), **given)
    assert shared == [set()] * 6
    for train, test in zip(ours["indices"]["train"], ours["indices"]["test"], strict=True):
        assert not set(SOURCES[train]) & set(SOURCES[test])
    theirs = cross_validate(search.set_params(cv=GroupKFold(2)), X, Y, cv=GroupKFold(3), **given)
    assert len(theirs["test_score"]) == len(ours["test_score"])


@pytest.mark.parametrize("scheme", [StratifiedKFold(3), FOLD_SCHEMES["stratified_folds"](n_folds=3)])
def test_sources_for_a_scheme_that_reads_none_are_refused_as_scikit_learn_does(scheme):
    with pytest.raises(TypeError, match="groups"):
        cross_val_score(KNeighborsClassifier(), X, Y, cv=scheme, params={"groups": SOURCES})
