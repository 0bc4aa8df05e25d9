"""Where do data sets and files of predictions stay? In the workspace of their owner, under their fingerprints."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from touchstone.core.data import Dataset
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.schema import DatasetRow, PredictionsRow
from touchstone.core.workspace.store import Kept


@dataclass(frozen=True)
class StoredDataset:
    """What is known of a data set without reading it. `example` names the built-in data set that it is, or None."""

    fingerprint: str
    name: str
    kind: str
    n_samples: int
    n_classes: int
    example: str | None
    created: float


@dataclass(frozen=True)
class StoredPredictions:
    """What is known of predictions without reading them. `example` names the built-in ones that they are, or None."""

    fingerprint: str
    name: str
    example: str | None
    created: float


class Data(Kept):
    """The data sets and predictions of a workspace."""

    def add_dataset(self, owner: str, dataset: Dataset, *, example: str | None = None) -> str:
        """Keep a data set and return its fingerprint; one that is there already is left, and known as the example."""
        with self._store.session() as session:
            kept = _find_dataset(session, owner, dataset.fingerprint)
            if kept is not None:
                kept.example = kept.example or example
                session.commit()
            else:
                content = to_bytes(dataset)
                row = DatasetRow(
                    owner=owner,
                    fingerprint=dataset.fingerprint,
                    name=dataset.name,
                    kind=dataset.kind,
                    n_samples=dataset.n_samples,
                    n_classes=dataset.n_classes,
                    blob=self._store.put(session, owner, content),
                    example=example,
                )
                self._store.keep_with_blob(session, row, content)
        return dataset.fingerprint

    def datasets(self, owner: str) -> list[StoredDataset]:
        """The owner's data sets, the newest first."""
        query = select(DatasetRow).where(DatasetRow.owner == owner).order_by(DatasetRow.created.desc())
        with self._store.session() as session:
            return [_stored_dataset(row) for row in session.scalars(query)]

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of a data set, without its samples."""
        with self._store.session() as session:
            return _stored_dataset(require_dataset(session, owner, fingerprint))

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """The data set itself."""
        return from_bytes(self.dataset_bytes(owner, fingerprint))

    def dataset_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The data set as it is stored and sent to workers (`core.data.store`)."""
        with self._store.session() as session:
            return self._store.blobs.get(require_dataset(session, owner, fingerprint).blob)

    def delete_dataset(self, owner: str, fingerprint: str) -> None:
        """Forget a data set; the bytes go when nobody else keeps the same ones."""
        self._store.free(
            lambda session: self._store.delete_with_blob(session, require_dataset(session, owner, fingerprint))
        )

    def add_predictions(self, owner: str, upload: PredictionUpload, *, example: str | None = None) -> str:
        """Keep predictions and return their fingerprint; those that are there already are left as they are."""
        with self._store.session() as session:
            if _find_predictions(session, owner, upload.fingerprint) is None:
                content = upload.to_bytes()
                row = PredictionsRow(
                    owner=owner,
                    fingerprint=upload.fingerprint,
                    name=upload.name,
                    blob=self._store.put(session, owner, content),
                    example=example,
                )
                self._store.keep_with_blob(session, row, content)
        return upload.fingerprint

    def prediction_files(self, owner: str) -> list[StoredPredictions]:
        """The owner's predictions, the newest first."""
        query = select(PredictionsRow).where(PredictionsRow.owner == owner).order_by(PredictionsRow.created.desc())
        with self._store.session() as session:
            return [
                StoredPredictions(row.fingerprint, row.name, row.example, row.created) for row in session.scalars(query)
            ]

    def predictions(self, owner: str, fingerprint: str) -> PredictionUpload:
        """The files of predictions as they were given, with their roles."""
        with self._store.session() as session:
            return PredictionUpload.from_bytes(
                self._store.blobs.get(require_predictions(session, owner, fingerprint).blob)
            )

    def delete_predictions(self, owner: str, fingerprint: str) -> None:
        """Forget predictions; the bytes go when nobody else keeps the same ones."""
        self._store.free(
            lambda session: self._store.delete_with_blob(session, require_predictions(session, owner, fingerprint))
        )


def _find_dataset(session: Session, owner: str, fingerprint: str) -> DatasetRow | None:
    query = select(DatasetRow).where(DatasetRow.owner == owner, DatasetRow.fingerprint == fingerprint)
    return session.scalar(query)


def require_dataset(session: Session, owner: str, fingerprint: str) -> DatasetRow:
    """The owner's data set of this fingerprint. Raises WorkspaceError where the owner has none."""
    row = _find_dataset(session, owner, fingerprint)
    if row is None:
        raise WorkspaceError("This data set is not in your workspace: deleted, or somebody else's. Choose another one.")
    return row


def _find_predictions(session: Session, owner: str, fingerprint: str) -> PredictionsRow | None:
    query = select(PredictionsRow).where(PredictionsRow.owner == owner, PredictionsRow.fingerprint == fingerprint)
    return session.scalar(query)


def require_predictions(session: Session, owner: str, fingerprint: str) -> PredictionsRow:
    """The owner's predictions of this fingerprint. Raises WorkspaceError where the owner has none."""
    row = _find_predictions(session, owner, fingerprint)
    if row is None:
        raise WorkspaceError(
            "These predictions are not in your workspace: deleted, or somebody else's. Upload the file again."
        )
    return row


def _stored_dataset(row: DatasetRow) -> StoredDataset:
    return StoredDataset(row.fingerprint, row.name, row.kind, row.n_samples, row.n_classes, row.example, row.created)
