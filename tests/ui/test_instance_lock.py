"""Does a second Touchstone on one home say where the first is, and one whose first has ended say nothing?"""

import json
import subprocess
import sys

from tests.conftest import ROOT
from touchstone.ui.shell import instance_lock

FIRST, SECOND = "http://127.0.0.1:8501", "http://127.0.0.1:9000"


def test_the_second_says_where_the_first_is(tmp_path, capsys):
    instance_lock.say(tmp_path, FIRST)
    assert capsys.readouterr().err == ""
    instance_lock.say(tmp_path, SECOND)
    told = capsys.readouterr().err
    assert FIRST in told
    assert str(tmp_path) in told


def test_one_that_has_left_is_not_told_of(tmp_path):
    instance_lock.arrive(tmp_path, FIRST)
    instance_lock.leave(tmp_path, SECOND)  # none of its business
    assert instance_lock.arrive(tmp_path, SECOND) == FIRST
    instance_lock.leave(tmp_path, FIRST)
    assert instance_lock.arrive(tmp_path, SECOND) is None


def test_one_that_was_killed_is_not_told_of(tmp_path):
    code = "from pathlib import Path; from touchstone.ui.shell.instance_lock import arrive; arrive(Path({!r}), {!r})"
    script = code.format(str(tmp_path), FIRST)
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=60)
    assert json.loads((tmp_path / instance_lock.NOTE).read_text("utf-8"))["url"] == FIRST
    assert instance_lock.arrive(tmp_path, SECOND) is None


def test_a_note_that_cannot_be_read_is_written_anew(tmp_path):
    (tmp_path / instance_lock.NOTE).write_text("[1, 2")
    assert instance_lock.arrive(tmp_path, SECOND) is None
    assert instance_lock.arrive(tmp_path, FIRST) == SECOND
