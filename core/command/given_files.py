"""What did somebody name on the command line? A file, and what its columns are; what reading would ask is said here."""

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from touchstone.core import COMMAND
from touchstone.core.data import DataError, Dataset, RolesNeeded, read_dataset
from touchstone.core.data.errors import SizeNeeded
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.datasets import name_of, open_table, table_dataset
from touchstone.core.data.tables.proposal import SINGLE, propose_roles, roles_from_json, said_roles
from touchstone.core.data.tables.roles import NO_UNIT
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import percent
from touchstone.core.models.inputs import InputRange
from touchstone.core.trials.training_plan import trainable
from touchstone.core.workspace import Workspace
from touchstone.core.workspace.workspace import bring_model

_HELP = {
    "label": "the column of the label",
    "text": "the column of the texts",
    "id": "the column that names each row; '' for none",
    "source": "the column of the person, site or device that a row comes from; '' for none",
    "unit": "the column of what was sampled independently, such as author; '' for each row; with --predictions, theirs",
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
    said = {role: getattr(chosen, role) or None for role in mine if getattr(chosen, role) is not None}
    return {role: column or (NO_UNIT if role == "unit" else None) for role, column in said.items()}


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


# Which model did somebody name on the command line? A stored one, or a file that is tried on the data and kept.


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """The options that name a trained model of the data set, and say what its file does not.

    >>> parser = argparse.ArgumentParser()
    >>> add_model_options(parser)
    >>> parser.parse_args(["--model", "mine.onnx", "--input-range", "0", "255"]).input_range
    [0.0, 255.0]
    """
    model = parser.add_argument_group("a trained model of --data")
    model.add_argument("--model", metavar="FILE", help="safetensors, ONNX or torch.export; or a fingerprint")
    model.add_argument("--network", choices=list(trainable()), help="which network safetensors are the weights of")
    model.add_argument(
        "--input-range",
        nargs=2,
        type=float,
        metavar=("BLACK", "WHITE"),
        help="what black and white were when it was trained, where not 0 and 1",
    )


def given_model(chosen: argparse.Namespace, dataset: Dataset, workspace: Workspace, owner: str) -> str:
    """The fingerprint of the model of `--model`; says how it did. Raises DataError for what cannot be used."""
    stored = {model.fingerprint: model for model in workspace.models(owner)}
    if chosen.model in stored:
        if stored[chosen.model].dataset_fingerprint != dataset.fingerprint:
            raise DataError(f"{chosen.model} is a model of other data than {dataset.name}.")
        return chosen.model
    file = Path(chosen.model)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{chosen.model}: cannot be read ({error}). Name a model's file, or a fingerprint.") from None
    scale: InputRange | None = None if chosen.input_range is None else (chosen.input_range[0], chosen.input_range[1])
    settled = {"architecture": chosen.network, "input_range": scale}
    brought = bring_model(workspace, owner, file.name, content, dataset, **settled)
    judged = brought.judged
    accuracy = percent(judged.accuracy, wilson(float(judged.n_correct), float(judged.n)))
    print(" ".join([f"{file.name}: accuracy {accuracy} on these data.", judged.hint]).strip(), file=sys.stderr)
    return brought.fingerprint
