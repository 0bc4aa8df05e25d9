"""When may something be said? The one rule, against what it says in words."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.evaluate.claims import Claim, Group, claim, claim_of_t, corrected, family
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.matched_subsets.findings import ONWARDS, PARTS, SHARES
from touchstone.core.evaluate.test_quality.verdict import GRAPH as OF_TEST_SETS

KIND = "cluster_folds.goes_with"
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


GRAPH = {
    "falls": (1, 0.7, {"residual": 0.6, "mix": 0.4}),
    "residual": (1, 0.2, {"labels": 0.5, "mix": 0.5}),
    "mix": (1, 0.0, {"residual": 0.7, "falls": 0.3}),
    "labels": (3, 0.1, {"falls": 1.0}),
}


def rejected(p_values: dict[str, list[float]], level: float) -> dict[str, list[bool]]:
    """Bretz and others' Algorithm 1, node by node: members of a group pass to each other, and next to nothing on."""
    nodes = [(name, i) for name, (size, *_) in GRAPH.items() for i in range(size)]
    share = np.array([GRAPH[name][1] / GRAPH[name][0] for name, _ in nodes])
    passes, little = np.zeros((len(nodes), len(nodes))), 1e-7
    for a, (name, i) in enumerate(nodes):
        size, _, onward = GRAPH[name]
        for b, (other, j) in enumerate(nodes):
            if other == name and j != i:
                passes[a, b] = (1 - little) / (size - 1)
            elif other in onward:
                passes[a, b] = onward[other] * (little if size > 1 else 1.0) / GRAPH[other][0]
    p = np.array([p_values[name][i] for name, i in nodes])
    left, made = set(range(len(nodes))), np.zeros(len(nodes), dtype=bool)
    while ready := [node for node in left if p[node] <= share[node] * level]:
        [node, *_] = ready
        made[node] = True
        left.discard(node)
        share, old = share + share[node] * passes[node], passes.copy()
        for a in left:
            for b in left - {a}:
                back = 1 - old[a, node] * old[node, a]
                passes[a, b] = (old[a, b] + old[a, node] * old[node, b]) / back if back > 1e-12 else 0.0
    return {name: [bool(made[nodes.index((name, i))]) for i in range(size)] for name, (size, *_) in GRAPH.items()}


@pytest.mark.parametrize("seed", range(25))
def test_a_family_makes_the_claims_that_the_published_graph_makes(seed):
    rng = np.random.default_rng(seed)
    p_values = {name: (10 ** rng.uniform(-3.5, -0.5, size)).tolist() for name, (size, *_) in GRAPH.items()}
    groups = {name: Group(tuple(p_values[name]), share, onward) for name, (_, share, onward) in GRAPH.items()}
    corrected = family(groups)
    for level in (0.01, 0.05, 0.1, 0.3):
        made = {name: [p <= level for p in corrected[name]] for name in GRAPH}
        assert made == rejected(p_values, level)
    assert all(c >= p for name in GRAPH for c, p in zip(corrected[name], p_values[name], strict=True))


def test_any_wrong_claim_of_a_family_is_made_in_five_of_a_hundred_at_most():
    """Two thousand families in which nothing is true but the fall, whose claim passes all it has on."""
    rng, n_wrong = np.random.default_rng(0), 0
    for _ in range(2000):
        p = {name: rng.random(size) for name, (size, *_) in GRAPH.items()} | {"falls": np.array([1e-9])}
        groups = {name: Group(tuple(p[name].tolist()), share, onward) for name, (_, share, onward) in GRAPH.items()}
        corrected = family(groups)
        n_wrong += any(value < 0.05 for name in ("residual", "mix", "labels") for value in corrected[name])
    assert 0.03 <= n_wrong / 2000 <= 0.05 + 2 * (0.05 * 0.95 / 2000) ** 0.5


def test_a_claim_that_is_not_known_gives_its_share_away():
    groups = {"a": Group((np.nan,), 0.8, {"b": 1.0}), "b": Group((0.04,), 0.2, {"a": 1.0})}
    corrected = family(groups)
    assert np.isnan(corrected["a"][0])
    assert corrected["b"] == pytest.approx([0.04])


def test_a_family_hands_out_and_passes_on_no_more_than_it_has():
    """Else more than 5 % of verdicts hold something wrong: of a test set, and of the comparison of two."""
    assert sum(share for share, _ in OF_TEST_SETS.values()) == pytest.approx(1)
    of_sets = sum(share * (2 if kind in ("calibration", "baseline") else 1) for kind, share in SHARES.items())
    assert of_sets == pytest.approx(1)
    for passed in (*(to for _, to in OF_TEST_SETS.values()), PARTS, *ONWARDS.values()):
        assert sum(passed.values()) == pytest.approx(1)
        assert all(share > 0 for share in passed.values())


def test_a_correction_leaves_what_is_unknown_unknown():
    """Nobody knows this p-value: not one of 1 either, wherever the family was chosen from."""
    known, unknown = (claim("cluster_folds.goes_with", 2.0, Interval(0.1, 3.9), p) for p in (0.01, float("nan")))
    for chosen_from in (1, 3):
        first, second = corrected([known, unknown], chosen_from=chosen_from)
        assert first.p_value == pytest.approx(0.01 * chosen_from)
        assert np.isnan(second.p_value)
        assert not second.decided
