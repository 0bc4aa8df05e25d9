"""Who is let in? Whoever knows the secret of the home where nobody signs in, has a link, or has signed in.

Only whoever can read the home has its secret: so whoever had access keeps it when Touchstone starts anew.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from touchstone.core.workspace import events, schema
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.runs import require_run
from touchstone.core.workspace.schema import now
from touchstone.core.workspace.store import Kept, Store, commit_or_ignore_twin, hold, is_dead, require

SECRET = "access"
"""The file of the home. Who deletes it and starts anew shuts out every browser."""
TOKEN = "token"
"""The parameter of the printed address."""
SHORTEST = 32
NOTE = "open.json"
"""The file of the home that says where a Touchstone is open."""


def secret(home: Path) -> bytes:
    """The secret of a home: made where there is none, or one that others could have read.

    Raises OSError where the home cannot be written.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     secret(Path(folder)) == secret(Path(folder)), len(secret(Path(folder)))
    (True, 64)
    """
    file = home / SECRET
    if not _is_ours_alone(file):
        file.unlink(missing_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{SECRET}.", dir=home)  # of mode 0600
        try:
            with os.fdopen(descriptor, "w") as stream:
                stream.write(secrets.token_hex(SHORTEST))
            with suppress(FileExistsError):  # another process was faster: its secret holds
                os.link(temporary, file)
        finally:
            Path(temporary).unlink()
    return file.read_bytes()


def derived(key: bytes, use: str) -> str:
    """What follows from a secret for one use, such as "token" or "cookie"; the one does not tell the other.

    >>> derived(b"secret", "token") == derived(b"secret", "cookie"), len(derived(b"secret", "token"))
    (False, 64)
    """
    return hmac.new(key, use.encode(), hashlib.sha256).hexdigest()


def address(url: str, key: bytes) -> str:
    """The address that lets a browser in.

    >>> address("http://127.0.0.1:8501/", b"secret")[:35]
    'http://127.0.0.1:8501/?token=e94111'
    """
    return f"{url.rstrip('/')}/?{TOKEN}={derived(key, TOKEN)}"


def open_at(home: Path) -> str | None:
    """Where a Touchstone is open on a home; None where none is, or who noted it has ended.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_at(Path(folder)) is None
    True
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        note = json.loads((home / NOTE).read_text("utf-8"))
        if not is_dead(note["holder"]):
            return str(note["url"])
    return None


def _is_ours_alone(file: Path) -> bool:
    try:
        about = file.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(about.st_mode) and not about.st_mode & 0o077 and about.st_size >= SHORTEST


# Who may see a result without signing in? Whoever has a link to it that is neither revoked nor out of date.


USUAL_DAYS = 30
MOST_DAYS = 365
SECONDS_BETWEEN_USES = 60.0
"""How exactly it is written down when a link, or a sign-in, was last used."""
DEAD = "It was revoked, has expired, or is wrong. Nothing is shown; ask the sender for a new one."
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
        """Lists of values, and each name once in an order of its own: views of the same are equal."""
        object.__setattr__(self, "settings", {name: list(values) for name, values in self.settings.items()})
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


class Links(Kept):
    """The links to the results of a workspace."""

    def __init__(self, store: Store):
        super().__init__(store)
        self._links_noted: dict[str, float] = {}
        """When this process last tried to note that a link was used, by link."""

    def create_link(self, owner: str, shown: str | View, *, days: int = USUAL_DAYS) -> str:
        """Make a link that shows a run (its id) or a view for so many days; returns its token.

        Nobody can ask for the token again. What is deleted meanwhile has no link made to it.
        """
        if not 1 <= days <= MOST_DAYS:
            raise WorkspaceError(f"A link works for 1 to {MOST_DAYS} days, not for {days}.")
        token = secrets.token_urlsafe(32)
        known = {"id": link_id(token), "owner": owner, "expires": now() + days * _DAY}
        with self._store.session() as session:
            try:
                for row in _rows(shown, known):
                    session.add(row)
                    session.flush()
                for table, name in _rests_on(shown):  # who deletes it now waits for this link, and takes it along
                    hold(session, _TABLES[table], owner, name)
                _require(session, owner, shown)
                session.commit()
            except IntegrityError:
                session.rollback()
                _require(session, owner, shown)
                raise
        return token

    def links(self, owner: str, shown: str | View | None = None) -> list[Link]:
        """All links that were ever made and show a run, or anything of what a view rests on on its page; newest first.

        All links of the owner where nothing is named.
        """
        runs = select(schema.LinkRow).where(schema.LinkRow.owner == owner)
        views = select(schema.ViewLinkRow).where(schema.ViewLinkRow.owner == owner)
        if shown is not None:
            names = _rests_on(shown)
            runs = runs.where(schema.LinkRow.run_id.in_([name for table, name in names if table == "runs"]))
            some = or_(
                *(and_(schema.RestsOnRow.kind == table, schema.RestsOnRow.name == name) for table, name in names)
            )
            views = views.where(
                schema.ViewLinkRow.id.in_(
                    select(schema.RestsOnRow.link_id).where(schema.RestsOnRow.owner == owner, some)
                )
            )
            if isinstance(shown, View):
                views = views.where(schema.ViewLinkRow.page == shown.page)
        with self._store.session() as session:
            if shown is not None:
                _require(session, owner, shown)
            of_runs = [_as_link(row, row.run_id) for row in session.scalars(runs)]
            found = [*of_runs, *_view_links(session, session.scalars(views).all())]
        return sorted(found, key=lambda link: link.created, reverse=True)

    def revoke_link(self, owner: str, link: str) -> None:
        """Take a link back, by its id: whoever looks through it sees nothing any more within seconds."""

        def revoke(session: Session) -> None:
            row = _find(session, link)
            if row is None or row.owner != owner:
                raise WorkspaceError(
                    "This link is not in your workspace: what it showed was deleted, or is somebody else's."
                )
            row.revoked = row.revoked or now()
            session.commit()

        self._store.free(revoke)

    def _follow_link(self, link: str) -> tuple[str, str | View]:
        """The owner of a link that works and what it shows, for shared workspaces alone; notes that it was used.

        Raises DeadLink for one that does not work.
        """
        with self._store.session() as session:
            row = _find(session, link)
            known = _link(session, row) if row is not None else None
            if row is None or known is None or not known.works:
                raise DeadLink
            owner = row.owner
        if known.used is None or now() - known.used > SECONDS_BETWEEN_USES:
            self._note_link(link)
        return owner, known.shows

    def _note_link(self, link: str) -> None:
        """Write down that a link was used, where that can be written: looking goes on though the disk is full.

        What could not be written is not tried again at once, as each try may wait for whoever keeps the database busy.
        """
        if now() - self._links_noted.get(link, 0.0) <= SECONDS_BETWEEN_USES:
            return
        self._links_noted[link] = now()
        with suppress(WorkspaceError), self._store.session() as session:
            for kind in _KINDS:
                session.execute(update(kind).where(kind.id == link).values(used=now()))
            session.commit()


_KINDS = (schema.LinkRow, schema.ViewLinkRow)
_TABLES = {
    kind.__tablename__: kind for kind in (schema.DatasetRow, schema.PredictionsRow, schema.ModelRow, schema.RunRow)
}
"""By the name of the table, which is a field of `View`."""


def _rests_on(shown: str | View) -> list[tuple[str, str]]:
    return [("runs", shown)] if isinstance(shown, str) else shown.rests_on


def _find(session: Session, link: str) -> schema.LinkRow | schema.ViewLinkRow | None:
    return session.get(schema.LinkRow, link) or session.get(schema.ViewLinkRow, link)


def _require(session: Session, owner: str, shown: str | View) -> None:
    """Raises WorkspaceError where the owner does not have what is to be shown."""
    for table, name in _rests_on(shown):
        if table == "runs":
            require_run(session, owner, name)
        else:
            require(session, _TABLES[table], owner, name)


def _rows(
    shown: str | View, known: dict[str, Any]
) -> Iterator[schema.LinkRow | schema.ViewLinkRow | schema.RestsOnRow]:
    """What is stored of a link, in the order in which it has to be."""
    if isinstance(shown, str):
        yield schema.LinkRow(run_id=shown, **known)
        return
    yield schema.ViewLinkRow(page=shown.page, title=shown.title, settings=json.dumps(shown.settings), **known)
    for table, name in shown.rests_on:
        yield schema.RestsOnRow(link_id=known["id"], owner=known["owner"], kind=table, name=name)


def _link(session: Session, row: schema.LinkRow | schema.ViewLinkRow) -> Link:
    return _as_link(row, row.run_id) if isinstance(row, schema.LinkRow) else _view_links(session, [row])[0]


def _as_link(row: schema.LinkRow | schema.ViewLinkRow, shows: str | View) -> Link:
    return Link(row.id, shows, row.created, row.expires, row.revoked, row.used)


def _view_links(session: Session, rows: Sequence[schema.ViewLinkRow]) -> list[Link]:
    """Links with all that their views rest on, which takes one question for all of them."""
    names: dict[str, dict[str, list[str]]] = {row.id: {table: [] for table in _TABLES} for row in rows}
    for one in session.scalars(select(schema.RestsOnRow).where(schema.RestsOnRow.link_id.in_(list(names)))):
        names[one.link_id][one.kind].append(one.name)
    rests_on = {link: {table: tuple(each) for table, each in of.items()} for link, of in names.items()}
    return [_as_link(row, View(row.page, json.loads(row.settings), row.title, **rests_on[row.id])) for row in rows]


# Where is somebody signed in, and which sign-ins have ended? A browser keeps its own in a cookie, and a copy of that
# must end with it.


LONGEST_SIGN_IN = 31 * 24 * 3600.0
"""Seconds after which no cookie is believed any more, so that its sign-in, or the end of it, need not be remembered."""


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
            row = session.get(schema.SignInRow, (owner, sign_in))
            if row is not None and row.ended is not None:
                return False
            used = row.used if row is not None else None
        if used is None or now() - used > SECONDS_BETWEEN_USES:
            self._note_sign_in(owner, sign_in, browser)
        return True

    def sign_ins(self, owner: str) -> list[SignIn]:
        """The owner's sign-ins that go on, the last used first."""
        going_on = select(schema.SignInRow).where(
            schema.SignInRow.owner == owner,
            schema.SignInRow.ended.is_(None),
            schema.SignInRow.began > now() - LONGEST_SIGN_IN,
        )
        with self._store.session() as session:
            rows = session.scalars(going_on.order_by(schema.SignInRow.used.desc()))
            return [SignIn(row.sign_in, row.browser, row.began, row.used) for row in rows]

    def sign_out(self, owner: str, sign_in: str) -> None:
        """End a sign-in, for good and wherever it is in use; those that are long past are forgotten."""

        def end(session: Session) -> bool:
            self._forget(session)
            row = session.get(schema.SignInRow, (owner, sign_in)) or schema.SignInRow(owner=owner, sign_in=sign_in)
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
            known = session.get(schema.SignInRow, of)
            row = known or schema.SignInRow(owner=owner, sign_in=sign_in, browser=browser)
            row.used = now()
            session.add(row)
            commit_or_ignore_twin(session)
            if known is None:
                events.note("signed_in", sign_in=events.short(sign_in))

    @staticmethod
    def _forget(session: Session) -> None:
        """Forget what no cookie can be of any more."""
        last = func.coalesce(schema.SignInRow.ended, schema.SignInRow.used)
        session.execute(delete(schema.SignInRow).where(last < now() - LONGEST_SIGN_IN))
