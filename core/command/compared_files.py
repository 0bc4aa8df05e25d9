"""Does accuracy drop from one file of predictions to another? The same answer as the page's, by a command.

What the columns of the files are is said by options for both, or as JSON for each; what is not said is guessed.
"""

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import get_args

from touchstone.core import COMMAND
from touchstone.core.command.given_files import json_or_file
from touchstone.core.data import DataError, PredictionTable, Roles, RolesNeeded, guess_roles
from touchstone.core.data.predictions.pairs import Part, pair_predictions
from touchstone.core.data.predictions.roles import SHARED, Scores
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import join_predictions, read_predictions
from touchstone.core.data.tables import Table
from touchstone.core.evaluate.matched_subsets import ModelComparisons
from touchstone.core.evaluate.matched_subsets.plan import BINNING, MatchingPlan, TwoSets
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.parameters import ANYTHING, answers_of, asked, values_of
from touchstone.core.report.matched_subsets import answer
from touchstone.core.report.parts import Answer
from touchstone.core.workspace import Workspace

SIDES = ("reference", "target")
_MOST_ANSWERS = 5
_SEVERAL = ("probabilities", "parts", "classes", "why")
ROLES = tuple(each.name for each in fields(Roles) if each.name not in _SEVERAL)
"""The roles that are one column or word each."""
PARTS = tuple(each.name for each in fields(Part))
_WORDS = {
    "positive": "the class whose probability the confidence is, or 'predicted'",
    "scores": f"what the scores are: {' or '.join(get_args(Scores))}",
    "join": "the column by which rows of two files belong together, or '(line)'",
}


@dataclass(frozen=True)
class Compared:
    """What two files come to, model by model, and the answer; `notes` say how they were read."""

    comparisons: ModelComparisons
    answer: Answer
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """What they come to, in sentences."""
        assert self.answer.verdict is not None
        return self.answer.verdict


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Two files, what their columns are, which of their rows, and how they are matched.

    >>> parser = argparse.ArgumentParser()
    >>> add_compare_options(parser)
    >>> chosen = parser.parse_args(["--reference", "old.csv", "--target", "new.csv", "--truth", "gold"])
    >>> chosen.target, chosen.truth, chosen.epsilon
    ('new.csv', 'gold', 0.005)
    """
    for side in SIDES:
        group = parser.add_argument_group(f"{side} set")
        group.add_argument(f"--{side}", required=True, metavar="FILE", help="predictions: a file or a fingerprint")
        group.add_argument(f"--{side}-truth", metavar="FILE", help="the truth, where it is in a file of its own")
        group.add_argument(f"--{side}-roles", metavar="JSON", help="all roles as JSON, or a file of it")
        for part in PARTS:
            group.add_argument(f"--{side}-{part}", metavar="NAME", help=f"the {part} to take of the file")
    columns = parser.add_argument_group("columns of both files")
    for role in ROLES:
        names = {"choices": get_args(Scores)} if role == "scores" else {"metavar": "COLUMN"}
        columns.add_argument(f"--{role}", **names, help=_WORDS.get(role, f"the column of the {role}"))
    matching = parser.add_argument_group("matching")
    matching.add_argument("--of-task", metavar="NAME", help="the task, where files hold several")
    for one in asked(MatchingPlan):
        ask, choices = one.ask, one.ask.choices
        if one.field not in BINNING:
            kind = {"type": _from(ask.lowest)} if choices is None else {"choices": tuple(choices(ANYTHING) or ())}
            matching.add_argument(f"--{ask.address}", **kind, default=one.usual, help=f"{ask.label}: {ask.help}")


def _from(lowest: int | float) -> Callable[[str], int | float]:
    """The type of an option that is a number of the type of `lowest`, and no less."""

    def number(text: str) -> int | float:
        value = type(lowest)(text)
        if not value >= lowest:
            raise argparse.ArgumentTypeError(f"{text} is less than {lowest}")
        return value

    return number


def compare_files(chosen: argparse.Namespace, workspace: Workspace, owner: str) -> Compared:
    """Read and compare what was named. DataError says what is wrong with a file, or what to say of its columns."""
    reference = _read(chosen, "reference", workspace, owner)
    same = _source(chosen, "reference") == _source(chosen, "target")
    target = reference if same else _read(chosen, "target", workspace, owner)
    parts = {f"{side}_part": Part(**{p: getattr(chosen, f"{side}_{p}") for p in PARTS}) for side in SIDES}
    pairs = pair_predictions(reference, target, **parts, task=chosen.of_task)
    plan = MatchingPlan(**values_of(MatchingPlan, vars(chosen), ANYTHING))
    comparisons = plan.compare(pairs)
    return Compared(comparisons, answer(comparisons), tuple(_notes(reference, target)))


def settled(sets: TwoSets, plan: MatchingPlan) -> dict[str, object]:
    """Whatever is settled besides the files of a comparison, by option of the command.

    >>> settled(TwoSets("f00d", "beef", target_part=Part(set="new")), MatchingPlan(epsilon=0.01))["target_set"]
    'new'
    """
    matching = {address: value for address, (one, value) in answers_of(plan).items() if one.field not in BINNING}
    return sets.parts | ({} if sets.task is None else {"of_task": sets.task}) | matching


def compare_command(sides: Mapping[str, str], settings: Mapping[str, object]) -> str:
    """The command of two stored files, by side, with whatever else was settled, by option.

    >>> compare_command({"reference": "f00d", "target": "beef"}, {"epsilon": 0.01, "target_set": "new"})
    'python -m core compare --reference=f00d --target=beef --epsilon=0.01 --target-set=new'
    """
    said = {**sides, **settings}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in said.items()]  # a name may begin with a dash
    return f"{COMMAND} compare {shlex.join(words)}"


def _source(chosen: argparse.Namespace, side: str) -> tuple[str | None, ...]:
    return tuple(getattr(chosen, f"{side}{more}") for more in ("", "_truth", "_roles"))


def _read(chosen: argparse.Namespace, side: str, workspace: Workspace, owner: str) -> PredictionTable:
    name, truth, given = _source(chosen, side)
    said = {role: getattr(chosen, role) for role in ROLES if getattr(chosen, role) is not None}
    if name in {stored.fingerprint for stored in workspace.prediction_files(owner)}:
        if said or truth is not None or given is not None:
            raise DataError(
                f"{name} is stored with its columns and its truth. Leave out the options that name columns, "
                f"--{side}-truth and --{side}-roles, or name the file instead."
            )
        return workspace.predictions(owner, str(name)).read()
    file = Path(str(name))
    try:
        roles = None if given is None and not said else _roles(read_prediction_table(file), said, given)
        return (
            read_predictions(file, roles=roles) if truth is None else join_predictions(Path(truth), file, roles=roles)
        )
    except RolesNeeded as needed:
        raise DataError(f"{needed} {_answer(needed, side)} ({COMMAND} compare --help).") from None
    except DataError as problem:
        if not said:
            raise
        remedy = f"Where the files' columns are called differently, say them with --{side}-roles."
        raise DataError(f"{problem} {remedy}") from None


def _answer(needed: RolesNeeded, side: str) -> str:
    """The options that would answer a question."""
    if needed.role not in ROLES:
        guess = "" if needed.guess is None else f", such as {shlex.quote(needed.guess.to_json(indent=None))}"
        return f"Say it with --{side}-roles{guess}"
    answers = " or ".join(shlex.quote(f"--{needed.role}={choice}") for choice in needed.choices[:_MOST_ANSWERS])
    return f"Say it with {answers or f'--{needed.role}'}"


def _roles(table: Table, said: Mapping[str, str], given: str | None) -> Roles:
    """The roles that were said, with what names and divides the rows guessed."""
    if given is not None:
        return replace(Roles.from_json(json_or_file(given)), **said)
    guess = guess_roles(table)
    kept = {role: column for role in SHARED if (column := getattr(guess, role)) and column not in said.values()}
    return Roles(**{**kept, **said})


def _notes(*tables: PredictionTable) -> Iterator[str]:
    for table in dict.fromkeys(tables):
        yield from (f"{table.name}: {line}" for line in (*table.notes, *table.warnings))
