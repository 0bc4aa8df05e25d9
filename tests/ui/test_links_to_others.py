"""Links open to others by one setting, in a process that has no owner."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import page_hash
from tests.ui.test_serving import AUTH
from touchstone.core.questions import with_page
from touchstone.core.workspace.access import DEAD, DeadLink
from touchstone.core.workspace.engine.runner import close_engine
from touchstone.ui.shell import only_links, serving, session, share, sign_in


@pytest.fixture
def only(monkeypatch) -> None:
    monkeypatch.setenv(only_links.ONLY, "1")


@pytest.mark.parametrize("value", ["", "0", " "])
def test_it_is_off_unless_somebody_says_so(monkeypatch, value):
    assert only_links.place() is None
    monkeypatch.setenv(only_links.SETTING, value)
    assert only_links.place() is None
    only_links.open_door()
    assert (only_links.address(), only_links.is_wanted()) == (None, False)


@pytest.mark.parametrize(
    ("value", "there"),
    [
        ("192.168.1.20:9000", ("192.168.1.20", 9000)),
        ("192.168.1.20", ("192.168.1.20", only_links.PORT)),
        ("[fd00::7]:9000", ("fd00::7", 9000)),
    ],
)
def test_the_setting_names_where(monkeypatch, value, there):
    monkeypatch.setenv(only_links.SETTING, value)
    assert only_links.place() == there


def test_1_is_this_machines_address_in_its_network(monkeypatch):
    monkeypatch.setenv(only_links.SETTING, "1")
    machine = Socket("192.168.1.20")
    monkeypatch.setattr(only_links.socket, "socket", lambda *_: machine)
    assert only_links.place() == ("192.168.1.20", only_links.PORT)
    for alone in (Socket("127.0.0.1"), Socket(None)):
        monkeypatch.setattr(only_links.socket, "socket", lambda *_, alone=alone: alone)
        with pytest.raises(SystemExit, match="no address in a network"):
            only_links.place()


class Socket:
    """One of a machine that has this address in its network, or no network."""

    def __init__(self, address: str | None):
        self.address = address

    def __enter__(self) -> "Socket":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, _to: tuple[str, int]) -> None:
        if self.address is None:
            raise OSError("Network is unreachable")

    def getsockname(self) -> tuple[str, int]:
        assert self.address is not None
        return self.address, 40_000


@pytest.mark.parametrize("value", ["yes", "0.0.0.0", "[::]:8502", "my-laptop:8502", "192.168.1.20:port", "10.0.0.5/x"])
def test_what_is_no_address_keeps_the_server_from_starting(monkeypatch, value):
    monkeypatch.setenv(only_links.SETTING, value)
    monkeypatch.setattr(st, "get_option", {"server.address": "127.0.0.1", "secrets.files": []}.get)
    with pytest.raises(SystemExit, match="which is no address") as ended:
        serving.check_start()
    assert value in str(ended.value)


def test_with_sign_in_there_is_no_need_of_it(monkeypatch):
    monkeypatch.setenv(only_links.SETTING, "1")
    monkeypatch.setattr(sign_in, "_section", lambda: AUTH)
    with pytest.raises(SystemExit, match="without sign-in"):
        only_links.place()


@pytest.mark.usefixtures("only")
def test_the_process_that_answers_links_alone_may_be_reached_by_others(monkeypatch):
    monkeypatch.setattr(st, "get_option", {"server.address": "192.168.1.20", "secrets.files": []}.get)
    serving.check_start()


@pytest.mark.usefixtures("only")
def test_in_that_process_there_is_no_owner():
    assert session.must_sign_in()
    for ask in (session.owner, session.workspace, session.engine, session.read_only):
        with pytest.raises(DeadLink):
            ask()


@pytest.fixture
def engine_of_its_own() -> Iterator[None]:
    yield
    close_engine()


@pytest.mark.usefixtures("only", "engine_of_its_own")
@pytest.mark.parametrize("token", [None, "A" * 43])
def test_in_that_process_no_page_shows_anything_without_a_link(token):
    """So it is where a browser got past the door and asks for any page by the connection that it has."""
    for stem in (*with_page(), "shared_run"):
        app = AppTest.from_file(only_links.ROOT / "ui" / "shell" / "router.py", default_timeout=60)
        app._page_hash = page_hash(stem)
        if token is not None:
            app.query_params["t"] = token
        app.run()
        assert not app.exception
        assert [one.value for one in app.error] == [DEAD], stem
        assert not [*app.title, *app.button, *app.selectbox]


def test_links_name_the_address_as_long_as_they_open_there(monkeypatch):
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    monkeypatch.setattr(only_links, "_process", process)
    monkeypatch.setattr(only_links, "_place", ("fd00::7", 8502))
    assert (only_links.address(), only_links.is_wanted()) == ("http://[fd00::7]:8502/", True)
    made = share.address("shared_run", {"t": "token"}, root=only_links.address())
    assert made == "http://[fd00::7]:8502/shared_run?t=token"
    process.kill()
    process.wait()
    assert (only_links.address(), only_links.is_wanted()) == (None, True)
    only_links.close_door()
    assert (only_links.address(), only_links.is_wanted()) == (None, False)
