"""How is everything that is kept copied while it is used, and put in another place? As one file, whole or not at all.

The file is a zip of the database, as it was at one moment, and of the blobs that this database names.
"""

import json
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

from touchstone import core
from touchstone.core.data import DataError
from touchstone.core.workspace.errors import FULL, WorkspaceError, database_error, disk_error
from touchstone.core.workspace.store import NOT_HERE, Blobs

DATABASE, ABOUT = "touchstone.sqlite", "about.json"
N_TRIES = 3
"""How often a backup begins anew, where somebody deletes meanwhile what it is about to copy."""
_BLOB = re.compile(r"blobs/([0-9a-f]{64})")


def back_up(home: Path, file: Path) -> int:
    """Write a backup of a home; the app may go on working beside it. Gives how many blobs it holds.

    Raises DataError where nothing can be written there, WorkspaceError where something stored is missing or damaged.
    """
    if file.exists():
        raise DataError(f"{file}: there is a file of this name already. Name another one.")
    if not (home / DATABASE).is_file():
        raise DataError(f"{home}: there is nothing to back up. Set TOUCHSTONE_HOME to the folder that Touchstone uses.")
    for last in (*[False] * (N_TRIES - 1), True):
        try:
            return _write(home, file)
        except WorkspaceError as problem:
            if last or "is missing" not in str(problem):
                raise
    raise AssertionError


def restore(file: Path, home: Path) -> int:
    """Put a backup in place as a home, which has to be new or empty. Gives how many blobs it holds.

    Raises DataError, and leaves the home as it was, where the file is no backup, or damaged; WorkspaceError where the
    disk is full.
    """
    if (home / DATABASE).exists() or (home / "blobs").exists():
        raise DataError(f"{home}: there are data already. Set TOUCHSTONE_HOME to another folder, new or empty.")
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=home) as folder:
        part = Path(folder)
        try:
            n_blobs = _unpack(file, part)
            os.replace(part / "blobs", home / "blobs")
            os.replace(part / DATABASE, home / DATABASE)
        except (DataError, WorkspaceError):
            raise
        except Exception as problem:  # zipfile lets through whatever a decompressor raises
            if isinstance(problem, OSError) and problem.errno in FULL:
                raise disk_error(problem, "be restored") from problem
            raise DataError(f"{file}: this is no backup of Touchstone, or a damaged one ({problem}).") from problem
    return n_blobs


def _write(home: Path, file: Path) -> int:
    part = file.with_name(f".{file.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.parent) as folder:
            copy = Path(folder) / DATABASE
            names = _copy_database(home / DATABASE, copy)
            with (
                os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "wb+") as stream,
                zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
            ):
                archive.writestr(ABOUT, json.dumps({"touchstone": core.version(), "blobs": len(names)}))
                archive.write(copy, DATABASE, zipfile.ZIP_DEFLATED)
                for name in names:
                    archive.writestr(f"blobs/{name}", Blobs(home / "blobs").get(name))
        os.replace(part, file)
    except OSError as problem:
        raise disk_error(problem, "be backed up") from problem
    finally:
        part.unlink(missing_ok=True)
    return len(names)


def _copy_database(file: Path, copy: Path) -> list[str]:
    """Copy a SQLite database as it is at this moment; gives the names of the blobs that it refers to."""
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            named = " UNION ".join(f"SELECT blob FROM {kind.__tablename__}" for kind in NOT_HERE)
            return sorted(name for (name,) in target.execute(named))
    except sqlite3.Error as problem:
        raise database_error(str(problem)) or WorkspaceError(f"The database could not be copied: {problem}.") from None


def _unpack(file: Path, folder: Path) -> int:
    with zipfile.ZipFile(file) as archive:
        expected = json.loads(archive.read(ABOUT))["blobs"]
        with archive.open(DATABASE) as stored, open(folder / DATABASE, "xb") as database:
            shutil.copyfileobj(stored, database)
        (folder / DATABASE).chmod(0o600)
        blobs = Blobs(folder / "blobs")
        names = [match[1] for match in map(_BLOB.fullmatch, archive.namelist()) if match]
        for name in names:
            if blobs.put(archive.read(f"blobs/{name}")) != name:
                raise DataError(f"{file}: the stored file {name[:12]} in it is damaged. Use another backup.")
    if len(names) != expected:
        raise DataError(f"{file}: {expected} files should be in it, and {len(names)} are. Use another backup.")
    return expected
