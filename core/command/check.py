"""Can an accuracy be trusted as far as somebody requires? Questions, worked off without a browser.

A sheet is JSON, in a file or as the word itself: `plans` as the pages' “copy as command” gives them, `compare` with
options of that command, `require`, sentences such as "source_robustness.rho >= .9" or "not S01", and `mute`, reasons by
code of claim. Where no plans are given, data are asked every question with its usual settings, as the page's “Ask all
questions” does. The numbers are those of the pages, of the same runs.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pandas as pd

from touchstone.core import COMMAND
from touchstone.core.command.given_files import Compared, add_compare_options, add_roles, compare_files, json_or_file
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import set_aside
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.predictions.roles import ONE_EACH
from touchstone.core.data.tables.roles import SINGLE
from touchstone.core.evaluate.claims import KINDS, kind_of_code
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import METRICS, metric_named
from touchstone.core.evaluate.wording import Verdict, fixed
from touchstone.core.questions import QUESTIONS, of_kind
from touchstone.core.report import markdown
from touchstone.core.report.html import to_html
from touchstone.core.report.overview import axis_figure, marks_of
from touchstone.core.report.parts import Answer, Column, Quantity, Report, Section, Table
from touchstone.core.report.run_report import OF_A_METRIC, QUANTITIES, StatedClaim, answer_of, muted_kinds
from touchstone.core.trials import Plan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, WorkspaceError, load_plan
from touchstone.core.workspace.engine.runner import NO_TIME, Step, usual_steps

# Does a result hold what somebody requires of it? Yes, no, or undecided; never by the number alone.


_BY_PAGE = 'It is claimed on the page of test quality, and by touchstone.check("test_quality", ...).'
_BY_OVERVIEW = "It is claimed on the overview."
NOT_OF_RUNS = {
    **dict.fromkeys(("Q01", "Q02", "Q03", "Q04", "Q05"), _BY_PAGE),
    "G03": "It is claimed on the page of guided tests, where a second model is beside.",
    **dict.fromkeys(("O01", "O02", "O03"), _BY_OVERVIEW),
}
"""Codes of claims that no run comes to, and where they are made."""
OF_PREDICTIONS = tuple(role for role in ONE_EACH if role not in (*SINGLE, "model"))
"""Roles that files of predictions alone have; there --model is a file."""
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


@dataclass(frozen=True)
class Outcome:
    """A requirement, a number or a claim that it is about, and what came of it."""

    requirement: Requirement | RequiredClaim
    of: Quantity | StatedClaim
    decision: Decision


def exit_status(outcomes: Sequence[Outcome], *, undecided: int = 3) -> int:
    """1 where anything fails, else `undecided` where anything is, else 0; what is muted does not count.

    >>> exit_status(())
    0
    """
    decisions = {outcome.decision for outcome in outcomes}
    return 1 if "fails" in decisions else undecided if "undecided" in decisions else 0


# Does it hold? A sheet is checked against runs, and a report in words, as JSON or as JUnit says how it went.


_KEYS = ("plans", "compare", "require", "mute")
GOES_ON = "The same command goes on."
_UNITS = {"s": 1, "m": 60, "h": 3600}
_HOW_TO_READ = (
    "A requirement **holds** if the whole 95 % interval lies on its side of the bound, and **fails** if it lies on "
    "the other side. If the interval contains the bound, it is **undecided**: more samples, sources or repeats "
    "would settle it. A required claim holds if it is made, and one that is required not to be made if it is decided "
    "otherwise. A **muted** claim counts for nothing; its reason stands beside it."
)


@dataclass(frozen=True)
class Sheet:
    """What is asked: plans, options of a comparison, requirements, and why which claims (by code) are muted."""

    plans: tuple[Plan, ...] = ()
    compare: dict[str, Any] = field(default_factory=dict)
    require: tuple[Requirement | RequiredClaim, ...] = ()
    mute: dict[str, str] = field(default_factory=dict)
    metric: tuple[str, str | None] | None = None
    """What verdicts of runs are about, where one may choose, and the class that it is about."""

    @classmethod
    def read(cls, text: str, name: str) -> "Sheet":
        """Read a sheet. Raises DataError, naming the place, for anything else.

        >>> Sheet.read('{"require": ["matched_subsets.gap <= .02"]}', "sheet.json").require[0].bound
        0.02
        """
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(f"{name}, line {error.lineno}: this is no JSON ({error.msg}).") from None
        if not isinstance(content, dict) or content.keys() - set(_KEYS):
            raise DataError(f"{name}: a sheet is an object with {', '.join(map(repr, _KEYS))}, and nothing else.")
        plans, compare, require, mute = (content.get(*each) for each in zip(_KEYS, ([], {}, [], {}), strict=True))
        if not (isinstance(plans, list) and isinstance(compare, dict) and isinstance(require, list)):
            raise DataError(f"{name}: 'plans' and 'require' are lists, and 'compare' is an object of options.")
        if not (isinstance(mute, dict) and all(isinstance(reason, str) for reason in mute.values())):
            raise DataError(f'{name}: \'mute\' is an object of reasons by code, such as {{"M01": "agreed until May"}}.')
        return cls(
            tuple(load_plan(json.dumps(plan)) for plan in plans),
            compare,
            tuple(required(str(one)) for one in require),
            mute,
        )


@dataclass(frozen=True)
class Checked:
    """What a sheet came to: numbers, claims, outcomes, sentences, and what was not finished."""

    found: tuple[Quantity, ...]
    claims: tuple[StatedClaim, ...]
    outcomes: tuple[Outcome, ...]
    said: tuple[str, ...]
    unfinished: tuple[str, ...]
    words: InWords = OF_ACCURACY
    """Of what the axis of its report is."""
    notes: tuple[str, ...] = ()
    """How what was given was read."""

    def table(self) -> pd.DataFrame:
        """Tidy rows: requirement, number, value, lower, upper, n, decision; those of which nothing is required last."""
        asked = {outcome.of for outcome in self.outcomes}
        rows = [_row(outcome.requirement.written, outcome.of, outcome.decision) for outcome in self.outcomes]
        rows += [_row("", of, "") for of in self.found if of not in asked]
        table = pd.DataFrame(rows, columns=["requirement", "number", "value", "lower", "upper", "n", "decision"])
        return table.astype({"n": "Int64"})  # claims have none

    def to_json(self) -> str:
        """The tables, the sentences and what is unfinished, as JSON."""
        tables = self.table(), pd.DataFrame([each.cells for each in self.claims])  # the muted ones with their reasons
        numbers, claims = (each.astype(object).where(each.notna(), None).to_dict("records") for each in tables)
        content = {
            "numbers": numbers,
            "claims": claims,
            "said": (*self.notes, *self.said),
            "unfinished": self.unfinished,
        }
        return json.dumps(content, indent=1)

    def to_junit(self, *, undecided_passes: bool) -> str:
        """A test case for each outcome, as JUnit has them: an undecided one is a failure, or skipped if it passes."""
        suite = ElementTree.Element("testsuite", name="touchstone", tests=str(len(self.outcomes)))
        counts = {"failures": 0, "skipped": 0}
        for outcome in self.outcomes:
            case = ElementTree.SubElement(
                suite, "testcase", classname=outcome.requirement.written, name=outcome.of.title
            )
            if outcome.decision == "holds":
                continue
            skipped = outcome.decision == "muted" or (outcome.decision == "undecided" and undecided_passes)
            counts["skipped" if skipped else "failures"] += 1
            told = {"message": f"{outcome.decision}: {_told(outcome.of)}"}
            if not skipped:
                told["type"] = outcome.decision
            ElementTree.SubElement(case, "skipped" if skipped else "failure", told)
        for name, n in counts.items():
            suite.set(name, str(n))
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)

    def to_markdown(self, subject: str) -> bytes:
        """A summary for a pull request: what is required and decided (or the first numbers), and a sentence a question.

        >>> print(Checked((), (), (), ("All is well.\\nn = 9.",), ()).to_markdown("old.csv and new.csv").decode())
        ### old.csv and new.csv
        <BLANKLINE>
        All is well.
        <BLANKLINE>
        """
        head, rows = ("Found",), [(_told(each),) for each in self.found]
        if self.outcomes:
            head = ("Decision", "Requirement", "Found")
            rows = [(one.decision, one.requirement.written, _told(one.of)) for one in self.outcomes]
        told = [text.partition("\n")[0] for text in (*self.said, *self.unfinished)][:MOST_SUMMARISED]
        shown = markdown.table(head, rows[:MOST_SUMMARISED]) if rows else ""
        more = f"{len(rows) - MOST_SUMMARISED} more are not shown." if len(rows) > MOST_SUMMARISED else ""
        parts = (f"### {markdown.escaped(subject)}", *map(markdown.escaped, told), shown, more)
        return ("\n\n".join(part for part in parts if part) + "\n").encode()

    def to_html(self, subject: str) -> bytes:
        """One page that needs no network."""
        decided = [
            f"{outcome.requirement.written}: {outcome.decision} ({_told(outcome.of)})" for outcome in self.outcomes
        ]
        shown = marks_of(self.found, self.words.metric.name)
        ends = tuple(Column(name, "", decimals=4) for name in ("value", "lower", "upper"))
        sections = [
            Section("What is required", tuple(decided) or ("Nothing is required.",)),
            Section("In sentences", (*self.notes, *self.said, *self.unfinished) or ("Nothing was computed.",)),
            Section("In numbers", (Table("Numbers with their 95 % intervals", self.table(), ends),)),
        ]
        if self.claims:
            claims = Table.of("Claims by code, as decided", self.claims, _CLAIM_COLUMNS)
            sections.insert(-1, Section("Claims", (claims,)))
        if shown:
            sections.insert(0, Section("", (axis_figure(shown, None, words=self.words),)))
        answer = Answer(None, (), tuple(sections))
        return to_html(Report("Can this accuracy be trusted?", subject, answer, _HOW_TO_READ, (), ""))


MOST_SUMMARISED = 12
"""So many lines and sentences are in a summary, which is read between others."""
_CLAIM_COLUMNS = (
    Column("Claim", "title"),
    Column("Decision", lambda each: each.claim.decision),
    Column("Muted", "muted"),
    Column("Page", lambda each: each.claim.of_kind.page),
)


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command besides those of the data set."""
    parser.add_argument(
        "sheet",
        nargs="?",
        metavar="SHEET.json",
        help="questions, settings and requirements: a file, or the JSON itself",
    )
    parser.add_argument("--predictions", nargs=2, metavar=("REFERENCE", "TARGET"), help="two files of predictions")
    parser.add_argument(
        "--metric",
        choices=tuple(METRICS),
        help="what verdicts are about, of two files, of folds, on held-out sources and of more samples",
    )
    parser.add_argument("--positive-class", metavar="NAME", help="the class that sensitivity and the like are about")
    parser.add_argument(
        "--budget", type=seconds, metavar="TIME", help="such as 90s, 10m or 2h; the same command goes on"
    )
    parser.add_argument("--explain", action="store_true", help="list what can be required")
    columns = parser.add_argument_group("columns of the files of --predictions")
    add_roles(columns, OF_PREDICTIONS)
    add_decision_options(parser)


def add_decision_options(parser: argparse.ArgumentParser) -> None:
    """What is required, muted and written, of whatever is checked."""
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="TEXT",
        help="such as 'source_robustness.rho >= .9', or 'not M01' of a claim",
    )
    parser.add_argument(
        "--mute",
        action="append",
        default=[],
        type=_muted,
        metavar="CODE=REASON",
        help="a claim that is neither said nor counted, and why, such as 'M01=agreed until May'",
    )
    parser.add_argument("--undecided", choices=("pass", "fail"), help="how an undecided requirement counts")
    parser.add_argument("--report", metavar="FILE.html", help="write a page that needs no network")
    parser.add_argument("--json", metavar="FILE.json", help="write numbers and decisions")
    parser.add_argument("--junit", metavar="FILE.xml", help="write decisions as JUnit does")
    parser.add_argument("--summary", metavar="FILE.md", help="write a short summary in Markdown, as for a pull request")


def seconds(text: str) -> float:
    """A time as people write it.

    >>> seconds("10m"), seconds("1.5h")
    (600.0, 5400.0)
    """
    form = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if form is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 90s, 10m or 2h")
    return float(form[1]) * _UNITS[form[2]]


def _muted(text: str) -> tuple[str, str]:
    """A code and its reason.

    >>> _muted("M01=agreed until May")
    ('M01', 'agreed until May')
    """
    code, _, reason = text.partition("=")
    return code.strip(), reason.strip()


def explained() -> str:
    """What can be required, a line each: numbers that can be bounded, and claims by code."""
    width = max(map(len, QUANTITIES))
    metrics = {
        name: f"{metric.title}, wherever it is told; of two files on the new one" for name, metric in METRICS.items()
    }
    meanings = {
        **QUANTITIES,
        **metrics,
        **{each.code: each.title for each in KINDS.values() if each.code not in NOT_OF_RUNS},
    }
    return "".join(f"{name:<{width}}  {meaning}\n" for name, meaning in meanings.items())


def read_sheet(chosen: argparse.Namespace) -> Sheet:
    """The sheet that was named, with what the options add. Raises DataError where nothing is asked."""
    sheet, name = Sheet(), chosen.sheet
    if name is not None:
        content = json_or_file(name, remedy="Name a sheet.")
        name = "The sheet" if content == name else name
        sheet = Sheet.read(content, name)
    more = tuple(map(required, chosen.require))
    if chosen.data is chosen.predictions is chosen.model is None and not sheet.plans:
        raise DataError("Nothing is asked: name data with --data, or two files with --predictions.")
    if chosen.data is None and (sheet.plans or chosen.model is not None):
        given = f"{name} holds plans" if sheet.plans else f"{chosen.model} is a model"
        raise DataError(f"{given}: say of which data with --data.")
    compare = sheet.compare | _of_predictions(chosen)
    metric = (chosen.metric, chosen.positive_class) if chosen.metric else None
    return Sheet(sheet.plans, compare, (*sheet.require, *more), {**sheet.mute, **dict(chosen.mute)}, metric)


def _of_predictions(chosen: argparse.Namespace) -> dict[str, str]:
    """What options say of the two files. Raises DataError for columns of data, or of predictions, that are not given.

    Ids and sources are those of the data where there are some.
    """
    of_files = {role: value for role in OF_PREDICTIONS if (value := getattr(chosen, role)) is not None}
    if chosen.predictions is None:
        if of_files:
            raise DataError(f"--{next(iter(of_files))} is of two files of predictions: name them with --predictions.")
        return {}
    shared = ("unit", "metric", "positive_class")
    if chosen.data is None:
        if only := next((role for role in SINGLE if role not in ONE_EACH and getattr(chosen, role) is not None), None):
            remedy = "say --truth of predictions" if only == "label" else "leave it out"
            raise DataError(f"--{only} is a column of --data, and none is given: {remedy}.")
        shared += ("id", "source", "sourceless")
    return of_files | {name: value for name in shared if (value := getattr(chosen, name))}


@dataclass(frozen=True)
class Unfinished:
    """A question that has no whole answer, by its stem, and why; `goes_on` where more time would bring one."""

    stem: str
    why: str
    goes_on: bool = False

    @property
    def says(self) -> str:
        """The question's name, and why."""
        return _named(self.stem, self.why)


def check(
    sheet: Sheet,
    workspace: Workspace,
    *,
    fingerprint: str | None,
    predictions: Sequence[str] | None,
    work_off: Callable[[Plan, str, float | None], Run],
    budget: float | None,
    model: str | None = None,
) -> Checked:
    """Work everything off, within `budget` seconds, and decide what is required.

    `fingerprint` is of stored data; where the sheet has no plans for them, they are asked every usual question, those
    of one model of the stored `model`. `work_off(plan, fingerprint, until)` runs a plan and returns it finished, or as
    far as it came by `until` (`time.monotonic`). Numbers and claims of a run that is not finished are shown, and decide
    nothing. Sentences that rest on a muted claim are left out, and it counts for no requirement.
    """
    until, mute = None if budget is None else time.monotonic() + budget, muted_kinds(sheet.mute)
    found: list[Quantity] = []
    claims: list[StatedClaim] = []
    decided: list[Quantity | StatedClaim] = []
    said, unfinished, notes = [], [], ()

    def stated(stem: str, verdict: Verdict, *of: str) -> list[StatedClaim]:
        return [StatedClaim(stem, of, made, mute.get(made.kind, "")) for made in verdict.claims]

    if predictions is not None:
        compared = compare_files(_compare_options(sheet, predictions), workspace, LOCAL_OWNER)
        of_files = check_compared(compared, replace(sheet, require=()))
        found, claims, said = list(of_files.found), list(of_files.claims), list(of_files.said)
        notes = of_files.notes
        decided += [*found, *claims]
    for step in _steps(sheet, workspace, fingerprint, model):
        assert fingerprint is not None
        try:
            plan, used, aside = step.make(), fingerprint, ""
            try:
                run = None if plan is None else _run(plan, workspace, fingerprint, work_off, until)
            except SmallClasses as problem:
                left = set_aside(workspace.dataset(LOCAL_OWNER, fingerprint), problem)
                used, aside = workspace.add_dataset(LOCAL_OWNER, left), left.notes[-1]
                run = None if plan is None else _run(plan, workspace, used, work_off, until)
        except (DataError, WorkspaceError) as problem:
            if sheet.plans:
                raise
            late = _is_over(until)  # what it rests on, such as a trained model, may be missing for lack of time alone
            why = f"{NO_TIME} {GOES_ON}" if late else str(problem)
            unfinished.append(Unfinished(step.stem, why, goes_on=late))
            continue
        if plan is None:
            continue
        if run is None:
            unfinished.append(Unfinished(step.stem, f"{NO_TIME} {GOES_ON}", goes_on=True))
            continue
        if run.state != "done":
            far = f"{run.state}, {run.n_done} of {run.n_trials} trials"
            unfinished.append(Unfinished(step.stem, f"{far}. {GOES_ON}", goes_on=True))
        elif run.n_failed:
            unfinished.append(Unfinished(step.stem, f"{run.n_failed} of {run.n_trials} trials failed. {run.errors[0]}"))
        if run.n_done > run.n_failed:
            rows, dataset = workspace.rows(LOCAL_OWNER, run.id), workspace.dataset(LOCAL_OWNER, used)
            answer, usual = _answer(rows, dataset, plan, sheet.metric)
            answer = answer.beginning(aside) if aside else answer
            made = [] if answer.verdict is None else stated(step.stem, answer.verdict)
            found += answer.numbers
            claims += made
            decided += [*answer.numbers, *made] if run.state == "done" else []
            said += [] if answer.verdict is None else [_named(step.stem, answer.verdict.muting(mute).text) + usual]
    outcomes = _outcomes(sheet, (*found, *claims), decided, unfinished)
    words = InWords(metric_named(sheet.metric[0]), sheet.metric[1]) if sheet.metric else OF_ACCURACY
    late = tuple(one.says for one in unfinished)
    return Checked(tuple(found), tuple(claims), tuple(outcomes), tuple(said), late, words, notes)


def check_compared(compared: Compared, sheet: Sheet) -> Checked:
    """What two files come to, and whether what the sheet requires holds of it."""
    mute, found = muted_kinds(sheet.mute), compared.answer.numbers
    claims = [StatedClaim(compared.stem, (of,), made, mute.get(made.kind, "")) for of, made in compared.claims]
    every = (*found, *claims)
    outcomes, said = tuple(_outcomes(sheet, every, every, ())), (compared.verdict.muting(mute).text,)
    return Checked(found, tuple(claims), outcomes, said, (), notes=compared.notes)


def _answer(
    rows: pd.DataFrame, dataset: Dataset, plan: Plan, metric: tuple[str, str | None] | None
) -> tuple[Answer, str]:
    """What a run comes to by a metric; by the usual one, with the reason, where its trials do not give that.

    Raises DataError where it is about a class that the data have not.
    """
    if metric is not None and metric[1] is not None and metric[1] not in dataset.class_names:
        raise DataError(f"There is no class {metric[1]!r}. Choose from {', '.join(dataset.class_names)}.")
    try:
        return answer_of(rows, dataset, plan, metric=metric), ""
    except DataError as problem:
        if metric is None:
            raise
        return answer_of(rows, dataset, plan), f" {problem}"


def _steps(sheet: Sheet, workspace: Workspace, fingerprint: str | None, model: str | None) -> tuple[Step, ...]:
    """What is worked off: the sheet's plans, or else every usual question about the data."""
    if fingerprint is None:
        return ()
    if not sheet.plans:
        return usual_steps(workspace, LOCAL_OWNER, fingerprint, model=model)
    return tuple(Step(_stem(plan), partial(_itself, plan)) for plan in sheet.plans)


def _named(stem: str, text: str) -> str:
    """What is said of a question, after its name.

    >>> _named("average_case", "There was no time left."), _named("parametric_null", "There was none.")
    ('Average case: There was no time left.', 'How hard are held-out clusters of data without groups? There was none.')
    """
    name = QUESTIONS[stem].name or QUESTIONS[stem].title
    return f"{name}{'' if name.endswith('?') else ':'} {text}"


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until


def _stem(plan: Plan) -> str:
    question = of_kind(plan.kind)
    return plan.kind if question is None else question.stem


def _itself(plan: Plan) -> Plan:
    return plan


def _run(
    plan: Plan,
    workspace: Workspace,
    fingerprint: str,
    work_off: Callable[[Plan, str, float | None], Run],
    until: float | None,
) -> Run | None:
    """The run of a plan, as far as it comes; when the time is up what there is of it, or None."""
    if _is_over(until):
        run = workspace.find_run(LOCAL_OWNER, plan, fingerprint)
        return None if run is None or run.older_method else run
    return work_off(plan, fingerprint, until)


def write(checked: Checked, chosen: argparse.Namespace, subject: str) -> int:
    """Write what was asked for, a report about `subject`, and return the exit status."""
    for name, content in (
        (chosen.report, lambda: checked.to_html(subject)),
        (chosen.json, lambda: checked.to_json().encode()),
        (chosen.summary, lambda: checked.to_markdown(subject)),
        (chosen.junit, lambda: checked.to_junit(undecided_passes=chosen.undecided == "pass").encode()),
    ):
        if name is not None:
            try:
                Path(name).write_bytes(content())
            except OSError as error:
                raise DataError(f"{name}: cannot be written ({error}). Name a file in a folder that exists.") from None
    checked.table().to_csv(sys.stdout, sep="\t", index=False)
    for sentence in (*checked.notes, *checked.said, *checked.unfinished):
        print(sentence, file=sys.stderr)
    for outcome in checked.outcomes:
        print(f"{outcome.decision}: {outcome.requirement.written} ({_told(outcome.of)})", file=sys.stderr)
    return exit_status(checked.outcomes, undecided={"pass": 0, "fail": 1, None: 3}[chosen.undecided])


def _outcomes(
    sheet: Sheet,
    found: Sequence[Quantity | StatedClaim],
    decided: Sequence[Quantity | StatedClaim],
    unfinished: Sequence[Unfinished],
) -> list[Outcome]:
    """What came of each requirement; undecided where its question lacked time, or came to no such claim."""
    outcomes = []
    answered = {each.question for each in found if isinstance(each, StatedClaim)}
    for requirement in sheet.require:
        try:
            meant = requirement.meant(found)
        except DataError as problem:
            of_it = [one for one in unfinished if one.stem in requirement.stems]
            no_claim = isinstance(requirement, RequiredClaim) and not requirement.of and answered & {*requirement.stems}
            if not no_claim and not any(one.goes_on for one in of_it):
                raise DataError(" ".join([str(problem), *(one.says for one in of_it)])) from None
            meant = (Quantity(requirement.name, requirement.of, float("nan"), UNKNOWN, 0),)
        for of in meant:
            decision = requirement.decide(of) if of in decided else "undecided"
            outcomes.append(Outcome(requirement, of, "muted" if requirement.name in sheet.mute else decision))
    return outcomes


def _compare_options(sheet: Sheet, predictions: Sequence[str]) -> argparse.Namespace:
    """Options of `compare` as a sheet says them. Raises DataError for one that there is not."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_compare_options(parser)
    reference, target = predictions
    given = [f"--reference={reference}", f"--target={target}"]
    known = {action.dest for action in parser._actions}
    for name, value in sheet.compare.items():
        if name.replace("-", "_") not in known:
            raise DataError(f"The sheet's 'compare' has no option {name!r}: {COMMAND} compare --help lists them.")
        given.append(f"--{name.replace('_', '-')}={value}")
    try:
        return parser.parse_args(given)
    except argparse.ArgumentError as error:
        raise DataError(f"The sheet's 'compare': {error}.") from None


def _row(requirement: str, of: Quantity | StatedClaim, decision: str) -> dict[str, object]:
    value, interval, n = _numbers(of)
    numbers = {"value": value, "lower": interval.lower, "upper": interval.upper, "n": n}
    return {"requirement": requirement, "number": of.title, **numbers, "decision": decision}


def _numbers(of: Quantity | StatedClaim) -> tuple[float, Interval, int | None]:
    if isinstance(of, Quantity):
        return of.value, of.interval, of.n
    return of.claim.estimate, of.claim.interval, None


def _told(of: Quantity | StatedClaim) -> str:
    value, interval, n = _numbers(of)
    if n == 0:
        return f"{of.title} is not computed yet"
    ends = f"[{fixed(interval.lower, 3)}, {fixed(interval.upper, 3)}]" if interval.known else "interval unknown"
    size = "" if n is None else f", n = {n}"
    because = f": {of.muted}" if isinstance(of, StatedClaim) and of.muted else ""
    return f"{of.title} {fixed(value, 3)} {ends}{size}{because}"
