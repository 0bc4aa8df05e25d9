"""The version on screen names the commit that it runs from."""

import subprocess

from tests.conftest import ROOT
from touchstone import core


def test_the_version_names_the_commit():
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    number, named = core.version().rstrip(")").split(" (")
    assert number == core.__version__
    assert commit.startswith(named.removesuffix("-dirty"))


def test_a_folder_that_is_no_checkout_has_its_number_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(core, "__file__", str(tmp_path / "core" / "__init__.py"))
    assert core.version.__wrapped__() == core.__version__


def test_a_library_that_is_not_installed_has_no_version():
    assert core.versions("no-such-library") == {}
