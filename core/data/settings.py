"""How much may anybody take of this machine? What its environment says, or else what is usual.

`SETTINGS` lists all of them; docs/deployment.md repeats the list, and a test compares the two.
"""

import os
from dataclasses import dataclass

from core.data.errors import DataError


@dataclass(frozen=True)
class Setting:
    """A limit: what it is usually, in which unit, and of what. None means that only the machine limits it."""

    usual: int | None
    unit: str
    of: str


SETTINGS = {
    "TOUCHSTONE_MOST_UPLOAD": Setting(200, "MiB", "an uploaded file"),
    "TOUCHSTONE_MOST_UNPACKED": Setting(1024, "MiB", "what such a file unpacks to"),
    "TOUCHSTONE_MOST_ROWS": Setting(1_000_000, "rows", "such a file (or images)"),
    "TOUCHSTONE_MOST_COLUMNS": Setting(120_000, "columns", "such a file"),
    "TOUCHSTONE_MOST_STORED": Setting(20_480, "MiB", "all that one owner keeps"),
    "TOUCHSTONE_MOST_TRIALS": Setting(None, "trials", "what one owner has with the workers at once"),
    "TOUCHSTONE_MOST_TRIAL_SECONDS": Setting(3600, "seconds", "a trial"),
    "TOUCHSTONE_MOST_TRIAL_MEMORY": Setting(None, "MiB", "each worker, which runs a trial at a time"),
}


def most(name: str) -> int | None:
    """What a limit is: as its setting says, or as is usual; None where there is no limit.

    Raises DataError where the setting is no number from 1.

    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", TOUCHSTONE_MOST_ROWS="5000"):
    ...     most("TOUCHSTONE_MOST_ROWS")
    5000
    >>> with patch.dict("os.environ", TOUCHSTONE_MOST_ROWS="many"):
    ...     most("TOUCHSTONE_MOST_ROWS")
    Traceback (most recent call last):
    core.data.errors.DataError: TOUCHSTONE_MOST_ROWS is 'many'. It has to be a number of rows from 1, or to be left out.
    """
    setting, said = SETTINGS[name], os.environ.get(name, "").strip()
    if not said:
        return setting.usual
    if not said.isascii() or not said.isdigit() or int(said) < 1:
        raise DataError(f"{name} is {said!r}. It has to be a number of {setting.unit} from 1, or to be left out.")
    return int(said)
