"""With sign-in nobody sees anything before signing in, and then only what is their own, by issuer and subject."""

import json
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.conftest import PLAN, ROOT, stored_run, texts
from touchstone.core.questions import with_page
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError, events
from touchstone.core.workspace.access import link_id
from touchstone.ui.shell import session, sign_in

AUTH = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": "s" * 32,
    "client_id": "touchstone",
    "client_secret": "c",
    "server_metadata_url": "http://localhost:1/.well-known/openid-configuration",
}
ALICE = {"is_logged_in": True, "iss": "https://one.example", "sub": "alice", "email": "both@example.org"}
PATHS = list(with_page())


@pytest.fixture(autouse=True)
def fresh_section() -> Iterator[None]:
    """The [auth] section is read once in a process: here once for each test."""
    section = sign_in._section
    section.cache_clear()
    yield
    section.cache_clear()


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    """A page as the first request of somebody, by default of nobody in particular."""

    def open_it(path: str, user: dict | None = None, **parameters: str) -> AppTest:
        app = AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=90)
        app.secrets["auth"] = AUTH
        app.user = user or {"is_logged_in": False}
        app._page_hash = "" if path == "overview" else calc_hash(path)
        for name, value in parameters.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return open_it


def test_every_page_is_behind_the_gate(opened, workspace, wine):
    stored_run(workspace, wine, n_trials=1)
    for path in PATHS:
        app = opened(path, data=wine.fingerprint)
        assert texts(app).splitlines() == [sign_in.ABOUT, sign_in.SENTENCE]
        assert [one.label for one in app.button] == ["Sign in"]
        assert not [*app.get("page_link"), *app.selectbox, *app.sidebar.button, *app.metric]


@pytest.mark.parametrize("user", [{"is_logged_in": True}, {**ALICE, "sub": ""}, {**ALICE, "iss": None}])
def test_who_has_no_issuer_and_subject_is_nobody(user, opened):
    assert sign_in.SENTENCE in texts(opened("overview", user))


def test_each_sees_their_own_things_by_issuer_and_subject(opened, workspace: Workspace, wine):
    for user in (ALICE, {**ALICE, "sub": "bob"}, {**ALICE, "iss": "https://two.example"}):
        app = opened("runs", user)
        assert "No runs yet" in texts(app)
        assert app.button(key="sign-out").label == "Sign out"
        me = owner_named(user)
        workspace.add_dataset(me, wine)
        run = workspace.create_run(me, PLAN, wine.fingerprint)
        assert f"delete-{run.id}" in {one.key for one in opened("runs", user).button}
    assert workspace.runs(LOCAL_OWNER) == []
    same = {**ALICE, "email": "new@example.org", "name": "Alice"}
    assert "32 trials" in texts(opened("runs", same))


def owner_named(user: dict) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sign_in.st, "user", user)
        return sign_in.owner()


def test_issuer_and_subject_cannot_be_mixed_up():
    names = {owner_named({**ALICE, "iss": iss, "sub": sub}) for iss, sub in (("ab", "c"), ("a", "bc"), ('a","b', "c"))}
    assert len(names) == 3
    assert all(name.startswith("oidc:") and "a" * 5 not in name for name in names)


def test_where_nobody_is_signed_in_there_is_no_owner(monkeypatch):
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)
    monkeypatch.setattr(sign_in.st, "user", {"is_logged_in": False})
    for ask in (session.owner, session.workspace, session.engine):
        with pytest.raises(WorkspaceError, match="not signed in"):
            ask()


def test_a_server_keeps_its_door_when_the_secrets_go(monkeypatch):
    class Gone(dict):
        def load_if_toml_exists(self) -> bool:
            return bool(self)

    class Section(dict):
        to_dict = dict.copy

    secrets = Gone(auth=Section(AUTH))
    monkeypatch.setattr(sign_in.st, "secrets", secrets)
    assert sign_in.is_set_up()
    secrets.clear()
    assert sign_in.is_set_up()


def test_several_providers_have_a_button_each(opened, monkeypatch):
    provider = {name: AUTH[name] for name in ("client_id", "client_secret", "server_metadata_url")}
    shared = {name: AUTH[name] for name in ("redirect_uri", "cookie_secret")}
    monkeypatch.setattr(sign_in, "_section", lambda: {**shared, "google": provider, "office": provider})
    assert [one.label for one in opened("runs").button] == ["Sign in with google", "Sign in with office"]


def test_a_link_needs_no_sign_in_and_is_no_way_in(opened, workspace, wine):
    me = owner_named(ALICE)
    workspace.add_dataset(me, wine)
    token = workspace.create_link(me, workspace.create_run(me, PLAN, wine.fingerprint).id)
    app = opened("shared_run", t=token, data=wine.fingerprint, repeats="4")
    assert app.title[0].value == "How far does accuracy fall on new sources?"
    assert not app.sidebar.button
    elsewhere = opened("source_robustness", t=token, data=wine.fingerprint)
    assert not elsewhere.title
    assert "works" not in texts(elsewhere)


def test_a_sign_in_that_was_ended_is_over_for_who_copied_its_cookie_and_for_nobody_else(opened, monkeypatch):
    monkeypatch.setattr(session, "SECONDS_BELIEVED", 0.0)
    here = {**ALICE, "nonce": "one", "iat": 1, "tokens": {"id": "x"}}
    copied = {name: value for name, value in here.items() if name != "tokens"}
    elsewhere, bob = {**here, "nonce": "two"}, {**here, "sub": "bob"}
    mine, open_copy = opened("runs", here), opened("runs", copied)
    mine.button(key="sign-out").click().run()
    assert sign_in.SENTENCE in texts(open_copy.run()), "a tab that was open goes on"
    for path in PATHS:
        assert sign_in.SENTENCE in texts(opened(path, copied))
    for user in (elsewhere, bob):
        assert opened("runs", user).button(key="sign-out").label == "Sign out"


def test_what_was_begun_for_a_sign_in_gives_nothing_once_that_has_ended(monkeypatch, workspace):
    monkeypatch.setattr(session, "SECONDS_BELIEVED", 0.0)
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)
    monkeypatch.setattr(sign_in.st, "user", ALICE)
    begun = session.bound(lambda: "a table")
    assert begun() == "a table"
    session.sign_out()
    with pytest.raises(session.NotSignedIn):
        begun()


def test_the_other_sign_ins_of_a_person_are_listed_and_can_be_ended(opened, monkeypatch):
    monkeypatch.setattr(session, "SECONDS_BELIEVED", 0.0)
    here, elsewhere, bob = {**ALICE, "nonce": "one"}, {**ALICE, "nonce": "two"}, {**ALICE, "sub": "bob"}
    monkeypatch.setattr(sign_in, "browser", lambda: "Firefox on Linux")
    assert "signed in here, and nowhere else" in texts(opened("runs", here))
    there, of_bob = opened("runs", elsewhere), opened("runs", bob)
    mine = opened("runs", here)
    assert "signed in here and in 1 other browser" in texts(mine)
    assert "Firefox on Linux, since" in texts(mine)
    [end] = [one for one in mine.button if one.label == "End"]
    end.click().run()
    assert "signed in here, and nowhere else" in texts(mine)
    assert sign_in.SENTENCE in texts(there.run())
    assert sign_in.SENTENCE not in texts(of_bob.run())
    assert "signed in here, and nowhere else" in texts(of_bob)


def test_the_log_names_no_token_and_nobody(opened, workspace, wine, monkeypatch, tmp_path):
    log = tmp_path / "events.log"
    monkeypatch.setenv(events.SETTING, str(log))
    monkeypatch.setattr(sign_in, "browser", lambda: "Firefox on Linux")
    me = owner_named(ALICE)
    workspace.add_dataset(me, wine)
    token = workspace.create_link(me, workspace.create_run(me, PLAN, wine.fingerprint).id)
    mine = opened("runs", {**ALICE, "name": "Alice"})
    for asked in (token, "A" * 43):
        opened("shared_run", t=asked).run()
    mine.button(key="sign-out").click().run()
    written = log.read_text("utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    assert [line["event"] for line in lines] == ["signed_in", "link_asked", "link_asked", "signed_out"]
    assert [line.get("works") for line in lines] == [None, True, False, None]
    for named in (token, link_id(token), me, "lice", "example", "Wine", "Firefox", wine.fingerprint, "A" * 9):
        assert named not in written
