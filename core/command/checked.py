"""What did a sheet come to, and how is it written? In words, as a table, as JSON, as JUnit, or as a page."""

import argparse
import json
import re
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from touchstone.core.command.given_files import Compared
from touchstone.core.command.requirements import NOT_OF_RUNS, Outcome, Required, RequiredClaim, exit_status
from touchstone.core.data import DataError
from touchstone.core.evaluate.claims import KINDS
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.wording import fixed
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.parts import Answer, Column, Quantity, Report, Section, Table
from touchstone.core.report.stated import QUANTITIES, StatedClaim, muted_kinds

GOES_ON = "The same command goes on."
_UNITS = {"s": 1, "m": 60, "h": 3600}
_HOW_TO_READ = (
    "A requirement **holds** if the whole 95 % interval lies on its side of the bound, and **fails** if it lies on "
    "the other side. If the interval contains the bound, it is **undecided**: more samples, sources or repeats "
    "would settle it. A required claim holds if it is made, and one that is required not to be made if it is decided "
    "otherwise. A **muted** claim counts for nothing; its reason stands beside it."
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
        from touchstone.core.report import markdown

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
        from touchstone.core.report.html import to_html
        from touchstone.core.report.overview import axis_figure, marks_of

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


@dataclass(frozen=True)
class Unfinished:
    """A question that has no whole answer, by its stem, and why; `goes_on` where more time would bring one."""

    stem: str
    why: str
    goes_on: bool = False

    @property
    def says(self) -> str:
        """The question's name, and why."""
        return named(self.stem, self.why)


def check_compared(compared: Compared, require: Sequence[Required], reasons: Mapping[str, str]) -> Checked:
    """What two files come to, and whether what is required holds of it; `reasons` say why codes are muted."""
    mute, found = muted_kinds(reasons), compared.answer.numbers
    claims = [StatedClaim(compared.stem, (of,), made, mute.get(made.kind, "")) for of, made in compared.claims]
    every = (*found, *claims)
    outcomes, said = tuple(outcomes_of(require, reasons, every, every)), (compared.verdict.muting(mute).text,)
    return Checked(found, tuple(claims), outcomes, said, (), notes=compared.notes)


def named(stem: str, text: str) -> str:
    """What is said of a question, after its name.

    >>> named("average_case", "There was no time left."), named("parametric_null", "There was none.")
    ('Average case: There was no time left.', 'How hard are held-out clusters of data without groups? There was none.')
    """
    name = QUESTIONS[stem].name or QUESTIONS[stem].title
    return f"{name}{'' if name.endswith('?') else ':'} {text}"


def write(checked: Checked, chosen: argparse.Namespace, subject: str) -> int:
    """Write what was asked for, a report about `subject`, and return the exit status."""
    for name, content in (
        (chosen.report, lambda: checked.to_html(subject)),
        (chosen.json, lambda: checked.to_json().encode()),
        (chosen.summary, lambda: checked.to_markdown(subject)),
        (chosen.junit, lambda: checked.to_junit(undecided_passes=chosen.undecided == "pass").encode()),
    ):
        if name is not None:
            write_file(name, content())
    checked.table().to_csv(sys.stdout, sep="\t", index=False)
    for sentence in (*checked.notes, *checked.said, *checked.unfinished):
        print(sentence, file=sys.stderr)
    for outcome in checked.outcomes:
        print(f"{outcome.decision}: {outcome.requirement.written} ({_told(outcome.of)})", file=sys.stderr)
    return exit_status(checked.outcomes, undecided={"pass": 0, "fail": 1, None: 3}[chosen.undecided])


def write_file(name: str, content: bytes) -> None:
    """Write what was asked for. Raises DataError where it cannot be."""
    try:
        Path(name).write_bytes(content)
    except OSError as error:
        raise DataError(f"{name}: cannot be written ({error}). Name a file in a folder that exists.") from None


def outcomes_of(
    require: Sequence[Required],
    muted: Container[str],
    found: Sequence[Quantity | StatedClaim],
    decided: Sequence[Quantity | StatedClaim],
    unfinished: Sequence[Unfinished] = (),
) -> list[Outcome]:
    """What came of each requirement; undecided where its question lacked time, or came to no such claim."""
    outcomes = []
    answered = {each.question for each in found if isinstance(each, StatedClaim)}
    for requirement in require:
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
            outcomes.append(Outcome(requirement, of, "muted" if requirement.name in muted else decision))
    return outcomes


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
