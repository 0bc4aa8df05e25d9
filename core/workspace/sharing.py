"""What does somebody see who was sent a link? One run with its rows, its data set and the models that its plan names;
or one view with what it rests on.

Nothing else of the owner, and nothing can be changed: what is not among the calls below is refused, whatever asks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.trials import Plan, needed_by
from touchstone.core.trials.defaults import Facts
from touchstone.core.trials.plan import Needing
from touchstone.core.workspace.access import View, link_id
from touchstone.core.workspace.data import StoredDataset, StoredPredictions
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.models import StoredModel
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.runs import Run, is_of
from touchstone.core.workspace.workspace import Workspace

READ_ONLY = "A link shows one result. It cannot start, store or change anything."
NOT_SHOWN = "This link does not show that. It shows one result and the data behind it."


@dataclass(frozen=True)
class _Seen:
    """What a link lets see, and whose it is: data sets, predictions and models by fingerprint."""

    owner: str
    shown: Run | View
    runs: tuple[Run, ...]
    datasets: frozenset[str]
    predictions: frozenset[str]
    models: frozenset[str]


class SharedWorkspace:
    """A workspace as seen through a link. Raises DeadLink for a token that does not work, or no longer.

    Every call asks anew whether the link works. Calls take the owner first, as those of a workspace do, and that is
    `owner` here: a name of the link's own, under which nothing is stored, and under which caches keep what they show
    through this link and no other.
    """

    def __init__(self, workspace: Workspace, token: str):
        self._workspace, self._link = workspace, link_id(token)
        self.owner = f"link:{self._link}"
        self._workspace._follow_link(self._link)

    def __getattr__(self, name: str) -> NoReturn:
        """Whatever else a workspace can do is not to be had through a link."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise WorkspaceError(READ_ONLY)

    def shown(self, owner: str) -> Run | View:
        """What the link shows: its run as it stands now, or its view."""
        return self._seen(owner).shown

    def run(self, owner: str, run_id: str) -> Run:
        """A run of the link, or one whose rows that one needs, as it stands now."""
        return self._run(self._seen(owner), run_id)

    def runs(self, owner: str, fingerprint: str | None = None) -> list[Run]:
        """The runs of the link, where they are of this data set."""
        return [run for run in self._seen(owner).runs if fingerprint in (None, run.fingerprint)]

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of the link that is of this plan on this data set; also one whose rows a run of the link needs.

        By whatever method it was computed: a link goes on showing its own run when there is a newer one.
        """
        seen = self._seen(owner)
        facts = self._workspace._facts(seen.owner, fingerprint)
        return _run_of(plan, facts, seen.runs) or _run_of(plan, facts, self._needed(seen))

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of the finished trials of a run of the link, and of runs whose rows that one needs."""
        seen = self._seen(owner)
        return self._workspace.rows(seen.owner, self._run(seen, run_id).id)

    def datasets(self, owner: str) -> list[StoredDataset]:
        """The data sets of the link."""
        seen = self._seen(owner)
        return [one for one in self._workspace.datasets(seen.owner) if one.fingerprint in seen.datasets]

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of a data set of the link."""
        return self._workspace.stored_dataset(self._of_data(owner, fingerprint), fingerprint)

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """A data set of the link."""
        return self._workspace.dataset(self._of_data(owner, fingerprint), fingerprint)

    def dataset_bytes(self, owner: str, fingerprint: str) -> bytes:
        """A data set of the link, as it is stored."""
        return self._workspace.dataset_bytes(self._of_data(owner, fingerprint), fingerprint)

    def models(self, owner: str, dataset_fingerprint: str | None = None) -> list[StoredModel]:
        """The stored models of the link, as far as the owner still has them."""
        seen = self._seen(owner)
        stored = self._workspace.models(seen.owner, dataset_fingerprint)
        return [one for one in stored if one.fingerprint in seen.models]

    def stored_model(self, owner: str, fingerprint: str) -> StoredModel:
        """What is known of a model of the link."""
        return self._workspace.stored_model(self._of_model(owner, fingerprint), fingerprint)

    def model_bytes(self, owner: str, fingerprint: str) -> bytes:
        """A model of the link, as it is stored."""
        return self._workspace.model_bytes(self._of_model(owner, fingerprint), fingerprint)

    def prediction_files(self, owner: str) -> list[StoredPredictions]:
        """The files of predictions of the link."""
        seen = self._seen(owner)
        return [one for one in self._workspace.prediction_files(seen.owner) if one.fingerprint in seen.predictions]

    def predictions(self, owner: str, fingerprint: str) -> PredictionUpload:
        """One of the files of predictions of the link, with its roles."""
        seen = self._seen(owner)
        _refuse_unless(fingerprint in seen.predictions)
        return self._workspace.predictions(seen.owner, fingerprint)

    def _seen(self, owner: str) -> _Seen:
        _refuse_unless(owner == self.owner)
        its_owner, shown = self._workspace._follow_link(self._link)
        view = View("", {}, runs=(shown,)) if isinstance(shown, str) else shown
        runs = tuple(self._workspace.run(its_owner, run_id) for run_id in view.runs)
        return _Seen(
            its_owner,
            runs[0] if isinstance(shown, str) else shown,
            runs,
            frozenset(view.datasets).union(run.fingerprint for run in runs),
            frozenset(view.predictions),
            frozenset(view.models).union(*map(_models, runs)),
        )

    def _run(self, seen: _Seen, run_id: str) -> Run:
        found = [run for run in seen.runs if run.id == run_id]
        found = found or [run for run in self._needed(seen) if run.id == run_id]  # for which a data set has to be read
        _refuse_unless(found)
        return found[0]

    def _needed(self, seen: _Seen) -> list[Run]:
        """The runs that found what the trials of the link's runs rest on, as far as the owner still has them."""
        return [needed for run in seen.runs for needed in self._needed_by(run, seen.owner)]

    def _needed_by(self, run: Run, its_owner: str) -> list[Run]:
        try:
            plan = load_plan(run.plan)
        except DataError:  # a plan that this version does not know
            return []
        if not isinstance(plan, Needing):  # most are not, and need no data set to be read
            return []
        plans = needed_by(plan, self._workspace.dataset(its_owner, run.fingerprint))
        found = [self._workspace.find_run(its_owner, plan, run.fingerprint) for plan in plans]
        return [one for one in found if one is not None]

    def _of_data(self, owner: str, fingerprint: str) -> str:
        """The true owner, of whom no other data sets than the link's may be asked."""
        seen = self._seen(owner)
        _refuse_unless(fingerprint in seen.datasets)
        return seen.owner

    def _of_model(self, owner: str, fingerprint: str) -> str:
        """The true owner, of whom no other models than the link's may be asked."""
        seen = self._seen(owner)
        _refuse_unless(fingerprint in seen.models)
        return seen.owner


def _run_of(plan: Plan, facts: Facts, runs: Iterable[Run]) -> Run | None:
    of_data = [run for run in runs if run.fingerprint == facts.fingerprint and run.kind == plan.kind]
    return next((run for run in of_data if is_of(run.plan, plan, facts)), None)


def _models(run: Run) -> tuple[str, ...]:
    try:
        return load_plan(run.plan).stored_models()
    except DataError:  # a plan that this version does not know
        return ()


def _refuse_unless(shown: Any) -> None:
    if not shown:
        raise WorkspaceError(NOT_SHOWN)
