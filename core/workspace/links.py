"""Who may see a result without signing in? Whoever has a link to it that is neither revoked nor out of date.

A result is a run, or a view: what a page shows that is no run, of what is stored, with the settings of its controls.

A link's token is drawn here and never kept: what is stored names it by its SHA-256, so that who reads the database
cannot follow the links in it.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.workspace.data_shelf import DataShelf, require_dataset, require_predictions
from core.workspace.errors import WorkspaceError
from core.workspace.schema import LinkRow, RestsOnRow, ViewLinkRow, now
from core.workspace.shelf import require_model, require_run

USUAL_DAYS = 30
MOST_DAYS = 365
SECONDS_BETWEEN_USES = 60.0
"""How exactly it is written down when a link was last used."""
DEAD = (
    "It was taken back, has run out, or never was a link. Nothing is shown; ask the person who sent it for another one."
)
"""The one sentence for every link that does not work, so that it tells nobody which ones ever did."""
_DAY = 24 * 3600.0


class DeadLink(WorkspaceError):
    """A link does not work: unknown, expired or revoked, which is nobody's to tell apart."""

    def __init__(self) -> None:
        super().__init__(DEAD)


@dataclass(frozen=True)
class View:
    """What a page shows that is no run: the page, the parameters of the address that settle it, and what it rests on.

    Data sets, predictions and models are named by fingerprint, runs by id. `title` is what is said to be shown.
    """

    page: str
    settings: Mapping[str, Sequence[str]]
    title: str = field(default="", compare=False)
    datasets: tuple[str, ...] = ()
    predictions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Each once, in an order of its own, so that views of the same are equal."""
        for table in _TABLES:
            object.__setattr__(self, table, tuple(sorted(set(getattr(self, table)))))

    @property
    def rests_on(self) -> list[tuple[str, str]]:
        """Everything that has to be there: the table where it stands, and its name there."""
        return [(table, name) for table in _TABLES for name in getattr(self, table)]


@dataclass(frozen=True)
class Link:
    """What its owner may know of a link; `id` is the SHA-256 of its token. Times are seconds since 1970, UTC.

    `shows` is the id of a run, or a view.
    """

    id: str
    shows: str | View
    created: float
    expires: float
    revoked: float | None
    used: float | None

    @property
    def works(self) -> bool:
        """Whether it still shows its result."""
        return self.revoked is None and now() < self.expires


def link_id(token: str) -> str:
    """What a link is stored under.

    >>> link_id("a token")[:8]
    'e3316e2b'
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class LinkShelf(DataShelf):
    """The links to an owner's results, beside the owner's data sets, predictions and models."""

    def create_link(self, owner: str, shown: str | View, *, days: int = USUAL_DAYS) -> str:
        """Make a link that shows a run (its id) or a view for so many days; returns its token.

        Nobody can ask for the token again. What is deleted meanwhile has no link made to it.
        """
        if not 1 <= days <= MOST_DAYS:
            raise WorkspaceError(f"A link works for 1 to {MOST_DAYS} days, not for {days}.")
        token = secrets.token_urlsafe(32)
        known = {"id": link_id(token), "owner": owner, "expires": now() + days * _DAY}
        with Session(self._database) as session:
            try:
                for row in _rows(shown, known):
                    session.add(row)
                    session.flush()
                _require(session, owner, shown)  # who deletes it now waits for this link, and takes it along
                session.commit()
            except IntegrityError:
                session.rollback()
                _require(session, owner, shown)
                raise
        return token

    def links(self, owner: str, shown: str | View | None = None) -> list[Link]:
        """All links to a run that were ever made, the newest first; to a view, those of its page that rest on the same.

        All links of the owner where nothing is named.
        """
        with Session(self._database) as session:
            if shown is not None:
                _require(session, owner, shown)
            rows = [row for kind in _KINDS for row in session.scalars(select(kind).where(kind.owner == owner))]
            found = [link for link in (_link(session, row) for row in rows) if _is_to(link, shown)]
        return sorted(found, key=lambda link: link.created, reverse=True)

    def revoke_link(self, owner: str, link: str) -> None:
        """Take a link back, by its id: whoever looks through it sees nothing any more within seconds."""
        with Session(self._database) as session:
            row = _find(session, link)
            if row is None or row.owner != owner:
                raise WorkspaceError(
                    "This link is not in your workspace: what it showed was deleted, or is somebody else's."
                )
            row.revoked = row.revoked or now()
            session.commit()

    def _follow_link(self, link: str) -> tuple[str, str | View]:
        """The owner of a link that works and what it shows, for `core.workspace.sharing` alone; notes that it was used.

        Raises DeadLink for one that does not work.
        """
        with Session(self._database) as session:
            row = _find(session, link)
            if row is None or not (known := _link(session, row)).works:
                raise DeadLink
            owner = row.owner
        if known.used is None or now() - known.used > SECONDS_BETWEEN_USES:
            self._note_use(link)
        return owner, known.shows

    def _note_use(self, link: str) -> None:
        """Write down that a link was used, where that can be written: looking goes on though the disk is full.

        What could not be written is not tried again at once, as each try may wait for whoever keeps the database busy.
        """
        if now() - self._noted.get(link, 0.0) <= SECONDS_BETWEEN_USES:
            return
        self._noted[link] = now()
        with suppress(WorkspaceError), Session(self._database) as session:
            for kind in _KINDS:
                session.execute(update(kind).where(kind.id == link).values(used=now()))
            session.commit()

    @cached_property
    def _noted(self) -> dict[str, float]:
        """When this process last tried to note that a link was used, by link."""
        return {}


_KINDS = (LinkRow, ViewLinkRow)
_TABLES = {
    "datasets": require_dataset,
    "predictions": require_predictions,
    "models": require_model,
    "runs": require_run,
}
"""By the table, which is a field of `View`: what raises WorkspaceError where the owner does not have one of it."""


def _find(session: Session, link: str) -> LinkRow | ViewLinkRow | None:
    return session.get(LinkRow, link) or session.get(ViewLinkRow, link)


def _require(session: Session, owner: str, shown: str | View) -> None:
    """Raises WorkspaceError where the owner does not have what is to be shown."""
    for table, name in [("runs", shown)] if isinstance(shown, str) else shown.rests_on:
        _TABLES[table](session, owner, name)


def _rows(shown: str | View, known: dict[str, Any]) -> Iterator[LinkRow | ViewLinkRow | RestsOnRow]:
    """What is stored of a link, in the order in which it has to be."""
    if isinstance(shown, str):
        yield LinkRow(run_id=shown, **known)
        return
    settings = json.dumps({name: list(values) for name, values in shown.settings.items()})
    yield ViewLinkRow(page=shown.page, title=shown.title, settings=settings, **known)
    for table, name in shown.rests_on:
        yield RestsOnRow(link_id=known["id"], owner=known["owner"], kind=table, name=name)


def _link(session: Session, row: LinkRow | ViewLinkRow) -> Link:
    return Link(row.id, _shows(session, row), row.created, row.expires, row.revoked, row.used)


def _shows(session: Session, row: LinkRow | ViewLinkRow) -> str | View:
    if isinstance(row, LinkRow):
        return row.run_id
    names: dict[str, tuple[str, ...]] = dict.fromkeys(_TABLES, ())
    resting = select(RestsOnRow).where(RestsOnRow.link_id == row.id).order_by(RestsOnRow.kind, RestsOnRow.name)
    for one in session.scalars(resting):
        names[one.kind] += (one.name,)
    return View(row.page, json.loads(row.settings), row.title, **names)


def _is_to(link: Link, shown: str | View | None) -> bool:
    if shown is None or isinstance(shown, str) or isinstance(link.shows, str):
        return shown in (None, link.shows)
    return link.shows.page == shown.page and link.shows.rests_on == shown.rests_on
