"""How does one layer of a stored model see the samples that it was trained on, and those that it was tested on?"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypedDict

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.models.errors import ModelError
from touchstone.core.models.layer_files import recorded_parts
from touchstone.core.models.layers import Head, Layer, LayerSamples, fit_head, layer_names, layer_of, layer_samples
from touchstone.core.models.load import Model, read_stored
from touchstone.core.models.model_file import RECORDED, ModelFile
from touchstone.core.models.networks import TrainedNetwork
from touchstone.core.parameters import LATER, About, Values, asks, follows
from touchstone.core.split.units import DRAWN, FILE, has_test_set
from touchstone.core.trials.defaults import Facts
from touchstone.core.trials.plan import Aside, check_names
from touchstone.core.trials.training_plan import TEST_SETS, TrainingPlan

_SELDOM = 0.95  # a fitted head that agrees with its model less often than that is not to be relied on

UPLOADED = "uploaded features"
"""The one layer of a record: whatever layer the features came from."""

_UNKNOWN = "This model was uploaded, so its training samples are unknown"
NOT_TRAINED_HERE = f"{_UNKNOWN}: training and test part are a random split."
NOT_TRAINED_HERE_BUT_MARKED = f"{_UNKNOWN}. Training and test part are those marked in the file."


def check_model_and_layer(model: object, layer: object) -> None:
    """DataError unless a plan names a stored model, and a layer of it or None for the usual one.

    Examples
    --------
    >>> check_model_and_layer("f1", None)
    >>> check_model_and_layer("f1", "")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: layer must be the name of a layer, or nothing for the usual one, not ''.
    """
    if not (isinstance(model, str) and model):
        raise DataError("model must be the fingerprint of a stored model. Train or upload one first.")
    if layer is not None and not (isinstance(layer, str) and layer):
        raise DataError(f"layer must be the name of a layer, or nothing for the usual one, not {layer!r}.")


def asks_model() -> Any:
    """The field `model` of a plan: the fingerprint of a stored model, which the page asks for in a form of its own."""
    return asks(
        label="Model",
        help="The fingerprint of a stored model.",
        address="model",
        place="line",
        form="model",
        choices=lambda about: None,
        says=lambda model: f"model {model[:12]}",
    )


def asks_layer(default: str | None = None) -> Any:
    """The field `layer` of a plan: a layer of its model, None for the usual one; asked with the regions."""
    return asks(
        default,
        "Layer",
        "Features are the output of this layer; the head is every layer after it.",
        address="layer",
        place="row",
        form="regions",
        choices=lambda about: {name: name for name in about.layers} or None,
        differs=lambda about: {"usual": next(iter(about.layers), None)},
        when=lambda values, about: len(about.layers) != 1,
        says=lambda layer: layer or "usual layer",
        means=_usual_layer,
    )


def _usual_layer(plan: Any, facts: Facts) -> str:
    return _first_layer(plan.model, facts.fingerprint, Aside(facts))


@lru_cache(maxsize=64)
def _first_layer(model: str, fingerprint: str, facts: Aside[Facts]) -> str:
    """The usual layer of a stored model, read once: whoever looks for a run asks for it again and again."""
    return layers_offered(facts.value.model(model), facts.value.read())[0]


class TrainingSplit(TypedDict):
    """What a split into training and test part hangs on, besides the data set.

    `test_set` is "drawn" or "file"; the file's own hangs on nothing else, and the other two are then as usual.
    """

    test_share: float
    split_seed: int
    test_set: str


@dataclass(frozen=True, eq=False)
class LayerParts:
    """The training and the test part as a layer of a model sees them, and the `head` behind it.

    `train_rows` and `test_rows` are positions in the data set. `notes` say in sentences what has to be known of the
    split and of the head. `model` and `of` are the model and its layer; None where only features were uploaded.
    `is_drawn` says that the test part was drawn here at random, so that it is nobody's own test set.
    """

    train: LayerSamples
    test: LayerSamples
    head: Head = field(repr=False)
    layer: str
    train_rows: Integer[np.ndarray, " n_train"] = field(repr=False)
    test_rows: Integer[np.ndarray, " n_test"] = field(repr=False)
    notes: tuple[str, ...]
    model: Model | None = field(repr=False)
    of: Layer | None = field(repr=False)
    is_drawn: bool = False


def split_of(training_plan: str | None, dataset: Dataset | None = None) -> TrainingSplit:
    """Say how a model's data set was split: as the plan that trained it says (JSON).

    A model that was not trained here is judged on the test set that the file of the data set marks; where there is
    none, on a split as plans usually draw it.

    Examples
    --------
    >>> from touchstone.core.trials.plan import to_json
    >>> split_of(to_json(TrainingPlan("linear", test_share=0.5, seed=7)))
    {'test_share': 0.5, 'split_seed': 7, 'test_set': 'drawn'}
    >>> split_of(to_json(TrainingPlan("linear", test_set="file", seed=7)))
    {'test_share': 0.2, 'split_seed': 0, 'test_set': 'file'}
    >>> split_of(None)
    {'test_share': 0.2, 'split_seed': 0, 'test_set': 'drawn'}
    """
    told = json.loads(training_plan) if training_plan else {}
    untold = FILE if training_plan is None and dataset is not None and has_test_set(dataset) else DRAWN
    if told.get("test_set", untold) == FILE:
        told = {"test_set": FILE}
    return {
        "test_share": float(told.get("test_share", TrainingPlan.test_share)),
        "split_seed": int(told.get("seed", TrainingPlan.seed)),
        "test_set": str(told.get("test_set", DRAWN)),
    }


def split_field(name: Literal["test_share", "split_seed", "test_set"]) -> Callable[[Values, About], float | str]:
    """From what a field of a plan follows that tells the split: from the training of the form's model, or its data."""
    return lambda values, about: split_of(about.model.training_plan if about.model else None, about.dataset)[name]


def follows_test_set(of: Callable[[Values, About], Any]) -> Any:
    """The field `test_set` of a plan: where the test set of its model comes from; plans of before meant a drawn one."""
    where = (
        '`"drawn"` or `"file"`. Pages take that of the model\'s training; of a model from elsewhere the test set that '
        "the file marks, where it does."
    )
    return follows(DRAWN, of=of, help=where, joined=LATER)


def check_test_set(plan: Any) -> None:
    """DataError unless the field `test_set` of a plan is one that a training may have."""
    check_names(plan, "test_set", TEST_SETS)


def layers_offered(stored: bytes, dataset: Dataset) -> tuple[str, ...]:
    """Name the layers of a stored model that can be looked at, the usual one first.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import Mlp2048
    >>> wine = load_example("wine")
    >>> trained = Mlp2048(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> layers_offered(ModelFile(trained.to_bytes(), "mlp.safetensors", wine.fingerprint).to_bytes(), wine)
    ('last hidden',)
    """
    if ModelFile.from_bytes(stored).architecture == RECORDED:
        return (UPLOADED,)
    return layer_names(read_stored(stored, dataset, apart=True))


def layer_parts(
    stored: bytes,
    dataset: Dataset,
    *,
    layer: str | None = None,
    test_share: float = 0.2,
    split_seed: int = 0,
    test_set: str = DRAWN,
    is_known: bool = True,
) -> LayerParts:
    """Give both parts of a data set in a layer of a stored model (by default the usual one), and its head.

    The parts are those of a TrainingPlan with this test set, share and seed (`split_of` says which trained a model),
    those of a record as they were uploaded. `is_known` is false where nobody knows that the model was trained so,
    though its file may say on which data set. Raises ModelError for a layer that the model does not have or a model of
    other data.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import Mlp2048
    >>> wine = load_example("wine")
    >>> trained = Mlp2048(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> stored = ModelFile(trained.to_bytes(), "mlp.safetensors", wine.fingerprint).to_bytes()
    >>> parts = layer_parts(stored, wine)
    >>> len(parts.train), len(parts.test), parts.layer
    (142, 36, 'last hidden')
    """
    file = ModelFile.from_bytes(stored)
    if file.architecture == RECORDED:
        return _recorded(file, dataset, layer)
    model = read_stored(stored, dataset, apart=True)
    of = layer_of(model, layer)
    split = TrainingPlan("linear", test_set=test_set, test_share=test_share, seed=split_seed).split(dataset)
    train, test = (
        layer_samples(model, dataset, rows, layer=of.name, name=name).made_of(dataset, rows)
        for rows, name in zip(split, ("training part", "test part"), strict=True)
    )
    known = is_known and isinstance(model, TrainedNetwork) and model.fingerprint == dataset.fingerprint
    is_drawn = test_set == DRAWN
    notes = () if known else (NOT_TRAINED_HERE if is_drawn else NOT_TRAINED_HERE_BUT_MARKED,)
    return LayerParts(train, test, of, of.name, split.train, split.test, notes, model, of, is_drawn)


def both_parts(
    stored: bytes, dataset: Dataset, *, layer: str | None = None, **split: Any
) -> tuple[LayerSamples, LayerSamples]:
    """Give training and test part as `layer_parts` does, without a head: of a record, that one takes long to fit.

    `split` says how they were divided (see ``TrainingSplit``).

    Examples
    --------
    >>> from touchstone.core.models.layer_files import record_of
    >>> part = LayerSamples([[0.0, 1.0], [2.0, 1.0]], [0, 1], [[0.9, 0.1], [0.4, 0.6]], ("a", "b"))
    >>> dataset, record = record_of(part, part, name="mine")
    >>> [one.name for one in both_parts(record.to_bytes(), dataset)]
    ['training part', 'test part']
    """
    file = ModelFile.from_bytes(stored)
    if file.architecture == RECORDED:
        _check_uploaded(layer)
        recorded = recorded_parts(file, dataset)
        return recorded.train, recorded.test
    parts = layer_parts(stored, dataset, layer=layer, **split)
    return parts.train, parts.test


def _recorded(file: ModelFile, dataset: Dataset, layer: str | None) -> LayerParts:
    _check_uploaded(layer)
    train, test, train_rows, test_rows = recorded_parts(file, dataset)
    head = fit_head(train)
    given, top = head(test.features), test.predicted
    right = float((given.argmax(axis=1) == top).mean())
    off = float(np.abs(given - test.proba)[np.arange(len(test)), top].mean())
    note = (
        "There is no model, so a linear head was fitted to the probabilities of the training part. It predicts the "
        f"model's class for {100 * head.agreement:.1f} % of training and {100 * right:.1f} % of test samples. In "
        f"the test part, the probability of that class differs by {100 * off:.1f} points on average."
    )
    if right < _SELDOM:
        note += " Results on new features depend on this head; more training samples would improve it."
    return LayerParts(train, test, head, UPLOADED, train_rows, test_rows, (note,), None, None)


def _check_uploaded(layer: str | None) -> None:
    if layer not in (None, UPLOADED):
        raise ModelError(f"There is no layer {layer!r}. Of uploaded features there is one, called {UPLOADED!r}.")
