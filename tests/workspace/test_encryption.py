"""A cluster that is to be encrypted and is not, or not for us, is a sentence at once, and never a traceback.

That encrypted work goes on is shown where the commands of docs/deployment.md are tried.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import dask
import pytest
from distributed import Security

from tests.browser.server import free_port
from touchstone.core.workspace import WorkspaceError
from touchstone.core.workspace.engine.executor import Executor

ROLES = ("client", "scheduler", "worker")


def settings(file: Path) -> dict[str, object]:
    """What dask's settings say where one certificate, made here, is everybody's."""
    made = Security.temporary()
    file.write_text(made.tls_client_key + made.tls_client_cert)
    files = {f"{role}.{part}": str(file) for role in ROLES for part in ("cert", "key")}
    said = {"require-encryption": True} | {
        f"tls.{name}": value for name, value in {"ca-file": str(file), **files}.items()
    }
    return {f"distributed.comm.{name}": value for name, value in said.items()}


def refused(address: str) -> str:
    with closing(Executor(address)) as executor, pytest.raises(WorkspaceError) as problem:
        executor.client()
    return str(problem.value)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """A scheduler with a certificate of its own."""
    address = f"tls://127.0.0.1:{free_port()}"
    said = {
        f"DASK_{name.replace('.', '__').replace('-', '_')}": str(value)
        for name, value in settings(tmp_path / "theirs").items()
    }
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dask",
                "scheduler",
                "--host",
                address.rpartition(":")[0],
                "--port",
                address.rpartition(":")[2],
                "--no-dashboard",
            ],
            env=os.environ | said,
            stdout=log,
            stderr=log,
        )
        until = time.monotonic() + 60
        while "Scheduler at" not in (told := (tmp_path / "log").read_text()):
            assert process.poll() is None, told
            assert time.monotonic() < until, told
            time.sleep(0.1)
        yield address
        process.terminate()
        process.wait(timeout=20)


def test_another_certificate_is_a_sentence_at_once(scheduler: str, tmp_path: Path):
    began = time.monotonic()
    with dask.config.set(settings(tmp_path / "ours")):
        assert refused(scheduler).startswith(
            f"The scheduler at {scheduler} and this Touchstone do not accept each other's"
        )
    assert time.monotonic() - began < 8, "it was tried again and again"


def test_settings_without_certificates_are_named():
    assert "dask's settings name no certificates" in refused("tls://127.0.0.1:1")


def test_an_address_without_encryption_is_refused_where_that_is_required(tmp_path: Path):
    with dask.config.set(settings(tmp_path / "ours")):
        assert "names an address without encryption" in refused("tcp://127.0.0.1:1")


@pytest.mark.parametrize("damage", ["missing", "no certificate"])
def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path, damage: str):
    said = settings(tmp_path / "ours")
    (tmp_path / "ours").unlink()
    if damage == "no certificate":
        (tmp_path / "ours").write_text("something else")
    with dask.config.set(said):
        assert "certificates for the cluster cannot be read" in refused("tls://127.0.0.1:1")
