"""What anybody may take is what the settings say; docs/deployment.md repeats the list."""

import re

import pytest

from tests.conftest import ROOT
from touchstone.core.data import DataError, read_dataset
from touchstone.core.data.limits import MIB, SETTINGS, Limits, most

ROWS = b"id\ttext\tlabel\n" + b"".join(b"%d\tword %d\t%s\n" % (n, n, b"ab"[n % 2 : n % 2 + 1]) for n in range(40))


def test_the_docs_repeat_the_list():
    text = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `(TOUCHSTONE_MOST_\w+)` \| ([^|]+) \|", text, re.M))
    usual = {
        name: "no limit" if setting.usual is None else f"{setting.usual:,} {setting.unit}".replace(",", " ")
        for name, setting in SETTINGS.items()
    }
    assert listed == usual
    for name, setting in SETTINGS.items():
        assert f"| {setting.what} |" in text, name


def test_limits_of_files_follow_the_settings(monkeypatch: pytest.MonkeyPatch):
    before = Limits()
    assert (before.file_bytes, before.unpacked_bytes, before.samples) == (200 * MIB, 1024 * MIB, 1_000_000)
    for name, said in (("UPLOAD", "3"), ("UNPACKED", "7"), ("ROWS", "11"), ("COLUMNS", "13")):
        monkeypatch.setenv(f"TOUCHSTONE_MOST_{name}", said)
    assert Limits() == Limits(file_bytes=3 * MIB, unpacked_bytes=7 * MIB, samples=11, columns=13)


@pytest.mark.parametrize("setting", ["TOUCHSTONE_MOST_ROWS", "TOUCHSTONE_MOST_COLUMNS"])
def test_a_file_with_more_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path, setting: str):
    (tmp_path / "words.tsv").write_bytes(ROWS)
    assert read_dataset(str(tmp_path / "words.tsv")).n_samples == 40
    monkeypatch.setenv(setting, "2")
    with pytest.raises(DataError, match=r"\b2 (rows|are read)"):
        read_dataset(str(tmp_path / "words.tsv"))


def test_an_empty_setting_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOUCHSTONE_MOST_TRIALS", " ")
    assert most("TOUCHSTONE_MOST_TRIALS") is None
