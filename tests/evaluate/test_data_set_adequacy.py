"""Curves, differences and verdicts: on populations where it is known what would help."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.adequacy_populations import (
    MORE_HELPS,
    POPULATION,
    SAME,
    SIZES,
    classes,
    found_of,
    power_law,
    shifts_of,
    sized_trials,
)
from tests.evaluate.coverage import NUMBERS
from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.claims import claim
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.outlook import EXPONENTS, Contrast, _told, together, weights
from touchstone.core.evaluate.data_set_adequacy.results import Estimate
from touchstone.core.evaluate.data_set_adequacy.verdict import GAIN, GAP, KINDS, adequacy_verdict, kind, sentence
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, t_interval
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.by_metric import metrics_on_sources
from touchstone.core.evaluate.source_robustness.counts import groups
from touchstone.core.evaluate.source_robustness.estimate import Error, error_over_draws, error_over_sources, measure
from touchstone.core.evaluate.source_robustness.parametric_null import KIND as NULL
from touchstone.core.report.data_set_adequacy import answer
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE


@pytest.fixture(scope="module")
def trials() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = POPULATION.data(rng)
    return pd.concat([sized_trials(data, rng, MORE_HELPS), sized_trials(data, rng, SAME, model="other")])


@pytest.fixture(scope="module")
def found(trials):
    return adequacy_of(trials, n_per_class=classes(trials))


def test_at_each_size_the_numbers_are_those_of_source_robustness(trials, found):
    for size, point in zip(SIZES, found.overall[0].points, strict=True):
        part = trials[(trials["n_train"] == size).to_numpy(dtype=bool) & (trials["model"] == "model").to_numpy()]
        in_data = sum(classes(trials).values()) - part["n_test"]  # what is cut from training is still in the data
        [alone] = expected_accuracy_intervals(part.drop(columns="size").assign(n_train=in_data)).overall
        assert point.n == size
        assert point.expected.n_train == size
        for name in NUMBERS:
            one, other = getattr(point.expected, name), getattr(alone, name)
            assert one.value == other.value
            assert one.over_draws == other.over_draws
            assert (one.over_sources.lower, one.over_sources.upper) == pytest.approx(
                (other.over_sources.lower, other.over_sources.upper)
            )


def test_at_each_size_there_is_every_metric_that_source_robustness_has(trials, found):
    names = set()
    for size, point in zip(SIZES, found.overall[0].points, strict=True):
        part = trials[(trials["n_train"] == size).to_numpy(dtype=bool) & (trials["model"] == "model").to_numpy()]
        in_data = sum(classes(trials).values()) - part["n_test"]
        alone = {each.metric: each for each in metrics_on_sources(part.drop(columns="size").assign(n_train=in_data))}
        at_size = {each.metric: each for each in found.intervals.metrics_of(point.expected)}
        assert at_size.keys() == alone.keys()
        for name, each in at_size.items():
            assert (each.n_train, each.exclusive.value) == (size, alone[name].exclusive.value)
            assert each.rho.over_sources.lower == pytest.approx(alone[name].rho.over_sources.lower)
        names |= at_size.keys()
    shown = answer(found)
    assert len(shown.section("metrics").parts[0].lines) == len(names) * len(SIZES)
    last = [each for each in shown.numbers if each.name == "data_set_adequacy.metric" and each.of[0] == "model"]
    assert {each.of[2]: each.value for each in last} == {name: each.exclusive.value for name, each in at_size.items()}


def test_the_spread_over_draws_stands_beside_each_accuracy(trials, found):
    part = trials[
        trials["label"].isna().to_numpy()
        & (trials["scheme"] == "source_exclusive").to_numpy()
        & (trials["model"] == "model").to_numpy()
        & (trials["n_train"] == 300).to_numpy(dtype=bool)
    ]
    accuracy = part["n_correct"].to_numpy(dtype=float) / part["n_test"].to_numpy(dtype=float)
    assert found.overall[0].points[1].expected.exclusive.sd == pytest.approx(np.std(accuracy, ddof=1))


def test_sizes_are_compared_draw_by_draw_and_source_by_source(found):
    rising, same = found.overall
    assert [(step.before.n, step.after.n) for step in rising.steps] == list(pairwise(SIZES))
    for curve in (rising, same):
        for step in curve.steps:
            before, after = step.before.expected, step.after.expected
            for name in NUMBERS:
                told = getattr(step, name)
                assert told.value == pytest.approx(getattr(after, name).value - getattr(before, name).value)
            # Paired: far surer than two accuracies whose errors had nothing to do with each other.
            apart = np.hypot(before.exclusive.over_sources.width, after.exclusive.over_sources.width)
            assert step.exclusive.over_sources.width < 0.7 * apart
    assert all(step.exclusive.p_sources < 0.01 for step in rising.steps)
    assert all(step.exclusive.over_sources.holds(0.0) for step in same.steps)


def test_only_draws_that_are_finished_at_every_size_count(trials):
    one = trials[(trials["model"] == "model").to_numpy()]
    late = (one["size"] == 3000) & (one["repeat"] >= 5) & (one["scheme"] == "source_exclusive")
    found = adequacy_of(one[~late.to_numpy(dtype=bool)], n_per_class=classes(one))
    assert found.n_trials == 5 * 40 - 15
    assert found.n_used == 5 * 25
    assert {point.expected.exclusive.n_draws for point in found.overall[0].points} == {5}
    assert {point.expected.inclusive.n_draws for point in found.overall[0].points} == {20}
    assert "125 of 185 trials used" in adequacy_verdict(found).used


def test_without_classes_the_curves_of_models_are_the_same(trials, found):
    quick = adequacy_of(trials, n_per_class=classes(trials), by_class=False)
    assert quick.overall == quick.curves
    for one, other in zip(quick.overall, found.overall, strict=True):
        assert sentence(one) == sentence(other)
        assert one.points[0].expected.exclusive == other.points[0].expected.exclusive


def test_one_scheme_alone_gives_a_curve_and_no_outlook(trials):
    part = trials[(trials["scheme"] == "source_inclusive").to_numpy()]
    found = adequacy_of(part, n_per_class=classes(part))
    assert all(curve.outlook is None and curve.steps == () for curve in found.curves)
    assert "both schemes at two sizes" in sentence(found.overall[0])
    assert len(found.table()) == 2 * 5 * (1 + 4)


def test_two_sizes_are_enough_for_an_outlook_of_every_class(trials):
    part = trials[trials["size"].isin([3000, 0]).to_numpy(dtype=bool)]
    curves = adequacy_of(part, n_per_class=classes(trials)).curves
    assert all(curve.outlook.next_gain.interval.known for curve in curves)


def test_nothing_finished_is_said_so(trials):
    failed = trials[trials["label"].isna().to_numpy()].assign(status="failed")
    found = adequacy_of(failed, n_per_class=classes(trials))
    assert found.curves == ()
    assert found.n_failed == found.n_trials == 400
    assert adequacy_verdict(found).headline == "No split has been finished at every size yet."


def test_where_samples_help_the_verdict_says_so():
    found = found_of(POPULATION, MORE_HELPS)
    curve = found.overall[0]
    assert kind(curve) in ("more", "both")
    verdict = adequacy_verdict(found)
    assert KINDS[kind(curve)][1:] in verdict.headline
    assert verdict.advice.startswith("Next: collect")
    assert [claim.kind for claim in verdict.claims] == [GAIN, GAP]
    assert {kind(of_class) for of_class in found.classes_of(curve)} <= {"more", "both", "gap", "unknown"}


def test_where_only_new_sources_help_the_verdict_says_so():
    found = found_of(POPULATION, SAME)
    assert kind(found.overall[0]) == "sources"
    verdict = adequacy_verdict(found)
    assert KINDS["sources"][1:] in verdict.headline
    assert verdict.advice == "Next: collect samples from new sources."
    assert adequacy_verdict(found, finished=False).advice == ""
    kinds = {kind(curve) for curve in found.classes_of(found.overall[0])}
    assert kinds <= {"sources", "gap", "flat", "unknown"}


@pytest.mark.parametrize("shifts", [SAME, MORE_HELPS])
def test_clusters_never_carry_the_word_sources(shifts):
    found = found_of(POPULATION, shifts, source_finder="kmeans")
    assert kind(found.overall[0]) in ("more", "flat", "unknown")
    for null in (None, claim(NULL, 0.1, Interval(0.05, 0.15), 0.001), claim(NULL, 0.0, Interval(-0.01, 0.01), 0.9)):
        verdict = adequacy_verdict(found, null=null)
        text = verdict.text.replace("They are no evidence of sources", "").replace(
            "only known sources show whether these are sources", ""
        )
        assert "sources" not in text
        assert "count on" not in text.lower()
        assert GAP not in {claim.kind for claim in verdict.claims}


def test_where_nothing_is_missing_the_verdict_says_so():
    found = found_of(replace(POPULATION, exclusive=0.97, source_sd=0.1), SAME)
    assert kind(found.overall[0]) == "enough"


def test_few_samples_leave_it_undecided():
    small = replace(POPULATION, n_classes=2, n_sources=3, size=12, source_sd=0.8)
    found = found_of(small, dict(list(MORE_HELPS.items())[-2:]), n_repeats=6)
    assert kind(found.overall[0]) in ("unknown", "gap")
    assert "ndecided" in sentence(found.overall[0])


def test_what_is_worth_it_is_for_the_reader_to_say():
    curve = found_of(POPULATION, MORE_HELPS).overall[0]
    assert kind(curve, worth=0.01) in ("more", "both")
    assert kind(curve, worth=0.5) == "enough"


def test_a_model_below_the_majority_is_called_that_first(found):
    seen = found.overall[0].points[-1].expected.inclusive
    for majority, how in ((0.99, "worse"), (seen.value, "not significantly better")):
        value = seen.value - majority
        above = replace(found.overall[0].above_majority, value=value, over_sources=Interval(value - 0.01, value + 0.01),
                        p_sources=0.001)  # fmt: skip
        curves = tuple(replace(curve, above_majority=above) for curve in found.curves)
        plain = replace(found, curves=curves, intervals=replace(found.intervals, metrics=()))
        verdict = adequacy_verdict(plain)
        assert verdict.headline.startswith(
            f"model is {how} than the majority-class baseline of {100 * majority:.1f} %: 9"
        )
        assert verdict.claims[0].kind == "source_robustness.below_baseline"
        with_metrics = adequacy_verdict(replace(plain, intervals=found.intervals)).headline
        assert "There balanced accuracy is 9" in with_metrics
        assert "is worse than" not in with_metrics, "it has learned something"
    assert "Majority-class baseline 25." in adequacy_verdict(found).used
    assert "chance 25.0 %" in adequacy_verdict(found).used


@pytest.mark.parametrize(
    ("gain", "gap", "known", "clusters"),
    [
        ((0.02, 0.04), (-0.1, 0.005), "more", "more"),
        ((0.02, 0.04), (0.1, 0.2), "both", "more"),
        ((0.001, 0.004), (0.1, 0.2), "sources", "flat"),
        ((-0.005, 0.004), (-0.005, 0.005), "enough", "flat"),
        ((-0.005, 0.004), (-0.1, 0.02), "flat", "flat"),
        ((-0.02, 0.02), (0.1, 0.2), "gap", "unknown"),
        ((-0.02, 0.02), (-0.1, 0.2), "unknown", "unknown"),
    ],
)
def test_the_verdict_rests_on_two_claims(found, gain, gap, known, clusters):
    told = {
        name: Estimate(sum(ends) / 2, Interval(*ends), Interval(*ends), p_value=0.001 if ends[0] > 0 else 0.5)
        for name, ends in {"next_gain": gain, "gap": gap}.items()
    }
    outlook = replace(found.overall[0].outlook, **told)
    for finder, expected in (("known", known), ("kmeans", clusters)):
        curve = replace(found.overall[0], outlook=outlook, source_finder=finder)
        assert kind(curve, worth=0.01) == expected
        assert sentence(curve).startswith(KINDS[expected])
        assert kind(replace(curve, outlook=replace(outlook, next_gain=Estimate(0.0), gap=Estimate()))) == "unknown"
        assert kind(replace(curve, outlook=None)) == "unknown"


def test_claims_of_classes_are_corrected_for_their_number():
    one, many = (found_of(replace(POPULATION, n_classes=n), SAME) for n in (2, 8))
    outlook = many.classes_of(many.overall[0])[0].outlook
    assert outlook is not None
    assert outlook.n_claims == 8
    assert one.classes_of(one.overall[0])[0].outlook.n_claims == 2
    assert many.overall[0].outlook.n_claims == 1


@pytest.mark.parametrize("n_claims", [1, 4, 10, 100])
def test_more_repeats_are_advised_where_draws_are_the_trouble_however_many_claims_there_are(found, n_claims):
    outlook = found.overall[0].outlook
    for se_draws, advised in ((0.01, True), (0.004, False)):
        draws, sources = Error(se_draws, 16.0), Error(0.01, 16.0)
        contrast = Contrast(0.0, draws, sources, sources, own_df=4.0, scale=1.0, of_samples=UNKNOWN)
        [told] = _told([contrast], moderated=False, beside=n_claims)
        assert told.of_draws == pytest.approx((se_draws / 0.01) ** 2)
        curve = replace(found.overall[0], outlook=replace(outlook, next_gain=told))
        text, advice = adequacy_verdict(found, curve).text, adequacy_verdict(found, curve).advice
        assert advice.startswith("Next: ask for more repeats" if advised else "Next: to decide, collect more samples")
        assert ("More repeats would narrow this" in text) == advised
        assert ("More repeats cannot narrow this much" in text) != advised


def test_claims_of_models_are_corrected_over_all_finders(trials, found):
    both = pd.concat([trials, trials.assign(source_finder="known")])
    outlooks = [curve.outlook for curve in adequacy_of(both, n_per_class=classes(trials)).overall]
    assert [one.n_claims for one in outlooks] == [4, 4, 4, 4]
    assert found.overall[0].outlook.n_claims == 2
    assert outlooks[0].gain.interval.width > found.overall[0].outlook.gain.interval.width


def test_a_class_that_has_no_more_samples_is_judged_by_its_own(trials):
    one = trials[(trials["model"] == "model").to_numpy()]
    n_label = int(one[one["label"] == "class 0"]["n_label"].max())
    n_per_class = classes(one) | {"class 0": n_label + 20}
    found = adequacy_of(one, n_per_class=n_per_class)
    rare = next(curve for curve in found.curves if curve.label == "class 0")
    n = [point.n for point in rare.points]
    assert n[0] == pytest.approx(20, abs=6)
    assert max(n) < 200, "a class cannot be trained on more samples than it has"
    assert rare.outlook is None or rare.outlook.before.n < rare.outlook.after.n / 1.25
    assert next(curve for curve in found.curves if curve.label == "class 1").points[0].n == 25


@pytest.mark.parametrize(("finder", "scheme"), [("known", EXCLUSIVE), ("kmeans", INCLUSIVE)])
def test_known_sources_count_once_in_the_most_that_the_next_doubling_brings(finder, scheme):
    data = POPULATION.data(np.random.default_rng(3))
    trials = sized_trials(data, np.random.default_rng(4), SAME).assign(source_finder=finder)
    found = adequacy_of(trials, n_per_class=classes(trials), by_class=False)
    near = trials[(trials["n_train"] >= max(SIZES) / 8.5).to_numpy(dtype=bool)]
    (group,) = groups(near.assign(model=near["n_train"].astype(TEXTS), n_train=1))
    measured = [
        measure(group.models[str(size)][scheme], group.layout, scheme, np.ones(4, dtype=bool))
        for size in (3000, 10_000)
    ]
    lower, upper = [], []
    for exponent in EXPONENTS:
        terms = list(zip(weights(np.array([3000.0, 10_000.0]), exponent).tolist(), measured, strict=True))
        value = sum(weight * of.value for weight, of in terms)
        twice = error_over_sources(terms, group.layout)
        clusters = finder != "known"
        once = error_over_sources(terms, group.layout, doubled=clusters, whole_draws=clusters)
        lower.append(t_interval(value, twice.se, twice.df).lower)
        draws = error_over_draws(terms)
        if not clusters and draws.se > once.se:
            once = Error(draws.se, min(draws.df, once.df))
        upper.append(t_interval(value, once.se, once.df).upper)
    told = found.overall[0].outlook.next_gain.interval
    assert told.lower == pytest.approx(min(lower))
    assert told.upper == pytest.approx(max(upper))


def test_tables_hold_every_size_class_and_step(found):
    table, steps = found.table(), found.steps_table()
    assert len(table) == 2 * 5 * (1 + 4)
    assert {"size", "n", "n_train", "exclusive", "exclusive_sd", "inclusive_sd", "rho_sources_lower"} <= set(table)
    assert len(steps) == 2 * 4 * (1 + 4) * 3
    assert steps["size"].isin([300, 1000, 3000, 0]).all()


N_DATA_SETS = 200


@pytest.mark.evidence
def test_what_verdicts_rest_on_covers(capsys):
    law = power_law(SIZES, ceiling=0.88, first=0.6, exponent=0.45)
    shifts = shifts_of(POPULATION, law)
    gain = (law[10_000] - law[3000]) / np.log2(10_000 / 3000)
    gap = POPULATION.truth()["inclusive"] - law[10_000]
    following = power_law([100, 20_000], ceiling=0.88, first=0.6, exponent=0.45)[20_000] - law[10_000]
    held: dict[str, list[bool]] = {"gain": [], "gap": [], "next": [], "claim": []}
    kinds = []
    for seed in range(N_DATA_SETS):
        found = found_of(POPULATION, shifts, seed=seed)
        outlook, learning = found.overall[0].outlook, found.overall[0].learning["exclusive"]
        held["gain"].append(outlook.gain.interval.holds(gain))
        held["gap"].append(outlook.gap.interval.holds(gap))
        if learning.law is not None:
            held["next"].append(learning.next_gain.interval.holds(following))
        held["claim"].append(outlook.next_gain.interval.holds(following))
        kinds.append(kind(found.overall[0]))
    with capsys.disabled():
        print({name: f"{np.mean(of):.3f} of {len(of)}" for name, of in held.items()})
        print({name: kinds.count(name) for name in dict.fromkeys(kinds)})
    assert all(np.mean(of) >= 0.91 for of in held.values())
    assert len(held["next"]) > 0.8 * N_DATA_SETS


@pytest.mark.evidence
def test_wrong_verdicts_are_rare_where_nothing_rises(capsys):
    held, flat = [], 0
    for seed in range(N_DATA_SETS):
        found = found_of(replace(POPULATION, class_sd=0.0), SAME, seed=seed)
        told = [curve.outlook.gain.interval for curve in found.classes_of(found.overall[0])]
        held.append(all(interval.holds(0.0) for interval in told))
        flat += kind(found.overall[0]) in ("more", "both")
    with capsys.disabled():
        print(f"every class: {np.mean(held):.3f} of {len(held)}; wrongly rising: {flat}")
    assert np.mean(held) >= 0.91
    assert flat / N_DATA_SETS <= 0.05


@pytest.mark.parametrize("rise", [0.0312, 0.07, 0.1111, 0.013])
def test_of_two_sizes_the_middle_exponent_is_told_whatever_is_left_by_rounding(rise):
    n, accuracy = np.array([3000.0, 10_000.0]), np.array([0.8, 0.8 + rise])
    at = [Estimate(float(weights(n, exponent) @ accuracy), Interval(0.0, 0.1), p_value=0.01) for exponent in EXPONENTS]
    misfits = [Estimate(0.0, Interval(0.0, 0.0), p_value=1.0)] * len(EXPONENTS)
    assert together(at, misfits, n, accuracy).value == at[EXPONENTS.index(1.0)].value
