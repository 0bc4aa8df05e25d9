"""What is said, and that it is said of the bound and not of the point."""

from dataclasses import replace

import pandas as pd
import pytest

from core.evaluate.intervals import UNKNOWN, Interval
from core.evaluate.source_robustness import (
    AccuracyIntervals,
    Difference,
    ExpectedInterval,
    ExpectedValue,
    HeldOutSource,
    ModelComparison,
    most_robust,
    source_verdict,
)
from core.evaluate.source_robustness.verdict import compared
from core.evaluate.wording import THIN_SPACE

NAN = float("nan")
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
    rho=estimate(0.845, 0.81, 0.88),
    fall=Difference(0.151, Interval(0.14, 0.16), Interval(0.117, 0.185), 0.0001, 0.0002, se=0.015, df=8.0),
    against_rest=None,
    inclusive_less_random=EQUAL,
    macro_f1={},
    balanced_accuracy={},
    n_test=359,
    n_samples=1797,
    n_sources=50,
    n_sources_of_class=5,
    n_clusterings=4,
    n_cells=200,
    n_cells_held_out=200,
)


def intervals(*rows, held_out=(), n_trials=60, n_used=60) -> AccuracyIntervals:
    return AccuracyIntervals(rows, held_out, pd.DataFrame(), n_trials, n_used)


def of_class(label, p, value=-0.2) -> ExpectedInterval:
    rest = Difference(value, UNKNOWN, Interval(-0.3, -0.1), 0.01, p / 2, 0.02, p)
    return replace(ROW, label=label, rho=estimate(0.845 + value, 0.5, 0.7), against_rest=rest)


def comparison(value, over_sources, over_draws, p_sources, p_draws, n=35, sources=3.2) -> ModelComparison:
    told = Difference(value, Interval(*over_draws), Interval(*over_sources), p_draws, p_sources, p_draws, p_sources)
    return ModelComparison("kmeans", 1438, "svm", "mlp", 0.845, 0.845 - value, told, 20, n, sources)


def test_the_headline_has_both_ends_and_rho_and_speaks_of_the_bound():
    said = source_verdict(intervals(ROW), names={"svm": "SVM"})
    assert said.headline == (
        "Accuracy falls on unfamiliar sources. SVM: 97.4 % [96.8, 97.9] on familiar sources, 82.3 % [78.4, 85.7] on "
        "unfamiliar ones, rho .845 [.81, .88]. Count on keeping 81 % of the accuracy, and on no more than 88 %."
    )
    assert said.used.replace(THIN_SPACE, " ") == (
        "60 of 60 trials used. n = 1 797 samples, 50 sources in each of 4 clusterings, 20 repeats."
    )
    assert "plan with 78.4 %, the lower bound" in said.advice
    assert "of every class" in said.advice


def test_the_point_alone_decides_nothing():
    said = source_verdict(intervals(replace(ROW, rho=estimate(0.845, 0.6, 1.02))))
    assert said.headline.startswith("No fall on unfamiliar sources can be shown.")
    assert said.headline.endswith("it may be all of the accuracy that is kept, or only 60 %.")
    assert "more repeats cannot narrow" in said.advice


def test_a_rise_is_reported_as_found_with_what_it_says_of_the_clustering():
    within, beyond = (
        source_verdict(intervals(replace(ROW, rho=estimate(1.03, lower, 1.06)))) for lower in (0.99, 1.01)
    )
    assert within.headline.startswith("No fall")
    assert beyond.headline.startswith("Accuracy does not fall on unfamiliar sources, it rises.")
    for said, doubt in ((within, True), (beyond, False)):
        assert "came out easier than familiar ones (rho 1.030)" in said.findings[0]
        assert "they say little about unfamiliar ones" in said.findings[0]
        assert ("not beyond what other sources could give" in said.findings[0]) == doubt
        assert "find sources another way" in said.advice


@pytest.mark.parametrize(
    ("value", "ends", "said"),
    [
        (0.001, (-0.002, 0.004), "cannot be told apart (97.4 % and 97.3 %, 0.1 points [−0.2, 0.4] over draws)"),
        (0.01, (0.005, 0.015), "come out above a random split (97.4 % and 97.3 %, 1.0 points [0.5, 1.5] over draws)"),
        (-0.01, (-0.015, -0.005), "come out below a random split"),
    ],
)
def test_familiar_sources_against_a_random_split(value, ends, said):
    row = replace(ROW, inclusive_less_random=Difference(value, Interval(*ends), UNKNOWN, 0.1, NAN))
    assert any(said in finding for finding in source_verdict(intervals(row)).findings)


def test_classes_are_named_only_when_corrected():
    none = source_verdict(intervals(ROW, of_class("3", 0.2), of_class("8", 0.06)))
    assert "No class falls further than the rest that the data can tell (corrected for 2 classes)." in none.findings
    one = source_verdict(intervals(ROW, of_class("3", 0.2), of_class("8", 0.004)))
    assert (
        "Accuracy falls further than elsewhere in class 8 (rho .645 [.50, .70], p = .004), corrected for 2 classes."
        in one.findings
    )
    assert one.advice.endswith("from new sources, first of class 8.")
    better = source_verdict(intervals(ROW, of_class("3", 0.2), of_class("8", 0.004, value=0.1)))
    assert better.advice.endswith("of every class.")


def test_the_worst_source_has_its_n_and_interval():
    bad = HeldOutSource("svm", "kmeans", 1438, 2, "9", "48", 1, 34, 0.0294, 0.005, 0.149, 0.657)
    said = source_verdict(intervals(ROW, held_out=(bad,)))
    worst = "The worst to hold out is source 48 of class 9 (clustering 2): 2.9 % [0.5, 14.9], n = 34"
    assert f"{worst}; when it is familiar, 65.7 %." in said.findings


def test_failed_trials_and_sources_to_come_are_said():
    said = source_verdict(intervals(replace(ROW, n_cells_held_out=30), n_trials=60, n_used=57))
    assert said.used.startswith("57 of 60 trials used (3 failed).")
    assert said.used.endswith("30 of 200 sources held out so far.")


def test_before_there_is_an_interval():
    early = replace(ROW, rho=ExpectedValue(0.845), exclusive=ExpectedValue(0.823), inclusive=ExpectedValue(0.974))
    said = source_verdict(intervals(early))
    assert said.headline.startswith("svm so far: 97.4 % on familiar sources, 82.3 % on unfamiliar ones, rho .845.")
    assert said.advice == "Wait for more trials, or ask for more repeats."
    half = replace(early, rho=ExpectedValue(NAN), exclusive=ExpectedValue(NAN))
    assert (
        source_verdict(intervals(half)).headline
        == "svm so far: 97.4 % on familiar sources; rho needs trials of both schemes."
    )
    assert source_verdict(intervals(n_trials=2, n_used=0)).used == "2 trials failed."


def test_the_card_is_of_the_model_with_the_best_bound():
    wide = replace(ROW, model="wide", rho=estimate(0.9, 0.7, 1.0))
    assert most_robust([wide, ROW]) is ROW
    assert most_robust([]) is None
    assert source_verdict(intervals(wide, ROW), row=wide).headline.count("wide") == 1


def test_models_that_can_be_told_apart():
    said = compared(comparison(-0.067, (-0.09, -0.05), (-0.08, -0.06), 0.0004, 0.0001), 3, {"mlp": "MLP"})
    assert said == (
        "MLP keeps more of its accuracy on unfamiliar sources than svm: rho .912 against .845, "
        "difference .067 [.050, .090], p < .001, corrected for 3 pairs."
    )


def test_models_that_only_these_data_tell_apart():
    said = compared(comparison(0.016, (-0.007, 0.039), (0.004, 0.028), 0.16, 0.01), 1, {})
    assert "cannot be told apart" in said
    assert "more repeats cannot settle it, about 3.2 times as many sources would be needed" in said


def test_models_that_nothing_tells_apart():
    said = compared(comparison(0.016, (-0.02, 0.05), (-0.004, 0.036), 0.3, 0.12), 1, {})
    assert "It would take about 35 repeats to tell on these data (now 20)" in said
    same = compared(comparison(0.0, (0.0, 0.0), (0.0, 0.0), 1.0, 1.0, n=None, sources=NAN), 1, {})
    assert "No number of repeats would tell" in same
    hopeless = compared(comparison(1e-5, (-0.1, 0.1), (-0.1, 0.1), 0.9, 0.9, n=10**9, sources=1e6), 1, {})
    assert "more than 10" + THIN_SPACE + "000 repeats" in hopeless
    assert "more than 100 times as many sources" in hopeless
    early = compared(comparison(0.016, (NAN, NAN), (NAN, NAN), NAN, NAN), 1, {})
    assert early == "svm and mlp cannot be told apart yet: rho .845 against .829, difference .016."


def test_comparisons_of_other_models_and_finders_are_left_out():
    mine = comparison(0.016, (-0.02, 0.05), (-0.004, 0.036), 0.3, 0.12)
    others = [replace(mine, source_finder="known"), replace(mine, model="cnn")]
    said = source_verdict(intervals(ROW), [mine, *others])
    assert sum("cannot be told apart" in finding and "repeats" in finding for finding in said.findings) == 1
    assert said.text.startswith(said.headline)
