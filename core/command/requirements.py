"""Does a result hold what somebody requires of it? Yes, no, or undecided; never by the number alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.core import COMMAND
from touchstone.core.data import DataError
from touchstone.core.evaluate.claims import KINDS, kind_of_code
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.report.parts import Quantity
from touchstone.core.report.stated import OF_A_METRIC, QUANTITIES, StatedClaim

_BY_PAGE = 'It is claimed on the page of test quality, and by touchstone.check("test_quality", ...).'
_BY_OVERVIEW = "It is claimed on the overview."
NOT_OF_RUNS = {
    **dict.fromkeys(("Q01", "Q02", "Q03", "Q04", "Q05"), _BY_PAGE),
    "G03": "It is claimed on the page of guided tests, where a second model is beside.",
    **dict.fromkeys(("O01", "O02", "O03"), _BY_OVERVIEW),
    "W01": "Weak slices have a command of their own: touchstone slices.",
}
"""Codes of claims that no run comes to, and where they are made."""
DECISIONS = ("above", "below", "small")
OF_MODELS = {"difference": "model_comparison.difference", "changed": "model_comparison.changed"}
"""What numbers of models on the same samples are called for short."""

Decision = Literal["holds", "fails", "undecided", "muted"]
_FORM = re.compile(
    r"\s*(?P<name>[\w.]+?)(?:\.(?P<end>lower|upper))?\s*(?:\[(?P<of>[^\]]*)\])?\s*(?P<sign>>=?|<=?)\s*(?P<bound>[-+]?[\d.]+(?:e-?\d+)?)\s*"
)

_CLAIM = re.compile(r"\s*(?P<denied>not\s+)?(?P<code>[A-Z]\d\d)\s*(?:\[(?P<of>[^\]]*)\])?\s*")


def required(text: str) -> "Requirement | RequiredClaim":
    """What is required, of a number or of a claim, as it is written. Raises DataError for what is neither.

    >>> required("not M01[svm]")
    RequiredClaim(name='M01', of=('svm',), denied=True)
    >>> required("not Q06")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: 'not Q06' can never hold: that there is no such effect is never claimed. ...
    """
    form = _CLAIM.fullmatch(text)
    if form is None:
        return Requirement.read(text)
    if (kind := kind_of_code(form["code"])) is None:
        raise DataError(f"{text!r}: {form['code']} is no code of a claim. {COMMAND} claims lists them.")
    if form["code"] in NOT_OF_RUNS:
        raise DataError(f"{text!r}: no run of this command comes to {form['code']}. {NOT_OF_RUNS[form['code']]}")
    claimed, denied = KINDS[kind], form["denied"] is not None
    if denied and not any(getattr(claimed, other) for other in DECISIONS if other not in claimed.made):
        raise DataError(
            f"{text!r} can never hold: that there is no such effect is never claimed. Leave it out, or bound a number."
        )
    return RequiredClaim(form["code"], _words(form["of"]), denied)


def _words(of: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (of or "").split(",") if word.strip())


@dataclass(frozen=True)
class RequiredClaim:
    """A claim that must be made, or must not be where it is `denied`; `of` narrows it to a model."""

    name: str
    of: tuple[str, ...]
    denied: bool

    @property
    def stems(self) -> tuple[str, ...]:
        """The question whose claim it is."""
        return (str(kind_of_code(self.name)).partition(".")[0],)

    @property
    def written(self) -> str:
        """As it is written.

        >>> required("not  M01").written
        'not M01'
        """
        of = f"[{', '.join(self.of)}]" if self.of else ""
        return f"{'not ' * self.denied}{self.name}{of}"

    def meant(self, found: Sequence[Quantity | StatedClaim]) -> tuple[StatedClaim, ...]:
        """The claims that it is about. Raises DataError where there are none."""
        claims = [each for each in found if isinstance(each, StatedClaim)]
        meant = tuple(each for each in claims if each.name == self.name and set(self.of) <= set(each.of))
        if not meant:
            there = ", ".join(sorted({each.name for each in claims})) or "no claim"
            raise DataError(f"{self.written}: no such claim was looked at. There is {there}.")
        return meant

    def decide(self, of: Quantity | StatedClaim) -> Decision:
        """Whether the claim is made, or is decided otherwise; undecided where the claim is.

        >>> from touchstone.core.evaluate.claims import claim
        >>> from touchstone.core.evaluate.intervals import Interval
        >>> ends = [((0.05, 0.15), 0.001), ((-0.15, -0.05), 0.001), ((-0.002, 0.002), 0.9), ((-0.1, 0.1), 0.9)]
        >>> made = [claim("matched_subsets.falls", sum(each) / 2, Interval(*each), p) for each, p in ends]
        >>> [required("not M01").decide(StatedClaim("matched_subsets", (), each)) for each in made]
        ['fails', 'holds', 'holds', 'undecided']
        """
        if not isinstance(of, StatedClaim) or not of.claim.decided:
            return "undecided"
        return "holds" if (of.claim.decision in of.claim.of_kind.made) != self.denied else "fails"


@dataclass(frozen=True)
class Requirement:
    """A number that must be at least (or at most) a bound; `of` narrows it to a model, a scheme or a sigma.

    A metric alone is meant wherever it is found, of two test sets on the new one. Of an `end` of the interval only that
    is held against the bound, which is never undecided.

    Examples
    --------
    >>> Requirement.read("source_robustness.rho[svm] >= .9")
    Requirement(name='source_robustness.rho', of=('svm',), at_least=True, bound=0.9, end='')
    >>> Requirement.read("balanced_accuracy.lower >= .8").written
    'balanced_accuracy.lower >= 0.8'
    >>> Requirement.read("difference.lower > -.01").written
    'model_comparison.difference.lower >= -0.01'
    >>> Requirement.read("rho = .9")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: 'rho = .9' is no requirement. Write one such as 'source_robustness.rho ...
    """

    name: str
    of: tuple[str, ...]
    at_least: bool
    bound: float
    end: Literal["", "lower", "upper"] = ""

    @classmethod
    def read(cls, text: str) -> "Requirement":
        """Read one as it is written. Raises DataError for what is none, or is of a number that cannot be bounded."""
        form = _FORM.fullmatch(text)
        name = "" if form is None else OF_MODELS.get(form["name"], form["name"])
        if form is None or name not in {*QUANTITIES, *METRICS}:
            raise DataError(
                f"{text!r} is no requirement. Write one such as 'source_robustness.rho >= .9' or "
                f"'balanced_accuracy.lower >= .8'; {COMMAND} check --explain lists what can be bounded."
            )
        try:
            bound = float(form["bound"])
        except ValueError:
            raise DataError(f"{text!r}: {form['bound']!r} is no number.") from None
        return cls(name, _words(form["of"]), form["sign"][0] == ">", bound, form["end"] or "")

    @property
    def stems(self) -> tuple[str, ...]:
        """The questions whose number it is: one, or of a metric alone all that tell metrics."""
        names = OF_A_METRIC if self.name in METRICS else (self.name,)
        return tuple(name.partition(".")[0] for name in names)

    @property
    def written(self) -> str:
        """As it is written.

        >>> Requirement.read("matched_subsets.gap<=0.02").written
        'matched_subsets.gap <= 0.02'
        """
        of = f"[{', '.join(self.of)}]" if self.of else ""
        end = f".{self.end}" if self.end else ""
        return f"{self.name}{end}{of} {'>=' if self.at_least else '<='} {self.bound:g}"

    def meant(self, found: Sequence[Quantity | StatedClaim]) -> tuple[Quantity, ...]:
        """The numbers that it is about. Raises DataError where there are none, naming those that there are."""
        numbers = [one for one in found if isinstance(one, Quantity)]
        meant = tuple(one for one in numbers if self._is_about(one))
        if not meant:
            there = ", ".join(one.title for one in numbers) or "nothing"
            raise DataError(f"{self.written}: nothing of this name was found. There is {there}.")
        return meant

    def _is_about(self, number: Quantity) -> bool:
        if self.name not in METRICS:
            return number.name == self.name and set(self.of) <= set(number.of)
        if number.name not in OF_A_METRIC or set(self.of) - set(number.of):
            return False
        at = OF_A_METRIC[number.name]
        return number.of[at] == self.name and number.of[at + 1 :] != ("reference",)

    def decide(self, of: Quantity | StatedClaim) -> Decision:
        """Whether the whole interval lies on the right side of the bound, on the wrong one, or holds it.

        >>> from touchstone.core.evaluate.intervals import Interval
        >>> at_least = Requirement.read("source_robustness.rho >= .9")
        >>> ends = [(0.91, 0.97), (0.7, 0.89), (0.85, 0.95)]
        >>> [at_least.decide(Quantity("source_robustness.rho", (), 0.9, Interval(*each), 9)) for each in ends]
        ['holds', 'fails', 'undecided']
        """
        if not isinstance(of, Quantity) or not of.interval.known:
            return "undecided"
        lower, upper, bound = of.interval.lower, of.interval.upper, self.bound
        if self.end:
            lower = upper = getattr(of.interval, self.end)
        holds, fails = (lower >= bound, upper < bound) if self.at_least else (upper <= bound, lower > bound)
        return "holds" if holds else "fails" if fails else "undecided"


Required = Requirement | RequiredClaim
"""What may be required: of a number, or of a claim."""


@dataclass(frozen=True)
class Outcome:
    """A requirement, a number or a claim that it is about, and what came of it."""

    requirement: Required
    of: Quantity | StatedClaim
    decision: Decision


def exit_status(outcomes: Sequence[Outcome], *, undecided: int = 3) -> int:
    """1 where anything fails, else `undecided` where anything is, else 0; what is muted does not count.

    >>> exit_status(())
    0
    """
    decisions = {outcome.decision for outcome in outcomes}
    return 1 if "fails" in decisions else undecided if "undecided" in decisions else 0
