"""Shared intervals against second opinions, and their laws."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    fisher_p,
    growing_interval,
    holm,
    joined,
    moderated_variances,
    share_interval,
    t_interval,
    t_p_value,
    wilson,
)

shares = st.floats(0, 1)
errors = st.floats(0, 2)
dfs = st.floats(0.5, 500)
some_effect = st.floats(0.001, 2) | st.floats(-2, -0.001)
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(st.integers(1, 500), st.data())
def test_wilson_is_scipys_as_far_as_the_exact_interval_of_one_side(n, data):
    right = data.draw(st.integers(0, n))
    expected = stats.binomtest(right, n).proportion_ci(method="wilson")
    least = stats.binomtest(right, n, alternative="greater").proportion_ci(method="exact").low
    most = stats.binomtest(right, n, alternative="less").proportion_ci(method="exact").high
    interval = wilson(float(right), float(n))
    ends = min(expected.low, least), max(expected.high, most)
    assert (interval.lower, interval.upper) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("n", [5, 20, 50, 200, 1000])
def test_wilson_holds_every_share_near_0_and_1(n):
    right = np.arange(n + 1)
    ends = np.array([(each.lower, each.upper) for each in (wilson(float(k), float(n)) for k in right)])
    near = np.linspace(0.01 / n, min(8 / n, 0.3), 400)
    for share in [*near, *(1 - near)]:
        held = (ends[:, 0] <= share) & (share <= ends[:, 1])
        assert stats.binom.pmf(right[held], n, share).sum() > 0.93, share


def test_wilson_of_nothing_is_unknown():
    assert not wilson(0.0, 0.0).known


@given(st.floats(-5, 5), st.floats(1e-3, 2), dfs)
def test_t_interval_and_p_value_are_scipys_and_agree_with_each_other(value, se, df):
    interval, p = t_interval(value, se, df), t_p_value(value, se, df)
    assert (interval.lower, interval.upper) == pytest.approx(stats.t.interval(0.95, df, loc=value, scale=se))
    assert p == pytest.approx(2 * stats.t.sf(abs(value) / se, df))
    if abs(p - 0.05) > 1e-9:
        assert interval.holds(0.0) == (p > 0.05)


@pytest.mark.parametrize(("se", "df"), [(float("nan"), 4.0), (0.1, 0.0)])
def test_without_an_error_or_degrees_of_freedom_nothing_is_known(se, df):
    assert not t_interval(0.5, se, df).known
    assert not share_interval(0.5, se, df).known
    assert np.isnan(t_p_value(0.5, se, df))


def test_where_nothing_varies_only_no_difference_is_likely():
    assert t_p_value(0.0, 0.0, 4.0) == 1
    assert t_p_value(0.1, 0.0, 4.0) == 0


@given(shares, errors, dfs)
def test_a_share_stays_a_share(share, se, df):
    interval = share_interval(share, se, df)
    assert 0 <= interval.lower <= share + 1e-12
    assert share - 1e-12 <= interval.upper <= 1


@given(st.integers(1, 2000), st.integers(1, 2000), st.data())
def test_fishers_test_is_scipys(n, other_n, data):
    hits, other_hits = (data.draw(st.integers(0, most)) for most in (n, other_n))
    table = [[hits, n - hits], [other_hits, other_n - other_hits]]
    assert fisher_p(hits, n, other_hits, other_n) == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-6)


@given(st.floats(0.3, 0.7), st.floats(1e-4, 2e-3))
def test_with_a_small_error_the_scales_agree(value, se):
    plain = t_interval(value, se, 20.0)
    other = share_interval(value, se, 20.0)
    assert (other.lower, other.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-4)


def test_joining_keeps_what_is_unknown():
    assert joined(UNKNOWN, Interval(0.0, 1.0)) is UNKNOWN
    assert joined(Interval(0.4, 0.5), Interval(0.45, 0.7)) == Interval(0.4, 0.7)


@given(p_values)
def test_holm_by_its_definition(values):
    """The i-th smallest is multiplied by the number of those not smaller, and none falls below a smaller one's."""
    order = np.argsort(values, kind="stable")
    expected, highest = np.zeros(len(values)), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, (len(values) - rank) * values[place])
        expected[place] = min(highest, 1.0)
    assert holm(values) == pytest.approx(expected)


@given(p_values)
def test_holm_lies_between_the_plain_value_and_bonferronis(values):
    corrected = np.array(holm(values))
    assert (corrected >= np.array(values)).all()
    assert (corrected <= np.minimum(np.array(values) * len(values), 1) + 1e-12).all()


def test_holm_passes_over_what_is_not_known():
    corrected = holm([0.02, float("nan"), 0.04])
    assert corrected[0] == pytest.approx(0.04)
    assert np.isnan(corrected[1])
    assert corrected[2] == pytest.approx(0.04)


def test_moderated_variances_solve_smyths_equations():
    rng = np.random.default_rng(3)
    variances, df = np.exp(rng.normal(size=12)) * rng.chisquare(4, 12), 4.0
    logs = np.log(variances) - special.digamma(df / 2) + np.log(df / 2)
    spread = logs.var(ddof=1) - special.polygamma(1, df / 2)
    prior_df = 2 * optimize.brentq(lambda x: special.polygamma(1, x) - spread, 1e-3, 1e5)
    prior = np.exp(logs.mean() + special.digamma(prior_df / 2) - np.log(prior_df / 2))
    moderated, dfs_ = moderated_variances(variances, np.full(12, df))
    assert moderated == pytest.approx((prior_df * prior + df * variances) / (prior_df + df))
    assert dfs_ == pytest.approx(np.full(12, prior_df + df))


@given(st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=12), st.integers(2, 20))
def test_moderation_keeps_the_order_and_draws_together(values, df):
    variances = np.array(values)
    moderated, degrees = moderated_variances(variances, np.full(len(values), float(df)))
    assert (np.diff(moderated[np.argsort(variances)]) >= -1e-9 * moderated.max()).all()
    assert np.ptp(moderated) <= np.ptp(variances) * (1 + 1e-9)
    assert (degrees >= df * (1 - 1e-9)).all()
    assert (degrees <= df * len(values) * (1 + 1e-9)).all()


def test_too_few_variances_stay_as_they_are_and_unknown_ones_unknown():
    variances, degrees = np.array([1.0, 2.0]), np.array([4.0, 4.0])
    assert moderated_variances(variances, degrees)[0] is variances
    with_gap, df = moderated_variances(np.array([1.0, np.nan, 2.0, 1.5]), np.array([4.0, 0.0, 4.0, 4.0]))
    assert np.isnan(with_gap).tolist() == [False, True, False, False]
    assert df[1] == 0


@given(some_effect, st.floats(0.01, 2), st.floats(1, 1.5))
def test_a_growing_interval_holds_every_effect_whose_own_test_lets_it_stand(value, half_at_0, times):
    """By brute force: the half width of each effect on a grid goes with its share of the estimate, by variance."""
    half = half_at_0 * times
    interval = growing_interval(value, half_at_0, half)
    effects = np.linspace(-4 * (abs(value) + half), 4 * (abs(value) + half), 4001)
    share = np.minimum(np.abs(effects) / max(abs(value), 1e-12), 1.0)
    stands = np.abs(value - effects) <= np.sqrt(half_at_0**2 + (half**2 - half_at_0**2) * share)
    step = effects[1] - effects[0]
    assert interval.lower == pytest.approx(effects[stands][0], abs=1.5 * step)
    assert interval.upper == pytest.approx(effects[stands][-1], abs=1.5 * step)


@given(some_effect, st.floats(0, 2), st.floats(0, 2))
@example(0.7573272429372905, 0.0, 0.0)
def test_a_growing_interval_leaves_out_0_where_the_test_of_no_effect_does(value, half_at_0, more):
    interval = growing_interval(value, half_at_0, half_at_0 + more)
    if abs(abs(value) - half_at_0) > 1e-9:
        assert interval.holds(0.0) == (abs(value) < half_at_0)
    assert interval.holds(value)
