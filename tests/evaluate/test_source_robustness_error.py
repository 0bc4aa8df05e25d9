"""The error over sources and over draws: by hand, by resampling, and by law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluate.populations import Population, frame, trial_rows
from tests.worlds.source_robustness import Sources
from touchstone.core.evaluate.source_robustness.counts import groups
from touchstone.core.evaluate.source_robustness.estimate import (
    error_over_draws,
    error_over_sources,
    mc_error,
    measure,
    rho_terms,
    source_influences,
)
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

ONE = np.array([True])


def measured(cells_of_repeats, *, scheme=EXCLUSIVE, clusterings=None):
    """Measure trials given as one {(label, source): (right, n)} for each repeat."""
    rows = []
    for repeat, cells in enumerate(cells_of_repeats):
        clustering = 0 if clusterings is None else clusterings[repeat]
        rows += trial_rows(cells, scheme=scheme, repeat=repeat, clustering=clustering)
    (group,) = groups(frame(rows))
    every = np.ones(len(group.layout.labels), dtype=bool)
    return measure(group.models["model"][scheme], group.layout, scheme, every), group.layout


def test_one_class_is_the_plain_mean_of_its_sources():
    rights = np.array([9, 5, 8, 10, 6])
    sizes = np.array([10, 20, 10, 40, 12])
    of, layout = measured([{("a", str(s)): (int(rights[s]), int(sizes[s]))} for s in range(5)])
    shares = rights / sizes
    error = error_over_sources([(1.0, of)], layout)
    assert of.value == pytest.approx(shares.mean())
    # Twice the variance of their mean: once for the sources tested, once for what they train.
    assert error.se == pytest.approx(np.sqrt(2) * shares.std(ddof=1) / np.sqrt(5))
    assert error.df == pytest.approx(4)


def test_classes_of_equal_sizes_add_up():
    """With equal sizes accuracy is the mean of the classes' accuracies, so its variance is the mean of theirs / C."""
    rng = np.random.default_rng(0)
    rights = rng.integers(20, 41, size=(3, 5))
    trials = [{(f"c{c}", f"{c}-{s}"): (int(rights[c, (s + c) % 5]), 40) for c in range(3)} for s in range(5)]
    trials = [
        {(label, f"{label}-{(s + int(label[1])) % 5}"): value for (label, _), value in cells.items()}
        for s, cells in enumerate(trials)
    ]
    of, layout = measured(trials)
    variances = (rights / 40).var(axis=1, ddof=1) / 5
    expected_se = np.sqrt(variances.sum() / 9)
    # What is left over draws beyond the sources' part is nothing here: five draws see every source once.
    assert error_over_sources([(1.0, of)], layout).se >= expected_se * (1 - 1e-9)
    assert np.sqrt(np.sum(of.influence**2)) == pytest.approx(expected_se)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(30, 60)), min_size=3, max_size=8), st.integers(2, 6))
def test_repeating_the_same_draws_leaves_the_influences_as_they_are(sources, times):
    correct, n = (np.array(column, dtype=np.float64) for column in zip(*sources, strict=True))
    stratum = np.zeros(len(sources), dtype=np.int64)
    once = source_influences(correct, n, np.ones(len(n)), stratum, n_draws=len(n))
    often = source_influences(times * correct, times * n, np.full(len(n), times * 1.0), stratum, n_draws=times * len(n))
    assert often == pytest.approx(once, abs=1e-12)


@given(st.permutations(range(10)))
def test_the_order_of_sources_does_not_matter(order):
    rng = np.random.default_rng(1)
    correct, n = rng.integers(0, 30, 10).astype(float), rng.integers(30, 50, 10).astype(float)
    stratum, order = np.repeat([0, 1], 5), np.array(order)
    plain = source_influences(correct, n, np.ones(10), stratum, n_draws=5)
    shuffled = source_influences(correct[order], n[order], np.ones(10), stratum[order], n_draws=5)
    assert shuffled == pytest.approx(plain[order])


def test_unequal_weights_are_unbiased():
    """Sources drawn unequally often: the squares still sum to the variance of the weighted mean, on average."""
    rng = np.random.default_rng(2)
    times = np.array([5.0, 1.0, 2.0, 2.0])
    weights = times / times.sum()
    estimates = [
        np.sum(source_influences(times * a * 100, times * 100.0, times, np.zeros(4, dtype=np.int64), n_draws=10) ** 2)
        for a in rng.normal(0.8, 0.05, size=(800, 4))
    ]
    assert np.mean(estimates) == pytest.approx(0.05**2 * np.sum(weights**2), rel=0.1)


def test_a_single_source_cannot_tell_a_variance():
    of, layout = measured([{("a", "0"): (9, 10)}, {("a", "0"): (8, 10)}])
    assert np.isnan(error_over_sources([(1.0, of)], layout).se)
    assert error_over_draws([(1.0, of)]).se == pytest.approx(0.05)


def test_a_class_whose_one_source_tells_no_variance_is_taken_to_vary_as_the_others_do():
    cells = [{("a", str(s)): (30 + s, 40), ("b", "only"): (35, 40)} for s in range(5)]
    of, layout = measured([*cells, *cells], clusterings=[0] * 5 + [1] * 5)
    of_a = np.var((30 + np.arange(5)) / 40, ddof=1) / 5 / 4  # accuracy is the mean of two classes of equal size
    error = error_over_sources([(1.0, of)], layout)
    assert error.se**2 == pytest.approx(2 * 2 * of_a)  # both classes, and twice
    assert error.df == pytest.approx(4)


def test_inclusive_influences_are_those_of_a_ratio_of_means():
    """All sources are in every test part, so its accuracy is a ratio estimator with the textbook variance."""
    rng = np.random.default_rng(4)
    n = rng.integers(200, 240, 40)
    right = np.minimum(rng.binomial(n, 0.9), n)
    of, _ = measured([{("a", str(s)): (int(right[s]), int(n[s])) for s in range(40)}], scheme=INCLUSIVE)
    share = right.sum() / n.sum()
    residuals = (right - share * n) / n.mean()
    textbook = residuals.std(ddof=1) / np.sqrt(40)
    assert np.sqrt(np.sum(of.influence**2)) == pytest.approx(textbook, rel=0.03)


def test_the_jackknife_over_sources_agrees():
    """A second opinion on rho: leave out one source at a time (within its class) and see how rho moves."""
    population = Population(n_classes=3, n_sources=8, size=120, source_sd=0.5, training_sd=0)
    rng = np.random.default_rng(6)
    trials = population.data(rng).trials(rng, n_repeats=8)

    def rho_without(source):
        kept = trials[~((trials["source"] == source) & trials["source"].notna())]
        (group,) = groups(kept)
        ends = []
        for scheme in (EXCLUSIVE, INCLUSIVE):
            counts = group.models["model"][scheme]
            times = np.maximum(counts.cell_times, 1)
            label = group.layout.cell_label
            n_sources = np.bincount(label)
            right = (np.bincount(label, counts.cell_correct / times) / n_sources).sum()
            ends.append(right / (np.bincount(label, counts.cell_n / times) / n_sources).sum())
        return ends[0] / ends[1]

    replicates = np.array([[rho_without(str(c * 8 + s)) for s in range(8)] for c in range(3)])
    jackknife = np.sqrt((7 / 8 * (replicates - replicates.mean(axis=1, keepdims=True)) ** 2).sum())
    (group,) = groups(trials)
    every = np.ones(3, dtype=bool)
    x, i = (measure(group.models["model"][s], group.layout, s, every) for s in (EXCLUSIVE, INCLUSIVE))
    linear = sum(weight * part.influence for weight, part in rho_terms(x, i))
    assert np.sqrt(np.sum(linear**2)) == pytest.approx(jackknife, rel=0.12)


def test_clusterings_add_their_disagreement_and_no_sources():
    cells = [{("a", str(s)): (30 + s, 40)} for s in range(5)]
    lower = [{("a", str(s)): (20 + s, 40)} for s in range(5)]
    alone, layout = measured(cells)
    twice, layout_twice = measured([*cells, *cells], clusterings=[0] * 5 + [1] * 5)
    apart, layout_apart = measured([*cells, *lower], clusterings=[0] * 5 + [1] * 5)
    se = error_over_sources([(1.0, alone)], layout).se
    assert error_over_sources([(1.0, twice)], layout_twice).se == pytest.approx(se)
    between = (10 / 40) ** 2 / 2  # variance of two clusterings a quarter apart, halved for the mean of two
    assert error_over_sources([(1.0, apart)], layout_apart).se == pytest.approx(np.sqrt(se**2 + between / 2))


def test_a_lucky_fit_that_moves_a_whole_draw_is_not_forgotten():
    """All sources alike, draws differ: nothing between sources, everything between draws."""
    of, layout = measured(
        [{(f"c{c}", f"{c}-{s}"): (30 + 5 * (block % 2), 40) for c in range(4)} for block in range(4) for s in range(5)]
    )
    assert np.sum(of.influence**2) == pytest.approx(0, abs=1e-12)
    assert error_over_sources([(1.0, of)], layout).se == pytest.approx(error_over_draws([(1.0, of)]).se)


def test_over_draws_clusterings_are_strata():
    rights = [10, 12, 30, 32]
    of, _ = measured([{("a", "0"): (right, 40)} for right in rights], clusterings=[0, 0, 1, 1])
    assert error_over_draws([(1.0, of)]).se == pytest.approx(np.sqrt((0.05**2 / 2) / 4))


@pytest.mark.parametrize("world", [Sources(source_sd=0.6), Sources(size_sd=0.8, source_sd=0.6)], ids=["even", "uneven"])
def test_what_another_seed_moves_is_known(world):
    """Ten seeds of the splits on each of six data sets: the error over draws would be twice what they differ by."""
    every, truly, told, over_draws = np.ones(2, dtype=bool), [], [], []
    for data_set in range(6):
        falls = []
        for seed in range(10):
            (group,) = groups(world.trials(data_set, seed))
            counts = group.models["model 0"]
            seen, held_out = (measure(counts[name], group.layout, name, every) for name in (INCLUSIVE, EXCLUSIVE))
            terms = [(1.0, seen), (-1.0, held_out)]
            falls.append(seen.value - held_out.value)
            told.append(mc_error(terms) ** 2)
            over_draws.append(error_over_draws(terms).se ** 2)
        truly.append(np.var(falls, ddof=1))
    assert 0.6 < np.sqrt(np.mean(told) / np.mean(truly)) < 1.6
    assert np.sqrt(np.mean(over_draws) / np.mean(truly)) > 1.6
