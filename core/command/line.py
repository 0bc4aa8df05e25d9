"""What does a command do? It takes its options and does its work, from a module that is imported for it alone."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from importlib import import_module
from io import StringIO

from touchstone.core.command import ABOUT, Command, overview
from touchstone.core.data.errors import DataError
from touchstone.core.installed import remedy
from touchstone.core.workspace.errors import WorkspaceError

_MODULES = {
    **dict.fromkeys(("plans", "claims"), "describe"),
    "read": "read",
    **dict.fromkeys(("compare", "plan", "slices"), "compare"),
    "check": "check",
    **dict.fromkeys(("run", "vectors"), "runs"),
    **dict.fromkeys(("verify", "doctor", "address", "backup", "restore"), "upkeep"),
}
"""Where each command is."""


def parsed(words: Sequence[str], about: str = ABOUT) -> argparse.Namespace:
    """What the words of a command line say; `about` is said of it all.

    >>> parsed(["claims", "M01"]).code
    'M01'
    """
    parser, commands = overview(about)
    if words and words[0] in _MODULES:
        _command(words[0]).add_options(commands[words[0]])
        quiet = "say nothing on standard error, unless the exit status is not 0"
        commands[words[0]].add_argument("--quiet", action="store_true", help=quiet)
    return parser.parse_args(words)


def work_off(arguments: Sequence[str] | None = None, *, about: str = ABOUT) -> int:
    """Run the command that the command line names; returns the exit status. `about` is said of it all."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        chosen = parsed(words, about)
        with _kept_back(chosen.quiet) as sentences:
            status = _command(chosen.command).work_off(chosen)
        if status:
            print(sentences.getvalue(), end="", file=sys.stderr)
        return status
    except (DataError, WorkspaceError) as error:
        print(error, file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        print(f"touchstone {words[0]}: {missing}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    finally:
        if (runner := sys.modules.get("touchstone.core.workspace.engine.runner")) is not None:
            runner.close_engine()


@contextmanager
def _kept_back(quiet: bool) -> Iterator[StringIO]:
    """Hold what is written to standard error back, if it is to be `quiet`."""
    sentences = StringIO()
    with redirect_stderr(sentences) if quiet else nullcontext():
        yield sentences


def _command(name: str) -> Command:
    return import_module(f"touchstone.core.command.{_MODULES[name]}").COMMANDS[name]
