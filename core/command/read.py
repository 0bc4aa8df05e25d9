"""What does Touchstone understand of a file? Its card, for people or as JSON, and an exit status for scripts."""

import argparse
import json
from pathlib import Path

from touchstone.core.command import Command
from touchstone.core.command.given_files import add_roles
from touchstone.core.report.card import ROLES, Given, read_card

AS = {"predictions": "predictions", "data": "data set"}


def add_read_options(parser: argparse.ArgumentParser) -> None:
    """The files, the truth of their own, and what is said of their columns.

    >>> parser = argparse.ArgumentParser()
    >>> add_read_options(parser)
    >>> chosen = parser.parse_args(["said.csv", "--truth", "gold", "--unanswered", "left out", "--json"])
    >>> chosen.files, chosen.truth, chosen.unanswered, chosen.json
    (['said.csv'], 'gold', 'left out', True)
    """
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of predictions, or of data")
    parser.add_argument("--json", action="store_true", help="print the card as JSON: of several files a list")
    parser.add_argument("--accept", choices=("all",), help="take the likeliest answer to every question")
    parser.add_argument("--as", dest="read_as", choices=tuple(AS), help="what the files are, where both may be meant")
    parser.add_argument("--truth", metavar="FILE", help="the truth in a file of its own, or the column that holds it")
    columns = parser.add_argument_group("columns")
    add_roles(columns, (role for role in ROLES if role != "truth"))


def read_files(chosen: argparse.Namespace) -> int:
    """Print the card of each file; the exit status is 0, 3 where a question is open, 2 where a file was refused."""
    said = {role: value for role in ROLES if (value := getattr(chosen, role)) is not None}
    truth = Path(said.pop("truth")) if chosen.truth and Path(chosen.truth).is_file() else None
    read_as = None if chosen.read_as is None else AS[chosen.read_as]
    given = Given(truth, read_as, said, chosen.accept == "all")
    cards = [read_card(Path(file), given) for file in chosen.files]
    if chosen.json:
        content = [card.to_json() for card in cards]
        print(json.dumps(content[0] if len(content) == 1 else content, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(map(str, cards)))
    statuses = {card.status for card in cards}
    return next(status for status in (2, 3, 0) if status in statuses)


COMMANDS = {"read": Command(add_read_options, read_files)}
