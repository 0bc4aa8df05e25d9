"""What does the calibration of two test sets look like in numbers? By subset, and by class of one subset."""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.calibration import (
    FEWEST_OF_CLASS,
    Calibration,
    ClassCalibration,
    bins_table,
    calibration_table,
    class_sentence,
    class_table,
)
from touchstone.core.evaluate.wording import p_value
from touchstone.core.figures import matched_subsets as figures
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.matched_subsets import results
from touchstone.ui.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.ui.shell import background, page, take_away
from touchstone.ui.shell.background import Task

NO_CLASSES = "No calibration by class: the file has one probability per row, not one for every class."


def show(sets: TwoSets, plan: MatchingPlan, model: str) -> None:
    """Calibration of the five subsets."""
    work = results.reliability(sets, plan, model)
    known = background.answer(work, "Looking at the calibration of every subset", key="reliability")
    if known is None:
        return
    curves, densities = st.columns(2, gap="medium")
    with curves:
        caption = "On the diagonal confidence equals accuracy; below it the model is overconfident."
        page.figure(partial(figures.reliability_curves, known.subsets), caption, key="reliability")
    with densities:
        caption = "Density of confidences; matching makes those of the matched subsets alike."
        page.figure(partial(figures.density_chart, known.densities), caption, key="densities")
    chosen = choose_subset(known.subsets)
    chart, coverage = st.columns(2, gap="medium")
    with chart:
        figure = partial(figures.reliability_chart, known.subsets[chosen], subset=chosen)
        page.figure(figure, page.plain(known.subsets[chosen].sentence), key="one")
    with coverage:
        caption = "Accuracy after removing the least confident samples."
        page.figure(partial(figures.coverage_chart, known.coverage), caption, key="coverage")
    calibration_rows(known.subsets)
    by_class = classes(results.class_calibration(sets, plan, model, chosen), chosen)
    bins = {"Calibration": lambda: calibration_table(known.subsets), "Bins": lambda: bins_table(known.subsets)}
    take_away.offer(bins | by_class, stem="matched-subsets")


def choose_subset(by_subset: dict[str, Calibration]) -> str:
    """Whose reliability diagram and classes are shown."""
    usual = "matched target" if "matched target" in by_subset else next(iter(by_subset))
    control = One("subset", "Subset", {name: name for name in by_subset}, usual)
    check_address([control])
    return control.draw(side_by_side=True)


def calibration_rows(by_subset: dict[str, Calibration]) -> None:
    """The calibration of every subset in numbers, each error beside what a perfect model would show."""
    lines = [
        {
            "Subset": name,
            "n": calibration.n,
            "Right": 100 * calibration.accuracy,
            "Sure": 100 * calibration.mean_confidence,
            "ECE": 100 * calibration.ece,
            "perfect": 100 * calibration.ece_if_perfect,
            "95 %": 100 * calibration.ece_if_perfect_95,
            "Smooth": 100 * calibration.smooth_ece,
            "Squared": calibration.squared_error,
            "Brier": calibration.brier.score,
            "miscal.": calibration.brier.miscalibration,
            "discr.": calibration.brier.discrimination,
            "uncert.": calibration.brier.uncertainty,
        }
        for name, calibration in by_subset.items()
    ]
    config = {
        name: st.column_config.NumberColumn(format=form, help=meaning, width=64)
        for name, (form, meaning) in _CALIBRATION.items()
    }
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt="Calibration of every subset")
    st.caption(
        "Accuracy, confidence and errors in percent. The calibration error (ECE) is never zero, so its values for "
        "a perfectly calibrated model are given too (median and 95th percentile). Squared is debiased, so it may "
        "be negative. "
        "Brier = miscalibration − discrimination + uncertainty. Matched subsets are those of the first matching."
    )


def classes(task: Task[tuple[ClassCalibration, ...] | None], subset: str) -> dict[str, Callable[[], pd.DataFrame]]:
    """The classes of one subset, each error beside what a perfect model would show; returns the table to download."""
    rows = background.answer(task, "Looking at every class", key="classes")
    if rows is None:
        if task.future.done():
            st.caption(NO_CLASSES)
        return {}
    st.markdown(f"**Class by class, {subset}**  \n{page.plain(class_sentence(rows))}")
    _class_rows(rows)
    return {f"Classes of the {subset}": lambda: class_table(rows)}


def _class_rows(rows: Sequence[ClassCalibration]) -> None:
    """A line per class with enough samples, the largest error on top; none where there is no such class."""
    lines = [
        {
            "Class": row.label,
            "n": row.n,
            "ECE": 100 * row.ece,
            "perfect": 100 * row.ece_if_perfect,
            "95 %": 100 * row.ece_if_perfect_95,
            "p": p_value(row.p_holm).removeprefix("p ").removeprefix("= "),
        }
        for row in sorted(rows, key=lambda row: -row.ece)
        if row.enough
    ]
    if not lines:
        return
    config = {
        "n": st.column_config.NumberColumn(help="Samples that are of this class", format="%d"),
        "ECE": st.column_config.NumberColumn(format="%.2f", help="Of this class's probability, over all samples (%)"),
        "perfect": st.column_config.NumberColumn(format="%.2f", help=_CALIBRATION["perfect"][1]),
        "95 %": st.column_config.NumberColumn(format="%.2f", help=_CALIBRATION["95 %"][1]),
        "p": st.column_config.TextColumn(
            help="p-value: share of perfectly calibrated models with at least this error, corrected for the number "
            "of classes (Holm). "
            f"Classes with fewer than {FEWEST_OF_CLASS} samples are left out."
        ),
    }
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt="Calibration of every class")


_CALIBRATION = {
    "n": ("%d", "Samples"),
    "Right": ("%.1f", "Accuracy (%)"),
    "Sure": ("%.1f", "Mean confidence (%)"),
    "ECE": ("%.1f", "Expected calibration error (%): mean distance of accuracy and confidence over bins"),
    "perfect": ("%.1f", "Median error (%) that a perfectly calibrated model would show at this n"),
    "95 %": ("%.1f", "95 % of perfectly calibrated models would show less (%)"),
    "Smooth": ("%.1f", "Smooth calibration error (%): no bins"),
    "Squared": ("%.4f", "Debiased squared calibration error: zero on average for a perfect model"),
    "Brier": ("%.4f", "Brier score: mean squared difference of confidence and correctness (1 or 0)"),
    "miscal.": ("%.4f", "Miscalibration: what recalibration could remove"),
    "discr.": ("%.4f", "Discrimination: gain from separating samples"),
    "uncert.": ("%.4f", "Uncertainty: the score from knowing the accuracy alone"),
}
