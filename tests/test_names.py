"""Is a name one thing only? A package that exports a name of its own submodule is two things under one address."""

import ast
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from touchstone import core, ui

ROOT = Path(core.__file__).parents[1]
SAYS_NOTHING = {"said", "told", "found", "one", "of"}
ROOMS_THAT_SAY = ("core/data", "core/evaluate", "ui", "pages")
PACKAGES = sorted(
    str(file.parent.relative_to(ROOT)).replace("/", ".")
    for top in (core, ui)
    for file in Path(str(top.__file__)).parent.rglob("__init__.py")
)


def bound_in(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a module's statements bind, those under `if` and `try` too; a function keeps its own to itself."""
    for statement in body:
        match statement:
            case ast.Import(names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.If() | ast.Try() | ast.With() | ast.For():
                nested = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
                yield from bound_in(nested)
            case _:
                yield from (
                    node.id
                    for node in ast.walk(statement)
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                )


def submodules(package: str) -> set[str]:
    """The names of a package's modules and packages."""
    return {module.name for module in pkgutil.iter_modules([str(ROOT / package.replace(".", "/"))])}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_binds_a_name_that_is_also_its_submodules(package):
    body = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text("utf-8")).body
    assert not sorted(set(bound_in(body)) & submodules(package))


def test_the_names_bound_are_seen_wherever_they_are_bound():
    source = "import a.b\nfrom c import d as e\ndef f(): g = 1\nif h:\n    from c import i\nj, (k, *l) = m"
    assert list(bound_in(ast.parse(source).body)) == ["a.b", "e", "f", "i", "j", "k", "l"]


def variables_of(source: str) -> Iterator[str]:
    """Every variable and parameter that a module binds, wherever; functions and methods are no variables."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(name, ctx=ast.Store()) | ast.arg(name):
                yield name


@pytest.mark.parametrize("room", ROOMS_THAT_SAY)
def test_no_variable_has_a_name_that_says_nothing(room):
    files = sorted((ROOT / room).rglob("*.py"))
    bound = {str(file.relative_to(ROOT)): SAYS_NOTHING & {*variables_of(file.read_text("utf-8"))} for file in files}
    assert not {file: names for file, names in bound.items() if names}


def test_variables_are_seen_wherever_they_are_bound():
    source = "def f(said, *, told): return [one for one in said]\nclass C:\n    def of(self): found = self.one"
    assert SAYS_NOTHING & {*variables_of(source)} == {"said", "told", "one", "found"}
