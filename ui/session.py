"""Whose things does this browser see? For now those of the one local owner; sign-in will change only this file."""

from core.workspace.runner import Engine
from core.workspace.runner import engine as process_engine
from core.workspace.workspace import LOCAL_OWNER, Workspace


def owner() -> str:
    """The owner whose data sets and runs are shown."""
    return LOCAL_OWNER


def engine() -> Engine:
    """What works runs off; shared by all sessions of this process, its workers started when the first run is."""
    return process_engine()


def workspace() -> Workspace:
    """What is stored: data sets, runs and their rows."""
    return engine().workspace
