"""The workspace: what outlives a page. Data sets, runs and their rows, and the engine that works them off."""

from touchstone.core.workspace.access import View
from touchstone.core.workspace.data import StoredModel
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import PLANS, load_plan
from touchstone.core.workspace.runs import Run
from touchstone.core.workspace.workspace import LOCAL_OWNER, SharedWorkspace, Workspace
