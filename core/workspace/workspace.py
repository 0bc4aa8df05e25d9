"""What outlives a page, a browser and a crash? An owner's data sets, predictions, models, runs and finished trials.

Every call names the owner of the objects; what belongs to somebody else is as good as absent. The workspace is all of
its parts, and sees to what lies between them.
"""

from pathlib import Path

from touchstone.core.data import DataError
from touchstone.core.models.inputs import InputRange
from touchstone.core.models.load import ModelFile
from touchstone.core.trials import Plan
from touchstone.core.trials.defaults import Facts
from touchstone.core.workspace.access import Links
from touchstone.core.workspace.data import Data
from touchstone.core.workspace.errors import DatabaseBusy, WorkspaceError
from touchstone.core.workspace.models import Models
from touchstone.core.workspace.runs import Run, Runs, Work
from touchstone.core.workspace.sign_ins import SignIns
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

    def store_trial(self, owner: str, run_id: str, trial: int, content: bytes, *, error: str | None = None) -> None:
        """Keep a trial's rows at once."""
        self.store_trials(owner, run_id, {trial: content}, error=error)

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
