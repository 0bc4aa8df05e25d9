"""How often do the intervals of a comparison hold the truth, and by which variance is a gap held against none?"""

import numpy as np
import pytest
from scipy import stats

from core.evaluate.matched_subsets import Outcomes, compare_sets
from core.evaluate.matched_subsets.matching import candidates
from tests.evaluate.matching_populations import TwoSets


@pytest.mark.parametrize(("share", "other"), [(0.9, 0.86), (0.6, 0.67)])
def test_a_gap_is_held_against_none_by_the_variance_of_none(share, other):
    """All are equally sure, so that the score test of a share knows the variance where there is no gap."""

    def sure(n: int, right: float) -> Outcomes:
        return Outcomes(np.zeros(n, dtype=int), np.full(n, 0.8), np.arange(n) < right * n, ("any",))

    of = compare_sets(
        sure(4000, share), sure(500, other), n_repeats=100, n_resamples=2000, n_rounds=0, rng=np.random.default_rng(0)
    )
    gap = of.matched_gap.value
    assert gap == pytest.approx(share - other, abs=0.005)
    z = gap / np.sqrt(share * (1 - share) * (1 / 4000 + 1 / 500))
    assert of.matched_gap.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.25)
    interval, wald = of.matched_gap.interval, np.sqrt(share * (1 - share) / 4000 + other * (1 - other) / 500)
    farther = max(abs(interval.lower), abs(interval.upper))
    assert farther == pytest.approx(abs(gap) + 1.96 * wald, rel=0.04)
    assert interval.holds(0.0) == (of.matched_gap.p_value >= 0.05)


@pytest.mark.parametrize("by", ["label", "probability"])
def test_a_target_is_as_likely_right_as_references_like_it(by):
    reference, target = TwoSets(n_reference=400, n_target=60).draw(np.random.default_rng(4))
    pairable, likely = candidates(reference, target, by=by), []
    for t in pairable.target_order:
        same = (reference.label == target.label[t]) | (by == "probability")
        confidence, right = (
            of[same][np.argsort(reference.confidence[same])] for of in (reference.confidence, reference.correct)
        )
        within = np.flatnonzero(np.abs(confidence - target.confidence[t]) <= pairable.epsilon)
        first, last = (
            (within[0], within[-1] + 1) if len(within) else [np.searchsorted(confidence, target.confidence[t])] * 2
        )
        begin = min(max((first + last) // 2 - 25, 0), len(confidence) - 50)
        near = slice(min(begin, first), max(begin + 50, last))
        likely.append(np.clip(target.confidence[t] + (right - confidence)[near].mean(), 0, 1))
    assert pairable.likely == pytest.approx(np.array(likely), abs=1e-12)


def coverage(population: TwoSets, n: int, *, seed: int = 5, **options) -> dict[str, float]:
    """Share of fresh draws whose interval held what matching gives on average."""
    names = ("gap", "matched_gap", "mix", "unmatched_target")
    truth = population.truth(by=options.get("by", "label"), method=options.get("method", "random"))
    rng, held = np.random.default_rng(seed), []
    for _ in range(n):
        of = compare_sets(*population.draw(rng), rng=rng, **options)
        held.append([getattr(of, name).interval.holds(truth[name]) for name in names])
    return dict(zip(names, np.mean(held, axis=0).tolist(), strict=True))


@pytest.mark.evidence
def test_intervals_cover_about_as_often_as_they_say():
    held = coverage(TwoSets(n_reference=600, n_target=200), 60, n_resamples=60)
    assert held["gap"] >= 0.85
    assert held["matched_gap"] >= 0.85
    assert held["unmatched_target"] >= 0.85


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("population", "by"),
    [
        pytest.param(TwoSets(n_reference=5000, n_target=1000), "label", id="reference 5 times as large"),
        pytest.param(TwoSets(n_reference=5000, n_target=1000), "probability", id="the same, by probability"),
        pytest.param(TwoSets(n_reference=1000, n_target=1000), "label", id="sets of one size"),
        pytest.param(TwoSets(n_reference=600, n_target=300, n_labels=10), "label", id="few candidates each"),
        pytest.param(TwoSets(n_reference=600, n_target=300, decimals=2), "label", id="confidences of two decimals"),
        pytest.param(
            TwoSets(n_reference=2000, n_target=500, sureness=60.0, hardness=30.0, reference_fall=0.0, fall=0.01),
            "label",
            id="hardly ever wrong",
        ),
    ],
)
def test_coverage_over_300_fresh_draws(population, by, capsys):
    held = coverage(population, 300, by=by)
    with capsys.disabled():
        print(f"\n{population}, by {by}:", *(f"{name} {100 * share:.1f} %" for name, share in held.items()))
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
        of = compare_sets(*population.draw(rng), n_rounds=0, rng=rng)
        pairs.append(of.matched_gap.p_value < 0.05)
        labels.append(any(row.differs for row in of.labels))
    with capsys.disabled():
        print(f"\nwrong claims: over pairs {np.mean(pairs):.3f}, in any label {np.mean(labels):.3f}")
    assert np.mean(pairs) <= 0.08
    assert np.mean(labels) <= 0.08
