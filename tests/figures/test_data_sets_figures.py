"""Figures of a data set: counts as they are, for two classes and for a hundred."""

import numpy as np
import plotly
import pytest

from touchstone.core.evaluate.data_sets import count_words, number_by_class
from touchstone.core.figures.data_sets import (
    characteristic_words,
    class_boxes,
    frequent_words,
    label_distribution,
    number_histogram,
    shares_by_number,
)
from touchstone.core.figures.marks import N_LAYERS, OTHERS, map_chart
from touchstone.core.figures.theme import DARK, LIGHT, alt_text


@pytest.mark.parametrize("n_classes", [2, 100])
def test_every_class_has_its_bar_count_and_name(n_classes):
    counts = np.arange(n_classes) * 100 + 1
    names = [f"class <{i}>" for i in range(n_classes)]
    figure = label_distribution(names, counts)
    (bars,) = figure.data
    assert bars.x.tolist() == counts.tolist()
    assert bars.marker.color == LIGHT.inclusive
    assert bars.text[0].startswith("1 · ")
    assert len(figure.layout.yaxis.ticktext) == n_classes
    assert figure.layout.yaxis.ticktext[0] == "class &lt;0&gt;"
    assert figure.layout.height >= 15 * n_classes
    assert figure.layout.xaxis.range[0] == 0
    assert "class <0>" in alt_text(figure)


def lengths(n_classes: int, n: int = 2000):
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return number_by_class(rng.poisson(8 + 10 * y / n_classes), y, [f"class {i}" for i in range(n_classes)], title="L")


def test_whole_numbers_stand_in_the_middle_of_their_bar():
    found = number_by_class(np.array([4, 5, 5, 7]), np.array([0, 1, 0, 1]), "ab", title="Length (words)")
    figure = number_histogram(found, noun="text")
    (bars,) = figure.data
    assert bars.x.tolist() == [4, 5, 6, 7]
    assert bars.y.tolist() == [1, 2, 0, 1]
    assert list(bars.customdata) == ["4", "5", "6", "7"]
    assert figure.layout.xaxis.title.text == "Length (words)"
    assert alt_text(figure) == "Length (words) of 4 texts: from 4 to 7, half of them between 4.75 and 5.5, median 5."


def test_bars_of_measurements_say_where_they_end():
    x = np.random.default_rng(0).normal(size=300)
    (bars,) = number_histogram(number_by_class(x, np.arange(300) % 2, "ab", title="$x$"), noun="row").data
    assert bars.y.sum() == 300
    assert all(" to " in text for text in bars.customdata)


@pytest.mark.parametrize("n_classes", [2, 100])
def test_every_class_has_its_box(n_classes):
    of = lengths(n_classes)
    figure = class_boxes(of, dark=True)
    (boxes,) = figure.data
    assert list(boxes.median) == [row.median for row in of.classes]
    assert list(boxes.lowerfence) == [row.whisker_low for row in of.classes]
    assert boxes.line.color == DARK.inclusive
    assert len(figure.layout.yaxis.ticktext) == n_classes
    assert "medians from" in alt_text(figure)


def test_few_classes_are_stacked_to_the_full_height():
    shares = lengths(3).shares
    figure = shares_by_number(shares, title="Length (words)")
    assert np.allclose(sum(np.asarray(bars.y) for bars in figure.data), 100)
    assert [bars.name for bars in figure.data] == list(shares.class_names)
    assert len(figure.layout.xaxis.ticktext) == len(shares.n)


def test_many_classes_are_a_heat_map_against_their_usual_share():
    shares = lengths(100).shares
    figure = shares_by_number(shares, title="Length (words)")
    (cells,) = figure.data
    assert cells.z.shape == (100, len(shares.n))
    ratio = shares.shares[2, 5] / shares.overall[5]
    assert cells.z[5, 2] == pytest.approx(np.clip(np.log2(ratio), -2, 2) if ratio else -2)
    assert np.isfinite(cells.z).all()
    assert len(figure.layout.yaxis.ticktext) == 100


def words():
    texts = ["a <b> fine film", "a fine fine cast", "a dull film", "a dull plot"] * 20
    return count_words([*texts, "once upon"], np.array([0, 0, 1, 1] * 20 + [1]), ("good", "bad"))


def test_frequent_words_are_bars_from_the_top():
    figure = frequent_words(words().frequent(most=3))
    (bars,) = figure.data
    assert figure.layout.yaxis.ticktext == ("a", "fine", "dull")
    assert list(bars.x) == [80, 60, 40]
    assert alt_text(frequent_words(())) == "The most frequent words."


def test_characteristic_words_stand_beside_their_share_elsewhere():
    found = words().characteristic("bad", most=5)
    figure = characteristic_words(found)
    elsewhere = figure.data[-1]
    assert list(elsewhere.x) == [100 * word.share_elsewhere for word in found]
    assert sum(len(bars.x) for bars in figure.data[:-1]) == len(found)
    assert "above all dull" in alt_text(figure)
    assert alt_text(characteristic_words(())) == "No word is significantly more frequent in the class."


def test_maps_hold_every_sample_once_and_colour_ten_groups():
    rng = np.random.default_rng(0)
    points, groups = rng.normal(size=(5000, 2)), rng.integers(-1, 100, 5000)
    figure = map_chart(points, groups, [f"g{i}" for i in range(100)])
    assert len(figure.data) == 11 * N_LAYERS
    assert [trace.name for trace in figure.data[::11]] == [OTHERS] * N_LAYERS
    assert [trace.showlegend for trace in figure.data] == [True] * 11 + [False] * 11 * (N_LAYERS - 1)
    assert sorted(np.concatenate([trace.customdata for trace in figure.data]).tolist()) == list(range(5000))
    sizes = np.bincount(groups[groups >= 0])
    shown = [sum(len(each.x) for each in figure.data if each.name == trace.name) for trace in figure.data[1:11]]
    assert sorted(shown) == np.sort(sizes)[-10:].tolist()
    assert len({(trace.marker.color, trace.marker.symbol) for trace in figure.data}) == 11
    for trace in figure.data:
        assert np.allclose(np.column_stack([trace.x, trace.y]), points[trace.customdata], atol=1e-6)


def test_chosen_groups_have_the_colours_in_their_order():
    groups = np.arange(60) % 30
    figure = map_chart(np.zeros((60, 2)), groups, [f"g{i}" for i in range(30)], coloured=[7, 3])
    assert [trace.name for trace in figure.data] == [OTHERS, "g7", "g3"]


def test_selected_samples_stand_out_from_the_start():
    groups = np.arange(6) % 2
    figure = map_chart(np.zeros((6, 2)), groups, "ab", selected=(3, 4))
    assert [trace.selectedpoints.tolist() for trace in figure.data] == [[2], [1]]
    assert all(trace.selectedpoints is None for trace in map_chart(np.zeros((6, 2)), groups, "ab").data)


def test_a_map_of_a_hundred_thousand_points_is_sent_as_numbers():
    rng = np.random.default_rng(0)
    figure = map_chart(rng.normal(size=(100_000, 2)), rng.integers(0, 3, 100_000), "abc")
    assert len(figure.to_json()) < (2_000_000 if plotly.__version__ >= "6" else 10_000_000)  # 5 writes them in digits
