import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from touchstone.core.models import MODELS, Cancelled, ModelError, networks
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.blocks import MaxNormLinear
from touchstone.core.models.networks import multiplies_bfloat16, penalised_loss, predict_logits, sgd, train

pytestmark = pytest.mark.usefixtures("one_thread")


def few_images(name: str, n: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    side = max(8, ARCHITECTURES[name].smallest)
    return torch.rand(n, 1, side, side, generator=seeded()), torch.arange(n) % 3


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def trained(name: str, inputs, y, *, learning_rate: float = 0.01, n_epochs: int = 4, **options):
    network = build(name, tuple(inputs.shape[1:]), 3, seed=0)
    optimizer = sgd(network, learning_rate=learning_rate, momentum=0.95, weight_decay=0.0)
    defaults = {"batch_size": 128, "generator": seeded()}
    train(network, inputs, y, optimizer=optimizer, n_epochs=n_epochs, **defaults | options)
    return network


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_few_steps_lower_the_loss(name):
    inputs, y = few_images(name)
    network = build(name, tuple(inputs.shape[1:]), 3, seed=0).train()
    without_dropout(network)
    before = float(cross_entropy(network(inputs), y).detach())
    optimizer = sgd(network, learning_rate=0.01, momentum=0.95, weight_decay=0.0)
    train(network, inputs, y, optimizer=optimizer, n_epochs=5, batch_size=8, generator=seeded())
    network.train()  # of batches as they were in training, which is what steps can change at once
    assert float(cross_entropy(network(inputs), y).detach()) < 0.95 * before


def without_dropout(network: torch.nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


@pytest.mark.parametrize("name", ["mlp_2048", "cnn_2", "resnet20"])
def test_the_same_generator_gives_the_same_network(name):
    inputs, y = few_images(name, 20)
    first, second = (trained(name, inputs, y, batch_size=8).state_dict() for _ in range(2))
    torch.rand(5)  # torch's own state has no say in what is dropped out
    third, other = (trained(name, inputs, y, batch_size=8, generator=seeded(seed)).state_dict() for seed in (0, 1))
    assert all(torch.equal(first[key], second[key]) and torch.equal(first[key], third[key]) for key in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])


def test_dropout_hangs_on_the_generator():
    inputs, y = few_images("mlp_2048")
    in_one_batch = [trained("mlp_2048", inputs, y, n_epochs=1, generator=seeded(seed)) for seed in (0, 1)]
    assert not torch.allclose(in_one_batch[0].head.weight, in_one_batch[1].head.weight, atol=1e-6)


def test_incoming_weights_stay_within_the_ball_after_every_step():
    inputs, y = few_images("mlp_2048", 16)
    norms = []
    network = build("mlp_2048", (1, 8, 8), 3, seed=0)

    def look(*_) -> None:
        layers = [module for module in network.modules() if isinstance(module, MaxNormLinear)]
        assert len(layers) == 3
        norms.append(max(float(layer.weight.detach().norm(dim=1).max()) for layer in layers))

    optimizer = sgd(network, learning_rate=5.0, momentum=0.0, weight_decay=0.0)  # far too long steps
    options = {"optimizer": optimizer, "batch_size": 16, "generator": seeded(), "n_epochs": 3}
    train(network, inputs, y, on_epoch=look, **options)
    assert len(norms) == 3
    assert max(norms) <= 2 + 1e-5
    assert max(norms) > 1.99, "nothing was held back, so this test saw nothing"


def smooth_network() -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        layers = [torch.nn.Conv2d(1, 2, 3), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(8, 3)]
        return torch.nn.Sequential(*layers).double()


def test_the_penalty_is_the_squared_gradient_of_each_samples_loss():
    network = smooth_network()
    x, y, step = torch.rand(5, 1, 4, 4, generator=seeded(), dtype=torch.float64), torch.tensor([0, 1, 2, 1, 0]), 1e-6
    squares = []
    for sample, label in zip(x, y, strict=True):
        slopes = []
        for pixel in torch.eye(16, dtype=torch.float64).reshape(16, 1, 4, 4):
            ends = torch.stack([sample + step * pixel, sample - step * pixel])
            up, down = cross_entropy(network(ends), label.expand(2), reduction="none")
            slopes.append(float((up - down).detach()) / (2 * step))
        squares.append(np.square(slopes).sum())
    penalty = penalised_loss(network, x, y, 0.7) - penalised_loss(network, x, y, 0.0)
    assert float(penalty.detach()) == pytest.approx(0.7 * np.mean(squares), rel=1e-6)


def test_the_gradient_of_the_penalised_loss_agrees_with_finite_differences():
    network = smooth_network()
    x, y, step = torch.rand(4, 1, 4, 4, generator=seeded(), dtype=torch.float64), torch.tensor([0, 1, 2, 1]), 1e-5
    penalised_loss(network, x, y, 3.0).backward()
    n_seen = 0
    for parameter in network.parameters():
        for place in range(0, parameter.numel(), 3):
            flat = parameter.data.view(-1)
            values = []
            for change in (step, -2 * step):
                flat[place] += change
                values.append(float(penalised_loss(network, x, y, 3.0).detach()))
            flat[place] += step
            expected = (values[0] - values[1]) / (2 * step)
            assert float(parameter.grad.view(-1)[place]) == pytest.approx(expected, rel=1e-5, abs=1e-8)
            n_seen += 1
    assert n_seen > 15


def test_the_penalty_makes_the_network_flat():
    inputs, y = few_images("linear", 24)
    plain, flat = (trained("linear", inputs, y, n_epochs=60, gradient_penalty=value) for value in (0.0, 30.0))

    def share(network: torch.nn.Module) -> float:
        return float((penalised_loss(network, inputs, y, 30.0) - penalised_loss(network, inputs, y, 0.0)).detach()) / 30

    assert share(flat) < 0.5 * share(plain)


@pytest.mark.parametrize("name", ["vgg19", "resnet18", "mlp_2048", "lenet"])
def test_the_penalty_can_be_had_of_every_kind_of_network(name):
    inputs, y = few_images(name, 4)
    losses = []
    trained(name, inputs, y, n_epochs=1, gradient_penalty=0.1, on_epoch=lambda *epoch: losses.append(epoch[2]))
    assert np.isfinite(losses).all()


def test_progress_is_told_after_every_epoch_and_a_wish_to_stop_is_heard_before():
    inputs, y = few_images("linear")
    told = []
    options = {"on_epoch": lambda *epoch: told.append(epoch), "should_stop": lambda: len(told) == 2}
    with pytest.raises(Cancelled):
        trained("linear", inputs, y, n_epochs=5, **options)
    assert [epoch[:2] for epoch in told] == [(1, 5), (2, 5)]
    assert told[1][2] < told[0][2]


def test_the_loss_told_is_the_mean_over_all_samples():
    inputs, y = few_images("linear", 7)
    told = []
    options = {"batch_size": 3, "n_epochs": 1, "on_epoch": lambda *epoch: told.append(epoch[2])}
    network = trained("linear", inputs, y, learning_rate=0.0, **options)
    assert told[0] == pytest.approx(float(cross_entropy(network(inputs), y).detach()), rel=1e-5)


def test_divergence_is_told_with_a_remedy():
    inputs, y = few_images("cnn_1")
    with pytest.raises(ModelError, match=r"diverged: in epoch \d+ .* smaller learning rate \(now 1e\+06\)"):
        trained("cnn_1", inputs, y, learning_rate=1e6, n_epochs=20)


def test_no_batch_of_one_where_batches_are_normalised():
    inputs, y = few_images("resnet20", 9)
    trained("resnet20", inputs, y, batch_size=4, n_epochs=1)  # 9 = 4 + 5
    for n, batch_size in [(1, 4), (9, 1)]:
        with pytest.raises(ModelError, match="two training samples or more"):
            trained("resnet20", inputs[:n], y[:n], batch_size=batch_size, n_epochs=1)


def test_weight_decay_shrinks_what_is_not_needed():
    inputs, y = torch.zeros(6, 4), torch.arange(6) % 3
    network = build("linear", (4,), 3, seed=0)
    before = network.head.weight.detach().norm()
    optimizer = sgd(network, learning_rate=0.1, momentum=0.0, weight_decay=0.5)
    train(network, inputs, y, optimizer=optimizer, n_epochs=10, batch_size=6, generator=seeded())
    torch.testing.assert_close(network.head.weight.detach().norm(), before * 0.95**10)


def test_logits_batch_by_batch_are_logits():
    network = build("cnn_1", (1, 8, 8), 3, seed=0).eval()
    inputs = few_images("cnn_1", 10)[0]
    torch.testing.assert_close(predict_logits(network, inputs, batch_size=3), network(inputs).detach())


def test_hyperparameters_are_used():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 4)), np.tile([0, 1, 2], 20)
    usual = MODELS["linear"](n_epochs=3, batch_size=16).fit(x, y, seed=0).predict_proba(x)
    changes = {"n_epochs": 4, "batch_size": 20, "learning_rate": 0.02, "momentum": 0.5}
    changes |= {"weight_decay": 0.1, "gradient_penalty": 0.5}
    for name, value in changes.items():
        options = {"n_epochs": 3, "batch_size": 16, name: value}
        changed = MODELS["linear"](**options).fit(x, y, seed=0).predict_proba(x)
        assert not np.allclose(changed, usual, atol=1e-6), name


@pytest.mark.parametrize("name", ["lenet", "resnet20"])
def test_rounded_products_change_the_weights_by_little_and_their_type_not_at_all(name, monkeypatch):
    monkeypatch.setattr("touchstone.core.models.networks.multiplies_bfloat16", lambda _device: True)
    inputs, y = few_images(name, 20)
    usual, rounded = (trained(name, inputs, y, n_epochs=1, bfloat16=asked) for asked in (False, True))
    first, last = build(name, tuple(inputs.shape[1:]), 3, seed=0).state_dict(), usual.state_dict()
    moved = sum(float((last[key].double() - first[key].double()).square().sum()) for key in first) ** 0.5
    for key, value in rounded.state_dict().items():
        assert value.dtype == last[key].dtype
        assert value.is_contiguous()
    apart = sum(
        float((value.double() - last[key].double()).square().sum()) for key, value in rounded.state_dict().items()
    )
    assert 0 < apart**0.5 < 0.2 * moved


def test_a_gradient_penalty_is_never_rounded(monkeypatch):
    monkeypatch.setattr("touchstone.core.models.networks.multiplies_bfloat16", lambda _device: True)
    inputs, y = few_images("cnn_1")
    usual, asked = (trained("cnn_1", inputs, y, gradient_penalty=0.1, bfloat16=asked) for asked in (False, True))
    assert all(torch.equal(value, asked.state_dict()[key]) for key, value in usual.state_dict().items())


@pytest.mark.parametrize("told", [{}, {"avx512_bf16": False}, {"avx512_bf16": True}, {"amx_bf16": True}])
def test_products_are_rounded_where_the_processor_has_instructions_for_it(told, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: told, raising=False)
    multiplies_bfloat16.cache_clear()
    assert multiplies_bfloat16("cpu") == any(told.values())
    multiplies_bfloat16.cache_clear()


@pytest.mark.parametrize(("free", "where"), [(8_000, "meta"), (7_999, "cpu")])
def test_samples_lie_where_they_are_trained_on_while_half_of_the_memory_is_left(monkeypatch, free, where):
    """On a device without numbers, since none with them may be here."""
    monkeypatch.setattr(networks, "free_memory", lambda device: free)
    assert networks.at_hand(torch.zeros(1000), "meta").device.type == where
    assert networks.at_hand(torch.zeros(1000), "cpu").device.type == "cpu"
