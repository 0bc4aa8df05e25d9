"""Does accuracy really drop on the new test set? (Anzaku et al. 2022)"""

from functools import partial
from pathlib import Path

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.matched_subsets import ModelComparisons, SetComparison, matched_verdict, models_verdict
from touchstone.core.figures import matched_subsets as figures
from touchstone.ui.matched_subsets import calibration, command, controls, matching, results
from touchstone.ui.matched_subsets.plan import MatchingPlan
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import background, page, share, take_away

HOW_TO_READ = Path(__file__).with_suffix(".md")
STEM = "matched-subsets"


def show(comparisons: ModelComparisons) -> None:
    """The verdict, and everything about the model in question."""
    several = len(comparisons.rows) > 1
    if several or comparisons.in_one_set_only:
        st.markdown(page.plain(models_verdict(comparisons)))
    comparison = matching.choose_model(comparisons)
    page.verdict(matched_verdict(comparison), matching.metrics(comparison))
    leads = {**view.settings} | ({matching.MODEL: [comparison.model]} if several else {})
    share.offer(None, leads, view=view, commands=command.commands(sets, plan))
    if comparison.can_match:
        alike_in = plural_of(comparison.alike_in)
        caption = (
            f"Right of zero, accuracy falls; the parts add up to the gap. Mix of {alike_in}: the loss if only "
            f"{alike_in} had changed. Bars are 95 % CIs."
        )
        page.figure(partial(figures.gap_chart, comparison), caption, key="gap")
        page.findings(matched_verdict(comparison), most=4)
    elif several:
        matching.all_models(comparisons)
    with st.container(gap="xsmall"):
        more(comparisons, comparison)
    matching.foot(sets, plan if pairs.can_match else None)


def more(comparisons: ModelComparisons, comparison: SetComparison) -> None:
    """What a reader may want besides, folded; and everything to take away."""
    tables = {"Comparison": comparisons.table}
    if comparison.can_match:
        if len(comparisons.rows) > 1:
            page.fold("Every model", partial(matching.all_models, comparisons), key="models")
        page.fold("By epsilon and by predicted label", partial(matched, comparison), key="matched")
        page.fold(
            "Is the model calibrated?",
            partial(calibration.show, sets, plan, comparison.model),
            key="calibration",
            asked_by=("subset",),
        )
        samples = partial(results.matched_samples, sets, plan, comparison.model)
        page.fold("Samples and their subsets", lambda: matching.samples(samples()), key="matched-samples")
        tables |= {"Labels": comparison.labels_table, "Samples": samples}
    page.fold("In numbers", partial(matching.tables, comparison), key="table")
    take_away.offer(tables, stem=STEM)
    page.how_to_read(HOW_TO_READ, matching.picture)


def matched(comparison: SetComparison) -> None:
    """The gap at equal confidence, by epsilon and by predicted label."""
    epsilons, labels = st.columns(2, gap="medium")
    with epsilons:
        curve = background.answer(
            results.curve(sets, plan.at_every_epsilon, comparison.model), "Matching at every epsilon", key="curve"
        )
        if curve is not None:
            caption = "Effect of epsilon: closer matches leave more samples unmatched."
            page.figure(partial(figures.epsilon_chart, curve), caption, key="curve")
    with labels:
        if any(row.enough for row in comparison.labels):
            caption = "Filled marks differ significantly from zero (corrected); the band is all labels."
            page.figure(partial(figures.label_chart, comparison), caption, key="labels")
        else:
            st.caption("No predicted label has enough pairs for a claim of its own.")


page.lead(
    "Accuracy on a new test set against a reference set, on all samples and on matched pairs: one sample of each set, "
    "with equal confidence. Prediction files are enough. It does not check their labels."
)
chosen = prediction_choice.cards()
if not all(chosen.values()):
    prediction_choice.begin()
    page.how_to_read(HOW_TO_READ, matching.picture)
else:
    try:
        sets = prediction_choice.two_sets(chosen)
        pairs = results.pairs_of(sets)
        prediction_choice.about(pairs, chosen)
        plan = controls.matching_plan() if pairs.can_match else MatchingPlan()
        prediction_choice.larger_first(pairs)
        view = controls.view(sets, plan if pairs.can_match else None)
        share.offer(None, view.settings)
        comparisons = background.answer(results.comparisons(sets, plan), "Matching", key="comparison")
    except DataError as problem:
        page.error(problem)
    else:
        page.nothing_yet(running=True) if comparisons is None else show(comparisons)
