"""Touchstone's engine: from data to verdicts, without a browser. Data flows one way, and so do imports.

From Python: `from touchstone import check, compare, dataset` and what else docs/python.md lists. Importing it alone
imports none of it.
"""

import subprocess
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

__version__ = "0.2.0"
COMMAND = "python -m core" if (Path(__file__).resolve().parents[1] / "pyproject.toml").exists() else "touchstone"
"""How the command line is called: from a checkout as a module, in its folder; where Touchstone is installed by name."""
PUBLIC = {
    "touchstone.core.integrations": ("hugging_face_callback", "lightning_callback", "log_to_mlflow"),
    "touchstone.core.public.asking": ("check",),
    "touchstone.core.public.comparing": ("assert_not_worse", "compare", "plan", "slices"),
    "touchstone.core.public.data": ("card", "dataset", "predictions", "read", "record"),
    "touchstone.core.public.labelling": ("FewLabels", "few_labels"),
    "touchstone.core.public.result": ("RESULT_SCHEMA", "Result", "collect", "load"),
    "touchstone.core.split.folds": (
        *("RandomFolds", "StratifiedFolds", "GroupFolds", "LeaveOneGroupOut", "KMeansFolds", "SameSizeFolds"),
        *("SDSFolds", "MaxShift", "NearestNeighbourBalls", "QuantileFolds", "PairedSourceFolds"),
        "SourceInclusiveFolds",
    ),
    "touchstone.core.split.scheme": ("Random", "SourceExclusive", "SourceInclusive"),
    "touchstone.core.cluster.sds": ("SDSKMeans", "SameSizeKMeans"),
}
"""The public surface, by the module that has it (docs/python.md)."""


def __getattr__(name: str) -> Any:
    """The public surface, which takes more to import than the launcher of the app may."""
    for module, names in PUBLIC.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is, the public surface included."""
    return sorted({*globals(), *(name for names in PUBLIC.values() for name in names)})


@cache
def version() -> str:
    """The version of Touchstone and, where it runs from a checkout, the commit, marked where files differ from it.

    Examples
    --------
    >>> version().split(" ")[0] == __version__
    True
    """
    ask = ["git", "describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"]
    root = Path(__file__).resolve().parent.parent
    try:
        if not (root / ".git").exists():  # a folder within somebody else's repository has that one's commits
            return __version__
        answer = subprocess.run(ask, cwd=root, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__} ({answer.stdout.strip()})"


def versions(*libraries: str) -> dict[str, str]:
    """The version of each of these libraries that is installed here.

    Examples
    --------
    >>> list(versions("numpy", "no-such-library", "pandas"))
    ['numpy', 'pandas']
    """
    known = ((library, _installed_version(library)) for library in libraries)
    return {library: number for library, number in known if number is not None}


@cache
def _installed_version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "core":  # found by the name of its folder, in a checkout
    from touchstone.core.same import as_core

    as_core()
