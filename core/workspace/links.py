"""Who may see a run without signing in? Whoever has a link to it that is neither revoked nor out of date.

A link's token is drawn here and never kept: what is stored names it by its SHA-256, so that who reads the database
cannot follow the links in it.
"""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from core.workspace.data_shelf import DataShelf
from core.workspace.errors import WorkspaceError
from core.workspace.schema import LinkRow, now
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
class Link:
    """What its owner may know of a link; `id` is the SHA-256 of its token. Times are seconds since 1970, UTC."""

    id: str
    run_id: str
    created: float
    expires: float
    revoked: float | None
    used: float | None

    @property
    def works(self) -> bool:
        """Whether it still shows its run."""
        return self.revoked is None and now() < self.expires


def link_id(token: str) -> str:
    """What a link is stored under.

    >>> link_id("a token")[:8]
    'e3316e2b'
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class LinkShelf(DataShelf):
    """The links to an owner's runs, beside the owner's data sets, predictions and models."""

    def create_link(self, owner: str, run_id: str, *, days: int = USUAL_DAYS) -> str:
        """Make a link that shows a run for so many days; returns its token, which nobody can ask for again."""
        if not 1 <= days <= MOST_DAYS:
            raise WorkspaceError(f"A link works for 1 to {MOST_DAYS} days, not for {days}.")
        token = secrets.token_urlsafe(32)
        with Session(self._database) as session:
            require_run(session, owner, run_id)
            session.add(LinkRow(id=link_id(token), owner=owner, run_id=run_id, expires=now() + days * _DAY))
            session.commit()
        return token

    def links(self, owner: str, run_id: str) -> list[Link]:
        """All links to a run that were ever made, the newest first."""
        query = select(LinkRow).where(LinkRow.owner == owner, LinkRow.run_id == run_id)
        with Session(self._database) as session:
            require_run(session, owner, run_id)
            return [_link(row) for row in session.scalars(query.order_by(LinkRow.created.desc()))]

    def revoke_link(self, owner: str, link: str) -> None:
        """Take a link back, by its id: whoever looks through it sees nothing any more within seconds."""
        with Session(self._database) as session:
            row = session.scalar(select(LinkRow).where(LinkRow.owner == owner, LinkRow.id == link))
            if row is None:
                raise WorkspaceError("This link is not in your workspace: its run was deleted, or is somebody else's.")
            row.revoked = row.revoked or now()
            session.commit()

    def _follow_link(self, link: str) -> tuple[str, str]:
        """The owner and the run of a link that works, for `core.workspace.sharing` alone; notes that it was used.

        Raises DeadLink for one that does not work.
        """
        with Session(self._database) as session:
            row = session.get(LinkRow, link)
            if row is None or not _link(row).works:
                raise DeadLink
            owner, run_id, used = row.owner, row.run_id, row.used
        if used is None or now() - used > SECONDS_BETWEEN_USES:
            self._note_use(link)
        return owner, run_id

    def _note_use(self, link: str) -> None:
        """Write down that a link was used, where that can be written: looking goes on though the disk is full.

        What could not be written is not tried again at once, as each try may wait for whoever keeps the database busy.
        """
        if now() - self._noted.get(link, 0.0) <= SECONDS_BETWEEN_USES:
            return
        self._noted[link] = now()
        with suppress(WorkspaceError), Session(self._database) as session:
            session.execute(update(LinkRow).where(LinkRow.id == link).values(used=now()))
            session.commit()

    @cached_property
    def _noted(self) -> dict[str, float]:
        """When this process last tried to note that a link was used, by link."""
        return {}


def _link(row: LinkRow) -> Link:
    return Link(row.id, row.run_id, row.created, row.expires, row.revoked, row.used)
