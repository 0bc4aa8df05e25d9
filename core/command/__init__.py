"""What does the command line take and say? Options for files and their columns, and the comparison of two files."""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from touchstone.core import COMMAND


class Command(NamedTuple):
    """What a command takes, and what it does; that gives the exit status."""

    add_options: Callable[[argparse.ArgumentParser], None]
    work_off: Callable[[argparse.Namespace], int]


ABOUT = "Touchstone without a browser."
COMMANDS = {
    "run": "work off a plan and print its rows as TSV",
    "plans": "say what a plan holds: its fields, what they take and mean",
    "claims": "say what a kind of claim says, when, and what to do",
    "read": "say what is understood of a file, before anything counts",
    "compare": "say whether a new model is better, or accuracy drops on a new set",
    "plan": "say how many samples show a difference between two models",
    "slices": "say where a model is weak, by the columns of its file",
    "check": "say whether what is required of an accuracy holds",
    "verify": "say whether a stored run is whole, and comes out again",
    "doctor": "say whether all that is stored is whole, of every owner",
    "address": "print the address of the Touchstone that is open on TOUCHSTONE_HOME",
    "backup": "copy everything that is kept to one file, also while the app runs",
    "restore": "put a backup into TOUCHSTONE_HOME, a folder that is new or empty",
    "vectors": "make vectors of texts and write them to a file, by id",
}


def overview(about: str = ABOUT) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """What reads the command line as far as the name of a command, and what reads the rest of each, still empty.

    >>> overview()[0].parse_args(["compare"]).command
    'compare'
    """
    parser = argparse.ArgumentParser(prog=COMMAND, description=about)
    parser.add_argument("--version", action="store_true", help="print the version, and end")
    commands = parser.add_subparsers(required=True, dest="command")
    return parser, {name: commands.add_parser(name, help=what) for name, what in COMMANDS.items()}
