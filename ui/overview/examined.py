"""What do all methods say of the same samples? Weak groups and classes, a map, and whether the methods agree.

Everything follows from one table of samples, made of the sheet's runs of cluster folds and average-case robustness, and
of where the model's test samples lie. Each part is closed at first, and computed when it is opened.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate import overview
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.confusion_matrix import confusion_matrix
from touchstone.core.evaluate.data_sets import NearCopies
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.core.evaluate.test_quality.quality import Looked, RegionChoice
from touchstone.core.evaluate.test_quality.verdict import quality_verdict
from touchstone.core.evaluate.units import design_of
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.figures.marks import map_chart
from touchstone.core.models.errors import ModelError
from touchstone.core.report.run_report import TITLES
from touchstone.core.represent import default_representation
from touchstone.core.workspace import Run, StoredModel, load_plan
from touchstone.ui import cache
from touchstone.ui.average_case import controls as average_case_controls
from touchstone.ui.cluster_folds import results as cluster_folds_results
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.matched_subsets import results as matched_subsets_results
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell import background, downloads, page, session
from touchstone.ui.test_quality import results as test_quality_results

GROUPS = "Which groups of samples are weak?"
CLASSES = "Which class is weakest?"
MAP = "Where do the hard samples lie?"
AGREEMENT = "Do the methods agree on which samples are hard?"
GROUPS_CAPTION = (
    "Groups are known sources, or clusters within a class. Half of the samples choose those that every method calls "
    "weak; the numbers are from the other half. In brackets: the rest."
)
CLASSES_CAPTION = "Each class against all others, 95 % intervals. In brackets: the other classes."
MAP_CAPTION = (
    "A sample is hard for a method that puts it into its lowest fifth. Grey: hard for none, or not measured. "
    "Lasso dots to list them below."
)
AGREEMENT_CAPTION = (
    "Spearman's rank correlation: high if both call the same samples easy. *Within* uses ranks within each class. "
    "Correctness is of models trained without the sample's fold; p_robust, sigma_50 and confidence are of one model."
)
BY_CLASS_CAPTION = (
    "The same within each class by itself, where both methods know 20 samples of it or more. p-values are corrected "
    "for all classes and pairs (Holm)."
)
COVERAGE = "What could the test set have missed?"
HARDNESS = ("Hard for none", "Hard for one method", "Hard for several", "Not measured")


@dataclass(frozen=True, eq=False)
class Examined:
    """What is cross-examined: a data set, and its runs as far as there are any."""

    dataset: Dataset
    folds: Run | None
    robustness: Run | None

    @property
    def is_done(self) -> bool:
        """Whether nothing is under way, so that advice may be given."""
        return all(run.state == "done" for run in (self.folds, self.robustness) if run is not None)


def offer(dataset: Dataset, on_sheet: Mapping[str, Run]) -> None:
    """The parts of the sheet, closed at first; none where no method knows single samples."""
    runs = [on_sheet.get(stem) for stem in ("cluster_folds", "average_case")]
    folds, robustness = (run if run is not None and run.n_done > run.n_failed else None for run in runs)
    examined = Examined(dataset, folds, robustness)
    if folds is not None:
        page.fold(GROUPS, partial(_groups, examined), key="weak-groups", asked_by=("heldout",))
        page.fold(CLASSES, partial(_classes, examined), key="weak-classes")
    if folds is not None or robustness is not None:
        page.fold(MAP, partial(_map, examined), key="hard-samples")
    if folds is not None and robustness is not None:
        page.fold(AGREEMENT, partial(_agreement, examined), key="methods-agree")
    if robustness is not None:
        page.fold(COVERAGE, partial(_coverage, examined), key="coverage")


def _groups(examined: Examined) -> None:
    table = _table(examined)
    if table is None or not _has_features(examined.dataset):
        return
    slices = _slices(examined.dataset)
    titles = {name: name.removeprefix(overview.CORRECT) for name in table if name.startswith(overview.CORRECT)}
    held_out = choose("heldout", "Held out by", titles, overview.correct_on(table))
    rng, design = np.random.default_rng(0), design_of(examined.dataset)
    weak = overview.weak_slices(table, _tested(examined), slices, rng=rng, held_out=held_out, design=design)
    _says(overview.slices_verdict(weak), weak, GROUPS_CAPTION, examined)
    tables = {"Groups of samples": lambda: overview.weak_table(weak)}
    if any(each.is_weak for each in weak):
        tables["Samples of weak groups"] = lambda: overview.samples_of_weak(table, slices, weak)
    downloads.offer(tables, stem="samples")


def _classes(examined: Examined) -> None:
    table = _table(examined)
    if table is None:
        return
    classes = overview.weak_classes(table, _tested(examined), design=design_of(examined.dataset))
    _says(overview.classes_verdict(classes), classes, CLASSES_CAPTION, examined)
    if examined.folds is not None:
        _confusions(examined.dataset, examined.folds)
    downloads.offer({"Classes, all methods": lambda: overview.weak_table(classes)}, stem="classes")


def _confusions(dataset: Dataset, folds: Run) -> None:
    """What held-out samples of each class are predicted as."""
    held_out = overview.predicted_held_out(cluster_folds_results.of_run(folds).rows)
    if held_out is None:
        return
    rows, y_pred, scheme, model = held_out
    matrix = confusion_matrix(dataset.y[rows], y_pred, dataset.class_names, design_of(dataset).of(rows))
    what = f"samples held out ({TITLES.get(model, model)}, {scheme_title(scheme)} folds)"
    maps.confusions(matrix, what, dataset, rows, y_pred, key="sheet-confusions")


def _says(verdict: Verdict, weak: tuple[overview.Weak, ...], caption: str, examined: Examined) -> None:
    """The answer of a part, then the table that it rests on."""
    known = about(verdict.claims[0] if verdict.claims else None)
    page.says(verdict if examined.is_done else replace(verdict, advice=""), help=known)
    page.findings(verdict)
    if weak:
        st.dataframe(overview.weak_lines(weak), hide_index=True, alt=verdict.headline)
        st.caption(caption)


def _map(examined: Examined) -> None:
    dataset, table = examined.dataset, _table(examined)
    if table is None or not _has_features(dataset):
        return
    hard = overview.hardness(table)
    groups = np.select([hard < 0, hard == 0, hard == 1], [3, 0, 1], default=2)
    chosen = maps.selected(dataset.fingerprint)
    figure = map_chart(
        maps.pca_points(dataset, default_representation(dataset.kind)),
        groups,
        HARDNESS,
        coloured=[1, 2],
        selected=chosen,
        dark=page.dark(),
    )
    maps.linked_chart(figure, MAP_CAPTION, dataset.fingerprint, key="hard-map")
    maps.show_selection(dataset, chosen)
    if chosen:
        known = table.iloc[list(chosen)]
        st.dataframe(known, hide_index=True, lazy=len(known) > maps.samples.LAZY_ROWS, alt="All that is known of them")
    downloads.offer({"Samples, all methods": lambda: table}, stem="samples")


def _agreement(examined: Examined) -> None:
    table = _table(examined)
    if table is None:
        return
    pairs = overview.agreement(table)
    st.markdown(f"**{page.plain(overview.in_words(pairs))}**")
    lines = overview.agreement_table(pairs)
    if len(lines):
        st.dataframe(lines.round(3), hide_index=True, alt=overview.in_words(pairs))
        st.caption(AGREEMENT_CAPTION)
    by_class = overview.agreement_by_class(table)
    if len(by_class):
        st.dataframe(by_class.round(3), hide_index=True, alt="The same within each class")
        st.caption(BY_CLASS_CAPTION)
    downloads.offer({"Agreement of methods": lambda: lines, "Agreement by class": lambda: by_class}, stem="samples")


def _coverage(examined: Examined) -> None:
    """What the test set of the model whose robustness is known cannot rule out, as its own page says it."""
    try:
        looked = _looked(examined)
        if looked is None:
            return
        quality = background.answer(test_quality_results.quality(looked), "Measuring the test set", key="sheet-quality")
    except (DataError, ModelError) as problem:
        page.error(problem)
        return
    if quality is None:
        return
    page.says(quality_verdict(quality, is_drawn=looked.parts.is_drawn))


def _table(examined: Examined) -> pd.DataFrame | None:
    """What is known of every sample; None while a part of it is worked out. What cannot be known is left out."""
    looked = near = None
    if _model(examined) is not None:
        with suppress(DataError, ModelError):  # no layer of it can be read
            looked = _looked(examined)
            if looked is None:
                return None
    with suppress(DataError):  # no features to compare samples by
        near = background.answer(_near(examined.dataset), "Comparing every sample with every other", key="sheet-near")
        if near is None:
            return None
    matched = matched_subsets_results.with_samples_of(examined.dataset)
    return _known(examined.dataset, examined.folds, examined.robustness, looked, matched, with_near=near is not None)


def _looked(examined: Examined) -> Looked | None:
    """The model's training and test part in its usual layer; None while they are read.

    Raises DataError or ModelError where it has no layer that can be read.
    """
    dataset, model = examined.dataset, _model(examined)
    if model is None:
        raise DataError("The model was deleted. Train or upload it again to see what its test set covers.")
    layer = model_choice.layers(dataset, model)[0]
    task = model_choice.layer_samples(dataset, model, layer)
    parts = background.answer(task, "Reading the model's output for the samples", key="sheet-parts")
    if parts is None:
        return None
    return Looked(dataset, parts, RegionChoice(layer), model_choice.parts_name(dataset, model, layer))


def _model(examined: Examined) -> StoredModel | None:
    """The model whose robustness is known."""
    if examined.robustness is None:
        return None
    plan = load_plan(examined.robustness.plan)
    models = session.workspace().models(session.owner(), examined.dataset.fingerprint)
    return next((model for model in models if model.fingerprint == getattr(plan, "model", "")), None)


def _tested(examined: Examined) -> dict[str, pd.DataFrame]:
    """Which folds' models were right on which samples."""
    return {} if examined.folds is None else _held_out_by(examined.folds)


@cache.result(max_entries=4)
def _held_out_by(folds: Run) -> dict[str, pd.DataFrame]:
    return overview.held_out_by(cluster_folds_results.of_run(folds).rows)


@cache.result(max_entries=4)
def _known(
    dataset: Dataset,
    folds: Run | None,
    robustness: Run | None,
    looked: Looked | None,
    matched: tuple[TwoSets, MatchingPlan, str] | None,
    *,
    with_near: bool,
) -> pd.DataFrame:
    try:
        regions = None if looked is None else test_quality_results.sample_table(looked)
    except DataError:  # too few training samples of a class to draw regions from
        regions = None
    return overview.known_of_samples(
        dataset,
        folds=None if folds is None else cluster_folds_results.of_run(folds).rows,
        robustness=None if robustness is None else average_case_controls.robustness(robustness),
        regions=regions,
        near=_near(dataset).future.result() if with_near else None,
        subsets=None if matched is None else matched_subsets_results.matched_samples(*matched),
    )


def _near(dataset: Dataset) -> background.Task[NearCopies]:
    return maps.near_copies(dataset, default_representation(dataset.kind), maps.SIMILARITY.default)


def _features(dataset: Dataset) -> background.Task[np.ndarray]:
    return maps.features(dataset, default_representation(dataset.kind))


def _has_features(dataset: Dataset) -> bool:
    """Whether the features of groups and map are there; what is wrong is said where they cannot be made."""
    try:
        return background.answer(_features(dataset), "Making features for the map", key="sheet-features") is not None
    except DataError as problem:
        page.error(problem)
        return False


@cache.result(max_entries=4)
def _slices(dataset: Dataset) -> overview.Slices:
    return overview.find_slices(dataset, _features(dataset).future.result())
