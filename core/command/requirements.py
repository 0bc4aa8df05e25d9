"""Does a result hold what somebody requires of it? Yes, no, or undecided; never by the number alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.core import COMMAND
from touchstone.core.data import DataError
from touchstone.core.report.parts import Quantity
from touchstone.core.report.quantities import QUANTITIES

Decision = Literal["holds", "fails", "undecided"]
_FORM = re.compile(
    r"\s*(?P<name>[\w.]+)\s*(?:\[(?P<of>[^\]]*)\])?\s*(?P<sign>>=|<=)\s*(?P<bound>[-+]?[\d.]+(?:e-?\d+)?)\s*"
)


@dataclass(frozen=True)
class Requirement:
    """A number that must be at least (or at most) a bound; `of` narrows it to a model, a scheme or a sigma.

    Examples
    --------
    >>> Requirement.read("source_robustness.rho[svm] >= .9")
    Requirement(name='source_robustness.rho', of=('svm',), at_least=True, bound=0.9)
    >>> Requirement.read("rho > .9")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: 'rho > .9' is no requirement. Write one such as 'source_robustness.rho ...
    """

    name: str
    of: tuple[str, ...]
    at_least: bool
    bound: float

    @classmethod
    def read(cls, text: str) -> "Requirement":
        """Read one as it is written. Raises DataError for what is none, or is of a number that cannot be bounded."""
        form = _FORM.fullmatch(text)
        if form is None or form["name"] not in QUANTITIES:
            raise DataError(
                f"{text!r} is no requirement. Write one such as 'source_robustness.rho >= .9' or "
                f"'cluster_folds.score[sds_folds] >= .8'; {COMMAND} check --explain lists what can be bounded."
            )
        of = tuple(word.strip() for word in (form["of"] or "").split(",") if word.strip())
        try:
            bound = float(form["bound"])
        except ValueError:
            raise DataError(f"{text!r}: {form['bound']!r} is no number.") from None
        return cls(form["name"], of, form["sign"] == ">=", bound)

    @property
    def written(self) -> str:
        """As it is written.

        >>> Requirement.read("matched_subsets.gap<=0.02").written
        'matched_subsets.gap <= 0.02'
        """
        of = f"[{', '.join(self.of)}]" if self.of else ""
        return f"{self.name}{of} {'>=' if self.at_least else '<='} {self.bound:g}"

    def meant(self, found: Sequence[Quantity]) -> tuple[Quantity, ...]:
        """The numbers that it is about. Raises DataError where there are none, naming those that there are."""
        meant = tuple(one for one in found if one.name == self.name and set(self.of) <= set(one.of))
        if not meant:
            there = ", ".join(one.title for one in found) or "nothing"
            raise DataError(f"{self.written}: nothing of this name was found. There is {there}.")
        return meant

    def decide(self, of: Quantity) -> Decision:
        """Whether the whole interval lies on the right side of the bound, on the wrong one, or holds it.

        >>> from touchstone.core.evaluate.intervals import Interval
        >>> at_least = Requirement.read("source_robustness.rho >= .9")
        >>> ends = [(0.91, 0.97), (0.7, 0.89), (0.85, 0.95)]
        >>> [at_least.decide(Quantity("source_robustness.rho", (), 0.9, Interval(*each), 9)) for each in ends]
        ['holds', 'fails', 'undecided']
        """
        if not of.interval.known:
            return "undecided"
        if self.at_least:
            return (
                "holds"
                if of.interval.lower >= self.bound
                else "fails"
                if of.interval.upper < self.bound
                else "undecided"
            )
        return (
            "holds" if of.interval.upper <= self.bound else "fails" if of.interval.lower > self.bound else "undecided"
        )


@dataclass(frozen=True)
class Outcome:
    """A requirement, a number that it is about, and what came of it."""

    requirement: Requirement
    of: Quantity
    decision: Decision


def exit_status(outcomes: Sequence[Outcome], *, undecided: int = 3) -> int:
    """1 where anything fails, else `undecided` where anything is, else 0.

    >>> exit_status(())
    0
    """
    decisions = {outcome.decision for outcome in outcomes}
    return 1 if "fails" in decisions else undecided if "undecided" in decisions else 0
