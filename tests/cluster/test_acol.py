from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from touchstone.core.cluster import finders
from touchstone.core.cluster.finders import (
    LADDER,
    LEAST_SHARE,
    AcolOptions,
    acol_loss,
    acol_penalty,
    acol_sources,
    find_sources,
    merged,
    n_sources_of,
    pooled_log_probabilities,
    train_acol,
)
from touchstone.core.data import DataError, load_example
from touchstone.core.models.classical import Cancelled
from touchstone.core.models.errors import ModelError

N_CLASSES, N_SOURCES = 2, 3
ACTIVITIES = hnp.arrays(np.float64, (7, N_CLASSES * N_SOURCES), elements=st.floats(-3, 3, width=32))
OPTIONS = [
    AcolOptions(c1=0.7, c2=1.3, c3=0.01, c4=0.02),
    AcolOptions(c1=0.7, c2=1.3, c3=0.01, c4=0.02, per_class=True),
]


def penalty_by_the_formulas(z: np.ndarray, options: AcolOptions) -> float:
    """A literal transcription of one penalty, units all together."""
    n = z.shape[1]
    b = np.maximum(z, 0)
    u = b.T @ b
    v = np.diag(u)[None, :]
    vv = v.T @ v
    affinity = (u.sum() - np.trace(u)) / ((n - 1) * np.trace(u) + 1e-7)
    balance = (vv.sum() - np.trace(vv)) / ((n - 1) * np.trace(vv) + 1e-7)
    return (
        options.c1 * affinity
        + options.c2 * (1 - balance)
        + options.c3 * (u.sum() - np.trace(u))
        + options.c4 * np.square(z).sum()
    )


def loss_by_the_formulas(z: np.ndarray, y: np.ndarray, options: AcolOptions) -> float:
    """Cross-entropy of the pooled softmax, and the penalty: of all units, or of each class's and averaged."""
    n_units = z.shape[1]
    softmax = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    pooled = np.stack([sum(softmax[:, k * N_CLASSES + c] for k in range(N_SOURCES)) for c in range(N_CLASSES)], axis=1)
    fit = -np.log(pooled[np.arange(len(y)), y]).mean()
    if not options.per_class:
        return fit + penalty_by_the_formulas(z, options)
    own = [[unit for unit in range(n_units) if unit % N_CLASSES == c] for c in range(N_CLASSES)]
    return fit + np.mean([penalty_by_the_formulas(z[:, units], options) for units in own])


@pytest.mark.parametrize("options", OPTIONS, ids=["all units", "per class"])
@settings(max_examples=40)
@given(z=ACTIVITIES, seed=st.integers(0, 99))
def test_the_loss_is_what_the_formulas_say(options, z, seed):
    y = np.random.default_rng(seed).integers(N_CLASSES, size=len(z))
    found = acol_loss(torch.tensor(z), torch.tensor(y), n_classes=N_CLASSES, options=options)
    assert float(found) == pytest.approx(loss_by_the_formulas(z, y, options), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("options", OPTIONS, ids=["all units", "per class"])
def test_gradients_are_those_of_the_formulas(options):
    rng = np.random.default_rng(3)
    z, y, step = rng.normal(size=(5, N_CLASSES * N_SOURCES)), rng.integers(N_CLASSES, size=5), 1e-6
    given_z = torch.tensor(z, requires_grad=True)
    acol_loss(given_z, torch.tensor(y), n_classes=N_CLASSES, options=options).backward()
    expected = np.zeros_like(z)
    for place in np.ndindex(z.shape):
        more, less = z.copy(), z.copy()
        more[place] += step
        less[place] -= step
        expected[place] = (loss_by_the_formulas(more, y, options) - loss_by_the_formulas(less, y, options)) / (2 * step)
    assert given_z.grad is not None
    np.testing.assert_allclose(given_z.grad.numpy(), expected, atol=1e-7)


@given(ACTIVITIES)
def test_pooled_probabilities_sum_to_one(z):
    pooled = pooled_log_probabilities(torch.tensor(z), N_CLASSES).exp()
    assert pooled.shape == (len(z), N_CLASSES)
    np.testing.assert_allclose(pooled.sum(dim=1), 1.0, rtol=1e-12)


def test_units_that_share_nothing_and_fire_alike_cost_nothing_and_one_unit_alone_costs_balance():
    options = AcolOptions(c4=0.0)
    assert float(acol_penalty(torch.eye(6), n_classes=2, options=options)) == pytest.approx(0.0, abs=1e-6)
    alone = torch.zeros(6, 6)
    alone[:, 0] = 1.0
    assert float(acol_penalty(alone, n_classes=2, options=options)) == pytest.approx(1.0, abs=1e-6)


def test_silent_units_give_a_finite_loss():
    z = torch.full((4, 6), -1.0, requires_grad=True)
    loss = acol_loss(z, torch.tensor([0, 1, 0, 1]), n_classes=2, options=AcolOptions())
    loss.backward()
    assert torch.isfinite(loss)
    assert z.grad is not None
    assert torch.isfinite(z.grad).all()


@pytest.mark.parametrize(("n_small", "n_left"), [(4, 2), (5, 3)])
def test_samples_of_a_unit_below_a_twentieth_of_its_class_go_to_the_next_one(n_small, n_left):
    fired = np.zeros((100, 4))
    fired[:, 1] = 1.0
    fired[60:, 2] = 2.0
    fired[:n_small, 3] = 3.0
    units = merged(fired, np.zeros(100, dtype=np.int64))
    assert len(np.unique(units)) == n_left
    assert (units[:n_small] == (1 if n_small == 4 else 3)).all()
    assert (np.bincount(units)[np.unique(units)] >= LEAST_SHARE * 100).all()
    assert LEAST_SHARE == 0.05


@given(hnp.arrays(np.float64, (40, 5), elements=st.floats(-3, 3, width=32)), st.integers(0, 99))
def test_whatever_fires_every_source_is_large_enough_or_the_only_one(fired, seed):
    y = np.random.default_rng(seed).integers(3, size=40)
    units = merged(fired, y)
    for label in np.unique(y):
        sizes = np.unique(units[y == label], return_counts=True)[1]
        assert len(sizes) == 1 or sizes.min() >= LEAST_SHARE * sizes.sum()
        alone = merged(fired[y == label], y[y == label])
        np.testing.assert_array_equal(units[y == label], alone)  # other classes have no say


def test_a_network_that_collapses_is_told_and_kmeans_stands_in():
    digits = load_example("digits")
    rows = np.flatnonzero(np.isin(digits.y, (0, 1)))[:120]
    hopeless = AcolOptions(n_updates=1, learning_rate=0.0, glorot=False)  # one unit always fires most
    found = acol_sources(digits.x[rows], digits.y[rows], n_sources=3, ladder=(hopeless, hopeless))
    assert (found.options, found.n_tries) == ("", 2)
    assert found.note.endswith("diverged, in 2 of 2 tries: these sources are those of k-means on the pixels.")
    pixels = digits.x[rows].reshape(len(rows), -1).astype(np.float64)
    kmeans = find_sources(pixels, digits.y[rows], n_sources=3, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(found.sources, kmeans)


def test_a_training_that_diverges_is_one_more_try_that_failed():
    digits = load_example("digits")
    rows = np.flatnonzero(np.isin(digits.y, (0, 1)))[:120]
    diverges = AcolOptions(n_updates=3, learning_rate=1e30)
    found = acol_sources(digits.x[rows], digits.y[rows], n_sources=3, ladder=(diverges,))
    assert "diverged, in 1 of 1 tries" in found.note
    with pytest.raises(DataError, match="class one"):
        acol_sources(
            *(digits.x[rows[:9]], digits.y[rows[:9]]),
            n_sources=8,
            ladder=(diverges,),
            class_names=("class zero", "class one"),
        )


def test_the_head_starts_as_the_authors_do(monkeypatch):
    digits = load_example("digits")
    heads = {}

    def stopped(network, *_, **__):
        heads[len(heads)] = (network.head.weight.detach().clone(), network.head.bias.detach().clone())

    monkeypatch.setattr(finders, "train", stopped)
    for glorot in (True, True, False):
        options = AcolOptions(glorot=glorot)
        train_acol(digits.x[:50], digits.y[:50], n_sources=5, seed=3, options=options)
    weight, bias = heads[0]
    bound = (6 / (2048 + 50)) ** 0.5  # Glorot & Bengio 2010: sqrt(6 / (inputs + outputs))
    assert float(weight.abs().max()) <= bound
    assert float(weight.std()) == pytest.approx(bound / 3**0.5, rel=0.02)
    assert not bias.any()
    assert torch.equal(weight, heads[1][0]), "the same seed has another start"
    assert float(heads[2][0].abs().max()) <= 2048**-0.5 < 0.9 * bound
    assert heads[2][1].any()


@pytest.mark.evidence
def test_digits_have_sources_to_hold_out_in_every_class():
    digits = load_example("digits")
    found = acol_sources(digits.x, digits.y, seed=0, ladder=(replace(LADDER[0], n_updates=150),))
    n_found = n_sources_of(found.sources, digits.y)
    assert n_found.min() >= 2
    assert n_found.sum() >= 30
    assert found.note == f"ACOL found {n_found.sum()} of 50 sources, {n_found.min()} to {n_found.max()} in a class."
    np.testing.assert_array_equal(found.sources // 5, digits.y)


def test_the_same_seed_gives_the_same_sources_class_by_class():
    digits = load_example("digits")
    rows = np.flatnonzero(np.isin(digits.y, (3, 8)))[:160]
    options = (AcolOptions(n_updates=4, batch_size=80),)
    first, second = (acol_sources(digits.x[rows], digits.y[rows], n_sources=2, ladder=options, seed=5) for _ in "ab")
    np.testing.assert_array_equal(first.sources, second.sources)
    np.testing.assert_array_equal(first.sources // 2, (digits.y[rows] == 8).astype(int))


def test_training_is_counted_in_updates_and_told_in_epochs_of_all_tries():
    digits = load_example("digits")
    rows = np.flatnonzero(np.isin(digits.y, (0, 1)))[:60]
    hopeless = AcolOptions(n_updates=5, batch_size=30, learning_rate=0.0, glorot=False)
    assert hopeless.n_epochs(60) == 3
    steps = []
    acol_sources(
        digits.x[rows],
        digits.y[rows],
        n_sources=6,
        ladder=(hopeless, replace(hopeless, batch_size=60)),
        on_step=lambda *step: steps.append(step),
    )
    assert steps == [(n, 8) for n in range(1, 9)]


def test_a_later_try_that_holds_is_told(monkeypatch):
    """What a network that holds fires for is made up: no options were found that hold for certain on few samples."""
    digits = load_example("digits")
    rows = np.flatnonzero(np.isin(digits.y, (0, 1)))[:60]
    collapsed, held = np.zeros((60, 2)), np.eye(2)[np.arange(60) % 2]
    tries = iter([ModelError("diverged"), collapsed, held])

    def trained(*_, **__):
        fired = next(tries)
        if isinstance(fired, ModelError):
            raise fired
        return fired

    monkeypatch.setattr(finders, "train_acol", trained)
    ladder = (AcolOptions(), AcolOptions(), AcolOptions(c1=0.1, n_updates=40))
    found = acol_sources(digits.x[rows], digits.y[rows], n_sources=2, ladder=ladder)
    np.testing.assert_array_equal(found.sources, 2 * digits.y[rows] + np.arange(60) % 2)
    assert (found.n_tries, found.options) == (3, "n_updates 40, c1 0.1")
    assert found.note == "ACOL failed at first; setting 3 of 3 worked."


def test_inputs_that_are_no_images_are_refused_and_cancel_is_heard():
    with pytest.raises(DataError, match="ACOL finds sources in images of at least 4 x 4 pixels"):
        acol_sources(np.zeros((4, 3)), np.array([0, 0, 1, 1]))
    digits = load_example("digits")
    with pytest.raises(Cancelled):
        acol_sources(digits.x[:50], digits.y[:50], should_stop=lambda: True)
