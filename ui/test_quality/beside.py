"""How do models and data sets differ in what their test sets cover? Box plots over classes, chosen models beside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.test_quality import TestQuality
from touchstone.core.evaluate.test_quality.looked import Looked, RegionChoice
from touchstone.core.figures import test_quality as figures
from touchstone.core.figures.test_quality import Subject
from touchstone.core.report import test_quality as report
from touchstone.core.workspace import Run, StoredModel, View, WorkspaceError
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.controls import check_address
from touchstone.ui.shell import background, page
from touchstone.ui.shell.session import owner, workspace
from touchstone.ui.test_quality import results

ADDRESS = "beside"


@dataclass(frozen=True)
class Several:
    """Any of the names in `titles`, of which there may be many; the address holds the titles."""

    key: str
    label: str
    titles: Mapping[str, str]
    help: str

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and value not in self.titles.values()]

    def draw(self) -> list[str]:
        """The widget; returns the chosen names."""
        return st.multiselect(
            self.label,
            list(self.titles),
            format_func=self.titles.__getitem__,
            key=self.key,
            help=self.help,
            placeholder="None",
            bind="query-params",
        )

    def written(self, value: Sequence[str]) -> list[str]:
        """A value as the address holds it."""
        return [self.titles[name] for name in value]


def beside(looked: Looked, quality: TestQuality, model: StoredModel) -> tuple[dict[str, list[str]], list[StoredModel]]:
    """The boxes of the model in question and of those chosen; returns what the address says of these, and them."""
    main = report.subject(model.name, data_choice.required().title, looked, quality)
    others = {
        stored.fingerprint: stored for stored in workspace().models(owner()) if stored.fingerprint != model.fingerprint
    }
    titles = {stored.fingerprint: data_choice.name_of(stored) for stored in workspace().datasets(owner())}
    control = Several(
        ADDRESS,
        "Other models beside it",
        {name: title_of(stored, titles) for name, stored in others.items() if stored.dataset_fingerprint in titles},
        "Any stored model with its own data set, at the same thresholds.",
    )
    check_address([control])
    chosen = control.draw() if control.titles else []
    subjects = [main, *(_subject(others[name], titles, looked.choice) for name in chosen)]
    known = [subject for subject in subjects if subject is not None]
    caption = (
        "Each box is one model, over its classes. A narrow box: classes are covered equally. The paper reads a "
        "wide box as a model that learned some classes better. Grey: random splits of the same sizes."
    )
    page.figure(partial(figures.box_chart, known), caption, key="quality-boxes")
    return {control.key: control.written(chosen)}, [others[name] for name in chosen]


def view(model: StoredModel, others: Sequence[StoredModel], settled: Mapping[str, list[str]], run: Run | None) -> View:
    """What a link shows: a model and those beside it, each with its data set, and the run of covariate shift."""
    models = (model, *others)
    return View(
        "test_quality",
        {data_choice.ADDRESS: [model.dataset_fingerprint], **settled},
        f"{data_choice.required().title} · {model.name}",
        datasets=tuple(other.dataset_fingerprint for other in models),
        models=tuple(other.fingerprint for other in models),
        runs=() if run is None else (run.id,),
    )


def title_of(model: StoredModel, datasets: Mapping[str, str]) -> str:
    """A model's name, its data set and the beginning of its fingerprint, so that no two are called the same."""
    return f"{model.name} · {datasets[model.dataset_fingerprint]} · {model.fingerprint[:8]}"


def _subject(model: StoredModel, titles: Mapping[str, str], choice: RegionChoice) -> Subject | None:
    try:
        dataset = dataset_of(model.dataset_fingerprint)
        work = results.beside(dataset, titles[model.dataset_fingerprint], model, choice)
        return background.answer(work, f"Measuring {page.plain(model.name)}", key=f"beside-{model.fingerprint[:8]}")
    except (DataError, WorkspaceError) as problem:
        st.caption(f"{page.plain(model.name)}: {page.plain(problem)}")
        return None
