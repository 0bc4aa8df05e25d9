"""How sure is a statistic of samples that came in units? Held against slow jackknives, and against real rematching."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import cKDTree

from tests.evaluate.average_case_rows import rows_of
from tests.evaluate.fold_populations import frame, simulated
from tests.worlds.cluster_folds import means, neighbours
from tests.worlds.designs import NULLS
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import ScoredBy, ScoreEstimate
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.matched_subsets import Outcomes, compare_sets
from touchstone.core.evaluate.matched_subsets.estimates import Influences, Repeats, units_of_sets
from touchstone.core.evaluate.matched_subsets.matching import candidates, matchings
from touchstone.core.evaluate.test_quality.regions import CountsByUnit, Shares
from touchstone.core.evaluate.units import Design, samples_as_units, units_of
from touchstone.core.split.folds import RandomFolds
from touchstone.core.split.units import folds_of_units

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
        for matched in matchings(pairable, 40, rng=rng):
            repeats.add(matched)
        influences = Influences(repeats, units_of_sets(*sets))
        values.append(repeats.values[1 : len(NAMES) + 1])
        errors.append([influences.error(name)[0].se for name in NAMES])
    spread, error = np.std(values, axis=0, ddof=1), np.sqrt(np.mean(np.square(errors), axis=0))
    with capsys.disabled():
        print(f"\n{design.name}:", dict(zip(NAMES, np.round(error / spread, 2).tolist(), strict=True)))
    assert (error / spread >= 0.85).all()
    assert (error / spread <= 1.35).all()


def test_rows_that_are_there_several_times_say_no_more_than_once():
    """Of any statistic: the error over units is that of the rows once, and the design effect is how often they are."""
    rng = np.random.default_rng(1)
    once = rng.normal(size=200)
    values = np.repeat(once, 4)
    design = Design(np.repeat(np.arange(200), 4), "content")
    moves = (values - values.mean()) / len(values)
    assert design.error(moves).se == pytest.approx(once.std(ddof=1) / np.sqrt(200), rel=0.01)
    assert Design().error(moves).se == pytest.approx(values.std(ddof=1) / np.sqrt(800))
    effect = design.effect(moves)
    assert effect.times == pytest.approx(4, rel=0.02)
    assert effect.worth(800) == pytest.approx(200, rel=0.03)


def test_of_fewer_than_five_units_nothing_is_said():
    design = Design(np.repeat(np.arange(4), 25), "author")
    moves = np.random.default_rng(2).normal(size=100) / 100
    assert design.error(moves).df == 0
    assert np.isnan(design.effect(moves).worth(100))
    assert not wilson(80 / design.effect(moves).times, 100.0, df=design.effect(moves).df).known


def by_authors(n_authors: int, per_author: int = 20):
    """Predictions on folds by authors; each is read well or badly as a whole."""
    rng = np.random.default_rng(n_authors)
    folded = simulated({"random_folds": 0.2, "kmeans": 0.4}, n=n_authors * per_author, rng=rng)
    authors = np.repeat([f"author {i}" for i in range(n_authors)], per_author).astype(object)
    return replace(folded, units=authors, unit_word="author")


def test_verdicts_say_of_how_many_units_their_samples_are():
    many, few = (fold_verdict(fold_performance(by_authors(n))) for n in (12, 4))
    assert many.used.startswith("n = 240 samples from 12 authors,")
    assert "Intervals are 95 %, over authors" in many.used
    assert "n = 80 samples from 4 authors" in few.used
    assert "No CIs: so few say nothing about others" in few.used
    assert not any(made.decided for made in few.claims)
    y, p = np.arange(60) % 3, np.random.default_rng(0).beta(4, 1, 60)
    design = Design(np.arange(60) // 5, "patient")
    robust = evaluate_robustness(rows_of(p, y), class_names=("a", "b", "c"), design=design)
    used = average_case_verdict(robust).used
    assert used.startswith("n = 60 samples from 12 patients")
    assert "over patients" in used


def test_every_row_three_times_makes_no_interval_shorter():
    """Rows once, and three times with contents as units, which count twice: they also train, as single rows do less."""
    once = simulated({"random_folds": 0.3}, n=150, n_classes=2, rng=np.random.default_rng(4))
    rows = pd.concat([once.rows.assign(row=3 * once.rows["row"] + copy) for copy in range(3)], ignore_index=True)
    thrice = replace(once, rows=rows, y=np.repeat(once.y, 3), ids=np.arange(450).astype(str).astype(object))
    told = replace(thrice, units=np.repeat(np.arange(150), 3).astype(object), unit_word="content")
    scores = (fold_performance(each, metric=ScoredBy("accuracy")) for each in (once, told, thrice))
    widths = [found.schemes[0].mean.interval.width for found in scores]
    assert widths[1] == pytest.approx(np.sqrt(2) * widths[0], rel=0.03)
    assert widths[2] == pytest.approx(widths[0] / np.sqrt(3), rel=0.03)


def test_random_splits_of_units_hold_their_level_and_those_of_samples_do_not():
    """Authors of training and test set are of one population: how often is a class's share said to be unusual?"""
    n_unusual = {True: 0, False: 0}
    for seed in range(60):
        rng = np.random.default_rng([seed, 9])
        chance = rng.beta(1, 2, 40)
        author, inside = np.repeat(np.arange(40), 15), rng.random(600) < np.repeat(chance, 15)
        is_test, cell = author >= 28, np.zeros(600, dtype=np.int64)
        parts = []
        for part in (is_test, ~is_test):
            by_unit = CountsByUnit.of(Design(author[part], "author"), cell[part], inside[part], 1)
            parts.append((np.array([inside[part].sum()]), np.array([part.sum()]), by_unit))
        for known in n_unusual:
            shares = [
                Shares.of("boundary conditioning", ("a",), k, n, by_unit=by_unit if known else None)
                for k, n, by_unit in parts
            ]
            n_unusual[known] += bool(shares[0].beside(shares[1]).p_value[0] < 0.05)
    assert n_unusual[True] <= stats.binom.isf(0.001, 60, 0.05)
    assert n_unusual[False] > 20


def mean_over_folds(fit, x, y, unit, seeds=(0,)) -> ScoreEstimate:
    """The accuracy of models that are fitted on random folds of whole units, with its interval over units."""
    parts = []
    for seed in seeds:
        fold = folds_of_units(RandomFolds(n_folds=5, seed=seed), unit, x)
        parts.append(frame("random_folds", seed, None, fold, np.arange(len(y)), None))
        for number in range(5):
            test = fold == number
            said = fit(x[~test], y[~test], x[test])
            parts.append(frame("random_folds", seed, "m", np.full(test.sum(), number), np.flatnonzero(test), said))
    names, ids = tuple(map(str, np.unique(y))), np.arange(len(y)).astype(str).astype(object)
    named = {"units": unit.astype(str).astype(object), "unit_word": "author", "planned": True}
    folded = FoldPredictions(pd.concat(parts, ignore_index=True), y, names, ids, {}, **named)
    return fold_performance(folded, metric=ScoredBy("accuracy")).schemes[0].mean


@pytest.mark.parametrize(("n_authors", "fewest"), [(15, 0.9), (8, 0.88)])
def test_a_mean_over_folds_holds_for_other_authors(n_authors, fewest):
    """Nearest neighbours trained anew on each of 100 data sets: 80 % and 60 % were held when models were fixed."""
    estimates = []
    for seed in range(100):
        rng = np.random.default_rng([seed, n_authors])
        author = np.repeat(np.arange(n_authors), 12)
        y = rng.integers(2, size=len(author))
        x = 0.8 * rng.normal(size=(n_authors, 2, 6))[author, y] + rng.normal(size=(len(author), 6))
        x[:, 0] += 2 * y
        estimates.append(mean_over_folds(neighbours, x, y, author, seeds=[seed]))
    truth = np.mean([estimate.value for estimate in estimates])
    assert np.mean([estimate.interval.holds(truth) for estimate in estimates]) >= fewest


def nearest(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The class of the nearest neighbour, of any number of classes."""
    return y[cKDTree(x).query(new)[1]]


@pytest.mark.evidence
@pytest.mark.parametrize("fit", [means, nearest])
def test_random_folds_of_vowels_are_as_unsure_as_a_bootstrap_over_speakers(fit, shared_data):
    """Three seeds, as by default, against 1,000 draws of 15 speakers, each folded and fitted anew."""
    table = pd.read_csv(shared_data / "vowel_speakers.tsv", sep="\t")
    x, y = table[[f"x{number}" for number in range(1, 11)]].to_numpy(np.float64), table["vowel"].to_numpy()
    of_speaker = [np.flatnonzero(table["speaker"] == speaker) for speaker in range(15)]
    drawn = []
    for seed in range(1000):
        speakers = np.sort(np.random.default_rng([7, seed]).integers(15, size=15))
        rows = np.concatenate([of_speaker[speaker] for speaker in speakers])
        unit = np.unique(table["speaker"].to_numpy()[rows], return_inverse=True)[1]
        fold = folds_of_units(RandomFolds(n_folds=5, seed=seed), unit, x[rows])
        right = [
            fit(x[rows][fold != number], y[rows][fold != number], x[rows][fold == number]) == y[rows][fold == number]
            for number in range(5)
        ]
        drawn.append(np.mean([part.mean() for part in right]))
    interval = mean_over_folds(fit, x, y, table["speaker"].to_numpy(), seeds=range(3)).interval
    assert interval.width == pytest.approx(np.subtract(*np.quantile(drawn, [0.975, 0.025])), rel=0.2)


def test_a_rare_outcome_that_a_few_units_make_up_is_no_surer_than_of_so_few():
    """A share of 3.6 % that differs between 20 units: by degrees of freedom of all it was held in 89 %."""
    unit, rng = np.repeat(np.arange(20), 250), np.random.default_rng(1)
    design, truth, n = Design(unit, "author"), stats.norm.cdf(-2.3 / np.hypot(1, 0.8)), 1000
    held = 0
    for _ in range(n):
        marked = rng.random(len(unit)) < stats.norm.cdf(-2.3 + 0.8 * rng.standard_normal(20))[unit]
        held += design.wilson(marked).holds(truth)
    assert held / n >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / n)


def test_units_that_hold_a_rare_outcome_are_counted_by_pairs():
    design = Design(np.repeat(np.arange(10), 40), "author")
    spread, met = np.arange(400) % 40 == 0, np.isin(np.arange(400), [*range(5), *range(40, 45)])
    assert design.wilson(spread) == wilson(10.0, 400.0, df=design.effect((spread - 0.025) / 400).df)
    effect, pairs = design.effect((met - 0.025) / 400), 10 * 9 / (2 * 5 * 4)
    assert effect.df > 8
    assert design.wilson(met) == wilson(10 / effect.times, 400 / effect.times, df=max(pairs - 1, 2.0))
    assert design.wilson(~met).upper == pytest.approx(1 - design.wilson(met).lower)
