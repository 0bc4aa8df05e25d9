"""A question that is one folder per layer and one record; workers learn of it by importing this file."""

from importlib import import_module
from pathlib import Path

from touchstone.core.questions import QUESTIONS, Question

FOLDER = Path(__file__).with_name("largest_class")
PACKAGES = ("touchstone.core.evaluate", "touchstone.core.figures", "touchstone.core.report")
RECORD = Question(
    "largest_class",
    "How large is the largest class?",
    "Largest class",
    ":material/bar_chart:",
    "Questions",
    kind="largest_class",
    plan="touchstone.core.evaluate.largest_class:LargestClassPlan",
)


def paths() -> dict[str, list[str]]:
    """Where each package that has a module of every question looks for them, this question's folder included."""
    return {name: [*import_module(name).__path__, str(FOLDER.joinpath(*name.split(".")[1:]))] for name in PACKAGES}


def dask_setup(_worker: object) -> None:
    """Called by dask in each worker process."""
    for name, path in paths().items():
        import_module(name).__path__ = path
    QUESTIONS[RECORD.stem] = RECORD
