"""Touchstone without a browser: `python -m core run --data digits '{"kind":"trials","models":["svm"]}'`.

The run is the same one that the pages show (same workspace, same key), so a page's "copy as command" and a page find
each other's results. Rows go to standard output as TSV; progress and the verdict go to standard error.

`python -m core run --data voices.tsv --label status --source subject --id name '{"kind":"trials"}'` says what the
columns of a file are; `--roles` takes the same as JSON. What is not said is guessed, or asked for.

`python -m core vectors --data texts.tsv --sentence-transformers FOLDER --out vectors.parquet` makes vectors of texts,
which a page or `run --vectors` attaches to the data set by id.

`python -m core read FILE --truth FILE` says what it understands of a file before anything counts: rows, classes, the
accuracy, columns, what is odd, and what has to be asked. With `--json` it says so to a program, with exit status 3
where a question is open and 2 where the file cannot be read.

`python -m core compare --reference old.csv --target new.csv` says whether accuracy drops from one file of predictions
to another, as the page of matched subsets does; `--truth gold --predicted answer` and such say what columns are.

`python -m core plan old.csv new.csv --difference .01` says how many samples show a difference of a point between two
models, by a pilot of two files or by guesses (`--discordant .05 --per-unit 20`).

`python -m core check --data FILE --budget 10m --require "source_robustness.rho >= .9"` asks what the requirement is
about (without one, or with `--all`, every question), or the plans of a sheet (`check sheet.json`). It exits with 0
where what is required holds, 1 where it fails, 3 where it is undecided, 2 on bad input, and 130 where it was stopped.
`--model FILE` brings a trained model, and `--quiet` leaves standard error empty unless something is wrong.

`python -m core plans KIND` says what a plan of a kind holds: its fields, what they take and what they mean
(docs/plans.md has them all).

`python -m core claims M01` says what a kind of claim says, when, how often it was wrong and what to do
(docs/claims.md has them all).

`python -m core verify RUN --recompute 5` says whether a stored run is what was stored, and computes five of its trials
again, chosen at random.

`python -m core doctor` says whether all that is stored is whole, and `--mend` mends it. `python -m core backup FILE`
copies all of it to one file, also while the app runs, and `restore FILE` puts that into a new TOUCHSTONE_HOME.

`python -m core address` prints the address, with its token, of the Touchstone that is open on TOUCHSTONE_HOME.

`python -m core run --recreate file.json` computes a run again from the parameters that a page gives (“Parameters
(JSON)”), under the same key, or says why that cannot be.
"""

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from touchstone.core import version
from touchstone.core.command import ABOUT, overview


def main(arguments: Sequence[str] | None = None, *, about: str = ABOUT) -> int:
    """Run what the command line says; returns the exit status. `about` is said of it all by `--help`.

    That and `--version` come at once: what commands need is imported for a command alone.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] == "--version":
        print(f"touchstone {version()}")
        return 0
    if not words or words[0] in ("-h", "--help"):
        overview(about)[0].parse_args(words)
    from touchstone.core.command.line import work_off

    return work_off(arguments, about=about)


def _as_ctrl_c(*_: object) -> NoReturn:
    """What is asked to end gives its run back first."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def run_in_terminal(*, about: str = ABOUT) -> NoReturn:
    """Run what the command line of this process says, and end the process."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)  # as systemd and docker send it
    sys.exit(main(about=about))


if __name__ == "__main__":
    run_in_terminal()
