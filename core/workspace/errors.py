"""What a page shows, as written, when something stored cannot be had."""


class WorkspaceError(ValueError):
    """Says in a sentence what happened (gone, damaged, not yours) and what to do.

    Examples
    --------
    >>> raise WorkspaceError("This run is gone. Start it again.")
    Traceback (most recent call last):
    ...
    core.workspace.errors.WorkspaceError: This run is gone. Start it again.
    """
