"""Figures of folds: numbers as they are, schemes by colour and mark, words for who cannot see them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.fold_populations import simulated
from touchstone.core.evaluate.cluster_folds.performance import characteristics_of, fold_performance, mean_by_fold
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, ScoredBy, ScoreEstimate
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.wording import gap
from touchstone.core.figures.cluster_folds import (
    class_scores,
    fold_map,
    fold_means,
    fold_sizes,
    label_shares,
    performance_chart,
    relation_chart,
    run_names,
    seeds_chart,
)
from touchstone.core.figures.theme import alt_text, theme

MARKUP = "<b>bold</b> & $y$"
SCHEMES = ("random_folds", "sds_folds", "mine")
FOLDED = simulated({"random_folds": 0.1, "sds_folds": 0.3, "mine": 0.4}, seeds=(0, 1))
FOLDED = replace(FOLDED, class_names=("a", MARKUP, "c"))
FOUND = fold_performance(FOLDED)
LENGTHS = np.random.default_rng(1).gamma(4.0, 5.0, size=len(FOLDED.y))


def charts(folded: FoldPredictions, found: FoldPerformance, dark: bool) -> dict:
    folds = {scheme: folded.folds(scheme, 0) for scheme in folded.schemes}
    points = np.random.default_rng(2).normal(size=(len(folded.y), 2))
    told = characteristics_of(folded, numbers={"mean length": LENGTHS[: len(folded.y)]}, rng=np.random.default_rng(0))
    lengths = {scheme: mean_by_fold(of, LENGTHS[: len(of)]) for scheme, of in folds.items()}
    runs = [run for run in found.runs if run.seed == 0]
    return {
        "map": fold_map(points, folds["sds_folds"], "sds_folds", dark=dark),
        "sizes": fold_sizes(folds, dark=dark),
        "labels": label_shares(folds["sds_folds"], folded.y, folded.class_names, dark=dark),
        "means": fold_means(lengths, "Length (words)", whole=float(LENGTHS.mean()), dark=dark),
        "performance": performance_chart(found, runs, dark=dark),
        "seeds": seeds_chart(found, found.schemes, dark=dark),
        "relation": relation_chart(found, found.runs, told, "mean length", dark=dark),
        "classes": class_scores(found, runs, dark=dark),
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


def marks(figure, name):
    (found,) = [one for one in figure.data if one.name == name and one.mode == "markers"]
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_every_chart_has_its_look_its_words_and_no_title(dark):
    for figure in charts(FOLDED, FOUND, dark).values():
        assert figure.layout.template == theme(dark).template
        assert figure.layout.title.text is None
        assert alt_text(figure)
        assert figure.to_json()
        for one in figure.data:
            assert isinstance(one.x, np.ndarray)


@pytest.mark.parametrize("dark", [False, True])
def test_a_scheme_has_the_same_colour_and_mark_in_every_chart_and_random_is_grey(dark):
    look, figures = theme(dark), charts(FOLDED, FOUND, dark)
    for scheme, colour, symbol in (
        ("random_folds", look.grey, "x-thin-open"),
        ("sds_folds", look.colours[0], "circle"),
        ("mine", look.colours[1], "diamond"),
    ):
        name = scheme_title(scheme)
        for chart in ("means", "performance", "seeds", "relation", "classes"):
            found = marks(figures[chart], name)
            assert (found.marker.color, found.marker.symbol) == (colour, symbol), chart
        (bar,) = [one for one in figures["sizes"].data if one.name == name]
        assert bar.marker.color == colour


def test_the_numbers_drawn_are_the_numbers_found():
    runs = [run for run in FOUND.runs if run.seed == 0]
    figure = performance_chart(FOUND, runs)
    for run in runs:
        drawn = marks(figure, scheme_title(run.scheme))
        assert drawn.y == pytest.approx([100 * fold.score.value for fold in run.folds])
    bars = [one for one in figure.data if one.mode == "lines" and one.name is None and len(one.x) == 3 * 5]
    first = runs[0].folds[0].score.interval
    assert bars[0].y[:2] == pytest.approx([100 * first.lower, 100 * first.upper])
    for row in FOUND.schemes:
        drawn = marks(seeds_chart(FOUND, FOUND.schemes), scheme_title(row.scheme))
        assert drawn.y == pytest.approx([100 * run.mean.value for run in FOUND.runs_of(row.scheme, row.model)])


def test_a_correlation_is_drawn_in_its_own_unit():
    found = fold_performance(FOLDED, metric=ScoredBy("matthews_corrcoef"))
    runs, title = [run for run in found.runs if run.seed == 0], "Matthews correlation"
    told = characteristics_of(FOLDED, numbers={"mean length": LENGTHS}, rng=np.random.default_rng(0))
    by_fold, seeds = performance_chart(found, runs), seeds_chart(found, found.schemes)
    related = relation_chart(found, found.runs, told, "mean length")
    assert [each.layout.yaxis.title.text for each in (by_fold, seeds, related)] == [title, f"Mean {title}", title]
    for figure in (by_fold, seeds, related):
        assert figure.layout.yaxis.tickformat == ".4~f"
        assert -1.2 < figure.layout.yaxis.range[0] < figure.layout.yaxis.range[1] < 1.2
    drawn, (first, *_) = marks(by_fold, scheme_title(runs[0].scheme)), runs[0].folds
    assert drawn.y == pytest.approx([fold.score.value for fold in runs[0].folds])
    assert gap(first.score.value, first.score.interval) in drawn.text[0]
    assert alt_text(by_fold).startswith(f"{title} of every fold.")
    assert "%" not in alt_text(by_fold) + alt_text(seeds)


def test_folds_of_different_runs_do_not_stand_on_one_place():
    figure = performance_chart(FOUND, FOUND.runs[:3])
    places = np.concatenate([one.x for one in figure.data if one.mode == "markers" and one.legendgroup is None])
    assert len(set(places)) == len(places) == 3 * 5


def test_the_global_line_is_the_share_of_all_samples_and_marks_are_those_of_folds():
    folds = FOLDED.folds("sds_folds", 0)
    figure = label_shares(folds, FOLDED.y, FOLDED.class_names)
    whole = 100 * np.bincount(FOLDED.y) / len(FOLDED.y)
    (line,) = [one for one in figure.data if one.name == "all samples"]
    assert line.x[::3] == pytest.approx(whole)
    for fold in range(5):
        of_fold = FOLDED.y[folds == fold]
        assert marks(figure, f"fold {fold + 1}").x == pytest.approx(
            100 * np.bincount(of_fold, minlength=3) / len(of_fold)
        )


def test_label_shares_that_stand_side_by_side_have_one_range_that_holds_them_all():
    y = np.array([0] * 60 + [1] * 30 + [2] * 10)
    even, uneven = np.arange(100) % 5, np.repeat(np.arange(5), 20)  # the latter has folds of one label only
    figures = [label_shares(folds, y, ["a", "b", "c"], beside=[even, uneven]) for folds in (even, uneven)]
    ranges = {figure.layout.xaxis.range for figure in figures}
    assert len(ranges) == 1
    ((low, high),) = ranges
    assert low == 0
    assert high > 100
    assert label_shares(even, y, ["a", "b", "c"]).layout.xaxis.range[1] == pytest.approx(62.4)


def test_a_hundred_classes_and_thirty_folds_stay_apart():
    rng = np.random.default_rng(0)
    folds, y = rng.integers(30, size=6000), rng.integers(100, size=6000)
    figure = label_shares(folds, y, [f"class {i}" for i in range(100)])
    assert figure.layout.height / 100 >= 15
    assert not any(one.showlegend for one in figure.data if one.mode == "markers")
    assert fold_sizes({"sds_folds": folds}).layout.xaxis.range == (0.4, 30.6)


def test_a_partial_run_is_drawn_with_what_it_has():
    run = replace(FOUND.runs[0], folds=FOUND.runs[0].folds[1:3])
    figure = performance_chart(FOUND, [run])
    assert marks(figure, scheme_title(run.scheme)).x.tolist() == [1.0, 2.0]
    assert figure.layout.xaxis.ticktext == tuple("12345")


def test_names_from_the_data_are_taken_literally():
    for figure in charts(FOLDED, FOUND, False).values():
        content = figure.to_dict()
        content["layout"].pop("meta")  # plain text, not drawn
        shown = list(strings(content))
        assert not [text for text in shown if "<b>" in text or "$" in text.replace("&#36;", "")]


def test_runs_are_named_by_what_sets_them_apart():
    runs = FOUND.runs_of("sds_folds", FOUND.models[0])
    assert run_names(runs) == ["SDS k-means, seed 0", "SDS k-means, seed 1"]
    assert run_names(runs[:1]) == ["SDS k-means"]


def test_samples_in_no_test_part_are_grey_on_the_map():
    folds = np.array([0, -1, 0, -1])
    figure = fold_map(np.zeros((4, 2)), folds, "max_shift")
    assert [(one.name, one.customdata.tolist()) for one in figure.data] == [("others", [1, 3]), ("fold 1", [0, 2])]
    assert "Largest shift" in alt_text(figure)


def test_an_empty_frame_of_means_is_drawn_empty():
    empty = mean_by_fold(np.full(3, -1), np.zeros(3))
    assert isinstance(empty, pd.DataFrame)
    assert len(empty) == 0


def test_a_fold_whose_score_is_not_defined_is_left_out_of_what_a_figure_says():
    (run, *_), nan = FOUND.runs, float("nan")
    gone = replace(run.folds[0], score=ScoreEstimate(nan))
    said = performance_chart(FOUND, [replace(run, folds=(gone, *run.folds[1:]))]).layout.meta["alt"]
    known = [100 * fold.score.value for fold in run.folds[1:]]
    assert f"by fold {min(known):.1f} % to {max(known):.1f} %" in said
    nowhere = replace(run, folds=(gone,), mean=ScoreEstimate(nan))
    assert "on average, defined on no fold" in performance_chart(FOUND, [nowhere]).layout.meta["alt"]


def test_every_fold_has_the_majority_class_beside_it():
    runs = FOUND.runs[:2]
    figure = performance_chart(FOUND, runs)
    baselines = [one for one in figure.data if one.name == "Majority class"]
    shown = [value / 100 for one in baselines for value in one.y]
    assert shown == pytest.approx([fold.majority for run in runs for fold in run.folds])
    assert [one.showlegend for one in baselines] == [True, False]
    assert "majority class" in alt_text(figure)
