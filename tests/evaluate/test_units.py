"""How sure is a statistic of samples that came in units? Held against slow jackknives, and against real rematching."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.worlds.designs import NULLS
from touchstone.core.evaluate.matched_subsets import Outcomes, compare_sets
from touchstone.core.evaluate.matched_subsets.estimates import Influences, units_of_sets
from touchstone.core.evaluate.matched_subsets.matching import candidates, match_candidates
from touchstone.core.evaluate.matched_subsets.repeats import Repeats
from touchstone.core.evaluate.units import samples_as_units, units_of

NAMES = ("matched_gap", "mix", "unmatched")


def leaving_out(codes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean without each unit, less the mean; 0 for a unit that is not there."""
    mean = values.mean()
    return np.array(
        [values[codes != unit].mean() - mean if (codes == unit).any() else 0.0 for unit in range(codes.max() + 1)]
    )


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=8, max_size=60))
@settings(deadline=None)
def test_the_error_of_a_mean_is_that_of_leaving_out_one_unit_at_a_time(rows):
    codes, values = (np.array(column) for column in zip(*rows, strict=True))
    _, codes = np.unique(codes, return_inverse=True)
    n = codes.max() + 1
    if n < 2:
        return
    moved = leaving_out(codes, values.astype(float))
    by_hand = (n - 1) / n * ((moved - moved.mean()) ** 2).sum()
    error = units_of(codes).error((values - values.mean()) / len(values))
    assert error.se**2 == pytest.approx(by_hand, abs=1e-12)


def test_a_unit_that_is_in_both_sets_is_left_out_of_both_at_once():
    rng = np.random.default_rng(0)
    author = np.repeat(np.arange(10), 30)
    skill = rng.beta(6, 2, 10)
    own, other = (rng.random(300) < skill[author]).astype(float), (rng.random(300) < skill[author]).astype(float)
    moved = leaving_out(author, own) - leaving_out(author, other)
    by_hand = np.sqrt(9 / 10 * ((moved - moved.mean()) ** 2).sum())
    influences = (own - own.mean()) / 300, -(other - other.mean()) / 300
    units = units_of(author, author)
    joint = units.error(*influences)
    assert (units.n_common, units.by_sample) == (10, False)
    assert joint.se == pytest.approx(by_hand)
    assert joint.df == pytest.approx(9.0)
    strangers = units_of([f"a{each}" for each in author], [f"b{each}" for each in author]).error(*influences)
    assert joint.se < 0.7 * strangers.se, "what is particular to an author cancels"


def test_degrees_of_freedom_are_welchs_and_fewer_where_few_units_hold_most():
    rng = np.random.default_rng(1)
    even = units_of(np.repeat(np.arange(12), 20), np.repeat(np.arange(100, 106), 20))
    noise = rng.normal(size=240) / 240, rng.normal(size=120) / 120
    both = [each - each.mean() for each in noise]
    error = even.error(*both)
    parts = [even.error(both[0], np.zeros(120)).se ** 2, even.error(np.zeros(240), both[1]).se ** 2]
    assert error.df == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 11 + parts[1] ** 2 / 5))
    sizes = (400 / np.arange(1, 21)).astype(int)
    style = np.repeat(rng.normal(size=20), sizes)
    uneven = units_of(np.repeat(np.arange(20), sizes)).error((style - style.mean()) / len(style))
    assert 1.0 < uneven.df < 10.0


def test_samples_alone_have_the_usual_error_and_few_units_say_nothing():
    values = np.random.default_rng(2).normal(size=400)
    error = samples_as_units(400).error((values - values.mean()) / 400)
    assert error.se == pytest.approx(stats.sem(values), rel=0.005)
    assert error.df == pytest.approx(399, rel=0.01)
    assert not units_of(np.repeat(np.arange(4), 50)).enough
    assert units_of(np.repeat(np.arange(4), 50)).effective(0, 1.0, np.zeros(200)) == 4
    assert np.isnan(units_of(np.zeros(50, int)).error(np.linspace(-1, 1, 50)).se)


def test_rows_that_stand_there_three_times_are_no_more_sure():
    rng = np.random.default_rng(3)
    sure = rng.uniform(0.5, 1, 800)
    once = Outcomes(np.zeros(800, int), sure, rng.random(800) < sure, ("any",))
    named = replace(once, unit=np.arange(800).astype(str))
    thrice = named.part(np.arange(800).repeat(3))
    halves = [replace(each, unit=np.char.add("b", each.unit)) for each in (named, thrice)]
    alone, copied = (
        compare_sets(one, other, rng=np.random.default_rng(0)).gap.interval
        for one, other in ((named, halves[0]), (thrice, halves[1]))
    )
    assert copied.width == pytest.approx(alone.width, rel=0.02)


@pytest.mark.evidence
@pytest.mark.parametrize("number", [0, 2, 4, 13])
def test_influences_say_how_much_numbers_vary_over_fresh_units(number, capsys):
    """One fitted model, and other authors each time: the truth that a jackknife of any kind is after."""
    design, fit = NULLS[number], np.random.default_rng(99)
    draw, values, errors = design.population.fitted(fit), [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        sets = [design.outcomes(each) for each in design.sets(draw, design.authors(rng), rng)]
        pairable = candidates(*sets, scale="accuracy")
        repeats = Repeats(pairable)
        for _ in range(40):
            repeats.add(match_candidates(pairable, rng=rng))
        influences = Influences(repeats, units_of_sets(*sets))
        values.append(repeats.values[1 : len(NAMES) + 1])
        errors.append([influences.error(name)[0].se for name in NAMES])
    spread, error = np.std(values, axis=0, ddof=1), np.sqrt(np.mean(np.square(errors), axis=0))
    with capsys.disabled():
        print(f"\n{design.name}:", dict(zip(NAMES, np.round(error / spread, 2).tolist(), strict=True)))
    assert (error / spread >= 0.85).all()
    assert (error / spread <= 1.35).all()
