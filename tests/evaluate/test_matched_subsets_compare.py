"""Comparing two test sets: intervals over data, claims that hold, and sentences that say no more than the numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluate.matching_populations import TwoSets
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import Interval, share_difference, share_difference_p
from touchstone.core.evaluate.matched_subsets import (
    Outcomes,
    SetComparison,
    SetEstimate,
    compare_models,
    compare_sets,
    comparison_table,
    epsilon_curve,
    matched_verdict,
    models_verdict,
    n_steps,
    smaller_reference,
)
from touchstone.core.evaluate.matched_subsets.compare import OF_ERROR, most_repeats
from touchstone.core.evaluate.matched_subsets.findings import decided
from touchstone.core.evaluate.wording import gap as ratios_apart
from touchstone.core.evaluate.wording import percent

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def residual_of(comparison: SetComparison) -> Claim:
    claim = comparison.claim("residual")
    assert claim is not None
    return claim


def test_numbers_are_means_over_the_repeats_and_add_up():
    reference, target = TwoSets().draw(generator())
    of = compare_sets(reference, target, rng=generator(1))
    sizes = {subset.name: subset.n for subset in of.subsets}
    assert sizes["matched target"] == pytest.approx(of.n_pairs) == sizes["matched reference"]
    assert sizes["matched target"] + sizes["unmatched target"] == pytest.approx(of.n_target)
    assert of.gap.value == pytest.approx(reference.accuracy - target.accuracy)
    matched = of.subset("matched reference").reached.value - of.subset("matched target").reached.value
    assert matched == pytest.approx(of.matched_gap.value, abs=1e-12)
    assert of.least_unmatched_target <= of.unmatched_target.value
    assert abs(of.confidence_difference) < of.epsilon
    assert sum(row.n_pairs for row in of.labels) == pytest.approx(of.n_pairs)
    assert of.matched is not None
    assert of.matched.n_pairs == pytest.approx(of.n_pairs, abs=10)


def test_the_interval_does_not_shrink_with_more_repeats_and_is_no_spread_over_them():
    reference, target = TwoSets(n_reference=1000, n_target=1000).draw(generator(3))
    few, many = (compare_sets(reference, target, n_repeats=n, more=False, rng=generator(4)) for n in (10, 100))
    assert many.matched_gap.interval.width > 0.7 * few.matched_gap.interval.width
    assert many.matched_gap.interval.width > 2 * 2 * many.spread


def test_few_pairs_that_differ_are_judged_from_the_pairs():
    right = Outcomes(np.zeros(200, dtype=np.int64), np.full(200, 0.99), np.ones(200, dtype=np.bool_), ("a",))
    of = compare_sets(right, right, rng=generator())
    assert of.matched_gap.by == "pairs"
    assert of.matched_gap.interval.lower < -0.01 < 0.01 < of.matched_gap.interval.upper
    assert of.matched_gap.p_value == 1.0
    assert of.unmatched_target.value == 0.0
    assert of.unmatched_target.interval.upper > 0.01


def test_a_maximum_matching_leaves_ties_to_chance_and_pairs_more():
    reference, target = TwoSets(n_reference=400).draw(generator(5))
    most = compare_sets(reference, target, method="maximum", rng=generator())
    random = compare_sets(reference, target, rng=generator())
    assert most.matched_gap.mc_error < 0.005, "only ties are left to chance"
    assert most.n_pairs > random.n_pairs
    assert most.unmatched_target.value == pytest.approx(random.least_unmatched_target)
    assert most.matched_gap.by == "jackknife"
    assert "As many pairs as possible, at the least total difference of confidence" in matched_verdict(most).used


def test_the_curve_shares_everything_but_epsilon():
    reference, target = TwoSets().draw(generator())
    curve = epsilon_curve(reference, target, epsilons=(0.0005, 0.005, 0.05), rng=generator())
    assert [row.epsilon for row in curve] == [0.0005, 0.005, 0.05]
    assert len({repr(row.gap) for row in curve}) == 1
    shares = [row.unmatched_target.value for row in curve]
    assert shares == sorted(shares, reverse=True)
    alone = compare_sets(reference, target, epsilon=0.05, rng=generator())
    assert curve[-1].least_unmatched_target == alone.least_unmatched_target
    assert len(comparison_table(curve)) == 3


def test_models_are_sorted_corrected_and_those_of_one_set_counted():
    draws = {
        name: TwoSets(fall=fall).draw(generator(i)) for i, (name, fall) in enumerate({"a": 0.3, "b": 0.02}.items())
    }
    references = {name: pair[0] for name, pair in draws.items()} | {"only here": draws["a"][0]}
    targets = {name: pair[1] for name, pair in draws.items()} | {"only there": draws["a"][1]}
    models = compare_models(references, targets, rng=generator())
    single = [({name: references[name]}, {name: targets[name]}) for name in draws]
    accuracies = [row.subset("reference").reached.value for row in models.rows]
    assert accuracies == sorted(accuracies)
    assert models.in_one_set_only == ("only here", "only there")
    alone = {row.model: row for row in (compare_models(*one, rng=generator()).rows[0] for one in single)}
    for row in models.rows:
        assert residual_of(row).p_value >= residual_of(alone[row.model]).p_value
    said = models_verdict(models)
    assert "2 models were left out: only one set has their predictions." in said
    assert "At equal confidence it falls in 1 of 2" in said
    assert models.table()["model"].tolist() == [row.model for row in models.rows]


def test_claims_that_are_decided_twice_are_as_decided_once():
    sets = [useless(n, constant=False, seed=n) for n in (900, 400)]
    [once] = decided([compare_sets(*sets, rng=generator())])
    [twice] = decided([once])
    assert (twice.claims, twice.calibrations, twice.baselines) == (once.claims, once.calibrations, once.baselines)
    [beside, _] = decided([once, once])
    assert all(
        of.gain.p_value >= alone.gain.p_value for of, alone in zip(beside.baselines, once.baselines, strict=True)
    )


def test_a_model_is_told_the_same_whoever_else_is_there():
    one, other = (TwoSets().draw(generator(i)) for i in range(2))
    references, targets = ({"a": one[k], "b": other[k]} for k in range(2))
    both = compare_models(references, targets, rng=generator())
    alone = compare_models({"b": other[0]}, {"b": other[1]}, rng=generator())
    (same,) = [row for row in both.rows if row.model == "b"]
    assert same.matched_gap == alone.rows[0].matched_gap


def test_labels_below_the_floor_are_not_judged():
    reference, target = TwoSets(n_reference=900, n_target=300, fall=0.4).draw(generator())
    rare = np.where(np.arange(300) < 20, 0, 1 + target.label % 2)
    of = compare_sets(reference, replace(target, label=rare), rng=generator())
    by_label = {row.label: row for row in of.labels}
    assert not by_label["label 0"].enough
    assert by_label["label 0"].claim is None
    assert not by_label["label 0"].differs
    assert by_label["label 1"].differs
    assert "1 label with fewer than 30 pairs left out." in matched_verdict(of).text
    assert of.labels_table()["enough"].tolist() == [False, True, True]


def test_hard_labels_are_compared_as_wholes(shared_data):
    import pandas as pd

    folder = shared_data / "cifar101"
    sets = {
        name: pd.read_csv(folder / f"{name}_predictions.tsv", sep="\t") for name in ("cifar10_test", "cifar10_1_v4")
    }
    models = [name for name in sets["cifar10_test"] if name not in ("id", "label")]
    references, targets = (
        {name: Predictions(table["id"].astype(str), table["label"], table[name], CLASSES) for name in models}
        for table in sets.values()
    )
    found = compare_models(references, targets, rng=generator())
    assert len(found.rows) == 14
    assert all(row.gap.interval.lower > 0 for row in found.rows)
    assert not any(row.can_match for row in found.rows)
    gaps = {row.model: row.gap.value for row in found.rows}
    told = pd.read_csv(folder / "accuracy.tsv", sep="\t").set_index("model")
    for model, gap in gaps.items():
        assert gap == pytest.approx(told.loc[model, "original"] - told.loc[model, "v4"], abs=1e-4)
    said = matched_verdict(found.rows[0])
    assert "Matching needs confidences" in said.headline
    assert "export probabilities too" in said.advice
    assert "Majority-class baseline: 10.0 % on the reference set" in said.used
    assert models_verdict(found) == (
        "Accuracy falls in 14 of 14 models (corrected for all claims). 14 models come without confidences, "
        "which matching needs."
    )


def test_easy_and_hard_halves_of_a_real_network(shared_data):
    """What sets the halves apart is what the model itself is unsure of, so matched samples should not differ."""
    with np.load(shared_data / "predictions" / "netcal_lenet5_cifar10_softmax.npz") as file:
        proba, y = file["predictions"].astype(np.float64), file["ground_truth"]
    confidence = np.minimum(proba.max(axis=1), 1.0)
    hard = generator(1).random(len(y)) < 1.1 - confidence
    halves = [
        Predictions(
            np.flatnonzero(part).astype(str), y[part], proba[part].argmax(axis=1), CLASSES, confidence=confidence[part]
        )
        for part in (~hard, hard)
    ]
    for by in ("label", "probability"):
        of = compare_sets(*sorted(halves, key=lambda half: -half.n_samples), by=by, rng=generator())
        assert of.gap.interval.lower > 0.1
        assert of.matched_gap.interval.holds(0.0)
        assert of.mix.interval.lower > 0.1
        assert next(iter(of.parts)) == "mix"
        said = matched_verdict(of)
        assert said.headline.startswith("Accuracy falls by 18.1 points")
        assert "At equal confidence there is no significant difference" in said.headline
        assert "monitor confidences" in said.advice


def test_the_spam_model_fails_at_the_same_confidence(shared_data):
    import pandas as pd

    sets = []
    for name in ("preds", "hindi_preds"):
        table = pd.read_csv(shared_data / "predictions" / f"spam__{name}.tsv", sep="\t")
        predicted = table["predicted"].str.removeprefix("LABEL_").astype(int)
        rows = np.arange(len(table)).astype(str)
        sets.append(Predictions(rows, table["target"], predicted, ["ham", "spam"], confidence=table["prob"].clip(0, 1)))
    reference, target = sets
    of = compare_sets(reference, target, rng=generator())
    assert (round(of.subset("reference").reached.value, 4), round(of.subset("target").reached.value, 4)) == (
        0.9982,
        0.5372,
    )
    assert of.gap.interval.lower > 0.44
    assert of.matched_gap.interval.lower > 0.2


@pytest.mark.parametrize(
    ("population", "headline", "advice"),
    [
        (TwoSets(n_target=1500, fall=0.2), "At equal confidence accuracy is lower by", "recalibrate the model"),
        (TwoSets(n_target=1500, fall=0.02), "there is no significant difference", "monitor confidences"),
        (TwoSets(fall=0.02, hardness=6), "No significant fall", "this many samples show falls of"),
        (TwoSets(fall=-0.2, hardness=9), "Accuracy rises by", "plan for 90.2 %, the lower accuracy"),
        (TwoSets(n_reference=40, n_target=35, fall=0.5), "too few for a claim", "choose a larger epsilon"),
        (TwoSets(n_reference=500, n_target=2500, fall=0.02), "The mix of confidences accounts", "monitor confidences"),
    ],
    ids=["fails", "knows", "nothing shown", "rises", "few pairs", "runs out"],
)
def test_the_verdict_follows_from_the_claims(population, headline, advice):
    of = compare_sets(*population.draw(generator(7)), rng=generator(8))
    said = matched_verdict(of)
    assert headline in said.headline
    assert advice in said.advice
    assert "nan" not in said.text
    assert said.claims[: len(of.claims)] == of.claims
    assert said.claims[0].kind == "matched_subsets.falls"
    for sentence in re.split(r"(?<=[.]) ", said.headline + " " + said.advice):
        assert len(sentence.split()) <= 25, sentence


def with_claims(**claims: tuple[float, float, float, float]):
    """A comparison whose claims are as given: estimate, both ends, p-value."""
    sure = Outcomes(np.zeros(250, dtype=np.int64), np.full(250, 0.9), np.arange(250) % 10 > 0, ("a",))
    of = compare_sets(sure, sure, rng=generator())
    fields = {"falls": "gap", "residual": "matched_gap", "mix": "mix", "unmatched": "unmatched"}
    numbers = {
        fields[name]: SetEstimate(value, Interval(low, high), "bootstrap")
        for name, (value, low, high, _) in claims.items()
    }
    made = [
        claim(f"matched_subsets.{name}", value, Interval(low, high), p, smallest=0.005, mc_error=0.0)
        for name, (value, low, high, p) in claims.items()
    ]
    return replace(of, claims=tuple(made), **numbers)


def test_the_largest_part_is_said_first_and_decides_what_to_do():
    falls = (0.088, 0.05, 0.12, 0.0001)
    mix = (0.06, 0.04, 0.08, 0.0001)
    residual = (0.02, 0.005, 0.035, 0.01)
    of = with_claims(falls=falls, residual=residual, mix=mix, unmatched=(0.008, -0.01, 0.02, 0.4))
    said = matched_verdict(of)
    first, second = said.headline.index("The mix of confidences"), said.headline.index("At equal confidence")
    assert first < second
    assert "monitor confidences" in said.advice
    turned = matched_verdict(with_claims(falls=falls, residual=mix, mix=residual, unmatched=(0.0, -0.01, 0.02, 0.4)))
    assert turned.headline.index("At equal confidence") < turned.headline.index("The mix of confidences")
    assert "recalibrate" in turned.advice
    left = matched_verdict(
        with_claims(falls=falls, residual=(0.0, -0.02, 0.02, 1.0), mix=(0.0, -0.02, 0.02, 1.0), unmatched=mix)
    )
    assert "Unmatched samples lose 6.0 points" in left.headline
    assert "inspect the unmatched samples" in left.advice


def test_no_reason_is_given_where_no_part_is_decided():
    unclear = (0.064, -0.02, 0.098, 0.2)
    of = with_claims(
        falls=(0.088, 0.02, 0.15, 0.01),
        mix=unclear,
        residual=(0.02, -0.02, 0.06, 0.3),
        unmatched=(0.004, -0.01, 0.02, 0.5),
    )
    said = matched_verdict(of)
    assert "The mix of confidences" not in said.headline
    assert said.advice == ""


def test_a_fall_that_is_surely_small_asks_for_nothing():
    of = with_claims(falls=(0.001, -0.002, 0.004, 0.4), residual=(0.0, -0.02, 0.02, 1.0))
    said = matched_verdict(of)
    assert "is the same within 0.5 points" in said.headline
    assert said.advice == ""


def test_findings_say_what_does_not_hold_here():
    falls, residual = (0.03, 0.01, 0.05, 0.001), (0.09, 0.07, 0.11, 0.0)
    wider = with_claims(falls=falls, residual=residual, mix=(-0.06, -0.08, -0.04, 0.0))
    assert "Here it is wider: 9.0 points against 3.0 points." in matched_verdict(wider).text
    unclear = with_claims(falls=falls, residual=residual, mix=(-0.06, -0.13, 0.01, 0.1))
    assert "Here it is wider" not in matched_verdict(unclear).text


def test_what_a_small_reference_does_to_the_unmatched_share():
    of = compare_sets(*TwoSets(n_reference=500, n_target=2500).draw(generator()), rng=generator())
    assert "at least 80.0 % of the new set stays unmatched" in smaller_reference(of.n_reference, of.n_target)
    assert of.unmatched_target.value >= 0.8
    assert smaller_reference(500, 500) == ""


@pytest.mark.parametrize("method", ["random", "maximum"])
@pytest.mark.parametrize("by", ["label", "probability"])
def test_the_parts_add_up_to_the_gap(method, by):
    for population in (TwoSets(), TwoSets(n_reference=300, n_target=900), TwoSets(decimals=1, n_labels=8)):
        of = compare_sets(*population.draw(generator(2)), method=method, by=by, rng=generator())
        assert sum(part.value for part in of.parts.values()) == pytest.approx(of.gap.value, abs=1e-12)


def test_a_mix_alone_leaves_nothing_to_the_other_parts_however_few_references_there_are():
    """As many references as targets run out of unsure ones, and yet it is the mix that explains the fall."""
    parts = {"mix": [], "residual": [], "unmatched": []}
    for seed in range(20):
        sets = TwoSets(n_reference=1000, n_target=1000, fall=0.02).draw(generator(seed))
        of = compare_sets(*sets, more=False, rng=generator(seed))
        assert of.unmatched_target.value > 0.2
        for name, part in of.parts.items():
            parts[name].append(part.value)
    means = {name: np.mean(values) for name, values in parts.items()}
    assert means["mix"] > 0.05
    assert abs(means["residual"]) < 0.01
    assert abs(means["unmatched"]) < 0.01


def test_matchings_are_added_until_their_luck_is_a_tenth_of_the_error():
    for seed in range(4):
        of = compare_sets(*TwoSets(n_target=900, fall=0.05).draw(generator(seed)), rng=generator())
        assert 10 <= of.n_repeats <= most_repeats(2900, 10)
        for estimate in (of.matched_gap, of.mix, of.unmatched, *(row.matched_gap for row in of.labels)):
            assert estimate.mc_error <= 1.25 * OF_ERROR * estimate.se
    few = compare_sets(*TwoSets(n_target=900).draw(generator()), more=False, rng=generator())
    assert few.n_repeats == 10


def test_a_seed_that_differs_draws_another_bound_but_no_contrary_decision():
    sets = TwoSets(n_target=900, fall=0.055).draw(generator(1))
    decisions = {residual_of(compare_sets(*sets, rng=generator(seed))).decision for seed in range(8)}
    assert len(decisions - {"undecided"}) <= 1


def useless(n: int, *, constant: bool, seed: int = 0) -> Predictions:
    """Three quarters are "sick"; the model answers that throughout, or guesses."""
    rng = generator(seed)
    y = (rng.random(n) < 0.25).astype(int)
    said = np.zeros(n, dtype=int) if constant else (rng.random(n) < 0.4).astype(int)
    return Predictions([str(i) for i in range(n)], y, said, ["sick", "well"], confidence=0.5 + 0.5 * rng.random(n))


def test_a_model_that_learned_nothing_is_called_that_first():
    sets = [useless(n, constant=True, seed=n) for n in (900, 400)]
    said = matched_verdict(compare_sets(*sets, rng=generator()))
    assert said.headline.startswith("The model always predicts “sick” on the reference set.")
    assert said.advice.startswith("Next: look at which classes are confused")
    sets = [useless(n, constant=False, seed=n) for n in (900, 400)]
    of = compare_sets(*sets, rng=generator())
    said = matched_verdict(of)
    assert said.headline.startswith("The model is worse than the majority-class baseline on the reference set by")
    assert [claim.kind for claim in said.claims][:3] == [*["matched_subsets.baseline"] * 2, "matched_subsets.falls"]
    models = compare_models({"m": sets[0], "k": sets[0]}, {"m": sets[1], "k": sets[1]}, rng=generator())
    assert models_verdict(models).startswith("2 models are constant, or worse than the majority-class baseline.")


def test_baselines_stand_beside_every_accuracy():
    sets = [useless(n, constant=False, seed=n) for n in (900, 400)]
    of = compare_sets(*sets, rng=generator())
    for baseline, predictions in zip(of.baselines, sets, strict=True):
        assert baseline.reached == pytest.approx((predictions.y_true == 0).mean())
        assert of.subset(baseline.set).majority == baseline.reached
    for subset in (subset for subset in of.subsets if subset.n):
        assert subset.majority >= subset.chance >= 0.5
    assert {"majority_matched_target", "chance_reference", "mix_decision"} <= set(comparison_table((of,)))


def test_the_interval_of_a_difference_is_newcombes():
    """Newcombe (1998), table II, method 10: 56/70 - 48/80 and 10/10 - 0/20."""
    for counts, ends in (((56.0, 70.0, 48.0, 80.0), (0.0524, 0.3339)), ((10.0, 10.0, 0.0, 20.0), (0.6791, 1.0))):
        found = share_difference(*counts)
        assert (found.lower, found.upper) == pytest.approx(ends, abs=5e-5)
    assert not share_difference(0.0, 0.0, 1.0, 2.0).known


def test_the_p_value_of_a_difference_is_where_its_interval_begins_to_hold_nothing():
    for counts in ((56.0, 70.0, 48.0, 80.0), (3.0, 400.0, 15.0, 380.0), (10.0, 10.0, 0.0, 20.0)):
        p = share_difference_p(*counts)
        ends = [share_difference(*counts, level=1 - p + shift) for shift in (-1e-4 * p, 1e-4 * p)]
        assert [end.holds(0.0) for end in ends] == [False, True]
        assert p == pytest.approx(share_difference_p(*counts[2:], *counts[:2]))
    assert share_difference_p(3.0, 4.0, 6.0, 8.0) == 1.0
    assert np.isnan(share_difference_p(0.0, 0.0, 1.0, 2.0))


@pytest.mark.parametrize("method", ["random", "maximum"])
def test_every_step_is_counted(method):
    sets, steps = TwoSets(n_reference=300, n_target=200).draw(generator(1)), []
    options = {"method": method, "n_repeats": 3, "on_step": lambda: steps.append(1)}
    compare_sets(*sets, rng=generator(), **options)
    expected = n_steps(500, method=method, n_repeats=3)
    assert len(steps) == expected
    epsilon_curve(*sets, epsilons=(0.01, 0.02), rng=generator(), **options)
    of_curve = n_steps(500, method=method, n_repeats=3, more=False)
    assert len(steps) == expected + 2 * of_curve
    compare_models({"a": sets[0], "b": sets[0]}, {"a": sets[1], "b": sets[1]}, rng=generator(), **options)
    assert len(steps) == 3 * expected + 2 * of_curve


# Imbalance is no fault of a model: what it has learned all the same is said.


def rare(n: int, *, auc_shift: float, threshold: float, seed: int, share: float = 1 / 150) -> Predictions:
    """One sample in 150 is a fraud; scores of frauds are shifted normals, and much is flagged."""
    rng = generator(seed)
    y = (rng.random(n) < share).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + auc_shift * y - threshold)))
    said = (score > 0.5).astype(int)
    return Predictions(map(str, range(n)), y, said, ["legit", "fraud"], proba=np.column_stack([1 - score, score]))


def test_a_good_ranking_with_a_low_threshold_is_not_called_worse_than_the_majority():
    """AUC .99 and recall 99 % on 1 fraud in 150: always answering "legit" is more accurate, and finds nothing."""
    sets = [rare(n, auc_shift=3.3, threshold=1.0, seed=i) for i, n in enumerate((20_000, 12_000))]
    of = compare_sets(*sets, n_repeats=2, rng=generator())
    verdict = matched_verdict(of)
    assert "worse than" not in verdict.text
    assert "check the class names" not in verdict.text
    for where in ("the reference set", "the new set"):
        assert f"On {where}, always answering “legit” is more accurate by" in verdict.headline
    area = of.metrics.of("roc_auc").target
    assert f"and AUC is {ratios_apart(area.value, area.interval)}." in verdict.headline
    assert "The ranking is good, the threshold is not." in verdict.headline
    assert area.value > 0.98
    assert of.metrics.positive == "fraud"
    assert of.metrics.of("recall").target.value > 0.95
    assert not models_verdict(compare_models({"m": sets[0]}, {"m": sets[1]}, n_repeats=2, rng=generator())).startswith(
        "1 model is constant"
    )


def test_a_permuted_list_of_classes_is_still_found():
    rng = generator(3)

    def permuted(n: int) -> Predictions:
        y = rng.choice(3, size=n, p=[0.7, 0.2, 0.1])
        right = np.where(rng.random(n) < 0.95, y, rng.integers(0, 3, n))
        return Predictions(map(str, range(n)), y, (right + 1) % 3, ["a", "b", "c"])

    verdict = matched_verdict(compare_sets(permuted(800), permuted(600), rng=generator()))
    assert verdict.headline.startswith("The model is worse than the majority-class baseline on the reference set")
    assert verdict.advice.startswith("Next: check the class names of both files")


def test_a_set_of_one_class_is_no_test_of_several():
    rng = generator(4)
    y = rng.integers(0, 2, 900)
    old = Predictions(map(str, range(900)), y, np.where(rng.random(900) < 0.8, y, 1 - y), ["a", "b"])
    new = Predictions(map(str, range(400)), np.zeros(400, int), (rng.random(400) < 0.6).astype(int), ["a", "b"])
    verdict = matched_verdict(compare_sets(old, new, rng=generator()))
    assert "All samples of the new set are “a”: its accuracy is the recall of that class." in verdict.headline
    assert "worse than" not in verdict.text
    assert "against 100.0 %" not in verdict.text


def test_three_quarters_of_one_class_have_balanced_accuracy_beside():
    rng = generator(5)
    sets = []
    for n in (900, 700):
        y = (rng.random(n) < 0.25).astype(int)
        sets.append(Predictions(map(str, range(n)), y, np.where(rng.random(n) < 0.9, y, 1 - y), ["a", "b"]))
    of = compare_sets(*sets, rng=generator())
    known = of.metrics.of("balanced_accuracy")
    ends = " and ".join(
        f"{percent(each.value, each.interval)} on {where}"
        for each, where in ((known.reference, "the reference set"), (known.target, "the new set"))
    )
    assert f"Balanced accuracy: {ends}." in matched_verdict(of).used


def test_a_model_that_learned_nothing_is_seldom_said_to_have_learned_something():
    said = 0
    for seed in range(60):
        rng = generator(seed)
        sets = [
            Predictions(
                map(str, range(400)),
                (rng.random(400) < 0.1).astype(int),
                (score > 0.7).astype(int),
                ["a", "b"],
                proba=np.column_stack([1 - score, score]),
            )
            for score in (rng.random(400), rng.random(400))
        ]
        headline = matched_verdict(compare_sets(*sets, n_repeats=2, more=False, rng=generator())).headline
        said += " There " in headline
    assert said <= 3 + 2 * np.sqrt(3)
