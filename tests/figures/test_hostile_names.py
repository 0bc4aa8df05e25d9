"""No figure reads a name from the data as markup, an entity, a formula or a template."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import touchstone.core.figures
from tests.figures import test_guided_tests_figures as guided_cases
from tests.figures import test_matched_subsets as matched_cases
from tests.figures import test_test_quality_figures as quality_cases
from tests.report.runs import a_workspace, data, plans, rows, stored
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.cluster_folds.performance import fold_performance, mean_by_fold
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import rows_of_run
from touchstone.core.evaluate.data_sets import count_words, number_by_class
from touchstone.core.evaluate.guided_tests.generate import walk_between
from touchstone.core.evaluate.matched_subsets import compare_models, compare_sets, match
from touchstone.core.evaluate.source_robustness.agreement import agreement
from touchstone.core.figures import average_case, cluster_folds, data_sets, guided_tests, marks, source_robustness
from touchstone.core.figures import matched_subsets as matched
from touchstone.core.figures.matched_subsets import matching_picture
from touchstone.core.figures.theme import escape
from touchstone.core.report.run_report import answer_of
from touchstone.core.workspace import LOCAL_OWNER, frames, load_plan

HOSTILE = '<a href="javascript:alert(1)">x</a><img src=x onerror=alert(1)> %{evil} $evil$ &lt;evil'
RAW = (
    "<a",
    "<img",
    "<svg",
    "<i>",
    "<script",
    "</script",
    "<b>source",
    "%{evil}",
    "%{x} $",
    "$evil$",
    "&lt;evil",
    "&lt;b&gt; `",
)
SEEN_ONLY_BY_CODE = ("meta", "customdata", "ids")
"""What plotly does not draw: alt text goes to an attribute, positions to a callback."""


def drawn(content: object, at: tuple[str, ...] = ()) -> Iterator[str]:
    """Every text of a figure that plotly draws."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        hovered = "customdata" in str(content.get("hovertemplate", ""))
        for name, value in content.items():
            if name not in SEEN_ONLY_BY_CODE or (name == "customdata" and hovered):
                yield from drawn(value, (*at, str(name)))
    elif isinstance(content, list | tuple | np.ndarray) and np.asarray(content, dtype=object).size:
        for value in np.asarray(content, dtype=object).ravel():
            yield from drawn(value, at)


def raw(figure: go.Figure) -> list[str]:
    """Names in a figure that were not escaped."""
    return [text for text in drawn(figure.to_dict()) if any(name in text for name in RAW)]


def of_runs() -> Iterator[go.Figure]:
    workspace = a_workspace()
    for kind in plans():
        run = stored(workspace, kind)
        for one in answer_of(workspace.rows(LOCAL_OWNER, run.id), data(), load_plan(run.plan)).figures:
            yield one.draw(dark=False)


def of_folds() -> Iterator[go.Figure]:
    tested = rows_of_run(frames.from_bytes(rows("folds")), data())
    scores = fold_performance(tested, metric=ScoredBy("f1", data().class_names[0]))
    yield cluster_folds.performance_chart(scores, scores.runs[:2])
    yield cluster_folds.seeds_chart(scores, scores.schemes)
    known = pd.DataFrame(
        [
            {"scheme": run.scheme, "seed": run.seed, "fold": fold.fold, HOSTILE: 1.0}
            for run in scores.runs
            for fold in run.folds
        ]
    )
    yield cluster_folds.relation_chart(scores, scores.runs, known, HOSTILE)
    folds = tested.folds(tested.schemes[0], 0)
    yield cluster_folds.fold_map(np.zeros((90, 2)), folds, tested.schemes[0], names=[HOSTILE] * 3)
    means = {tested.schemes[0]: mean_by_fold(folds, np.arange(90.0))}
    yield cluster_folds.fold_means(means, HOSTILE, whole=45.0)


def of_data_sets() -> Iterator[go.Figure]:
    names, y = [HOSTILE, "b"], np.arange(60) % 2
    yield data_sets.label_distribution(names, np.array([30, 30]))
    for many in (False, True):
        n = 40 if many else 2
        of = number_by_class(np.arange(400), np.arange(400) % n, [HOSTILE, *map(str, range(1, n))], title=HOSTILE)
        yield data_sets.number_histogram(of, noun="sample")
        yield data_sets.class_boxes(of)
        yield data_sets.shares_by_number(of.shares, title=HOSTILE)
    counts = count_words([f"{word}<img src=x onerror=alert(1)> %{{evil}}" for word in "ab" * 30], y, names)
    yield data_sets.frequent_words(counts.frequent(most=5))
    yield data_sets.characteristic_words(counts.characteristic(HOSTILE, most=5))
    yield marks.map_chart(np.zeros((60, 2)), y, names)
    yield source_robustness.mean_image_sheet(np.zeros((2, 2, 4, 4, 1)), class_names=names, finder=HOSTILE)


def of_matching() -> Iterator[go.Figure]:
    def simulated(n: int, seed: int):
        of = matched_cases.simulated(n, seed)
        return type(of)(of.label, of.confidence, of.correct, (HOSTILE, "b", "c"))

    options = {"n_repeats": 3, "rng": np.random.default_rng(0)}
    models = compare_models({HOSTILE: simulated(400, 1)}, {HOSTILE: simulated(300, 2)}, **options)
    one = compare_sets(simulated(800, 1), simulated(300, 2), **options)
    for draw in (matched.confidence_scatter, matched.accuracy_lines, matched.gap_lines):
        yield draw(models.rows)
    yield matched.gap_chart(models.rows[0])
    yield matched.label_chart(one)
    yield matched.epsilon_chart([one])
    yield matching_picture(match(simulated(12, 1), simulated(6, 2), rng=options["rng"], epsilon=0.1, by="label"))
    yield from matched_cases.charts(dark=False).values()


def of_layers(monkeypatch: pytest.MonkeyPatch) -> Iterator[go.Figure]:
    monkeypatch.setattr(quality_cases, "MARKUP", HOSTILE)
    yield from quality_cases.charts(quality_cases.look_at(), dark=False).values()
    names = (HOSTILE, *guided_cases.NAMES[1:])
    monkeypatch.setattr(guided_cases, "NAMES", names)
    way = walk_between(
        guided_cases.REGIONS, guided_cases.HEAD, guided_cases.TEST.features[0], label=0, towards=2, n_steps=5
    )
    yield guided_tests.walk_chart(way, at=3, towards=0)


def of_the_rest() -> Iterator[go.Figure]:
    robust = evaluate_robustness(frames.from_bytes(rows("average_case")), class_names=data().class_names)
    yield average_case.confidence_chart(robust, 0.5)
    yield average_case.robustness_map(np.zeros((90, 2)), robust, 0.5)
    yield source_robustness.agreement_map(
        agreement(plans()["trials"], data()), names={"kmeans": HOSTILE, "known": HOSTILE}
    )


def public() -> set[str]:
    """Every function of touchstone.core.figures that gives a figure."""
    found = set()
    for module in pkgutil.iter_modules(touchstone.core.figures.__path__, "touchstone.core.figures."):
        for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
            ours = inspect.unwrap(one).__module__ == module.name and not name.startswith("_")
            if ours and inspect.signature(one).return_annotation is go.Figure:
                found.add(f"{module.name}.{name}")
    return found - {"touchstone.core.figures.theme.new_figure"}


def note_calls(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Have every figure function write down that it was called; returns where that stands."""
    called: set[str] = set()

    def noted(full: str, draw):
        def note(*args, **kwargs):
            called.add(full)
            return draw(*args, **kwargs)

        return note

    for full in public():
        module, _, name = full.rpartition(".")
        monkeypatch.setattr(full, noted(full, getattr(sys.modules[module], name)))
    return called


def test_every_figure_takes_names_literally(monkeypatch):
    called = note_calls(monkeypatch)
    figures = [*of_runs(), *of_folds(), *of_data_sets(), *of_matching(), *of_layers(monkeypatch), *of_the_rest()]
    assert public() <= called, f"not tried: {sorted(public() - called)}"
    for figure in figures:
        assert not raw(figure), figure.layout.meta["alt"]


def test_the_eye_for_raw_names_sees_them():
    for place in ({"name": HOSTILE}, {"text": ["a", HOSTILE]}, {"hovertemplate": f"{HOSTILE}: %{{x}}"}):
        assert raw(go.Figure(go.Scatter(x=[1, 2], y=[1, 2], **place)))
    shown = {"customdata": [HOSTILE], "hovertemplate": "%{customdata}"}
    assert raw(go.Figure(go.Scatter(x=[1], y=[1], **shown)))
    assert raw(go.Figure(layout={"xaxis": {"ticktext": [HOSTILE]}}))
    assert not raw(go.Figure(go.Scatter(x=[1], y=[1], name=escape(HOSTILE))))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\u202eb\x00c\u2066", "abc"),
        ("عربي", "عربي"),
        ("two\nlines\there", "two lines here"),
        ("\u200b", "(blank)"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("%{x}", "&#37;{x}"),
        ("5 %", "5 %"),
        ("x" * 100, "x" * 35 + "…"),
    ],
)
def test_names_are_shown_on_one_line_as_they_are(name, shown):
    assert escape(name) == shown
