"""Without sign-in only browsers that opened the printed address once are answered: other accounts reach the port."""

import asyncio
import re
import stat
from typing import NamedTuple
from urllib.parse import quote

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from tests.conftest import ROOT
from tests.ui.test_serving import AUTH
from touchstone.core.__main__ import main
from touchstone.core.workspace.access import NOTE, SECRET, secret
from touchstone.ui.shell import access, instance_lock, sign_in

HERE = "http://127.0.0.1:8501"


class Answer(NamedTuple):
    status: int | str
    text: str
    headers: Headers


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path))
    monkeypatch.delenv(access.OPEN, raising=False)
    start_anew()
    yield tmp_path
    start_anew()


def start_anew() -> None:
    """What a server knows that was just started: nothing."""
    access._secret.cache_clear()


async def app(scope, receive, send):
    if scope["type"] == "http":
        await PlainTextResponse("the app")(scope, receive, send)
    else:
        await send({"type": "websocket.accept"})


def ask(target: str = "/", *, kind: str = "http", method: str = "GET", cookie: str | None = None) -> Answer:
    path, _, query = target.partition("?")
    scope = {"type": kind, "method": method, "path": path, "query_string": query.encode()}
    came: list[dict] = []

    async def send(message: dict) -> None:
        came.append(message)

    scope["headers"] = [(b"cookie", cookie.encode())] if cookie is not None else []
    asyncio.run(access.PrintedAddress(app)(scope, None, send))
    body = b"".join(message.get("body", b"") for message in came)
    return Answer(came[0].get("status", came[0]["type"]), body.decode(), Headers(raw=came[0].get("headers", [])))


def printed() -> str:
    """The token of the address that a start prints."""
    return access.with_token(HERE).split("?token=")[1]


def let_in(token: str) -> str:
    """The cookie that a browser gets for a token, as it sends it back."""
    return ask(f"/?token={token}").headers["set-cookie"].split(";")[0]


@pytest.mark.parametrize(
    "path", ["/", "/runs", "/shared_run", "/media/rows.tsv", "/_stcore/upload_file/a/b", "/static"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_nobody_gets_a_page_without_it(path: str, method: str):
    answer = ask(path, method=method)
    assert answer.status == 403
    assert "the app" not in answer.text


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "é", " ", "%00"])
def test_another_token_opens_nothing(token: str):
    answer = ask(f"/?token={quote(token)}")
    assert (answer.status, "set-cookie" in answer.headers) == (403, False)


def test_the_printed_address_is_exchanged_for_a_cookie_that_opens_every_page():
    answer = ask(f"/runs?state=done&token={printed()}&state=failed")
    assert (answer.status, answer.headers["location"]) == (303, "/runs?state=done&state=failed")
    assert answer.headers["cache-control"] == "no-store"
    flags = answer.headers["set-cookie"].lower()
    assert all(flag in flags for flag in ("httponly", "samesite=lax", "max-age=34560000", "path=/"))
    assert printed() not in answer.headers["set-cookie"]
    cookie = let_in(printed())
    assert ask("/runs", cookie=f"a=b; {cookie}; c=d").text == "the app"
    assert ask("/_stcore/stream", kind="websocket", cookie=cookie).status == "websocket.accept"
    assert ask("/_stcore/upload_file/a", method="PUT", cookie=cookie).status == 200


@pytest.mark.parametrize("change", [str.upper, lambda cookie: cookie[:-1], lambda cookie: f"{cookie}0", lambda _: ""])
def test_a_cookie_that_was_not_given_opens_nothing(change):
    cookie = change(let_in(printed()))
    assert ask("/", cookie=cookie).status == 403
    assert ask("/_stcore/stream", kind="websocket", cookie=cookie).status == "websocket.close"


@pytest.mark.parametrize("cookie", ["", ";;;", "a", "touchstone=x", "\x00=1", "a=b; a=c; =", '"'])
def test_cookies_that_cannot_be_read_open_nothing(cookie: str):
    assert ask("/", cookie=cookie).status == 403


def test_a_websocket_takes_no_token():
    assert ask(f"/_stcore/stream?token={printed()}", kind="websocket").status == "websocket.close"


def test_the_whole_address_may_be_given_in_place_of_the_token():
    assert ask(f"/runs?token={quote(access.with_token(HERE), safe='')}").headers["location"] == "/runs"


def test_who_is_asked_for_the_token_keeps_what_the_address_asked_for():
    answer = ask('/shared_run?t=secret&x="><script>alert(1)</script>&token=wrong')
    assert '<input type="hidden" name="t" value="secret">' in answer.text
    assert "<script" not in answer.text
    assert "wrong" not in answer.text


@pytest.mark.parametrize("path", ["//example.org/", "/\\example.org", "///example.org", "/%2Fexample.org"])
def test_a_token_leads_to_no_other_server(path: str):
    to = ask(f"{path}?token={printed()}").headers["location"]
    assert re.match(r"/[^/\\]", to)


def test_who_had_access_keeps_it_when_the_server_starts_anew(home):
    before, cookie = access.with_token("http://127.0.0.1:9000"), let_in(printed())
    start_anew()
    assert ask("/", cookie=cookie).text == "the app"
    assert access.with_token("http://127.0.0.1:9000") == before
    (home / SECRET).unlink()
    start_anew()
    assert ask("/", cookie=cookie).status == 403
    assert access.with_token("http://127.0.0.1:9000") != before


def test_the_secret_is_for_its_owner_alone(home):
    before = secret(home)
    assert stat.S_IMODE((home / SECRET).stat().st_mode) == 0o600
    (home / SECRET).chmod(0o644)  # somebody may have read it
    assert secret(home) != before
    assert stat.S_IMODE((home / SECRET).stat().st_mode) == 0o600
    (home / SECRET).write_bytes(b"")  # as a full disk leaves it
    assert len(secret(home)) == 64
    assert sorted(file.name for file in home.iterdir()) == [SECRET]


def test_a_home_that_cannot_be_written_has_a_secret_for_as_long_as_the_server_lives(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "file" / "below"))
    cookie = let_in(printed())
    assert ask("/", cookie=cookie).text == "the app"
    start_anew()
    assert ask("/", cookie=cookie).status == 403


def test_health_is_told_without_it():
    assert ask("/_stcore/health").text == "the app"
    assert ask("/_stcore/health", kind="websocket").status == "websocket.close"


def test_with_sign_in_there_is_no_token(monkeypatch):
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)
    assert ask().text == "the app"
    assert access.with_token(HERE) == HERE


@pytest.mark.parametrize(
    ("terminal", "screen", "said"), [(True, True, ""), (False, True, ""), (True, False, ""), (True, True, "no")]
)
def test_a_browser_is_opened_with_the_token_where_somebody_sits_before_it(monkeypatch, home, terminal, screen, said):
    opened: list[str] = []
    where = "command-line argument" if said else "/somewhere/.streamlit/config.toml"
    monkeypatch.setattr(access.webbrowser, "open", opened.append)
    monkeypatch.setattr(access.sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setattr(access.sys, "platform", "linux")
    monkeypatch.setattr(access.config, "get_where_defined", lambda option: where)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if screen:
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    access.say("http://127.0.0.1:8501")
    assert opened == ([access.with_token("http://127.0.0.1:8501")] if terminal and screen and not said else [])


def test_the_projects_own_file_keeps_streamlit_from_opening_an_address_without_the_token():
    assert "headless = true" in (ROOT / ".streamlit" / "config.toml").read_text("utf-8")


def test_who_does_without_it_is_told_what_that_means(monkeypatch, capsys):
    access.say(HERE)
    assert capsys.readouterr() == (f"\n  Touchstone is open at {HERE}/?token={printed()}\n\n", "")
    monkeypatch.setenv(access.OPEN, "1")
    assert ask().text == "the app"
    access.say(HERE)
    told = capsys.readouterr()
    assert told.out == f"\n  Touchstone is open at {HERE}\n\n"
    assert "every account of this machine" in told.err
    monkeypatch.setenv(access.OPEN, "0")
    assert ask().status == 403


def test_the_command_line_prints_the_address_again(home, capsys):
    assert main(["address"]) == 1
    assert "No Touchstone is open" in capsys.readouterr().err
    instance_lock.arrive(home, HERE)
    assert (home / NOTE).is_file()
    assert main(["address"]) == 0
    assert capsys.readouterr().out == f"{access.with_token(HERE)}\n"
