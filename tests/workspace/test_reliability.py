"""docs/reliability.md names for each fault a test that shows what happens: each of these exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_that_the_page_names_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "reliability.md").read_text("utf-8")))
    written = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
    }
    assert named
    assert named <= written, f"no such tests: {named - written}"


def test_every_fault_of_the_page_has_a_test_or_says_that_it_has_none():
    lines = (ROOT / "docs" / "reliability.md").read_text("utf-8").splitlines()
    faults = [line.strip("|").split("|") for line in lines if line.startswith("| ") and not line.startswith("| fault ")]
    assert len(faults) > 10
    for fault, _, shown_by in faults:
        assert "`test_" in shown_by or "no test" in shown_by, fault
