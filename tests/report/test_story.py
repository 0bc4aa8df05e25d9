"""The sheet begins with one number and its design, what limits it and what to do; each is what an answer says."""

from dataclasses import replace
from math import nan

import pytest

from tests.plain_words import problems_of
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.wording import Verdict, percent
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.overview import Answered, marks
from touchstone.core.report.parts import Quantity
from touchstone.core.report.story import NOT_ASKED, expected, how_many, limits, summary
from touchstone.core.workspace import StoredModel

NETWORK = StoredModel("f1", "d1", "CNN", None, "cnn", "{}", 200, 199, 0.0)


def number(name: str, *of: str, value: float, over: str = "samples") -> Quantity:
    return Quantity(name, of, value, Interval(value - 0.1, value + 0.05), 100, over)


def answer(stem: str, *numbers: Quantity, of: Claim | None = None, headline: str = "It is so.") -> Answered:
    verdict = Verdict(headline, "", f"Next: look at {stem}.", (), (of,) if of else ())
    return Answered(QUESTIONS[stem], stem, verdict, numbers, 1.8e9)


def sources(finder: str, by_model: dict[str, tuple[float, float]], over: str = "clusters") -> Answered:
    """Held-out and random accuracy by model."""
    ends = zip(("exclusive", "random"), zip(*by_model.values(), strict=True), strict=True)
    values = {name: dict(zip(by_model, of, strict=True)) for name, of in ends}
    known = (
        number(f"source_robustness.{name}", model, finder, value=value, over=over)
        for name, models in values.items()
        for model, value in models.items()
    )
    falls = claim("source_robustness.falls", 0.12, Interval(0.04, 0.2), 0.004, smallest=0.01)
    return answer("source_robustness", *known, of=falls)


def folds(**by_scheme: float) -> Answered:
    known = (number("cluster_folds.accuracy", scheme, "svm", value=value) for scheme, value in by_scheme.items())
    return answer("cluster_folds", *known, of=claim("cluster_folds.harder", 0.1, Interval(0.05, 0.15), 0.001))


def files(model: str = "m", reference: float = 0.9, target: float = 0.7) -> Answered:
    ends = {"reference": reference, "target": target}
    known = (number("matched_subsets.metric", model, "accuracy", end, value=value) for end, value in ends.items())
    return answer("matched_subsets", *known, of=claim("matched_subsets.falls", 0.2, Interval(0.1, 0.3), 0.001))


def test_known_sources_come_before_clusters_folds_and_the_test_set_of_a_model():
    of_clusters, of_patients = (
        sources("kmeans", {"svm": (0.8, 0.9)}),
        sources("known", {"svm": (0.6, 0.9)}, "patients"),
    )
    of_folds, shown = folds(random_folds=0.9, sds_folds=0.7), marks((), [NETWORK])
    both = replace(of_clusters, quantities=(*of_clusters.quantities, *of_patients.quantities))
    for answers, where in (
        ([of_folds, both, files()], "On new patients, expect accuracy 60.0 % "),
        ([of_folds, of_clusters, files()], "On new clusters, expect accuracy 80.0 % "),
        ([files(), of_folds], "On SDS k-means folds, expect accuracy 70.0 % "),
        ([files()], "On the new test set, expect accuracy 70.0 % "),
        ([], "On samples like its test set, expect accuracy 99.5 % "),
    ):
        assert summary(answers, shown).headline.startswith(where)
    assert expected([], ()) is None
    assert "on random splits, which mix patients." in summary([both], shown).headline
    assert "mix" not in summary([of_clusters], shown).headline


def test_of_several_models_it_is_the_one_that_the_usual_test_would_choose():
    """The best on what was held out would look better than it is."""
    answered = sources("kmeans", {"svm": (0.85, 0.9), "logistic": (0.8, 0.95)})
    verdict = summary([answered], ())
    assert verdict.headline == (
        "On new clusters, expect accuracy 80.0 % [70.0, 85.0] with Logistic regression, "
        "against 95.0 % [85.0, 100.0] on random splits."
    )
    assert "n = 100, interval over clusters. Best of 2 models on random splits." in verdict.used
    two = replace(files("worse"), quantities=(*files("worse").quantities, *files("better", 0.95, 0.6).quantities))
    assert "with better, against 95.0 %" in summary([two], ()).headline


def test_folds_of_sources_come_first_then_the_hardest_and_random_ones_alone_say_what_is_unknown():
    named = summary([folds(random_folds=0.9, sds_folds=0.5, leave_one_group_out=0.8)], ()).headline
    assert "On new sources, expect accuracy 80.0 % " in named
    assert "On SDS k-means folds, expect accuracy 50.0 % " in (
        summary([folds(random_folds=0.9, kmeans_folds=0.7, sds_folds=0.5)], ()).headline
    )
    alone = summary([folds(random_folds=0.9)], ())
    assert alone.headline == "On samples like these, expect accuracy 90.0 % [80.0, 95.0] with SVM."
    assert NOT_ASKED in alone.used
    assert NOT_ASKED not in summary([folds(random_folds=0.9, sds_folds=0.5)], ()).used


@pytest.mark.parametrize(
    ("metric", "best", "value"), [("brier_score", "a", ".200"), ("balanced_accuracy", "b", "20.0 %")]
)
def test_another_metric_is_chosen_by_what_is_better_of_it(metric, best, value):
    known = [
        number(f"source_robustness.{name}", model, "kmeans", metric, value=at)
        for name, values in {"metric": (0.2, 0.2), "metric_random": (0.1, 0.3)}.items()
        for model, at in zip("ab", values, strict=True)
    ]
    [headline] = {summary([answer("source_robustness", *known)], (), words=InWords(METRICS[metric])).headline}
    assert f"expect {METRICS[metric].title} {value} " in headline
    assert f" with {best}, against " in headline


def test_what_is_not_known_is_not_expected():
    unknown = Quantity("source_robustness.exclusive", ("svm", "kmeans"), nan, UNKNOWN, 0)
    assert expected([answer("source_robustness", unknown)]) is None


def test_what_limits_it_are_claims_that_are_made_of_other_questions():
    differ = claim("average_case.classes_differ", 0.1, Interval(0.05, 0.15), 0.001)
    welcome = claim("cluster_folds.beats_baselines", 0.4, Interval(0.3, 0.5), 0.001)
    open_one = claim("test_quality.shift", 0.01, Interval(-0.02, 0.04), 0.5)
    lead = sources("kmeans", {"svm": (0.8, 0.9)})
    answers = [
        answer("average_case", of=differ),
        answer("cluster_folds", of=welcome),
        answer("test_quality", of=open_one, headline="Undecided."),
        lead,
    ]
    [(limiting, in_short)] = limits(answers, expected(answers))
    assert limiting is answers[0]
    assert in_short.endswith(": classes differ in robustness")
    verdict = summary(answers, ())
    assert verdict.findings == (f"What limits it: {in_short}.",)
    assert verdict.advice == "Next: look at source_robustness.", "the advice of what the number rests on"
    assert summary(answers, (), finished=False).advice == ""
    assert not problems_of(verdict)


def test_counts_add_up():
    undecided = answer("test_quality", headline="It is undecided.")
    answers = [sources("kmeans", {"svm": (0.8, 0.9)}), undecided]
    assert summary(answers, (), n_questions=6).used.endswith("2 of 6 questions answered, 1 of them undecided.")
    assert summary([undecided, undecided], ()).headline == "2 answers to 1 question, 2 of them undecided."
    assert how_many([files()]) == "1 question answered."
    assert summary([], (), n_questions=6).advice == "Next: ask the questions that have no answer yet."
    silent = replace(undecided, verdict=replace(undecided.verdict, advice=""))
    assert summary([silent], (), n_questions=6).advice == "Next: ask the questions that have no answer yet."
    assert summary([silent], (), n_questions=1).advice == ""


def test_every_number_of_the_sentence_is_one_of_the_answer():
    answered = sources("kmeans", {"svm": (0.8, 0.9)})
    headline = summary([answered], ()).headline
    assert all(percent(each.value, each.interval) in headline for each in answered.quantities)
