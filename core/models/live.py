"""How is a model of this very process asked, such as one of scikit-learn's? As a stored one is, but without a file.

A model may take what a data set keeps in another form: texts, a frame of columns with names in it, pictures. What is
known of how it was fitted says which (`runs`, `reads`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np
from jaxtyping import Shaped

from touchstone.core.data import Dataset
from touchstone.core.data.categories import column_of
from touchstone.core.data.values import array_of
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import torch
from touchstone.core.models.model_file import ModelFile

LIVE = "live"
"""The architecture of what is no file, but a model of this process."""
_lent: dict[bytes, tuple[Any, tuple[str, ...] | None]] = {}
_CLASSIFIES = ("text-classification", "sentiment-analysis", "image-classification")
"""The tasks of Hugging Face's pipelines that give a score of each class."""


@contextmanager
def lent(model: Any, dataset: Dataset, class_names: Iterable[object] | None = None) -> Iterator[bytes]:
    """Lend a model of a data set; gives the bytes by which `core.models.load.read_stored` finds it meanwhile.

    `class_names` say what its outputs stand for, where it does not say names itself. A torch module comes back as it
    was: each part of it trains or not as before, and torch's random numbers go on where they were.

    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.load import read_stored
    >>> wine = load_example("wine")
    >>> with lent(lambda x: np.eye(3)[(x[:, 0] > 13).astype(int)], wine) as stored:
    ...     read_stored(stored, wine).has_gradients
    False
    """
    name = uuid4().hex.encode()  # its own each time: whatever is kept by a fingerprint must not stand for another one
    _lent[name] = model, None if class_names is None else tuple(str(each) for each in class_names)
    trains = {part: part.training for part in model.modules()} if isinstance(model, torch.nn.Module) else {}
    random = torch.get_rng_state() if trains else None
    try:
        yield ModelFile(name, "model", dataset.fingerprint, LIVE).to_bytes()
    finally:
        del _lent[name]
        for part, training in trains.items():
            part.training = training
        if random is not None:
            torch.set_rng_state(random)


def borrowed(name: bytes) -> tuple[Any, tuple[str, ...] | None]:
    """The model that was lent, and what its outputs stand for. Raises ModelError where it is lent no more."""
    if name not in _lent:
        raise ModelError("This model was lent by another process, or is lent no more. Bring it again.")
    return _lent[name]


def runs(
    model: Any, dataset: Dataset, class_names: Sequence[str] | None = None
) -> tuple[Callable[["torch.Tensor"], "torch.Tensor"], bool]:
    """What runs a model on tensors, and whether gradients come back: of torch's modules alone.

    A classifier of scikit-learn's kind gives `predict_proba`, and its `classes_` say of which class a column is; where
    these are codes, or there are none, `class_names` do. A pipeline of Hugging Face takes pictures. Any other model is
    a function of arrays that gives a row of logits or probabilities for each sample.
    """
    if isinstance(model, torch.nn.Module):
        order = _order(getattr(model, "classes_", None), dataset, class_names)
        module = model.eval()
        like = next(module.parameters(), torch.zeros(0))
        return lambda x: _in_order(_logits(module(x.to(like))), order), True
    ask = _asking(model, dataset, class_names)
    as_fitted = _as_pictures if _is_pipeline(model) else _as_fitted(model, dataset)
    return lambda x: ask(as_fitted(x)), False


def reads(
    model: Any, dataset: Dataset, class_names: Sequence[str] | None = None
) -> Callable[[Shaped[np.ndarray, " n"]], "torch.Tensor"]:
    """What asks a model about texts, such as a pipeline of scikit-learn or Hugging Face: a row for each of them.

    Raises ModelError for a torch module: it takes numbers, which somebody has to make of texts.
    """
    if isinstance(model, torch.nn.Module):
        raise ModelError(
            f"{type(model).__name__} takes numbers, {dataset.name} holds texts. Give a function from a list of "
            "texts to rows of logits, or add a file of vectors to the data set."
        )
    ask = _asking(model, dataset, class_names)

    def read(x: Shaped[np.ndarray, " n"]) -> "torch.Tensor":
        try:
            return ask([str(text) for text in x])
        except ModelError:
            raise
        except Exception as error:  # a model from elsewhere may raise anything
            reason = (str(error).strip() or repr(error)).splitlines()[0]
            raise ModelError(
                f"The model cannot be asked about the texts of {dataset.name} ({reason}). Give one that takes a list "
                "of texts, or add a file of vectors to the data set where it takes these."
            ) from error

    return read


def _is_pipeline(model: Any) -> bool:
    return getattr(model, "task", None) in _CLASSIFIES and callable(model)


def _asking(model: Any, dataset: Dataset, class_names: Sequence[str] | None) -> Callable[[Any], "torch.Tensor"]:
    """What asks a model that is no module about inputs in its own form, and orders its outputs as the data's classes.

    Scores may come with their labels, as Hugging Face's pipelines give them: a list of both for each sample.
    """
    order = _order(getattr(model, "classes_", None), dataset, class_names)
    of_inputs = getattr(model, "predict_proba", model)
    if not callable(of_inputs):
        raise ModelError(
            f"{type(model).__name__} is no model: give a torch module, a classifier with predict_proba, or a function."
        )
    said = {"top_k": None} if _is_pipeline(model) else {}

    def ask(inputs: Any) -> "torch.Tensor":
        outputs = of_inputs(inputs, **said)
        if isinstance(outputs, list) and outputs and _is_labelled(outputs[0]):
            labels, values = _labelled(model, outputs)
            return _in_order(torch.from_numpy(values), _order(labels, dataset, class_names))
        return _in_order(torch.from_numpy(array_of(_logits(outputs)).astype(np.float64)), order)

    return ask


def _is_labelled(scores: Any) -> bool:
    one = scores[0] if isinstance(scores, list) and scores else scores
    return isinstance(one, dict) and {"label", "score"} <= one.keys()


def _labelled(model: Any, outputs: Sequence[Any]) -> tuple[list[str], np.ndarray]:
    """Labels in the model's order, where it says so, and a row of their scores for each sample.

    "LABEL_3" is the code 3. Raises ModelError where only the best class is told of.
    """
    if not isinstance(outputs[0], list) or len(outputs[0]) < 2:
        raise ModelError("The model gives the score of one class a sample. Let it give those of all (top_k=None).")
    by_label = [{str(each["label"]): float(each["score"]) for each in scores} for scores in outputs]
    config = getattr(getattr(model, "model", None), "config", None)
    known = [str(label) for _, label in sorted(getattr(config, "id2label", {}).items())]
    labels = known if {*known} == by_label[0].keys() else sorted(by_label[0], key=lambda each: (len(each), each))
    if any(scores.keys() != by_label[0].keys() for scores in by_label):
        raise ModelError("The model gives other labels for some samples. Let it give the scores of all (top_k=None).")
    values = np.array([[scores[label] for label in labels] for scores in by_label])
    return [label.removeprefix("LABEL_") for label in labels], values


def _logits(outputs: Any) -> Any:
    """What a model gives, or the logits in it: under their name, or first where there are several outputs."""
    if isinstance(outputs, Mapping):
        if "logits" not in outputs:
            given = ", ".join(map(str, outputs))
            raise ModelError(f"The model gives {given}, and no logits. Give these under that name.")
        return outputs["logits"]
    if hasattr(outputs, "logits"):
        return outputs.logits
    return outputs[0] if isinstance(outputs, tuple) and outputs else outputs


def _as_fitted(model: Any, dataset: Dataset) -> Callable[["torch.Tensor"], Any]:
    """What makes samples what a model was fitted on: arrays, or a frame of the columns that it knows by name.

    Raises ModelError where the data lack one of these.
    """
    theirs, ours = getattr(model, "feature_names_in_", None), dataset.feature_names
    if theirs is None or dataset.kind != "tabular":
        network = getattr(_last_step(model), "module_", None)  # behind scikit-learn's interface, as skorch's are
        precision = next(network.parameters(), None) if isinstance(network, torch.nn.Module) else None
        return lambda x: x.detach().to(x.dtype if precision is None else precision.dtype).numpy()
    if absent := [str(name) for name in theirs if column_of(dataset.x[:0], ours, name) is None]:
        raise ModelError(
            f"The model was fitted on columns that the data lack: {', '.join(absent[:3])}. The data have "
            f"{', '.join(ours[:3])} and such. Give the data with the names on which it was fitted, as a frame."
        )
    import pandas as pd

    return lambda x: pd.DataFrame({name: column_of(x.detach().numpy(), ours, name) for name in theirs})


def _last_step(model: Any) -> Any:
    """The classifier of a pipeline, or the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _as_pictures(x: "torch.Tensor") -> list[Any]:
    """Pixels in [0, 1] as the pictures that a pipeline takes."""
    from PIL import Image

    pixels = (x.detach().permute(0, 2, 3, 1) * 255).round().clamp(0, 255).to(torch.uint8).numpy()
    return [Image.fromarray(each[..., 0] if each.shape[-1] == 1 else each).convert("RGB") for each in pixels]


def _in_order(outputs: "torch.Tensor", order: list[int] | None) -> "torch.Tensor":
    return outputs if order is None or outputs.ndim != 2 else outputs[:, order]


def _order(classes: Any, dataset: Dataset, class_names: Sequence[str] | None) -> list[int] | None:
    """The column of each class of the data set, None where they are in its order.

    Raises ModelError where a classifier knows other classes, or codes whose names nobody said.
    """
    theirs, ours = None if classes is None else [str(one) for one in classes], list(dataset.class_names)
    codes = [str(code) for code in range(dataset.n_classes)]
    if theirs is not None and sorted(theirs) == sorted(ours):
        return [theirs.index(name) for name in ours]
    if class_names is None and theirs == codes:
        raise ModelError(
            f"The model was trained on codes, 0 to {codes[-1]}; the data have {', '.join(ours)}. Say with class_names= "
            "what the codes stand for, in their order: class_names=data.class_names where it was trained on data.y."
        )
    named = theirs if class_names is None else [*class_names]
    if named is None or named == ours:
        return None
    if sorted(named) != sorted(ours):
        raise ModelError(
            f"The model knows the classes {', '.join(named)}; the data have {', '.join(ours)}. Say with class_names= "
            "which of the data's classes each output stands for, in the model's order."
        )
    return [named.index(name) for name in ours]
