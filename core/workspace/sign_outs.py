"""Which sign-ins have ended? A browser keeps its own in a cookie, and a copy of that must end with it."""

from sqlalchemy import delete
from sqlalchemy.orm import Session

from core.workspace.schema import SignOutRow, now
from core.workspace.store import Store, commit_or_ignore_twin

LONGEST_SIGN_IN = 31 * 24 * 3600.0
"""Seconds after which no cookie is believed any more, so that its end need not be remembered."""


class SignOuts:
    """The sign-ins of a workspace's owners that have ended."""

    def __init__(self, store: Store):
        self._store = store

    def sign_out(self, owner: str, sign_in: str) -> None:
        """End a sign-in, for good and wherever it is in use; those that are long past are forgotten."""

        def end(session: Session) -> None:
            session.execute(delete(SignOutRow).where(SignOutRow.at < now() - LONGEST_SIGN_IN))
            session.add(SignOutRow(owner=owner, sign_in=sign_in))
            commit_or_ignore_twin(session)

        self._store.free(end)

    def is_signed_out(self, owner: str, sign_in: str) -> bool:
        """Whether a sign-in has ended."""
        with self._store.session() as session:
            return session.get(SignOutRow, (owner, sign_in)) is not None
