"""Is a network trained as long as it needs, whatever the size of its training part, and is what it became told?"""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from touchstone.core.data import Dataset, load_example
from touchstone.core.models import MODELS
from touchstone.core.models.networks import sgd, train
from touchstone.core.models.stopping import (
    CEILING,
    CEILING_REACHED,
    ENDED,
    FLOOR,
    LEARNED,
    LEAST,
    MOST,
    NOT_LEARNED,
    PLATEAU,
    WINDOW,
    Watch,
    loss_of_guessing,
)
from touchstone.core.models.together import fit_together

GUESSING = math.log(10)


def watched(loss_after, *, per_epoch: int = 1, n_epochs: int | None = None) -> Watch:
    """A watch that heard of every epoch until it said that training is over; `loss_after` is of updates."""
    watch = Watch(GUESSING, updates_per_epoch=per_epoch, n_epochs=n_epochs)
    while not watch.heard(loss_after((watch.n_done + 1) * per_epoch)):
        assert watch.n_done < 10**5
    return watch


@pytest.mark.parametrize(
    ("loss", "stopped", "least", "most"),
    [
        (lambda n: GUESSING * 0.98**n, LEARNED, LEAST, LEAST),
        (lambda n: 0.5 + GUESSING * 0.98**n, PLATEAU, LEAST, LEAST + 2 * WINDOW),
        (lambda n: GUESSING, NOT_LEARNED, MOST, MOST),
        (lambda n: GUESSING if n < 2000 else GUESSING * 0.99 ** (n - 2000), LEARNED, 2000, 3000),
        (lambda n: 2.0 * 0.9997**n, CEILING_REACHED, MOST, MOST),
    ],
    ids=["falls to nothing", "comes to a plateau", "never learns", "learns late", "falls slowly to the end"],
)
def test_training_ends_when_there_is_nothing_left_to_learn(loss, stopped, least, most):
    watch = watched(loss)
    assert watch.stopped == stopped
    assert least <= watch.n_done <= most


@given(per_epoch=some.integers(1, 1000))
def test_floor_and_ceiling_are_in_updates_whatever_the_length_of_an_epoch(per_epoch):
    learned = watched(lambda n: 1e-3, per_epoch=per_epoch).training(accuracy=1.0).n_updates
    never = watched(lambda n: GUESSING, per_epoch=per_epoch).training(accuracy=0.1).n_updates
    window = max(WINDOW, per_epoch)
    assert FLOOR * window <= learned < FLOOR * (window + per_epoch)
    assert CEILING * window <= never < CEILING * (window + per_epoch)


@given(n_epochs=some.integers(1, 300), per_epoch=some.integers(1, 50))
def test_whoever_asks_for_epochs_gets_them(n_epochs, per_epoch):
    watch = watched(lambda n: 1e-3, per_epoch=per_epoch, n_epochs=n_epochs)
    assert watch.n_done == n_epochs == watch.expected
    is_long = n_epochs >= FLOOR * -(-WINDOW // per_epoch)
    assert watch.stopped == (LEARNED if is_long else ENDED), "of a short training nobody knows"


def test_epochs_that_end_while_the_loss_falls_are_told_from_the_ceiling():
    assert watched(lambda n: 2.0 * 0.9997**n, n_epochs=900).stopped == ENDED


def test_of_one_class_there_is_nothing_to_learn():
    watch = Watch(loss_of_guessing(np.zeros(5, dtype=np.int64)), updates_per_epoch=1)
    while not watch.heard(0.0):
        pass
    assert watch.stopped == LEARNED


def test_the_expected_number_of_epochs_is_never_behind():
    watch = Watch(GUESSING, updates_per_epoch=7)
    while not watch.heard(GUESSING):
        assert watch.n_done <= watch.expected <= watch.most


def test_the_network_is_left_as_it_was_at_its_lowest_loss():
    """One weight, and a loss that falls while it moves to 1 and rises once it moves on."""
    network = torch.nn.Linear(1, 2, bias=False)
    n_steps = 0

    def loss(called, x, y):
        nonlocal n_steps
        n_steps += 1
        wanted = 1.0 if n_steps <= 2 * WINDOW else 9.0
        weight = network.weight
        return ((weight - wanted) ** 2).sum() + 0.5 + (3.0 if n_steps > 3 * WINDOW else 0.0)

    inputs, y = torch.ones(4, 1), torch.tensor([0, 1, 0, 1])
    rates = {"learning_rate": 0.05, "momentum": 0.0, "weight_decay": 0.0}
    options = {"batch_size": 4, "generator": torch.Generator().manual_seed(0), "loss": loss}
    train(network, inputs, y, optimizer=sgd(network, **rates), n_epochs=None, **options)
    np.testing.assert_allclose(network.weight.detach(), 1.0, atol=0.01)


def test_networks_trained_together_stop_each_for_itself_as_alone():
    """Of the columns some parts can be told apart in, others cannot: their losses end up at other heights."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 20))
    y = (x[:, 0] + 2 * rng.normal(size=300) > 0).astype(np.int64)
    data = Dataset("noisy", "tabular", x, y, ("a", "b"), [str(i) for i in range(300)])
    parts = [np.arange(12), np.arange(300), np.arange(100, 150)]
    fitted = fit_together(MODELS["linear"](), data, parts, [3, 4, 5])
    lengths = set()
    for one, part, seed in zip(fitted, parts, [3, 4, 5], strict=True):
        alone = MODELS["linear"]().fit(x[part], y[part], seed=seed, n_classes=2)
        assert one.training == alone.training
        np.testing.assert_allclose(one.predict_proba(x), alone.predict_proba(x), atol=1e-3)
        lengths.add(one.training.n_updates)
    assert len(lengths) > 1, "they ended together, so that this test saw nothing"


@pytest.mark.evidence
def test_a_deep_network_learns_from_a_hundred_samples_what_twenty_epochs_do_not_teach_it():
    """The fault: CNN-3 of 100 digits was no better than guessing, and a curve read it as a want of samples."""
    digits = load_example("digits")
    order = np.random.default_rng([0, 100]).permutation(len(digits.y))
    test, part = order[:700], order[700:800]

    def fitted(n_epochs):
        model = MODELS["cnn_3"](n_epochs=n_epochs).fit(digits.x[part], digits.y[part], seed=0, n_classes=10)
        return (model.predict(digits.x[test]) == digits.y[test]).mean(), model.training

    before, short = fitted(20)
    accuracy, training = fitted(None)
    print(f"CNN-3, 100 digits: 20 epochs {before:.3f}, until done {accuracy:.3f} ({training})")
    assert before < 0.4
    assert not short.is_done
    assert accuracy > 0.85
    assert training.is_done
