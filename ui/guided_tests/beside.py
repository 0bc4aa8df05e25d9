"""How does another model do on the same pictures? Paired: both met one suite."""

import streamlit as st

from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.guided_tests import Guided, suite_difference
from touchstone.core.evaluate.guided_tests.verdict import difference_finding, oracle_reads, second_model
from touchstone.core.evaluate.wording import count, points
from touchstone.core.models.stored import RECORDED
from touchstone.core.report.parts import brackets
from touchstone.core.trials.layer_parts import split_of
from touchstone.core.workspace.models import StoredModel
from touchstone.core.workspace.run import Run
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.guided_tests import results
from touchstone.ui.shell import background, page
from touchstone.ui.shell.page import Metric
from touchstone.ui.shell.session import owner, read_only, workspace

KEY = "versus"


def others(model: StoredModel) -> dict[str, StoredModel]:
    """The models that can be asked about the same pictures, by title; none through a link."""
    if read_only():
        return {}
    stored = (
        stored_model
        for stored_model in workspace().models(owner())
        if stored_model.dataset_fingerprint == model.dataset_fingerprint
    )
    asked = (
        stored_model
        for stored_model in stored
        if stored_model.fingerprint != model.fingerprint and stored_model.architecture != RECORDED
    )
    return {f"{stored_model.name} · {stored_model.fingerprint[:8]}": stored_model for stored_model in asked}


def beside(run: Run, guided: Guided, model: StoredModel) -> dict[str, list[str]]:
    """The other model, the paired difference, and what it gained and lost; returns what the address says of it."""
    if guided.suite is None or not oracle_reads(guided.suite):
        st.caption("No pictures are available to compare models on.")
        return {}
    known = others(model)
    control = One(KEY, "Other model", {title: title for title in known}, next(iter(known)))
    check_address([control])
    title = control.draw()
    other = known[title]
    judged = background.answer(results.judged_by(run, other.fingerprint), "Asking the other model", key="versus-task")
    if judged is not None:
        difference = suite_difference(guided.suite, judged)
        st.markdown(page.plain(difference_finding(difference, other.name, model.name)))
        page.numbers(
            [
                Metric(
                    "Difference",
                    points(difference.difference),
                    brackets(points, difference.difference, difference.interval),
                    "Paired, 95 %, over the real samples that pictures were made from. "
                    + about(second_model(difference)),
                ),
                Metric(
                    "Gained", count(difference.n_gained), "tests", "Tests that only the other model predicts correctly."
                ),
                Metric("Lost", count(difference.n_lost), "tests", "Tests that only this model predicts correctly."),
            ]
        )
        if split_of(other.training_plan) != split_of(model.training_plan) or other.training_plan is None:
            st.caption("The other model may have been trained on the samples behind these pictures.")
    return {control.key: control.written(title)}
