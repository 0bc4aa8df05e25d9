"""What outlives a page, a browser and a crash? An owner's data sets, predictions, models, runs and finished trials.

Every call names the owner of the objects; what belongs to somebody else is as good as absent. The workspace itself does
no more than hand each call to the part that it is about, and see to what lies between the parts.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.models.inputs import InputRange
from touchstone.core.models.stored import ModelFile
from touchstone.core.trials import Plan
from touchstone.core.trials.defaults import Facts
from touchstone.core.workspace.access import USUAL_DAYS, Link, Links, View
from touchstone.core.workspace.data import Data, StoredDataset, StoredPredictions
from touchstone.core.workspace.errors import DatabaseBusy, WorkspaceError
from touchstone.core.workspace.models import Models, StoredModel
from touchstone.core.workspace.runs import Run, Runs, Steps
from touchstone.core.workspace.sign_ins import SignIn, SignIns
from touchstone.core.workspace.store import Store
from touchstone.core.workspace.work import Work

LOCAL_OWNER = "local"
"""The owner of everything while nobody signs in."""


class Workspace:
    """Data sets, predictions, models, runs and links in a database and a folder of blobs (see `Store`).

    Every method takes the owner first and raises WorkspaceError for what the owner does not have.
    """

    def __init__(self, home: Path, database_url: str | None = None):
        self._store = Store(home, database_url)
        self._data, self._models = Data(self._store), Models(self._store)
        self._runs, self._work, self._links = Runs(self._store), Work(self._store), Links(self._store)
        self._sign_ins = SignIns(self._store)

    def close(self) -> None:
        """Close every connection."""
        self._store.close()

    # Data sets and predictions (`core.workspace.data`)

    def add_dataset(self, owner: str, dataset: Dataset, *, example: str | None = None) -> str:
        """Keep a data set and return its fingerprint; one that is there already is left as it is."""
        return self._data.add_dataset(owner, dataset, example=example)

    def datasets(self, owner: str) -> list[StoredDataset]:
        """The owner's data sets, the newest first."""
        return self._data.datasets(owner)

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of a data set, without its samples."""
        return self._data.stored_dataset(owner, fingerprint)

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """The data set itself."""
        return self._data.dataset(owner, fingerprint)

    def dataset_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The data set as it is stored and sent to workers."""
        return self._data.dataset_bytes(owner, fingerprint)

    def delete_dataset(self, owner: str, fingerprint: str) -> None:
        """Forget a data set, its models and its runs."""
        for run in self.runs(owner, fingerprint):
            self.delete_run(owner, run.id)
        for model in self.models(owner, fingerprint):
            self.delete_model(owner, model.fingerprint)
        self._data.delete_dataset(owner, fingerprint)

    def add_predictions(self, owner: str, upload: PredictionUpload, *, example: str | None = None) -> str:
        """Keep predictions and return their fingerprint; those that are there already are left as they are."""
        return self._data.add_predictions(owner, upload, example=example)

    def prediction_files(self, owner: str) -> list[StoredPredictions]:
        """The owner's predictions, the newest first."""
        return self._data.prediction_files(owner)

    def predictions(self, owner: str, fingerprint: str) -> PredictionUpload:
        """The files of predictions as they were given, with their roles."""
        return self._data.predictions(owner, fingerprint)

    def delete_predictions(self, owner: str, fingerprint: str) -> None:
        """Forget predictions."""
        self._data.delete_predictions(owner, fingerprint)

    # Models (`core.workspace.models`)

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
        `n_test` samples of the data set it got `n_correct` right (`core.models.judged`).
        """
        file = ModelFile(content, file_name, dataset_fingerprint, architecture, input_range)
        tested = {"n_test": n_test, "n_correct": n_correct}
        return self.keep_model(owner, file.to_bytes(), name=name, has_gradients=has_gradients, **tested)

    def keep_model(
        self,
        owner: str,
        stored: bytes,
        *,
        name: str,
        has_gradients: bool = True,
        training_plan: str | None = None,
        n_test: int | None = None,
        n_correct: int | None = None,
    ) -> str:
        """Keep a model that is a `core.models.stored.ModelFile` already, as trials hand it over."""
        origin = {"training_plan": training_plan, "n_test": n_test, "n_correct": n_correct}
        return self._models.keep_model(owner, stored, name=name, has_gradients=has_gradients, **origin)

    def models(self, owner: str, dataset_fingerprint: str | None = None) -> list[StoredModel]:
        """The owner's models (of one data set, where it is named), the newest first."""
        return self._models.models(owner, dataset_fingerprint)

    def stored_model(self, owner: str, fingerprint: str) -> StoredModel:
        """What is known of a model, without its bytes."""
        return self._models.stored_model(owner, fingerprint)

    def model_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The model as it is stored and sent to workers."""
        return self._models.model_bytes(owner, fingerprint)

    def delete_model(self, owner: str, fingerprint: str) -> None:
        """Forget a model; what was computed with it stays."""
        self._models.delete_model(owner, fingerprint)

    # Runs and their rows (`core.workspace.runs`)

    def create_run(self, owner: str, plan: Plan, fingerprint: str, *, n_trials: int | None = None) -> Run:
        """The run of a plan on a data set by today's method: the one that exists, or a new one, queued.

        Raises DataError where the plan does not fit the data, and WorkspaceError where it asks for a model that the
        owner does not have. `n_trials` may be given by who knows it already.
        """
        run = self._runs.run_of_today(owner, plan, self._facts(owner, fingerprint))
        if run is not None:
            return run
        name = self.stored_dataset(owner, fingerprint).name
        for model in plan.stored_models():
            self.stored_model(owner, model)
        if n_trials is None:
            n_trials = plan.n_trials(self.dataset(owner, fingerprint))
        return self._runs.create_run(owner, plan, fingerprint, dataset_name=name, n_trials=n_trials)

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of this plan on this data set, or None where the owner has none.

        A plan that only says what this one leaves to a default is the same work, and so is one that leaves what this
        one says. Where today's method has computed none, it is the newest that an older one did (`Run.older_method`).
        """
        return self._runs.find_run(owner, plan, self._facts(owner, fingerprint))

    def run(self, owner: str, run_id: str) -> Run:
        """A run as it stands now."""
        return self._runs.run(owner, run_id)

    def runs(self, owner: str, fingerprint: str | None = None) -> list[Run]:
        """The owner's runs (of one data set, where it is named), the newest first."""
        return self._runs.runs(owner, fingerprint)

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of every finished trial so far; DamagedTrials where those of one are damaged."""
        return self._runs.rows(owner, run_id)

    def rows_by_trial(self, owner: str, run_id: str) -> dict[int, pd.DataFrame]:
        """The rows of each trial that did not fail, by its number from 0; DamagedTrials where one is damaged."""
        return self._runs.rows_by_trial(owner, run_id)

    def trial_seals(self, owner: str, run_id: str) -> dict[int, str]:
        """The hash of each finished trial, by its number from 0, as it is noted."""
        return self._runs.trial_seals(owner, run_id)

    def seal(self, owner: str, run_id: str) -> str:
        """The hash that stands for a run as it is stored; DamagedTrials where it is not what was stored."""
        return self._runs.seal(owner, run_id)

    def forget_damaged(self, owner: str, run_id: str) -> tuple[int, ...]:
        """Forget the damaged trials of a run, so that whoever resumes it computes them again; gives their numbers."""
        return self._runs.forget_damaged(owner, run_id)

    def cancel(self, owner: str, run_id: str) -> None:
        """Ask a run to stop. Finished trials stay; resuming goes on from there."""
        self._runs.cancel(owner, run_id)

    def name_run(self, owner: str, run_id: str, name: str) -> None:
        """Call a run so; by no name where that is empty. Raises WorkspaceError for a name that is too long."""
        self._runs.name_run(owner, run_id, name)

    def delete_run(self, owner: str, run_id: str) -> None:
        """Forget a run, its rows and the links to it."""
        self._runs.delete_run(owner, run_id)

    # What the process that works on a run writes down (`core.workspace.work`)

    def acquire(self, owner: str, run_id: str, lease_owner: str) -> bool:
        """Take a run to work on it; False where a living process has it, or nothing is left to do."""
        return self._work.acquire(owner, run_id, lease_owner)

    def renew(self, owner: str, run_id: str, lease_owner: str) -> str:
        """Keep the lease: "go on", "cancel" where that was asked for, or "lost"."""
        return self._work.renew(owner, run_id, lease_owner)

    def release(self, owner: str, run_id: str, lease_owner: str, state: str, *, error: str | None = None) -> None:
        """Give a run back as "done", "cancelled" or "interrupted"."""
        self._work.release(owner, run_id, lease_owner, state, error=error)

    def record_provenance(self, owner: str, run_id: str, provenance: dict) -> None:
        """Note the versions and the place that a run's newest trials came from."""
        self._work.record_provenance(owner, run_id, provenance)

    def record_steps(self, owner: str, run_id: str, lease_owner: str, steps: Mapping[int, Steps]) -> None:
        """Note how far the trials are that are running now."""
        self._work.record_steps(owner, run_id, lease_owner, steps)

    def begin_trials(self, owner: str, run_id: str, lease_owner: str) -> None:
        """Note that a run need not wait any longer."""
        self._work.begin_trials(owner, run_id, lease_owner)

    def missing_trials(self, owner: str, run_id: str) -> list[int]:
        """The trials of a run that have no rows yet."""
        return self._work.missing_trials(owner, run_id)

    def store_trial(self, owner: str, run_id: str, trial: int, content: bytes, *, error: str | None = None) -> None:
        """Keep a trial's rows at once."""
        self.store_trials(owner, run_id, {trial: content}, error=error)

    def store_trials(self, owner: str, run_id: str, contents: Mapping[int, bytes], *, error: str | None = None) -> None:
        """Keep the rows of several trials at once."""
        self._work.store_trials(owner, run_id, contents, error=error)

    # Links (`core.workspace.links`)

    def create_link(self, owner: str, shown: str | View, *, days: int = USUAL_DAYS) -> str:
        """Make a link that shows a run (its id) or a view for so many days; returns its token."""
        return self._links.create_link(owner, shown, days=days)

    def links(self, owner: str, shown: str | View | None = None) -> list[Link]:
        """All links, or those that show a run or anything of what a view rests on on its page; newest first."""
        return self._links.links(owner, shown)

    def revoke_link(self, owner: str, link: str) -> None:
        """Take a link back, by its id."""
        self._links.revoke_link(owner, link)

    # Sign-ins (`core.workspace.sign_ins`)

    def follow_sign_in(self, owner: str, sign_in: str, *, browser: str) -> bool:
        """Whether a sign-in goes on; notes that it was used, and a new one with its browser."""
        return self._sign_ins.follow_sign_in(owner, sign_in, browser=browser)

    def sign_ins(self, owner: str) -> list[SignIn]:
        """The owner's sign-ins that go on, the last used first."""
        return self._sign_ins.sign_ins(owner)

    def sign_out(self, owner: str, sign_in: str) -> None:
        """End a sign-in, for good and wherever it is in use."""
        self._sign_ins.sign_out(owner, sign_in)

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

    def _follow_link(self, link: str) -> tuple[str, str | View]:
        """The owner of a link that works and what it shows, for `core.workspace.sharing` alone."""
        return self._links.follow_link(link)
