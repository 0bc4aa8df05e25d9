"""Which worlds are there? Every file of this folder that has `WORLDS` and is no test of them."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import tests.worlds as folder
from tests.worlds.world import World
from touchstone.core.questions import QUESTIONS


def every_world() -> Iterator[World]:
    """The worlds of all questions, in the order of their files."""
    for module in pkgutil.iter_modules(folder.__path__):
        if module.name in QUESTIONS or not module.name.startswith("test_"):
            yield from getattr(import_module(f"{folder.__name__}.{module.name}"), "WORLDS", ())
