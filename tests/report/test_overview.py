"""The sheet: what is said of it is what its answers say, and each accuracy stands on the axis once."""

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.evaluate.average_case_rows import rows_of
from tests.report import runs
from touchstone.core.data import Dataset, Predictions, load_example
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.claims import claim
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.matched_subsets import compare_pairs
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.figures.overview import accuracy_axis
from touchstone.core.figures.theme import alt_text
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.html import to_html
from touchstone.core.report.matched_subsets import numbers as matched_numbers
from touchstone.core.report.overview import (
    Answered,
    accuracies,
    axis_figure,
    baseline_of,
    key_numbers,
    marks,
    metrics_of,
    settles,
    sheet,
    table,
)
from touchstone.core.report.parts import Quantity
from touchstone.core.report.run_report import ON_AXIS, answer_of
from touchstone.core.report.stated import QUANTITIES
from touchstone.core.trials import Context, FoldPlan, TrialPlan
from touchstone.core.workspace import StoredModel, frames

KIND = "cluster_folds.goes_with"
FALL = claim("source_robustness.falls", 0.12, Interval(0.04, 0.2), 0.004, smallest=0.01)
VERDICT = Verdict("SVM loses 12.0 points [4.0, 20.0].", "n = 100.", "Next: plan for 80.0 %.", (), (FALL,))


def numbers(model: str, finder: str = "kmeans") -> tuple[Quantity, ...]:
    values = {"rho": 0.87, "exclusive": 0.8, "inclusive": 0.92, "random": 0.93, "fall": 0.12}
    return tuple(
        Quantity(f"source_robustness.{name}", (model, finder), value, Interval(value - 0.1, value + 0.05), 100)
        for name, value in values.items()
    )


def answer(*quantities: Quantity, stem: str = "source_robustness") -> Answered:
    return Answered(QUESTIONS[stem], "SVM", VERDICT, quantities, 1.8e9, "5ea1" * 16)


def test_the_axis_of_another_metric_has_its_values_and_its_baseline():
    values = {"metric_random": 0.9, "metric_inclusive": 0.88, "metric": 0.8}
    names = ("recall", "balanced_accuracy")
    of_sources = [
        Quantity(f"source_robustness.{end}", ("svm", "known", name), value, Interval(value - 0.1, value + 0.05), 100)
        for name in names
        for end, value in values.items()
    ]
    folds = Quantity("cluster_folds.metric", ("sds_folds", "svm", names[1]), 0.7, Interval(0.6, 0.8), 100)
    model = StoredModel("f1", "d1", "CNN", None, "cnn", "{}", 200, 190, 0.0)
    answers = [answer(*numbers("svm"), *of_sources), answer(folds, stem="cluster_folds")]
    shown = marks(answers, [model], metric=names[1])
    assert [(mark.label, mark.value) for mark in shown] == [
        ("SVM: random split", 0.9),
        ("SVM: sources seen in training", 0.88),
        ("SVM: held-out sources", 0.8),
        ("SVM: SDS k-means folds", 0.7),
    ]
    words = InWords(METRICS[names[1]])
    figure = axis_figure(shown, baseline_of(load_example("wine"), words), words=words)
    assert figure.caption.startswith("Balanced accuracy you can plan for.")
    assert figure.caption.endswith("Baseline: 33.3 %.")
    assert figure.draw(dark=False).layout.xaxis.title.text == "Balanced accuracy (%)"
    assert accuracies(shown, names[1]).columns[0] == names[1]


def test_the_axis_has_what_speaks_of_accuracy_and_nothing_else():
    ends = {"metric": ("m", "accuracy", "reference"), "gap": ("m",)}
    files = [Quantity(f"matched_subsets.{end}", of, 0.7, Interval(0.6, 0.8), 50) for end, of in ends.items()]
    model = StoredModel("f1", "d1", "CNN", None, "cnn", "{}", 200, 190, 0.0)
    shown = marks([answer(*numbers("svm")), answer(*files, stem="matched_subsets")], [model])
    assert [mark.label for mark in shown] == [
        "CNN: test accuracy",
        "SVM: random split",
        "SVM: clusters seen in training",
        "SVM: held-out clusters",
        "m: reference set",
    ]
    assert [mark.is_recipe for mark in shown] == [False, True, True, True, False]
    assert shown[0].interval.lower < 0.95 < shown[0].interval.upper


def test_the_matched_part_of_the_new_set_stands_on_the_axis_where_enough_pairs_matched():
    rng = np.random.default_rng(0)

    def files(n: int) -> list[Predictions]:
        truth = rng.integers(0, 2, n)
        wrong = rng.random(n) < 0.2
        known = (np.arange(n).astype(str), truth, np.where(wrong, 1 - truth, truth), ["a", "b"])
        return [Predictions(*known, confidence=rng.uniform(0.5, 1, n)) for _ in range(2)]

    for n, labels in (
        (400, ["reference set", "new test set", "new test set, matched"]),
        (40, ["reference set", "new test set"]),
    ):
        reference, target = files(n)
        compared = compare_pairs({"m": reference}, {"m": target}, rng=rng, epsilon=0.001)
        shown = marks([answer(*matched_numbers(compared.rows), stem="matched_subsets")])
        assert [mark.label.removeprefix("m: ") for mark in shown] == labels
    [row] = compared.rows
    assert not row.enough


def test_two_accuracies_of_one_name_say_what_they_are_of():
    labels = [mark.label for mark in marks([answer(*numbers("svm"), *numbers("svm", "agglomerative"))])]
    assert len(set(labels)) == len(labels) == 6


def test_two_comparisons_of_one_model_are_told_apart_and_what_they_share_stands_there_once():
    def compared(about: str, target: float) -> Answered:
        known = [("reference", 0.9), ("target", target)]
        name, metric = "matched_subsets.metric", "accuracy"
        of = [Quantity(name, ("m", metric, side), at, Interval(at - 0.1, at + 0.1), 50) for side, at in known]
        return replace(answer(*of, stem="matched_subsets"), about=about)

    shown = marks([compared("new against old", 0.8), compared("newest against old", 0.7)])
    assert [mark.label for mark in shown] == [
        "m: reference set",
        "m: new test set (new against old)",
        "m: new test set (newest against old)",
    ]


def test_the_axis_of_files_is_of_any_metric_each_set_beside_its_own_baseline():
    rng = np.random.default_rng(0)
    sides = []
    for n, rare in ((400, 0.2), (300, 0.4)):
        y = (rng.random(n) < rare).astype(int)
        score = np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=n), 0.01, 0.99)
        proba = np.column_stack([1 - score, score])
        sides.append(Predictions(np.arange(n).astype(str), y, proba.argmax(axis=1), ["ham", "spam"], proba))
    by_recall = compare_pairs({"m": sides[0]}, {"m": sides[1]}, rng=rng, metric="recall")
    answers = [answer(*matched_numbers(by_recall.rows), stem="matched_subsets")]
    assert [metric.name for metric in metrics_of(answers)][:3] == ["recall", "accuracy", "balanced_accuracy"]
    found = by_recall.rows[0].metrics
    for name in ("accuracy", "recall", "balanced_accuracy", "roc_auc", "brier_score"):
        shown, words, of = marks(answers, metric=name), InWords(METRICS[name]), found.of(name)
        assert [mark.value for mark in shown][:2] == [of.reference.value, of.target.value]
        assert len(shown) == (3 if name == "recall" else 2), "the matched part is of what was compared"
        figure = axis_figure(shown, None, words=words)
        drawn = figure.draw(dark=False)
        assert drawn.layout.xaxis.title.text == words.axis
        assert words.value(of.target.value, of.target.interval) in alt_text(drawn)
        report = sheet("f", answers, shown=shown, baseline=None, words=words, unasked=(), provenance=())
        page = to_html(report).decode()
        assert words.value(of.target.value).removesuffix(" %") in page
    ticks = [trace for trace in axis_figure(marks(answers), None).draw(dark=False).data if trace.name]
    assert {trace.marker.symbol for trace in ticks} >= {"line-ns-open"}
    assert axis_figure(marks(answers), None).caption.endswith(
        "Majority class (grey ticks, where near): 60.3 % to 79.8 %."
    )
    balanced = axis_figure(
        marks(answers, metric="balanced_accuracy"), None, words=InWords(METRICS["balanced_accuracy"])
    )
    assert balanced.caption.endswith("Baseline: 50.0 %.")
    assert (
        "Baseline" not in axis_figure(marks(answers, metric="recall"), None, words=InWords(METRICS["recall"])).caption
    )


@pytest.mark.parametrize(("units", "sorts"), [(True, {"speakers"}), (False, {"sources", "samples"})])
def test_an_interval_says_what_it_is_over_and_sorts_stand_apart(units, sorts):
    """Speakers are units and sources: all is over speakers. Where samples are the units, folds are over samples."""
    rng = np.random.default_rng(0)
    speaker, y = np.repeat([f"speaker {number}" for number in range(12)], 10), np.tile([0, 1], 60)
    x, ids = rng.normal(size=(120, 3)) + y[:, None], [str(row) for row in range(120)]
    given = {"units": speaker, "unit_name": "speaker"} if units else {}
    data = Dataset("voices", "tabular", x, y, ("a", "b"), ids, speaker, **given)
    plans = (
        TrialPlan(models=("logistic",), source_finders=("known",), n_repeats=5),
        FoldPlan(schemes=("random_folds",), models=("logistic",), n_folds=3, seeds=(0,)),
    )
    answers = []
    for plan, stem in zip(plans, ("source_robustness", "cluster_folds"), strict=True):
        rows = pd.concat([plan.run_trial(data, trial, context=Context()) for trial in range(plan.n_trials(data))])
        answers.append(answer(*answer_of(rows, data, plan).numbers, stem=stem))
    shown = marks(answers)
    assert {mark.over for mark in shown} == sorts == set(accuracies(shown)["over"])
    names = list(accuracy_axis(shown, None).layout.yaxis.ticktext)
    headings = [f"95 % CIs over {over}:" for over in ("sources", "samples")] if not units else []
    assert [name for name in names if name.startswith("95 %")] == headings
    assert len(names) == len(shown) + len(headings)
    if headings:
        at = names.index(headings[1])
        assert all("folds" in name for name in names[at + 1 :])


def test_what_is_not_known_stands_on_no_axis():
    assert marks([answer(Quantity("source_robustness.exclusive", ("svm", "kmeans"), nan, UNKNOWN, 0))]) == ()


def test_every_accuracy_of_the_axis_can_be_bounded_in_a_check():
    assert ON_AXIS.keys() <= QUANTITIES.keys()


@pytest.mark.parametrize(
    ("estimate", "lower", "upper", "says"),
    [
        (0.02, -0.01, 0.05, "2.2 times"),
        (-0.02, -0.05, 0.01, "2.2 times"),
        (0.001, -0.1, 0.1, "More than 50 times"),
        (0.02, 0.005, 0.035, "A few more"),
    ],
)
def test_an_undecided_claim_says_what_would_settle_it(estimate, lower, upper, says):
    assert says in settles(claim(KIND, estimate, Interval(lower, upper), 0.3))


def test_what_would_settle_it_does_where_the_interval_shrinks_as_said():
    """Four times the samples halve an interval: one that ends a hair beyond 0 then says so."""
    times = 4.0
    width = 0.02 * times**0.5
    assert f"{times:.1f} times" in settles(claim(KIND, 0.02, Interval(0.02 - width, 0.02 + width), 0.3))
    assert claim(KIND, 0.02, Interval(0.02 - width / times**0.5 + 1e-9, 0.04), 0.049).decided


def test_an_effect_that_is_not_worth_a_sentence_has_to_stay_within_what_is():
    small = claim(KIND, 0.004, Interval(-0.008, 0.016), 0.5, smallest=0.01)
    assert "4.0 times" in settles(small)
    assert claim(KIND, 0.004, Interval(-0.002 + 1e-9, 0.01 - 1e-9), 0.2, smallest=0.01).decision == "small"


def test_what_would_settle_is_said_of_an_undecided_sentence_alone():
    undecided = claim(KIND, 0.02, Interval(-0.01, 0.05), 0.2)
    headlines = {"SVM: undecided.": undecided, "SVM shows no significant loss.": undecided, "SVM loses 2 points.": FALL}
    said = [Verdict(headline, "", "", (), (claimed,)) for headline, claimed in headlines.items()]
    answers = [Answered(QUESTIONS["source_robustness"], "", each) for each in said]
    assert ["times" in each.trusted for each in answers] == [each.undecided for each in answers] == [True, True, False]
    assert (
        "2.2 times as many samples (225 in all)"
        in Answered(QUESTIONS["source_robustness"], "", said[0], numbers("svm")).trusted
    )


def test_decided_claims_need_nothing():
    assert settles(FALL) == settles(None) == ""


@pytest.mark.parametrize("mc_error", [0.02, float("nan")])
def test_no_sample_is_asked_for_where_seeds_differ_most(mc_error):
    undecided = claim(KIND, 0.01, Interval(-0.02, 0.04), 0.5, mc_error=0.001)
    assert "times" in settles(undecided)
    assert settles(replace(undecided, mc_error=mc_error)) == ""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("baseline", [None, 0.1, 0.85])
def test_the_axis_says_what_it_shows_and_its_baseline_where_it_is_near(dark, baseline):
    figure = accuracy_axis(marks([answer(*numbers("svm"))]), baseline, dark=dark)
    assert "SVM: held-out clusters: 80.0 % [70.0, 85.0]" in alt_text(figure)
    assert len(figure.layout.shapes) == (baseline == 0.85)
    low, high = figure.layout.xaxis.range
    assert low < 70
    assert high > 98


def test_the_sheet_is_one_page_that_says_every_answer_and_what_was_not_asked():
    known = [answer(*numbers("svm"))]
    shown = marks(known)
    unasked, rests_on = ["Which tests are missing?"], [("Data", "f1")]
    report = sheet("Wine", known, shown=shown, baseline=0.4, unasked=unasked, provenance=rests_on)
    page = to_html(report).decode()
    for said in (
        VERDICT.headline,
        VERDICT.advice,
        "a recipe, trained anew",
        "Which tests are missing?",
        "seal " + "5ea1" * 4,
    ):
        assert said in page
    assert "Majority class: 40.0 %" in axis_figure(shown, 0.4).caption
    assert "SVM: held-out clusters" in page


def test_tables_hold_the_same_numbers():
    known = [answer(*numbers("svm"))]
    [row] = table(known).to_dict("records")
    assert (row["estimate"], row["lower"], row["upper"], row["decision"]) == (0.12, 0.04, 0.2, "above")
    assert accuracies(marks(known))["value"].tolist() == [0.93, 0.92, 0.8]
    assert table([]).empty


def test_beside_accuracy_stands_robustness_and_whether_confidence_is_too_high():
    wine, rng = load_example("wine"), np.random.default_rng(0)
    wrong = rng.random(wine.n_samples) < 0.3
    predicted, confidence = np.where(wrong, (wine.y + 1) % 3, wine.y), rng.uniform(0.5, 1, wine.n_samples)
    robust = rows_of(np.linspace(0.4, 1, wine.n_samples), wine.y, predicted=predicted)
    rows = pd.concat([robust, rows_of(confidence, wine.y, estimator="softmax", predicted=predicted)], ignore_index=True)
    known = answer_of(rows, wine, AverageCasePlan("f1", sigmas=(0.1,))).numbers
    excess = next(quantity for quantity in known if quantity.name == "average_case.overconfidence")
    difference = confidence - ~wrong
    ends = stats.ttest_1samp(difference, 0).confidence_interval()
    assert excess.value == pytest.approx(difference.mean())
    assert (excess.interval.lower, excess.interval.upper) == pytest.approx((ends.low, ends.high), abs=0.02)
    answers = [Answered(QUESTIONS["average_case"], "", VERDICT, known)]
    assert [metric.label for metric in key_numbers(answers)] == [
        "Unchanged by noise, sigma 0.1",
        "Confidence less accuracy",
    ]
    page = to_html(sheet("Wine", answers, shown=(), baseline=None, unasked=(), provenance=())).decode()
    assert "Confidence less accuracy" in page


def test_adequacy_and_labels_have_numbers_that_can_be_bounded():
    for kind, names in (
        ("adequacy", {"data_set_adequacy.gain", "data_set_adequacy.gap", "data_set_adequacy.metric"}),
        ("few_labels", {"few_labels.accuracy"}),
    ):
        known = answer_of(frames.from_bytes(runs.rows(kind)), runs.data(), runs.plans()[kind]).numbers
        assert {quantity.name for quantity in known} == names <= QUANTITIES.keys()
        assert all(quantity.n > 0 for quantity in known)
    [mark] = marks([], beside=known)
    assert (mark.label, mark.is_recipe, mark.n) == (f"New samples of {runs.NEW}, by few labels", False, 200)
