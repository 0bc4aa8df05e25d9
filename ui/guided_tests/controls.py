"""Which mix, how many, how are they made? The controls of a GuidedTestsPlan, all of them in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import Dataset
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.test_quality.looked import RegionChoice
from touchstone.core.parameters import About
from touchstone.core.workspace.access import View
from touchstone.core.workspace.data import StoredModel
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell.session import read_only
from touchstone.ui.test_quality import controls as test_quality_controls


@dataclass(frozen=True)
class Place:
    """A place on the way, from 0 to 100 per cent."""

    key: str
    label: str
    step: int = 5

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        allowed = {str(value) for value in range(0, 101, self.step)}
        return [value for value in written if value and value not in allowed] + list(written[1:])

    def draw(self) -> int:
        """The slider; returns the place."""
        return st.slider(
            self.label, 0, 100, 0, self.step, format="%d %%", key=self.key, bind="query-params", width="stretch"
        )

    def written(self, value: int) -> list[str]:
        """A value as the address holds it."""
        return [str(value)]


def guided_tests_plan(
    dataset: Dataset, model: StoredModel, choice: RegionChoice
) -> tuple[GuidedTestsPlan, DeltaGenerator]:
    """The controls of a GuidedTestsPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    settled = {"model": model.fingerprint, **vars(choice)}
    return plan_form(GuidedTestsPlan, About(dataset, model=model), settled=settled, key="guided-controls")


def view(dataset: Dataset, model: StoredModel, settled: Mapping[str, list[str]]) -> View:
    """What a link shows before any test was generated: walks between classes, properties, and what to label next."""
    return View(
        "guided_tests",
        {data_choice.ADDRESS: [dataset.fingerprint], **settled},
        f"{data_choice.required().title} · {model.name}",
        datasets=(dataset.fingerprint,),
        models=(model.fingerprint,),
    )


def link_to_quality(page: Path, dataset: Dataset, model: StoredModel, choice: RegionChoice) -> None:
    """The way to the page that measures what the test set has in these very regions; none through a link."""
    if read_only():
        return
    st.page_link(
        page,
        label="How well the test set covers these regions",
        icon=":material/target:",
        help="",
        query_params={
            data_choice.ADDRESS: dataset.fingerprint,
            **model_choice.parameters(model),
            **test_quality_controls.region_parameters(choice),
        },
    )
