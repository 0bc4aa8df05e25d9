"""Can this accuracy be trusted? The sheet: an answer to each question, and all that speaks of accuracy on one axis.

Each answer says what it speaks of: a recipe that is trained anew for each split, one trained model, or predictions in
files. Only like is compared with like, so the axis marks these apart and nothing is averaged over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from math import isnan

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claim_error_rates import reliability
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import half_width, wilson
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, Metric, best_guess
from touchstone.core.evaluate.wording import Verdict, count, percent, points
from touchstone.core.figures.overview import ROW, ROW_ON_PAPER, Mark, accuracy_axis
from touchstone.core.questions import QUESTIONS, Question
from touchstone.core.report.parts import Answer, Figure, KeyNumber, Note, Quantity, Report, Section, Table, brackets
from touchstone.core.report.run_report import METRIC_ON_AXIS, ON_AXIS, label
from touchstone.core.workspace import StoredModel

TITLE = "Can this accuracy be trusted?"
SPEAKS_OF = {"recipe": "a recipe, trained anew", "model": "one trained model", "predictions": "prediction files"}
CAPTION = (
    "Accuracy you can plan for. Circles: a recipe, trained anew for each split; diamonds: one trained model, or one "
    "file. Bars: 95 % CIs."
)
HOW_TO_READ = (
    "Each answer is a sentence with its 95 % interval. *Undecided* means that the data do not settle it. Answers about "
    "a recipe hold for models trained that way; answers about one model hold for that model only. There is no total "
    "score: the answers measure different things."
)
SEAL = 16
"""So many letters of a run's seal stand on the sheet, enough to know it by."""
UNSETTLED = ("undecided", "no significant", "not significant")
"""How a headline says that the data do not settle something."""
MOST_TIMES = 50
"""More than so many times the data are not named as what would settle something."""


@dataclass(frozen=True)
class Answered:
    """One question's answer: what it is `about` in words, its verdict, and the numbers that it rests on.

    `when` is in seconds since 1970 (None while a run goes on), `seal` stands for the run as it is stored.
    """

    question: Question
    about: str
    verdict: Verdict
    quantities: tuple[Quantity, ...] = ()
    when: float | None = None
    seal: str = ""

    @property
    def claim(self) -> Claim | None:
        """What the headline rests on."""
        return self.verdict.claims[0] if self.verdict.claims else None

    @property
    def undecided(self) -> bool:
        """Whether the data do not settle what was asked: its claim is open, and its headline says so, in any words."""
        says_so = any(word in self.verdict.headline.casefold() for word in UNSETTLED)
        return says_so and (self.claim is None or not self.claim.decided)

    @property
    def speaks_of(self) -> str:
        """Whether it is about a recipe, a model or predictions, in words."""
        return SPEAKS_OF.get(self.question.speaks_of, "")

    @property
    def trusted(self) -> str:
        """Its claim's code, how often such a claim was wrong, and what would settle an undecided one."""
        n = self.quantities[0].n if self.quantities else None
        name = "" if self.claim is None else f"{self.claim.of_kind.name}."
        settled = settles(self.claim, n) if self.undecided else ""
        return " ".join(filter(None, (name, reliability(self.claim), settled)))

    @property
    def computed(self) -> str:
        """When it was computed; empty while it is."""
        return "" if self.when is None else f"{datetime.fromtimestamp(self.when, UTC):%d %b %Y, %H:%M} UTC"


def settles(claim: Claim | None, n: int | None = None) -> str:
    """How much more data would decide what is undecided, if the effect is as large as it was estimated.

    An effect that is worth a sentence has to clear 0, a smaller one has to stay within what is worth one; widths fall
    with the root of the number of samples (or sources). Corrections for many claims ask for a little more. `n` is how
    many samples there are.

    >>> from touchstone.core.evaluate.claims import claim
    >>> from touchstone.core.evaluate.intervals import Interval
    >>> settles(claim("cluster_folds.goes_with", 0.02, Interval(-0.01, 0.05), 0.2))
    'If the effect is as estimated, about 2.2 times as many samples or sources would decide this.'
    >>> settles(claim("cluster_folds.goes_with", 0.02, Interval(-0.01, 0.05), 0.2), n=1797)
    'If the effect is as estimated, about 2.2 times as many samples (4\u202f043 in all) or sources would decide this.'
    >>> settles(claim("cluster_folds.goes_with", 0.02, Interval(0.01, 0.03), 0.001))
    ''
    """
    times = times_needed(claim)
    if times is None:
        return ""
    if times > MOST_TIMES:
        return f"More than {MOST_TIMES} times as many samples or sources would be needed to decide this."
    if times <= 1:
        return "A few more samples or sources would decide this."
    in_all = "" if n is None else f" ({count(round(times * n))} in all)"
    return (
        f"If the effect is as estimated, about {times:.1f} times as many samples{in_all} or sources would decide this."
    )


def times_needed(claim: Claim | None) -> float | None:
    """The same as a number: so many times the data; None where nothing is undecided, or nothing known.

    None, too, where seeds add more than half of the variance, or nobody knows how much: no sample makes that less.
    """
    if claim is None or claim.decided or not claim.interval.known:
        return None
    if not claim.mc_error * half_width(1.0, np.inf) < claim.interval.width / 2 / np.sqrt(2):
        return None
    below, above = claim.estimate - claim.interval.lower, claim.interval.upper - claim.estimate
    if abs(claim.estimate) >= claim.smallest:
        return _times(below if claim.estimate > 0 else above, abs(claim.estimate))
    return max(_times(above, claim.smallest - claim.estimate), _times(below, claim.smallest + claim.estimate))


def _times(width: float, room: float) -> float:
    return float("inf") if room == 0 else (width / room) ** 2


def marks(
    answers: Sequence[Answered],
    models: Sequence[StoredModel] = (),
    *,
    beside: Sequence[Quantity] = (),
    metric: str = ACCURACY,
) -> tuple[Mark, ...]:
    """Every accuracy of a sheet, in the order of the answers; first what trained models reached on their test sets.

    Of another `metric`, what answers about it say: of models and of few labels no more than their accuracy is known.

    What two answers say alike stands there once, and what they call alike says what it is about. Those of `beside`
    belong to no answer: accuracies from few labels.
    """
    reported = [
        Mark(
            f"{model.name}: test accuracy",
            model.n_correct / model.n_test,
            wilson(float(model.n_correct), float(model.n_test)),
            model.n_test,
            "random",
            is_recipe=False,
        )
        for model in models
        if model.n_test and model.n_correct is not None and model.training_plan is not None and metric == ACCURACY
    ]
    about = {mark: answer.about for answer in answers for mark in marks_of(answer.quantities, metric)}
    labels = [mark.label for mark in about]
    of_answers = (
        replace(mark, label=f"{mark.label} ({words})") if labels.count(mark.label) > 1 else mark
        for mark, words in about.items()
    )
    return (*reported, *of_answers, *marks_of(beside, metric))


def marks_of(quantities: Sequence[Quantity], metric: str = ACCURACY) -> list[Mark]:
    """Those of these numbers that are accuracies, or values of a metric, together by what they are of, in order."""
    on_axis = ON_AXIS if metric == ACCURACY else METRIC_ON_AXIS
    known = [one for one in quantities if one.name in on_axis and not isnan(one.value) and metric_of(one) == metric]
    about = [one.of[: on_axis[one.name].n_names] for one in known]
    groups, names = list(dict.fromkeys(about)), list(on_axis)
    order = sorted(range(len(known)), key=lambda i: (groups.index(about[i]), names.index(known[i].name)))
    known = [known[i] for i in order]
    labels = [label(one) for one in known]
    return [
        Mark(
            f"{called} ({', '.join(one.of)})" if labels.count(called) > 1 else called,
            one.value,
            one.interval,
            one.n,
            on_axis[one.name].role or one.of[-1],
            is_recipe=QUESTIONS[one.name.partition(".")[0]].speaks_of == "recipe",
            over=one.over,
            baseline=one.baseline,
        )
        for one, called in zip(known, labels, strict=True)
    ]


def metric_of(quantity: Quantity) -> str:
    """The metric of a number that stands on the axis: accuracy where it names none.

    >>> from touchstone.core.evaluate.intervals import UNKNOWN
    >>> metric_of(Quantity("matched_subsets.metric", ("the model", "roc_auc", "target"), 0.9, UNKNOWN, 50))
    'roc_auc'
    """
    names = quantity.of[{**ON_AXIS, **METRIC_ON_AXIS}[quantity.name].n_names :]
    return names[0] if names else ACCURACY


def metrics_of(answers: Sequence[Answered]) -> list[Metric]:
    """What the axis of comparisons can be of: what the first was about, accuracy, then all that they tell of both.

    >>> metrics_of([])[0].title
    'accuracy'
    """
    numbers = [one for answer in answers for one in answer.quantities]
    first = ("matched_subsets.gap", "model_comparison.difference")
    usual = next((one.of[1:] for one in numbers if one.name in first), ())
    known = (metric_of(one) for one in numbers if one.name in ("matched_subsets.metric", "model_comparison.metric"))
    return [METRICS[name] for name in dict.fromkeys((*usual, ACCURACY, *known))]


def key_numbers(answers: Sequence[Answered]) -> tuple[KeyNumber, ...]:
    """What stands beside accuracy in units of its own: robustness to noise, and whether confidence is too high."""
    known = [quantity for answer in answers for quantity in answer.quantities]
    robust = [quantity for quantity in known if quantity.name == "average_case.p_robust"]
    shown = []
    if robust:
        middle = robust[len(robust) // 2]
        shown.append(
            KeyNumber(
                f"Unchanged by noise, sigma {middle.of[0]}",
                percent(middle.value),
                f"{brackets(percent, middle.value, middle.interval)}, n = {count(middle.n)}".lstrip(", "),
                "Mean share of noisy copies of a sample that keep the model's prediction (average-case robustness).",
            )
        )
    for quantity in (quantity for quantity in known if quantity.name == "average_case.overconfidence"):
        shown.append(
            KeyNumber(
                "Confidence less accuracy",
                points(quantity.value),
                f"{brackets(points, quantity.value, quantity.interval)}, n = {count(quantity.n)}".lstrip(", "),
                "Above 0 the model is overconfident, below 0 underconfident, on average over the samples of that run.",
            )
        )
    return tuple(shown)


def baseline_of(dataset: Dataset, words: InWords = OF_ACCURACY) -> float | None:
    """What a model reaches that learned nothing but how frequent classes are; None of a metric that says nothing alone.

    >>> from touchstone.core.data import load_example
    >>> round(baseline_of(load_example("wine")), 3)
    0.399
    """
    positive = 0 if words.of_class is None else dataset.class_names.index(words.of_class)
    reached = best_guess(words.metric, dataset.n_per_class.astype(np.float64), positive)
    return None if isnan(reached) else reached


def axis_figure(
    shown: Sequence[Mark], baseline: float | None, *, words: InWords = OF_ACCURACY, row: int = ROW
) -> Figure:
    """Every accuracy on one axis, or every value of what `words` speak of, beside its baseline where there is one.

    That is of all of them, or else each has the one of its own set.
    """
    own = {mark.baseline for mark in shown if mark.baseline is not None} if baseline is None else {baseline}
    ends = dict.fromkeys(words.value(end(own)) for end in (min, max) if own)
    line = "Majority class" if words.metric.name == ACCURACY else "Baseline"
    beside = f" {line}{' (grey ticks, where near)' * (len(own) > 1)}: {' to '.join(ends)}." if own else ""
    baseline = own.pop() if len(own) == 1 else None
    sorts, caption = {mark.over for mark in shown}, CAPTION.replace("Accuracy", words.title, 1)
    caption = caption.replace("95 % CIs.", f"95 % CIs over {sorts.pop()}.") if len(sorts) == 1 else caption
    draw = partial(accuracy_axis, tuple(shown), baseline, words=words, row=row)
    return Figure("accuracies", draw, caption + beside)


def table(answers: Sequence[Answered]) -> pd.DataFrame:
    """Tidy rows, a line for each answer: what it is of and about, its verdict, the claim beneath, and its seal."""
    return pd.DataFrame(
        [
            {
                "question": answer.question.stem,
                "speaks_of": answer.question.speaks_of,
                "about": answer.about,
                "verdict": answer.verdict.headline,
                "next": answer.verdict.advice,
                "claim": None if answer.claim is None else answer.claim.kind,
                "estimate": np.nan if answer.claim is None else answer.claim.estimate,
                "lower": np.nan if answer.claim is None else answer.claim.interval.lower,
                "upper": np.nan if answer.claim is None else answer.claim.interval.upper,
                "decision": None if answer.claim is None else answer.claim.decision,
                "seal": answer.seal,
            }
            for answer in answers
        ]
    )


def accuracies(shown: Sequence[Mark], metric: str = ACCURACY) -> pd.DataFrame:
    """The axis as a table: accuracy (or the metric), value, lower, upper, n, and what the interval is over."""
    return pd.DataFrame(
        [
            {
                metric: mark.label,
                "value": mark.value,
                "lower": mark.interval.lower,
                "upper": mark.interval.upper,
                "n": mark.n,
                "over": mark.over,
            }
            for mark in shown
        ],
        columns=[metric, "value", "lower", "upper", "n", "over"],
    )


def sheet(
    subject: str,
    answers: Sequence[Answered],
    *,
    shown: Sequence[Mark],
    baseline: float | None,
    words: InWords = OF_ACCURACY,
    story: Verdict | None = None,
    unasked: Sequence[str],
    provenance: Sequence[tuple[str, str]],
) -> Report:
    """The sheet as a report for one page of A4: what comes first, the axis, an answer each, what was never asked."""
    beside = [f"{metric.label}: {metric.value} {metric.interval}." for metric in key_numbers(answers)]
    axis = (axis_figure(shown, baseline, words=words, row=ROW_ON_PAPER),) if shown else ()
    if story is not None:  # in one place, since paper has little room
        story, beside = replace(story, used=" ".join([story.used, *story.findings, *beside]), findings=()), []
    first = (*axis, " ".join(beside)) if beside else axis
    sections = [Section("", first)] if first else []
    for answer in answers:
        about = (answer.about, answer.speaks_of, answer.computed, answer.seal and f"seal {answer.seal[:SEAL]}")
        notes = (" · ".join(part for part in about if part), answer.trusted)
        parts = (answer.verdict, *(Note(note) for note in notes if note))
        sections.append(Section(answer.question.title, parts))
    if unasked:
        sections.append(Section("Not asked", (f"{'; '.join(unasked)}",)))
    if shown:
        values = Table("Accuracies", _in_numbers(shown, words))
        sections.append(Section("In numbers", (values,), on_paper=False))
    return Report(TITLE, subject, Answer(story, (), tuple(sections)), HOW_TO_READ, tuple(provenance), "", is_sheet=True)


def _in_numbers(shown: Sequence[Mark], words: InWords) -> pd.DataFrame:
    return pd.DataFrame(
        {
            words.title: [mark.label for mark in shown],
            "%" if words.metric.in_percent else "Value": [words.value(mark.value).replace(" %", "") for mark in shown],
            "95 % CI": [brackets(words.value, mark.value, mark.interval) for mark in shown],
            "n": [count(mark.n) for mark in shown],
            "CI over": [mark.over for mark in shown],
        }
    )
