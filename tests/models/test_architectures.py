from itertools import pairwise

import pytest
import torch

from touchstone.core.models import ModelError
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.blocks import MaxNormLinear

pytestmark = pytest.mark.usefixtures("one_thread")

SHAPES = [(1, 8, 8), (3, 8, 8), (1, 28, 28), (1, 32, 32), (3, 32, 32), (3, 20, 33), (30,)]
FITTING = [(name, shape) for name, one in ARCHITECTURES.items() for shape in SHAPES if one.fits(shape)]


def on_paper(name: str, shape: tuple[int, ...], n_classes: int) -> torch.nn.Module:
    """The network without numbers in it: shapes are all that is asked for, and large networks take a second to fill."""
    with torch.device("meta"):
        return ARCHITECTURES[name](shape, n_classes).eval()


@pytest.mark.parametrize(("name", "shape"), FITTING)
def test_inputs_become_one_logit_per_class(name, shape):
    assert on_paper(name, shape, 7)(torch.zeros(2, *shape, device="meta")).shape == (2, 7)


def test_which_depth_fits_which_input():
    assert {name for name, shape in FITTING if shape == (1, 8, 8)} == set(ARCHITECTURES) - {"lenet", "vgg19"}
    assert {name for name, shape in FITTING if shape == (1, 28, 28)} == set(ARCHITECTURES)
    assert {name for name, shape in FITTING if shape == (3, 32, 32)} == set(ARCHITECTURES)
    assert {name for name, shape in FITTING if shape == (30,)} == {"linear", "mlp_2048"}


@pytest.mark.parametrize("name", [name for name, one in ARCHITECTURES.items() if one.smallest])
def test_the_smallest_image_is_just_large_enough(name):
    n = ARCHITECTURES[name].smallest
    assert on_paper(name, (1, n, n + 5), 2)(torch.zeros(1, 1, n, n + 5, device="meta")).shape == (1, 2)
    with pytest.raises(
        ModelError, match=f"{name} needs images of at least {n} x {n} pixels, these are {n + 5} x {n - 1}"
    ):
        build(name, (1, n + 5, n - 1), 2, seed=0)


def test_what_does_not_fit_is_answered_with_what_does():
    with pytest.raises(
        ModelError, match=r"vgg19 needs .* 8 x 8. Those that fit: linear, mlp_2048, cnn_1, cnn_2, cnn_3, resn"
    ):
        build("vgg19", (1, 8, 8), 2, seed=0)
    with pytest.raises(
        ModelError, match=r"cnn_1 needs images.*vectors of 30 numbers. Those that fit: linear, mlp_2048.$"
    ):
        build("cnn_1", (30,), 2, seed=0)
    with pytest.raises(ModelError, match=r"no architecture 'alexnet'. It must be one of linear, "):
        build("alexnet", (1, 8, 8), 2, seed=0)
    for shape in [(), (8, 8), (1, 0, 8), (2**40,)]:
        with pytest.raises(ModelError, match="Inputs of shape"):
            build("linear", shape, 2, seed=0)
    with pytest.raises(ModelError, match="needs a class"):
        build("linear", (3,), 0, seed=0)


# Known from the papers or counted by hand: LeNet-5 on 32 x 32, ResNets for CIFAR-10 (11.17 and 0.27 million).
SIZES = {"linear": 10250, "lenet": 61706, "resnet18": 11172810, "resnet20": 269434}


@pytest.mark.parametrize("name", SIZES)
def test_networks_are_as_large_as_they_are_known_to_be(name):
    assert sum(parameter.numel() for parameter in on_paper(name, (1, 32, 32), 10).parameters()) == SIZES[name]


# No paper prints these: the arithmetic of the layers of Kilinc & Uysal 2018, section 5.1, on MNIST's 28 x 28 pixels,
# (height * width of the kernel * channels in + 1) * channels out, and of VGG-19 on 32 x 32 pixels in colour, whose
# convolutions have no bias where two numbers a channel of batch normalisation follow.
BLOCK_1 = (9 * 1 + 1) * 32 + (9 * 32 + 1) * 32
BLOCK_2 = (9 * 32 + 1) * 64 + (9 * 64 + 1) * 64
BLOCK_3 = (9 * 64 + 1) * 128 + (9 * 128 + 1) * 128
HEAD = (2048 + 1) * 10
VGG = (3, *[64] * 2, *[128] * 2, *[256] * 4, *[512] * 8)
COUNTED = {
    ("mlp_2048", (1, 28, 28)): (784 + 1) * 2048 + 2 * (2048 + 1) * 2048 + HEAD,
    ("cnn_1", (1, 28, 28)): BLOCK_1 + (14 * 14 * 32 + 1) * 2048 + HEAD,
    ("cnn_2", (1, 28, 28)): BLOCK_1 + BLOCK_2 + (7 * 7 * 64 + 1) * 2048 + HEAD,
    ("cnn_3", (1, 28, 28)): BLOCK_1 + BLOCK_2 + BLOCK_3 + (3 * 3 * 128 + 1) * 2048 + HEAD,
    ("vgg19", (3, 32, 32)): (
        sum(9 * n_in * n_out + 2 * n_out for n_in, n_out in pairwise(VGG)) + 2 * (512 + 1) * 512 + (512 + 1) * 10
    ),
}


@pytest.mark.parametrize(("name", "shape"), COUNTED)
def test_networks_are_as_large_as_their_layers_make_them(name, shape):
    assert sum(parameter.numel() for parameter in on_paper(name, shape, 10).parameters()) == COUNTED[name, shape]


def test_networks_are_as_deep_as_their_names():
    for name, n_layers in {"lenet": 5, "resnet18": 18, "resnet20": 20, "vgg19": 19, "mlp_2048": 4, "cnn_3": 8}.items():
        network = on_paper(name, (3, 32, 32), 10)
        weighted = [
            key
            for key, module in network.named_modules()
            if isinstance(module, torch.nn.Conv2d | torch.nn.Linear) and "shortcut" not in key
        ]
        assert len(weighted) == n_layers


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_layers_can_be_looked_into(name):
    network = build(name, (1, 17, 17), 3, seed=0).eval()
    seen = {}
    for layer, module in network.layers.items():
        module.register_forward_hook(lambda _module, _x, made, layer=layer: seen.update({layer: made}))
    x = torch.rand(2, 1, 17, 17)
    features = network.features(x)
    assert torch.equal(network.head(features), network(x))
    assert list(seen) == list(network.layers)
    if name == "linear":
        assert not seen
        return
    assert list(seen)[-1] == "last hidden"
    assert torch.equal(seen["last hidden"], features)
    if name != "mlp_2048":
        assert seen["last convolution"].ndim == 4


def test_the_seed_decides_and_nothing_else_moves():
    before = torch.get_rng_state()
    first, second, other = (build("cnn_1", (1, 8, 8), 3, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])
    assert torch.equal(torch.get_rng_state(), before)


def test_columns_are_standardised_inside_the_network_in_double_precision():
    centre, spread = torch.tensor([1e9, 0.0]), torch.tensor([1.0, 10.0])
    network, plain = (build("linear", (2,), 3, seed=0) for _ in range(2))
    network.centre.copy_(centre)
    network.spread.copy_(spread)
    x = torch.tensor([[1e9 + 2.0, 5.0]], dtype=torch.float64)
    torch.testing.assert_close(network(x), plain(torch.tensor([[2.0, 0.5]])))


def test_a_wrong_shape_is_told():
    with pytest.raises(ModelError, match="takes inputs of shape 1 x 8 x 8, these are of 1 x 9 x 9"):
        build("cnn_1", (1, 8, 8), 3, seed=0)(torch.zeros(2, 1, 9, 9))


def test_weights_within_the_ball_stay_as_they_are():
    layer = MaxNormLinear(3, 2, max_norm=2.0)
    layer.weight.data = torch.tensor([[1.0, 0.0, 0.0], [0.0, 3.0, 4.0]])
    layer.constrain()
    torch.testing.assert_close(layer.weight.data, torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.2, 1.6]]))
