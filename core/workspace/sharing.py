"""What does somebody see who was sent a link? One run with its rows, its data set and the models that its plan names;
or one comparison with its two files of predictions.

Nothing else of the owner, and nothing can be changed: what is not among the calls below is refused, whatever asks.
"""

from typing import Any, NoReturn

import pandas as pd

from core.data import DataError, Dataset
from core.data.prediction_upload import PredictionUpload
from core.trials import Plan, needed_by
from core.trials.plan import Needing
from core.workspace.data_shelf import StoredDataset, StoredPredictions
from core.workspace.errors import WorkspaceError
from core.workspace.links import Comparison, link_id
from core.workspace.plans import load_plan
from core.workspace.shelf import StoredModel
from core.workspace.workspace import Run, Workspace, run_key

READ_ONLY = "A link shows one result. It starts nothing, keeps nothing and changes nothing."
NOT_SHOWN = "This link does not show that: it shows one result, and of what is stored only what that result rests on."


class _Shared:
    """What all links have in common. Raises DeadLink for a token that does not work, or no longer.

    Every call asks anew whether the link works. Calls take the owner first, as those of a workspace do, and that is
    `owner` here: a name of the link's own, under which nothing is stored, and under which caches keep what they show
    through this link and no other.
    """

    def __init__(self, workspace: Workspace, token: str):
        self._workspace, self._link = workspace, link_id(token)
        self.owner = f"link:{self._link}"

    def __getattr__(self, name: str) -> NoReturn:
        """Whatever else a workspace can do is not to be had through a link."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise WorkspaceError(READ_ONLY)

    def _ask(self, owner: str | None) -> tuple[str, str | Comparison]:
        _refuse_unless(owner in (None, self.owner))
        return self._workspace._follow_link(self._link)


class SharedWorkspace(_Shared):
    """A workspace as seen through a link to a run."""

    def __init__(self, workspace: Workspace, token: str):
        super().__init__(workspace, token)
        self.run_id = self._follow()[1]

    def _follow(self, owner: str | None = None) -> tuple[str, str]:
        its_owner, run_id = self._ask(owner)
        if not isinstance(run_id, str):
            raise WorkspaceError(NOT_SHOWN)
        return its_owner, run_id

    def shown(self, owner: str) -> Run:
        """What the link shows: its run."""
        return self.run(owner, self.run_id)

    def run(self, owner: str, run_id: str) -> Run:
        """The run of the link, as it stands now."""
        its_owner, its_run = self._follow(owner)
        _refuse_unless(run_id == its_run)
        return self._workspace.run(its_owner, run_id)

    def runs(self, owner: str, fingerprint: str | None = None) -> list[Run]:
        """That one run, where it is of this data set."""
        run = self.run(owner, self.run_id)
        return [run] if fingerprint in (None, run.fingerprint) else []

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of the link, where it is that of this plan on this data set; also a run whose rows that one needs."""
        run, key = self.run(owner, self.run_id), run_key(plan, fingerprint)
        return run if run.key == key else next((one for one in self._needed(run) if one.key == key), None)

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of its finished trials, and of runs whose rows it needs."""
        run = self.run(owner, self.run_id)
        _refuse_unless(run_id == run.id or run_id in [one.id for one in self._needed(run)])
        return self._workspace.rows(self._follow(owner)[0], run_id)

    def datasets(self, owner: str) -> list[StoredDataset]:
        """The data set of the run."""
        return [self.stored_dataset(owner, self.run(owner, self.run_id).fingerprint)]

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of the data set of the run."""
        return self._workspace.stored_dataset(self._of_data(owner, fingerprint), fingerprint)

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """The data set of the run."""
        return self._workspace.dataset(self._of_data(owner, fingerprint), fingerprint)

    def dataset_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The data set of the run, as it is stored."""
        return self._workspace.dataset_bytes(self._of_data(owner, fingerprint), fingerprint)

    def models(self, owner: str, dataset_fingerprint: str | None = None) -> list[StoredModel]:
        """The stored models that the plan of the run names, as far as the owner still has them."""
        run, its_owner = self.run(owner, self.run_id), self._follow(owner)[0]
        named = _models(run)
        stored = self._workspace.models(its_owner, run.fingerprint)
        return [one for one in stored if one.fingerprint in named and dataset_fingerprint in (None, run.fingerprint)]

    def stored_model(self, owner: str, fingerprint: str) -> StoredModel:
        """What is known of a model that the plan names."""
        return self._workspace.stored_model(self._of_model(owner, fingerprint), fingerprint)

    def model_bytes(self, owner: str, fingerprint: str) -> bytes:
        """A model that the plan names, as it is stored."""
        return self._workspace.model_bytes(self._of_model(owner, fingerprint), fingerprint)

    def prediction_files(self, owner: str) -> list[StoredPredictions]:
        """None: no run holds any."""
        self._follow(owner)
        return []

    def _needed(self, run: Run) -> list[Run]:
        """The runs that found what the trials of the run rest on, as far as the owner still has them."""
        its_owner = self._follow()[0]
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
        """The true owner, of whom nothing but the data set of the run may be asked."""
        _refuse_unless(fingerprint == self.run(owner, self.run_id).fingerprint)
        return self._follow(owner)[0]

    def _of_model(self, owner: str, fingerprint: str) -> str:
        """The true owner, of whom nothing but a model of the plan may be asked."""
        _refuse_unless(fingerprint in _models(self.run(owner, self.run_id)))
        return self._follow(owner)[0]


class SharedComparison(_Shared):
    """A workspace as seen through a link to a comparison: its two files of predictions and nothing else."""

    def __init__(self, workspace: Workspace, token: str):
        super().__init__(workspace, token)
        self._follow()

    def _follow(self, owner: str | None = None) -> tuple[str, Comparison]:
        its_owner, comparison = self._ask(owner)
        if isinstance(comparison, str):
            raise WorkspaceError(NOT_SHOWN)
        return its_owner, comparison

    def shown(self, owner: str) -> Comparison:
        """What the link shows: its comparison."""
        return self._follow(owner)[1]

    def prediction_files(self, owner: str) -> list[StoredPredictions]:
        """The two files of the comparison (or the one, where it is both)."""
        its_owner, comparison = self._follow(owner)
        stored = self._workspace.prediction_files(its_owner)
        return [one for one in stored if one.fingerprint in _files(comparison)]

    def predictions(self, owner: str, fingerprint: str) -> PredictionUpload:
        """One of the files of the comparison, with its roles."""
        its_owner, comparison = self._follow(owner)
        _refuse_unless(fingerprint in _files(comparison))
        return self._workspace.predictions(its_owner, fingerprint)


def shared(workspace: Workspace, token: str) -> SharedWorkspace | SharedComparison:
    """What a link with this token shows. Raises DeadLink where it does not work, or no longer."""
    _, shown = workspace._follow_link(link_id(token))
    return (SharedWorkspace if isinstance(shown, str) else SharedComparison)(workspace, token)


def _files(comparison: Comparison) -> tuple[str, str]:
    return comparison.reference, comparison.target


def _models(run: Run) -> tuple[str, ...]:
    try:
        return load_plan(run.plan).stored_models()
    except DataError:  # a plan that this version does not know
        return ()


def _refuse_unless(shown: Any) -> None:
    if not shown:
        raise WorkspaceError(NOT_SHOWN)
