"""What does a test set cover? The verdict card, what is covered too little and too much, and the figures by class."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.evaluate.intervals import Interval
from core.evaluate.test_quality import Curve, Finding, TestQuality, findings, findings_table, quality_verdict
from core.evaluate.wording import Verdict, count, percent, plural, points
from core.figures import test_quality as figures
from ui import page_file
from ui.data_sets import views
from ui.shell import page
from ui.shell.page import Metric
from ui.shell.session import read_only

GUIDED_TESTS = page_file("guided_tests")
MOST_FINDINGS = 6
_SIDES = {"under": "Covered too little", "over": "Covered too much"}


def card(found: TestQuality) -> Verdict:
    """The verdict in a sentence, and four numbers."""
    said = quality_verdict(found)
    page.verdict(said, metrics(found))
    return said


def metrics(found: TestQuality) -> list[Metric]:
    """Shares at a boundary and near a centroid, how much classes differ, and how many pairs are met."""
    told = []
    for label, shares, meaning in (
        ("At a boundary", found.boundary, "Samples of which the model is unsure. High is good: there a model breaks."),
        ("Near a centroid", found.centroid, "Samples that are typical of their class. Low is good: these are easy."),
    ):
        k, n, value, interval = shares.overall
        meaning = f"{meaning} {count(k)} of {count(n)}; the interval is over samples."
        told.append(Metric(label, percent(value), _brackets(percent, value, interval), meaning))
    spread = found.spreads["boundary conditioning"]
    told.append(
        Metric(
            "Classes differ by",
            points(spread.value),
            _brackets(points, spread.value, spread.interval),
            "Standard deviation over classes of the share at the boundary; were all classes alike, chance alone would "
            f"give up to {points(spread.by_chance)}.",
        )
    )
    n_pairs = found.n_classes * (found.n_classes - 1)
    told.append(
        Metric(
            "Boundaries met",
            f"{count(found.pairs.n_met)} of {count(n_pairs)}",
            f"random split {found.pairs.split_met:.0f}",
            "Ordered pairs of classes with a test sample at their boundary; a random split with as many samples there "
            "would meet about as many as stand beneath.",
        )
    )
    return told


def _brackets(write, value: float, interval: Interval) -> str:
    return write(value, interval).removeprefix(write(value)).strip()


def what_to_do(found: TestQuality, address: Mapping[str, str | list[str]]) -> None:
    """What is covered too little and what too much, class by class and pair by pair, with what to do now.

    `address` leads to the same regions where tests are generated, a page that links do not open.
    """
    said = findings(found)
    with st.container(border=True, key="findings"):
        sides = {direction: [one for one in said if one.direction == direction] for direction in _SIDES}
        places = st.columns(2, gap="large") if all(sides.values()) else [st.container(), st.container()]
        for (direction, mine), place in zip(sides.items(), places, strict=True):
            with place:
                _side(direction, mine)
        if max(map(len, sides.values())) > MOST_FINDINGS:
            _all_findings(findings_table(found))
        if not read_only():
            label, icon = "Generate tests, or find samples to label", ":material/arrow_forward:"
            st.page_link(GUIDED_TESTS, label=label, icon=icon, help="", query_params=dict(address))


def _side(direction: str, mine: Sequence[Finding]) -> None:
    title = _SIDES[direction]
    if mine:
        st.markdown(f"**{title}** :gray[{count(len(mine))}]\n" + "\n".join(map(_line, mine[:MOST_FINDINGS])))
    else:
        st.markdown(f"**{title}**: nothing that these samples show.")


def _line(one: Finding) -> str:
    return f"- {page.plain(one.text)} :gray[{page.plain(one.advice)}]"


def _all_findings(table: pd.DataFrame) -> None:
    with st.expander(f"All {plural(len(table), 'finding')}"):
        shown = table[["direction", "label", "rival", "text", "advice"]]
        config = {
            "direction": st.column_config.TextColumn("Covered too", width="small"),
            "label": st.column_config.TextColumn("Class", width="small"),
            "rival": st.column_config.TextColumn("Rival", width="small"),
            "text": st.column_config.TextColumn("What the samples show", width="large"),
            "advice": st.column_config.TextColumn("What to do"),
        }
        shown = shown.replace({"direction": {"under": "little", "over": "much"}})
        st.dataframe(shown, column_config=config, hide_index=True, lazy=len(shown) > 5000, alt="All findings")


def classes(found: TestQuality) -> None:
    """Every class in the three dimensions, the test set beside training set and random splits."""
    drawn = partial(figures.class_chart, found)
    caption = (
        "Good is: every class at its fair share of 1, few near the centroid, many at the boundary. Dots are the test "
        "set with 95 % intervals; grey is where a random split of training and test samples would lie."
    )
    views.in_a_box(found.n_classes, lambda: page.figure(drawn, caption, key="quality-classes"), key="class-box")


def curves(of: Sequence[Curve], found: TestQuality, label: int) -> None:
    """What rests on either threshold."""
    captions = (
        "What rests on the radius. Where the test set lies above the training set, it holds more typical samples.",
        "What rests on theta 2. The step at the right end is the samples of which the model is sure.",
    )
    for curve, caption, column in zip(of, captions, st.columns(2, gap="medium"), strict=True):
        with column:
            drawn = partial(figures.curve_chart, curve, found.regions, label)
            page.figure(drawn, caption, key=f"curve-{curve.dimension.split()[0]}")
