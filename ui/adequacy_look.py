"""What do the sizes tell? The verdict card, the paper's tables 2 and 3, and the classes with their sentences."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from core.evaluate.data_set_adequacy.plan import AdequacyPlan
from core.evaluate.data_set_adequacy.results import Adequacy, Curve, Step, Told
from core.evaluate.data_set_adequacy.verdict import KINDS, adequacy_verdict, kind, sentence
from core.evaluate.intervals import Interval
from core.evaluate.source_robustness import Difference
from core.evaluate.wording import Verdict, count, percent, plural, points, ratio
from core.figures import data_set_adequacy as figures
from ui import page
from ui.adequacy_controls import Look, titles_of
from ui.controls import MODEL_TITLES
from ui.page import Metric
from ui.samples import LAZY_ROWS

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


def verdict(found: Adequacy, of: Curve, look: Look) -> Verdict:
    """The card: the sentence, and four numbers."""
    said = adequacy_verdict(found, of, worth=look.worth, names=MODEL_TITLES)
    page.verdict(said, metrics(of))
    return said


def metrics(of: Curve) -> list[Metric]:
    """What a doubling brought, the gap that is left, and rho, each with its interval over sources and samples."""
    told, last = of.outlook, of.points[-1].expected
    corrected = "" if told is None or told.n_claims < 2 else f"; for {plural(told.n_claims, 'model')} at once"
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
            _brackets(ratio, last.rho.value, last.rho.over_sources),
            "The share of the accuracy on familiar sources that is kept, at the largest size. The interval, 95 %, is "
            "over sources and samples.",
        ),
    ]


def size_table(found: Adequacy) -> None:
    """The paper's tables 2 and 3 and the spread: a line for each model and size."""
    lines = [
        {
            "Model": title,
            "Samples": round(point.n),
            "Interval (%)": f"[{100 * point.expected.exclusive.value:.2f}, {100 * point.expected.inclusive.value:.2f}]",
            "rho": point.expected.rho.value,
            "over sources": _brackets(ratio, point.expected.rho.value, point.expected.rho.over_sources),
            "over draws": _brackets(ratio, point.expected.rho.value, point.expected.rho.over_draws),
            "sd AccX": 100 * point.expected.exclusive.sd,
            "sd AccI": 100 * point.expected.inclusive.sd,
            "Step, AccX": _step(curve, place, "exclusive"),
            "Step, AccI": _step(curve, place, "inclusive"),
        }
        for curve, title in zip(found.overall, titles_of(found), strict=True)
        for place, point in enumerate(curve.points)
    ]
    config = {
        "Samples": st.column_config.NumberColumn(help="Mean number of training samples", format="%d"),
        "Interval (%)": st.column_config.TextColumn(help="Expected accuracy on unfamiliar and on familiar sources"),
        "rho": st.column_config.NumberColumn(format="%.3f"),
        "over sources": st.column_config.TextColumn(help="95 % interval of rho over sources and samples"),
        "over draws": st.column_config.TextColumn(help="95 % interval of rho over draws"),
        "sd AccX": st.column_config.NumberColumn(format="%.1f", help="Over draws, on unfamiliar sources (points)"),
        "sd AccI": st.column_config.NumberColumn(format="%.1f", help="Over draws, on familiar sources (points)"),
        "Step, AccX": st.column_config.TextColumn(
            help="Gain from the size before on unfamiliar sources, paired; 95 % interval over sources and samples"
        ),
        "Step, AccI": st.column_config.TextColumn(help="The same on familiar sources"),
    }
    alt = "Expected accuracy interval, rho, spread and steps by size"
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt=alt)


def classes(found: Adequacy, of: Curve, look: Look) -> None:
    """Every class: the small panels, and a line with its sentence."""
    curves = found.classes_of(of)
    if not curves:
        return
    name = page.plain(MODEL_TITLES.get(of.model, of.model))
    st.subheader(f"{name}: which classes would gain?", anchor=False)
    n, most = len(curves), figures.MOST_CLASSES
    part = f" Shown are the {most} with the widest gap of {count(n)}." if n > most else ""
    page.figure(
        figures.class_panels(curves, of=look.panels, dark=page.dark()),
        f"A panel for each class, all on the same axes, the widest gap first.{part} Hairlines are 95 % intervals over "
        "sources and samples. Sizes are numbers of that class's own samples.",
        key="classes",
    )
    table = class_table(curves, look.worth)
    columns = ["Class", "Would help", "A doubling (points)", "Gap (points)", "Rho"]
    shown = table[columns].rename(columns={"Rho": "rho"})
    st.dataframe(shown, hide_index=True, alt="What would help each class", lazy=len(shown) > LAZY_ROWS)
    st.caption(
        f"Intervals hold for all {plural(n, 'class', 'classes')} at once, over sources and samples; the sentence of "
        "each class is in the download."
    )


def class_table(curves: tuple[Curve, ...], worth: float) -> pd.DataFrame:
    """A line for each class: what would help it, the numbers that rests on, and the sentence."""
    lines = [
        {
            "Class": str(curve.label),
            "Would help": SHORT[kind(curve.outlook, worth=worth)],
            "A doubling (points)": _bare_points(curve.outlook.gain if curve.outlook else Told()),
            "Gap (points)": _bare_points(curve.outlook.gap if curve.outlook else Told()),
            "Rho": _rho(curve),
            "Sentence": sentence(curve, worth=worth),
        }
        for curve in figures.widest_first(curves)
    ]
    return pd.DataFrame(lines)


def sentences(found: Adequacy, worth: float) -> pd.DataFrame:
    """Every model and class with what it comes to, for a file."""
    lines = [
        {
            "model": curve.model,
            "source_finder": curve.source_finder,
            "label": curve.label,
            "verdict": kind(curve.outlook, worth=worth),
            "means": KINDS[kind(curve.outlook, worth=worth)],
            **{f"{name}{end}": value for name in ("gain", "gap", "closing") for end, value in _ends(curve, name)},
            "sentence": sentence(curve, worth=worth),
        }
        for curve in found.curves
    ]
    return pd.DataFrame(lines)


def nothing_computed(plan: AdequacyPlan, sizes: tuple[int, ...], n_trials: int) -> None:
    """What stands where nothing has been computed of this choice."""
    page.empty(
        f"Nothing has been computed for this choice yet. **Run** trains {plural(len(plan.models), 'model')} on "
        f"{plural(len(sizes), 'size')} of every draw's training part and tests them on the same test parts: "
        f"{plural(n_trials, 'trial')}, in the background."
    )


def _ends(curve: Curve, name: str) -> list[tuple[str, float]]:
    told = getattr(curve.outlook, name) if curve.outlook else Told()
    return [("", told.value), ("_lower", told.interval.lower), ("_upper", told.interval.upper)]


def _step(curve: Curve, place: int, end: str) -> str:
    steps = [step for step in curve.steps if step.after is curve.points[place]]
    return _difference(steps[0], end) if steps else ""


def _difference(step: Step, end: str) -> str:
    told: Difference = getattr(step, end)
    return points(told.value, told.over_sources).replace(" points", "")


def _points(label: str, told: Told, meaning: str) -> Metric:
    return Metric(label, points(told.value), _brackets(points, told.value, told.interval), meaning)


def _bare_points(told: Told) -> str:
    return points(told.value, told.interval).replace(" points", "")


def _rho(curve: Curve) -> str:
    rho = curve.points[-1].expected.rho
    return ratio(rho.value, rho.over_sources) if not np.isnan(rho.value) else ""


def _brackets(write: Callable[..., str], value: float, interval: Interval) -> str:
    return write(value, interval).removeprefix(write(value)).strip()


def spread(of: Curve) -> str:
    """The caption of the box plots: how the spread changed."""
    first, last = of.points[0].expected, of.points[-1].expected
    if np.isnan(first.exclusive.sd) or np.isnan(last.exclusive.sd):
        return "Each mark is the accuracy of one draw."
    return (
        "Each mark is the accuracy of one draw. On unfamiliar sources draws vary by "
        f"{percent(first.exclusive.sd)} (sd) at the smallest size and by {percent(last.exclusive.sd)} at the largest, "
        f"on familiar ones by {percent(first.inclusive.sd)} and {percent(last.inclusive.sd)}."
    )
