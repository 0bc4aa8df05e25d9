"""The paper's story on real data: unfamiliar sources cost accuracy, familiar ones do not (sections 4-5.1)."""

import numpy as np
import pytest

from touchstone.core.cluster.finders import find_sources
from touchstone.core.data import load_example
from touchstone.core.models import MODELS
from touchstone.core.represent import encode, features_for_splits
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.scheme import DRAW_SCHEMES


@pytest.mark.evidence
def test_logistic_regression_on_digits_falls_as_it_was_seen_to_fall():
    digits = load_example("digits")
    features = encode(digits, "raw")
    accuracy = {name: [] for name in DRAW_SCHEMES}
    for clustering in range(4):
        sources = find_sources(features, digits.y, rng=np.random.default_rng(clustering))
        for name, scheme in DRAW_SCHEMES.items():
            for train, test in scheme(n_repeats=5, seed=clustering).split(None, digits.y, sources):
                fitted = MODELS["logistic"]().fit(digits.x[train], digits.y[train], seed=0)
                accuracy[name].append((fitted.predict(digits.x[test]) == digits.y[test]).mean())
    mean = {name: float(np.mean(values)) for name, values in accuracy.items()}
    assert 0.78 < mean["source_exclusive"] < 0.87
    assert 0.95 < mean["source_inclusive"] < 0.985
    assert abs(mean["random"] - mean["source_inclusive"]) < 0.015
    assert 0.81 < mean["source_exclusive"] / mean["source_inclusive"] < 0.89


@pytest.mark.evidence
def test_folds_that_differ_are_harder_in_the_order_that_was_seen():
    digits = load_example("digits")
    features = features_for_splits(digits, "raw", n_components=20)
    mean = {}
    for name in ("random_folds", "nearest_neighbour_balls", "sds_folds", "paired_source_folds", "max_shift"):
        accuracy = []
        for seed in range(2):
            for train, test in FOLD_SCHEMES[name](seed=seed).split(features, digits.y):
                fitted = MODELS["logistic"]().fit(digits.x[train], digits.y[train], seed=0)
                accuracy.append((fitted.predict(digits.x[test]) == digits.y[test]).mean())
        mean[name] = float(np.mean(accuracy))
    assert list(mean.values()) == sorted(mean.values(), reverse=True)
    assert 0.955 < mean["random_folds"] < 0.98
    assert 0.87 < mean["sds_folds"] < 0.93
    assert 0.82 < mean["paired_source_folds"] < 0.88
    assert 0.75 < mean["max_shift"] < 0.84
