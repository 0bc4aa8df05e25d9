"""What were a file's columns said to be? As JSON that can be given again, and as options of a command."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.proposal import INPUTS, SINGLE
from touchstone.core.data.tables.roles import DatasetRoles

_WHAT = "data set roles"
_NOT_OURS = (
    'These are no roles of a data set. Give JSON such as {"touchstone": "data set roles", "label": "status"}, with '
    "the name of a column for each of " + ", ".join(SINGLE) + "; features is a list of them."
)


def roles_to_json(roles: DatasetRoles) -> str:
    """The roles as JSON; features that are left to reading do not stand in it.

    >>> roles_to_json(DatasetRoles(label="status", id="name"))
    '{"touchstone": "data set roles", "label": "status", "id": "name"}'
    """
    columns = {role: value for role, value in asdict(roles).items() if value not in (None, ())}
    return json.dumps({"touchstone": _WHAT, **columns}, ensure_ascii=False)


def roles_from_json(text: str | bytes) -> DatasetRoles:
    """Read what `roles_to_json` wrote, or somebody by hand; DataError where it is something else.

    >>> roles_from_json('{"touchstone": "data set roles", "label": "status", "features": ["a", "b"]}')
    DatasetRoles(label='status', text=None, features=('a', 'b'), id=None, source=None, ...)
    """
    try:
        columns = json.loads(text)
        if columns.pop("touchstone") != _WHAT or not _are_roles(columns):
            raise ValueError
        return DatasetRoles(**{**columns, "features": tuple(columns.get("features", ()))})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(_NOT_OURS) from None


def _are_roles(columns: Mapping[str, Any]) -> bool:
    features = columns.get("features", [])
    names = [*features, *(columns[role] for role in columns if role != "features" and columns[role] is not None)]
    known = set(columns) <= {*SINGLE, "features"}
    return known and isinstance(features, list) and all(isinstance(name, str) for name in names)


@dataclass(frozen=True)
class FileReading:
    """How a file's table became a data set: the name of the file and the roles, features only where they were named.

    `image_size` is the height and width to which images were brought, None where they are as they were.

    >>> reading = FileReading("voices.tsv", DatasetRoles(label="status", source="subject"))
    >>> reading.arguments()
    ['--data=voices.tsv', '--kind=tabular', '--label=status', '--id=', '--source=subject', '--part=', '--unit=']
    >>> FileReading.from_json(reading.to_json()) == reading
    True
    """

    file: str
    roles: DatasetRoles
    image_size: tuple[int, int] | None = None

    def to_json(self) -> str:
        """It as JSON; `from_json` reads it back."""
        content = {"file": self.file, "roles": roles_to_json(self.roles), "image_size": self.image_size}
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "FileReading":
        """Read what `to_json` wrote."""
        content = json.loads(text)
        size = content.get("image_size")
        return cls(content["file"], roles_from_json(content["roles"]), tuple(size) if size else None)

    def arguments(self) -> list[str]:
        """What names the file and its columns on the command line; with nothing behind "=" no column has the role."""
        size = ["--image-size", *map(str, self.image_size)] if self.image_size else []
        kind = [f"--data={self.file}", f"--kind={self.roles.kind}", *size]  # a name may begin with a dash
        if self.roles.features:
            return [*kind, f"--roles={roles_to_json(self.roles)}"]
        columns = {role: getattr(self.roles, role) for role in SINGLE}
        columns = {role: column for role, column in columns.items() if column or role not in INPUTS}
        return [*kind, *(f"--{role}={column or ''}" for role, column in columns.items())]
