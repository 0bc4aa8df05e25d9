"""Every command of docs/deployment.md for a server, run in the order of the page."""

import json
import re
import shutil
import socket
import sqlite3
import ssl
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from distributed import Security
from sqlalchemy import make_url
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.sync.client import connect

from tests.browser.server import free_port
from tests.conftest import ROOT
from tests.deployment.machine import SECONDS, Machine
from tests.deployment.page import blocks, commands
from tests.workspace.conftest import wait_until
from tests.workspace.postgres import postgres
from touchstone.core.data import load_example
from touchstone.core.workspace import LOCAL_OWNER, Workspace

pytestmark = pytest.mark.evidence
PLAN = '{"kind":"trials","models":["gradient_boosting"],"n_repeats":30}'
N_TRIALS = 120  # far more than are done while a busy machine ends a scheduler
GOLDEN = ROOT / "tests" / "golden" / "home.zip"
NGINX = """
pid {root}/pid; error_log {root}/nginx.log; events {{}}
http {{
  client_body_temp_path {root}/part; proxy_temp_path {root}/part; fastcgi_temp_path {root}/part;
  scgi_temp_path {root}/part; uwsgi_temp_path {root}/part; include {root}/etc/nginx/conf.d/*.conf;
}}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, str]]:
    """A machine after the steps of "On a server", and what they printed."""
    with closing(Machine(tmp_path_factory.mktemp("machine"))) as machine:
        yield machine, machine.do(*commands("On a server"))


@pytest.fixture
def machine(installed: tuple[Machine, str]) -> Iterator[Machine]:
    """The same machine with an empty home, and with the settings that it has after these steps."""
    machine, _ = installed
    settings = machine.settings.read_text()
    machine.close()  # whichever test is first, after these steps a server runs
    shutil.rmtree(machine.home, ignore_errors=True)
    yield machine
    machine.close()
    machine.settings.write_text(settings)
    shutil.rmtree(machine.home)


def test_a_server_is_installed_and_says_how_it_is(installed: tuple[Machine, str]):
    machine, printed = installed
    assert '{"database":"ok","workers":"not started"}' in printed
    assert f"{machine.url('/')}?token=" in printed
    assert machine.noted[0][0] == "useradd"
    assert not list(machine.checkout.rglob("*.nbi")), "a checkout that is read-only would be compiled at each start"


def test_an_encrypted_cluster_goes_on_after_its_scheduler_is_restarted_and_is_backed_up(machine: Machine):
    machine.do(*commands("A cluster that stays"))
    machine.wait_for_health(database="ok", workers="ok")
    assert_nobody_gets_in_without_the_certificate(int(machine.ports["8786"]))

    with a_run_under_way(machine) as (rows, said):
        machine.do("systemctl restart touchstone-scheduler")
    assert re.search("does not answer; trying again|No worker is connected", said.read_text()), "it was done too soon"
    assert f"done: {N_TRIALS} of {N_TRIALS} trials, 0 failed" in said.read_text()
    assert len(rows.read_text().splitlines()) > N_TRIALS
    assert machine.units["touchstone-worker@2"].n_starts >= 2
    machine.wait_for_health(database="ok", workers="ok")

    with closing(Workspace(machine.home)) as workspace:
        [run] = workspace.runs(LOCAL_OWNER)
    machine.env |= machine.set_there()
    backed_up = commands("Backup, and looking after a home")
    names = {"/another/folder": "/var/another", "RUN": run.id}
    printed = machine.do(*(re.sub("|".join(names), lambda name: names[name[0]], line) for line in backed_up))
    assert "All that is stored is whole." in printed
    assert "5 of 5 agree" in printed
    assert stored_files(machine.root / "var/another") == stored_files(machine.home)


def test_another_version_and_back(machine: Machine):
    machine.do("systemctl stop touchstone")
    with zipfile.ZipFile(GOLDEN) as older:
        older.extractall(machine.home)
    before = content(machine.home / "touchstone.sqlite")
    machine.publish("0.3.0")
    machine.do(*commands("Another version of Touchstone"))
    machine.wait_for_health(database="ok", workers="not started")
    assert machine.do('python -c "import touchstone; print(touchstone.__version__)"') == "0.3.0\n"
    assert (machine.home / "touchstone.version-1.sqlite").is_file()
    assert (machine.home / "before.zip").is_file()
    machine.do(*commands("Another version of Touchstone", 1))
    assert content(machine.home / "touchstone.sqlite") == before
    assert machine.do('python -c "import touchstone; print(touchstone.__version__)"') == "0.2.0\n"
    machine.wait_for_health(database="ok", workers="not started")


def test_postgresql_is_set_up_backed_up_and_restored(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    with postgres(user="postgres") as server:
        there = make_url(server.address)
        machine.ports["5432"] = str(there.port)
        machine.env |= {"PGHOST": "127.0.0.1", "PGPORT": str(there.port)}
        machine.env |= {"PGUSER": "postgres", "PGPASSWORD": there.password}
        machine.do(*commands("PostgreSQL"))
        machine.wait_for_health(database="ok", workers="not started")
        assert not (machine.home / "touchstone.sqlite").exists()
        database, wine = machine.set_there()["TOUCHSTONE_DATABASE"], load_example("wine")
        with closing(Workspace(machine.home, database)) as workspace:
            workspace.add_dataset(LOCAL_OWNER, wine)
        machine.do(*commands("PostgreSQL", 1), "systemctl stop touchstone", "dropdb touchstone")
        shutil.rmtree(machine.home / "blobs")
        assert "All that is stored is whole." in machine.do(*commands("PostgreSQL", 2))
        machine.wait_for_health(database="ok", workers="not started")
        with closing(Workspace(machine.home, database)) as workspace:
            assert workspace.dataset(LOCAL_OWNER, wine.fingerprint).fingerprint == wine.fingerprint
        machine.close()


def test_links_open_to_others_by_hand(machine: Machine):
    """That they do at this machine's own address in a network is shown where links to others are tried."""
    machine.do("systemctl stop touchstone")
    machine.env |= machine.set_there() | {"PORT": machine.ports["8501"]}
    by_itself, at_an_address = commands("Links")
    assert by_itself == "TOUCHSTONE_LINKS=1 make run"
    with machine.begun(at_an_address.replace("192.168.1.20:9000", f"127.0.0.1:{(port := free_port())}")):
        machine.wait_for_health(database="ok", workers="not started")
        wait_until(lambda: status(f"http://127.0.0.1:{port}/health"), bool)
        assert status(f"http://127.0.0.1:{port}/health") == status(f"http://127.0.0.1:{port}/") == 403


def status(url: str) -> int | None:
    """What an address answers with; None where nothing does."""
    try:
        with urlopen(url, timeout=SECONDS) as page:
            return page.status
    except HTTPError as refused:
        return refused.code
    except OSError:
        return None


def test_a_cluster_is_started_by_hand(machine: Machine):
    machine.do("systemctl stop touchstone")
    machine.env |= machine.set_there() | {"PORT": machine.ports["8501"]}
    with ExitStack() as stack:
        for command in commands("Where the work is done"):
            stack.enter_context(machine.begun(command.replace("/path/to/touchstone", "/opt/touchstone")))
        machine.wait_for_health(database="ok", workers="ok")


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed (Debian/Ubuntu: apt install nginx)")
def test_behind_nginx_a_group_signs_in(machine: Machine):
    [secret], [secrets] = machine.do(*commands("For a group")).splitlines(), blocks("For a group", "toml")
    secrets = secrets.replace('cookie_secret = "…"', f'cookie_secret = "{secret}"')
    (machine.checkout / ".streamlit/secrets.toml").write_text(secrets)
    machine.do("systemctl restart touchstone")
    files = machine.root / "etc/nginx/conf.d", machine.root / "etc/ssl", machine.root / "var/log/nginx"
    for folder in files:
        folder.mkdir(parents=True, exist_ok=True)
    certificate = Security.temporary()
    (files[1] / "touchstone.pem").write_text(certificate.tls_client_cert)
    (files[1] / "touchstone.key").write_text(certificate.tls_client_key)
    [server] = blocks("For a group", "nginx")
    (files[0] / "touchstone.conf").write_text(machine.here(server))
    (machine.root / "etc/nginx/nginx.conf").write_text(NGINX.format(root=machine.root))
    machine.program("nginx", f'#!/bin/sh\nexec {shutil.which("nginx")} -c {machine.root}/etc/nginx/nginx.conf "$@"\n')
    machine.do(*commands("For a group", 1))
    try:
        with machine.begun("nginx -g 'daemon off;'"):
            machine.wait_for_health(database="ok", workers="not started")
            assert_the_app_is_behind(int(machine.ports["443"]), secret)
    finally:
        (machine.checkout / ".streamlit/secrets.toml").unlink()
    assert "token=secret" not in (files[2] / "touchstone.log").read_text()


def content(database: Path) -> list[str]:
    """All that stands in a database."""
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


def assert_the_app_is_behind(port: int, secret: str) -> None:
    """Pages, files and websockets pass, for whoever has signed in; all others get the page that leads there."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    name = "touchstone.example.org"
    said = json.dumps({"origin": f"https://{name}", "is_logged_in": True, "iss": "i", "sub": "s"})
    signed = {"Cookie": f"_streamlit_user={create_signed_value(secret, '_streamlit_user', said).decode()}"}
    asked = Request(f"https://127.0.0.1:{port}/runs?token=secret", headers={"Host": name})
    with pytest.raises(HTTPError, match="401") as refused:
        urlopen(asked, context=trusting, timeout=SECONDS)
    assert "/sign_in" in refused.value.read().decode()
    assert refused.value.headers["strict-transport-security"]
    assert refused.value.headers["set-cookie"].endswith("; Secure")
    asked = Request(f"https://127.0.0.1:{port}/runs?token=secret", headers={"Host": name, **signed})
    with urlopen(asked, context=trusting, timeout=SECONDS) as page:
        assert "window.__streamlit" in page.read().decode()
    about = {"additional_headers": {**signed, "Origin": f"https://{name}"}, "ssl": trusting}
    with (
        socket.create_connection(("127.0.0.1", port)) as there,
        connect(f"wss://{name}/_stcore/stream", sock=there, **about) as websocket,
    ):
        assert websocket.response.status_code == 101


def stored_files(home: Path) -> dict[str, bytes]:
    """The blobs of a home."""
    return {file.name: file.read_bytes() for file in (home / "blobs").rglob("*") if file.is_file()}


@contextmanager
def a_run_under_way(machine: Machine) -> Iterator[tuple[Path, Path]]:
    """A run on the cluster that has begun, and has to end well; gives the files of its rows and progress."""
    rows, said = machine.root / "rows.tsv", machine.root / "progress.log"
    with rows.open("w") as output, said.open("w") as errors:
        command = [machine.checkout / "deploy/core", "run", "--data", "wine", PLAN]
        run = subprocess.Popen(command, env=machine.env, stdout=output, stderr=errors)
        try:
            wait_until(lambda: re.search(rf"running: [1-9]\d* of {N_TRIALS} ", said.read_text()), bool)
            yield rows, said
            assert run.wait(timeout=SECONDS) == 0, f"{said.read_text()} {machine.logs()}"
        finally:
            run.kill()
            run.wait()


def assert_nobody_gets_in_without_the_certificate(port: int) -> None:
    stranger = ssl.create_default_context()
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        stranger.wrap_socket(plain) as connection,
        pytest.raises(ssl.SSLError, match=r"(?i)certificate.required"),
    ):
        connection.recv(1)
