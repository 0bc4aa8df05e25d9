"""What outlives a page lies where TOUCHSTONE_HOME says, and is never seen half-written."""

import os
import stat
from pathlib import Path

import pytest

from touchstone.core.data import DataError
from touchstone.core.data.home import home, write_whole


def test_home_is_made_for_its_owner_only(tmp_path, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "deep" / "home"))
    assert home() == tmp_path / "deep" / "home"
    assert stat.S_IMODE(home().stat().st_mode) == 0o700


def test_home_is_the_same_from_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHSTONE_HOME", "here")
    assert home() == tmp_path / "here"


def test_without_the_variable_it_is_in_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TOUCHSTONE_HOME", "")
    assert home() == tmp_path / ".touchstone"


def test_a_home_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"file: this folder cannot be made .*Set TOUCHSTONE_HOME"):
        home()


def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch):
    write_whole(tmp_path / "note", b"old")

    def full(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "note", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["note"]
    assert Path(tmp_path / "note").read_bytes() == b"old"
