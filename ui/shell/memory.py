"""Why is a rerun not slowed by all that was ever imported? What lasts is set aside from the search for garbage.

After every run of a page Streamlit has Python look at each object of the process for cycles that nobody holds any more.
Most of them belong to modules, and never go. Objects that are set aside are freed as ever once nobody holds them; only
a cycle of such objects is not found, until what was set aside is looked through again.
"""

import gc
import sys
from dataclasses import dataclass

MANY_MODULES = 50
"""So many modules more are worth another look through everything."""
MANY_RUNS = 200
"""After so many runs of pages everything is looked through again, so that no garbage stays for good."""


@dataclass
class _SetAside:
    """What was there when everything was last looked through."""

    n_modules: int = 0
    n_runs: int = 0


_last = _SetAside()


def settle() -> None:
    """At the end of a page's run: set aside what is there, if much has come or it was long ago. Any thread may ask."""
    _last.n_runs += 1
    if len(sys.modules) < _last.n_modules + MANY_MODULES and _last.n_runs < MANY_RUNS:
        return
    _last.n_modules, _last.n_runs = len(sys.modules), 0
    gc.unfreeze()
    gc.collect()
    gc.freeze()
