"""The reference of plans in the docs is what stands beside their fields, and misses none."""

from dataclasses import fields
from pathlib import Path

import pytest

from touchstone.core.__main__ import main
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.descriptions import plan_reference, reference
from touchstone.core.workspace import PLANS

DOCS = Path(__file__).resolve().parents[2] / "docs"
OURS = {
    stem: question for stem, question in QUESTIONS.items() if (question.plan or "touchstone.").startswith("touchstone.")
}


@pytest.fixture(autouse=True)
def without_the_kinds_of_tests(monkeypatch):
    """Other tests may have added kinds of plan, whose fields need not ask anything."""
    for stem in set(QUESTIONS) - set(OURS):
        monkeypatch.delitem(QUESTIONS, stem)


def test_the_page_in_the_docs_is_current():
    assert (DOCS / "plans.md").read_text("utf-8") == reference(), "write it anew: python -m core plans > docs/plans.md"


@pytest.mark.parametrize("kind", [question.kind for question in OURS.values() if question.kind])
def test_every_field_stands_in_it_with_its_meaning(kind, capsys):
    assert main(["plans", kind]) == 0
    printed = capsys.readouterr().out
    assert printed == plan_reference(kind)
    for field in fields(PLANS[kind]):
        [line, *_] = [line for line in printed.splitlines() if line.startswith(f"| `{field.name}` |")]
        assert line.split("|")[-2].strip(), line
