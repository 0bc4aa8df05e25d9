"""What does every entry of a registry promise? Laws that are asked of what is built in, and of what a plugin offers.

Whoever writes a plugin calls `check_plugin` in a test of their own (docs/plugins.md). A law is a function of an entry's
name and the entry; it raises AssertionError, with what was expected, where the entry does not keep it.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from math import isnan
from typing import Any, get_args

import numpy as np

from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import cluster_classes
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.data.tables.logs import LOGS, Log
from touchstone.core.evaluate.metric_estimates import estimate
from touchstone.core.evaluate.metric_functions import Counts, Scored
from touchstone.core.evaluate.metrics import METRICS, Metric
from touchstone.core.models import MODELS, Cancelled, fits
from touchstone.core.models.architectures import ARCHITECTURES
from touchstone.core.models.networks import PaperNetwork
from touchstone.core.models.threads import single_threaded
from touchstone.core.registry import GROUPS, Registry
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.represent.representations import Representation
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.scheme import NO_FOLD, FoldScheme
from touchstone.core.split.units import folds_of_units
from touchstone.core.testing.finders import LAWS as OF_FINDERS
from touchstone.core.testing.layouts import LAWS as OF_LAYOUTS
from touchstone.core.testing.metrics import LAWS as OF_METRICS
from touchstone.core.testing.models import LAWS as OF_MODELS
from touchstone.core.testing.representations import LAWS as OF_REPRESENTATIONS
from touchstone.core.testing.splitters import LAWS as OF_SPLITTERS

Law = Callable[[str, Any], None]


def check_plugin(package: str) -> str:
    """Ask of all that an installed package offers what Touchstone asks of its own entries, and say what that was.

    Parameters
    ----------
    package
        The name by which pip knows it. It must be installed, since Touchstone finds plugins by their entry points.

    Raises
    ------
    AssertionError
        With a line for each promise that is not kept, and for what Touchstone does not take at all.

    Examples
    --------
    >>> check_plugin("numpy")
    Traceback (most recent call last):
    AssertionError: numpy offers nothing: it has no entry point in touchstone.layouts, touchstone.metrics, ...
    """
    if not __debug__:
        raise RuntimeError("Laws are assertions, which `python -O` leaves out. Run this without -O.")
    try:
        plugin = distribution(package)
    except PackageNotFoundError:
        raise AssertionError(
            f"{package} is not installed here: pip install it first, with -e while you write."
        ) from None
    points = [point for point in plugin.entry_points if point.group.startswith("touchstone.")]
    assert points, f"{package} offers nothing: it has no entry point in {', '.join(GROUPS)}."
    broken, kept = [], []
    for point in points:
        where = f"{point.group}: {point.name}"
        if point.group not in GROUPS:
            broken.append(f"{where}: there is no such group; there are {', '.join(GROUPS)}.")
            continue
        registry = REGISTRIES[point.group]
        entry = registry.get(point.name)
        ours = (refusal for refusal in registry.refused if refusal.plugin == f"{plugin.name} {plugin.version}")
        refused = [refusal.why for refusal in ours if refusal.name == point.name]
        if refused or entry is None:
            broken.append(f"{where}: {refused[0] if refused else 'it is not there'}.")
            continue
        for law in LAWS[point.group]:
            problem = _problem_with(law, point.name, entry)
            if problem:
                broken.append(f"{where}: {law.__name__.replace('_', ' ')}: {problem}")
        kept.append(f"{where} ({len(LAWS[point.group])} laws)")
    assert not broken, "\n".join(broken)
    return "\n".join(kept)


def _problem_with(law: Law, name: str, entry: Any) -> str:
    """What is wrong with an entry, by a law; empty where it keeps it."""
    try:
        law(name, entry)
    except Exception as problem:
        kind = "" if isinstance(problem, AssertionError) else f"{type(problem).__name__}: "
        return f"{kind}{problem}".strip() or type(problem).__name__
    return ""


REGISTRIES: dict[str, Registry[Any]] = {
    registry.group: registry for registry in (LOGS, METRICS, MODELS, REPRESENTATIONS, SOURCE_FINDERS, FOLD_SCHEMES)
}
"""Every registry that plugins add to, by the group of its entry points."""
LAWS: dict[str, tuple[Law, ...]] = {
    METRICS.group: OF_METRICS,
    MODELS.group: OF_MODELS,
    REPRESENTATIONS.group: OF_REPRESENTATIONS,
    SOURCE_FINDERS.group: OF_FINDERS,
    FOLD_SCHEMES.group: OF_SPLITTERS,
    LOGS.group: OF_LAYOUTS,
}
"""What is asked of an entry of each registry."""
