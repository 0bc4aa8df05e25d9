"""What is remembered? Data sets, predictions, models, runs, links, sign-ins, how far trials are and their rows.

Whoever changes a table here adds a step to `core.workspace.migrations`, which older databases go through.
"""

from datetime import UTC, datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


def now() -> float:
    """Seconds since 1970 (UTC): one number that every database keeps and compares alike."""
    return datetime.now(UTC).timestamp()


class Base(DeclarativeBase):
    """The tables below."""


class SchemaVersionRow(Base):
    """Which form the tables have, in a single row (see `core.workspace.migrations`)."""

    __tablename__ = "schema_version"

    version: Mapped[int] = mapped_column(primary_key=True)


class _WithBlob:
    """What belongs to an owner and has a file of its own, named by its content (`blob`)."""

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    fingerprint: Mapped[str]
    name: Mapped[str]
    blob: Mapped[str]
    created: Mapped[float] = mapped_column(default=now)


class DatasetRow(_WithBlob, Base):
    """A data set that an owner keeps; its bytes are a blob."""

    __tablename__ = "datasets"
    __table_args__ = (UniqueConstraint("owner", "fingerprint"),)

    kind: Mapped[str]
    n_samples: Mapped[int]
    n_classes: Mapped[int]
    example: Mapped[str | None]


class PredictionsRow(_WithBlob, Base):
    """Predictions that an owner keeps: the files as given, with the roles of their columns, are one blob."""

    __tablename__ = "predictions"
    __table_args__ = (UniqueConstraint("owner", "fingerprint"),)

    example: Mapped[str | None]


class ModelRow(_WithBlob, Base):
    """A model that an owner keeps, of one data set; the file and what it takes to read it again are a blob."""

    __tablename__ = "models"
    __table_args__ = (UniqueConstraint("owner", "fingerprint"),)

    dataset: Mapped[str] = mapped_column(index=True)
    architecture: Mapped[str | None]
    file_name: Mapped[str]
    training_plan: Mapped[str | None]
    n_test: Mapped[int | None]
    n_correct: Mapped[int | None]
    has_gradients: Mapped[bool] = mapped_column(default=True)


class RunRow(Base):
    """A plan's stored execution on a data set.

    `lease_owner` is the process that works on it until `lease_until`, which that process keeps moving; a lease that
    has run out means that the process is gone, and anyone may take the run over.
    """

    __tablename__ = "runs"
    __table_args__ = (UniqueConstraint("owner", "key"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    key: Mapped[str]
    kind: Mapped[str]
    plan: Mapped[str]
    fingerprint: Mapped[str] = mapped_column(index=True)
    dataset_name: Mapped[str]
    n_trials: Mapped[int]
    state: Mapped[str] = mapped_column(default="queued")
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    lease_owner: Mapped[str | None]
    lease_until: Mapped[float] = mapped_column(default=0.0)
    created: Mapped[float] = mapped_column(default=now)
    started: Mapped[float | None]
    started_with: Mapped[int] = mapped_column(default=0)
    finished: Mapped[float | None]
    provenance: Mapped[str] = mapped_column(default="{}")
    error: Mapped[str | None]


class TrialRow(Base):
    """The rows of one finished trial, exactly once: `content` is an Arrow stream of a data frame.

    `sha256` is its `core.workspace.frames.trial_seal`; a row with another one is not believed, nor one that an older
    Touchstone wrote after the database had come to today's form.
    """

    __tablename__ = "trials"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    trial: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    error: Mapped[str | None]
    content: Mapped[bytes] = mapped_column(LargeBinary)
    sha256: Mapped[str] = mapped_column(server_default="")
    finished: Mapped[float] = mapped_column(default=now)


class StepsRow(Base):
    """How far a trial is that is running now, where it tells; gone when the trial has ended or its run rests."""

    __tablename__ = "steps"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    trial: Mapped[int] = mapped_column(primary_key=True)
    n_done: Mapped[int]
    n_steps: Mapped[int]
    what: Mapped[str]


class RunNameRow(Base):
    """What somebody calls a run; a table of its own, for most have no name."""

    __tablename__ = "run_names"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str]


class _Link:
    """What is kept of every link: `id` is the SHA-256 of its token; the token itself is not kept."""

    id: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    created: Mapped[float] = mapped_column(default=now)
    expires: Mapped[float]
    revoked: Mapped[float | None]
    used: Mapped[float | None]


class LinkRow(_Link, Base):
    """A link that shows a run to whoever has its token."""

    __tablename__ = "links"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)


class ViewLinkRow(_Link, Base):
    """A link that shows a view, which is no run; a table of its own.

    `settings` is the JSON of the parameters that settle the view.
    """

    __tablename__ = "view_links"

    page: Mapped[str]
    title: Mapped[str]
    settings: Mapped[str]


class SignInRow(Base):
    """A sign-in, which is named by a hash of what the provider said of it; or the end of one."""

    __tablename__ = "sign_ins"

    owner: Mapped[str] = mapped_column(primary_key=True)
    sign_in: Mapped[str] = mapped_column(primary_key=True)
    browser: Mapped[str] = mapped_column(default="")
    began: Mapped[float] = mapped_column(default=now)
    used: Mapped[float] = mapped_column(default=now)
    ended: Mapped[float | None]


class RestsOnRow(Base):
    """What the view of a link rests on: the link goes with the first of them that its owner deletes.

    `kind` is the table where it stands and `name` its fingerprint, or the id of a run.
    """

    __tablename__ = "view_link_rests_on"
    __table_args__ = (Index("rests_on_what", "owner", "kind", "name"),)

    link_id: Mapped[str] = mapped_column(ForeignKey("view_links.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
