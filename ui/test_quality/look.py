"""What does a test set cover, and what could it have missed? The verdict card, and the figures and tables by class."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.test_quality import Curve, TestQuality, findings, quality_verdict
from touchstone.core.evaluate.wording import Verdict, count, percent, plural
from touchstone.core.figures import test_quality as figures
from touchstone.core.figures.test_quality import missed_chart
from touchstone.ui import page_file
from touchstone.ui.data.samples import LAZY_ROWS
from touchstone.ui.data_sets import views
from touchstone.ui.shell import page
from touchstone.ui.shell.page import Metric
from touchstone.ui.shell.session import read_only

GUIDED_TESTS = page_file("guided_tests")
MOST_FINDINGS = 12


def card(quality: TestQuality, *, is_drawn: bool) -> Verdict:
    """The verdict in a sentence, and four numbers; `is_drawn` where the test set was drawn here at random."""
    verdict = quality_verdict(quality, is_drawn=is_drawn)
    page.verdict(verdict, metrics(quality))
    return verdict


def metrics(quality: TestQuality) -> list[Metric]:
    """The accuracy, the shares at a boundary and near a centroid, and how many pairs are met."""
    bounds = quality.missed.classes
    n_right, n_test = int((bounds.n - bounds.n_wrong).sum()), int(bounds.n.sum())
    (accuracy, interval), majority = quality.accuracy, percent(bounds.n.max() / n_test)
    over = quality.design.others
    metrics = [
        Metric(
            "Test accuracy",
            percent(accuracy),
            _brackets(percent, accuracy, interval),
            f"{count(n_right)} of {count(n_test)}; the interval, 95 %, is over {over}. Majority-class baseline: "
            f"{majority}.",
        )
    ]
    for label, shares, meaning in (
        ("At a boundary", quality.boundary, "Samples with low confidence. High is good: failures show there."),
        ("Near a centroid", quality.centroid, "Samples typical of their class. Low is good: these are easy."),
    ):
        k, n, value, interval = shares.overall
        meaning = f"{meaning} {count(k)} of {count(n)}; the interval is over {over}."
        metrics.append(Metric(label, percent(value), _brackets(percent, value, interval), meaning))
    n_pairs = quality.n_classes * (quality.n_classes - 1)
    metrics.append(
        Metric(
            "Boundaries met",
            f"{count(quality.pairs.n_met)} of {count(n_pairs)}",
            f"random split {quality.pairs.split_met:.0f}",
            "Ordered pairs of classes with a test sample at their boundary. Below: the same for a random split "
            "with as many boundary samples.",
        )
    )
    return metrics


def _brackets(write, value: float, interval: Interval) -> str:
    return write(value, interval).removeprefix(write(value)).strip()


def missed(quality: TestQuality) -> None:
    """Each class with the error rate that the test set cannot rule out, the least known on top."""
    drawn = partial(missed_chart, quality.missed)
    caption = (
        "Dots: the share of test samples that is wrong. Bars end at the largest error rate that the test set "
        "cannot rule out (one-sided 95 %, all classes at once). Worst class on top."
    )
    views.in_a_box(quality.n_classes, lambda: page.figure(drawn, caption, key="quality-missed"), key="missed-box")


def in_detail(quality: TestQuality) -> None:
    """Classes and pairs with what they may be wrong in, overall and at the boundary, as tables."""
    columns = {
        "label": "Class",
        "taken_for": "Predicted as",
        "n": st.column_config.NumberColumn("Samples", format="localized"),
        "n_wrong": "Wrong",
        "bound": _bound("Up to (%)", "One-sided 95 % bound of this error rate alone"),
        "bound_together": _bound("Up to, all at once (%)", "One-sided 95 % for all rows of this table at once"),
        "boundary_n": st.column_config.NumberColumn("At boundary", format="localized"),
        "boundary_n_wrong": "Wrong there",
        "boundary_bound": _bound("Up to there (%)", "One-sided 95 % bound of the error rate at the boundary, alone"),
        "n_more": st.column_config.NumberColumn(
            "More samples",
            format="localized",
            help="Labels needed to bring the bound within 5 points of the observed error rate",
        ),
    }
    for table, alt in (
        (quality.missed.table(), "Error rate of each class that cannot be ruled out"),
        (quality.missed.pairs_table(), "Confusions of each class that cannot be ruled out"),
    ):
        shown = table[[name for name in columns if name in table.columns]]
        bounds = [name for name in shown.columns if "bound" in name and name not in ("boundary_n", "boundary_n_wrong")]
        shown = shown.assign(**{name: 100 * shown[name] for name in bounds})
        lazy = len(shown) > LAZY_ROWS
        st.dataframe(shown, column_config=columns, hide_index=True, lazy=lazy, height=280, alt=alt)


def _bound(title: str, meaning: str) -> dict:
    return st.column_config.NumberColumn(title, format="%.1f", help=meaning)


def to_guided_tests(address: Mapping[str, str | list[str]]) -> None:
    """The way to the same regions where tests are generated, a page that links do not open."""
    if not read_only():
        label, icon = "Generate tests, or find samples to label", ":material/arrow_forward:"
        st.page_link(GUIDED_TESTS, label=label, icon=icon, help="", query_params=dict(address))


def classes(quality: TestQuality) -> None:
    """Every class in the three dimensions, the test set beside training set and random splits."""
    drawn = partial(figures.class_chart, quality)
    caption = (
        "Good: every class at its fair share of 1, few near the centroid, many at the boundary. Dots: test set "
        "with 95 % intervals; grey: random splits of training and test samples."
    )
    views.in_a_box(quality.n_classes, lambda: page.figure(drawn, caption, key="quality-classes"), key="class-box")
    all_findings = findings(quality)
    if all_findings:
        lines = [
            f"- {page.plain(finding.text)} :gray[{page.plain(finding.advice)}]"
            for finding in all_findings[:MOST_FINDINGS]
        ]
        more = len(all_findings) - MOST_FINDINGS
        lines += [f"- {plural(more, 'more finding')}: the file has all of them."] * (more > 0)
        st.markdown("\n".join(lines))


def curves(of_class: Sequence[Curve], quality: TestQuality, label: int) -> None:
    """What rests on either threshold."""
    captions = (
        "Effect of the radius. Where the test set is above the training set, it has more typical samples.",
        "Effect of theta 2. The step at the right end is the fully confident samples.",
    )
    for curve, caption, column in zip(of_class, captions, st.columns(2, gap="medium"), strict=True):
        with column:
            drawn = partial(figures.curve_chart, curve, quality.regions, label)
            page.figure(drawn, caption, key=f"curve-{curve.dimension.split()[0]}")
