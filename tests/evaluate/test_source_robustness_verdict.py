"""What is said, and that it is said of the bound and not of the point."""

from dataclasses import replace

import pandas as pd
import pytest

from touchstone.core.evaluate.claims import claim
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.source_robustness import (
    AccuracyIntervals,
    Difference,
    ExpectedInterval,
    ExpectedValue,
    HeldOutSource,
    ModelComparison,
    leading_row,
    source_verdict,
)
from touchstone.core.evaluate.source_robustness.compare import compared
from touchstone.core.evaluate.source_robustness.results import NO_DIFFERENCE
from touchstone.core.evaluate.wording import THIN_SPACE

NAN = float("nan")
RHOS = {"svm": 0.8, "mlp": 0.85, "tree": 0.82}
EQUAL = Difference(0.001, Interval(-0.002, 0.004), UNKNOWN, 0.5, NAN)


def estimate(value, lower=NAN, upper=NAN, n_draws=20) -> ExpectedValue:
    return ExpectedValue(value, Interval(value - 0.01, value + 0.01), Interval(lower, upper), 0.02, n_draws)


ROW = ExpectedInterval(
    model="svm",
    source_finder="kmeans",
    n_train=1438,
    label=None,
    exclusive=estimate(0.823, 0.784, 0.857),
    inclusive=estimate(0.974, 0.968, 0.979),
    random=estimate(0.973, 0.967, 0.978),
    full=estimate(0.974, 0.968, 0.979),
    n_train_full=1438,
    rho=estimate(0.845, 0.81, 0.88),
    fall=Difference(0.151, Interval(0.14, 0.16), Interval(0.117, 0.185), 0.0001, 0.0002, se=0.015, df=8.0),
    against_rest=None,
    inclusive_less_random=EQUAL,
    macro_f1={},
    balanced_accuracy={},
    n_test=359,
    n_samples=1797,
    n_sources=50,
    n_clusterings=4,
    n_cells=200,
    n_cells_held_out=200,
)


def intervals(*rows, held_out=(), n_trials=60, n_used=60) -> AccuracyIntervals:
    return AccuracyIntervals(rows, held_out, pd.DataFrame(), n_trials, n_used)


def of_class(label, p, value=-0.2) -> ExpectedInterval:
    rest = Difference(value, UNKNOWN, Interval(value - 0.1, value + 0.09), 0.01, p / 2, 0.02, p)
    return replace(ROW, label=label, rho=estimate(0.845 + value, 0.5, 0.7), against_rest=rest)


KNOWN_ROW = replace(ROW, source_finder="known", n_clusterings=1)


def pair(model, other, value, p) -> ModelComparison:
    away = Interval(value - 0.04, value + 0.04) if p < 0.05 else Interval(value - 0.1, value + 0.1)
    told = Difference(value, UNKNOWN, away, p, p, p, p)
    return ModelComparison("kmeans", 1438, model, other, RHOS[model], RHOS[other], told, 20, 35, 3.2)


def comparison(value, over_sources, over_draws, p_sources, p_draws, n=35, sources=3.2) -> ModelComparison:
    told = Difference(value, Interval(*over_draws), Interval(*over_sources), p_draws, p_sources, p_draws, p_sources)
    return ModelComparison("kmeans", 1438, "svm", "mlp", 0.845, 0.845 - value, told, 20, n, sources)


def test_the_headline_has_the_loss_with_its_interval_and_both_ends():
    said = source_verdict(intervals(ROW), names={"svm": "SVM"})
    assert said.headline == (
        "SVM loses 15.1 points [11.7, 18.5] on held-out clusters: 97.4 % to 82.3 %. "
        "It keeps 81 to 88 % of its accuracy (rho .845)."
    )
    assert said.used.replace(THIN_SPACE, " ") == (
        "60 of 60 trials used. n = 1 797 samples, 1 438 of them in training, 50 clusters in each of 4 "
        "clusterings, 20 repeats."
    )
    assert said.claims[0] == ROW.falls
    assert said.claims[0].decision == "above"


def test_only_known_sources_are_called_so_and_only_they_give_a_plan():
    found, known = (source_verdict(intervals(row)) for row in (ROW, KNOWN_ROW))
    assert "source" not in found.headline + found.used
    assert (
        found.advice
        == "Next: add a column of sources, such as writer or site; only known ones show the cost of new ones."
    )
    assert "on held-out sources: 97.4 % to 82.3 %" in known.headline
    assert known.advice == "Next: if inputs may come from new sources, plan for 78.4 %."
    assert "A source that fails completely would not show if none is among these 50." in known.findings


def test_no_advice_while_a_run_is_under_way():
    assert source_verdict(intervals(ROW), finished=False).advice == ""


@pytest.mark.parametrize(
    ("fall", "said"),
    [
        ((0.049, -0.001, 0.099, 0.055), "svm shows no significant loss on held-out clusters: 4.9 points [−0.1, 9.9],"),
        ((0.049, 0.001, 0.097, 0.06), "svm shows no significant loss on held-out clusters: 4.9 points"),
        ((0.004, 0.001, 0.007, 0.01), "svm loses less than 1 point on held-out clusters: 0.4 points [0.1, 0.7],"),
        ((0.008, 0.001, 0.015, 0.03), "svm shows no significant loss on held-out clusters: 0.8 points [0.1, 1.5],"),
        ((-0.03, -0.05, -0.01, 0.01), "svm gains 3.0 points [1.0, 5.0] on held-out clusters:"),
    ],
)
def test_the_point_alone_decides_nothing(fall, said):
    value, lower, upper, p = fall
    row = replace(ROW, fall=Difference(value, UNKNOWN, Interval(lower, upper), NAN, p))
    assert source_verdict(intervals(row)).headline.startswith(said)


def test_what_is_not_decided_of_known_sources_takes_more_of_them():
    row = replace(KNOWN_ROW, fall=Difference(0.05, UNKNOWN, Interval(-0.01, 0.11), NAN, 0.1))
    assert "more repeats cannot narrow" in source_verdict(intervals(row)).advice


def test_two_sources_are_said_first():
    said = source_verdict(intervals(replace(KNOWN_ROW, n_sources=2)))
    assert said.headline.startswith("With only 2 sources the interval is very wide. svm loses")


@pytest.mark.parametrize(
    ("null", "said"),
    [
        (None, "Undecided whether held-out clusters are harder than those of simulated data without groups."),
        (
            (0.002, -0.01, 0.015, 0.7),
            "Held-out clusters are harder, as in simulated data without groups.",
        ),
        ((0.02, -0.01, 0.05, 0.3), "Held-out clusters are not significantly harder than those of simulated data"),
        (
            (0.05, 0.03, 0.07, 0.01),
            "Held-out clusters are harder than in simulated data without groups, by 5.0 points [3.0, 7.0]",
        ),
    ],
)
def test_clusters_carry_no_more_than_their_null(null, said):
    told = None if null is None else beyond(*null)
    verdict = source_verdict(intervals(ROW), null=told)
    assert verdict.findings[0].startswith(said)
    assert not any(word in verdict.text for word in ("new sources are needed", "collect", "Count on"))
    assert not any(said[:20] in finding for finding in source_verdict(intervals(KNOWN_ROW), null=told).findings)


def beyond(value, lower, upper, p):
    return claim("source_robustness.beyond_cloud", value, Interval(lower, upper), p, smallest=0.02)


@pytest.mark.parametrize(("lower", "doubt"), [(0.99, ", not significantly"), (1.01, "")])
def test_a_rise_is_reported_as_found_with_what_it_says_of_the_clustering(lower, doubt):
    said = source_verdict(intervals(replace(ROW, rho=estimate(1.03, lower, 1.06))))
    assert any(f"were easier than those seen in training (rho 1.030){doubt}." in text for text in said.findings)


def test_the_random_split_stands_beside_with_its_interval():
    less = Difference(-0.004, Interval(-0.010, 0.002), Interval(-0.012, 0.004), 0.1, 0.2)
    said = source_verdict(intervals(replace(ROW, inclusive_less_random=less)))
    assert (
        "No significant difference between clusters seen in training and a random split: −0.4 points [−1.2, 0.4]."
        in said.findings
    )


def test_a_random_split_that_differs_is_told_with_its_direction_and_both_accuracies():
    less = Difference(-0.021, Interval(-0.030, -0.012), Interval(-0.032, -0.010), 0.01, 0.01)
    row = replace(ROW, inclusive_less_random=less, inclusive=estimate(0.9), random=estimate(0.921))
    said = "Accuracy with clusters seen in training is 2.1 points [1.0, 3.2] lower than on a random split: "
    assert f"{said}90.0 % against 92.1 %." in source_verdict(intervals(row)).findings
    more = replace(less, value=0.021, over_draws=Interval(0.012, 0.030), over_sources=Interval(0.010, 0.032))
    row = replace(row, inclusive_less_random=more, random=estimate(0.879))
    assert any(
        "2.1 points [1.0, 3.2] higher than on a random split" in text
        for text in source_verdict(intervals(row)).findings
    )


def test_classes_are_named_only_when_corrected():
    none = source_verdict(intervals(ROW, of_class("3", 0.2), of_class("8", 0.06)))
    assert "No class drops significantly more than the others (2 classes, Holm)." in none.findings
    one = source_verdict(intervals(ROW, of_class("3", 0.2), of_class("8", 0.004)))
    assert "Class “8” (rho .645) drops significantly more than the others, 2 classes, Holm." in one.findings
    better = source_verdict(intervals(ROW, of_class("3", 0.2), of_class("8", 0.004, value=0.1)))
    assert "No class drops significantly more than the others (2 classes, Holm)." in better.findings


def test_the_hardest_cluster_has_its_repeats_its_n_and_what_it_was_corrected_for():
    usual = [
        HeldOutSource("svm", "kmeans", 1438, 0, "9", str(name), 2, 60, 0.9, 0.8, 0.95, 0.95, 0.1) for name in range(4)
    ]
    bad = replace(usual[0], source="48", n=34, exclusive=0.03)
    said = source_verdict(intervals(ROW, held_out=(*usual, bad)))
    (finding,) = [text for text in said.findings if "48" in text]
    assert finding.startswith("Held-out cluster 48 of “9”, clustering 0 is harder than its class's others: ")
    assert finding.endswith("against 90.0 % (n = 34, 2 repeats, 5 clusters, corrected).")
    once = [replace(source, moved=NAN, n_repeats=1) for source in (*usual, bad)]
    undecided = "Undecided which held-out cluster is hardest: each was held out in 1 repeat."
    assert undecided in source_verdict(intervals(ROW, held_out=tuple(once))).findings


def test_failed_trials_and_sources_to_come_are_said():
    said = source_verdict(intervals(replace(ROW, n_cells_held_out=30), n_trials=60, n_used=57))
    assert said.used.startswith("57 of 60 trials used (3 failed).")
    assert said.used.endswith("30 of 200 clusters held out so far.")


def test_before_there_is_an_interval():
    ends = {"exclusive": ExpectedValue(0.823), "inclusive": ExpectedValue(0.974)}
    early = replace(ROW, rho=ExpectedValue(0.845), fall=NO_DIFFERENCE, **ends)
    said = source_verdict(intervals(early))
    assert said.headline.startswith("svm so far: 97.4 % to 82.3 % on held-out clusters, rho .845.")
    assert said.advice == "Next: ask for more repeats."
    half = replace(early, rho=ExpectedValue(NAN), exclusive=ExpectedValue(NAN))
    assert (
        source_verdict(intervals(half)).headline
        == "svm so far: 97.4 % with clusters seen in training. Rho needs trials of both schemes."
    )
    assert source_verdict(intervals(n_trials=2, n_used=0)).used == "2 trials failed."


def test_the_card_is_of_the_first_model_than_which_none_keeps_significantly_more():
    svm, mlp, tree = (replace(ROW, model=name, rho=estimate(r, 0.6, 0.95)) for name, r in RHOS.items())
    nothing = [pair("svm", "mlp", -0.05, 0.4), pair("svm", "tree", -0.02, 0.6), pair("mlp", "tree", 0.03, 0.6)]
    assert leading_row([svm, mlp, tree], nothing) is svm
    one_better = [pair("svm", "mlp", -0.05, 0.01), *nothing[1:]]
    assert leading_row([svm, mlp, tree], one_better) is mlp
    assert leading_row([]) is None
    known = replace(tree, source_finder="known")
    assert leading_row([svm, mlp, known], one_better) is known
    said = source_verdict(intervals(svm, mlp, tree), one_better)
    assert "Undecided between 2 models which keeps the largest share of its accuracy: mlp and tree." in said.findings
    decided = [*one_better[:1], pair("svm", "tree", -0.02, 0.6), pair("mlp", "tree", 0.05, 0.02)]
    said = source_verdict(intervals(svm, mlp, tree), decided)
    assert "mlp keeps the largest share of its accuracy among 3 models (corrected)." in said.findings


def test_a_pair_of_which_one_keeps_more():
    said = compared(comparison(-0.067, (-0.09, -0.05), (-0.08, -0.06), 0.0004, 0.0001), 3, {"mlp": "MLP"})
    assert said == (
        "MLP keeps more of its accuracy on held-out clusters than svm: rho .912 against .845. "
        "The difference is .067 [.050, .090], p < .001 (3 pairs, corrected)."
    )


def test_a_pair_that_only_these_data_decide_takes_more_sources_where_they_are_known():
    only_these = comparison(0.016, (-0.007, 0.039), (0.004, 0.028), 0.16, 0.01)
    assert compared(only_these, 1, {}).startswith("No significant difference in rho between svm and mlp: rho .845")
    known = compared(replace(only_these, source_finder="known"), 1, {})
    assert known.endswith("For new data it would take about 3.2 times as many sources.")


def test_a_pair_of_which_nothing_is_decided():
    undecided = comparison(0.016, (-0.02, 0.05), (-0.004, 0.036), 0.3, 0.12)
    assert "About 35 repeats would settle it for these data (now 20)." in compared(undecided, 1, {})
    same = comparison(0.0, (-0.02, 0.02), (0.0, 0.0), 1.0, 1.0, n=None, sources=NAN)
    assert "More repeats will not settle it" in compared(same, 1, {})
    alike = comparison(0.0, (-0.004, 0.004), (0.0, 0.0), 1.0, 1.0, n=None, sources=NAN)
    assert "svm and mlp keep the same share of their accuracy, to within .010" in compared(alike, 1, {})
    hopeless = comparison(1e-5, (-0.1, 0.1), (-0.1, 0.1), 0.9, 0.9, n=10**9, sources=1e6)
    said = compared(replace(hopeless, source_finder="known"), 1, {})
    assert "More than 10" + THIN_SPACE + "000 repeats" in said
    assert "more than 100 times as many sources" in said
    early = compared(comparison(0.016, (NAN, NAN), (NAN, NAN), NAN, NAN), 1, {})
    assert early == "No significant difference in rho between svm and mlp: rho .845 against .829, difference .016."


def test_comparisons_of_other_models_and_finders_are_left_out():
    mine = comparison(0.016, (-0.02, 0.05), (-0.004, 0.036), 0.3, 0.12)
    others = [replace(mine, source_finder="known"), replace(mine, model="cnn")]
    said = source_verdict(intervals(ROW), [mine, *others])
    assert sum("No significant difference in rho" in finding for finding in said.findings) == 1
    assert said.text.startswith(said.headline)
