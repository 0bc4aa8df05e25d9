"""What can a model be fitted to in a test, and how fast?"""

from collections.abc import Callable
from functools import partial

from touchstone.core.models import MODELS
from touchstone.core.models.architectures import ARCHITECTURES
from touchstone.core.models.networks import PaperNetwork

PAPER_NETWORKS = [name for name in MODELS if issubclass(MODELS[name], PaperNetwork)]
OTHERS = [name for name in MODELS if name not in PAPER_NETWORKS]


def side(name: str) -> int:
    """How many pixels a side of a small image has that the model can take."""
    return max(6, ARCHITECTURES[name].smallest) if name in PAPER_NETWORKS else 6


def takes(name: str, kind: str) -> bool:
    return kind == "image" or name in OTHERS or ARCHITECTURES[name].smallest == 0


def quick(name: str) -> Callable:
    """The model as it is, or, of the papers' networks, trained for a single epoch: no time to become good."""
    return partial(MODELS[name], n_epochs=1, batch_size=32) if name in PAPER_NETWORKS else MODELS[name]


def few(name: str, n: int) -> int:
    """So many samples, or, for the papers' networks, few: the largest take a second for a batch."""
    return min(n, 4) if name in PAPER_NETWORKS else n
