"""Matching: the published algorithm itself, its laws, and that nothing is lost on the way."""

import math
import sys
from bisect import bisect_left
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from touchstone.core.data import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.matched_subsets import (
    Outcomes,
    compare_sets,
    comparison_table,
    kernels,
    loops,
    match,
    outcomes_of,
)
from touchstone.core.evaluate.matched_subsets.estimates import densities, on_logit_scale
from touchstone.core.evaluate.matched_subsets.matching import SLACK, candidates, matchings
from touchstone.core.evaluate.matched_subsets.outcomes import SCALED, agreement_of, entropy_of, margin_of
from touchstone.core.evaluate.matched_subsets.verdict import matched_verdict

NAMES = ("a", "b", "c")


def outcomes(confidence, label=None, correct=None) -> Outcomes:
    n = len(confidence)
    label = np.zeros(n, dtype=np.int64) if label is None else np.asarray(label)
    correct = np.ones(n, dtype=np.bool_) if correct is None else np.asarray(correct)
    return Outcomes(label, np.asarray(confidence, dtype=np.float64), correct, NAMES)


def literal(reference: Outcomes, target: Outcomes, turn: list[int], epsilon: float, by: str, rng) -> tuple[int, ...]:
    """Algorithms 1 and 2 word for word: of each target the reference it takes in its turn, -1 for none."""
    sets = [list(zip(one.label.tolist(), one.confidence.tolist(), strict=True)) for one in (reference, target)]
    left, taken = list(range(len(reference))), [-1] * len(target)
    for t in turn:
        label, confidence = sets[1][t]
        found = [
            s
            for s in left
            if abs(sets[0][s][1] - confidence) <= epsilon + SLACK and (by == "probability" or sets[0][s][0] == label)
        ]
        if found:
            taken[t] = found[rng.integers(len(found))]
            left.remove(taken[t])
    return tuple(taken)


def taken(subsets) -> tuple[int, ...]:
    chosen = np.full(len(subsets.target), -1)
    chosen[subsets.target_index] = subsets.reference_index
    return tuple(chosen.tolist())


def same_distribution(one: Counter, other: Counter) -> float:
    """p-value of the chi-square test of homogeneity, rare outcomes pooled."""
    outcomes_seen = sorted(one | other)
    table = np.array([[counts[outcome] for outcome in outcomes_seen] for counts in (one, other)])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)]) if rare.any() else table
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


TIED = (
    outcomes([0.90, 0.90, 0.905, 0.91, 0.90, 0.60], [0, 0, 0, 0, 1, 1]),
    outcomes([0.905, 0.90, 0.905, 0.60, 0.90], [0, 0, 0, 1, 1]),
)


@pytest.mark.parametrize(("by", "order"), [("label", "given"), ("probability", "shuffled")])
def test_the_distribution_is_that_of_the_literal_algorithm(by, order):
    reference, target = TIED
    rng, n_runs = np.random.default_rng(20), 30_000
    ours, theirs = Counter(), Counter()
    of = candidates(reference, target, by=by)
    for _ in range(n_runs):
        ours[taken(next(matchings(of, 1, order=order, rng=rng)))] += 1
        turn = np.arange(len(target)) if order == "given" else rng.permutation(len(target))
        theirs[literal(reference, target, turn.tolist(), 0.005, by, rng)] += 1
    assert len(ours) > 10
    assert same_distribution(ours, theirs) > 1e-3


@pytest.mark.evidence
def test_the_test_of_distribution_can_tell_a_wrong_one():
    reference, target = TIED
    rng = np.random.default_rng(1)
    given_order, shuffled = (
        Counter(taken(match(reference, target, by="probability", order=order, rng=rng)) for _ in range(5000))
        for order in ("given", "shuffled")
    )
    assert same_distribution(given_order, shuffled) < 1e-6


def one_set(n_max: int):
    sample = st.tuples(st.integers(0, 200).map(lambda k: k / 200) | st.floats(0, 1), st.integers(0, 2), st.booleans())
    return st.lists(sample, min_size=1, max_size=n_max)


def two_sets(n_max: int = 40):
    return st.tuples(one_set(n_max), one_set(n_max))


def made(sets) -> tuple[Outcomes, Outcomes]:
    """Outside the strategy, for beartype draws random numbers of its own."""
    one, other = (outcomes(*zip(*samples, strict=True)) for samples in sets)
    return one, other


@given(two_sets(), st.sampled_from([0.0, 0.005, 0.01, 0.05, 0.3]), st.sampled_from(["label", "probability"]))
def test_candidates_are_those_of_the_mask(sets, epsilon, by):
    reference, target = made(sets)
    found = candidates(reference, target, epsilon=epsilon, by=by)
    for place, t in enumerate(found.target_order):
        mask = np.abs(reference.confidence - target.confidence[t]) <= epsilon + 1e-9
        if by == "label":
            mask &= reference.label == target.label[t]
        inside = found.reference_order[found.first[place] : found.last[place]]
        assert sorted(inside) == np.flatnonzero(mask).tolist()


SPREAD = st.sampled_from([-1.5, -0.0, 0.0, 0.25, 0.5, 1.0])
NEARLY_SURE = st.integers(0, 40).map(lambda k: 1 - k * 2**-53)


@given(
    st.lists(st.tuples(st.integers(0, 3), SPREAD | NEARLY_SURE), min_size=1, max_size=60),
    st.sampled_from([0, 2**16, 2**40]),
)
@settings(deadline=None)
def test_sets_are_in_the_order_of_lexsort_with_equals_as_they_were_given(rows, more):
    label, confidence = (np.array(column) for column in zip(*rows, strict=True))
    label = label + more * (label > 1)  # a word has less room then for bits of the confidence
    np.testing.assert_array_equal(kernels.in_order(label, confidence), np.lexsort((confidence, label)))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 512, 2000, 70_000])
def test_each_target_takes_the_one_that_a_list_of_all_that_are_left_gives(n):
    rng, n_matchings = np.random.default_rng(n), 2 if n < 2000 else 1
    first, last = np.sort(rng.integers(n + 1, size=(2, n_matchings, 3 * n // 2 + 1)), axis=0)
    uniform, expected = rng.random(first.shape), []
    for starts, stops, shares in zip(first, last, uniform, strict=True):
        left, taken = list(range(n)), []
        for start, stop, share in zip(starts, stops, shares, strict=True):
            begin, end = bisect_left(left, start), bisect_left(left, stop)
            taken.append(left.pop(begin + int(share * (end - begin))) if begin < end else -1)
        expected.append(taken)
    for module in (kernels, loops) if n <= 2000 else (kernels,):
        assert module.draw(first, last, n, uniform).tolist() == expected


@pytest.mark.parametrize("by", ["label", "probability"])
@pytest.mark.parametrize("method", ["random", "maximum"])
@given(sets=two_sets(), epsilon=st.sampled_from([0.0, 0.005, 0.05, 0.3]))
@settings(max_examples=30, deadline=None)
def test_plain_loops_give_the_very_same_as_compiled_ones(sets, epsilon, by, method):
    reference, target = made(sets)
    options = {"epsilon": epsilon, "by": by, "scale": "confidence", "method": method, "n_repeats": 3, "more": False}
    with pytest.MonkeyPatch.context() as patch:
        rows = []
        for module in (kernels, loops):
            for name in ("matching", "results"):
                patch.setattr(f"touchstone.core.evaluate.matched_subsets.{name}.loops_for", lambda _, run=module: run)
            rows.append(compare_sets(reference, target, rng=np.random.default_rng(1), **options))
    compiled, plain = (repr(row.subsets) + comparison_table((row,)).to_csv(index=False) for row in rows)
    assert plain == compiled


def test_a_process_compiles_once_plain_loops_took_as_long(monkeypatch):
    monkeypatch.setattr(loops, "_done", 0)
    assert loops.loops_for(1) is kernels, "what is there already costs nothing more"
    monkeypatch.delitem(sys.modules, loops.KERNELS)
    assert loops.loops_for(loops.PATIENCE) is loops
    assert loops.loops_for(1) is kernels


def test_candidates_are_those_of_the_mask_on_real_confidences(shared_data):
    with np.load(shared_data / "predictions" / "netcal_lenet5_cifar10_softmax.npz") as file:
        confidence, label = file["predictions"].max(axis=1).astype(np.float64), file["predictions"].argmax(axis=1)
    whole = Outcomes(label, np.round(confidence, 3), label == file_truth(shared_data), tuple("abcdefghij"))
    reference, target = whole.part(np.arange(0, 10_000, 2)), whole.part(np.arange(1, 10_000, 2))
    found = candidates(reference, target, epsilon=0.005)
    for place, t in enumerate(found.target_order):
        mask = np.abs(reference.confidence - target.confidence[t]) <= 0.005 + 1e-9
        mask &= reference.label == target.label[t]
        assert np.array_equal(
            np.sort(found.reference_order[found.first[place] : found.last[place]]), np.flatnonzero(mask)
        )


def file_truth(shared_data) -> np.ndarray:
    with np.load(shared_data / "predictions" / "netcal_lenet5_cifar10_softmax.npz") as file:
        return file["ground_truth"]


@given(
    two_sets(),
    st.sampled_from([0.0, 0.005, 0.05]),
    st.sampled_from(["label", "probability"]),
    st.sampled_from(["random", "maximum"]),
    st.integers(0, 2**32 - 1),
)
def test_every_sample_is_in_one_subset_and_every_pair_is_allowed(sets, epsilon, by, method, seed):
    reference, target = made(sets)
    found = match(reference, target, epsilon=epsilon, by=by, method=method, rng=np.random.default_rng(seed))
    every_reference = np.concatenate([found.reference_index, found.unmatched_reference_index])
    every_target = np.concatenate([found.target_index, found.unmatched_target_index])
    assert sorted(every_reference) == list(range(len(reference)))
    assert sorted(every_target) == list(range(len(target)))
    a, b = found.subsets["matched reference"], found.subsets["matched target"]
    assert (np.abs(a.confidence - b.confidence) <= epsilon + SLACK).all()
    assert by == "probability" or (a.label == b.label).all()
    assert (np.diff(found.target_index) > 0).all()
    # No target is left beside a free candidate.
    free = reference.part(found.unmatched_reference_index)
    for t in found.unmatched_target_index:
        near = np.abs(free.confidence - target.confidence[t]) <= epsilon + SLACK
        assert not (near & ((free.label == target.label[t]) | (by == "probability"))).any()


@settings(max_examples=60)
@given(two_sets(n_max=14), st.sampled_from([0.0, 0.005, 0.05, 0.3]), st.sampled_from(["label", "probability"]))
def test_maximum_has_most_pairs_and_of_these_the_least_total_difference(sets, epsilon, by):
    from scipy.optimize import linear_sum_assignment

    reference, target = made(sets)
    found = match(reference, target, epsilon=epsilon, by=by, method="maximum", rng=np.random.default_rng(0))
    distance = np.abs(reference.confidence[:, None] - target.confidence)
    allowed = distance <= epsilon + SLACK
    if by == "label":
        allowed &= reference.label[:, None] == target.label
    rows, columns = linear_sum_assignment(np.where(allowed, distance, 1000.0))
    chosen = allowed[rows, columns]
    assert found.n_pairs == chosen.sum()
    total = np.abs(found.subsets["matched reference"].confidence - found.subsets["matched target"].confidence).sum()
    assert total == pytest.approx(distance[rows, columns][chosen].sum(), abs=1e-9)
    assert found.least_difference is True


def test_a_label_without_references_hides_no_other():
    """Both begin at the same place of the sorted references."""
    reference = outcomes([0.1, 0.2, 0.5, 0.504], [0, 0, 2, 2])
    target = outcomes([0.5, 0.505], [1, 2])
    found = match(reference, target, method="maximum", rng=np.random.default_rng(0))
    assert (found.reference_index.tolist(), found.target_index.tolist()) == ([3], [1])


def test_above_the_bound_only_the_number_of_pairs_is_promised(monkeypatch):
    rng = np.random.default_rng(0)
    reference, target = outcomes(rng.random(300)), outcomes(rng.random(200))
    exact = match(reference, target, method="maximum", rng=rng)
    monkeypatch.setattr("touchstone.core.evaluate.matched_subsets.matching.MOST_EXACT", 100)
    swept = match(reference, target, method="maximum", rng=rng)
    assert (exact.least_difference, swept.least_difference) == (True, False)
    assert exact.n_pairs == swept.n_pairs
    assert match(reference, target, rng=rng).least_difference is None


def test_bounds_are_inclusive_in_spite_of_binary():
    reference, target = outcomes([0.905, 0.3]), outcomes([0.9, 0.305000002])
    assert match(reference, target, rng=np.random.default_rng(0)).target_index.tolist() == [0]


def test_equal_samples_are_left_to_chance_in_a_maximum_matching():
    reference = outcomes([0.9] * 4, correct=[True, False, True, False])
    target = outcomes([0.9] * 2)
    seen = {
        tuple(match(reference, target, method="maximum", rng=np.random.default_rng(i)).reference_index)
        for i in range(60)
    }
    assert len(seen) == 12


def test_a_seed_gives_the_same_subsets_and_another_seed_others():
    rng = np.random.default_rng(3)
    reference, target = outcomes(rng.random(500)), outcomes(rng.random(200))
    first, again, other = (match(reference, target, rng=np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert np.array_equal(first.reference_index, again.reference_index)
    assert not np.array_equal(first.reference_index, other.reference_index)


def test_classes_are_joined_by_name():
    one = Predictions(["1", "2"], [0, 1], [0, 1], ["cat", "dog"], confidence=[0.9, 0.8])
    other = Predictions(["1", "2"], [1, 0], [1, 0], ["dog", "cat"], confidence=[0.9, 0.8])
    found = match(one, other, rng=np.random.default_rng(0))
    assert found.n_pairs == 2
    a, b = outcomes_of(one, other)
    assert a.label.tolist() == b.label.tolist() == [0, 1]
    more = Predictions(["1"], [0], [0], ["bird", "cow"], confidence=[0.9])
    assert match(one, more, rng=np.random.default_rng(0)).n_pairs == 0
    assert match(one, more, by="probability", rng=np.random.default_rng(0)).n_pairs == 1


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_margin_and_an_entropy_may_be_matched_on(n_classes):
    rng = np.random.default_rng(3)

    def made(n: int) -> Predictions:
        logits = 2 * rng.normal(size=(n, n_classes))
        proba = special.softmax(logits, axis=1)
        y = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        names = [f"class {code}" for code in range(n_classes)]
        return Predictions(
            [str(i) for i in range(n)], y, proba.argmax(axis=1), names, proba=special.softmax(3 * logits, 1)
        )

    sets = made(900), made(500)
    rows = {
        scale: compare_sets(*sets, scale=scale, rng=np.random.default_rng(0))
        for scale in ("accuracy", "margin", "entropy")
    }
    for scale, row in rows.items():
        assert row.matched_gap.interval.holds(0.0)
        assert f"a {SCALED[scale]} within 0.005" in matched_verdict(row).used
    same = rows["margin"].matched_gap == rows["accuracy"].matched_gap
    assert same == (n_classes == 2), "of two classes the margin is the logit of the confidence"
    top = Predictions(["1"], [0], [0], ["cat", "dog"], confidence=[0.9])
    with pytest.raises(DataError, match="needs the probabilities of all classes in both sets"):
        compare_sets(top, top, scale="entropy", rng=rng)


def test_scores_say_the_same_by_a_slow_second_opinion():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(4, 0.5), 50)
    for row, margin, entropy in zip(proba, margin_of(proba), entropy_of(proba), strict=True):
        first, second, *_ = sorted(row, reverse=True)
        assert margin == pytest.approx(math.log(first / second))
        share = stats.entropy(row, base=4)
        assert entropy == pytest.approx(math.log((1 - share) / share))


def test_what_cannot_be_matched_says_why():
    hard = Predictions(["1"], [0], [0], ["cat", "dog"])
    with pytest.raises(DataError, match="needs a probability or confidence"):
        match(hard, hard, rng=np.random.default_rng(0))
    with pytest.raises(DataError, match="at least one sample"):
        match(outcomes([]), outcomes([0.5]), rng=np.random.default_rng(0))
    with pytest.raises(DataError, match=r"-0\.1 is not"):
        match(outcomes([0.5]), outcomes([0.5]), epsilon=-0.1, rng=np.random.default_rng(0))


def test_the_table_of_samples_names_subset_and_partner():
    reference = outcomes([0.9, 0.5, 0.7], [0, 1, 0], [True, False, True])
    target = outcomes([0.2, 0.9], [0, 0])
    table = match(reference, target, rng=np.random.default_rng(0)).table()
    assert table["subset"].tolist() == [
        *("matched reference", "unmatched reference", "unmatched reference"),
        *("unmatched target", "matched target"),
    ]
    assert table["pair"].isna().tolist() == [False, True, True, True, False]
    assert table["predicted"].tolist() == ["a", "b", "a", "a", "a"]


def test_the_variance_of_an_ensemble_may_be_matched_on():
    """The worse three models agree on a sample, the less often they are right."""
    rng = np.random.default_rng(8)

    def made(n: int, prefix: str) -> dict[str, Predictions]:
        x, ids = rng.normal(size=(n, 1)), [f"{prefix} {i}" for i in range(n)]
        y = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
        models = {}
        for name in ("one", "two", "three"):
            p = special.expit(2 * x[:, 0] + 0.7 * rng.normal(size=n))
            order = rng.permutation(n)  # as files have them: the same samples in another order
            proba = np.column_stack([1 - p, p])[order]
            models[name] = Predictions(np.array(ids)[order], y[order], proba.argmax(axis=1), ["no", "yes"], proba)
        return {name: replace(each, ensemble=tuple(models.values())) for name, each in models.items()}

    references, targets = made(900, "r"), made(500, "t")
    own = references["one"]
    said = [[each.proba[each.ids.tolist().index(name)] for each in references.values()] for name in own.ids[:20]]
    slow = [-math.log(sum(np.var([p[c] for p in models]) for c in range(2))) for models in said]
    assert agreement_of(own)[:20] == pytest.approx(slow)
    row = compare_sets(own, targets["one"], scale="variance", rng=rng)
    assert row.matched_gap.interval.holds(0.0)
    assert "within 0.005" in matched_verdict(row).used
    assert "At equal ensemble variance" in matched_verdict(row).headline
    with pytest.raises(DataError, match="of several models on the same samples"):
        compare_sets(replace(own, ensemble=()), targets["one"], scale="variance", rng=rng)


@pytest.mark.parametrize(("confidence", "logit"), [(0.9999, True), (0.9, False)])
def test_confidences_of_both_sets_together_choose_the_scale_of_all_subsets(confidence, logit):
    sure = np.full(40, confidence)
    outcomes = Outcomes(np.zeros(40, dtype=np.int64), sure, np.ones(40, dtype=bool), ("a",))
    matched = match(outcomes, outcomes, rng=np.random.default_rng(0))
    assert on_logit_scale(matched) is logit
    at, height = densities(matched)["reference"]
    assert abs(at[np.argmax(height)] - confidence) < (0.0001 if logit else 0.02)
