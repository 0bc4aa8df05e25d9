"""What every model must do, on every kind of data that it takes; a new entry of MODELS is tested without a new test.

The papers' networks are trained for one epoch here: they keep their promises, but have not learned much yet.
"""

from dataclasses import MISSING, fields

import numpy as np
import pytest
import torch

from tests.models.kinds import PAPER_NETWORKS, few, quick, side, takes
from touchstone.core.models import MODELS, Cancelled

KINDS = ("image", "tabular", "text")
WORDS = ("red fox hen", "blue sky sea", "tall tree leaf", "old stone wall")


def toy(kind: str, y: np.ndarray, seed: int = 0, side: int = 6) -> np.ndarray:
    """Inputs from which the class is easily told; read-only, as in a Dataset."""
    rng = np.random.default_rng(seed)
    if kind == "text":
        x = np.array([" ".join(rng.choice(WORDS[label].split(), 6)) for label in y], dtype=object)
    elif kind == "tabular":
        x = rng.normal(size=(len(y), 5)) + 4 * np.eye(5)[y]
        x[:, 1] *= 1000  # columns of very different size, and one that never changes
        x[:, 4] = 7.0
    else:
        x = rng.uniform(0, 0.3, size=(len(y), side, side, 1)).astype(np.float32)
        x[np.arange(len(y)), y] += 0.7
    x.flags.writeable = False
    return x


CASES = [(name, kind) for name in MODELS for kind in KINDS if takes(name, kind)]


def scores(fitted, x) -> np.ndarray:
    return fitted.predict_proba(x) if hasattr(fitted, "predict_proba") else fitted.decision_function(x)


def assert_learned(name: str, right: np.ndarray) -> None:
    if name not in PAPER_NETWORKS:
        assert right.mean() > 0.9


@pytest.mark.parametrize("name", MODELS)
def test_hyperparameters_are_numbers_with_defaults_and_the_name_is_its_own(name):
    model = MODELS[name]
    for field in fields(model):
        assert field.default is not MISSING
        assert isinstance(field.default, int | float)
    assert model.label.strip()
    assert [other.label for other in MODELS.values()].count(model.label) == 1


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_it_learns_and_gives_every_class_a_column(name, kind):
    y = np.tile([0, 1, 2], few(name, 30))
    y.flags.writeable = False
    x, x_new = toy(kind, y, side=side(name)), toy(kind, y, seed=1, side=side(name))
    fitted = quick(name)().fit(x, y, seed=0, n_classes=3)
    assert isinstance(fitted, MODELS[name])
    predicted = fitted.predict(x_new)
    assert predicted.shape == y.shape
    assert np.issubdtype(predicted.dtype, np.integer)
    assert scores(fitted, x_new).shape == (len(y), 3)
    assert_learned(name, predicted == y)
    assert_learned(name, scores(fitted, x_new).argmax(axis=1) == y)


@pytest.mark.parametrize(("name", "kind"), CASES)
@pytest.mark.parametrize("present", [(0, 2), (1, 3), (0, 1, 3)])
def test_classes_may_be_absent_from_the_training_part(name, kind, present):
    y = np.tile(present, few(name, 24))
    x = toy(kind, y, side=side(name))
    fitted = quick(name)().fit(x, y, seed=0, n_classes=5)
    everything = toy(kind, np.tile([0, 1, 2, 3], 5), seed=1, side=side(name))
    assert set(fitted.predict(everything)) <= set(present)
    values = scores(fitted, everything)
    absent = sorted({0, 1, 2, 3, 4} - set(present))
    assert values.shape == (20, 5)
    assert (values[:, absent] == (0 if hasattr(fitted, "predict_proba") else -np.inf)).all()
    assert np.isfinite(values[:, list(present)]).all()
    assert_learned(name, fitted.predict(x) == y)
    assert_learned(name, scores(fitted, x).argmax(axis=1) == y)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_one_class_only_is_predicted_always(name, kind):
    y = np.full(20, 2)
    fitted = quick(name)().fit(toy(kind, y, side=side(name)), y, seed=0, n_classes=4)
    x_new = toy(kind, np.tile([0, 1, 2, 3], 3), side=side(name))
    assert (fitted.predict(x_new) == 2).all()
    assert (scores(fitted, x_new).argmax(axis=1) == 2).all()


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_sum_to_one_and_agree_with_predictions(name):
    if not hasattr(MODELS[name], "predict_proba"):
        assert hasattr(MODELS[name], "decision_function")
        return
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, few(name, 120))
    if takes(name, "tabular"):
        x = toy("tabular", y) + rng.normal(scale=3, size=(len(y), 5))  # hard, so that the classes mix
    else:
        x = rng.random((len(y), side(name), side(name), 1), dtype=np.float32)
    fitted = quick(name)().fit(x, y, seed=0)
    proba = fitted.predict_proba(x)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
    assert proba.min() >= 0
    np.testing.assert_array_equal(proba.argmax(axis=1), fitted.predict(x))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_the_same_seed_gives_the_same_model_and_no_global_state_moves(name, kind):
    y = np.tile([0, 1, 2], few(name, 20))
    x, x_new = toy(kind, y, side=side(name)), toy(kind, y, seed=1, side=side(name))
    np.random.seed(5)  # noqa: NPY002 - the global state is what is tested: fresh from a seed, one number changes it all
    numpy_state, torch_state, threads = np.random.get_state()[1].copy(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002 - as above
    first = scores(quick(name)().fit(x, y, seed=11), x_new)
    torch.rand(3)
    np.random.default_rng().random()
    moved = torch.get_rng_state()
    second = scores(quick(name)().fit(x, y, seed=11), x_new)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002 - as above
    assert torch.equal(torch.get_rng_state(), moved)
    assert not torch.equal(moved, torch_state)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("name", MODELS)
def test_without_n_classes_the_highest_code_decides(name):
    y = np.tile([0, 3], few(name, 30))
    x = toy("tabular" if takes(name, "tabular") else "image", y, side=side(name))
    assert scores(quick(name)().fit(x, y, seed=0), x).shape == (len(y), 4)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_it_stops_when_asked_to(name, kind):
    y = np.tile([0, 1], few(name, 20))
    x, threads = toy(kind, y, side=side(name)), torch.get_num_threads()
    with pytest.raises(Cancelled):
        quick(name)().fit(x, y, seed=0, should_stop=lambda: True)
    assert torch.get_num_threads() == threads
    assert_learned(name, quick(name)().fit(x, y, seed=0, should_stop=lambda: False).predict(x) == y)


@pytest.mark.parametrize("name", ["gradient_boosting", "mlp_small", "linear"])
def test_long_training_stops_in_the_middle(name):
    y = np.tile([0, 1], 50)
    n_asked = 0

    def at_the_fifth_time() -> bool:
        nonlocal n_asked
        n_asked += 1
        return n_asked == 5

    with pytest.raises(Cancelled):
        MODELS[name]().fit(toy("tabular", y), y, seed=0, should_stop=at_the_fifth_time)
    assert n_asked == 5


@pytest.mark.parametrize("name", MODELS)
def test_fewer_samples_than_anyone_hopes_for(name):
    y = np.array([0, 1])
    x = toy("tabular" if takes(name, "tabular") else "image", y, side=side(name))
    assert set(quick(name)().fit(x, y, seed=0).predict(x)) <= {0, 1}
