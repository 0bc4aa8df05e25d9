"""Weights that others named: taken where the network is the same, by its logits; refused where it may be another."""

import pytest
import torch
from safetensors.torch import save
from torch import nn
from torch.nn import functional

from touchstone.core.data import Dataset
from touchstone.core.models import ModelError
from touchstone.core.models.load import load_model

pytestmark = pytest.mark.usefixtures("one_thread")


class Block(nn.Module):
    """A residual block as in the layout with `shortcut`, written here anew."""

    def __init__(self, n_in, n_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.shortcut = nn.Sequential()
        if stride != 1 or n_in != n_out:
            self.shortcut = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))

    def forward(self, x):
        inner = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(inner + self.shortcut(x))


class SmallImageResNet(nn.Module):
    """ResNet-18 with a stem of 3 x 3 and a pooling of 4 x 4."""

    def __init__(self, n_channels, n_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(n_channels, 64, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        n_in = 64
        for stage, n_out in enumerate((64, 128, 256, 512)):
            blocks = [Block(n_in, n_out, 1 if stage == 0 else 2), Block(n_out, n_out, 1)]
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
            n_in = n_out
        self.linear = nn.Linear(512, n_classes)

    def forward(self, x):
        out = functional.relu(self.bn1(self.conv1(x)))
        out = self.layer4(self.layer3(self.layer2(self.layer1(out))))
        return self.linear(functional.avg_pool2d(out, 4).flatten(1))


class SmallImageVGG(nn.Module):
    """VGG-19 with batch normalisation behind convolutions with a bias, and three dense layers."""

    def __init__(self, n_channels, n_classes):
        super().__init__()
        parts, n_in = [], n_channels
        for n_out, n in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
            for _ in range(n):
                parts += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU()]
                n_in = n_out
            parts.append(nn.MaxPool2d(2, 2))
        self.features = nn.Sequential(*parts)
        dense = [nn.Dropout(), nn.Linear(512, 512), nn.ReLU(), nn.Dropout(), nn.Linear(512, 512), nn.ReLU()]
        self.classifier = nn.Sequential(*dense, nn.Linear(512, n_classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def images(side, n_channels=3):
    x = torch.rand((12, side, side, n_channels), generator=torch.Generator().manual_seed(0)).double().numpy()
    names = list("abcd")
    return Dataset("small images", "image", x, [i % 4 for i in range(12)], names, [str(i) for i in range(12)])


def of_random_weights(kind):
    """Biases and running statistics away from 0 and 1, so that one in another's place shows."""
    torch.manual_seed(0)
    model = kind(3, 4).eval()
    with torch.no_grad():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            if value.ndim > 1:
                nn.init.kaiming_normal_(value)
            elif value.ndim == 1:
                value.copy_(torch.rand(value.shape) + (0.5 if "var" in name or "weight" in name else -0.5))
    return model


@pytest.mark.parametrize(
    ("kind", "side", "architecture", "prefix"),
    [
        (SmallImageResNet, 32, "resnet18", ""),
        (SmallImageResNet, 28, "resnet18", "module."),
        (SmallImageVGG, 32, "vgg19", ""),
    ],
)
def test_the_same_network_under_other_names_gives_the_same_logits(kind, side, architecture, prefix):
    theirs, dataset = of_random_weights(kind), images(side)
    content = save({prefix + key: value.contiguous() for key, value in theirs.state_dict().items()})
    loaded = load_model("theirs.safetensors", content, dataset)
    assert loaded.architecture == architecture
    x = loaded.inputs(dataset.x)
    with torch.no_grad():
        expected = theirs(x)
    assert expected.std(dim=0).min() > 1e-4
    torch.testing.assert_close(loaded.logits(x), expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))


def test_another_size_of_image_at_which_it_would_pool_otherwise_is_refused():
    content = save(of_random_weights(SmallImageResNet).state_dict())
    with pytest.raises(ModelError, match=r"torch\.export\.save"):
        load_model("theirs.safetensors", content, images(40))


def test_a_resnet_of_torchvision_is_refused_with_the_export_that_works():
    """Its keys beside a stem of any size: whether it pools behind the stem its weights do not say."""
    state = of_random_weights(SmallImageResNet).state_dict()
    names = {"shortcut": "downsample", "linear": "fc"}
    of_torchvision = {}
    for key, value in state.items():
        for ours, torchvisions in names.items():
            key = key.replace(ours, torchvisions)
        of_torchvision[key] = value
    for stem in (state["conv1.weight"], torch.zeros(64, 3, 7, 7)):
        content = save(of_torchvision | {"conv1.weight": stem})
        with pytest.raises(ModelError, match=r"named as torchvision names them.*torch\.export\.save"):
            load_model("theirs.safetensors", content, images(32))


def test_a_named_network_that_it_is_not_is_refused():
    content = save(of_random_weights(SmallImageResNet).state_dict())
    with pytest.raises(ModelError, match="of a resnet18, not of a vgg19"):
        load_model("theirs.safetensors", content, images(32), architecture="vgg19")
