"""Do the intervals hold what they say? Simulated, through the public function.

Here other sources leave the models as they are. The intervals allow for their being other models, too (they count
sources twice), so that they hold more than 95 %; with real models see tests/worlds/test_source_robustness_coverage.py.
"""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.coverage import NUMBERS, coverage
from tests.evaluate.populations import SCHEMES, Population
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.counts import groups
from touchstone.core.evaluate.source_robustness.expected import expected_interval


def test_what_is_simulated_is_what_the_public_function_says():
    population, rng = Population(n_classes=3), np.random.default_rng(0)
    trials = population.data(rng).trials(rng, schemes=SCHEMES)
    (group,) = groups(trials)
    (row,) = expected_accuracy_intervals(trials).overall
    again = expected_interval(row.model, row.n_train, group.layout, group.models["model"])
    assert repr(again) == repr(row)  # as text, for NaN is not equal to itself


@pytest.mark.evidence
def test_the_interval_over_sources_covers_and_the_one_over_draws_does_not():
    held = coverage(Population(n_classes=2), n_data_sets=100)
    for name in NUMBERS:
        assert held[f"{name} over sources"] >= 0.95
        assert held[f"{name} over draws"] < 0.85


@pytest.mark.evidence
@pytest.mark.parametrize(
    "population",
    [
        pytest.param(Population(n_classes=2), id="2 classes"),
        pytest.param(Population(n_classes=3), id="3 classes"),
        pytest.param(Population(n_classes=10), id="10 classes"),
        pytest.param(Population(n_classes=2, exclusive=0.95, inclusive=0.985), id="2 classes, accurate model"),
    ],
)
def test_coverage_over_a_thousand_populations(population, capsys):
    held = coverage(population, n_data_sets=1000)
    with capsys.disabled():
        print(f"\n{population}")
        for kind in ("over sources", "bootstrap", "over draws"):
            print(f"  {kind:12}", *(f"{name} {100 * held[f'{name} {kind}']:.1f} %  " for name in NUMBERS))
    for name in NUMBERS:
        assert held[f"{name} over sources"] >= 0.95


@pytest.mark.evidence
@pytest.mark.parametrize("agreement", [1.0, 0.7])
def test_four_clusterings_cover_too_and_err_on_the_safe_side(agreement, capsys):
    held = coverage(Population(n_clusterings=4, agreement=agreement), n_data_sets=250)
    with capsys.disabled():
        print(f"\n4 clusterings that agree to {agreement}:", {name: held[f"{name} over sources"] for name in NUMBERS})
    for name in NUMBERS:
        assert held[f"{name} over sources"] >= 0.95


@pytest.mark.evidence
def test_claims_of_classes_and_models_are_rarely_wrong_where_all_are_alike(capsys):
    population, rng = Population(n_classes=10, exclusive=0.9, class_sd=0), np.random.default_rng(5)
    classes, draws, sources = [], [], []
    for _ in range(150):
        data = population.data(rng)
        trials = pd.concat([data.trials(rng, model=model) for model in ("one", "other")])
        intervals = expected_accuracy_intervals(trials)
        told = [row.against_rest for row in intervals.classes_of(intervals.overall[0])]
        classes.append(any(one is not None and one.p_sources_corrected < 0.05 for one in told))
        (comparison,) = compare_models(trials)
        draws.append(comparison.told_apart_on_these_data)
        sources.append(comparison.claim.decision in ("above", "below"))
    wrong = {"classes": np.mean(classes), "models, draws": np.mean(draws), "models, sources": np.mean(sources)}
    with capsys.disabled():
        print(f"\nwrong claims where all are alike: {wrong}")
    assert max(wrong.values()) <= 0.08
