"""Are cells those of scikit-learn, and their intervals those of shares of a class?"""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix as by_sklearn

from touchstone.core.data import Predictions
from touchstone.core.evaluate.confusion_matrix import confusion_matrix
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.matched_subsets import compare_sets, matched_verdict
from touchstone.core.evaluate.units import Design
from touchstone.core.figures.confusion_matrix import MOST_CLASSES, confusion_chart
from touchstone.core.figures.theme import alt_text, theme
from touchstone.core.report.confusion_matrix import MOST_CONFUSIONS, matrix_part
from touchstone.core.report.matched_subsets import by_metric
from touchstone.core.report.parts import Figure


def labels(n_classes: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return y, np.where(rng.random(n) < 0.6, y, rng.integers(0, n_classes, n)), tuple(map(str, range(n_classes)))


@pytest.mark.parametrize(("n_classes", "n"), [(2, 40), (5, 300), (30, 50)])
def test_cells_are_scikit_learns_and_shares_are_of_the_class(n_classes, n):
    y, called, names = labels(n_classes, n, 1)
    matrix, counts = confusion_matrix(y, called, names), by_sklearn(y, called, labels=range(n_classes))
    assert {at: cell.n_predicted for at, cell in matrix.cells.items()} == {
        (i, j): counts[i, j] for i, j in np.ndindex(counts.shape) if counts[i, j]
    }
    assert matrix.n == n
    for (i, _), cell in matrix.cells.items():
        assert cell.n == counts[i].sum()
        assert cell.interval == wilson(float(cell.n_predicted), float(cell.n))
    sizes = [matrix.cells[at].n_predicted for at in matrix.mistakes]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == (y != called).sum()


def test_few_units_give_no_interval_and_many_a_wider_one():
    y, called, names = labels(2, 400, 2)
    called = np.where(np.arange(400) // 20 % 2, y, 1 - y)  # authors are right throughout, or never
    own = confusion_matrix(y, called, names).cells[0, 1].interval
    by_author = confusion_matrix(y, called, names, Design(np.arange(400) // 20, "author")).cells[0, 1].interval
    assert by_author.width > 2 * own.width
    few = confusion_matrix(y, called, names, Design(np.arange(400) // 100, "author"))
    assert not few.cells[0, 1].interval.known


def test_a_click_tells_the_rows_of_its_cell():
    y, called, names = labels(3, 60, 3)
    matrix = confusion_matrix(y, called, names)
    rows = {at: np.flatnonzero((y == at[0]) & (called == at[1])).tolist() for at in matrix.cells}
    figure = confusion_chart(matrix, "the test set", rows=rows)
    (clickable,) = [trace for trace in figure.data if trace.type == "scatter" and trace.customdata is not None]
    told = {
        (int(i), int(j)): list(each) for j, i, each in zip(clickable.x, clickable.y, clickable.customdata, strict=True)
    }
    assert told == {at: rows.get(at, []) for at in np.ndindex(3, 3)}, "an empty cell tells none of its neighbour's"
    assert alt_text(figure).startswith("Confusion matrix of the test set. Largest: ")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("n_classes", "whole"), [(2, False), (10, True)])
def test_numbers_stand_in_cells_with_samples_alone_and_can_be_read(n_classes, whole, dark):
    y, called, names = labels(n_classes, 40, 5)
    matrix = confusion_matrix(y, called, names)
    figure, look = confusion_chart(matrix, "the test set", dark=dark), theme(dark)
    written = {
        (int(i), int(j)): (text, trace.textfont.color)
        for trace in figure.data
        if trace.type == "scatter" and trace.mode == "text"
        for i, j, text in zip(trace.y, trace.x, trace.text, strict=True)
    }
    assert written.keys() == matrix.cells.keys()
    colours = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in look.rising]) / 255
    for at, (text, ink) in written.items():
        share = matrix.cells[at].share
        assert text == (f"{100 * share:.0f}" if whole else f"{100 * share:.1f}")
        ground = [np.interp(share, np.linspace(0, 1, len(colours)), channel) for channel in colours.T]
        light = sum(
            part * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
            for part, c in zip((0.2126, 0.7152, 0.0722), ground, strict=True)
        )
        assert (light + 0.05 if ink == "black" else 1.05 / (light + 0.05) * 0.05) / 0.05 >= 4.5


def test_long_names_are_short_on_the_axes_of_many_classes_and_whole_where_one_points():
    y, called, _ = labels(12, 300, 6)
    names = tuple(f"a name that is long, number {number}" for number in range(12))
    figure = confusion_chart(confusion_matrix(y, called, names), "the test set")
    assert len(set(figure.layout.xaxis.ticktext)) == 12
    assert max(map(len, figure.layout.yaxis.ticktext)) <= 14
    assert "a name that is long, number 11" in str(figure.data[-1].hovertext)


def test_of_many_classes_the_largest_confusions_are_listed():
    y, called, names = labels(MOST_CLASSES + 1, 2000, 4)
    shown = matrix_part(confusion_matrix(y, called, names), "the test set")
    assert not isinstance(shown, Figure)
    assert len(shown.lines) == MOST_CONFUSIONS
    first = shown.lines.iloc[0]
    counts = by_sklearn(y, called)
    assert first["Samples"] == (counts - np.diag(np.diag(counts))).max()


def two_sets(n: int, seed: int, taken: float) -> tuple[Predictions, Predictions]:
    """Three classes; on the new set a share of "a" is predicted as "b"."""
    rng, sets = np.random.default_rng(seed), []
    for share in (0.05, taken):
        y = np.arange(n) % 3
        called = np.where((y == 0) & (rng.random(n) < share), 1, y)
        called = np.where((y == 2) & (rng.random(n) < 0.1), 0, called)
        sets.append(Predictions(map(str, range(n)), y, called, ["a", "b", "c"]))
    return sets[0], sets[1]


def test_a_class_that_is_confused_more_often_is_named_with_both_shares():
    compared = compare_sets(*two_sets(900, 1, 0.25), rng=np.random.default_rng(0))
    first = max(compared.metrics.mistakes, key=lambda each: abs(each.claim.estimate))
    assert (first.truth, first.predicted, first.claim.decision) == ("a", "b", "above")
    assert first.claim.estimate == first.target.share - first.reference.share
    assert first.claim in matched_verdict(compared).claims
    *_, sentence, table = by_metric(compared.metrics)
    assert sentence.startswith("“a” is predicted as “b” more often on the new set, by ")
    assert sentence.endswith("(2 confusions, Holm, apart from all other claims).")
    decided = dict(zip(table.lines["Predicted as"], table.lines["Significantly"], strict=True))
    assert decided == {"b": "more often", "a": ""}


def test_where_nothing_changed_hardly_anything_is_claimed():
    compared = [compare_sets(*two_sets(300, seed, 0.05), rng=np.random.default_rng(0)) for seed in range(40)]
    assert sum(each.metrics.most_changed.decision != "undecided" for each in compared) <= 5
