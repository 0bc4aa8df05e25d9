"""What does a stored model predict? A file as if somebody had brought it: every question about files takes it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import Dataset, Predictions, Roles, write_predictions
from touchstone.core.data.predictions.same_samples import names_of_samples
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.models.late import torch
from touchstone.core.split.units import rows_to_judge

if TYPE_CHECKING:
    from touchstone.core.models.load import Model

BATCH = 256


def rows_held_out(dataset: Dataset, training_plan: str | None) -> Integer[np.ndarray, " n_rows"]:
    """The samples that a stored model is asked about: the test part of the plan (JSON) that trained it.

    Of a model from elsewhere, the test part that the file of the data set marks, or all where it marks none.

    >>> from touchstone.core.data import load_example
    >>> wine = load_example("wine")
    >>> len(rows_held_out(wine, None)), len(rows_held_out(wine, '{"test_share": 0.5, "seed": 1}'))
    (178, 90)
    """
    if training_plan is None:
        return rows_to_judge(dataset)
    from touchstone.core.trials.layer_parts import split_of
    from touchstone.core.trials.training_plan import TrainingPlan

    split = split_of(training_plan, dataset)
    known = {"test_share": split["test_share"], "seed": split["split_seed"], "test_set": split["test_set"]}
    return TrainingPlan("linear", **known).split(dataset).test


def predictions_of_model(
    stored: bytes,
    dataset: Dataset,
    *,
    name: str,
    training_plan: str | None = None,
    step: Callable[[], None] = lambda: None,
) -> PredictionUpload:
    """What a model, as the workspace keeps it, says of the samples held out of its training, with all probabilities.

    Two models of one data set are compared sample by sample, since ids are those of the data set. Sources and units go
    with them. `step` is called after each `BATCH` of samples. Raises ModelError for a model of other data.

    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.model_file import ModelFile
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> wine = load_example("wine")
    >>> trained = LinearNetwork(n_epochs=20).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> stored = ModelFile(trained.to_bytes(), "linear.safetensors", wine.fingerprint).to_bytes()
    >>> said = predictions_of_model(stored, wine, name="linear on wine").read().select()
    >>> said.n_samples, said.class_names == wine.class_names, said.accuracy > 0.9
    (178, True, True)
    """
    from touchstone.core.models.load import read_stored

    rows = rows_held_out(dataset, training_plan)
    proba = _probabilities(read_stored(stored, dataset, apart=True), dataset, rows, step)
    groups = {role: values[rows] for role, values in _groups(dataset).items()}
    predictions = Predictions(
        names_of_samples(dataset)[rows],
        dataset.y[rows],
        proba.argmax(axis=1),
        dataset.class_names,
        proba=proba,
        groups=groups,
        inputs={"text": dataset.x[rows]} if dataset.kind == "text" else {},
    )
    roles = Roles(
        truth="y_true",
        predicted="y_pred",
        probabilities=tuple((label, f"prob_{label}") for label in dataset.class_names),
        id="id",
        **{role: role for role in groups},
    )
    return PredictionUpload(GivenFile(f"{name}.tsv", write_predictions(predictions), roles))


def _groups(dataset: Dataset) -> dict[str, np.ndarray]:
    known = {"source": dataset.sources, "unit": dataset.units}
    return {role: values for role, values in known.items() if values is not None}


def _probabilities(
    model: "Model", dataset: Dataset, rows: Integer[np.ndarray, " n_rows"], step: Callable[[], None]
) -> np.ndarray:
    from scipy.special import softmax

    from touchstone.core.models.load import model_inputs

    logits = []
    with torch.inference_mode():
        for part in np.array_split(rows, max(1, -(-len(rows) // BATCH))):
            logits.append(model.logits(model_inputs(model, dataset, part)).cpu().numpy().astype(np.float64))
            step()
    return softmax(np.concatenate(logits), axis=1)
