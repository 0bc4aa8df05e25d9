"""The paper's story on real data: unfamiliar sources cost accuracy, familiar ones do not (sections 4-5.1)."""

import numpy as np

from core.cluster import find_sources
from core.data import load_example
from core.models import MODELS
from core.represent import encode
from core.split import DRAW_SCHEMES


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
