"""The version on screen names the commit that it runs from."""

import subprocess
import sys
import threading
from importlib.metadata import PackageNotFoundError

import pytest

import core
from tests.conftest import ROOT


def test_the_version_names_the_commit():
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    number, named = core.version().rstrip(")").split(" (")
    assert number == core.__version__
    assert commit.startswith(named.removesuffix("-dirty"))


def test_a_folder_that_is_no_checkout_has_its_number_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(core, "__file__", str(tmp_path / "core" / "__init__.py"))
    assert core.version.__wrapped__() == core.__version__


def test_versions_are_found_while_a_page_adds_and_removes_its_folder():
    ended = threading.Event()

    def as_streamlit_does():
        while not ended.is_set():
            sys.path.insert(0, "a folder of pages")
            sys.path.remove("a folder of pages")

    thread = threading.Thread(target=as_streamlit_does)
    thread.start()
    try:
        for _ in range(1000):
            core._installed_version.cache_clear()
            assert set(core.versions("numpy", "pandas")) == {"numpy", "pandas"}
    finally:
        ended.set()
        thread.join()


def test_a_library_that_is_not_installed_has_no_version():
    with pytest.raises(PackageNotFoundError):
        core.versions("no-such-library")
