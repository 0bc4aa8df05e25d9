"""How often do intervals of a comparison hold the truth, and what is a gap held against? Drawn anew, and by hand."""

import numpy as np
import pytest
from scipy import stats

from tests.evaluate.matching_populations import TwoSets
from touchstone.core.evaluate.matched_subsets import Outcomes, compare_sets
from touchstone.core.evaluate.matched_subsets.estimates import Repeats
from touchstone.core.evaluate.matched_subsets.matching import candidates, matchings
from touchstone.core.evaluate.matched_subsets.results import COUNTED


def sure(n: int, right: float) -> Outcomes:
    """One label, and everywhere the same confidence."""
    return Outcomes(np.zeros(n, dtype=int), np.full(n, 0.8), np.arange(n) < round(right * n), ("any",))


@pytest.mark.parametrize(("n", "n_other"), [(4000, 500), (500, 500), (500, 4000)])
@pytest.mark.parametrize(("share", "other"), [(0.9, 0.86), (0.86, 0.9), (0.6, 0.67)])
def test_a_gap_is_held_against_none_by_the_variance_of_none(n, n_other, share, other):
    """All are equally sure, so that the score test of two shares knows the variance where there is no gap."""
    comparison = compare_sets(sure(n, share), sure(n_other, other), n_repeats=100, rng=np.random.default_rng(0))
    gap, common = comparison.matched_gap, (n * share + n_other * other) / (n + n_other)
    assert gap.value == pytest.approx(share - other, abs=0.005)
    none = np.sqrt(common * (1 - common) * (1 / n + 1 / n_other))
    assert abs(stats.norm.isf(gap.p_value / 2)) == pytest.approx(abs(gap.value) / none, rel=0.05)
    wald = np.sqrt(share * (1 - share) / n + other * (1 - other) / n_other)
    farther = max(abs(gap.interval.lower), abs(gap.interval.upper))
    assert farther == pytest.approx(abs(gap.value) + 1.96 * max(wald, none), rel=0.04)
    assert gap.interval.holds(0.0) == (gap.p_value >= 0.05)


@pytest.mark.parametrize("by", ["label", "probability"])
@pytest.mark.parametrize("n_labels", [2, 5])
def test_what_is_expected_of_targets_is_taken_from_references_near_them(n_labels, by):
    """A slow second opinion: the nearest 50 and all within epsilon, of any label where one has fewer than 125."""
    reference, target = TwoSets(n_reference=420, n_target=200, n_labels=n_labels).draw(np.random.default_rng(8))
    pairable = candidates(reference, target, by=by, epsilon=0.02)
    matched = next(matchings(pairable, 1, rng=np.random.default_rng(9)))
    repeats = Repeats(pairable)
    repeats.add(matched)
    n_of, total, stands = np.bincount(reference.label), 0.0, np.zeros(420)
    for t in matched.unmatched_target_index:
        own, at = target.label[t], target.confidence[t]
        rows = np.flatnonzero((reference.label == own) | (by == "probability" or n_of[own] < 125))
        rows = rows[np.argsort(reference.confidence[rows], kind="stable")]
        confidence, right = reference.confidence[rows], reference.correct[rows]
        within = np.flatnonzero(np.abs(confidence - at) <= pairable.epsilon + 1e-9)
        first, last = (within[0], within[-1] + 1) if len(within) else [np.searchsorted(confidence, at - 0.02)] * 2
        begin = min(max((first + last) // 2 - 25, 0), len(rows) - 50)
        near = slice(min(begin, first), max(begin + 50, last))
        total += at + (right - confidence)[near].mean()
        stands[rows[near]] += 1 / (near.stop - near.start)
    assert (n_of < 125).any() == (n_labels == 5)
    assert len(matched.unmatched_target_index) > 5
    assert repeats.counts[COUNTED.index("expected")] == pytest.approx(total, abs=1e-9)
    _, paired = repeats.tally.paired
    assert repeats.tally.neighbours.shares(1 - paired) == pytest.approx(stands, abs=1e-9)


def coverage(population: TwoSets, n: int, *, seed: int = 5, **options) -> dict[str, float]:
    """Share of fresh draws whose interval held what matching gives on average."""
    names = ("gap", "matched_gap", "mix", "unmatched_target")
    asked = {name: options[name] for name in ("by", "method", "epsilon") if name in options}
    truth = population.truth(**asked)
    rng, held = np.random.default_rng(seed), []
    for _ in range(n):
        of = compare_sets(*population.draw(rng), rng=rng, **options)
        held.append([getattr(of, name).interval.holds(truth[name]) for name in names])
    return dict(zip(names, np.mean(held, axis=0).tolist(), strict=True))


@pytest.mark.evidence
def test_intervals_cover_about_as_often_as_they_say():
    held = coverage(TwoSets(n_reference=600, n_target=200), 60)
    assert held["gap"] >= 0.85
    assert held["matched_gap"] >= 0.85
    assert held["unmatched_target"] >= 0.85


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("population", "options"),
    [
        pytest.param(TwoSets(n_reference=5000, n_target=1000), {}, id="reference 5 times as large"),
        pytest.param(TwoSets(n_reference=5000, n_target=1000), {"by": "probability"}, id="the same, by probability"),
        pytest.param(TwoSets(n_reference=1000, n_target=1000), {}, id="sets of one size"),
        pytest.param(TwoSets(n_reference=600, n_target=300, n_labels=10), {}, id="few candidates each"),
        pytest.param(TwoSets(n_reference=600, n_target=300, decimals=2), {}, id="confidences of two decimals"),
        pytest.param(
            TwoSets(n_reference=2000, n_target=500, sureness=60.0, hardness=30.0, reference_fall=0.0, fall=0.01),
            {"epsilon": 0.0005},  # a tenth of how often the reference is wrong, of which epsilon is a difference
            id="hardly ever wrong",
        ),
    ],
)
def test_coverage_over_600_fresh_draws(population, options, capsys):
    held = coverage(population, 600, **options)
    with capsys.disabled():
        print(f"\n{population}, {options}:", *(f"{name} {100 * share:.1f} %" for name, share in held.items()))
    for name in ("gap", "matched_gap"):
        assert 0.915 <= held[name] <= 0.985
    assert held["mix"] >= 0.915
    assert held["unmatched_target"] >= 0.915


@pytest.mark.evidence
def test_a_maximum_matching_errs_on_the_safe_side(capsys):
    held = coverage(TwoSets(n_reference=1000, n_target=500), 300, method="maximum")
    with capsys.disabled():
        print(f"\nmaximum: matched gap {100 * held['matched_gap']:.1f} %")
    assert held["matched_gap"] >= 0.93


@pytest.mark.evidence
def test_claims_are_rarely_wrong_where_accuracy_is_the_same_at_every_confidence(capsys):
    population, rng = TwoSets(n_reference=3000, n_target=900, fall=0.02), np.random.default_rng(6)
    pairs, labels = [], []
    for _ in range(300):
        of = compare_sets(*population.draw(rng), more=False, rng=rng)
        pairs.append(of.matched_gap.p_value < 0.05)
        labels.append(any(row.differs for row in of.labels))
    with capsys.disabled():
        print(f"\nwrong claims: over pairs {np.mean(pairs):.3f}, in any label {np.mean(labels):.3f}")
    assert np.mean(pairs) <= 0.08
    assert np.mean(labels) <= 0.08


def drawn(n: int, n_labels: int, confidence: float, rng: np.random.Generator) -> Outcomes:
    """Calibrated, and nothing tells one set from another."""
    label = rng.integers(n_labels, size=n)
    return Outcomes(label, np.full(n, confidence), rng.random(n) < confidence, tuple(map(str, range(n_labels))))


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("n", "n_target", "n_labels", "n_data_sets"),
    [
        pytest.param(100, 100, 1, 1000, id="small sets of one size"),
        pytest.param(300, 100, 1, 600, id="a larger reference"),
        pytest.param(100, 300, 1, 600, id="a smaller reference"),
        pytest.param(1000, 500, 1000, 300, id="one reference a label"),
    ],
)
def test_a_fall_and_a_rise_are_wrongly_claimed_about_as_often(n, n_target, n_labels, n_data_sets, capsys):
    rng = np.random.default_rng(1)
    gaps = [
        compare_sets(
            *(drawn(size, n_labels, 0.9 if n_labels == 1 else 0.8, rng) for size in (n, n_target)),
            epsilon=0.02,
            more=False,
            rng=rng,
        ).matched_gap
        for _ in range(n_data_sets)
    ]
    p, values = (np.array([getattr(gap, name) for gap in gaps]) for name in ("p_value", "value"))
    falls, rises, sure_ones = ((p < 0.05) & (values > 0)).sum(), ((p < 0.05) & (values < 0)).sum(), (p < 0.001).sum()
    with capsys.disabled():
        print(f"\nof {n_data_sets}: {falls} falls, {rises} rises, {sure_ones} at .001")
    most = stats.binom.isf(0.001, n_data_sets, 0.025)
    assert falls <= most
    assert rises <= most
    assert sure_ones <= stats.binom.isf(0.001, n_data_sets, 0.001)


@pytest.mark.evidence
def test_of_a_hundred_labels_none_is_wrongly_claimed_in_nearly_all_data_sets(capsys):
    rng = np.random.default_rng(2)
    n_wrong = sum(
        any(
            row.differs
            for row in compare_sets(drawn(10_000, 100, 0.9, rng), drawn(10_000, 100, 0.9, rng), rng=rng).labels
        )
        for _ in range(40)
    )
    with capsys.disabled():
        print(f"\n{n_wrong} of 40 data sets")
    assert n_wrong <= stats.binom.isf(0.001, 40, 0.05)
