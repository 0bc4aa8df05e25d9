"""A ResNet-18 of one's own on images of CIFAR's shape: uploaded by its weights, until its classes stand in a figure."""

import io

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect
from safetensors.torch import save
from sklearn.datasets import load_digits

from tests.browser.server import Server
from tests.browser.test_main_job import click_run, verdict
from tests.browser.test_upload import Clicks
from tests.browser.waiting import click, unfold
from tests.models.test_key_layouts import SmallImageResNet

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
N_FITTED, N_UPLOADED = 400, 120
SETTINGS = "sigmas=0.1&judged=20&audited=0&half_draws=48&directions=True"


def coloured_digits() -> tuple[np.ndarray, np.ndarray]:
    """Digits of 32 x 32 pixels in three channels, a colour for each."""
    x, y = load_digits(return_X_y=True)
    grey = x.reshape(-1, 8, 8).repeat(4, axis=1).repeat(4, axis=2) / 16
    tint = np.random.default_rng(0).uniform(0.6, 1.0, (len(y), 1, 1, 3))
    return (255 * grey[..., None] * tint).round().astype(np.uint8), y


def resnet(x: np.ndarray, y: np.ndarray) -> SmallImageResNet:
    """Random convolutions under a head that was fitted by least squares: quick, and far above chance."""
    torch.manual_seed(0)
    model = SmallImageResNet(3, 10)
    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = None  # the mean of all that it sees
    inputs, features = torch.tensor(x).permute(0, 3, 1, 2).float() / 255, []
    model.linear.register_forward_hook(lambda _, given, __: features.append(given[0]))
    with torch.no_grad():
        model.train()(inputs)
        features.clear()
        model.eval()(inputs)
        seen = torch.cat([features[0], torch.ones(len(y), 1)], dim=1).double()
        wanted = 10 * torch.nn.functional.one_hot(torch.tensor(y), 10).double()
        weights = torch.linalg.solve(seen.T @ seen + 1e-2 * torch.eye(513), seen.T @ wanted).float()
        model.linear.weight.copy_(weights[:-1].T)
        model.linear.bias.copy_(weights[-1])
    return model


def test_weights_of_a_resnet_18_become_a_figure_of_classes(own_server: Server, page: Page):
    x, y = coloured_digits()
    weights = save(resnet(x[:N_FITTED], y[:N_FITTED]).state_dict())
    kept = slice(N_FITTED, N_FITTED + N_UPLOADED)
    images = io.BytesIO()
    np.savez(images, x=x[kept], y=y[kept])

    page.goto(f"{own_server.url}/data_sets?data=wine")
    expect(page.get_by_role("heading", name="Wine")).to_be_visible()
    Clicks().file(page, "small.npz", images.getvalue())
    click(page.get_by_role("button", name="Use this data set"))
    expect(page.get_by_role("heading", name="small")).to_be_visible()
    page.wait_for_function("new URLSearchParams(location.search).get('data').length === 64")
    fingerprint = page.evaluate("new URLSearchParams(location.search).get('data')")

    page.goto(f"{own_server.url}/average_case?data={fingerprint}&{SETTINGS}")
    unfold(page, "Upload a model")
    form = page.get_by_test_id("stForm").filter(has=page.get_by_role("button", name="Upload this model"))
    given = {"name": "resnet.safetensors", "mimeType": "application/octet-stream", "buffer": weights}
    form.locator("input[type=file]").set_input_files(given)
    expect(form.get_by_text("resnet.safetensors")).to_be_visible()
    click(page.get_by_role("button", name="Upload this model"))

    click_run(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert "n = 20" in verdict(page)
    chart = page.locator(".js-plotly-plot").first
    expect(chart.locator(".yaxislayer-above")).to_contain_text("0")
    assert chart.locator(".box").count() == 10
    unfold(page, "Which change breaks a class?")
    expect(page.get_by_text("named directions").first).to_be_visible()
