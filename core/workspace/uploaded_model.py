"""May a model's file that somebody brings be kept? It is read without running it and tried on the data set first."""

from dataclasses import dataclass
from pathlib import PurePath

from touchstone.core.data import Dataset
from touchstone.core.models.inputs import InputRange
from touchstone.core.models.load import Judged, check_above_chance, try_model
from touchstone.core.split.units import rows_to_judge
from touchstone.core.workspace.workspace import Workspace


@dataclass(frozen=True, eq=False)
class Brought:
    """A model that was kept: its fingerprint, and how it did on the samples that it was tried on."""

    fingerprint: str
    judged: Judged


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
) -> Brought:
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
    return Brought(fingerprint, judged)
