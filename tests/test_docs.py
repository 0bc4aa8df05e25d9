"""Does every link of the docs lead somewhere? Files and anchors of this project; other addresses are not asked."""

import pkgutil
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.conftest import ROOT

PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in ("docs", "pages", "deploy", "tests") for page in (ROOT / folder).rglob("*.md")),
]
_LINK = re.compile(r"(?<!`)\[[^\]]*\]\(<?([^)\s>]+)>?[^)]*\)")
CODE = [file for room in ("core", "ui", "pages", "benchmarks", "tests") for file in (ROOT / room).rglob("*.py")]
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Where the links and pictures of a page lead, code apart; addresses of other places are left out."""
    prose = re.sub(r"`[^`\n]*`", "`code`", _FENCED.sub("", text))
    return [target for target in _LINK.findall(prose) if not re.match(r"[a-z]+:", target)]


@cache
def anchors(page: Path) -> frozenset[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+)$", _FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    names: list[str] = []
    for heading in headings:
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        names.append(f"{name}-{names.count(name)}" if name in names else name)
    return frozenset(names)


def broken(page: Path, text: str) -> list[str]:
    """The links of this text, as it would stand in this place, that lead nowhere."""
    missing = []
    for target in links(text):
        path, _, anchor = unquote(target).partition("#")
        file = page.parent / path if path else page
        known = anchors(file) if file.suffix == ".md" and file.is_file() else {anchor}
        if not file.exists() or (anchor and anchor not in known):
            missing.append(target)
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_and_a_heading(page):
    assert not broken(page, page.read_text("utf-8"))


def test_code_names_pages_that_exist():
    named = {name for file in CODE for name in re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text("utf-8"))}
    assert named
    assert not {name for name in named if not (ROOT / name).is_file()}


def test_what_code_and_docs_name_by_its_module_is_there():
    """As `core.split.folds.SDSFolds`: a module that moved, and what moved to another, are found."""
    named = re.compile(r"`(?:touchstone\.)?((?:core|ui)(?:\.\w+)+)(?:\([^`]*\))?`")
    names = {name for file in (*CODE, *PAGES) for name in named.findall(file.read_text("utf-8"))}
    assert names
    for name in names:
        pkgutil.resolve_name(f"touchstone.{name}")


def test_a_link_to_nothing_is_found():
    page = ROOT / "docs" / "glossary.md"
    text = "[a](no-such.md) [b](checks.md#no-such-heading) [c](#nor-this) [d](checks.md) [e](https://example.org/no)"
    assert broken(page, text) == ["no-such.md", "checks.md#no-such-heading", "#nor-this"]


def test_headings_are_named_as_on_github():
    assert "what-happens-when-something-dies" in anchors(ROOT / "docs" / "deployment.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_of_ours_that_docs_name_is_there(page):
    named = re.findall(r"`((?:core|ui|pages|tests|benchmarks)/[\w/]+\.py)`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_decisions_are_numbered_once_and_called_by_their_number():
    files = [path for path in (ROOT / "docs/decisions").glob("*.md") if path.name != "README.md"]
    numbers = [path.name.partition("-")[0] for path in files]
    assert len(set(numbers)) == len(numbers) > 60
    heads = {path.name.partition("-")[0]: path.read_text("utf-8").splitlines()[0] for path in files}
    numbered = {number: head for number, head in heads.items() if head.removeprefix("# ")[:4].isdecimal()}
    assert {number: head[2:6] for number, head in numbered.items()} == {number: number for number in numbered}
