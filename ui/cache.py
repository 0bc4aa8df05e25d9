"""What need not be computed twice? Whatever a decorated function made, by its owner and the names of its arguments.

Streamlit hashes large arrays by a sample and forgets the class of a nested dataclass, so that two inputs could share
an answer. Here every argument is turned into a name first (`name_of`); Streamlit sees the owner and one string only.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import key
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.workspace import Run
from touchstone.ui.shell import background
from touchstone.ui.shell.background import Task, Work
from touchstone.ui.shell.session import owner

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@runtime_checkable
class Identified(Protocol):
    """A thing of the pages that knows its own key: `identity` is a hash of all that can be computed from it."""

    @property
    def identity(self) -> str:
        """All of it in one name."""
        ...


def name_of(value: Any) -> Any:
    """What an argument is called in a key; a run by how far it has come, too. Raises TypeError for what has no name.

    Strings, numbers, None, tuples of these and frozen dataclasses of these go by what they hold; see `key`.

    >>> name_of(("svm", 4))
    ['svm', 4]
    """
    if isinstance(value, Run):
        return ["run", value.id, value.n_done, value.state == "running"]
    if isinstance(value, (Dataset, PredictionUpload)):
        return [type(value).__name__, value.fingerprint]
    if isinstance(value, Identified):
        return [type(value).__name__, value.identity]
    if isinstance(value, (tuple, list)):
        return [name_of(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else key(value)


def result(*, max_entries: int) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """Keep what a function returns, for each owner and each choice of its arguments; the oldest of too many go."""

    def decorate(compute: Callable[Given, Answer]) -> Callable[Given, Answer]:
        return _kept(compute, compute, max_entries)

    return decorate


def task(*, max_entries: int) -> Callable[[Callable[Given, Work[Answer]]], Callable[Given, Task[Answer]]]:
    """Have the work that a function returns done beside the page, once, and keep it; see `ui.shell.background`.

    The function itself is called in the page's own thread: what the work rests on it asks for there, so that no thread
    waits for work that it would have to do itself.
    """

    def decorate(prepare: Callable[Given, Work[Answer]]) -> Callable[Given, Task[Answer]]:
        def submit(*args: Given.args, **kwargs: Given.kwargs) -> Task[Answer]:
            return background.submit(prepare(*args, **kwargs))

        return _kept(prepare, submit, max_entries)

    return decorate


def _kept(
    function: Callable[Given, Any], compute: Callable[Given, Answer], max_entries: int
) -> Callable[Given, Answer]:
    """`compute`, kept under the name and the arguments of `function`."""
    parameters = signature(function)

    def by_name(owner_name: str, name: str, _compute: Callable[[], Answer]) -> Answer:
        return _compute()

    # Streamlit tells caches apart by module, qualified name and source, which are the same for every `by_name`.
    by_name.__module__, by_name.__qualname__ = function.__module__, function.__qualname__
    kept = st.cache_resource(max_entries=max_entries, show_spinner=False)(by_name)

    @wraps(function)
    def asked(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        given = parameters.bind(*args, **kwargs)
        given.apply_defaults()
        name = key(*(name_of(value) for value in given.arguments.values()))
        return kept(owner(), name, lambda: compute(*args, **kwargs))

    return asked
