"""What is kept of predictions that somebody uploaded? The files as they were given, and what their columns are."""

import io
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from core.data.errors import DataError
from core.data.identity import key
from core.data.limits import Limits
from core.data.predictions.contents import PredictionTable, prediction_table
from core.data.predictions.joins import join_predictions
from core.data.predictions.roles import Roles
from core.data.predictions.shapes import read_prediction_table
from core.data.tables.files import File

_KINDS = ("predictions", "truth")


def read_predictions(
    file: File, *, roles: Roles | None = None, name: str | None = None, limits: Limits | None = None
) -> PredictionTable:
    """Read a user's file of predictions, given by its path or open for reading bytes; its ending says what is in it.

    `roles` say what its columns are, and are guessed where they are not given. DataError says what is wrong with the
    file; RolesNeeded asks what cannot be decided, and carries the guess. docs/file-formats.md describes the formats.

    >>> file = io.BytesIO(b"id,gold,predicted,prob\\n1,cat,cat,0.9\\n2,dog,cat,0.6\\n")
    >>> file.name = "pets.csv"
    >>> predictions = read_predictions(file).select()
    >>> predictions.accuracy, predictions.class_names
    (0.5, ('cat', 'dog'))
    """
    return prediction_table(read_prediction_table(file, limits=limits), roles=roles, name=name)


@dataclass(frozen=True)
class GivenFile:
    """A file as somebody gave it; `roles` say what its columns are, None leaves it to be guessed."""

    name: str
    content: bytes = field(repr=False)
    roles: Roles | None = None

    def open(self) -> io.BytesIO:
        """The file, open for reading, with its name."""
        file = io.BytesIO(self.content)
        file.name = PurePath(self.name).name
        return file


@dataclass(frozen=True)
class PredictionUpload:
    """A file of predictions and, where the truth is in a file of its own, that file.

    >>> upload = PredictionUpload(GivenFile("pets.csv", b"id,gold,predicted\\n1,cat,cat\\n2,dog,cat\\n"))
    >>> upload.read().select().accuracy
    0.5
    >>> PredictionUpload.from_bytes(upload.to_bytes()) == upload
    True
    """

    predictions: GivenFile
    truth: GivenFile | None = None

    @property
    def name(self) -> str:
        """What it is called on the screen: the name of the file of predictions."""
        return self.predictions.name

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of names, bytes and roles: of all that reading it can depend on."""
        import hashlib

        parts = []
        for file in (self.predictions, self.truth):
            if file is not None:
                roles = None if file.roles is None else file.roles.to_json()
                parts.append((file.name, hashlib.sha256(file.content).hexdigest(), roles))
        return key("touchstone prediction files 1", *parts)

    def read(self, *, limits: Limits | None = None) -> PredictionTable:
        """What the files say; DataError or RolesNeeded as `read_predictions` and `join_predictions` raise them."""
        said, truth = self.predictions, self.truth
        if truth is None:
            return read_predictions(said.open(), roles=said.roles, limits=limits)
        return join_predictions(truth.open(), said.open(), roles=said.roles, truth_roles=truth.roles, limits=limits)

    def to_bytes(self) -> bytes:
        """All of it as one zip archive; `from_bytes` reads it back."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind, file in zip(_KINDS, (self.predictions, self.truth), strict=True):
                if file is None:
                    continue
                archive.writestr(_entry(f"{kind}/name"), file.name.encode())
                archive.writestr(_entry(f"{kind}/content"), file.content)
                if file.roles is not None:
                    archive.writestr(_entry(f"{kind}/roles.json"), file.roles.to_json())
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "PredictionUpload":
        """Read what `to_bytes` wrote."""
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            there = set(archive.namelist())
            files = []
            for kind in _KINDS:
                if f"{kind}/content" in there:
                    roles = f"{kind}/roles.json"
                    files.append(
                        GivenFile(
                            archive.read(f"{kind}/name").decode(),
                            archive.read(f"{kind}/content"),
                            Roles.from_json(archive.read(roles)) if roles in there else None,
                        )
                    )
        if not files:
            raise DataError("These are no stored predictions. Upload the file again.")
        return cls(*files)


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without a date, so that the same files are the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
