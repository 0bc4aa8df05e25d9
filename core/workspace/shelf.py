"""Where do models stay, trained here or brought along? In the workspace of their owner, each of one data set."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.models.stored import ModelFile, model_fingerprint
from core.workspace.blobs import Blobs
from core.workspace.errors import WorkspaceError
from core.workspace.schema import (
    DatasetRow,
    ModelRow,
    PredictionsRow,
    RestsOnRow,
    RunRow,
    ViewLinkRow,
    open_database,
)


@dataclass(frozen=True)
class StoredModel:
    """What is known of a model without reading it.

    `dataset_fingerprint` names the data set that it is a model of. `architecture` is one of ours, None for a model from
    elsewhere. `training_plan` is the JSON of the plan that trained it here; of its `n_test` test samples the model then
    got `n_correct` right. All three are None for a model that was uploaded. `has_gradients` says whether estimators
    that take its gradients can be used.
    """

    fingerprint: str
    dataset_fingerprint: str
    name: str
    architecture: str | None
    file_name: str
    training_plan: str | None
    n_test: int | None
    n_correct: int | None
    created: float
    has_gradients: bool = True


class ModelShelf:
    """The models of a workspace, and what all its parts share: a database and a folder of blobs.

    Parameters
    ----------
    home
        The folder of the blobs and, unless `database_url` says otherwise, of the SQLite database.
    database_url
        Any database that SQLAlchemy reaches.
    """

    def __init__(self, home: Path, database_url: str | None = None):
        home.mkdir(parents=True, exist_ok=True)
        self._blobs = Blobs(home / "blobs")
        self._database = open_database(database_url or f"sqlite:///{home / 'touchstone.sqlite'}")

    def close(self) -> None:
        """Close every connection."""
        self._database.dispose()

    def add_model(
        self,
        owner: str,
        content: bytes,
        *,
        dataset_fingerprint: str,
        name: str,
        file_name: str,
        architecture: str | None = None,
        input_range: tuple[float, float] | None = None,
        has_gradients: bool = True,
        training_plan: str | None = None,
        n_test: int | None = None,
        n_correct: int | None = None,
    ) -> str:
        """Keep a model's file and return its fingerprint; one that is there already is left as it is.

        `architecture` and `input_range` are those that `core.models.load.load_model` needs to read the file.
        """
        file = ModelFile(content, file_name, dataset_fingerprint, architecture, input_range)
        return self.keep_model(
            owner,
            file.to_bytes(),
            name=name,
            has_gradients=has_gradients,
            training_plan=training_plan,
            n_test=n_test,
            n_correct=n_correct,
        )

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
        file, fingerprint = ModelFile.from_bytes(stored), model_fingerprint(stored)
        with Session(self._database) as session:
            if _find_model(session, owner, fingerprint) is None:
                row = ModelRow(
                    owner=owner,
                    fingerprint=fingerprint,
                    dataset=file.dataset,
                    name=name,
                    architecture=file.architecture,
                    file_name=file.file_name,
                    training_plan=training_plan,
                    n_test=n_test,
                    n_correct=n_correct,
                    has_gradients=has_gradients,
                    blob=self._blobs.put(stored),
                )
                self._keep_with_blob(session, row, stored)
        return fingerprint

    def models(self, owner: str, dataset_fingerprint: str | None = None) -> list[StoredModel]:
        """The owner's models (of one data set, where it is named), the newest first."""
        query = select(ModelRow).where(ModelRow.owner == owner).order_by(ModelRow.created.desc(), ModelRow.id.desc())
        if dataset_fingerprint is not None:
            query = query.where(ModelRow.dataset == dataset_fingerprint)
        with Session(self._database) as session:
            return [_stored_model(row) for row in session.scalars(query)]

    def stored_model(self, owner: str, fingerprint: str) -> StoredModel:
        """What is known of a model, without its bytes."""
        with Session(self._database) as session:
            return _stored_model(require_model(session, owner, fingerprint))

    def model_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The model as it is stored and sent to workers, for `core.models.load.read_stored`."""
        with Session(self._database) as session:
            return self._blobs.get(require_model(session, owner, fingerprint).blob)

    def delete_model(self, owner: str, fingerprint: str) -> None:
        """Forget a model; what was computed with it stays. The bytes go when nobody else keeps the same ones."""
        with Session(self._database) as session:
            self._delete_with_blob(session, require_model(session, owner, fingerprint))

    def _keep_with_blob(self, session: Session, row: DatasetRow | PredictionsRow | ModelRow, content: bytes) -> None:
        """Keep a row whose blob was put already; again, as another owner may have deleted the same bytes meanwhile."""
        session.add(row)
        commit_or_ignore_twin(session)
        self._blobs.put(content)

    def _delete_with_blob(self, session: Session, row: DatasetRow | PredictionsRow | ModelRow) -> None:
        """Forget a row with the links to views that rest on it, and its blob where no other row has it.

        The blob goes before the commit, for which others wait to add one.
        """
        kind, blob = type(row), row.blob
        session.delete(row)
        session.flush()
        forget_views(session, row.owner, kind.__tablename__, row.fingerprint)
        if not session.scalar(select(func.count()).select_from(kind).where(kind.blob == blob)):
            self._blobs.delete(blob)
        session.commit()


def commit_or_ignore_twin(session: Session) -> None:
    """Commit; where somebody else stored the same row meanwhile, theirs stays and ours is dropped."""
    try:
        session.commit()
    except IntegrityError:
        session.rollback()


def forget_views(session: Session, owner: str, kind: str, name: str) -> None:
    """Forget the links to views that rest on what an owner has deleted: its table, and its fingerprint or id.

    It has to be deleted already, so that whoever makes a link to it meanwhile has to wait, or was waited for.
    """
    resting = select(RestsOnRow.link_id).where(
        RestsOnRow.owner == owner, RestsOnRow.kind == kind, RestsOnRow.name == name
    )
    session.execute(delete(ViewLinkRow).where(ViewLinkRow.id.in_(resting)))


def find_run_row(session: Session, owner: str, run_id: str) -> RunRow | None:
    """The owner's run of this id, or None."""
    return session.scalar(select(RunRow).where(RunRow.owner == owner, RunRow.id == run_id))


def hold(session: Session, kind: type, owner: str, name: str) -> None:
    """Have nobody delete a row until this transaction ends (in SQLite nobody can, once it has written)."""
    column = kind.id if kind is RunRow else kind.fingerprint
    session.execute(select(kind.id).where(kind.owner == owner, column == name).with_for_update(read=True))


def require_run(session: Session, owner: str, run_id: str) -> RunRow:
    """The owner's run of this id. Raises WorkspaceError where the owner has none."""
    row = find_run_row(session, owner, run_id)
    if row is None:
        raise WorkspaceError("This run is not in your workspace: deleted, or somebody else's. Start it again.")
    return row


def _find_model(session: Session, owner: str, fingerprint: str) -> ModelRow | None:
    return session.scalar(select(ModelRow).where(ModelRow.owner == owner, ModelRow.fingerprint == fingerprint))


def require_model(session: Session, owner: str, fingerprint: str) -> ModelRow:
    """The owner's model of this fingerprint. Raises WorkspaceError where the owner has none."""
    row = _find_model(session, owner, fingerprint)
    if row is None:
        raise WorkspaceError(
            f"The model {fingerprint[:12]} is not in your workspace: deleted, or somebody else's. Choose another one."
        )
    return row


def _stored_model(row: ModelRow) -> StoredModel:
    return StoredModel(
        fingerprint=row.fingerprint,
        dataset_fingerprint=row.dataset,
        name=row.name,
        architecture=row.architecture,
        file_name=row.file_name,
        training_plan=row.training_plan,
        n_test=row.n_test,
        n_correct=row.n_correct,
        created=row.created,
        has_gradients=row.has_gradients,
    )
