"""What is known of generated tests, of the properties that a model should have, and of what is missing?"""

import streamlit as st

from core.evaluate.guided_tests import GeneratedTests, Guided, Properties, RoundTrip, guided_of_rows
from core.evaluate.test_quality import Regions
from core.workspace.run import Run
from ui.cache.common import owned_dataset, task
from ui.guided_tests import work
from ui.shell.background import Task
from ui.shell.session import owner, workspace
from ui.test_quality.work import Looked


def guided(run: Run) -> Guided:
    """All that the finished trials of a run of guided tests tell."""
    return _guided(owner(), run.id, run.n_done, run.fingerprint)


@st.cache_resource(max_entries=4, show_spinner=False)
def _guided(owner_name: str, run_id: str, n_done: int, fingerprint: str) -> Guided:
    names = owned_dataset(owner_name, fingerprint).class_names
    return guided_of_rows(workspace().rows(owner_name, run_id), class_names=names)


def regions(looked: Looked) -> Task[Regions]:
    """The regions that were chosen, drawn by the training part."""
    return task(owner(), looked.named("regions"), lambda step: work.regions(looked))


def properties(looked: Looked, within: Regions) -> Task[Properties]:
    """The three properties of a well-trained classifier."""
    return task(owner(), looked.named("properties"), lambda step: work.tested(looked, within))


def missing_tests(looked: Looked, within: Regions) -> Task[GeneratedTests | None]:
    """Tests where the test set has too few."""
    return task(owner(), looked.named("missing tests"), lambda step: work.missing(looked, within))


def sent_again(run: Run, looked: Looked, within: Regions) -> Task[RoundTrip | None]:
    """The generated images of a run, through the whole model."""
    found = guided(run)
    name = looked.named("round trip", run.id, run.n_done)
    return task(owner(), name, lambda step: work.sent_again(found, looked.parts, within))
