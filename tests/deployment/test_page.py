"""No fenced command of docs/deployment.md is left untried: a test of this folder reads each block from it."""

import ast
from pathlib import Path

import pytest

from tests.deployment.page import blocks, commands, sections

HERE = Path(__file__).parent
BLOCKS = [(heading, block) for heading in sections() for block in range(len(blocks(heading)))]


def read_by_tests() -> set[tuple[str, int]]:
    """Heading and number of every block that `commands(...)` reads in a test."""
    trees = [ast.parse(file.read_text("utf-8")) for file in HERE.glob("test_*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        (call.args[0].value, call.args[1].value if len(call.args) > 1 else 0)
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "commands" and isinstance(call.args[0], ast.Constant)
    }


@pytest.mark.parametrize(("heading", "block"), BLOCKS)
def test_a_block_of_commands_is_tried(heading: str, block: int):
    assert commands(heading, block)
    assert (heading, block) in read_by_tests()


def test_there_are_blocks():
    assert len(BLOCKS) >= 10
