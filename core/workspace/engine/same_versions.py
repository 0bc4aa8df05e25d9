"""Do the workers of a cluster compute what this process would? Only with the same versions and the same method."""

import platform
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from touchstone import core
from touchstone.core.cluster import SOURCE_FINDERS
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import PLANS

if TYPE_CHECKING:
    from distributed import Client

LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "umap-learn", "pyarrow", "distributed")
"""Those on which results, or talking to one another, rest."""


def versions_here(kind: str) -> dict[str, str]:
    """What this process computes trials of a kind with.

    >>> versions_here("trials")["Touchstone"] == core.__version__
    True
    """
    plan = PLANS.get(kind)
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "Touchstone": core.__version__,
        **core.versions(*LIBRARIES),
        "the method": "none" if plan is None else f"version {plan.METHOD_VERSION}",
        "how sources are found": f"version {'.'.join(str(finder.version) for finder in SOURCE_FINDERS.values())}",
    }


class SameVersions:
    """Asks each worker of a cluster once, for each kind of plan, and remembers who has the same as `ours`."""

    def __init__(self, ours: Callable[[str], dict[str, str]] = versions_here) -> None:
        self._ours = ours
        self._same: set[tuple[str, str]] = set()

    def check(self, client: "Client", kind: str) -> None:
        """Raises WorkspaceError where a worker has other versions than this process; names the first of them."""
        there: Any = client.nthreads()
        asked = [address for address in there if (address, kind) not in self._same]
        if not asked:
            return
        ours = self._ours(kind)
        # A worker that has gone meanwhile says nothing, and is not asked to.
        told = cast(dict, client.run(versions_here, kind, workers=asked, on_error="ignore"))
        for address, theirs in told.items():
            for name in ours:
                if theirs.get(name) != ours[name]:
                    raise WorkspaceError(
                        f"A worker of the cluster ({address}) has {name} {theirs.get(name)}, and this Touchstone has "
                        f"{ours[name]}. Start all workers with the same versions, then resume."
                    )
            self._same.add((address, kind))
