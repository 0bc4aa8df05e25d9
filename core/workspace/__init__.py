"""The workspace: what outlives a page. Data sets, runs and their rows, and the engine that works them off.

What needs no database (plans, records, frames) is imported without one: the rest is when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import PLANS, load_plan
from touchstone.core.workspace.records import Run, StoredModel

if TYPE_CHECKING:
    from touchstone.core.workspace.access import View
    from touchstone.core.workspace.workspace import LOCAL_OWNER, SharedWorkspace, Workspace

_OF_A_DATABASE = {"View": "access", **dict.fromkeys(("LOCAL_OWNER", "SharedWorkspace", "Workspace"), "workspace")}


def __getattr__(name: str) -> Any:
    """What takes a database to import."""
    if name in _OF_A_DATABASE:
        return getattr(import_module(f"{__name__}.{_OF_A_DATABASE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
