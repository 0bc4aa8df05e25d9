"""Do stored trials come out again? Some are computed anew, from their seeds, and held against what is stored."""

import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from touchstone import core
from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.trials import Context, sources_at_hand
from touchstone.core.workspace import frames
from touchstone.core.workspace.engine.needed import found_sources
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import PLANS, load_plan
from touchstone.core.workspace.runs import Run
from touchstone.core.workspace.workspace import Workspace

TOLERANCE = 1e-6
"""How far two numbers may lie apart, relative to them: processors and versions round sums differently."""
TIMES = ("seconds",)
"""Columns that tell how long something took, which is another time each time."""


@dataclass(frozen=True)
class Recomputed:
    """A trial that was computed again, by number from 0, and the columns in which it differs from what is stored."""

    trial: int
    differs_in: tuple[str, ...]


def recompute(workspace: Workspace, owner: str, run: Run, trials: Iterable[int]) -> Iterator[Recomputed]:
    """Compute trials of a run again, here in this process, one after another.

    Raises DataError or WorkspaceError where something that they rest on is not there any more.
    """
    plan, dataset = load_plan(run.plan), workspace.dataset(owner, run.fingerprint)
    context = Context(model=lambda fingerprint: workspace.model_bytes(owner, fingerprint))
    stored = workspace.rows_by_trial(owner, run.id)
    found = found_sources(workspace, owner, plan, dataset)
    with sources_at_hand(run.fingerprint, found) if found else nullcontext():
        for trial in trials:
            rows = frames.from_bytes([frames.to_bytes(plan.run_trial(dataset, trial, context=context))])
            yield Recomputed(trial, differing(stored[trial], rows))


def differing(stored: pd.DataFrame, again: pd.DataFrame) -> tuple[str, ...]:
    """The columns in which two tables differ by more than rounding; those of times are not looked at.

    Examples
    --------
    >>> stored = pd.DataFrame({"n": [1, 2], "score": [0.1, np.nan], "seconds": [1.0, 2.0]})
    >>> again = stored.assign(score=[0.1 + 1e-12, np.nan], seconds=9.0)
    >>> differing(stored, again), differing(stored, again.assign(n=[1, 3]))
    ((), ('n',))
    >>> differing(stored, again.head(1))
    ('number of rows',)
    """
    if len(stored) != len(again):
        return ("number of rows",)
    columns = [name for name in dict.fromkeys([*stored, *again]) if name not in TIMES]
    return tuple(
        name for name in columns if not (name in stored and name in again and _alike(stored[name], again[name]))
    )


def _alike(stored: pd.Series, again: pd.Series) -> bool:
    if pd.api.types.is_float_dtype(stored) and pd.api.types.is_numeric_dtype(again):
        as_float = [column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (stored, again)]
        return bool(np.allclose(*as_float, rtol=TOLERANCE, atol=1e-12, equal_nan=True))
    return stored.equals(again)


# Do the workers of a cluster compute what this process would? Only with the same versions and the same method.


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
