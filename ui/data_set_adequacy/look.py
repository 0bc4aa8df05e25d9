"""What do the sizes tell? The verdict card, the paper's tables 2 and 3, and the classes with their sentences."""

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, Curve, Told
from touchstone.core.evaluate.data_set_adequacy.verdict import KINDS, adequacy_verdict, kind, sentence
from touchstone.core.evaluate.wording import Verdict, plural
from touchstone.core.report import data_set_adequacy as report
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.ui.data.samples import LAZY_ROWS
from touchstone.ui.data_set_adequacy.controls import AdequacyLook
from touchstone.ui.shell import page


def verdict(adequacy: Adequacy, curve: Curve, look: AdequacyLook, *, null: Claim | None, finished: bool) -> Verdict:
    """The card: the sentence, and four numbers. `null` and `finished` as in `adequacy_verdict`."""
    verdict = adequacy_verdict(adequacy, curve, worth=look.worth, names=MODEL_TITLES, null=null, finished=finished)
    page.verdict(verdict, report.metrics(adequacy, curve))
    return verdict


def size_table(adequacy: Adequacy) -> None:
    """The paper's tables 2 and 3 and the spread: a line for each model and size."""
    table = report.size_table(adequacy)
    config = {
        "Samples": st.column_config.NumberColumn(help="Mean number of training samples", format="%d"),
        "Interval (%)": st.column_config.TextColumn(help="Expected accuracy held out and seen in training"),
        "rho": st.column_config.NumberColumn(format="%.3f"),
        "over sources": st.column_config.TextColumn(help="95 % CI of rho for new data"),
        "over draws": st.column_config.TextColumn(help="Monte-Carlo error of rho"),
        "sd AccX": st.column_config.NumberColumn(
            format="%.1f", help="Standard deviation over splits, held out (points)"
        ),
        "sd AccI": st.column_config.NumberColumn(
            format="%.1f", help="Standard deviation over splits, seen in training (points)"
        ),
        "Step, AccX": st.column_config.TextColumn(
            help="Gain from the size before, held out, paired; 95 % CI for new data"
        ),
        "Step, AccI": st.column_config.TextColumn(help="The same, seen in training"),
    }
    st.dataframe(table.lines, column_config=config, hide_index=True, alt=table.title)


def gaining(curve: Curve) -> str:
    """The heading of what is said of a model's classes."""
    return f"{page.plain(MODEL_TITLES.get(curve.model, curve.model))}: which classes would gain?"


def classes(adequacy: Adequacy, curve: Curve, look: AdequacyLook) -> None:
    """Every class: the small panels, and a line with its sentence."""
    curves = adequacy.classes_of(curve)
    page.draw(report.class_figure(curves, look.panels))
    table = report.class_table(curves, look.worth)
    st.dataframe(table.lines, hide_index=True, alt=table.title, lazy=len(table.lines) > LAZY_ROWS)
    st.caption(f"{table.caption} The sentence of each class is in the download.")


def sentences(adequacy: Adequacy, worth: float) -> pd.DataFrame:
    """Every model and class with what it comes to, for a file."""
    lines = [
        {
            "model": curve.model,
            "source_finder": curve.source_finder,
            "label": curve.label,
            "verdict": kind(curve, worth=worth),
            "means": KINDS[kind(curve, worth=worth)],
            **{
                f"{name}{end}": value
                for name in ("next_gain", "gain", "gap", "closing")
                for end, value in _ends(curve, name)
            },
            "sentence": sentence(curve, worth=worth),
        }
        for curve in adequacy.curves
    ]
    return pd.DataFrame(lines)


def nothing_computed(plan: AdequacyPlan, sizes: tuple[int, ...], ahead: str) -> None:
    """What stands where nothing has been computed of this choice."""
    page.not_computed(
        f"**Run** trains {plural(len(plan.models), 'model')} on {plural(len(sizes), 'size')} of each training part "
        f"and tests them on the same test parts: {ahead}"
    )


def _ends(curve: Curve, name: str) -> list[tuple[str, float]]:
    estimate = getattr(curve.outlook, name) if curve.outlook else Told()
    return [("", estimate.value), ("_lower", estimate.interval.lower), ("_upper", estimate.interval.upper)]
