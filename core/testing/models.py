"""What does a model promise? The papers' networks are trained for one epoch on few samples, and learn little."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import partial
from typing import Any, get_args

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.models import MODELS, Cancelled, fits
from touchstone.core.models.architectures import ARCHITECTURES
from touchstone.core.models.networks import PaperNetwork

KINDS: tuple[Kind, ...] = get_args(Kind)
_WORDS = ("red fox hen", "blue sky sea", "tall tree leaf", "old stone wall")


def kinds_of(model: type) -> list[Kind]:
    """What a model can be trained on.

    Examples
    --------
    >>> kinds_of(MODELS["cnn_1"])
    ['image']
    """
    y = np.array([0, 1])
    sets = ((kind, easy_inputs(kind, y, side=side_of(model))) for kind in KINDS)
    return [kind for kind, x in sets if fits(model, Dataset("toy", kind, x, y, ("ant", "bee"), ["a", "b"]))]


def side_of(model: type) -> int:
    """How many pixels a side of a small image has that a model can take.

    Examples
    --------
    >>> side_of(MODELS["vgg19"])
    17
    """
    return max(6, ARCHITECTURES[model.architecture].smallest) if issubclass(model, PaperNetwork) else 6


def quick(model: type) -> Callable[..., Any]:
    """The model as it is, or, of the papers' networks, trained for a single epoch: no time to become good."""
    return partial(model, n_epochs=1, batch_size=32) if issubclass(model, PaperNetwork) else model


def easy_inputs(kind: str, y: np.ndarray, seed: int = 0, side: int = 6) -> np.ndarray:
    """Inputs from which the class (0 to 3) is easily told; read-only, as in a data set.

    Examples
    --------
    >>> easy_inputs("text", np.array([0]), seed=1)
    array(['fox fox hen hen red red'], dtype=object)
    """
    rng = np.random.default_rng(seed)
    if kind == "text":
        x = np.array([" ".join(rng.choice(_WORDS[label].split(), 6)) for label in y], dtype=object)
    elif kind == "tabular":
        x = rng.normal(size=(len(y), 5)) + 4 * np.eye(5)[y]
        x[:, 1] *= 1000  # columns of very different size, and one that never changes
        x[:, 4] = 7.0
    else:
        x = rng.uniform(0, 0.3, size=(len(y), side, side, 1)).astype(np.float32)
        x[np.arange(len(y)), y] += 0.7
    x.flags.writeable = False
    return x


def scores_of(fitted: Any, x: np.ndarray) -> np.ndarray:
    """Probabilities, or decision values of a model that has none."""
    return fitted.predict_proba(x) if hasattr(fitted, "predict_proba") else fitted.decision_function(x)


def _few(model: type, n: int) -> int:
    """So many samples, or, for the papers' networks, few: the largest take a second for a batch."""
    return min(n, 4) if issubclass(model, PaperNetwork) else n


def _learned(model: type, right: np.ndarray) -> None:
    share = float(right.mean())
    assert issubclass(model, PaperNetwork) or share > 0.9, f"of what is easily told it gets {share:.0%} right"


def model_has_a_label_and_numbers_with_defaults(name: str, model: type) -> None:
    """Its hyperparameters are numbers with defaults, and no other model is called so."""
    for field in fields(model):
        assert field.default is not MISSING, f"{field.name} has no default"
        is_rule = field.default is None and field.name == "n_epochs"  # until it has learned what it can
        assert is_rule or isinstance(field.default, int | float), f"the default of {field.name} is no number"
    assert model.label.strip()
    labels = [other.label for other in MODELS.values()]
    assert labels.count(model.label) == 1, f"another model is called {model.label!r}"
    assert hasattr(model, "predict_proba") or hasattr(model, "decision_function"), (
        "it gives neither probabilities nor decision values"
    )
    assert kinds_of(model), "it fits no kind of data"
    assert len(kinds_of(model)) == len(KINDS) or model.needs.strip(), "`needs` says what it takes, where not all fits"


def model_learns_and_gives_every_class_a_column(name: str, model: type) -> None:
    """It learns what is easily told, of every kind of data that it takes, and gives each class a column."""
    for kind in kinds_of(model):
        y = np.tile([0, 1, 2], _few(model, 30))
        y.flags.writeable = False
        x, x_new = (easy_inputs(kind, y, seed=seed, side=side_of(model)) for seed in (0, 1))
        fitted = quick(model)().fit(x, y, seed=0, n_classes=3)
        assert isinstance(fitted, model), "`fit` gives the model itself"
        predicted = fitted.predict(x_new)
        assert predicted.shape == y.shape
        assert np.issubdtype(predicted.dtype, np.integer), f"it predicts {predicted.dtype}, not codes"
        assert scores_of(fitted, x_new).shape == (len(y), 3), "each class has a column"
        _learned(model, predicted == y)
        _learned(model, scores_of(fitted, x_new).argmax(axis=1) == y)


def model_bears_absent_classes(name: str, model: type) -> None:
    """Classes that the training part lacks are never predicted: probability 0, or a decision of minus infinity."""
    for kind in kinds_of(model):
        for present in ((0, 2), (1, 3), (0, 1, 3)):
            y = np.tile(present, _few(model, 24))
            x = easy_inputs(kind, y, side=side_of(model))
            fitted = quick(model)().fit(x, y, seed=0, n_classes=5)
            everything = easy_inputs(kind, np.tile([0, 1, 2, 3], 5), seed=1, side=side_of(model))
            assert set(fitted.predict(everything)) <= set(present), "it predicts a class that it has not seen"
            values = scores_of(fitted, everything)
            absent = sorted({0, 1, 2, 3, 4} - set(present))
            assert values.shape == (20, 5)
            none = 0 if hasattr(fitted, "predict_proba") else -np.inf
            assert (values[:, absent] == none).all(), f"classes without a sample have {none}"
            assert np.isfinite(values[:, list(present)]).all()
            _learned(model, fitted.predict(x) == y)
            _learned(model, scores_of(fitted, x).argmax(axis=1) == y)


def model_predicts_a_single_class_always(name: str, model: type) -> None:
    """A training part of one class is no error."""
    for kind in kinds_of(model):
        y = np.full(20, 2)
        fitted = quick(model)().fit(easy_inputs(kind, y, side=side_of(model)), y, seed=0, n_classes=4)
        x_new = easy_inputs(kind, np.tile([0, 1, 2, 3], 3), side=side_of(model))
        assert (fitted.predict(x_new) == 2).all()
        assert (scores_of(fitted, x_new).argmax(axis=1) == 2).all()


def model_has_probabilities_that_agree(name: str, model: type) -> None:
    """Probabilities sum to 1 and are highest for what is predicted, on data that are hard, too."""
    if not hasattr(model, "predict_proba"):
        return
    rng, kinds, side = np.random.default_rng(3), kinds_of(model), side_of(model)
    y = rng.integers(0, 4, _few(model, 120))
    if "tabular" in kinds:
        x = easy_inputs("tabular", y) + rng.normal(scale=3, size=(len(y), 5))  # hard, so that the classes mix
    elif "image" in kinds:
        x = rng.random((len(y), side, side, 1), dtype=np.float32)
    else:
        x = easy_inputs("text", rng.permutation(y))
    fitted = quick(model)().fit(x, y, seed=0)
    proba = fitted.predict_proba(x)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9, err_msg="probabilities sum to 1")
    assert proba.min() >= 0, "a probability is negative"
    np.testing.assert_array_equal(proba.argmax(axis=1), fitted.predict(x), err_msg="it predicts what is not likeliest")


def shared_state() -> dict[str, Any]:
    """What all code of a process shares and a fit leaves alone: numpy's generator, and torch's and its threads.

    Torch is no part of a small install: what is asked of a model does not need it.

    Examples
    --------
    >>> sorted(shared_state())[0]
    "numpy's generator"
    """
    state = {"numpy's generator": np.random.get_state()[1].tolist()}  # noqa: NPY002 - the global state is what is tested
    if torch := _torch():
        state |= {"torch's generator": torch.get_rng_state().tolist(), "torch's threads": torch.get_num_threads()}
    return state


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        return None
    return torch


def _moved() -> list[str]:
    """Draw from each shared generator, and name those that moved: all of them."""
    before = shared_state()
    np.random.random()  # noqa: NPY002 - as above
    if torch := _torch():
        torch.rand(3)
    after = shared_state()
    return [name for name in before if before[name] != after[name]]


def model_is_the_same_for_the_same_seed(name: str, model: type) -> None:
    """The same seed gives the same model, wherever shared generators stand, and none of them moves."""
    for kind in kinds_of(model):
        y = np.tile([0, 1, 2], _few(model, 20))
        x, x_new = (easy_inputs(kind, y, seed=seed, side=side_of(model)) for seed in (0, 1))
        np.random.seed(5)  # noqa: NPY002 - fresh from a seed, one number changes the whole state
        before = shared_state()
        first = scores_of(quick(model)().fit(x, y, seed=11), x_new)
        for what, state in shared_state().items():
            assert state == before[what], f"{what} moved"
        assert len(_moved()) == sum("generator" in what for what in before)
        second = scores_of(quick(model)().fit(x, y, seed=11), x_new)
        np.testing.assert_array_equal(first, second, err_msg="the same seed gives another model")


def model_takes_the_highest_code_for_the_last_class(name: str, model: type) -> None:
    """Without `n_classes` the highest code decides how many there are."""
    y, kind = np.tile([0, 3], _few(model, 30)), kinds_of(model)[-1]
    x = easy_inputs(kind, y, side=side_of(model))
    assert scores_of(quick(model)().fit(x, y, seed=0), x).shape == (len(y), 4)


def model_stops_when_asked_to(name: str, model: type) -> None:
    """It raises Cancelled where `should_stop()` is true, and leaves no trace."""
    for kind in kinds_of(model):
        y = np.tile([0, 1], _few(model, 20))
        x, before = easy_inputs(kind, y, side=side_of(model)), shared_state()
        try:
            quick(model)().fit(x, y, seed=0, should_stop=lambda: True)
        except Cancelled:
            pass
        else:
            raise AssertionError("it goes on though `should_stop()` is true")
        assert shared_state() == before, "what is shared is not as it was"
        _learned(model, quick(model)().fit(x, y, seed=0, should_stop=lambda: False).predict(x) == y)


def model_learns_of_two_samples(name: str, model: type) -> None:
    """Fewer samples than anyone hopes for are no error."""
    y, kind = np.array([0, 1]), kinds_of(model)[-1]
    x = easy_inputs(kind, y, side=side_of(model))
    assert set(quick(model)().fit(x, y, seed=0).predict(x)) <= {0, 1}


LAWS = (
    model_has_a_label_and_numbers_with_defaults,
    model_learns_and_gives_every_class_a_column,
    model_bears_absent_classes,
    model_predicts_a_single_class_always,
    model_has_probabilities_that_agree,
    model_is_the_same_for_the_same_seed,
    model_takes_the_highest_code_for_the_last_class,
    model_stops_when_asked_to,
    model_learns_of_two_samples,
)
"""What is asked of an entry."""
