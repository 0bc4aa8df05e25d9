"""A PostgreSQL server of the tests' own, from Debian's package, on loopback; its folder goes with it."""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import create_engine, text

from tests.browser.server import free_port

SECONDS_TO_START = 120
FAST = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_connections=200",
    "unix_socket_directories=",
]
"""What a server may be spared whose data nobody needs tomorrow."""


def programs() -> Path | None:
    """The folder of initdb and pg_ctl, which Debian keeps off the PATH; None where there is none."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "pg_ctl").is_file()), None)


@dataclass(frozen=True)
class Postgres:
    """A server: the address of its first database, and what starts it again and stops it, as if it were killed."""

    address: str
    start: Callable[[], None]
    stop: Callable[[], None]


@contextmanager
def postgres(user: str = "touchstone") -> Iterator[Postgres]:
    """Start a server with this superuser, and stop it afterwards."""
    found = programs()
    assert found is not None, "no PostgreSQL server found: install it (Debian/Ubuntu: apt install postgresql)"
    # It refuses to run as root, whose temporary folders nobody else may enter.
    who = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="touchstone-postgres-"))
    password, port = secrets.token_hex(16), free_port()
    (folder / "password").write_text(password)
    if who:
        shutil.chown(folder, "postgres", "postgres")
        shutil.chown(folder / "password", "postgres", "postgres")
    data = folder / "data"

    def call(program: str, *arguments: str) -> None:
        with (folder / "log").open("ab") as log:
            done = subprocess.run(
                [found / program, "-D", data, *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=SECONDS_TO_START,
                check=False,
                **who,
            )
        assert done.returncode == 0, (folder / "log").read_text()

    try:
        call("initdb", "-U", user, "-A", "scram-sha-256", "--pwfile", str(folder / "password"), "-E", "UTF8")
        options = " ".join(f"-c {option}" for option in [*FAST, f"port={port}", "listen_addresses=127.0.0.1"])
        start = partial(call, "pg_ctl", "-w", "-l", str(folder / "server.log"), "-o", options, "start")
        stop = partial(call, "pg_ctl", "-w", "-m", "immediate", "stop")
        start()
        try:
            yield Postgres(f"postgresql://{user}:{password}@127.0.0.1:{port}/postgres", start, stop)
        finally:
            if (data / "postmaster.pid").exists():  # and it was not left stopped
                stop()
    finally:
        shutil.rmtree(folder)


def new_database(server: str, name: str) -> str:
    """Make an empty database, where it is not there yet; gives its address."""
    made = create_engine(server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        there = connection.execute(text("SELECT 1 FROM pg_database WHERE datname = :name"), {"name": name}).first()
        if there is None:
            connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE template0'))
    made.dispose()
    return f"{server.rpartition('/')[0]}/{name}"
