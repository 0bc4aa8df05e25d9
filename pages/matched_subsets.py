"""Does accuracy really drop on the new test set? (Anzaku et al. 2022)"""

from functools import partial
from pathlib import Path

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.matched_subsets import ModelComparisons
from touchstone.core.report import matched_subsets as report
from touchstone.ui.matched_subsets import calibration, confusions, controls, results, thresholds
from touchstone.ui.model_comparison import results as model_comparison
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import answer, background, downloads, page, share

HOW_TO_READ = Path(__file__).with_suffix(".md")


def show(comparisons: ModelComparisons) -> None:
    """The verdict, and everything about the model in question; and all to take away."""
    several = len(comparisons.rows) > 1
    if about := report.about_all(comparisons):
        st.markdown(page.plain(about))
    comparison = controls.choose_model(comparisons)
    model = comparison.model
    leads = {**view.settings} | ({controls.MODEL: [model]} if several else {})
    share.offer(None, leads, view=view, commands=controls.commands(sets, plan))
    curve = partial(results.curve, sets, plan.at_every_epsilon)
    shown = report.answer(
        comparisons,
        model=model,
        curve=lambda model: background.answer(curve(model), "Matching at every epsilon", key="curve"),
    )
    samples = {"Samples": partial(results.matched_samples, sets, plan, model)} if comparison.can_match else {}
    subset = cell = None
    answer.show(shown)
    reference, target = (each.title for each in chosen.values() if each is not None)
    model_comparison.lead(sets, (reference, target))
    with st.container(gap="xsmall"):
        answer.fold(shown.section("models"))
        answer.fold(shown.section("matched"))
        if comparison.can_calibrate:
            calibrated = partial(calibration.show, sets, plan, model)
            subset = page.fold(report.CALIBRATED, calibrated, key="calibration", asked_by=(calibration.SUBSET,))
        if comparison.metrics is not None:
            by_metric = partial(confusions.show, comparison.metrics, pairs.references[model], pairs.targets[model])
            asked_by = (confusions.TRUTH, confusions.PREDICTED)
            cell = page.fold("By metric and class", by_metric, key="metrics", asked_by=asked_by)
        if comparison.can_match:
            title = "Samples and their subsets"
            page.fold(title, lambda: confusions.show_samples(samples["Samples"](), cell), key="matched-samples")
        if comparison.decisions is not None:
            at_threshold = partial(thresholds.show, comparison.decisions)
            page.fold("At other thresholds", at_threshold, key="thresholds", asked_by=(thresholds.THRESHOLD,))
        answer.fold(shown.section("table"))
        page.how_to_read(HOW_TO_READ, picture)
    to_send = report.answer(
        comparisons,
        model=model,
        curve=lambda model: background.whole_answer(curve(model)),
        reliability=lambda _: background.whole_answer(results.reliability(sets, plan, model)),
        classes=lambda _, *which: background.whole_answer(results.class_calibration(sets, plan, *which)),
        subset=subset or "",
    )
    rests_on = report.rests_on(sets, plan, page.versions())
    downloads.of_answer("matched_subsets", view.title, to_send, rests_on, files=samples)
    page.rests_on(("Two files of predictions", *report.chosen_of(sets)), rests_on, key="matching")


def picture() -> None:
    """How matching works, on a few samples."""
    example = background.answer(results.matching_example(), "Loading the files to match", key="picture", wait=0.0)
    if example is not None:
        page.draw(report.picture(example))


page.lead(
    "Accuracy on a new test set against a reference set, on all samples and on matched pairs: one sample of each set, "
    "with equal confidence. Prediction files are enough. It does not check their labels."
)
chosen = prediction_choice.cards()
if not all(chosen.values()):
    prediction_choice.begin()
    compared.lead_to_newest("matched_subsets")
    page.how_to_read(HOW_TO_READ, picture)
else:
    try:
        sets = prediction_choice.two_sets(chosen)
        pairs = results.pairs_of(sets)
        prediction_choice.about((pairs.references, pairs.targets), chosen)
        plan = controls.matching_plan(pairs)
        prediction_choice.larger_first(pairs)
        view = controls.view(sets, plan, pairs)
        share.offer(None, view.settings)
        comparisons = background.answer(results.comparisons(sets, plan), "Matching", key="comparison")
    except DataError as problem:
        page.error(problem)
    else:
        page.nothing_yet(running=True) if comparisons is None else show(comparisons)
