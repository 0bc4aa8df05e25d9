"""Is a Touchstone already open on this home? A note in the folder says where; who wrote it may have ended."""

import json
import sys
from contextlib import suppress
from pathlib import Path

import streamlit as st

from touchstone.core.workspace.access import NOTE, open_at
from touchstone.core.workspace.store import new_holder
from touchstone.ui.shell.access import with_token

ALREADY_OPEN = "A Touchstone is already open on {home}: {url}. Both show the same data and runs; one of them is enough."


def arrive(home: Path, url: str) -> str | None:
    """Note that this process is open on a home; gives the address of another one that is, None where there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     arrive(Path(folder), "http://localhost:8501"), arrive(Path(folder), "http://localhost:9000")
    (None, 'http://localhost:8501')
    """
    other = open_at(home)
    if other is not None:
        return other
    with suppress(OSError):  # a full disk, say: the note is a courtesy
        (home / NOTE).write_text(json.dumps({"holder": new_holder(), "url": url}), "utf-8")
    return None


def leave(home: Path, url: str) -> None:
    """Take the note of this process away; another one's stays."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((home / NOTE).read_text("utf-8"))["url"] == url:
            (home / NOTE).unlink()


def say(home: Path, url: str) -> None:
    """Tell whoever starts this server where another one is open on its home already."""
    other = arrive(home, url)
    if other is not None:
        print(ALREADY_OPEN.format(home=home, url=with_token(other)), file=sys.stderr)


def here() -> str:
    """The address at which this server answers on its own machine."""
    address = st.get_option("server.address") or "localhost"
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"{scheme}://{f'[{address}]' if ':' in address else address}:{st.get_option('server.port')}/{base}".rstrip(
        "/"
    )
