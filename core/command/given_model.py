"""Which model did somebody name on the command line? A stored one, or a file that is tried on the data and kept."""

import argparse
import sys
from pathlib import Path

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import percent
from touchstone.core.models.inputs import InputRange
from touchstone.core.workspace import Workspace
from touchstone.core.workspace.workspace import bring_model


def given_model(chosen: argparse.Namespace, dataset: Dataset, workspace: Workspace, owner: str) -> str:
    """The fingerprint of the model of `--model`; says how it did. Raises DataError for what cannot be used."""
    stored = {model.fingerprint: model for model in workspace.models(owner)}
    if chosen.model in stored:
        if stored[chosen.model].dataset_fingerprint != dataset.fingerprint:
            raise DataError(f"{chosen.model} is a model of other data than {dataset.name}.")
        return chosen.model
    file = Path(chosen.model)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{chosen.model}: cannot be read ({error}). Name a model's file, or a fingerprint.") from None
    scale: InputRange | None = None if chosen.input_range is None else (chosen.input_range[0], chosen.input_range[1])
    settled = {"architecture": chosen.network, "input_range": scale}
    fingerprint, judged = bring_model(workspace, owner, file.name, content, dataset, **settled)
    accuracy = percent(judged.accuracy, wilson(float(judged.n_correct), float(judged.n)))
    print(" ".join([f"{file.name}: accuracy {accuracy} on these data.", judged.hint]).strip(), file=sys.stderr)
    return fingerprint
