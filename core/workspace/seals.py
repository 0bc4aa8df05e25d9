"""What stands for stored results, so that nothing else is ever read in their place? A hash of each trial and run."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from touchstone.core.data.identity import key
from touchstone.core.workspace import frames

N_VERSIONS = 100
"""No method has had so many versions; which of them a run is of is known by its key alone."""


def trial_seal(trial: int, status: str, error: str | None, content: bytes) -> str:
    """The hash of a stored trial: its number, whether it failed and why, and its rows.

    Examples
    --------
    >>> seal = trial_seal(3, "ok", None, b"rows")
    >>> seal == trial_seal(3, "ok", None, b"rows"), seal == trial_seal(4, "ok", None, b"rows")
    (True, False)
    """
    return key("trial", trial, status, error, frames.sha256(content))


class StoredTrial(NamedTuple):
    """A trial as it is stored, with the seal that it got then."""

    trial: int
    status: str
    error: str | None
    content: bytes
    sha256: str

    @property
    def whole(self) -> bool:
        """Whether it still is what was stored.

        >>> StoredTrial(0, "ok", None, b"rows", "another hash").whole
        False
        """
        return self.sha256 == trial_seal(self.trial, self.status, self.error, self.content)


def run_seal(run_key: str, trials: Iterable[str]) -> str:
    """The hash of a run: its key, which stands for plan, data and method, and the seals of its trials in their order.

    Examples
    --------
    >>> run_seal("k", ["a", "b"]) == run_seal("k", ["b", "a"])
    False
    """
    return key("run", run_key, list(trials))


def is_named_by(run_key: str, *, kind: str, plan: str, fingerprint: str) -> bool:
    """Whether a run's key is that of its stored plan, as JSON, and its data, by some version of the plan's method.

    Examples
    --------
    >>> run_key = key('{"kind":"trials","seed":7}', "f1", 3)
    >>> is_named_by(run_key, kind="trials", plan='{"kind":"trials","seed":7}', fingerprint="f1")
    True
    >>> is_named_by(run_key, kind="trials", plan='{"kind":"trials","seed":5}', fingerprint="f1")
    False
    """
    named = any(key(plan, fingerprint, version) == run_key for version in range(1, N_VERSIONS))
    return named and json.loads(plan).get("kind") == kind
