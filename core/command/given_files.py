"""What did somebody name on the command line? A file, and what its columns are; what reading would ask is said here."""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from touchstone.core import COMMAND
from touchstone.core.data import DataError, Dataset, RolesNeeded, read_dataset
from touchstone.core.data.errors import SizeNeeded
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.datasets import name_of, open_table, table_dataset
from touchstone.core.data.tables.proposal import SINGLE, propose_roles, said_roles
from touchstone.core.data.tables.roles_file import roles_from_json

_HELP = {
    "label": "the column of the label",
    "text": "the column of the texts",
    "id": "the column that names each row; '' for none",
    "source": "the column of the person, site or device that a row comes from; '' for none",
    "unit": "the column of what was sampled independently, such as the author; with --predictions, theirs",
    "part": "the column of train and test; '' for none",
    "image": "the column of the images",
}


def add_dataset_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what the columns of a data set's file are: one for each role, and all of them as JSON.

    >>> parser = argparse.ArgumentParser()
    >>> add_dataset_options(parser)
    >>> chosen = parser.parse_args(["--label", "status", "--id", ""])
    >>> chosen.label, chosen.id, chosen.source
    ('status', '', None)
    """
    columns = parser.add_argument_group("columns of the file of --data")
    columns.add_argument("--kind", choices=("text", "tabular", "image"), help="what a table holds")
    columns.add_argument("--image-size", nargs=2, type=int, metavar=("HEIGHT", "WIDTH"), help="resize all images")
    columns.add_argument("--roles", metavar="JSON", help="all roles as JSON, or a file of it")
    for role in SINGLE:
        columns.add_argument(f"--{role}", metavar="COLUMN", help=_HELP.get(role, f"the column of the {role}"))


def says_columns(chosen: argparse.Namespace) -> bool:
    """Whether anything was said of columns."""
    return bool(_said(chosen)) or any(getattr(chosen, name) is not None for name in ("kind", "image_size", "roles"))


def _said(chosen: argparse.Namespace) -> dict[str, str | None]:
    """The column that was said of each role; None where none has it. Beside predictions, their units are meant."""
    mine = [role for role in SINGLE if role != "unit" or getattr(chosen, "predictions", None) is None]
    return {role: getattr(chosen, role) or None for role in mine if getattr(chosen, role) is not None}


def given_dataset(chosen: argparse.Namespace) -> Dataset:
    """The data set in the file of `--data`. DataError says what is wrong with it, or what to say of its columns."""
    file = Path(chosen.data)
    said = _said(chosen)
    size = tuple(chosen.image_size) if chosen.image_size else None
    try:
        if not said and chosen.roles is None:
            return read_dataset(file, kind=chosen.kind, image_size=size)
        table = open_table(file)
        if table is None:
            raise DataError(f"{file.name}: something was said of columns, but only tables have columns.")
        known = roles_from_json(json_or_file(chosen.roles)) if chosen.roles is not None else None
        roles = said_roles(table, said) if known is None else replace(known, **said)
        return table_dataset(
            table, name=name_of(file.name), kind=chosen.kind, roles=roles, image_size=size, for_good=True
        )
    except SizeNeeded as needed:
        height, width = needed.size
        raise DataError(f"{needed} Say it with --image-size {height} {width}.") from None
    except RolesNeeded as needed:
        raise DataError(_answer(needed, open_table(file))) from None


def json_or_file(text: str) -> str:
    """JSON as it was given, or what stands in the file that was named; DataError where that cannot be read.

    >>> json_or_file('{"label": "status"}')
    '{"label": "status"}'
    """
    if text.lstrip().startswith("{"):
        return text
    try:
        return Path(text).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{text}: cannot be read ({error}). Give roles as JSON, or a file of it.") from None


def _answer(needed: RolesNeeded, table: Table) -> str:
    """A question, and the options that would answer it the likeliest way."""
    roles = propose_roles(table).roles
    likely = [(role, getattr(roles, role)) for role in SINGLE if getattr(roles, role) is not None]
    options = " ".join(shlex.join([f"--{role}", column]) for role, column in likely)
    if roles.text is None and roles.features:
        options = f"{options} --kind tabular"
    remedy = f"Likely: {options}" if options else "Say it with --label COLUMN"
    return f"{needed} {remedy} ({COMMAND} run --help)."
