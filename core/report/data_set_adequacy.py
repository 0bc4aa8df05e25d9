"""Would more data help, or new sources? The verdict's numbers, the figures with captions, tables 2 and 3."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.outlook import judged
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, Curve, Step, Told
from touchstone.core.evaluate.data_set_adequacy.verdict import (
    WORTH,
    adequacy_verdict,
    ends,
    first_curve,
    kind,
    sentence,
)
from touchstone.core.evaluate.source_robustness import Difference
from touchstone.core.evaluate.units import design_beside_sources
from touchstone.core.evaluate.wording import count, percent, plural, points, ratio
from touchstone.core.figures import data_set_adequacy as figures
from touchstone.core.report.parts import Body, Figure, Metric, Section, Table, brackets, over_repeats
from touchstone.core.report.run_report import MODEL_TITLES

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


def body_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: AdequacyPlan) -> Body:
    """Everything about a run, from the rows of its trials."""
    n_per_class = dict(zip(dataset.class_names, dataset.n_per_class.tolist(), strict=True))
    return body(replace(adequacy_of(rows, n_per_class=n_per_class), design=design_beside_sources(dataset)))


def body(
    found: Adequacy,
    *,
    of: Curve | None = None,
    worth: float = WORTH,
    panels: str = "accuracy",
    null: Claim | None = None,
    finished: bool = True,
) -> Body:
    """Everything about a run, the verdict about the curve `of` (the usual one by default).

    `null` and `finished` as in `adequacy_verdict`.
    """
    of = of or first_curve(found)
    if of is None:
        return Body(None, (), (Section("", ("No trial has finished yet.",)),))
    said = adequacy_verdict(found, of, worth=worth, names=MODEL_TITLES, null=null, finished=finished)
    sections = [Section("", (curve_figure(found, of), box_figure(found, of), rho_figure(found)))]
    curves = found.classes_of(of)
    if curves:
        parts = (class_figure(curves, panels), class_table(curves, worth), *class_sentences(curves, worth))
        sections.append(Section(f"{MODEL_TITLES.get(of.model, of.model)}: which classes would gain?", parts))
    sections.append(Section("In numbers", (size_table(found),)))
    return Body(said, tuple(metrics(found, of)), tuple(sections))


def metrics(found: Adequacy, of: Curve) -> list[Metric]:
    """What the next doubling would bring, the held-out gap and both accuracies, with intervals and baselines."""
    told, last, on = of.outlook, of.points[-1].expected, ends(of)
    corrected = "" if told is None or told.n_claims < 2 else f"; for {plural(told.n_claims, 'curve')} at once"
    gain, gap = (Told(), Told()) if told is None else (told.next_gain, told.gap)
    over = f"The interval is the 95 % CI for new data{corrected}."
    baseline = f"majority-class baseline {percent(found.majority)}, chance {percent(found.chance)}"
    accuracies = [
        Metric(
            f"Accuracy, {on[end]}",
            percent(estimate.value),
            over_repeats(percent, estimate.value, estimate.over_sources),
            "At the largest size. The interval is the 95 % CI for new data.",
            baseline if of.label is None else "",
        )
        for end, estimate in (("exclusive", last.exclusive), ("inclusive", last.inclusive))
    ]
    return [
        _points(
            f"Next doubling, {on[judged(of.source_finder)]}",
            gain,
            f"Expected gain from twice as many samples, extrapolated from the sizes tried. {over}",
        ),
        _points(f"Gap of {on['exclusive']}", gap, f"Seen in training less held out, at the largest size. {over}"),
        *accuracies,
    ]


def curve_figure(found: Adequacy, of: Curve) -> Figure:
    """The accuracy interval over the size of the training set."""
    on, is_fitted = ends(of), any(learning.points for learning in of.learning.values())
    fitted = "Dashed lines are fitted learning curves, up to twice the data. " * is_fitted
    return Figure(
        "curve",
        partial(figures.interval_curve, of, majority=found.majority),
        f"The band runs from accuracy on {on['exclusive']} to accuracy on {on['inclusive']}. Hairlines are 95 % CIs "
        f"for new data, short bars Monte-Carlo errors. {fitted}The majority-class baseline is "
        f"{percent(found.majority)}.",
    )


def box_figure(found: Adequacy, of: Curve) -> Figure:
    """The draws of one model."""
    return Figure("boxes", partial(figures.size_boxes, found, of), _spread(of))


def rho_figure(found: Adequacy) -> Figure:
    """Rho of all models."""
    return Figure(
        "rho",
        partial(figures.rho_curves, found.overall, names=MODEL_TITLES),
        "The share of the accuracy that is kept on what is held out, with 95 % CIs for new data. Models stand a little "
        "beside each other.",
    )


def class_figure(curves: Sequence[Curve], panels: str) -> Figure:
    """A small panel for each class."""
    n, most = len(curves), figures.MOST_CLASSES
    part = f" Shown are the {most} with the widest gap of {count(n)}." if n > most else ""
    return Figure(
        "classes",
        partial(figures.class_panels, curves, quantity=panels),
        f"A panel for each class, all on the same axes, the widest gap first.{part} Hairlines are 95 % CIs for new "
        "data. Sizes are numbers of that class's own samples.",
    )


def class_table(curves: Sequence[Curve], worth: float) -> Table:
    """A line for each class: what would help it, and the numbers that rests on."""
    lines = [
        {
            "Class": str(curve.label),
            "Would help": SHORT[kind(curve, worth=worth)],
            "Next doubling (points)": _bare_points(curve.outlook.next_gain if curve.outlook else Told()),
            "Gap (points)": _bare_points(curve.outlook.gap if curve.outlook else Told()),
            "rho": _rho(curve),
        }
        for curve in figures.widest_first(curves)
    ]
    caption = f"95 % CIs for new data, for all {plural(len(curves), 'class', 'classes')} at once."
    return Table("What would help each class", pd.DataFrame(lines), caption=caption)


def class_sentences(curves: Sequence[Curve], worth: float) -> list[str]:
    """What is said of each class, the widest gap first."""
    return [sentence(curve, worth=worth) for curve in figures.widest_first(curves)]


def size_table(found: Adequacy) -> Table:
    """The paper's tables 2 and 3 and the spread: a line for each model and size."""
    titles = figures.curve_names(found.overall, MODEL_TITLES)
    lines = [
        {
            "Model": title,
            "Samples": round(point.n),
            "Interval (%)": f"[{100 * point.expected.exclusive.value:.2f}, {100 * point.expected.inclusive.value:.2f}]",
            "rho": point.expected.rho.value,
            "over sources": brackets(ratio, point.expected.rho.value, point.expected.rho.over_sources),
            "over draws": brackets(ratio, point.expected.rho.value, point.expected.rho.over_draws),
            "sd AccX": 100 * point.expected.exclusive.sd,
            "sd AccI": 100 * point.expected.inclusive.sd,
            "Step, AccX": _step(curve, place, "exclusive"),
            "Step, AccI": _step(curve, place, "inclusive"),
        }
        for curve, title in zip(found.overall, titles, strict=True)
        for place, point in enumerate(curve.points)
    ]
    decimals = {"rho": 3, "sd AccX": 1, "sd AccI": 1}
    return Table("Expected accuracy interval, rho, spread and steps by size", pd.DataFrame(lines), decimals)


def _step(curve: Curve, place: int, end: str) -> str:
    steps = [step for step in curve.steps if step.after is curve.points[place]]
    return _difference(steps[0], end) if steps else ""


def _difference(step: Step, end: str) -> str:
    told: Difference = getattr(step, end)
    return points(told.value, told.over_sources).replace(" points", "")


def _points(label: str, told: Told, meaning: str) -> Metric:
    return Metric(label, points(told.value), over_repeats(points, told.value, told.interval), meaning)


def _bare_points(told: Told) -> str:
    return points(told.value, told.interval).replace(" points", "")


def _rho(curve: Curve) -> str:
    rho = curve.points[-1].expected.rho
    return ratio(rho.value, rho.over_sources) if not np.isnan(rho.value) else ""


def _spread(of: Curve) -> str:
    """How the spread changed."""
    first, last, on = of.points[0].expected, of.points[-1].expected, ends(of)
    if np.isnan(first.exclusive.sd) or np.isnan(last.exclusive.sd):
        return "Each mark is the accuracy on one split."
    return (
        f"Each mark is the accuracy on one split. On {on['exclusive']} splits vary by "
        f"{percent(first.exclusive.sd)} (sd) at the smallest size and by {percent(last.exclusive.sd)} at the largest. "
        f"On {on['inclusive']} it is {percent(first.inclusive.sd)} and {percent(last.inclusive.sd)}."
    )
