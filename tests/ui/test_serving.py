"""Without sign-in the server is for this machine alone: where it starts, whom it answers, and with which headers."""

import asyncio
import base64
import hashlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import FileResponse, PlainTextResponse
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from touchstone.ui import ROUTER
from touchstone.ui.shell import serving, sign_in

HERE = ["localhost", "localhost:8501", "LOCALHOST:8501", "127.0.0.1:8501", "127.0.0.1", "[::1]:8501", "[::1]"]
ELSEWHERE = [
    *("example.org", "localhost.example.org", "127.0.0.1.example.org:8501", "127.0.0.2", "10.0.0.5:8501", "0.0.0.0"),
    *("", "localhost:8501@example.org", "user@localhost", "localhost:port", "localhost/", "[::2]", "::1"),
]
CLOSED = "websocket.close"
AUTH = {
    "redirect_uri": "https://example.org/oauth2callback",
    "cookie_secret": "s" * 32,
    "client_id": "touchstone",
    "client_secret": "c",
    "server_metadata_url": "https://example.org/.well-known/openid-configuration",
}


class Answer(NamedTuple):
    """The status of an answer (of a websocket: the first message), its text and its headers."""

    status: int | str
    text: str
    headers: Headers


async def app(scope, receive, send):
    """Answers everything: in place of Streamlit."""
    if scope["type"] == "http":
        await PlainTextResponse("the app")(scope, receive, send)
    else:
        await send({"type": "websocket.accept"})


def ask(kind: str, *headers: tuple[str, str], client: str = "127.0.0.1", behind=serving.OwnPagesOnly) -> Answer:
    """What comes of a request with these headers, in the place of those of a browser at this machine."""
    named = {name.lower() for name, _ in headers}
    sent = [*headers, *([] if "host" in named else [("host", "localhost:8501")])]
    raw = [(name.lower().encode(), value.encode()) for name, value in sent]
    scope = {"type": kind, "method": "GET", "path": "/", "headers": raw, "client": (client, 50_000)}
    came: list[dict] = []

    async def send(message: dict) -> None:
        came.append(message)

    asyncio.run(behind(app)(scope, None, send))
    body = b"".join(message.get("body", b"") for message in came)
    return Answer(came[0].get("status", came[0]["type"]), body.decode(), Headers(raw=came[0].get("headers", [])))


@pytest.fixture
def signed_in_mode(monkeypatch):
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)


@pytest.mark.parametrize("host", HERE)
def test_this_machine_is_answered_by_each_of_its_names(host):
    assert ask("http", ("Host", host)).text == "the app"
    assert ask("websocket", ("Host", host), ("Origin", f"http://{host}")).status == "websocket.accept"


@pytest.mark.parametrize("host", ELSEWHERE)
def test_other_hosts_are_refused_with_a_sentence(host):
    assert ask("http", ("Host", host))[:2] == (403, serving.REFUSED)
    assert ask("websocket", ("Host", host)).status == CLOSED


PASSED_ON = [
    *("Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "X-Forward-For", "Via", "X-Real-IP"),
    *("CF-Connecting-IP", "CF-Ray", "CDN-Loop", "True-Client-IP", "Fastly-Client-IP", "Fly-Client-IP", "Client-IP"),
    *("X-Client-IP", "X-Cluster-Client-IP", "X-Original-Host", "X-Original-URL", "X-Remote-Addr", "X-Amzn-Trace-Id"),
    *("X-Envoy-External-Address", "X-Azure-ClientIP", "X-ARR-LOG-ID", "Tailscale-User-Login", "Proxy-Connection"),
]
"""What proxies, tunnels and content networks add."""


@pytest.mark.parametrize("name", PASSED_ON)
def test_whatever_came_through_a_proxy_is_refused(name):
    assert ask("http", (name, "10.0.0.5")).status == 403
    assert ask("websocket", ("Origin", "http://localhost:8501"), (name, "10.0.0.5")).status == CLOSED


BROWSERS = [
    *("Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Connection", "Cookie", "DNT", "If-None-Match"),
    *("Origin", "Pragma", "Priority", "Range", "Referer", "Sec-Fetch-Site", "Sec-GPC", "TE", "Upgrade", "User-Agent"),
    *("Upgrade-Insecure-Requests", "X-Requested-With", "X-Xsrftoken", "Content-Type", "X-Streamlit-Session-Id"),
]


@pytest.mark.parametrize("name", BROWSERS)
def test_what_browsers_say_themselves_is_answered(name):
    assert ask("http", (name, "http://localhost:8501")).status == 200


def test_another_machine_is_refused_whatever_host_it_names():
    """So it is when another program than `streamlit run` serves the app, at an address of its own choice."""
    assert ask("http", client="10.0.0.5").status == 403
    assert ask("http", client="::1").status == 200


FOREIGN = ["http://localhost:9999", "https://example.org", "null", "http://localhost", "https://localhost:8501", ""]


@pytest.mark.parametrize("origin", [*FOREIGN, "ftp://localhost:8501", "localhost:8501", "http://localhost:8501/"])
def test_pages_of_other_servers_open_no_websocket_and_change_nothing(origin):
    assert ask("websocket", ("Origin", origin)).status == CLOSED
    assert ask("http", ("Origin", origin)).status == 403


def test_a_websocket_says_who_opens_it():
    """A program that says nothing of it is no page of ours."""
    assert ask("websocket").status == CLOSED
    assert ask("websocket", ("Origin", "http://localhost:8501"), ("Origin", "http://localhost:8501")).status == CLOSED


def test_two_hosts_are_refused():
    assert ask("http", ("Host", "localhost"), ("Host", "example.org")).status == 403


def test_with_sign_in_any_host_is_answered(signed_in_mode):
    assert ask("http", ("Host", "example.org"), ("X-Forwarded-For", "10.0.0.5"), client="10.0.0.1").text == "the app"


def test_what_is_neither_http_nor_websocket_passes():
    heard = []

    async def listen(scope, receive, send):
        heard.append(scope["type"])

    asyncio.run(serving.OwnPagesOnly(listen)({"type": "lifespan"}, None, None))
    assert heard == ["lifespan"]


def test_a_server_that_app_py_did_not_start_shows_nothing(monkeypatch):
    """It would have none of the guards: `streamlit run ui/shell/router.py`, at any address."""
    monkeypatch.delenv(serving.LAUNCHED)
    app = AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=60).run()
    assert [one.value for one in app.error] == [serving.NOT_LAUNCHED]
    assert not [*app.title, *app.button, *app.selectbox]
    monkeypatch.setattr(st, "get_option", {"server.address": "127.0.0.1", "secrets.files": []}.get)
    serving.check_start()
    assert serving.is_launched()


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.7", "::", "", None, "myhost"])
def test_on_any_other_address_it_does_not_start(monkeypatch, address):
    monkeypatch.setattr(st, "get_option", {"server.address": address, "secrets.files": []}.get)
    with pytest.raises(SystemExit, match="without sign-in") as ended:
        serving.check_start()
    assert address or "every address" in str(ended.value)


def test_the_browser_lets_upload_what_the_setting_says(monkeypatch):
    monkeypatch.setattr(st, "get_option", {"server.address": "127.0.0.1", "secrets.files": []}.get)
    asked: list[tuple] = []
    monkeypatch.setattr(serving.config, "set_option", lambda *option: asked.append(option))
    serving.check_start()
    monkeypatch.setenv(serving.MOST_UPLOAD, "many")
    serving.check_start()
    assert asked == []
    monkeypatch.setenv(serving.MOST_UPLOAD, "500")
    serving.check_start()
    assert asked == [("server.maxUploadSize", 500)]


def test_a_log_that_cannot_be_written_is_said_at_the_start(monkeypatch, tmp_path):
    monkeypatch.setattr(st, "get_option", {"server.address": "127.0.0.1", "secrets.files": []}.get)
    for file in ("-", str(tmp_path / "events.log")):
        monkeypatch.setenv(serving.LOG, file)
        serving.check_start()
    monkeypatch.setenv(serving.LOG, str(tmp_path))
    with pytest.raises(SystemExit, match="cannot be written") as ended:
        serving.check_start()
    assert str(tmp_path) in str(ended.value)


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
def test_on_this_machines_own_address_it_starts(monkeypatch, address):
    monkeypatch.setattr(st, "get_option", {"server.address": address, "secrets.files": []}.get)
    serving.check_start()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cookie_secret": "short"}, "cookie_secret"),
        ({"cookie_secret": "words that anybody can read in a manual"}, "without spaces"),
        ({"cookie_secret": ""}, "lacks cookie_secret"),
        ({"redirect_uri": "http://example.org/oauth2callback"}, "https://"),
        ({"client_id": ""}, "lacks client_id"),
        ({"google": {"client_id": "g", "client_secret": "s"}}, "lacks google.server_metadata_url"),
    ],
)
def test_sign_in_that_would_not_be_safe_or_not_work_does_not_start(monkeypatch, change, said):
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH | change)
    monkeypatch.setattr(st, "get_option", {"server.address": "0.0.0.0", "secrets.files": []}.get)
    with pytest.raises(SystemExit, match=said):
        serving.check_start()


@pytest.mark.parametrize("change", [{}, {"redirect_uri": "http://localhost:8501/oauth2callback"}])
def test_with_sign_in_it_starts_anywhere(monkeypatch, change):
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH | change)
    monkeypatch.setattr(st, "get_option", {"server.address": "0.0.0.0", "secrets.files": []}.get)
    serving.check_start()


def test_secrets_that_cannot_be_read_do_not_open_the_door(monkeypatch, tmp_path):
    file = tmp_path / "secrets.toml"
    file.write_text("[auth\n")
    monkeypatch.setattr(st, "get_option", {"server.address": "127.0.0.1", "secrets.files": [str(file)]}.get)
    with pytest.raises(SystemExit, match="is not valid TOML"):
        serving.check_start()


def test_every_answer_carries_the_headers_a_refusal_too():
    def guarded(inner):
        return serving.SecurityHeaders(serving.OwnPagesOnly(inner))

    for host, status in (("localhost", 200), ("example.org", 403)):
        answer = ask("http", ("Host", host), behind=guarded)
        assert answer.status == status
        assert serving.headers().items() <= {name: answer.headers[name] for name in serving.headers()}.items()


def test_streamlits_own_inline_script_is_allowed_by_its_hash_and_nothing_else_is():
    page = serving.INDEX.read_text("utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    allowed = re.findall(r"'sha256-([^']+)'", serving.content_policy(page))
    assert allowed == [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    rules = dict(rule.split(" ", 1) for rule in serving.headers()["Content-Security-Policy"].split("; "))
    assert "unsafe-inline" not in rules["script-src"]
    assert (rules["object-src"], rules["connect-src"], rules["default-src"]) == ("'none'", "'self'", "'self'")


class TestIndex:
    """In the place of Streamlit's page stands one that names the server's root; nothing else is touched."""

    @staticmethod
    def ask(path: str, *, status: int = 200, method: str = "GET", file: Path = serving.INDEX) -> Answer:
        async def files(scope, receive, send):
            etag = FileResponse(file, stat_result=file.stat()).headers["etag"]
            await PlainTextResponse("theirs", status, {"etag": etag})(scope, receive, send)

        came: list[dict] = []

        async def send(message: dict) -> None:
            came.append(message)

        scope = {"type": "http", "method": method, "path": path, "headers": []}
        asyncio.run(serving.Index(files)(scope, None, send))
        body = b"".join(message.get("body", b"") for message in came)
        return Answer(came[0]["status"], body.decode(), Headers(raw=came[0]["headers"]))

    @pytest.mark.parametrize("path", ["/", "/runs", "/base/data_sets", "/shared_run", "/no/such/page"])
    def test_a_page_names_the_root_before_any_other_script(self, path):
        answer = self.ask(path)
        assert answer.text == serving.index()
        assert answer.text.index("BACKEND_BASE_URL") < answer.text.index('src="./static/js')
        assert answer.headers["content-length"] == str(len(answer.text.encode()))
        assert "etag" not in answer.headers
        assert self.ask(path, method="HEAD").text == ""

    def test_its_script_is_allowed(self):
        script = re.findall(r"<script>(.*?)</script>", serving.index(), re.DOTALL)[0]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in serving.headers()["Content-Security-Policy"]

    def test_it_has_its_own_look_from_the_first_behind_that_of_streamlit(self):
        look = f"<style>{serving.LOOK.read_text()}</style></body>"
        assert self.ask("/").text.partition(look)[2].split() == ["</html>"]

    @pytest.mark.parametrize("asked", [{"status": 304}, {"file": serving.LOOK}])
    def test_all_else_is_passed_on(self, asked):
        answer = self.ask("/runs", **asked)
        assert answer.text == "theirs"
        assert answer.headers["etag"]


def test_a_run_of_a_page_leaves_the_path_of_imports_alone():
    """An import in another thread walks it, and skips a folder where it shrinks: a library is "not installed" then."""
    before = list(sys.path)
    with modified_sys_path(str(ROUTER)):
        assert sys.path == before
