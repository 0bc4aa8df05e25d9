"""Can an accuracy be trusted as far as somebody requires? Questions, worked off without a browser.

A sheet is JSON, in a file or as the word itself: `plans` as the pages' “copy as command” gives them, `compare` with
options of that command, `require`, sentences such as "source_robustness.rho >= .9" or "not S01", and `mute`, reasons by
code of claim. Where no plans are given, data are asked the questions of what is required, or else every one, with the
usual settings of “Ask all questions” on the page. The numbers are those of the pages, of the same runs.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from touchstone.core import COMMAND
from touchstone.core.command import Command
from touchstone.core.command.checked import (
    Checked,
    add_decision_options,
    check_compared,
    explained,
    seconds,
    write,
)
from touchstone.core.command.compare import names, stored_predictions
from touchstone.core.command.given_files import (
    add_compare_options,
    add_data_options,
    add_model_options,
    add_roles,
    compare_files,
    json_or_file,
)
from touchstone.core.command.requirements import Required, required
from touchstone.core.data import DataError
from touchstone.core.data.predictions.roles import ONE_EACH
from touchstone.core.data.tables.roles import SINGLE
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import METRICS, metric_named
from touchstone.core.trials import Plan
from touchstone.core.workspace.plans import load_plan

OF_PREDICTIONS = tuple(role for role in ONE_EACH if role not in (*SINGLE, "model"))
"""Roles that files of predictions alone have; there --model is a file."""


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
    parser.add_argument("--all", action="store_true", help="ask every question, those too that nothing is required of")
    parser.add_argument(
        "--seed", type=int, help="what all randomness follows from, where no plans are given; 0 if not said"
    )
    parser.add_argument("--explain", action="store_true", help="list what can be required")
    columns = parser.add_argument_group("columns of the files of --predictions")
    add_roles(columns, OF_PREDICTIONS)
    add_decision_options(parser)


_KEYS = ("plans", "compare", "require", "mute")


@dataclass(frozen=True)
class Sheet:
    """What is asked: plans, options of a comparison, requirements, and why which claims (by code) are muted."""

    plans: tuple[Plan, ...] = ()
    compare: dict[str, Any] = field(default_factory=dict)
    require: tuple[Required, ...] = ()
    mute: dict[str, str] = field(default_factory=dict)
    ask_all: bool = False
    """Whether questions are asked that nothing is required of, where something is."""
    seed: int | None = None
    """What all randomness of usual questions follows from; None leaves it to them."""
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
    mute = {**sheet.mute, **dict(chosen.mute)}
    return Sheet(sheet.plans, compare, (*sheet.require, *more), mute, chosen.all, chosen.seed, metric)


def _of_predictions(chosen: argparse.Namespace) -> dict[str, str]:
    """What options say of the two files. Raises DataError for columns of data, or of predictions, that are not given.

    Ids and sources are those of the data where there are some.
    """
    of_files = {role: value for role in OF_PREDICTIONS if (value := getattr(chosen, role)) is not None}
    if chosen.predictions is None:
        if of_files:
            raise DataError(f"--{next(iter(of_files))} is of two files of predictions: name them with --predictions.")
        return {}
    shared = ("unit", "metric", "positive_class", "seed")
    if chosen.data is None:
        if only := next((role for role in SINGLE if role not in ONE_EACH and getattr(chosen, role) is not None), None):
            remedy = "say --truth of predictions" if only == "label" else "leave it out"
            raise DataError(f"--{only} is a column of --data, and none is given: {remedy}.")
        shared += ("id", "source", "sourceless")
    return of_files | {name: value for name in shared if (value := getattr(chosen, name)) not in (None, "")}


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


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_check_options(parser)
    add_data_options(parser)
    add_model_options(parser)


def of_files(sheet: Sheet, predictions: Sequence[str], *, all_of_it: bool = True) -> Checked:
    """What two files come to; whether what is required holds, if they are `all_of_it` that is asked about."""
    compared = compare_files(_compare_options(sheet, predictions), stored_predictions)
    checked = check_compared(compared, sheet.require if all_of_it else (), sheet.mute)
    return (
        checked
        if sheet.metric is None
        else replace(checked, words=InWords(metric_named(sheet.metric[0]), sheet.metric[1]))
    )


def _check(chosen: argparse.Namespace) -> int:
    """Work off a sheet, and say by the exit status whether what is required holds."""
    if chosen.explain:
        print(explained(), end="")
        return 0
    sheet = read_sheet(chosen)
    if chosen.data is not None:
        from touchstone.core.command.runs import checked_data

        checked = checked_data(chosen, sheet)
    else:
        checked = of_files(sheet, chosen.predictions)
    return write(checked, chosen, chosen.data or names(chosen.predictions))


COMMANDS = {"check": Command(_add_options, _check)}
