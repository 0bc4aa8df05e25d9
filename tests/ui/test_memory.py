"""What lasts is not searched for garbage after every run of a page, and what turns into garbage still goes."""

import gc
import sys
import types
import weakref
from collections.abc import Iterator

import pytest

from touchstone.ui.shell import memory


class Node:
    """Something in a cycle with itself."""

    def __init__(self) -> None:
        self.me = self


def n_searched(nodes: list[Node]) -> int:
    """How many of these the search for garbage still looks at; others go meanwhile, so that totals tell nothing."""
    searched = {id(each) for each in gc.get_objects()}
    return sum(id(node) in searched for node in nodes)


@pytest.fixture(autouse=True)
def as_at_the_start(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(memory, "_last", memory._SetAside())
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_is_there_is_set_aside_once_and_looked_at_no_more():
    memory.settle()
    n_set_aside = gc.get_freeze_count()
    assert n_set_aside > 50_000
    assert len(gc.get_objects()) < n_set_aside / 10
    later = [Node() for _ in range(1000)]
    memory.settle()
    assert n_searched(later) == len(later)


def test_after_many_more_modules_they_are_set_aside_too(monkeypatch):
    memory.settle()
    kept = [Node() for _ in range(1000)]
    for number in range(memory.MANY_MODULES):
        monkeypatch.setitem(sys.modules, f"a_module_{number}", types.ModuleType(f"a_module_{number}"))
    memory.settle()
    assert n_searched(kept) == 0


def test_a_cycle_that_was_set_aside_goes_after_many_runs():
    node = Node()
    gone = weakref.ref(node)
    memory.settle()
    del node
    gc.collect()
    assert gone() is not None
    for _ in range(memory.MANY_RUNS):
        memory.settle()
    assert gone() is None
