"""How does the model fare on what was generated? The verdict card, table 2, the classes, the three properties."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.evaluate.guided_tests import AccuracyGrid, Guided, Properties, RoundTrip, sizes
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.guided_tests.verdict import (
    CHANCE,
    features_findings,
    guided_verdict,
    mix_title,
    oracle_reads,
)
from touchstone.core.evaluate.test_quality.looked import Looked
from touchstone.core.evaluate.wording import Verdict, bare, count, percent, plural
from touchstone.core.models.layers import LayerSamples
from touchstone.core.report import guided_tests as report
from touchstone.core.report.parts import brackets
from touchstone.ui.data import samples
from touchstone.ui.data_sets import views
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import page
from touchstone.ui.shell.page import Metric

MOST_PICTURES = 12
_MOST_IN_SIGHT, _SCROLLS = 6, 240  # rows of a table, and how high it is where there are more
_EXPLAINED = {
    "between centroids": "Lines between centroids hold no sample; each row is such a line.",
    "back to the true centroid": "Each row is a test sample with a wrong, low-confidence prediction.",
    "true class first": "Each row is a misclassified test sample.",
}


def verdict(guided: Guided, *, finished: bool) -> Verdict:
    """The card: the sentence, the accuracies and, once all is known, what to do next."""
    verdict = guided_verdict(guided)
    page.verdict(verdict if finished else replace(verdict, advice=""), report.metrics(guided))
    return verdict


def suite(guided: Guided) -> None:
    """The main figure: every class on generated pictures; nothing where there are none that count."""
    if guided.suite is not None and oracle_reads(guided.suite):
        drawn = report.suite_figure(guided.suite)
        views.in_a_box(len(guided.class_names), lambda: page.draw(drawn), key="guided-suite-box")


def features(guided: Guided) -> None:
    """How the layer's head classifies generated features: the numbers, class by class, and table 2."""
    page.numbers(report.head_metrics(guided))
    st.markdown("\n".join(f"- {page.plain(finding)}" for finding in features_findings(guided)))
    classes(guided)
    table_2(guided.grid)


def table_2(grid: AccuracyGrid | None) -> None:
    """Accuracy over mixes and sizes, as a figure and as a table; nothing where none is known."""
    if grid is None:
        return
    st.subheader("Accuracy over mixes and sizes", anchor=False)
    st.caption(page.plain(CHANCE))
    page.draw(report.grid_figure(grid))
    table = report.grid_table(grid)
    st.dataframe(table.lines, hide_index=True, alt=table.title)
    st.caption(page.plain(table.caption))


def classes(guided: Guided) -> None:
    """The accuracy of every class on the tests that were asked for, and what was asked, placed and not placed."""
    st.subheader("Class by class", anchor=False)
    chart, beside = st.columns([3, 2], gap="medium")
    with chart:
        drawn = report.class_figure(guided)
        views.in_a_box(len(guided.class_names), lambda: page.draw(drawn), key="guided-class-box")
    with beside:
        table = report.counts_table(guided)
        config = {"Unplaced": st.column_config.NumberColumn(help="No attempt reached the region")}
        st.dataframe(table.lines, column_config=config, hide_index=True, alt=table.title)


def round_trip(trip: RoundTrip | None, guided: Guided, finding: str) -> None:
    """The decoder's error and the disagreement of the whole model with its head, in a row of numbers."""
    restored = guided.reconstruction
    if restored is None:
        return
    ends = (
        f"[{bare(restored.interval.lower, 3)}, {bare(restored.interval.upper, 3)}]" if restored.interval.known else ""
    )
    shown = [
        Metric(
            "Error of the decoder",
            bare(restored.error, 3),
            ends,
            "Root mean squared error of a pixel (black 0, white 1) on test images that the decoder has not seen, "
            f"n = {count(restored.n)}.",
        ),
        Metric(
            "Error of the mean image",
            bare(restored.baseline, 3),
            "to beat",
            "For comparison: the error if every image were the mean image.",
        ),
    ]
    if trip is not None:
        for label, (_, n, share, interval) in (
            ("Model and head disagree", trip.disagreement),
            ("Images still in the region", trip.kept_region),
        ):
            shown.append(
                Metric(label, percent(share), brackets(percent, share, interval), f"n = {count(n)} images. {finding}")
            )
    page.numbers(shown)


def properties(properties: Properties, looked: Looked) -> dict[str, list[str]]:
    """The three properties of section 4.1, and the violations of one of them with their samples."""
    lines = [
        {
            "Property": rule.name,
            "It says": rule.says,
            "Tested": count(rule.n),
            "Violated": count(rule.n_violated),
            "Share": percent(rule.share, rule.interval) if rule.n else "nothing to test",
        }
        for rule in properties.each
    ]
    st.table(pd.DataFrame(lines).set_index("Property"), alt="The three properties and how often they are violated")
    st.caption(
        "Section 4.1 of the paper, as metamorphic tests. A probability counts as violating if it moves the wrong "
        "way by more than 1 point."
    )
    control = One(
        "violations",
        "Violations of",
        {rule.name: rule.name for rule in properties.each},
        max(properties.each, key=lambda rule: (rule.n_violated > 0, rule.name == "true class first")).name,
    )
    check_address([control])
    chosen = control.draw()
    _violations(next(rule.violations for rule in properties.each if rule.name == chosen), chosen, looked)
    return {control.key: control.written(chosen)}


def _violations(table: pd.DataFrame, name: str, looked: Looked) -> None:
    if not len(table):
        st.caption("None.")
        return
    config = {
        "id": "Sample",
        "label": "Class",
        "other": "Other class",
        "worst": st.column_config.NumberColumn(
            "By", format="%.3f", help="Size of the violation (change of probability in the wrong direction)"
        ),
        "at": st.column_config.NumberColumn("At", format="%.2f", help="Where on the line, from 0 to 1"),
    }
    shown = table.drop(columns="id") if name == "between centroids" else table
    lazy = len(shown) > samples.LAZY_ROWS
    height = _SCROLLS if len(shown) > _MOST_IN_SIGHT else "auto"
    st.dataframe(shown, column_config=config, hide_index=True, lazy=lazy, height=height, alt="Violations")
    st.caption(f"{_EXPLAINED[name]} The worst first, n = {count(len(table))}.")
    if name != "between centroids":
        _pictures(table.head(MOST_PICTURES), looked)


def _pictures(table: pd.DataFrame, looked: Looked) -> None:
    """The worst violations as they are."""
    where = {sample_id: row for row, sample_id in enumerate(looked.parts.test.ids)}
    rows = looked.parts.test_rows[np.array([where[sample_id] for sample_id in table["id"]])]
    data = looked.dataset
    if data.kind == "image":
        captions = [f"{label}, not {other}" for label, other in zip(table["label"], table["other"], strict=True)]
        samples.pictures([data.x[row] for row in rows], captions)
    elif data.kind == "text":
        samples.show(data, list(rows[:3]))
    else:
        st.dataframe(samples.table(data, rows), hide_index=True, alt="The worst violations with their columns")


def nothing_computed(plan: GuidedTestsPlan, test: LayerSamples, ahead: str) -> None:
    """What stands where nothing has been computed of this choice."""
    n_tests = int(sizes(test, plan.frequency).sum())
    more = ", fills table 2" if plan.table else ""
    more += ", trains a decoder" if plan.decoder_epochs else ""
    page.not_computed(
        f"**Run** makes {plural(n_tests, 'test')} in the mix {mix_title(plan.centroid_share)}{more}: {ahead}"
    )
