"""Does a server with sign-in keep anything of a client that never signed in? A real one, with a provider, is asked."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from markupsafe import escape
from starlette.datastructures import Headers
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server import server_util
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.browser.provider import COOKIE_SECRET, Client, provide, secrets_for
from tests.browser.server import Server, serve
from tests.ui.test_serving import AUTH, Answer, ask
from touchstone.core.workspace import Workspace
from touchstone.ui.shell import serving, sign_in, signed_in, upload_bounds
from touchstone.ui.shell.upload_bounds import SECONDS_TO_RETURN, UploadBounds

MIB = 2**20
FILE = '--b\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n%s\r\n--b--\r\n'
FOREIGN = ["http://example.org", "http://localhost:1", "null", None]
WATCH = """
import os, sys

def look(event, given):
    if event not in ("socket.getaddrinfo", "socket.connect", "socket.sendto"):
        return
    where = given[0] if event == "socket.getaddrinfo" else given[1]
    host = where[0] if isinstance(where, tuple) else where
    host = host.decode() if isinstance(host, bytes) else host or ""
    if not host.startswith(("127.", "/", "\\0")) and host not in ("", "::1", "localhost", "0.0.0.0"):
        with open(os.environ["OUTGOING"], "a") as file:
            file.write(f"{event} {host}\\n")
        raise ConnectionRefusedError(f"nothing leaves this machine: {host}")

sys.addaudithook(look)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    """One that may hold little, and that cannot ask anybody outside, which is written down in the file "outgoing"."""
    home = tmp_path_factory.mktemp("signed-in")
    watch = tmp_path_factory.mktemp("watch")
    (watch / "sitecustomize.py").write_text(WATCH)
    bounds = {"TOUCHSTONE_MOST_UPLOAD": "1", "TOUCHSTONE_MOST_OPEN": "2", "TOUCHSTONE_MOST_OPEN_IN_ALL": "3"}
    settings = {**bounds, "PYTHONPATH": str(watch), "OUTGOING": str(home / "outgoing")}
    with provide(home, "alice", "bob") as provider, serve(home, secrets=secrets_for(provider), settings=settings) as up:
        yield up


@pytest.fixture(scope="module")
def alice(server) -> Client:
    client = Client(server.url)
    client.sign_in("alice")
    client.ask("/_stcore/health")
    return client


@contextmanager
def page(client: Client, *, origin: str | None = "its own") -> Iterator[tuple[ClientConnection, str]]:
    """The connection of an open page, and the id of its session."""
    own = urlsplit(client.url)
    headers = {
        "Cookie": client.cookies(),
        **({} if origin is None else {"Origin": client.url if origin == "its own" else origin}),
    }
    protocols = ["streamlit", next((c.value or "x" for c in client.jar if c.name == "_streamlit_xsrf"), "x")]
    with connect(
        f"ws://{own.netloc}/_stcore/stream",
        additional_headers=headers,
        subprotocols=protocols,
        max_size=None,
        proxy=None,
    ) as stream:
        stream.send(bytes.fromhex("5a00"))  # a page asks to be drawn
        message = ForwardMsg()
        while not message.new_session.initialize.session_id:
            message = ForwardMsg.FromString(stream.recv(timeout=60))
        yield stream, message.new_session.initialize.session_id


def upload(client: Client, session: str, name: str, *, method: str = "PUT", size: int = MIB // 2) -> tuple[int, str]:
    """Upload a file of an open page, or remove it, as its uploader does."""
    token = next((cookie.value or "" for cookie in client.jar if cookie.name == "_streamlit_xsrf"), "")
    about = {"Content_Type": "multipart/form-data; boundary=b", "Origin": client.url, "X_Xsrftoken": token}
    body = (FILE % ("x" * size)).encode() if method == "PUT" else None
    return client.ask(f"/_stcore/upload_file/{session}/{name}", method=method, body=body, **about)


def test_who_never_signed_in_uploads_nothing_and_opens_no_stream(server, alice):
    stranger = Client(server.url)
    assert stranger.ask("/_stcore/health") == (200, "ok")
    with pytest.raises(InvalidStatus, match="403"), page(stranger):
        pass
    with page(alice) as (_, session):
        for method in ("PUT", "DELETE"):
            assert upload(stranger, session, "f1", method=method, size=9)[0] == 401
        for path in ("/media/x.tsv", "/component/x", "/_stcore/bidi-components/x/y", "/app/static/x", "/_stcore/other"):
            assert stranger.ask(path)[0] == 401, path


def test_it_is_refused_before_a_byte_of_it_is_read(server):
    own = urlsplit(server.url)
    for headers in ({}, {"Cookie": "_streamlit_user=forged; _streamlit_xsrf=2|a|b|1", "X-Xsrftoken": "2|a|b|1"}):
        connection = http.client.HTTPConnection(own.hostname or "", own.port, timeout=60)
        connection.putrequest("PUT", "/_stcore/upload_file/any/f1")
        for name, value in {"Content-Length": str(60 * MIB), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()  # and not one byte of the file
        assert connection.getresponse().status == 401
        connection.close()


def test_pages_lead_to_the_provider_and_what_tells_of_the_server_is_closed(server, alice):
    stranger = Client(server.url)
    for path in ("/", "/runs", "/source_robustness?data=wine"):
        status, text = stranger.ask(path)
        assert status == 401
        assert sign_in.SENTENCE in text
        assert "/sign_in" in text
    for client in (stranger, alice):
        for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp"):
            assert client.ask(path)[0] == 404
    assert alice.ask("/runs")[0] == 200


@pytest.mark.parametrize("origin", FOREIGN)
def test_foreign_sockets_are_refused_and_nobody_outside_is_asked(server, alice, origin):
    refused: list[int] = []

    def knock() -> None:
        try:
            with page(alice, origin=origin):
                pass
        except InvalidStatus as refusal:
            refused.append(refusal.response.status_code)

    threads = [threading.Thread(target=knock) for _ in range(25)]
    for thread in threads:
        thread.start()
    assert Client(server.url).ask("/_stcore/health") == (200, "ok")
    for thread in threads:
        thread.join()
    assert refused == [403] * 25
    if origin:
        assert alice.ask("/runs", Origin=origin)[0] == 403
    assert alice.ask("/runs", Host="example.org")[0] == 403
    assert not (server.home / "outgoing").exists(), (server.home / "outgoing").read_text()


def test_what_a_page_and_all_pages_hold_is_bounded_and_removing_a_file_makes_room(server, alice):
    with page(alice) as (stream, session), page(alice) as (_, other):
        first = [upload(alice, session, f"f{i}") for i in range(5)]
        held = [status for status, _ in first].count(204)
        assert 2 <= held <= 3
        assert first[-1][0] == 413
        assert "of 2 MiB of uploads: remove a file" in first[-1][1]
        while first[-1][1].encode() not in stream.recv(timeout=60):  # the page says so, too
            pass
        second = [upload(alice, other, f"f{i}") for i in range(5)]
        assert second[-1][0] == 413
        assert "All open pages together hold" in second[-1][1]
        assert upload(alice, session, "f0", method="DELETE")[0] == 204
        assert upload(alice, other, "g")[0] == 204


def test_a_sign_in_that_ended_uploads_nothing_nor_does_a_forged_one(server, monkeypatch):
    bob = Client(server.url)
    bob.sign_in("bob")
    assert bob.ask("/runs")[0] == 200
    monkeypatch.setattr(sign_in, "_section", lambda: {"redirect_uri": f"{server.url}/oauth2callback"})
    monkeypatch.setattr(server_util, "get_cookie_secret", lambda: COOKIE_SECRET)
    claims = sign_in.claims_of(Headers({"cookie": bob.cookies()}))
    workspace = Workspace(server.home)
    workspace.sign_out(sign_in.owner_of(claims), sign_in.sign_in_of(claims))
    workspace.close()
    assert bob.ask("/runs")[0] == 401, "a page whose connection will be refused must not be let through"
    assert upload(bob, "any", "f", size=9)[0] == 401
    bob.sign_in("bob")
    assert bob.ask("/runs")[0] == 200
    for cookie in bob.jar:
        if cookie.name == "_streamlit_user":
            value = cookie.value or ""
            cookie.value = value[:-3] + ("aaa" if value[-3:] != "aaa" else "bbb")
    assert bob.ask("/runs")[0] == 401


def test_cookies_are_for_tls_alone_where_people_come_by_it(monkeypatch):
    def answer() -> Answer:
        class Door:
            def __init__(self, app) -> None:
                self.door = serving.SecurityHeaders(gives_cookie)

            async def __call__(self, scope, receive, send) -> None:
                await self.door(scope, receive, send)

        return ask("http", behind=Door)

    async def gives_cookie(_scope, _receive, send) -> None:
        headers = [(b"set-cookie", b"a=b; Path=/"), (b"set-cookie", b"c=d; Secure")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    assert "strict-transport-security" not in answer().headers
    assert answer().headers.getlist("set-cookie")[0] == "a=b; Path=/"
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)
    assert answer().headers["strict-transport-security"] == "max-age=31536000"
    assert answer().headers.getlist("set-cookie") == ["a=b; Path=/; Secure", "c=d; Secure"]


def test_a_cookie_of_another_address_or_secret_names_nobody(monkeypatch):
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)
    monkeypatch.setattr(server_util, "get_cookie_secret", lambda: AUTH["cookie_secret"])

    def claims(secret: str, **said: object) -> dict | None:
        value = create_signed_value(secret, "_streamlit_user", json.dumps(said)).decode()
        return sign_in.claims_of(Headers({"cookie": f"_streamlit_user={value}"}))

    said = {"origin": "https://example.org", "is_logged_in": True, "iss": "i", "sub": "s"}
    known = claims(AUTH["cookie_secret"], **said)
    assert known == {"is_logged_in": True, "iss": "i", "sub": "s"}
    assert sign_in.owner_of(known)
    assert claims("t" * 32, **said) is None
    assert claims(AUTH["cookie_secret"], **{**said, "origin": "https://elsewhere.org"}) is None


def test_the_name_of_a_provider_is_text(monkeypatch):
    names = ('"onload="alert(1)', "<script>alert(1)</script>")
    monkeypatch.setattr(sign_in, "providers", lambda: names)
    page = signed_in._closed({"type": "http", "method": "GET", "path": "/"}).body.decode()
    assert "<script" not in page
    assert not any(name in page for name in names)
    assert all(f">Sign in with {escape(name)}</a>" in page for name in names)


def test_a_setting_that_is_no_number_is_a_sentence(monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_MOST_OPEN", "lots")
    assert "TOUCHSTONE_MOST_OPEN is 'lots'" in (UploadBounds(lambda *_: None)._refusal("any", 1) or "")


def test_what_a_closed_page_held_is_given_back(monkeypatch):
    """Streamlit's own parts are stood in for: a page, its files, and a clock."""
    files = {"here": {"a": SimpleNamespace(data=b"12")}, "gone": {"b": SimpleNamespace(data=b"345")}}
    closed: list[str] = []
    manager = SimpleNamespace(file_storage=files, remove_session_files=lambda session: files.pop(session))
    server = SimpleNamespace(
        uploaded_file_mgr=manager, is_active_session=lambda session: session == "here", close_session=closed.append
    )
    monkeypatch.setattr(upload_bounds.runtime, "exists", lambda: True)
    monkeypatch.setattr(upload_bounds.runtime, "get_instance", lambda: server)
    clock = [0.0]
    monkeypatch.setattr(upload_bounds, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    door = UploadBounds(lambda *_: None)
    door._sweep()
    clock[0] = SECONDS_TO_RETURN - 1
    door._sweep()
    assert upload_bounds.held_files() == {"here": [2], "gone": [3]}, "a page that comes back finds its files"
    clock[0] = SECONDS_TO_RETURN
    door._sweep()
    assert upload_bounds.held_files() == {"here": [2]}
    assert closed == ["gone"]
