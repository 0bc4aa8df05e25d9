"""Who may see a result without signing in? Whoever has a link to it that is neither revoked nor out of date.

A result is a run, or a comparison of two files of predictions, which is no run.

A link's token is drawn here and never kept: what is stored names it by its SHA-256, so that who reads the database
cannot follow the links in it.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from core.workspace.data_shelf import DataShelf, require_predictions
from core.workspace.errors import WorkspaceError
from core.workspace.schema import ComparisonLinkRow, LinkRow, now
from core.workspace.shelf import require_run

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
class Comparison:
    """Two stored files of predictions, by fingerprint, and the parameters that settle how they are compared."""

    reference: str
    target: str
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Link:
    """What its owner may know of a link; `id` is the SHA-256 of its token. Times are seconds since 1970, UTC.

    `shows` is the id of a run, or a comparison.
    """

    id: str
    shows: str | Comparison
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

    def create_link(self, owner: str, shown: str | Comparison, *, days: int = USUAL_DAYS) -> str:
        """Make a link that shows a run (its id) or a comparison for so many days; returns its token.

        Nobody can ask for the token again.
        """
        if not 1 <= days <= MOST_DAYS:
            raise WorkspaceError(f"A link works for 1 to {MOST_DAYS} days, not for {days}.")
        token = secrets.token_urlsafe(32)
        known = {"id": link_id(token), "owner": owner, "expires": now() + days * _DAY}
        with Session(self._database) as session:
            _require(session, owner, shown)
            if isinstance(shown, str):
                session.add(LinkRow(run_id=shown, **known))
            else:
                settings = json.dumps(dict(shown.settings))
                files = {"reference": shown.reference, "target": shown.target}
                session.add(ComparisonLinkRow(**files, settings=settings, **known))
            session.commit()
        return token

    def links(self, owner: str, shown: str | Comparison) -> list[Link]:
        """All links to a run that were ever made, the newest first; of a comparison, those to its files in any way."""
        if isinstance(shown, str):
            kind, to_it = LinkRow, (LinkRow.run_id == shown,)
        else:
            kind = ComparisonLinkRow
            to_it = (kind.reference == shown.reference, kind.target == shown.target)
        query = select(kind).where(kind.owner == owner, *to_it).order_by(kind.created.desc())
        with Session(self._database) as session:
            _require(session, owner, shown)
            return [_link(row) for row in session.scalars(query)]

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

    def _follow_link(self, link: str) -> tuple[str, str | Comparison]:
        """The owner of a link that works and what it shows, for `core.workspace.sharing` alone; notes that it was used.

        Raises DeadLink for one that does not work.
        """
        with Session(self._database) as session:
            row = _find(session, link)
            if row is None or not _link(row).works:
                raise DeadLink
            owner, known = row.owner, _link(row)
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


_KINDS = (LinkRow, ComparisonLinkRow)


def _find(session: Session, link: str) -> LinkRow | ComparisonLinkRow | None:
    return session.get(LinkRow, link) or session.get(ComparisonLinkRow, link)


def _require(session: Session, owner: str, shown: str | Comparison) -> None:
    """Raises WorkspaceError where the owner does not have what is to be shown."""
    if isinstance(shown, str):
        require_run(session, owner, shown)
    else:
        for fingerprint in (shown.reference, shown.target):
            require_predictions(session, owner, fingerprint)


def _link(row: LinkRow | ComparisonLinkRow) -> Link:
    if isinstance(row, LinkRow):
        shows: str | Comparison = row.run_id
    else:
        shows = Comparison(row.reference, row.target, json.loads(row.settings))
    return Link(row.id, shows, row.created, row.expires, row.revoked, row.used)
