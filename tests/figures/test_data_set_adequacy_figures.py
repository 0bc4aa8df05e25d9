"""Figures of adequacy: numbers as they are on a logarithmic axis, roles by colour and mark, words for all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.adequacy_populations import (
    POPULATION,
    SAME,
    SIZES,
    classes,
    power_law,
    shifts_of,
    sized_trials,
)
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.figures.data_set_adequacy import (
    MOST_CLASSES,
    class_panels,
    interval_curve,
    model_curves,
    rho_curves,
    size_boxes,
    widest_first,
)
from touchstone.core.figures.theme import alt_text, theme

MARKUP = "<b>bold</b> & <a href='//x'>$y$</a>"


def simulated() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    population = replace(POPULATION, source_sd=0.2)
    data = population.data(rng)
    law = shifts_of(population, power_law(SIZES, ceiling=0.9, first=0.6, exponent=0.4))
    trials = pd.concat([sized_trials(data, rng, law), sized_trials(data, rng, SAME, model="other")])
    return trials.assign(label=trials["label"].replace("class 1", MARKUP))


@pytest.fixture(scope="module")
def found():
    trials = simulated()
    return adequacy_of(trials, n_per_class=classes(trials))


def charts(found, dark: bool) -> dict:
    of = found.overall[0]
    return {
        "curve": interval_curve(of, dark=dark),
        "boxes": size_boxes(found, of, dark=dark),
        "models": model_curves(found.overall, dark=dark),
        "rho": rho_curves(found.overall, dark=dark),
        "classes": class_panels(found.classes_of(of), dark=dark),
        "classes, rho": class_panels(found.classes_of(of), quantity="rho", dark=dark),
    }


def traces(figure, name):
    return [one for one in figure.data if one.name == name]


@pytest.mark.parametrize("dark", [False, True])
def test_every_chart_has_its_look_its_words_and_no_title(found, dark):
    for figure in charts(found, dark).values():
        assert figure.layout.template == theme(dark).template
        assert figure.layout.title.text is None
        assert alt_text(figure)
        assert figure.to_json()


@pytest.mark.parametrize("dark", [False, True])
def test_familiar_is_blue_and_round_unfamiliar_orange_and_a_diamond(found, dark):
    look, figures = theme(dark), charts(found, dark)
    for name, colour, mark in (
        ("seen in training", look.inclusive, "circle"),
        ("held out", look.exclusive, "diamond"),
    ):
        for chart in ("curve", "boxes", "classes"):
            for trace in traces(figures[chart], name):
                assert trace.line.color == colour
                assert trace.marker.symbol == mark


def test_sizes_stand_on_a_logarithmic_axis_with_a_tick_each(found):
    axis = interval_curve(found.overall[0]).layout.xaxis
    assert axis.type == "log"
    assert list(axis.tickvals) == list(SIZES)
    assert axis.range[0] < 2 < 4 < axis.range[1]


def test_the_numbers_drawn_are_the_numbers_found(found):
    of = found.overall[0]
    figure = interval_curve(of)
    [line] = traces(figure, "held out")
    assert line.x == pytest.approx([point.n for point in of.points])
    assert line.y == pytest.approx([100 * point.expected.exclusive.value for point in of.points])
    bars = traces(figure, "95 % CI for new data")
    ends = of.points[0].expected.inclusive.over_sources
    assert any(list(bar.y[:2]) == pytest.approx([100 * ends.lower, 100 * ends.upper]) for bar in bars)
    assert sum(len(box.y) for box in size_boxes(found, of).data) == 5 * 40
    assert traces(rho_curves(found.overall), "other")[0].y[-1] == found.overall[1].points[-1].expected.rho.value


def test_a_curve_is_drawn_where_it_fits_and_nowhere_else(found):
    fitting, flat = found.overall
    assert fitting.learning["exclusive"].law is not None
    assert flat.learning["exclusive"].law is None
    drawn = [trace for trace in traces(interval_curve(fitting), "fitted, held out") if trace.line.dash]
    assert drawn[0].x[-1] == pytest.approx(2 * SIZES[-1])
    assert traces(interval_curve(flat), "fitted, held out") == []


def test_every_model_has_its_band_between_two_lines_of_its_own_colour(found):
    figure = model_curves(found.overall)
    for curve, other in (found.overall, found.overall[::-1]):
        band, seen, held_out = traces(figure, curve.model)
        assert seen.y == pytest.approx([100 * point.expected.inclusive.value for point in curve.points])
        assert held_out.y == pytest.approx([100 * point.expected.exclusive.value for point in curve.points])
        assert (seen.line.dash, held_out.line.dash) == ("solid", "dash")
        assert seen.line.color == held_out.line.color != traces(figure, other.model)[1].line.color
        assert [trace.showlegend for trace in (band, seen, held_out)] == [False, True, False]
        assert len({trace.legendgroup for trace in (band, seen, held_out)}) == 1, "one click hides the model"


def test_there_is_a_panel_for_each_class_the_widest_gap_first(found):
    curves = found.classes_of(found.overall[0])
    figure = class_panels(curves)
    titles = [one.text for one in figure.layout.annotations]
    assert len(titles) == 4
    gaps = [curve.points[-1].expected.interval.width for curve in widest_first(curves)]
    assert gaps == sorted(gaps, reverse=True)
    assert len(traces(figure, "held out")) == 4
    assert sum(trace.showlegend for trace in traces(figure, "held out")) == 1
    many = [replace(curves[0], label=str(place)) for place in range(MOST_CLASSES + 3)]
    assert f"{MOST_CLASSES} of {MOST_CLASSES + 3} classes" in alt_text(class_panels(many))


def test_names_from_the_data_are_taken_literally(found):
    titles = [one.text for one in class_panels(found.classes_of(found.overall[0])).layout.annotations]
    assert any(title.startswith("&lt;b&gt;bold&lt;/b&gt;") for title in titles)
    assert not any("<b>" in title or "$" in title for title in titles)
    named = rho_curves(found.overall, names={"model": "<b>x</b>", "other": "y"})
    assert not any("<b>" in (trace.name or "") for trace in named.data)


def test_partial_results_draw_what_there_is(found):
    trials = simulated()
    part = trials[(trials["scheme"] == "source_inclusive").to_numpy()]
    partial = adequacy_of(part, n_per_class=classes(trials))
    for figure in charts(partial, False).values():
        assert figure.to_json()
    [line] = traces(interval_curve(partial.overall[0]), "held out")
    assert np.isnan(line.y).all()
