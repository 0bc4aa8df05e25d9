"""What outlives a page, a browser and a crash? An owner's data sets, predictions, models, runs and finished trials.

Every call names the owner of the objects; what belongs to somebody else is as good as absent. The workspace is all of
its parts, and sees to what lies between them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, NoReturn

import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.models.inputs import InputRange
from touchstone.core.models.load import Judged, check_above_chance, try_model
from touchstone.core.models.model_file import ModelFile
from touchstone.core.split.units import rows_to_judge
from touchstone.core.trials import Plan, needed_by
from touchstone.core.trials.defaults import Facts
from touchstone.core.trials.plan import Needing
from touchstone.core.workspace.access import Links, SignIns, View, link_id
from touchstone.core.workspace.data import Data, Models
from touchstone.core.workspace.errors import DatabaseBusy, WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.records import Run, StoredDataset, StoredModel, StoredPredictions
from touchstone.core.workspace.runs import Runs, Work, is_of
from touchstone.core.workspace.store import Store

LOCAL_OWNER = "local"
"""The owner of everything while nobody signs in."""


class Workspace(Data, Models, Runs, Work, Links, SignIns):
    """Data sets, predictions, models, runs and links in a database and a folder of blobs (see `Store`).

    Every method takes the owner first and raises WorkspaceError for what the owner does not have.
    """

    def __init__(self, home: Path, database_url: str | None = None):
        super().__init__(Store(home, database_url))

    def close(self) -> None:
        """Close every connection."""
        self._store.close()

    def delete_dataset(self, owner: str, fingerprint: str) -> None:
        """Forget a data set, its models and its runs."""
        for run in self.runs(owner, fingerprint):
            self.delete_run(owner, run.id)
        for model in self.models(owner, fingerprint):
            self.delete_model(owner, model.fingerprint)
        super().delete_dataset(owner, fingerprint)

    def add_model(
        self,
        owner: str,
        content: bytes,
        *,
        dataset_fingerprint: str,
        name: str,
        file_name: str,
        architecture: str | None = None,
        input_range: InputRange | None = None,
        has_gradients: bool = True,
        n_test: int | None = None,
        n_correct: int | None = None,
    ) -> str:
        """Keep a model's file, brought along, and return its fingerprint; one that is there already is left as it is.

        `architecture` and `input_range` are those that `core.models.load.load_model` needs to read the file; of
        `n_test` samples of the data set it got `n_correct` right (`core.models.load`).
        """
        file = ModelFile(content, file_name, dataset_fingerprint, architecture, input_range)
        tested = {"n_test": n_test, "n_correct": n_correct}
        return self.keep_model(owner, file.to_bytes(), name=name, has_gradients=has_gradients, **tested)

    def create_run(self, owner: str, plan: Plan, fingerprint: str, *, n_trials: int | None = None) -> Run:
        """The run of a plan on a data set by today's method: the one that exists, or a new one, queued.

        Raises DataError where the plan does not fit the data, and WorkspaceError where it asks for a model that the
        owner does not have. `n_trials` may be given by who knows it already.
        """
        run = self._run_of(owner, plan, self._facts(owner, fingerprint), older=False)
        if run is not None:
            return run
        name = self.stored_dataset(owner, fingerprint).name
        for model in plan.stored_models():
            self.stored_model(owner, model)
        if n_trials is None:
            n_trials = plan.n_trials(self.dataset(owner, fingerprint))
        return self._add_run(owner, plan, fingerprint, dataset_name=name, n_trials=n_trials)

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of this plan on this data set, or None where the owner has none.

        A plan that only says what this one leaves to a default is the same work, and so is one that leaves what this
        one says. Where today's method has computed none, it is the newest that an older one did (`Run.older_method`).
        """
        return self._run_of(owner, plan, self._facts(owner, fingerprint), older=True)

    def _facts(self, owner: str, fingerprint: str) -> Facts:
        """What the defaults of plans on a data set hang on, read when it is asked for."""

        def model(of: str) -> bytes:
            try:
                return self.model_bytes(owner, of)
            except DatabaseBusy:
                raise
            except WorkspaceError as problem:
                raise DataError(str(problem)) from problem

        return Facts(
            fingerprint,
            lambda: self.stored_dataset(owner, fingerprint),
            lambda: self.dataset(owner, fingerprint),
            model,
        )


# What does somebody see who was sent a link? One run with its rows, its data set and the models that its plan names;
# or one view with what it rests on.
#
# Nothing else of the owner, and nothing can be changed: what is not among the calls below is refused, whatever asks.


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
        return self._workspace.stored_dataset(self._whose(owner, "datasets", fingerprint), fingerprint)

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """A data set of the link."""
        return self._workspace.dataset(self._whose(owner, "datasets", fingerprint), fingerprint)

    def dataset_bytes(self, owner: str, fingerprint: str) -> bytes:
        """A data set of the link, as it is stored."""
        return self._workspace.dataset_bytes(self._whose(owner, "datasets", fingerprint), fingerprint)

    def models(self, owner: str, dataset_fingerprint: str | None = None) -> list[StoredModel]:
        """The stored models of the link, as far as the owner still has them."""
        seen = self._seen(owner)
        stored = self._workspace.models(seen.owner, dataset_fingerprint)
        return [one for one in stored if one.fingerprint in seen.models]

    def stored_model(self, owner: str, fingerprint: str) -> StoredModel:
        """What is known of a model of the link."""
        return self._workspace.stored_model(self._whose(owner, "models", fingerprint), fingerprint)

    def model_bytes(self, owner: str, fingerprint: str) -> bytes:
        """A model of the link, as it is stored."""
        return self._workspace.model_bytes(self._whose(owner, "models", fingerprint), fingerprint)

    def prediction_files(self, owner: str) -> list[StoredPredictions]:
        """The files of predictions of the link."""
        seen = self._seen(owner)
        return [one for one in self._workspace.prediction_files(seen.owner) if one.fingerprint in seen.predictions]

    def predictions(self, owner: str, fingerprint: str) -> PredictionUpload:
        """One of the files of predictions of the link, with its roles."""
        return self._workspace.predictions(self._whose(owner, "predictions", fingerprint), fingerprint)

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

    def _whose(self, owner: str, kind: Literal["datasets", "predictions", "models"], fingerprint: str) -> str:
        """The true owner, of whom nothing else than what the link shows may be asked."""
        seen = self._seen(owner)
        _refuse_unless(fingerprint in getattr(seen, kind))
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


# May a model's file that somebody brings be kept? It is read without running it and tried on the data set first.


def bring_model(
    workspace: Workspace,
    owner: str,
    file_name: str,
    content: bytes,
    dataset: Dataset,
    *,
    name: str = "",
    architecture: str | None = None,
    input_range: InputRange | None = None,
) -> tuple[str, Judged]:
    """Try a model's file on the data set, and keep it; `name` is what it is called, its file's where that is empty.

    `architecture` and `input_range` are those of `core.models.load.load_model`. Raises ModelError, with the reason and
    a remedy, for what cannot be used or does no better than chance.
    """
    tried = try_model(
        file_name, content, dataset, rows_to_judge(dataset), architecture=architecture, input_range=input_range
    )
    judged = tried.judged
    check_above_chance(judged, file_name)
    fingerprint = workspace.add_model(
        owner,
        content,
        dataset_fingerprint=dataset.fingerprint,
        name=name.strip() or PurePath(file_name).stem,
        file_name=file_name,
        architecture=tried.architecture,
        input_range=input_range,
        has_gradients=tried.has_gradients,
        n_test=judged.n,
        n_correct=judged.n_correct,
    )
    return fingerprint, judged
