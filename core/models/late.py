"""When is PyTorch imported? Once something of it is used: that takes a second, and most work needs none of it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Late(ModuleType):
    """A module that is imported when something in it is looked up."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import torch
    from torch import nn
else:
    torch, nn = _Late("torch"), _Late("torch.nn")
