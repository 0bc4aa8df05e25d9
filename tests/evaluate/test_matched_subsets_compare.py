"""Comparing two test sets: intervals over data, claims that hold, and sentences that say no more than the numbers."""

from dataclasses import replace

import numpy as np
import pytest

from core.data.predictions.record import Predictions
from core.evaluate.intervals import Interval, share_difference, sign_flip_p
from core.evaluate.matched_subsets import (
    Outcomes,
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
from tests.evaluate.matching_populations import TwoSets

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_numbers_are_means_over_the_repeats_and_add_up():
    reference, target = TwoSets().draw(generator())
    of = compare_sets(reference, target, n_resamples=20, rng=generator(1))
    sizes = {subset.name: subset.n for subset in of.subsets}
    assert sizes["matched target"] == sizes["matched reference"] == of.n_pairs
    assert sizes["matched target"] + sizes["unmatched target"] == of.n_target == 400
    assert of.gap.value == pytest.approx(reference.accuracy - target.accuracy)
    assert of.explained.value == pytest.approx(of.gap.value - of.matched_gap.value)
    matched = of.subset("matched reference").accuracy.value - of.subset("matched target").accuracy.value
    assert matched == pytest.approx(of.matched_gap.value, abs=2e-3)  # means of ratios against ratio of means
    assert of.least_unmatched_target <= of.unmatched_target.value
    assert abs(of.confidence_difference) < of.epsilon
    assert sum(row.n_pairs for row in of.labels) == pytest.approx(of.n_pairs)
    assert of.matched is not None
    assert of.matched.n_pairs == pytest.approx(of.n_pairs, abs=10)


def test_the_interval_does_not_shrink_with_more_repeats_and_is_no_spread_over_them():
    reference, target = TwoSets(n_reference=1000, n_target=1000).draw(generator(3))
    few, many = (compare_sets(reference, target, n_repeats=n, rng=generator(4)) for n in (10, 100))
    assert many.matched_gap.interval.width > 0.7 * few.matched_gap.interval.width
    assert many.matched_gap.interval.width > 2 * 2 * many.spread


def test_few_pairs_that_differ_are_judged_from_the_pairs():
    right = Outcomes(np.zeros(200, dtype=np.int64), np.full(200, 0.99), np.ones(200, dtype=np.bool_), ("a",))
    of = compare_sets(right, right, rng=generator())
    assert of.matched_gap.by == "pairs"
    assert of.matched_gap.interval.lower < -0.01 < 0.01 < of.matched_gap.interval.upper
    assert of.p_value == 1.0
    assert of.unmatched_target.value == 0.0
    assert of.unmatched_target.interval.upper > 0.01


def test_a_maximum_matching_is_made_once_and_pairs_more():
    reference, target = TwoSets(n_reference=400).draw(generator(5))
    most = compare_sets(reference, target, method="maximum", rng=generator())
    random = compare_sets(reference, target, n_resamples=10, rng=generator())
    assert most.n_repeats == 1
    assert most.n_pairs > random.n_pairs
    assert most.unmatched_target.value == pytest.approx(random.least_unmatched_target)
    assert most.matched_gap.by == "pairs"
    assert "as many pairs as possible (least total difference of confidence)" in matched_verdict(most).used


def test_the_curve_shares_everything_but_epsilon():
    reference, target = TwoSets().draw(generator())
    curve = epsilon_curve(reference, target, epsilons=(0.0005, 0.005, 0.05), n_resamples=5, rng=generator())
    assert [row.epsilon for row in curve] == [0.0005, 0.005, 0.05]
    assert len({row.gap for row in curve}) == 1
    shares = [row.unmatched_target.value for row in curve]
    assert shares == sorted(shares, reverse=True)
    alone = compare_sets(reference, target, epsilon=0.05, n_resamples=5, rng=generator())
    assert curve[-1].least_unmatched_target == alone.least_unmatched_target
    assert len(comparison_table(curve)) == 3


def test_models_are_sorted_corrected_and_those_of_one_set_counted():
    draws = {
        name: TwoSets(fall=fall).draw(generator(i)) for i, (name, fall) in enumerate({"a": 0.3, "b": 0.02}.items())
    }
    references = {name: pair[0] for name, pair in draws.items()} | {"only here": draws["a"][0]}
    targets = {name: pair[1] for name, pair in draws.items()} | {"only there": draws["a"][1]}
    models = compare_models(references, targets, n_resamples=20, rng=generator())
    accuracies = [row.subset("reference").accuracy.value for row in models.rows]
    assert accuracies == sorted(accuracies)
    assert models.in_one_set_only == ("only here", "only there")
    assert all(row.p_holm >= row.p_value for row in models.rows)
    said = models_verdict(models)
    assert "2 models were left out because only one set has their predictions." in said
    assert "At the same confidence it still falls in 1 of 2" in said
    assert models.table()["model"].tolist() == [row.model for row in models.rows]


def test_a_model_is_told_the_same_whoever_else_is_there():
    one, other = (TwoSets().draw(generator(i)) for i in range(2))
    references, targets = ({"a": one[k], "b": other[k]} for k in range(2))
    both = compare_models(references, targets, n_resamples=5, rng=generator())
    alone = compare_models({"b": other[0]}, {"b": other[1]}, n_resamples=5, rng=generator())
    (same,) = [row for row in both.rows if row.model == "b"]
    assert same.matched_gap == alone.rows[0].matched_gap


def test_labels_below_the_floor_are_not_judged():
    reference, target = TwoSets(n_reference=900, n_target=300, fall=0.4).draw(generator())
    rare = np.where(np.arange(300) < 20, 0, 1 + target.label % 2)
    of = compare_sets(reference, replace(target, label=rare), n_resamples=5, rng=generator())
    by_label = {row.label: row for row in of.labels}
    assert not by_label["label 0"].enough
    assert np.isnan(by_label["label 0"].p_holm)
    assert not by_label["label 0"].told_apart
    assert by_label["label 1"].told_apart
    assert "1 label with fewer than 30 pairs not judged" in matched_verdict(of).text
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
    assert "Without confidences nothing can be matched" in said.headline
    assert "export the probabilities too" in said.advice
    assert models_verdict(found) == (
        "Accuracy falls in 14 of 14 models (each by its own 95 % interval). "
        "14 models come without confidences, and nothing could be matched."
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
        assert of.explained.interval.lower > 0.1
        said = matched_verdict(of)
        assert said.headline.startswith("Accuracy falls on the new set by 18.1 points")
        assert "on matched samples no difference can be shown" in said.headline
        assert "look first at the unmatched samples" in said.advice


def test_the_spam_model_fails_at_the_same_confidence(shared_data):
    import pandas as pd

    sets = []
    for name in ("preds", "hindi_preds"):
        table = pd.read_csv(shared_data / "predictions" / f"spam__{name}.tsv", sep="\t")
        predicted = table["predicted"].str.removeprefix("LABEL_").astype(int)
        rows = np.arange(len(table)).astype(str)
        sets.append(Predictions(rows, table["target"], predicted, ["ham", "spam"], confidence=table["prob"].clip(0, 1)))
    reference, target = sets
    of = compare_sets(reference, target, n_resamples=50, rng=generator())
    assert (round(of.subset("reference").accuracy.value, 4), round(of.subset("target").accuracy.value, 4)) == (
        0.9982,
        0.5372,
    )
    assert of.gap.interval.lower > 0.44
    assert of.matched_gap.interval.lower > 0.2


@pytest.mark.parametrize(
    ("population", "headline", "advice"),
    [
        (TwoSets(n_target=1500, fall=0.2), "on matched samples it falls by", "do not trust the model's confidence"),
        (TwoSets(n_target=1500, fall=0.02), "no difference can be shown", "watch the confidences"),
        (TwoSets(fall=0.02, hardness=6), "No fall can be shown", "samples of either set would be needed"),
        (TwoSets(fall=-0.2, hardness=9), "Accuracy rises on the new set by", "nothing to fear"),
        (TwoSets(n_reference=40, n_target=35, fall=0.5), "too few to claim anything", "plan with the accuracy"),
        (
            TwoSets(n_reference=500, n_target=2500, fall=0.02),
            "has no counterpart",
            "look first at the unmatched samples",
        ),
    ],
    ids=["fails", "knows", "nothing shown", "rises", "few pairs", "unmatched"],
)
def test_the_verdict_is_phrased_on_the_bounds(population, headline, advice):
    of = compare_sets(*population.draw(generator(7)), n_resamples=60, rng=generator(8))
    said = matched_verdict(of, target="the Hindi set")
    assert "the new set" not in said.text
    headline = headline.replace("the new set", "the Hindi set")
    assert headline in said.headline
    assert advice in said.advice
    assert "nan" not in said.text
    assert "[nan" not in said.text


def test_findings_say_what_does_not_hold_here():
    of = compare_sets(*TwoSets(n_reference=500, n_target=2500).draw(generator()), n_resamples=20, rng=generator())
    wider = replace(of, explained=SetEstimate(-0.05, Interval(-0.08, -0.02), "bootstrap"))
    assert "here it is wider" in matched_verdict(wider).text
    assert "here it is wider" not in matched_verdict(of).text


def test_what_a_small_reference_does_to_the_share_without_a_counterpart():
    of = compare_sets(*TwoSets(n_reference=500, n_target=2500).draw(generator()), n_resamples=20, rng=generator())
    assert "at least 80.0 % of the new set must stay" in smaller_reference(of.n_reference, of.n_target)
    assert of.unmatched_target.value >= 0.8
    assert smaller_reference(500, 500) == ""


def with_parts(gap: SetEstimate, matched: SetEstimate, explained: SetEstimate):
    """A comparison with most samples matched, and the numbers that are of interest."""
    sure = Outcomes(np.zeros(250, dtype=np.int64), np.full(250, 0.9), np.arange(250) % 10 > 0, ("a",))
    return replace(compare_sets(sure, sure, rng=generator()), gap=gap, matched_gap=matched, explained=explained)


def test_a_reason_is_given_only_where_the_bounds_leave_no_other():
    gap, matched = SetEstimate(0.088, Interval(0.02, 0.15)), SetEstimate(0.01, Interval(-0.01, 0.03), "bootstrap")
    told = matched_verdict(with_parts(gap, matched, SetEstimate(0.078, Interval(0.06, 0.1)))).advice
    assert "Most of the fall" in told
    for lower in (-0.021, 0.04):
        unclear = SetEstimate(0.064, Interval(lower, 0.098))
        said = matched_verdict(with_parts(gap, matched, unclear)).advice
        assert "Most of the fall" not in said
        assert "cannot tell" in said
        assert "samples of either set would be needed" in said


def test_what_accounts_for_more_than_the_fall_is_not_called_a_part_of_it():
    gap, explained = SetEstimate(0.356, Interval(0.3, 0.4)), SetEstimate(0.431, Interval(0.38, 0.48))
    of = with_parts(gap, SetEstimate(-0.075, Interval(-0.12, 0.02), "bootstrap"), explained)
    said = matched_verdict(of).text
    assert "43.1 points [38.0, 48.0], more than the 35.6 points by which it falls" in said
    assert "account for 43.1" not in said


def test_the_interval_of_a_difference_is_newcombes():
    """Newcombe (1998), table II, method 10: 56/70 - 48/80 and 10/10 - 0/20."""
    for counts, ends in (((56.0, 70.0, 48.0, 80.0), (0.0524, 0.3339)), ((10.0, 10.0, 0.0, 20.0), (0.6791, 1.0))):
        found = share_difference(*counts)
        assert (found.lower, found.upper) == pytest.approx(ends, abs=5e-5)
    assert not share_difference(0.0, 0.0, 1.0, 2.0).known


def test_the_sign_flip_test_is_exact():
    from scipy import stats

    for n_plus, n_minus in ((9, 1), (4, 4), (0, 7), (30, 12), (1, 0)):
        exact = stats.binomtest(n_plus, n_plus + n_minus).pvalue
        assert sign_flip_p(float(n_plus), float(n_minus)) == pytest.approx(exact, abs=1e-12)


def coverage(population: TwoSets, n: int, *, seed: int = 5, **options) -> dict[str, float]:
    """Share of fresh draws whose interval held what matching gives on average."""
    names = ("gap", "matched_gap", "explained", "unmatched_target")
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
    assert held["explained"] >= 0.90
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
        of = compare_sets(*population.draw(rng), n_resamples=0, rng=rng)
        pairs.append(of.p_value < 0.05)
        labels.append(any(row.told_apart for row in of.labels))
    with capsys.disabled():
        print(f"\nwrong claims: over pairs {np.mean(pairs):.3f}, in any label {np.mean(labels):.3f}")
    assert np.mean(pairs) <= 0.08
    assert np.mean(labels) <= 0.08


@pytest.mark.parametrize("method", ["random", "maximum"])
def test_every_step_is_counted(method):
    sets, steps = TwoSets(n_reference=300, n_target=200).draw(generator(1)), []
    options = {"method": method, "n_repeats": 3, "n_resamples": 5, "on_step": lambda: steps.append(1)}
    compare_sets(*sets, rng=generator(), **options)
    expected = n_steps(method=method, n_repeats=3, n_resamples=5)
    assert len(steps) == expected
    epsilon_curve(*sets, epsilons=(0.01, 0.02), rng=generator(), **options)
    assert len(steps) == 3 * expected
    compare_models({"a": sets[0], "b": sets[0]}, {"a": sets[1], "b": sets[1]}, rng=generator(), **options)
    assert len(steps) == 5 * expected
