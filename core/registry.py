"""What is there to choose from? The entries that are built in, and those of plugins: other packages that are installed.

A plugin names an object under an entry point of a registry's group, such as "touchstone.metrics" (docs/plugins.md). Who
asks for what is built in by its name waits for no plugin: these are imported when a registry is first read beyond that.
"""

import re
import warnings
from collections.abc import Collection, Iterator, MutableMapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from threading import RLock
from typing import Any, TypeVar

from touchstone.core.parameters import title_of

GROUPS = tuple(
    f"touchstone.{of}" for of in ("layouts", "metrics", "models", "representations", "source_finders", "splitters")
)
"""The groups of entry points under which plugins name objects."""
NO_PLUGIN = "no plugin that is installed here has it"
"""Why a name is unknown that a plan may have from elsewhere."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_UNKNOWN = "a package without a name"
_REFUSED: list["Refusal"] = []
Entry = TypeVar("Entry")
Point = Any
"""An entry point: of Python's own class, or of that of its backport, which takes its place once it is imported."""


class PluginWarning(UserWarning):
    """A plugin offers something that is not taken; the message names both, and says why."""


@dataclass(frozen=True)
class Refusal:
    """What a plugin offers and is not taken, and why.

    Examples
    --------
    >>> print(Refusal("sample 1.0", "touchstone.metrics", "accuracy", "Touchstone has an entry of this name"))
    The plugin sample 1.0 offers 'accuracy' in touchstone.metrics. It is left out: Touchstone has an entry of this name.
    """

    plugin: str
    group: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"The plugin {self.plugin} offers {self.name!r} in {self.group}. It is left out: {self.why}."


class Registry(MutableMapping[str, Entry]):
    """Entries by their names: a dict of those that are built in, and behind them what plugins offer in its `group`.

    An entry is of the `kind`, or a class whose objects are, when they are made without arguments. Names in `taken`
    mean something else already. What a plugin offers and is not taken is in `refused`; a warning says it once.

    Examples
    --------
    >>> numbers = Registry("touchstone.numbers", str, {"one": "the first"})
    >>> numbers["one"], "two" in numbers, list(numbers)
    ('the first', False, ['one'])
    """

    def __init__(self, group: str, kind: type, own: dict[str, Entry], *, taken: Collection[str] = ()) -> None:
        self.group = group
        self.refused: tuple[Refusal, ...] = ()
        self._kind, self._entries, self._taken = kind, own, frozenset(taken)
        self._is_read, self._lock = False, RLock()

    def __getitem__(self, name: object) -> Entry:
        if name in self._entries:
            return self._entries[name]
        if not isinstance(name, str):
            raise KeyError(name)
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._all()[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._all()[name]

    def _all(self) -> dict[str, Entry]:
        with self._lock:
            if not self._is_read:
                self._is_read = True  # a plugin that reads it while it is imported sees what is built in
                self._entries, self.refused = self._with_plugins()
                _REFUSED.extend(self.refused)
                for refusal in self.refused:
                    warnings.warn(str(refusal), PluginWarning, stacklevel=3)
        return self._entries

    def _with_plugins(self) -> tuple[dict[str, Entry], tuple[Refusal, ...]]:
        entries, refused, plugin_of = dict(self._entries), [], dict.fromkeys(self._entries, "Touchstone")
        for point in offered(self.group):
            plugin, why = plugin_named(point), ""
            if point.name in entries:
                why = f"{plugin_of[point.name]} has an entry of this name"
            elif point.name in self._taken or not _NAME.fullmatch(point.name):
                why = "another name is needed, of small letters, digits and _"
            else:
                try:
                    entry: Any = point.load()
                    why = self._problem(entry, entries)
                except Exception as problem:
                    why = f"it could not be used ({type(problem).__name__}: {problem})"
                else:
                    if not why:
                        entries[point.name], plugin_of[point.name] = entry, f"the plugin {plugin}"
            if why:
                refused.append(Refusal(plugin, self.group, point.name, why))
        return entries, tuple(refused)

    def _problem(self, entry: Any, entries: dict[str, Entry]) -> str:
        """Why an object that a plugin offers is no entry; empty where it is."""
        made = entry() if isinstance(entry, type) else entry
        if not isinstance(made, self._kind):
            return f"it is no {self._kind.__name__}, but {type(made).__name__}"
        title = title_of(entry)
        if not (isinstance(title, str) and title.strip()):
            return "it has no title"
        titled = [name for name, other in entries.items() if title_of(other).casefold() == title.casefold()]
        return f"{titled[0]!r} is called {title!r} already" if titled else ""


@cache
def offered(group: str) -> tuple[Point, ...]:
    """What installed packages offer in a group, the packages in the order of their names.

    It is looked for once: that takes a while, and a process keeps what it has imported anyway.

    Examples
    --------
    >>> offered("touchstone.nothing")
    ()
    """
    return tuple(sorted(entry_points(group=group), key=lambda point: (plugin_named(point), point.name)))


def about_plugins() -> str:
    """Which plugins are installed, and what of theirs was left out as far as lists were read; empty without any.

    Examples
    --------
    >>> isinstance(about_plugins(), str)
    True
    """
    versions = ", ".join(f"{name} {version}" for name, version in plugin_versions().items())
    return " ".join([f"Plugins: {versions}.", *map(str, _REFUSED)]) if versions else ""


def plugin_named(point: Point) -> str:
    """The package that an entry point is of, with its version."""
    return _UNKNOWN if point.dist is None else f"{point.dist.name} {point.dist.version}"


def plugin_versions() -> dict[str, str]:
    """The version of each plugin that is installed, whatever it offers.

    Examples
    --------
    >>> all(isinstance(version, str) for version in plugin_versions().values())
    True
    """
    points = (point for group in GROUPS for point in offered(group))
    return dict(sorted((point.dist.name, point.dist.version) for point in points if point.dist is not None))
