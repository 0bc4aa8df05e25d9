"""The first page answers to its name, and signing in leads to the page that was asked for: nowhere else."""

import asyncio
from urllib.parse import quote

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse

from touchstone.ui.shell import addresses, sign_in
from touchstone.ui.shell.addresses import COOKIE, KEPT_FOR, Addresses

RUN = "source_robustness?data=wine&models=SVM%2C+linear&run=1"


async def app(scope, receive, send):
    """Sends whoever comes back from signing in to the first page, as Streamlit does, and answers all else."""
    back = scope["path"].endswith("/oauth2callback")
    base = scope["path"].removesuffix("oauth2callback")
    await (RedirectResponse(base, 302) if back else PlainTextResponse("the app"))(scope, receive, send)


def ask(address: str, cookie: str = "", method: str = "GET") -> tuple[int, Headers]:
    """The status and the headers of what comes of asking for an address."""
    path, _, query = address.partition("?")
    sent = [(b"cookie", cookie.encode())] if cookie else []
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": sent}
    came: list[dict] = []

    async def send(message: dict) -> None:
        came.append(message)

    asyncio.run(Addresses(app)(scope, None, send))
    return came[0]["status"], Headers(raw=came[0]["headers"])


@pytest.fixture
def signed_in_mode(monkeypatch):
    monkeypatch.setattr(sign_in, "is_set_up", lambda: True)


@pytest.fixture
def local_mode(monkeypatch):
    monkeypatch.setattr(sign_in, "is_set_up", lambda: False)


@pytest.mark.parametrize("base", ["", "/touchstone"])
def test_the_first_page_answers_to_its_name(base, local_mode, monkeypatch):
    monkeypatch.setattr("streamlit.get_option", {"server.baseUrlPath": base}.get)
    for query in ("", "?data=wine"):
        status, headers = ask(f"{base}/overview{query}")
        assert (status, headers["location"]) == (307, f"{base}/{query}")


@pytest.mark.parametrize("path", ["//example.org/overview", "///example.org/overview", "/\\example.org/overview"])
def test_no_address_leads_to_another_server(path, local_mode):
    assert "location" not in ask(path)[1]


@pytest.mark.parametrize("base", ["", "/touchstone"])
def test_signing_in_leads_to_the_page_that_was_asked_for(base, signed_in_mode):
    _, headers = ask(f"{base}/{RUN}")
    kept = headers["set-cookie"]
    assert kept.endswith(f"; Path=/; Max-Age={KEPT_FOR}; HttpOnly; SameSite=Lax")
    status, headers = ask(f"{base}/oauth2callback?code=1&state=2", kept.split(";")[0])
    assert (status, headers["location"]) == (302, f"{base}/{RUN}")
    assert headers["set-cookie"].startswith(f"{COOKIE}=; Path=/; Max-Age=0")


@pytest.mark.parametrize(
    "value",
    ["//example.org", "https://example.org", "runs/../x", "/runs", "shared_run?t=a", "runs?a\r\nX: y", "runs?ж", ""],
)
def test_a_cookie_leads_to_pages_of_ours_only(value, signed_in_mode):
    _, headers = ask("/oauth2callback?code=1", f"{COOKIE}={quote(value, safe='')}")
    assert headers["location"] == "/"


def test_nothing_is_kept_of_links_of_the_first_page_and_of_what_is_too_long(signed_in_mode):
    assert "set-cookie" not in ask("/shared_run?t=secret")[1]
    assert "set-cookie" not in ask("/runs?t=secret")[1]
    assert "set-cookie" not in ask(f"/{RUN}", method="POST")[1]
    assert "set-cookie" not in ask("/_stcore/health")[1]
    for address in ("/", "/runs?a=" + "b" * addresses.LONGEST):
        assert ask(address)[1]["set-cookie"].startswith(f"{COOKIE}=; Path=/; Max-Age=0")


def test_nothing_is_kept_where_nobody_signs_in(local_mode):
    assert "set-cookie" not in ask(f"/{RUN}")[1]
    assert ask("/oauth2callback", f"{COOKIE}=runs")[1]["location"] == "/"
