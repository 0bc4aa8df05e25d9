"""What does a question come to? The verdict in sentences, its numbers with their intervals, figures and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pandas as pd

from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.parts import Body, Figure, Table
from touchstone.core.report.quantities import Quantity


@dataclass(frozen=True, eq=False)
class Result:
    """What a question came to.

    Parameters
    ----------
    verdict
        `headline`, `advice` and further sentences; `text` is all of them.
    quantities
        The numbers that can be held against a bound, each with its 95 % interval.
    figures
        Each has a `key`, a `caption` that says how to read it, and `draw()`, which gives a plotly figure.
    rows
        What was computed, trial by trial, as the app stores it; empty where there are no trials.
    tables
        Aggregates, a frame for each title.
    """

    verdict: Verdict
    quantities: tuple[Quantity, ...]
    figures: tuple[Figure, ...]
    rows: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=lambda: MappingProxyType({}))

    def table(self) -> pd.DataFrame:
        """Tidy rows of `quantities`: number, value, lower, upper, n; ends are of 95 % intervals."""
        return pd.DataFrame(
            [
                {
                    "number": each.title,
                    "value": each.value,
                    "lower": each.interval.lower,
                    "upper": each.interval.upper,
                    "n": each.n,
                }
                for each in self.quantities
            ],
            columns=["number", "value", "lower", "upper", "n"],
        )


def tables_of(body: Body) -> Mapping[str, pd.DataFrame]:
    """Every table of a body, by its title."""
    parts = (part for section in body.sections for part in section.parts)
    return MappingProxyType({part.title: part.lines for part in parts if isinstance(part, Table)})
