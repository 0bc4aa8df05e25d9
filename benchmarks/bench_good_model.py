"""What is a network told whose test accuracy is above 99 %? A small convolutional one on all of MNIST.

Prints the verdict, the findings and each class's bound, asserts nothing; needs ``../shared/data``. About ten minutes of
processor.
"""

import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.verdict import quality_verdict
from touchstone.core.models.layers import LayerSamples

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NAMES = tuple("0123456789")
N_EPOCHS, BATCH = 12, 128


def network() -> tuple[nn.Module, nn.Module]:
    """The layers up to the last hidden one, and the head."""
    parts = [
        *(nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(48, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Dropout(0.3), nn.Linear(576, 128), nn.ReLU()),
    ]
    return nn.Sequential(*parts), nn.Linear(128, 10)


def shifted(x: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """A batch moved by up to two pixels each way."""
    down, right = (int(step) for step in rng.integers(-2, 3, size=2))
    return torch.roll(x, (down, right), dims=(2, 3))


def trained(x: torch.Tensor, y: torch.Tensor) -> tuple[nn.Module, nn.Module]:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    body, head = network()
    whole = nn.Sequential(body, head)
    steps = N_EPOCHS * -(-len(x) // BATCH)
    optimizer = torch.optim.AdamW(whole.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    for _ in range(N_EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.cross_entropy(whole(shifted(x[rows], rng)), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return body.eval(), head.eval()


def main() -> None:
    start = time.process_time()
    with np.load(DATA / "mnist.npz") as file:
        parts = {
            part: (torch.tensor(file[f"x_{part}"])[:, None] / 255, torch.tensor(file[f"y_{part}"], dtype=torch.int64))
            for part in ("train", "test")
        }
    body, head = trained(*parts["train"])
    samples = []
    with torch.inference_mode():
        for x, y in parts.values():
            features = torch.cat([body(batch) for batch in x.split(1000)])
            proba = head(features).double().softmax(dim=1)
            samples.append(LayerSamples(features.numpy(), y.numpy(), proba.numpy(), NAMES))
    train, test = samples
    print(f"test accuracy {100 * (test.predicted == test.labels).mean():.2f} %")
    quality = measure_quality(train, test, rng=np.random.default_rng(0))
    said = quality_verdict(quality)
    print(said.headline, said.used, said.advice, sep="\n")
    for finding in said.findings:
        print("-", finding)
    print(quality.missed.table()[["label", "n", "n_wrong", "bound_together", "n_more"]].to_string(index=False))
    print(f"{time.process_time() - start:.0f} s of processor")


if __name__ == "__main__":
    main()
