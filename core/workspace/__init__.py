"""The workspace: what outlives a page. Data sets, runs and their rows, and the engine that works them off.

Each name is imported when it is asked for: plans, records and errors need no database, and none is imported for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touchstone.core.workspace.access import View
    from touchstone.core.workspace.errors import WorkspaceError
    from touchstone.core.workspace.plans import PLANS, load_plan
    from touchstone.core.workspace.records import Run, StoredComparison, StoredModel
    from touchstone.core.workspace.workspace import LOCAL_OWNER, SharedWorkspace, Workspace

_MODULES = {
    "access": ("View",),
    "errors": ("WorkspaceError",),
    "plans": ("PLANS", "load_plan"),
    "records": ("Run", "StoredComparison", "StoredModel"),
    "workspace": ("LOCAL_OWNER", "SharedWorkspace", "Workspace"),
}


def __getattr__(name: str) -> Any:
    """A name from its module."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
