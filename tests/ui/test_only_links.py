"""Where links open to others nothing is answered without the token of one that works, and nobody asks too much."""

import asyncio
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from markupsafe import escape
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from tests.ui.test_serving import Answer, app
from tests.workspace.plans import SleepPlan
from touchstone.core.data import load_example
from touchstone.core.workspace import LOCAL_OWNER, Workspace, events
from touchstone.core.workspace.access import DEAD
from touchstone.core.workspace.errors import DatabaseBusy
from touchstone.ui.shell import only_links, session
from touchstone.ui.shell.only_links import COOKIE, NOTHING_ELSE, TOO_MANY, TOO_MANY_TABS, Allowance, OnlyLinks

HOST = "192.168.1.20:8502"
ORIGIN = f"http://{HOST}"
STREAM = "/_stcore/stream"
CLOSED, ACCEPTED = "websocket.close", "websocket.accept"
OF_A_PAGE = ("/static/js/index.js", "/media/rows.tsv", "/_stcore/health", "/_stcore/host-config", "/favicon.png")
ELSE = (
    *("/", "/runs", "/overview", "/data_sets", "/source_robustness", "/auth/login", "/oauth2callback", "//shared_run"),
    *("/_stcore/upload_file/a/b", "/_stcore/agent/mcp", "/_stcore/metrics", "/_stcore/stream", "/app/static/x", "/x"),
)


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path)
    monkeypatch.setattr(session, "process_engine", lambda: SimpleNamespace(workspace=workspace))
    yield workspace
    workspace.close()


@pytest.fixture
def token(workspace: Workspace) -> str:
    """That of a link which works."""
    data = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, data)
    return workspace.create_link(LOCAL_OWNER, workspace.create_run(LOCAL_OWNER, SleepPlan(), data.fingerprint).id)


def scope_of(target: str, *, kind: str, method: str, token: str | None, origin: str | None, client: str) -> dict:
    path, _, query = target.partition("?")
    headers = [(b"host", HOST.encode())]
    headers += [(b"origin", origin.encode())] if origin else []
    headers += [(b"cookie", f"a=b; {COOKIE}={token}".encode())] if token is not None else []
    about = {"type": kind, "method": method, "path": path, "query_string": query.encode(), "headers": headers}
    return {**about, "client": (client, 50_000)}


def asked_of(door: OnlyLinks) -> Callable[..., Answer]:
    """What comes of requests to one and the same door."""

    def ask_it(
        target: str,
        *,
        kind: str = "http",
        method: str = "GET",
        token: str | None = None,
        origin: str | None = ORIGIN,
        client: str = "192.168.1.7",
    ) -> Answer:
        came: list[dict] = []

        async def send(message: dict) -> None:
            came.append(message)

        scope = scope_of(target, kind=kind, method=method, token=token, origin=origin, client=client)
        asyncio.run(door(scope, None, send))
        body = b"".join(message.get("body", b"") for message in came)
        return Answer(came[0].get("status", came[0]["type"]), body.decode(), Headers(raw=came[0].get("headers", [])))

    return ask_it


@pytest.fixture
def ask() -> Callable[..., Answer]:
    return asked_of(OnlyLinks(app))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_without_a_token_nothing_is_answered(ask, workspace, method):
    for path in (*OF_A_PAGE, *ELSE, "/shared_run", "/shared_run?t="):
        answer = ask(path, method=method)
        assert (answer.status, "set-cookie" in answer.headers) == (403, False), path
        assert NOTHING_ELSE in answer.text
    assert ask(STREAM, kind="websocket").status == CLOSED


def test_a_link_opens_and_so_does_what_its_page_asks_for(ask, token):
    answer = ask(f"/shared_run?t={token}&about=SVM")
    assert (answer.status, answer.text) == (200, "the app")
    assert answer.headers["set-cookie"] == f"{COOKIE}={token}; HttpOnly; Path=/; SameSite=Lax"
    for path in OF_A_PAGE:
        assert ask(path, token=token).text == ask(path, token=token, method="HEAD").text == "the app"
    assert ask(STREAM, kind="websocket", token=token).status == ACCEPTED


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_with_a_token_no_other_page_opens_and_nothing_is_uploaded(ask, token, method):
    for path in ELSE:
        assert ask(f"{path}?t={token}", method=method, token=token).status == 403, path
    if method not in ("GET", "HEAD"):
        assert {ask(path, method=method, token=token).status for path in OF_A_PAGE} == {403}
    assert ask("/shared_run", method=method, token=token).status == 403
    for path in (*ELSE, *OF_A_PAGE, f"/shared_run?t={token}"):
        assert path == STREAM or ask(path, kind="websocket", token=token).status == CLOSED


@pytest.mark.parametrize("origin", [None, "http://192.168.1.20", "https://192.168.1.20:8502", "http://example.org"])
def test_no_other_page_opens_the_connection(ask, token, origin):
    assert ask(STREAM, kind="websocket", token=token, origin=origin).status == CLOSED


def test_what_a_page_of_ours_says_is_text():
    said = {"title": "<script>alert(1)</script>", "sentence": '"onload=alert(1) & <b>'}
    page = only_links.refused_page(503, **said).body.decode()
    assert "<script" not in page
    assert "<b>" not in page
    assert all(escape(text) in page for text in said.values())


@pytest.mark.parametrize("wrong", ["x", "A" * 43, "%00", "é"])
def test_a_wrong_token_opens_nothing(ask, token, wrong):
    answer = ask(f"/shared_run?t={wrong}")
    assert (answer.status, "set-cookie" in answer.headers) == (403, False)
    assert DEAD in answer.text
    assert ask(STREAM, kind="websocket", token="A" * 43).status == CLOSED


def test_a_revoked_link_opens_no_more_and_its_open_pages_die_within_seconds(ask, workspace, token, monkeypatch):
    assert ask(f"/shared_run?t={token}").status == 200
    [link] = workspace.links(LOCAL_OWNER)
    workspace.revoke_link(LOCAL_OWNER, link.id)
    assert DEAD in ask(f"/shared_run?t={token}").text
    now = only_links.time.monotonic() + only_links.SECONDS_BELIEVED + 0.1
    monkeypatch.setattr(only_links.time, "monotonic", lambda: now)
    assert [ask(path, token=token).status for path in OF_A_PAGE] == [403] * len(OF_A_PAGE)
    assert ask(STREAM, kind="websocket", token=token).status == CLOSED


def test_where_nobody_can_say_whether_a_link_works_it_is_not_called_dead(ask, token, monkeypatch):
    def busy(_token: str) -> None:
        raise DatabaseBusy

    monkeypatch.setattr(session, "shared", busy)
    answer = ask(f"/shared_run?t={token}")
    assert answer.status == 503
    assert str(DatabaseBusy()) in answer.text


def test_too_many_requests_are_refused_in_a_sentence(token, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(only_links, "Allowance", lambda most, rate: Allowance(3, 1, clock=lambda: clock[0]))
    ask, link = asked_of(OnlyLinks(app)), f"/shared_run?t={token}"
    assert [ask(link).status for _ in range(4)] == [200, 200, 200, 429]
    refused = ask(link)
    assert TOO_MANY in refused.text
    assert refused.headers["retry-after"] == "60"
    assert ask(link, client="192.168.1.8").status == 200
    clock[0] += 1
    assert [ask(link).status for _ in range(2)] == [200, 429]


def test_of_very_many_addresses_those_that_asked_last_are_remembered():
    allowance = Allowance(1, 0, clock=lambda: 0)
    allowance.MOST_ADDRESSES = 2
    assert [allowance.spend(who) for who in ("a", "b", "b", "c", "c")] == [True, True, False, True, False]
    assert len(allowance._left) == 2


def test_too_many_open_pages_are_refused_until_one_is_closed(token, monkeypatch):
    monkeypatch.setattr(only_links, "MOST_TABS", 2)
    monkeypatch.setattr(only_links, "MOST_TABS_OF_ALL", 3)

    async def until_closed(scope, receive, send):
        if scope["type"] == "http":
            await PlainTextResponse("the app")(scope, receive, send)
            return
        await send({"type": ACCEPTED})
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async def go() -> None:
        door = OnlyLinks(until_closed)

        async def asked(kind: str, client: str, closed: asyncio.Event) -> list[dict]:
            came: list[dict] = []

            async def receive() -> dict:
                await closed.wait()
                return {"type": "websocket.disconnect"}

            async def send(message: dict) -> None:
                came.append(message)

            target = STREAM if kind == "websocket" else f"/shared_run?t={token}"
            scope = scope_of(target, kind=kind, method="GET", token=token, origin=ORIGIN, client=client)
            task = asyncio.create_task(door(scope, receive, send))
            while not came:
                await asyncio.sleep(0)
            tasks.append(task)
            return came

        tasks: list[asyncio.Task] = []
        close = asyncio.Event()
        for client in ("a", "a", "b"):
            assert (await asked("websocket", client, close))[0]["type"] == ACCEPTED
        for client in ("a", "b", "c"):  # enough of one address; enough of all
            assert (await asked("websocket", client, close))[0]["type"] == CLOSED
            refused = await asked("http", client, close)
            assert refused[0]["status"] == 429
            assert TOO_MANY_TABS in refused[1]["body"].decode()
        close.set()
        await asyncio.gather(*tasks)
        assert (await asked("http", "a", close))[0]["status"] == 200

    asyncio.run(go())


def test_who_asks_too_much_of_an_open_page_waits(token, monkeypatch):
    clock = [100.0]
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(only_links, "Allowance", lambda most, rate: Allowance(3, rate, clock=lambda: clock[0]))
    monkeypatch.setattr(only_links.asyncio, "sleep", sleep)
    heard: list[dict] = []

    async def listening(scope, receive, send):
        heard.extend([await receive() for _ in range(5)])

    async def receive() -> dict:
        return {"type": "websocket.receive", "bytes": b""}

    scope = scope_of(STREAM, kind="websocket", method="GET", token=token, origin=ORIGIN, client="a")
    asyncio.run(OnlyLinks(listening)(scope, receive, None))
    assert len(heard) == 5
    assert sum(waited) == pytest.approx(3 / only_links.EACH_SECOND, abs=0.11)  # one was spent by the connection itself


def test_what_is_neither_http_nor_websocket_passes():
    heard = []

    async def listen(scope, receive, send):
        heard.append(scope["type"])

    asyncio.run(OnlyLinks(listen)({"type": "lifespan"}, None, None))
    assert heard == ["lifespan"]


def test_what_was_asked_in_vain_is_written_down_and_never_fills_the_disk(token, monkeypatch, tmp_path):
    log = tmp_path / "events.log"
    monkeypatch.setenv(events.SETTING, str(log))
    monkeypatch.setattr(only_links, "Allowance", lambda most, rate: Allowance(4, 0))
    ask = asked_of(OnlyLinks(app))
    for _ in range(2):
        ask(f"/shared_run?t={'A' * 43}")
        ask("/media/rows.tsv", token="A" * 43)
    for _ in range(20):
        assert ask(f"/shared_run?t={token}").status == 429
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == [
        *("link_asked", "link_asked", "too_many_requests")
    ]
    assert token not in log.read_text()
    assert "AAAA" not in log.read_text()
