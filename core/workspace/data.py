"""Where do data sets, files of predictions and models stay? In their owner's workspace, under their fingerprints."""

from dataclasses import fields

from sqlalchemy import Select, delete, select

from touchstone.core.data import Dataset
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.workspace.records import StoredComparison, StoredDataset, StoredModel, StoredPredictions
from touchstone.core.workspace.schema import ComparisonRow, DatasetRow, ModelRow, PredictionsRow
from touchstone.core.workspace.store import Kept, commit_or_ignore_twin, find, require


class Data(Kept):
    """The data sets and predictions of a workspace."""

    def add_dataset(self, owner: str, dataset: Dataset, *, example: str | None = None) -> str:
        """Keep a data set and return its fingerprint; one that is there already is left, and known as the example."""
        with self._store.session() as session:
            kept = find(session, DatasetRow, owner, dataset.fingerprint)
            if kept is not None:
                kept.example = kept.example or example
                session.commit()
            else:
                about = ("fingerprint", "name", "kind", "n_samples", "n_classes")
                row = DatasetRow(owner=owner, example=example, **{name: getattr(dataset, name) for name in about})
                self._store.keep_with_blob(session, row, to_bytes(dataset))
        return dataset.fingerprint

    def datasets(self, owner: str) -> list[StoredDataset]:
        """The owner's data sets, the newest first."""
        query = select(DatasetRow).where(DatasetRow.owner == owner).order_by(DatasetRow.created.desc())
        with self._store.session() as session:
            return [_stored_dataset(row) for row in session.scalars(query)]

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of a data set, without its samples."""
        with self._store.session() as session:
            return _stored_dataset(require(session, DatasetRow, owner, fingerprint))

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """The data set itself."""
        return from_bytes(self.dataset_bytes(owner, fingerprint))

    def dataset_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The data set as it is stored and sent to workers (`core.data.store`)."""
        return self._content(DatasetRow, owner, fingerprint)

    def delete_dataset(self, owner: str, fingerprint: str) -> None:
        """Forget a data set; the bytes go when nobody else keeps the same ones."""
        self._delete(DatasetRow, owner, fingerprint)

    def add_predictions(self, owner: str, upload: PredictionUpload, *, example: str | None = None) -> str:
        """Keep predictions and return their fingerprint; those that are there already are left as they are."""
        with self._store.session() as session:
            if find(session, PredictionsRow, owner, upload.fingerprint) is None:
                row = PredictionsRow(owner=owner, fingerprint=upload.fingerprint, name=upload.name, example=example)
                self._store.keep_with_blob(session, row, upload.to_bytes())
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
        return PredictionUpload.from_bytes(self._content(PredictionsRow, owner, fingerprint))

    def delete_predictions(self, owner: str, fingerprint: str) -> None:
        """Forget predictions and what was asked of them; the bytes go when nobody else keeps the same ones."""
        self._delete(PredictionsRow, owner, fingerprint)
        of_file = ComparisonRow.owner == owner, ComparisonRow.address.contains(fingerprint, autoescape=True)
        with self._store.session() as session:
            session.execute(delete(ComparisonRow).where(*of_file))
            session.commit()

    def remember_comparison(self, owner: str, question: str, address: str, says: str) -> float:
        """Remember what was asked of prediction files, and give when that was first, in seconds since 1970.

        `question` is a stem, `address` the parameters that lead to the answer, and `says` the answer in a sentence.
        """
        with self._store.session() as session:
            row = session.scalar(_comparison(owner, question, address))
            if row is None:
                row = ComparisonRow(owner=owner, question=question, address=address, says=says)
                session.add(row)
            row.says = says
            commit_or_ignore_twin(session)
            return session.scalars(_comparison(owner, question, address)).one().created

    def comparisons(self, owner: str) -> list[StoredComparison]:
        """All that the owner asked of prediction files that are still here, the newest first."""
        query = select(ComparisonRow).where(ComparisonRow.owner == owner).order_by(ComparisonRow.created.desc())
        with self._store.session() as session:
            rows = session.scalars(query)
            return [StoredComparison(row.question, row.address, row.says, row.created) for row in rows]

    def forget_comparison(self, owner: str, question: str, address: str) -> None:
        """Forget what was asked; the files stay."""
        with self._store.session() as session:
            if (row := session.scalar(_comparison(owner, question, address))) is not None:
                session.delete(row)
                session.commit()


def _comparison(owner: str, question: str, address: str) -> Select[tuple[ComparisonRow]]:
    return select(ComparisonRow).where(
        ComparisonRow.owner == owner, ComparisonRow.question == question, ComparisonRow.address == address
    )


def _stored_dataset(row: DatasetRow) -> StoredDataset:
    return StoredDataset(row.fingerprint, row.name, row.kind, row.n_samples, row.n_classes, row.example, row.created)


# Where do models stay, trained here or uploaded? In the workspace of their owner, each of one data set.


class Models(Kept):
    """The models of a workspace."""

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
        """Keep a model that is a `core.models.model_file.ModelFile` already, as trials hand it over."""
        file, fingerprint = ModelFile.from_bytes(stored), model_fingerprint(stored)
        with self._store.session() as session:
            if find(session, ModelRow, owner, fingerprint) is None:
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
                )
                self._store.keep_with_blob(session, row, stored)
        return fingerprint

    def models(self, owner: str, dataset_fingerprint: str | None = None) -> list[StoredModel]:
        """The owner's models (of one data set, where it is named), the newest first."""
        query = select(ModelRow).where(ModelRow.owner == owner).order_by(ModelRow.created.desc(), ModelRow.id.desc())
        if dataset_fingerprint is not None:
            query = query.where(ModelRow.dataset == dataset_fingerprint)
        with self._store.session() as session:
            return [_stored_model(row) for row in session.scalars(query)]

    def stored_model(self, owner: str, fingerprint: str) -> StoredModel:
        """What is known of a model, without its bytes."""
        with self._store.session() as session:
            return _stored_model(require(session, ModelRow, owner, fingerprint))

    def model_bytes(self, owner: str, fingerprint: str) -> bytes:
        """The model as it is stored and sent to workers, for `core.models.load.read_stored`."""
        return self._content(ModelRow, owner, fingerprint)

    def delete_model(self, owner: str, fingerprint: str) -> None:
        """Forget a model; what was computed with it stays. The bytes go when nobody else keeps the same ones."""
        self._delete(ModelRow, owner, fingerprint)


def _stored_model(row: ModelRow) -> StoredModel:
    noted = {each.name: getattr(row, each.name) for each in fields(StoredModel) if each.name != "dataset_fingerprint"}
    return StoredModel(dataset_fingerprint=row.dataset, **noted)
