"""A ResNet-18 of somebody's own, on pictures of the size of CIFAR's: from two files to its class figure."""

import io
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect
from safetensors.torch import save_file
from torch.nn import functional

from tests.browser.server import Server
from tests.browser.waiting import click, settled, unfold
from tests.models.test_renamed_weights import SmallImageResNet

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
N_CLASSES, N_TRAIN, N_TEST = 10, 300, 20
NAMES = ("ash", "birch", "cedar", "elm", "fir", "larch", "maple", "oak", "pine", "yew")
FEW_DRAWS = "sigmas=0.1&audited=0&half_draws=48"
"""A network of 11 million weights takes its time: one sigma, no audit, and few draws for the sigma of half."""


def pictures() -> tuple[np.ndarray, np.ndarray]:
    """Noisy pictures of 32 x 32 in colour, as the values of bytes: each class has stripes and a colour of its own."""
    rng = np.random.default_rng(0)
    y = np.arange(N_TRAIN + N_TEST) % N_CLASSES
    rows, columns = np.mgrid[:32, :32] / 32
    slope = np.pi * y[:, None, None] / N_CLASSES
    stripes = np.sin(12 * (rows * np.cos(slope) + columns * np.sin(slope)))
    colour = np.stack([np.cos(2 * np.pi * (y / N_CLASSES + third / 3)) for third in range(3)], axis=1)
    x = 0.5 + 0.2 * stripes[..., None] * colour[:, None, None] + rng.normal(0, 0.08, (len(y), 32, 32, 3))
    return (255 * x.clip(0, 1)).astype(np.uint8), y


def weights_of_somebody(file: Path, x: np.ndarray, y: np.ndarray) -> float:
    """Train the network a little, write its weights under their own names; returns the accuracy on the test part."""
    torch.manual_seed(0)
    network = SmallImageResNet(3, N_CLASSES)
    for part in network.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 0.5  # few steps have to do
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    inputs, labels = torch.tensor(x / 255).float().permute(0, 3, 1, 2), torch.tensor(y)
    for batch in [*torch.randperm(N_TRAIN).split(50), *torch.randperm(N_TRAIN).split(50)]:
        optimizer.zero_grad()
        functional.cross_entropy(network(inputs[batch]), labels[batch]).backward()
        optimizer.step()
    save_file(network.state_dict(), file)
    network.eval()
    with torch.no_grad():
        said = network(inputs[N_TRAIN:]).argmax(1)
    return float((said == labels[N_TRAIN:]).float().mean())


def test_weights_of_resnet_18_lead_to_the_robustness_of_each_class(own_server: Server, page: Page, tmp_path: Path):
    x, y = pictures()
    content = io.BytesIO()
    parts = np.where(np.arange(len(y)) < N_TRAIN, "train", "test")
    np.savez(content, x=x, y=np.array(NAMES)[y], part=parts)
    (tmp_path / "stripes.npz").write_bytes(content.getvalue())
    weights = tmp_path / "resnet18.safetensors"
    accuracy = weights_of_somebody(weights, x, y)
    assert accuracy > 0.5, "it has to have learned something for its robustness to mean anything"

    page.goto(f"{own_server.url}/data_sets")
    settled(page).locator("input[type=file]").first.set_input_files(tmp_path / "stripes.npz")
    click(page.get_by_role("button", name="Use this data set"))
    expect(page.locator(".st-key-verdict")).to_contain_text(str(N_TRAIN + N_TEST))
    data = page.url.partition("data=")[2].partition("&")[0]

    page.goto(f"{own_server.url}/average_case?data={data}&{FEW_DRAWS}")
    unfold(page, "Upload a model")
    settled(page).get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(weights)
    click(page.get_by_role("button", name="Upload this model"))
    said = page.locator("summary").filter(has_text=f"accuracy {100 * accuracy:.1f} %")
    expect(said).to_contain_text(f"n = {N_TEST} samples of the file's test set")
    began = time.monotonic()
    click(page.get_by_role("button", name="Run", exact=True))
    expect(page.locator(".st-key-verdict")).to_contain_text(f"n = {N_TEST}")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    print(f"{N_TEST} samples of {N_CLASSES} classes at one sigma: {time.monotonic() - began:.0f} s")
    figure = settled(page).locator(".js-plotly-plot .main-svg").first
    expect(figure).to_be_visible()
    for name in NAMES:
        expect(figure.get_by_text(name, exact=True).first).to_be_attached()
