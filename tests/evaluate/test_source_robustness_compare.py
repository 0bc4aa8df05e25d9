"""Can two models be told apart, and what would it take?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.populations import SCHEMES, Population, failed_row, frame
from touchstone.core.evaluate.source_robustness import (
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
)


def simulated(shifts, *, population=None, seed=0, **options) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = (population or Population(n_classes=4)).data(rng)
    return pd.concat(
        [data.trials(rng, model=model, shift=shift, **options) for model, shift in shifts.items()], ignore_index=True
    )


def test_the_difference_is_that_of_the_rhos_and_all_pairs_are_there():
    trials = simulated({"a": 0.0, "b": 0.5, "c": 1.0})
    rhos = {row.model: row.rho.value for row in expected_accuracy_intervals(trials).overall}
    comparisons = compare_models(trials)
    assert [(c.model, c.other) for c in comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    for c in comparisons:
        assert c.difference.value == pytest.approx(rhos[c.model] - rhos[c.other])
        assert c.difference.p_sources_corrected >= c.difference.p_sources
        assert c.difference.over_sources.width >= c.difference.over_draws.width * 0.9


def test_pairing_tells_apart_what_the_single_intervals_do_not():
    trials = simulated({"a": 0.0, "b": 0.35})
    a, b = (row.rho.over_sources for row in expected_accuracy_intervals(trials).overall)
    assert a.upper > b.lower
    (comparison,) = compare_models(trials)
    assert comparison.claim.decision == "below"
    assert comparison.difference.over_sources.width < 0.6 * min(a.width, b.width)


def test_swapping_the_models_turns_the_sign():
    trials = simulated({"a": 0.0, "b": 0.5})
    (one,), (other,) = compare_models(trials), compare_models(trials.iloc[::-1])
    assert (other.model, other.other) == ("b", "a")
    assert other.difference.value == pytest.approx(-one.difference.value)
    assert other.difference.over_sources.lower == pytest.approx(-one.difference.over_sources.upper)
    assert other.difference.p_draws == pytest.approx(one.difference.p_draws)


def test_only_draws_that_both_finished_count():
    trials = simulated({"a": 0.0, "b": 0.5})
    lost = (trials["model"] == "b") & (trials["scheme"] == "source_exclusive") & (trials["repeat"] >= 15)
    failed = frame([failed_row(model="b", scheme="source_exclusive", repeat=r) for r in range(15, 20)])
    (comparison,) = compare_models(pd.concat([trials[~lost], failed], ignore_index=True))
    both = trials[(trials["scheme"] != "source_exclusive") | (trials["repeat"] < 15)]
    (expected,) = compare_models(both)
    assert comparison == expected
    assert comparison.n_draws == 15


def test_pairs_are_the_same_whether_all_models_finished_all_draws_or_each_pair_is_counted_by_itself():
    trials = simulated({"a": 0.0, "b": 0.5, "c": 1.0})
    late = (trials["model"] == "c") & (trials["repeat"] == 19)
    known = trials.assign(source_finder="known")
    for whole, cut in ((trials, trials[~late]), (pd.concat([trials, known]), pd.concat([trials[~late], known[~late]]))):
        at_once = [c for c in compare_models(whole) if c.other == "b"]
        by_itself = [c for c in compare_models(cut) if c.other == "b"]
        assert [uncorrected(c) for c in at_once] == [uncorrected(c) for c in by_itself]
        assert len(at_once) == whole["source_finder"].nunique()


def uncorrected(comparison: ModelComparison) -> ModelComparison:
    without = replace(comparison.difference, p_draws_corrected=0.0, p_sources_corrected=0.0)
    return replace(comparison, difference=without)


def test_models_without_a_draw_in_common_are_not_compared_yet():
    trials = simulated({"a": 0.0, "b": 0.5})
    assert compare_models(trials[(trials["model"] == "a") | (trials["repeat"] < 0)]) == ()
    assert compare_models(trials[trials["scheme"] == "source_inclusive"]) == ()
    apart = ((trials["model"] == "a") & (trials["repeat"] < 10)) | ((trials["model"] == "b") & (trials["repeat"] >= 10))
    assert compare_models(trials[apart]) == ()
    assert compare_models(frame([])) == ()


def test_the_repeats_that_are_said_to_be_needed_do_tell():
    """Draw again as often as it says: the expected interval over draws then just about leaves out zero."""
    shifts, population = {"a": 0.0, "b": 0.12}, Population(n_classes=4, training_sd=0.4)
    needed = [compare_models(simulated(shifts, population=population, seed=seed))[0] for seed in range(6)]
    chosen = next(c for c in needed if not c.told_apart_on_these_data and c.n_repeats_needed)
    assert chosen.n_repeats_needed > chosen.n_draws
    factor = chosen.n_repeats_needed / chosen.n_draws
    half = chosen.difference.over_draws.width / 2
    assert half / np.sqrt(factor) <= abs(chosen.difference.value)


def test_the_same_model_twice_needs_no_number_of_repeats():
    trials = simulated({"a": 0.0})
    (comparison,) = compare_models(pd.concat([trials, trials.assign(model="twin")], ignore_index=True))
    assert comparison.difference.value == 0
    assert comparison.difference.p_sources == 1
    assert comparison.n_repeats_needed is None
    assert np.isnan(comparison.sources_needed)


def test_every_two_models_are_compared_once():
    comparisons = compare_models(simulated({"a": 0.0, "b": 0.5, "c": 1.0}, schemes=SCHEMES))
    assert [(each.model, each.other) for each in comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
