"""What does a question come to? The verdict in sentences, its numbers with their intervals, figures and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.parts import Answer, Figure, Quantity


@dataclass(frozen=True, eq=False)
class Result:
    """What a question came to: the `answer` that the app's page shows, and the `rows` of all trials beneath it."""

    answer: Answer
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def verdict(self) -> Verdict:
        """`headline`, `advice` and further sentences; `text` is all of them."""
        assert self.answer.verdict is not None
        return self.answer.verdict

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the sentences rest on, that of the headline first; each has a `code` (docs/claims.md), a `decision`."""
        return self.answer.claims

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers that can be held against a bound, each with its 95 % interval."""
        return self.answer.numbers

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Each has a `key`, a `caption` that says how to read it, and `draw()`, which gives a plotly figure."""
        return self.answer.figures

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Aggregates, a frame for each title."""
        return self.answer.tables

    def table(self) -> pd.DataFrame:
        """Tidy rows of `quantities`: number, value, lower, upper, n; ends are of 95 % intervals."""
        return pd.DataFrame(
            [(each.title, each.value, each.interval.lower, each.interval.upper, each.n) for each in self.quantities],
            columns=["number", "value", "lower", "upper", "n"],
        )
