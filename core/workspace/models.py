"""Where do models stay, trained here or uploaded? In the workspace of their owner, each of one data set."""

from dataclasses import dataclass, fields

from sqlalchemy import select

from touchstone.core.models.load import ModelFile, model_fingerprint
from touchstone.core.workspace.schema import ModelRow
from touchstone.core.workspace.store import Kept, find, require


@dataclass(frozen=True)
class StoredModel:
    """What is known of a model without reading it.

    `dataset_fingerprint` names the data set that it is a model of. `architecture` is one of ours, None for a model from
    elsewhere. `training_plan` is the JSON of the plan that trained it here, None for a model that was uploaded. Of
    `n_test` samples the model got `n_correct` right: those that were kept out of its training, or of an uploaded one
    any of the data set; None where it was not judged. `has_gradients` says whether estimators that take its gradients
    can be used.
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
        """Keep a model that is a `core.models.load.ModelFile` already, as trials hand it over."""
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
