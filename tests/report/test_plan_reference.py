"""The reference of plans in the docs is what stands beside their fields, and misses none."""

from dataclasses import fields
from pathlib import Path

import pytest

from core.__main__ import main
from core.report.plan_reference import plan_reference, reference
from core.workspace.plans import PLANS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_in_the_docs_is_current():
    assert (DOCS / "plans.md").read_text("utf-8") == reference(), "write it anew: python -m core plans > docs/plans.md"


@pytest.mark.parametrize("kind", PLANS)
def test_every_field_stands_in_it_with_its_meaning(kind, capsys):
    assert main(["plans", kind]) == 0
    printed = capsys.readouterr().out
    assert printed == plan_reference(kind)
    for field in fields(PLANS[kind]):
        [line, *_] = [line for line in printed.splitlines() if line.startswith(f"| `{field.name}` |")]
        assert line.split("|")[-2].strip(), line
