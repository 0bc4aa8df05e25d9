"""What does `touchstone` do? Alone it starts the app; with a command it is `python -m core` under a name of its own.

Workers of a command import this file as their main module: nothing of Streamlit is imported at its top.
"""

import argparse
import sys
from collections.abc import Sequence

from touchstone.core.__main__ import run_in_terminal
from touchstone.core.command import ABOUT
from touchstone.core.installed import remedy
from touchstone.ui import ROOT

ABOUT_TOOL = f"{ABOUT} Alone, or with --port and --host, touchstone starts the app and prints its address."
PORT, HOST = 8501, "127.0.0.1"


def main() -> None:
    """Start the app, or run the command that the command line names."""
    words = sys.argv[1:]
    if words and not words[0].startswith(("--port", "--host")):
        run_in_terminal(about=ABOUT_TOOL)
    start(words)


def start(words: Sequence[str]) -> None:
    """Start the app as `streamlit run app.py` does, until it is stopped."""
    parser = argparse.ArgumentParser(prog="touchstone", description="Start Touchstone, and print its address.")
    parser.add_argument("--port", type=_port, default=PORT, help=f"where it listens; {PORT} if not said")
    parser.add_argument(
        "--host", default=HOST, help=f"at which address; {HOST} if not said. Others are refused without sign-in"
    )
    chosen = parser.parse_args(words)
    try:
        from streamlit.web import cli
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        print(f"touchstone: {missing}", file=sys.stderr)
        sys.exit(2)
    at = ["--server.port", str(chosen.port), "--server.address", chosen.host]
    cli.main(["run", str(ROOT / "app.py"), *at], prog_name="streamlit")


def _port(word: str) -> int:
    if not word.isdecimal() or not 0 < int(word) < 65_536:
        raise argparse.ArgumentTypeError(f"{word} is no port: give a number from 1 to 65535")
    return int(word)
