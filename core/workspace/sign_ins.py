"""Where is somebody signed in, and which sign-ins have ended? A browser keeps its own in a cookie, and a copy of that
must end with it.
"""

from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from touchstone.core.workspace import events
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.schema import SignInRow, now
from touchstone.core.workspace.store import Kept, Store, commit_or_ignore_twin

LONGEST_SIGN_IN = 31 * 24 * 3600.0
"""Seconds after which no cookie is believed any more, so that its sign-in, or the end of it, need not be remembered."""
SECONDS_BETWEEN_USES = 60.0
"""How exactly it is written down when a sign-in was last used."""


@dataclass(frozen=True)
class SignIn:
    """What its owner may know of a sign-in that goes on. Times are seconds since 1970, UTC."""

    id: str
    browser: str
    began: float
    used: float


class SignIns(Kept):
    """The sign-ins of a workspace's owners, and the ends of those that have ended."""

    def __init__(self, store: Store):
        super().__init__(store)
        self._sign_ins_noted: dict[tuple[str, str], float] = {}
        """When this process last tried to note that a sign-in was used."""

    def follow_sign_in(self, owner: str, sign_in: str, *, browser: str) -> bool:
        """Whether a sign-in goes on; notes that it was used, and a new one with its browser."""
        with self._store.session() as session:
            row = session.get(SignInRow, (owner, sign_in))
            if row is not None and row.ended is not None:
                return False
            used = row.used if row is not None else None
        if used is None or now() - used > SECONDS_BETWEEN_USES:
            self._note_sign_in(owner, sign_in, browser)
        return True

    def sign_ins(self, owner: str) -> list[SignIn]:
        """The owner's sign-ins that go on, the last used first."""
        going_on = select(SignInRow).where(
            SignInRow.owner == owner, SignInRow.ended.is_(None), SignInRow.began > now() - LONGEST_SIGN_IN
        )
        with self._store.session() as session:
            rows = session.scalars(going_on.order_by(SignInRow.used.desc()))
            return [SignIn(row.sign_in, row.browser, row.began, row.used) for row in rows]

    def sign_out(self, owner: str, sign_in: str) -> None:
        """End a sign-in, for good and wherever it is in use; those that are long past are forgotten."""

        def end(session: Session) -> bool:
            self._forget(session)
            row = session.get(SignInRow, (owner, sign_in)) or SignInRow(owner=owner, sign_in=sign_in)
            ends = row.ended is None
            row.ended = row.ended or now()
            session.add(row)
            commit_or_ignore_twin(session)
            return ends

        if self._store.free(end):
            events.note("signed_out", sign_in=events.short(sign_in))

    def _note_sign_in(self, owner: str, sign_in: str, browser: str) -> None:
        """Write down that a sign-in was used, where that can be written: it goes on though the disk is full.

        What could not be written is not tried again at once, as each try may wait for whoever keeps the database busy.
        """
        of = (owner, sign_in)
        if now() - self._sign_ins_noted.get(of, 0.0) <= SECONDS_BETWEEN_USES:
            return
        self._sign_ins_noted[of] = now()
        with suppress(WorkspaceError), self._store.session() as session:
            self._forget(session)
            known = session.get(SignInRow, of)
            row = known or SignInRow(owner=owner, sign_in=sign_in, browser=browser)
            row.used = now()
            session.add(row)
            commit_or_ignore_twin(session)
            if known is None:
                events.note("signed_in", sign_in=events.short(sign_in))

    @staticmethod
    def _forget(session: Session) -> None:
        """Forget what no cookie can be of any more."""
        last = func.coalesce(SignInRow.ended, SignInRow.used)
        session.execute(delete(SignInRow).where(last < now() - LONGEST_SIGN_IN))
