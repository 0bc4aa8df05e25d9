"""Is all of Touchstone one package? Its folders are imported as `touchstone`, and `core` is no second copy."""

import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from touchstone.core import same

FOLDERS = ("core", "ui", "pages")
SECOND = """
import sys
import core, core.split.folds
from core import check
from core.data import tables as theirs
import touchstone
from touchstone.core.data import tables as ours
assert core is touchstone.core and theirs is ours and check is touchstone.check
assert sys.modules["core.split.folds"] is sys.modules["touchstone.core.split.folds"]
print({module.__spec__.name for name, module in sys.modules.items() if name.partition(".")[0] == "core"} & {"core"})
"""


def python(code: str, **how) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_is_imported_by_the_name_of_a_folder():
    files = subprocess.run(["git", "ls-files", "*.py", "*.pyi"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = []
    for file in files.stdout.split():
        for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            named += [f"{file}:{node.lineno}" for name in names if name.partition(".")[0] in FOLDERS]
    assert not named, "import touchstone.core and so on: by another name a module is there twice"


def test_no_module_is_there_twice_after_all_that_this_process_ran():
    """The packages themselves pytest imports, where it looks for what a conftest is called."""
    assert not [name for name in sys.modules if name.partition(".")[0] in FOLDERS and "." in name]


def test_core_is_the_very_same_modules_in_a_checkout():
    assert python(SECOND, cwd=ROOT) == "set()"


def test_folders_without_init_are_imported_as_ever(tmp_path, monkeypatch):
    (tmp_path / "foreign_name" / "inner").mkdir(parents=True)
    (tmp_path / "foreign_name" / "inner" / "deep.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [same._Same(), *sys.meta_path])
    assert importlib.import_module("foreign_name.inner.deep").value == 3


@pytest.mark.parametrize("links", ["links", "files"])
def test_a_foreign_core_is_nobodys_business_also_where_links_are_files(tmp_path, links):
    """As an archive of the sources unpacks where the system has no links, and git on some Windows."""
    home = tmp_path / "checkout"
    for folder in (*FOLDERS, "touchstone"):
        shutil.copytree(ROOT / folder, home / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    if links == "files":
        for folder in FOLDERS:
            target = (home / "touchstone" / folder).readlink()
            (home / "touchstone" / folder).unlink()
            (home / "touchstone" / folder).write_text(str(target))
    foreign = tmp_path / "theirs"
    for folder in FOLDERS:
        (foreign / folder).mkdir(parents=True)
        (foreign / folder / "__init__.py").write_text("raise SystemExit('a foreign package was imported')\n")
    code = f"import sys; sys.path.append({str(home)!r}); import touchstone, touchstone.ui as ui; "
    assert python(f"{code} print(touchstone.check.__module__)", cwd=foreign) == "touchstone.core.public.asking"
    assert Path(python(f"{code} print(ui.ROOT)", cwd=foreign)) == home
