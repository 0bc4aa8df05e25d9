"""Several threads reach the database for the first time at once: the start of the app, pages, who signs in."""

import ast

import pytest

from tests.conftest import ROOT


def sqlalchemy_imports(code: str) -> list[str]:
    """What of SQLAlchemy a module imports as it begins, in this order: the package, or one of its parts."""
    froms = [each for each in ast.parse(code).body if isinstance(each, ast.ImportFrom) and not each.level]
    return [each.module for each in froms if (each.module or "").partition(".")[0] == "sqlalchemy"]


@pytest.mark.sqlite
def test_the_whole_of_sqlalchemy_is_imported_before_a_part_of_it():
    """A thread that names a part does not wait for one that is making the whole, and both may find it by half.

    On a busy machine the app's start met a first sign-in so: every page then was an error until the next start.
    """
    imports = {file: sqlalchemy_imports(file.read_text("utf-8")) for file in (ROOT / "core").rglob("*.py")}
    assert sum(map(bool, imports.values())) > 5
    assert not [file.name for file, names in imports.items() if names and names[0] != "sqlalchemy"]
