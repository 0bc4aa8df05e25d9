"""Networks trained together are what `train` makes of each alone: step by step without dropout, on average with it."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from touchstone.core.data import load_example
from touchstone.core.models import MODELS, Cancelled, ModelError
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.blocks import MaxNormLinear, Network
from touchstone.core.models.networks import sgd, train
from touchstone.core.models.together import fit_together, train_together, why_not_together

pytestmark = pytest.mark.usefixtures("one_thread")

SIZES = (40, 33, 17)  # 8, 7 and 4 batches of 5: whoever has fewer stands still, and its last batch is short
RATES = {"learning_rate": 0.05, "momentum": 0.95, "weight_decay": 0.001}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def narrow_mlp(seed: int) -> Network:
    """The paper's MLP with 24 units a layer instead of 2048."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        stages: dict[str, nn.Module] = {"flatten": nn.Flatten()}
        for name, n_inputs in (("hidden_1", 64), ("hidden_2", 24), ("last_hidden", 24)):
            stages[name] = nn.Sequential(MaxNormLinear(n_inputs, 24, max_norm=0.9), nn.ReLU(), nn.Dropout(0.5))
        return Network(stages, nn.Linear(24, 3), (1, 8, 8))


def from_registry(name: str, side: int = 8) -> Callable[[int], Network]:
    return lambda seed: build(name, (1, side, side), 3, seed=seed)


def exact(network: Network) -> Network:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return network.double()


def samples(side: int = 8, n: int = 60) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    inputs = torch.rand(n, 1, side, side, generator=seeded(1), dtype=torch.float64)
    parts = [torch.randperm(n, generator=seeded(10 + i))[:size] for i, size in enumerate(SIZES)]
    return inputs, torch.randint(3, (n,), generator=seeded(2)), parts


def both_ways(make: Callable[[int], Network], *, side: int = 8, n_epochs: int = 3, gradient_penalty: float = 0.0):
    """The networks trained together and one after another, and the losses of their epochs."""
    inputs, y, parts = samples(side)
    together, alone = ([exact(make(seed)) for seed in range(3)] for _ in range(2))
    options = {"n_epochs": n_epochs, "batch_size": 5, "gradient_penalty": gradient_penalty}
    losses, losses_alone = [], [[] for _ in alone]
    train_together(
        *(together, inputs, y, parts),
        generators=[seeded(seed) for seed in range(3)],
        on_epoch=lambda _done, _all, means: losses.append([*means.values()]),
        **RATES,
        **options,
    )
    for i, network in enumerate(alone):
        train(
            *(network, inputs[parts[i]], y[parts[i]]),
            optimizer=sgd(network, **RATES),
            generator=seeded(i),
            on_epoch=lambda _done, _all, mean, i=i: losses_alone[i].append(mean),
            **options,
        )
    return together, alone, np.array(losses).T, np.array(losses_alone)


def largest_difference(together: list[Network], alone: list[Network]) -> float:
    return max(
        float((one - other).detach().abs().max())
        for left, right in zip(together, alone, strict=True)
        for one, other in zip(left.parameters(), right.parameters(), strict=True)
    )


NETWORKS = {
    "linear": from_registry("linear"),
    "mlp": narrow_mlp,
    "cnn_1": from_registry("cnn_1"),
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", NETWORKS)
def test_both_ways_agree_over_the_first_twenty_steps_and_more(name):
    together, alone, losses, losses_alone = both_ways(NETWORKS[name], n_epochs=5)  # 40, 35 and 20 steps
    assert largest_difference(together, alone) < 1e-4
    np.testing.assert_allclose(losses, losses_alone, atol=1e-4)
    untrained = [exact(NETWORKS[name](seed)) for seed in range(3)]
    assert largest_difference(untrained, alone) > 1e-2, "nothing was learnt, so this test saw nothing"


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "side"), [("cnn_2", 8), ("cnn_3", 8), ("lenet", 12), ("mlp_2048", 8)])
def test_both_ways_agree_for_the_larger_networks(name, side):
    together, alone, losses, losses_alone = both_ways(from_registry(name, side), side=side, n_epochs=5)
    assert largest_difference(together, alone) < 1e-4
    np.testing.assert_allclose(losses, losses_alone, atol=1e-4)


@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_both_ways_agree_with_a_gradient_penalty(name):
    together, alone, _, _ = both_ways(NETWORKS[name], gradient_penalty=0.3)
    assert largest_difference(together, alone) < 1e-4
    without, _, _, _ = both_ways(NETWORKS[name])
    assert largest_difference(together, without) > 1e-3


def test_incoming_weights_stay_within_the_ball_and_reach_it():
    together, _, _, _ = both_ways(narrow_mlp)
    for network in together:
        for layer in (module for module in network.modules() if isinstance(module, MaxNormLinear)):
            norms = layer.weight.detach().norm(dim=1)
            assert float(norms.max()) <= 0.9 + 1e-6
            assert float(norms.max()) > 0.89, "nothing was held back, so this test saw nothing"


def test_a_network_that_has_run_out_of_batches_stands_still():
    inputs, y, _ = samples()
    long, short = torch.arange(60), torch.arange(5)  # twelve batches, and one
    networks, alone = [exact(narrow_mlp(seed)) for seed in range(2)], exact(narrow_mlp(1))
    options = {"batch_size": 5, "n_epochs": 2}
    train_together(networks, inputs, y, [long, short], generators=[seeded(0), seeded(1)], **RATES, **options)
    train(alone, inputs[short], y[short], optimizer=sgd(alone, **RATES), generator=seeded(1), **options)
    # Weight decay and momentum would have moved it in the eleven steps that were not its own.
    assert largest_difference(networks[1:], [alone]) < 1e-12


def test_samples_that_only_fill_a_batch_up_do_not_count():
    inputs, y, _ = samples()
    spoilt = inputs.clone()
    spoilt[0] = 1e6  # row 0 is what padding points at; nobody trains on it
    trained = []
    for given in (inputs, spoilt):
        networks = [exact(narrow_mlp(seed)) for seed in range(2)]
        parts, generators = [torch.arange(1, 11), torch.arange(1, 8)], [seeded(0), seeded(1)]
        train_together(networks, given, y, parts, generators=generators, batch_size=5, n_epochs=2, **RATES)
        trained.append(networks)
    assert largest_difference(*trained) == 0.0


def test_each_network_drops_out_its_own_units_and_the_same_seeds_give_the_same_networks():
    inputs, y, _ = samples()
    twins = [[narrow_mlp(0), narrow_mlp(0)] for _ in range(3)]
    for networks, seeds in zip(twins, [(0, 0), (0, 0), (0, 1)], strict=True):
        generators = [seeded(seed) for seed in seeds]
        parts = [torch.arange(5), torch.arange(5)]
        train_together(networks, inputs, y, parts, generators=generators, batch_size=5, n_epochs=1, **RATES)
    first, same, other = twins
    assert largest_difference(first[:1], first[1:]) > 1e-6
    assert largest_difference(first, same) == 0.0
    assert largest_difference(first, other) > 1e-6


def test_trained_networks_own_their_parameters():
    together, _, _, _ = both_ways(narrow_mlp, n_epochs=1)
    before = together[1].head.weight.detach().clone()
    together[0].head.weight.data.zero_()
    assert torch.equal(together[1].head.weight, before)
    assert all(p.untyped_storage().nbytes() == p.numel() * 8 for p in together[0].parameters())
    assert not any(network.training for network in together)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_says_whether_it_normalises_over_batches(name):
    network = build(name, (1, 20, 20), 3, seed=0)
    has = any(isinstance(module, nn.BatchNorm2d) for module in network.modules())
    assert ARCHITECTURES[name].normalises == has
    if has:
        with pytest.raises(ModelError, match="batch normalisation"):
            train_together(
                [network], *samples(20)[:2], [torch.arange(6)], generators=[seeded(0)],
                batch_size=3, n_epochs=1, **RATES,
            )  # fmt: skip


def test_what_cannot_be_trained_together_is_refused_with_the_reason():
    digits = load_example("digits")
    assert why_not_together(MODELS["mlp_2048"](), digits) is None
    for name, words in (("resnet20", "normalises over batches"), ("mlp_small", "no network of the papers")):
        assert words in why_not_together(MODELS[name](), digits)
    with pytest.raises(ModelError, match="normalises over batches"):
        fit_together(MODELS["resnet20"](), digits, [np.arange(9)], [0])


def test_divergence_is_said():
    inputs, y, parts = samples()
    rates = {"learning_rate": 1e200, "momentum": 0.9, "weight_decay": 0.0}
    with pytest.raises(ModelError, match=r"diverged.*1e\+200"):
        train_together(
            [exact(narrow_mlp(seed)) for seed in range(3)], inputs, y, parts,
            generators=[seeded(i) for i in range(3)], batch_size=5, n_epochs=3, **rates,
        )  # fmt: skip


def test_fitted_models_are_those_of_fit_where_nothing_is_dropped_out():
    wine = load_example("wine")
    parts = [np.arange(0, 178, 2), np.arange(0, 178, 3)]
    model = MODELS["linear"](n_epochs=4, batch_size=32)
    seen = []
    fitted = fit_together(
        model, wine, parts, [3, 4], on_epoch=lambda done, of, models: seen.append((done, of, models[0].predict(wine.x)))
    )
    for one, part, seed in zip(fitted, parts, [3, 4], strict=True):
        alone = MODELS["linear"](n_epochs=4, batch_size=32).fit(wine.x[part], wine.y[part], seed=seed, n_classes=3)
        np.testing.assert_allclose(one.predict_proba(wine.x), alone.predict_proba(wine.x), atol=1e-4)
        assert one.trained(wine).state.keys() == alone.trained(wine).state.keys()
    assert [one[:2] for one in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert np.array_equal(seen[-1][2], fitted[0].predict(wine.x))


def test_looking_after_every_epoch_changes_nothing():
    digits = load_example("digits")
    model, parts = MODELS["cnn_1"](n_epochs=2), [np.arange(60), np.arange(40, 90)]
    looked = fit_together(model, digits, parts, [0, 1], on_epoch=lambda _d, _a, models: models[1].predict(digits.x[:9]))
    alone = fit_together(model, digits, parts, [0, 1])
    for one, other in zip(looked, alone, strict=True):
        assert np.array_equal(one.predict_proba(digits.x[:50]), other.predict_proba(digits.x[:50]))


def test_a_stop_between_epochs_is_heard():
    wine, epochs = load_example("wine"), []
    with pytest.raises(Cancelled):
        fit_together(
            *(MODELS["linear"](), wine, [np.arange(50)], [0]),
            on_epoch=lambda done, _all, _models: epochs.append(done),
            should_stop=lambda: len(epochs) == 2,
        )
    assert epochs == [1, 2]


@pytest.mark.evidence
def test_after_full_training_with_dropout_both_ways_are_as_accurate_on_average():
    """Paired over parts and seeds, which leaves what is dropped out: the interval lies within two points of 0."""
    digits, model = load_example("digits"), MODELS["cnn_1"](n_epochs=10)
    orders = [np.random.default_rng(seed).permutation(digits.n_samples) for seed in range(8)]
    together = fit_together(model, digits, [order[:500] for order in orders], range(8))
    differences = []
    for seed, (order, one) in enumerate(zip(orders, together, strict=True)):
        part, test = order[:500], order[500:]
        alone = MODELS["cnn_1"](n_epochs=10).fit(digits.x[part], digits.y[part], seed=seed, n_classes=10)
        right, right_alone = ((each.predict(digits.x[test]) == digits.y[test]).mean() for each in (one, alone))
        assert right > 0.9, "not trained, so that nothing is compared"
        differences.append(100 * (right - right_alone))
    mean, error = np.mean(differences), stats.sem(differences)
    assert error > 0, "nothing was dropped out"
    lower, upper = stats.t.interval(0.95, len(differences) - 1, mean, error)
    print(f"together less alone: {mean:+.2f} points [{lower:+.2f}, {upper:+.2f}], n = {len(differences)}")
    assert -2 < lower < upper < 2
