"""When may something be said? The one rule, against what it says in words."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.evaluate.claims import Claim, claim, claim_of_t, corrected
from touchstone.core.evaluate.intervals import UNKNOWN, Interval

KIND = "questions.effect"
effects = st.floats(-1, 1)
widths = st.floats(0, 1)
errors = st.one_of(st.just(0.0), st.floats(1e-6, 0.3))
p_values = st.floats(0, 1)


def turned(one: Claim) -> Claim:
    """The same claim of the opposite effect."""
    interval = Interval(-one.interval.upper, -one.interval.lower)
    return claim(KIND, -one.estimate, interval, one.p_value, smallest=one.smallest, mc_error=one.mc_error)


@st.composite
def claims(draw) -> Claim:
    estimate = draw(effects)
    interval = Interval(estimate - draw(widths), estimate + draw(widths))
    smallest = draw(st.floats(0, 0.5))
    return claim(KIND, estimate, interval, draw(p_values), smallest=smallest, mc_error=draw(errors))


@given(claims())
def test_nothing_is_said_that_interval_test_and_size_do_not_all_bear(one):
    if one.decision == "above":
        assert one.interval.lower > 0
        assert one.p_value < 0.05
        assert one.estimate >= one.smallest
        assert one.interval.lower >= 2 * one.mc_error
    if one.decision == "small":
        assert -one.smallest < one.interval.lower
        assert one.interval.upper < one.smallest


@given(claims())
def test_a_claim_of_the_opposite_effect_is_the_opposite_claim(one):
    opposite = {"above": "below", "below": "above"}.get(one.decision, one.decision)
    assert turned(one).decision == opposite
    assert turned(one).stability == pytest.approx(one.stability)


@given(claims(), errors)
def test_more_monte_carlo_error_never_says_more(one, more):
    other = claim(KIND, one.estimate, one.interval, one.p_value, smallest=one.smallest, mc_error=one.mc_error + more)
    assert other.decision in {one.decision, "undecided"}


@given(st.lists(claims(), min_size=1, max_size=6))
def test_a_family_says_no_more_than_its_members_alone(family):
    for alone, together in zip(family, corrected(family), strict=True):
        assert together.decision in {alone.decision, "undecided"}
        assert together.p_value >= alone.p_value
    assert corrected(family[:1])[0] == family[0]


@pytest.mark.parametrize(
    "unknown",
    [
        pytest.param({"interval": UNKNOWN}, id="interval"),
        pytest.param({"p_value": nan}, id="p-value"),
        pytest.param({"mc_error": nan}, id="Monte-Carlo error"),
        pytest.param({"mc_error": inf}, id="too few draws"),
    ],
)
def test_what_is_not_known_decides_nothing(unknown):
    known = {"interval": Interval(0.1, 0.3), "p_value": 0.001, "mc_error": 0.0}
    parts = known | unknown
    assert claim(KIND, 0.2, parts["interval"], parts["p_value"], mc_error=parts["mc_error"]).decision == "undecided"
    assert claim(KIND, 0.2, **known).decision == "above"


@given(effects, st.floats(1e-3, 1), st.integers(1, 50))
def test_the_interval_and_the_test_of_a_t_agree(estimate, se, df):
    one = claim_of_t(KIND, estimate, se, float(df))
    assert one.decided == (not one.interval.holds(0.0)) or one.p_value == pytest.approx(0.05, abs=1e-6)


def test_stability_is_the_share_of_seeds_that_decide_alike():
    """Against a simulation: the bound that another seed would have found lies around this one's true place."""
    rng = np.random.default_rng(0)
    one = claim(KIND, 0.5, Interval(0.2, 0.8), 0.001, mc_error=0.09)
    truths = one.interval.lower + one.mc_error * rng.standard_normal(200_000)
    again = truths + one.mc_error * rng.standard_normal(200_000)
    assert one.decision == "above"
    assert one.stability == pytest.approx((again > 0).mean(), abs=0.005)
    assert replace(one, mc_error=0.0).stability == 1.0
