"""Would more data help, or new sources? The verdict's numbers, the figures with captions, tables 2 and 3."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from core.data import Dataset
from core.evaluate.data_set_adequacy.adequacy import adequacy_of
from core.evaluate.data_set_adequacy.plan import AdequacyPlan
from core.evaluate.data_set_adequacy.results import Adequacy, Curve, Step, Told
from core.evaluate.data_set_adequacy.verdict import WORTH, adequacy_verdict, kind, sentence, usual_curve
from core.evaluate.source_robustness import Difference
from core.evaluate.wording import count, percent, plural, points, ratio
from core.figures import data_set_adequacy as figures
from core.report.names import MODEL_TITLES
from core.report.parts import Body, Figure, Metric, Section, Table, brackets

SHORT = {
    "more": "more samples",
    "both": "more samples, new sources",
    "sources": "new sources",
    "enough": "nothing is missing",
    "gap": "new sources, perhaps more samples",
    "flat": "not more of the same",
    "unknown": "cannot be told yet",
}
"""What a curve comes to, in a table."""


def body_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: AdequacyPlan) -> Body:
    """Everything about a run, from the rows of its trials."""
    n_per_class = dict(zip(dataset.class_names, dataset.n_per_class.tolist(), strict=True))
    return body(adequacy_of(rows, n_per_class=n_per_class))


def body(found: Adequacy, *, of: Curve | None = None, worth: float = WORTH, panels: str = "accuracy") -> Body:
    """Everything about a run, the verdict about the curve `of` (the most robust model's by default)."""
    of = of or usual_curve(found)
    if of is None:
        return Body(None, (), (Section("", ("No trial has come to a result yet.",)),))
    said = adequacy_verdict(found, of, worth=worth, names=MODEL_TITLES)
    sections = [Section("", (curve_figure(of), box_figure(found, of), rho_figure(found)))]
    curves = found.classes_of(of)
    if curves:
        parts = (class_figure(curves, panels), class_table(curves, worth), *class_sentences(curves, worth))
        sections.append(Section(f"{MODEL_TITLES.get(of.model, of.model)}: which classes would gain?", parts))
    sections.append(Section("In numbers", (size_table(found),)))
    return Body(said, tuple(metrics(of)), tuple(sections))


def metrics(of: Curve) -> list[Metric]:
    """What a doubling brought, the gap that is left, and rho, each with its interval over sources and samples."""
    told, last = of.outlook, of.points[-1].expected
    corrected = "" if told is None or told.n_claims < 2 else f"; for {plural(told.n_claims, 'curve')} at once"
    gain, familiar, gap = (Told(),) * 3 if told is None else (told.gain, told.familiar_gain, told.gap)
    over = f"The interval, 95 %, is over sources and samples{corrected}."
    return [
        _points(
            "A doubling, unfamiliar sources",
            gain,
            f"What the last doubling of the training set brought on unfamiliar sources. {over}",
        ),
        _points(
            "A doubling, familiar sources",
            familiar,
            f"The same on sources that the training part holds, too. {over}",
        ),
        _points("Gap at the largest size", gap, f"Familiar less unfamiliar. {over}"),
        Metric(
            "Robustness rho",
            ratio(last.rho.value),
            brackets(ratio, last.rho.value, last.rho.over_sources),
            "The share of the accuracy on familiar sources that is kept, at the largest size. The interval, 95 %, is "
            "over sources and samples.",
        ),
    ]


def curve_figure(of: Curve) -> Figure:
    """The accuracy interval over the size of the training set."""
    return Figure(
        "curve",
        partial(figures.interval_curve, of),
        "The band runs from the accuracy to expect on unfamiliar sources to that on familiar ones. Where the orange "
        "line climbs, more samples help; where it lies flat below the blue one, new sources are needed. Hairlines are "
        "95 % intervals over sources and samples, short bars over draws; dashed lines are fitted power laws, up to "
        "twice the data.",
    )


def box_figure(found: Adequacy, of: Curve) -> Figure:
    """The draws of one model."""
    return Figure("boxes", partial(figures.size_boxes, found, of), _spread(of))


def rho_figure(found: Adequacy) -> Figure:
    """Rho of all models."""
    return Figure(
        "rho",
        partial(figures.rho_curves, found.overall, names=MODEL_TITLES),
        "The share of the accuracy that is kept on unfamiliar sources, with 95 % intervals over sources and "
        "samples; models stand a little beside each other.",
    )


def class_figure(curves: Sequence[Curve], panels: str) -> Figure:
    """A small panel for each class."""
    n, most = len(curves), figures.MOST_CLASSES
    part = f" Shown are the {most} with the widest gap of {count(n)}." if n > most else ""
    return Figure(
        "classes",
        partial(figures.class_panels, curves, quantity=panels),
        f"A panel for each class, all on the same axes, the widest gap first.{part} Hairlines are 95 % intervals over "
        "sources and samples. Sizes are numbers of that class's own samples.",
    )


def class_table(curves: Sequence[Curve], worth: float) -> Table:
    """A line for each class: what would help it, and the numbers that rests on."""
    lines = [
        {
            "Class": str(curve.label),
            "Would help": SHORT[kind(curve.outlook, worth=worth)],
            "A doubling (points)": _bare_points(curve.outlook.gain if curve.outlook else Told()),
            "Gap (points)": _bare_points(curve.outlook.gap if curve.outlook else Told()),
            "rho": _rho(curve),
        }
        for curve in figures.widest_first(curves)
    ]
    caption = f"Intervals hold for all {plural(len(curves), 'class', 'classes')} at once, over sources and samples."
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
    return Metric(label, points(told.value), brackets(points, told.value, told.interval), meaning)


def _bare_points(told: Told) -> str:
    return points(told.value, told.interval).replace(" points", "")


def _rho(curve: Curve) -> str:
    rho = curve.points[-1].expected.rho
    return ratio(rho.value, rho.over_sources) if not np.isnan(rho.value) else ""


def _spread(of: Curve) -> str:
    """How the spread changed."""
    first, last = of.points[0].expected, of.points[-1].expected
    if np.isnan(first.exclusive.sd) or np.isnan(last.exclusive.sd):
        return "Each mark is the accuracy of one draw."
    return (
        "Each mark is the accuracy of one draw. On unfamiliar sources draws vary by "
        f"{percent(first.exclusive.sd)} (sd) at the smallest size and by {percent(last.exclusive.sd)} at the largest, "
        f"on familiar ones by {percent(first.inclusive.sd)} and {percent(last.inclusive.sd)}."
    )
