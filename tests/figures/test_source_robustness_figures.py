"""Figures of source robustness: numbers as they are, roles by colour and mark, words for who cannot see them."""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.populations import SCHEMES, Population
from touchstone.core.evaluate.source_robustness import AccuracyIntervals, expected_accuracy_intervals
from touchstone.core.figures.source_robustness import (
    accuracy_boxes,
    class_chart,
    held_out_chart,
    interval_chart,
    rho_chart,
    row_names,
)
from touchstone.core.figures.theme import alt_text, theme

MARKUP = "<b>bold</b> & <a href='//x'>$y$</a>"


def simulated(n_classes=3, n_clusterings=2, **options) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = Population(n_classes=n_classes, n_clusterings=n_clusterings, agreement=0.8).data(rng)
    trials = pd.concat(
        [data.trials(rng, model=m, shift=s, schemes=SCHEMES, **options) for m, s in (("one", 0.0), ("two", 0.5))]
    )
    return trials.assign(label=trials["label"].replace("class 1", MARKUP))


INTERVALS = expected_accuracy_intervals(simulated())
OF = INTERVALS.overall[0]


def charts(intervals: AccuracyIntervals, dark: bool) -> dict:
    of = intervals.overall[0]
    return {
        "boxes": accuracy_boxes(intervals, dark=dark),
        "intervals": interval_chart(intervals.overall, dark=dark),
        "rho": rho_chart(intervals.overall, dark=dark),
        "classes": class_chart(of, intervals.classes_of(of), dark=dark),
        "held out": held_out_chart(intervals.sources_of(of), dark=dark),
    }


def strings(content):
    """Every text in a figure."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from strings(value)
    elif isinstance(content, list | tuple | np.ndarray) and np.asarray(content).dtype.kind in "OU":
        for value in content:
            yield from strings(value)


def trace(figure, name):
    (found,) = [one for one in figure.data if one.name == name]
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_every_chart_has_its_look_its_words_and_no_title(dark):
    for figure in charts(INTERVALS, dark).values():
        assert figure.layout.template == theme(dark).template
        assert figure.layout.title.text is None
        assert alt_text(figure)
        assert figure.to_json()
        for one in figure.data:
            assert isinstance(one.x, np.ndarray)
            assert isinstance(one.y, np.ndarray)


@pytest.mark.parametrize("dark", [False, True])
def test_the_same_thing_has_the_same_colour_and_mark_in_every_chart(dark):
    look, figures = theme(dark), charts(INTERVALS, dark)
    for name, colour, mark in (
        ("seen in training", look.inclusive, "circle"),
        ("held out", look.exclusive, "diamond"),
        ("random split", look.grey, "x-thin-open"),
    ):
        assert trace(figures["boxes"], name).line.color == colour
        assert trace(figures["intervals"], name).marker.color == colour
        assert trace(figures["boxes"], name).marker.symbol == trace(figures["intervals"], name).marker.symbol == mark
    assert trace(figures["held out"], "held out").marker.color == look.exclusive


def test_the_numbers_drawn_are_the_numbers_found():
    figure = interval_chart(INTERVALS.overall)
    drawn = trace(figure, "held out").x
    assert drawn == pytest.approx([100 * row.exclusive.value for row in INTERVALS.overall])
    rho = rho_chart(INTERVALS.overall)
    assert trace(rho, "rho").x == pytest.approx([row.rho.value for row in INTERVALS.overall])
    over_sources = trace(rho, "95 % CI for new data").x
    assert over_sources[:2] == pytest.approx([OF.rho.over_sources.lower, OF.rho.over_sources.upper])
    boxes = accuracy_boxes(INTERVALS)
    assert sum(len(box.y) for box in boxes.data if box.type == "box") == len(INTERVALS.accuracies)


def test_classes_are_sorted_and_their_names_taken_literally():
    figure = class_chart(OF, INTERVALS.classes_of(OF))
    marks = np.concatenate([one.x for one in figure.data if one.mode == "markers"])
    at = np.concatenate([one.y for one in figure.data if one.mode == "markers"])
    assert (np.diff(marks[np.argsort(at)]) >= 0).all()
    assert any("&lt;b&gt;bold&lt;/b&gt; &amp;" in name for name in figure.layout.yaxis.ticktext)
    for figure in charts(INTERVALS, False).values():
        content = figure.to_dict()
        content["layout"].pop("meta")  # plain text, not drawn; nor is customdata
        content["data"] = [{key: value for key, value in one.items() if key != "customdata"} for one in content["data"]]
        shown = list(strings(content))
        assert not [text for text in shown if "<b>" in text or "<a " in text or "$" in text]


def test_every_held_out_source_can_be_picked():
    sources = INTERVALS.sources_of(OF)
    picked = trace(held_out_chart(sources), "held out")
    assert len(picked.x) == len(sources) == 2 * 15
    assert picked.customdata[0] == [0, sources[0].label, sources[0].source]


def test_shared_sources_have_a_row_each_and_long_lists_are_cut_and_say_so():
    trials = simulated(n_clusterings=1)
    number = pd.to_numeric(trials["source"]) % 5
    shared = trials.assign(source=number.map("writer {:.0f}".format).where(trials["source"].notna()))
    intervals = expected_accuracy_intervals(shared)
    sources = intervals.sources_of(intervals.overall[0])
    figure = held_out_chart(sources)
    assert len(figure.layout.yaxis.ticktext) == 5
    marks = trace(figure, "held out")
    assert (np.diff(marks.x) >= 0).all()
    many = held_out_chart(sources * 20)
    assert len(many.layout.yaxis.ticktext) == 40
    assert "the 40 lowest of 100" in many.layout.xaxis.title.text


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_a_run_in_progress_can_be_drawn(share):
    trials = simulated()
    part = trials[trials["repeat"] < 20 * share]
    part = part[(part["scheme"] != "source_inclusive") | (share > 0.05)]
    intervals = expected_accuracy_intervals(part)
    assert alt_text(accuracy_boxes(intervals))
    assert alt_text(interval_chart(intervals.overall))
    assert alt_text(rho_chart(intervals.overall))
    for of in intervals.overall:
        assert alt_text(class_chart(of, intervals.classes_of(of)))
    assert "nothing is known yet" in alt_text(held_out_chart(()))


@pytest.mark.evidence
def test_a_hundred_classes_stay_apart():
    intervals = expected_accuracy_intervals(simulated(n_classes=100, n_clusterings=1, n_repeats=2))
    of = intervals.overall[0]
    for figure in (class_chart(of, intervals.classes_of(of)), held_out_chart(intervals.sources_of(of))):
        assert len(figure.layout.yaxis.ticktext) == 100
        assert figure.layout.height / 100 >= 15


def test_rows_are_named_by_what_sets_them_apart():
    trials = simulated(n_clusterings=1)
    known = pd.concat([trials, trials.assign(source_finder="known")])
    rows = expected_accuracy_intervals(known).overall
    assert row_names(rows, {"one": "Model one"}) == [
        "Model one, kmeans",
        "two, kmeans",
        "Model one, known",
        "two, known",
    ]
    uneven = trials.assign(n_train=trials["n_train"] + trials["repeat"])
    unfinished = uneven[~((uneven["model"] == "two") & (uneven["repeat"] > 3))]
    assert row_names(expected_accuracy_intervals(unfinished).overall) == ["one", "two"], "an unfinished run names sizes"
    sizes = pd.concat([trials, trials.assign(n_train=50)])
    names = row_names(expected_accuracy_intervals(sizes, sizes=(50,)).overall)
    assert "one, 50 samples" in names


def test_words_state_the_takeaway():
    assert "expected on held-out sources" in alt_text(interval_chart(INTERVALS.overall))
    assert "Accuracy on each of 30 held-out sources. " in alt_text(held_out_chart(INTERVALS.sources_of(OF)))
    worst = min(INTERVALS.classes_of(OF), key=lambda row: row.rho.value)
    assert f"({worst.label})" in alt_text(class_chart(OF, INTERVALS.classes_of(OF)))
