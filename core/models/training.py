"""How is a network trained? Mini-batches in random order, Adam, and a look at ``should_stop`` before every epoch."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.models.classifier import ShouldStop, stop_if

if TYPE_CHECKING:
    import torch


def train(
    network: "torch.nn.Module",
    inputs: "torch.Tensor",
    y: "torch.Tensor",
    *,
    n_epochs: int,
    batch_size: int,
    learning_rate: float,
    weight_decay: float,
    generator: "torch.Generator",
    should_stop: ShouldStop | None = None,
) -> None:
    """Train the network in place on the cross-entropy of its logits.

    Examples
    --------
    >>> import torch
    >>> network, inputs, y = torch.nn.Linear(1, 2), torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1])
    >>> options = dict(batch_size=2, learning_rate=0.1, weight_decay=0.0, generator=torch.Generator().manual_seed(0))
    >>> train(network, inputs, y, n_epochs=50, **options)
    >>> network(inputs).argmax(dim=1)
    tensor([0, 1])
    """
    import torch

    # fused: one call per step instead of one per tensor, which halves the time of a small network
    optimizer = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True)
    network.train()
    for _ in range(n_epochs):
        stop_if(should_stop)
        for batch in torch.randperm(len(inputs), generator=generator).split(batch_size):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(inputs[batch]), y[batch]).backward()
            optimizer.step()
    network.eval()


def predict_logits(network: "torch.nn.Module", inputs: "torch.Tensor", *, batch_size: int = 1024) -> "torch.Tensor":
    """Give the logits of all inputs, batch by batch.

    Examples
    --------
    >>> import torch
    >>> predict_logits(torch.nn.Linear(3, 2), torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """
    import torch

    network.eval()
    with torch.inference_mode():
        return torch.cat([network(batch) for batch in inputs.split(batch_size)])


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch to one thread, for as long as it lasts.

    Examples
    --------
    >>> import torch
    >>> before = torch.get_num_threads()
    >>> with one_torch_thread():
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
