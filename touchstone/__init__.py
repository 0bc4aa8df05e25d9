"""Can this accuracy be trusted? `from touchstone import check, compare, dataset`, and what else docs/python.md lists.

The package that is installed. In a checkout its folders stand beside this one, for Streamlit looks for app.py and pages
there, and are linked here; where links are no folders (an archive of the sources, some Windows), they are found there.
Importing `touchstone` alone imports none of what it offers.
"""

from pathlib import Path
from typing import Any

if not Path(__file__).with_name("core").is_dir():
    __path__.append(str(Path(__file__).resolve().parents[1]))

from touchstone import core
from touchstone.core import __version__ as __version__


def __getattr__(name: str) -> Any:
    """The public surface, which takes more to import than the launcher of the app may."""
    if name in _names():
        return getattr(core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is, the public surface included."""
    return sorted({*globals(), *_names()})


def _names() -> set[str]:
    return {name for names in core.PUBLIC.values() for name in names}
