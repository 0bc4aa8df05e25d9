"""Is a power law found where there is one, with its uncertainty, and is there a reason where none fits?"""

import numpy as np
import pytest

from tests.evaluate.adequacy_populations import POPULATION, SIZES, found_of, power_law, shifts_of
from touchstone.core.evaluate.data_set_adequacy.power_law import PowerLaw, fit_power_law
from touchstone.core.evaluate.data_set_adequacy.verdict import adequacy_verdict


def test_a_power_law_is_found_with_its_uncertainty():
    law = power_law(SIZES, ceiling=0.9, first=0.6, exponent=0.4)
    found = found_of(POPULATION, shifts_of(POPULATION, law), n_repeats=40, seed=1)
    learning = found.overall[0].learning["exclusive"]
    assert isinstance(learning.law, PowerLaw)
    truth = power_law([100, 20_000], ceiling=0.9, first=0.6, exponent=0.4)[20_000] - law[10_000]
    assert learning.next_gain.interval.holds(truth)
    assert learning.next_gain.interval.width < 0.1
    assert [point.n for point in learning.points][::15] == pytest.approx([100, 20_000])
    for point in learning.points:
        assert point.interval.lower < point.value < point.interval.upper
    assert "A learning curve fits on held-out sources" in adequacy_verdict(found).text
    told = found.overall[0].outlook.next_gain
    assert told.value == learning.next_gain.value, "the verdict and its curve say two things"
    assert told.interval.holds(told.value)


def test_where_no_power_law_fits_there_is_a_reason_and_no_curve():
    steps = dict(zip(SIZES, (-2.0, -1.9, -1.9, 0.5, 0.5), strict=True))
    found = found_of(POPULATION, steps, n_repeats=40)
    learning = found.overall[0].learning["exclusive"]
    assert learning.law is None
    assert learning.points == ()
    assert f"No learning curve on held-out sources: {learning.reason}" in adequacy_verdict(found).text


N = np.array([100.0, 300.0, 1000.0, 3000.0, 10_000.0])


def accuracies(rng, means, *, noise=0.004, n_draws=20):
    common = 0.02 * rng.standard_normal((n_draws, 1))  # a draw is hard, or easy, at every size
    return means + common + noise * rng.standard_normal((n_draws, len(means)))


def test_the_test_of_fit_keeps_its_level_and_sees_a_kink():
    rng, none = np.random.default_rng(0), np.arange(20) % 4
    right = [fit_power_law(N, accuracies(rng, 0.9 - 2 * N**-0.5), none) for _ in range(300)]
    assert 0.01 <= np.mean([isinstance(one, str) for one in right]) <= 0.09
    kinked = 0.9 - 2 * N**-0.5 + np.array([0, 0, -0.03, 0.0, 0.0])
    wrong = [fit_power_law(N, accuracies(rng, kinked), none) for _ in range(50)]
    assert np.mean([isinstance(one, str) for one in wrong]) > 0.95


def test_a_flat_curve_and_a_logarithm_have_no_ceiling():
    rng, none = np.random.default_rng(0), np.zeros(20, dtype=int)
    assert "does not rise" in fit_power_law(N, accuracies(rng, np.full(5, 0.8)), none)
    assert "logarithm" in fit_power_law(N, accuracies(rng, 0.02 * np.log(N), noise=0.001), none)
    assert "more than 5 repeats" in fit_power_law(N, accuracies(rng, 0.9 - 2 * N**-0.5, n_draws=5), none[:5])
    assert "same on every split" in fit_power_law(N, np.tile(0.9 - 2 * N**-0.5, (20, 1)), none)


def test_a_ceiling_is_never_above_one():
    law = fit_power_law(N, accuracies(np.random.default_rng(0), 1.0 - 1.5 * N**-0.3), np.zeros(20, dtype=int))
    assert isinstance(law, PowerLaw)
    assert law.ceiling == pytest.approx(1.0, abs=0.02)
    assert law.ceiling <= 1
    assert law.at(10_000.0) == pytest.approx(1 - 1.5 * 10_000**-0.3, abs=0.01)


def test_the_weights_of_a_curve_are_its_derivatives():
    accuracy = accuracies(np.random.default_rng(1), 0.9 - 2 * N**-0.5)
    law = fit_power_law(N, accuracy, np.zeros(20, dtype=int))
    for size in range(5):
        moved = accuracy + 1e-5 * (np.arange(5) == size)
        slope = (fit_power_law(N, moved, np.zeros(20, dtype=int)).at(20_000.0) - law.at(20_000.0)) / 1e-5
        assert law.weights(20_000.0)[size] == pytest.approx(slope, abs=0.01)
