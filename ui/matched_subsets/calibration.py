"""How does a page show the calibration of two test sets? All subsets, one that is chosen, and its classes."""

from collections.abc import Callable

import pandas as pd

from touchstone.core.evaluate.calibration import bins_table, calibration_table, class_table
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, Reliability, TwoSets
from touchstone.core.report import matched_subsets as report
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.matched_subsets import results
from touchstone.ui.shell import answer, background, downloads

SUBSET = "subset"
"""The parameter of the address that names the subset in question."""


def show(sets: TwoSets, plan: MatchingPlan, model: str) -> str:
    """Calibration of the five subsets; returns the one that is chosen, nothing while that is not known."""
    work = results.reliability(sets, plan, model)
    known = background.answer(work, "Looking at the calibration of every subset", key="reliability")
    if known is None:
        return ""
    answer.parts(report.of_subsets(known))
    chosen = choose_subset(known)
    answer.parts(report.of_subset(known, chosen))
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "Calibration": lambda: calibration_table(known.subsets),
        "Bins": lambda: bins_table(known.subsets),
    }
    task = results.class_calibration(sets, plan, model, chosen)
    rows = background.answer(task, "Looking at every class", key="classes")
    if task.future.done():
        answer.parts(report.of_classes(rows, chosen))
    if rows is not None:
        tables[f"Classes of the {chosen}"] = lambda: class_table(rows)
    downloads.offer(tables, stem="matched-subsets")
    return chosen


def choose_subset(known: Reliability) -> str:
    """Whose reliability diagram and classes are shown."""
    control = One(SUBSET, "Subset", {name: name for name in known.subsets}, report.usual_subset(known))
    check_address([control])
    return control.draw(side_by_side=True)
