"""Would more data help, or new sources? The verdict's numbers, the figures with captions, tables 2 and 3."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy import verdict
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.outlook import judged
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, AtSize, Curve, Estimate
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.source_robustness import ExpectedInterval
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.source_robustness.results import MetricOnSources
from touchstone.core.evaluate.units import design_beside_sources
from touchstone.core.evaluate.wording import count, percent, plural, points, ratio
from touchstone.core.figures import data_set_adequacy as figures
from touchstone.core.report import parts
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.report.source_robustness import metrics_table, not_given

SHORT = {
    "more": "more samples",
    "both": "more samples, new sources",
    "sources": "new sources",
    "enough": "neither",
    "gap": "new sources",
    "flat": "not more of the same",
    "unknown": "undecided",
}
"""What a curve comes to, in a table."""


def answer_of_rows(
    rows: pd.DataFrame,
    dataset: Dataset,
    plan: AdequacyPlan,
    *,
    nulls: Mapping[str, Claim] = parts.NONE,
    metric: tuple[str, str | None] = (ACCURACY, None),
) -> parts.Answer:
    """Everything about a run, from the rows of its trials; `nulls` and `metric` as in `answer`."""
    n_per_class = dict(zip(dataset.class_names, dataset.n_per_class.tolist(), strict=True))
    adequacy = adequacy_of(rows, n_per_class=n_per_class, positive=metric[1])
    return answer(replace(adequacy, design=design_beside_sources(dataset)), nulls=nulls, metric=metric[0])


def answer(
    found: Adequacy,
    *,
    of: Curve | None = None,
    worth: float = verdict.WORTH,
    panels: str = "accuracy",
    nulls: Mapping[str, Claim] = parts.NONE,
    metric: str = ACCURACY,
    finished: bool = True,
) -> parts.Answer:
    """Everything about a run, the verdict about the curve `of` (the usual one by default), by its accuracy or `metric`.

    `nulls` has the claim that data without groups allow of clusters, by their finder; `finished` as in
    `adequacy_verdict`. Raises DataError for a `metric` that these trials do not give.
    """
    of = of or verdict.first_curve(found)
    if of is None:
        return parts.nothing_yet()
    about = of if metric == ACCURACY else found.by(metric, of)
    if about is None:
        raise not_given(metric, found.intervals.metrics_of(of.points[-1].expected))
    null = nulls.get(of.source_finder)
    said = verdict.adequacy_verdict(found, about, worth=worth, names=MODEL_TITLES, null=null, finished=finished)
    sections = [parts.Section("", (curve_figure(found, about),))]
    if len(beside := found.beside(about)) > 1:
        sections.append(parts.Section("Every model", (models_figure(beside),), "every-model"))
    if curves := found.classes_of(of):
        title = f"{MODEL_TITLES.get(of.model, of.model)}: which classes would gain?"
        sections.append(parts.Section(title, (class_figure(curves, panels), class_table(curves, worth)), "gaining"))
    sections += [
        parts.Section(
            "Split by split, and rho of every model",
            (parts.Beside((box_figure(found, of), rho_figure(found))),),
            "draws",
        ),
        parts.Section("In numbers", (size_table(found),), "table"),
    ]
    if metrics := _metrics_of(found, of):
        caption = f"Of {MODEL_TITLES.get(of.model, of.model)}. No CI is corrected for many metrics."
        sections.insert(-1, parts.Section("By metric", (metrics_table(metrics, caption, by_size=True),), "metrics"))
    files = {"Table": found.table, "Steps": found.steps_table, "Verdicts": partial(sentences, found, worth)}
    return parts.Answer(said, tuple(key_numbers(found, about)), tuple(sections), tuple(numbers(found, metric)), files)


def numbers(found: Adequacy, metric: str = ACCURACY) -> Iterator[parts.Quantity]:
    """What can be bounded of every model and source finder: the gain of twice as many samples, the gap, and metrics.

    That which the verdict is about has its own gain and gap, too.
    """
    for curve in found.overall:
        of, last, over = (curve.model, curve.source_finder), curve.points[-1].expected, f"{noun(curve.source_finder)}s"
        for each in dict.fromkeys((curve, found.by(metric, curve))):
            if each is None or each.outlook is None:
                continue
            kind, named = ("", of) if each is curve else ("metric_", (*of, metric))
            for name, gain in (("gain", each.outlook.next_gain), ("gap", each.outlook.gap)):
                stem = f"data_set_adequacy.{kind}{name}"
                yield parts.Quantity(stem, named, gain.value, gain.interval, last.n_samples, over)
        for each in found.intervals.metrics_of(last):
            named, kept = (*of, each.metric), each.exclusive
            yield parts.Quantity("data_set_adequacy.metric", named, kept.value, kept.over_sources, each.n, over)


def _metrics_of(found: Adequacy, of: Curve) -> list[MetricOnSources]:
    """Metrics other than accuracy at every size of a curve, one after the other."""
    own = [each for point in of.points for each in found.intervals.metrics_of(point.expected)]
    return sorted(own, key=lambda each: list(METRICS).index(each.metric))


def key_numbers(found: Adequacy, of: Curve) -> list[parts.KeyNumber]:
    """What the next doubling would bring, the held-out gap and both accuracies, with intervals and baselines."""
    told, last, on, words = of.outlook, of.points[-1].about, verdict.ends(of), of.words
    corrected = "" if told is None or told.n_claims < 2 else f"; for {plural(told.n_claims, 'curve')} at once"
    gain, gap = (Estimate(), Estimate()) if told is None else (told.next_gain, told.gap)
    over = f"The interval is the 95 % CI for new data{corrected}."
    accuracies = [
        parts.KeyNumber(
            f"{words.title}, {on[end]}",
            words.value(estimate.value),
            parts.over_repeats(words.value, estimate.value, estimate.over_sources),
            "At the largest size. The interval is the 95 % CI for new data.",
            verdict.baseline(of, found) if of.label is None else "",
        )
        for end, estimate in (("exclusive", last.exclusive), ("inclusive", last.inclusive))
    ]
    next_doubling = _difference(
        words,
        f"Next doubling, {on[judged(of.source_finder)]}",
        gain,
        f"Expected gain from twice as many samples, extrapolated from the sizes tried. {over}",
    )
    return [
        *([next_doubling] if of.shows_gain else []),
        _difference(
            words, f"Gap of {on['exclusive']}", gap, f"Seen in training less held out, at the largest size. {over}"
        ),
        *accuracies,
    ]


def curve_figure(found: Adequacy, of: Curve) -> parts.Figure:
    """The interval of accuracy, or of another metric, over the size of the training set."""
    on, is_fitted = verdict.ends(of), any(learning.points for learning in of.learning.values())
    fitted = "Dashed lines are fitted learning curves, up to twice the data. " * is_fitted
    metric, name = of.points[-1].metric, of.words.name
    reached, baseline = (found.majority, "majority-class ") if metric is None else (metric.baseline, "")
    mixed = "" if of.is_comparable else "Only the largest size has the data's own mix of classes. "
    beside = "" if np.isnan(reached) else f"The {baseline}baseline is {of.words.value(reached)}."
    return parts.Figure(
        "curve",
        partial(figures.interval_curve, of, baseline=reached),
        f"The band runs from {name} on {on['exclusive']} to {name} on {on['inclusive']}. Hairlines are 95 % CIs "
        f"for new data, short bars Monte-Carlo errors. {fitted}{mixed}{beside}".rstrip(),
    )


def models_figure(curves: Sequence[Curve]) -> parts.Figure:
    """The intervals of all models, one upon the other."""
    words, on = curves[0].words, verdict.ends(curves[0])
    return parts.Figure(
        "model-curves",
        partial(figures.model_curves, curves, names=MODEL_TITLES),
        f"A band for each model, from {words.name} on {on['exclusive']} (dashed) to {words.name} on {on['inclusive']}. "
        "Hovering shows the 95 % CIs for new data.",
    )


def box_figure(found: Adequacy, of: Curve) -> parts.Figure:
    """The draws of one model."""
    return parts.Figure("boxes", partial(figures.size_boxes, found, of), _spread(of))


def rho_figure(found: Adequacy) -> parts.Figure:
    """Rho of all models."""
    return parts.Figure(
        "rho",
        partial(figures.rho_curves, found.overall, names=MODEL_TITLES),
        "The share of the accuracy that is kept on what is held out, with 95 % CIs for new data. Models stand a little "
        "beside each other.",
    )


def class_figure(curves: Sequence[Curve], panels: str) -> parts.Figure:
    """A small panel for each class."""
    n, most = len(curves), figures.MOST_CLASSES
    part = f" Shown are the {most} with the widest gap of {count(n)}." if n > most else ""
    return parts.Figure(
        "classes",
        partial(figures.class_panels, curves, quantity=panels),
        f"A panel for each class, all on the same axes, the widest gap first.{part} Hairlines are 95 % CIs for new "
        "data. Sizes are numbers of that class's own samples.",
    )


def class_table(curves: Sequence[Curve], worth: float) -> parts.Table:
    """A line for each class, the widest gap first: what would help it, and the numbers that rests on."""
    return parts.Table.of(
        "What would help each class",
        figures.widest_first(curves),
        (
            parts.Column("Class", lambda curve: str(curve.label)),
            parts.Column("Would help", lambda curve: SHORT[verdict.kind(curve, worth=worth)]),
            parts.Column("Next doubling (points)", lambda curve: _bare_points(_outlook(curve, "next_gain"))),
            parts.Column("Gap (points)", lambda curve: _bare_points(_outlook(curve, "gap"))),
            parts.Column("rho", _rho),
        ),
        f"95 % CIs for new data, for all {plural(len(curves), 'class', 'classes')} at once. The sentence of each class "
        "is in the download.",
    )


def sentences(found: Adequacy, worth: float) -> pd.DataFrame:
    """Tidy rows: every model and class with what it comes to."""
    lines = [
        {
            "model": curve.model,
            "source_finder": curve.source_finder,
            "label": curve.label,
            "verdict": verdict.kind(curve, worth=worth),
            "means": verdict.KINDS[verdict.kind(curve, worth=worth)],
            **{
                f"{name}{end}": value
                for name in ("next_gain", "gain", "gap", "closing")
                for end, value in _ends(_outlook(curve, name))
            },
            "sentence": verdict.sentence(curve, worth=worth),
        }
        for curve in found.curves
    ]
    return pd.DataFrame(lines)


def _outlook(curve: Curve, name: str) -> Estimate:
    return getattr(curve.outlook, name) if curve.outlook else Estimate()


def _ends(told: Estimate) -> list[tuple[str, float]]:
    return [("", told.value), ("_lower", told.interval.lower), ("_upper", told.interval.upper)]


def size_table(found: Adequacy) -> parts.Table:
    """The paper's tables 2 and 3 and the spread: a line for each model and size."""
    titles = figures.curve_names(found.overall, MODEL_TITLES)
    rows = [(title, curve, point) for curve, title in zip(found.overall, titles, strict=True) for point in curve.points]

    def of(make: Callable[[ExpectedInterval], object]) -> Callable[[tuple[str, Curve, AtSize]], object]:
        return lambda row: make(row[2].expected)

    spread = "Standard deviation over splits, {} (points)"
    return parts.Table.of(
        "Expected accuracy interval, rho, spread and steps by size",
        rows,
        (
            parts.Column("Model", lambda row: row[0]),
            parts.Column("Samples", lambda row: round(row[2].n), "Mean number of training samples"),
            parts.Column(
                "Interval (%)",
                of(lambda at: f"[{100 * at.exclusive.value:.2f}, {100 * at.inclusive.value:.2f}]"),
                "Expected accuracy held out and seen in training",
            ),
            parts.Column("rho", of(lambda at: at.rho.value), decimals=3),
            parts.Column(
                "over sources",
                of(lambda at: parts.brackets(ratio, at.rho.value, at.rho.over_sources)),
                "95 % CI of rho for new data",
            ),
            parts.Column(
                "over draws",
                of(lambda at: parts.brackets(ratio, at.rho.value, at.rho.over_draws)),
                "Monte-Carlo error of rho",
            ),
            parts.Column("sd AccX", of(lambda at: at.exclusive.sd), spread.format("held out"), 1, 100),
            parts.Column("sd AccI", of(lambda at: at.inclusive.sd), spread.format("seen in training"), 1, 100),
            parts.Column(
                "Step, AccX",
                lambda row: _step(*row[1:], "exclusive"),
                "Gain from the size before, held out, paired; 95 % CI for new data",
            ),
            parts.Column("Step, AccI", lambda row: _step(*row[1:], "inclusive"), "The same, seen in training"),
        ),
    )


def _step(curve: Curve, point: AtSize, end: str) -> str:
    steps = [getattr(step, end) for step in curve.steps if step.after is point]
    return points(steps[0].value, steps[0].over_sources).replace(" points", "") if steps else ""


def _difference(words: InWords, label: str, told: Estimate, meaning: str) -> parts.KeyNumber:
    value = words.difference(told.value)
    return parts.KeyNumber(label, value, parts.over_repeats(words.difference, told.value, told.interval), meaning)


def _bare_points(told: Estimate) -> str:
    return points(told.value, told.interval).replace(" points", "")


def _rho(curve: Curve) -> str:
    rho = curve.points[-1].expected.rho
    return ratio(rho.value, rho.over_sources) if not np.isnan(rho.value) else ""


def _spread(of: Curve) -> str:
    """How the spread changed."""
    first, last, on = of.points[0].expected, of.points[-1].expected, verdict.ends(of)
    if np.isnan(first.exclusive.sd) or np.isnan(last.exclusive.sd):
        return "Each mark is the accuracy on one split."
    return (
        f"Each mark is the accuracy on one split. On {on['exclusive']} splits vary by "
        f"{percent(first.exclusive.sd)} (sd) at the smallest size and by {percent(last.exclusive.sd)} at the largest. "
        f"On {on['inclusive']} it is {percent(first.inclusive.sd)} and {percent(last.inclusive.sd)}."
    )
