"""How does a layer of a stored model see its data set? Read once, for all questions that rest on it."""

from collections.abc import Callable

import streamlit as st

from core.data import Dataset
from core.data.identity import key
from core.trials.layer_parts import LayerParts, layer_parts, layers_offered, split_of
from core.workspace.models import StoredModel
from ui.shell import background
from ui.shell.background import Task
from ui.shell.session import owner, workspace


def layers(dataset: Dataset, model: StoredModel) -> tuple[str, ...]:
    """The layers that a model offers, the usual one first. Raises ModelError for a file that cannot be read."""
    return _layers(owner(), model.fingerprint, dataset)


@st.cache_resource(max_entries=32, show_spinner=False)
def _layers(owner_name: str, model: str, _dataset: Dataset) -> tuple[str, ...]:
    return layers_offered(workspace().model_bytes(owner_name, model), _dataset)


def parts_name(dataset: Dataset, model: StoredModel, layer: str) -> str:
    """What both parts of a data set in a layer are kept under."""
    return key("layer parts", dataset.fingerprint, model.fingerprint, layer, *split_of(model.training_plan).values())


def layer_samples(dataset: Dataset, model: StoredModel, layer: str) -> Task[LayerParts]:
    """Training and test part of a data set in a layer of a model, split as when it was trained."""
    name, split, owner_name, shelf = (
        parts_name(dataset, model, layer),
        split_of(model.training_plan),
        owner(),
        workspace(),
    )

    def work(step: Callable[[], None]) -> LayerParts:
        return layer_parts(shelf.model_bytes(owner_name, model.fingerprint), dataset, layer=layer, **split)

    return _parts(owner_name, name, work)


@st.cache_resource(max_entries=3, show_spinner=False)
def _parts(owner_name: str, name: str, _work: Callable[[Callable[[], None]], LayerParts]) -> Task[LayerParts]:
    """Few, since the features of a large data set take hundreds of megabytes."""
    return background.submit(_work)
