"""Every text that code can put on the screen, with its place: the sentences of core, ui and pages, and their templates.

A string counts where it is no docstring and holds three words or more (two, for phrases); what is put into it stands
as “…”. Beside them stand the paragraphs of what is read: “How to read this” of every page, and the docs of users.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FEWEST_WORDS = 3
_WORDS = re.compile(r"[A-Za-z]{2,}")
_NO_SENTENCE = re.compile(r"[{};]\n|</|/>|\\d|\(\?|^[a-z_, ]+$|\b(SELECT|PRAGMA|UPDATE|ALTER)\b|:root|\brgba\(")
"""Styles, markup, regular expressions, SQL and the shapes of arrays."""
_CODE = re.compile(r"`[^`]*`|\w+(?:\.\w+)*\((?:[^()]|\([^()]*\))*\)|\(such as np\.savez.*")
"""Code within a sentence, which has brackets and words of its own."""
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_PUT_IN, _CODE_TAG = re.compile(r"\{\{.*?\}\}"), re.compile(r"</?code>")
_TAG = re.compile(r"\{%.*?%\}|\{#.*?#\}|<[^>]*>")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINKED = re.compile(r"\]\([^)]*\)")


class Text(NamedTuple):
    """A text and the file and line where an editor finds it."""

    place: str
    text: str


@cache
def texts_of_code() -> tuple[Text, ...]:
    """All texts of core, ui and pages, in the order of their places."""
    rooms = [ROOT / folder for folder in ("core", "ui", "pages")]
    files = sorted(file for room in rooms for file in room.rglob("*.py"))
    templates = sorted(file for room in rooms for file in room.rglob("*.html"))
    return (
        *(text for file in files for text in texts_of(file)),
        *(text for file in templates for text in texts_of_template(file)),
    )


@cache
def texts_of_pages() -> tuple[Text, ...]:
    """The paragraphs of “How to read this” of every page."""
    files = sorted((ROOT / "pages").glob("*.md"))
    return tuple(Text(file.name, block) for file in files for block in _paragraphs(file.read_text("utf-8")))


@cache
def texts_of_docs() -> tuple[Text, ...]:
    """The paragraphs of the README and of the docs that a user of the pages reads."""
    read = [
        ROOT / "README.md",
        *(
            ROOT / "docs" / f"{name}.md"
            for name in ("glossary", "checks", "deployment", "file-formats", "integrations", "python")
        ),
    ]
    files = [
        *read,
        *sorted(file for room in ("how-to-read", "tutorials") for file in (ROOT / "docs" / room).glob("*.md")),
    ]
    texts = ((file, _FENCED.sub("", file.read_text("utf-8"))) for file in files)
    return tuple(
        Text(str(file.relative_to(ROOT)), _without_code(_LINKED.sub("]", block)))
        for file, text in texts
        for block in _paragraphs(text)
    )


@cache
def phrases_of_code() -> tuple[Text, ...]:
    """All strings of ui and pages of two words or more that are no sentences, such as names of columns and controls."""
    files = sorted(file for folder in ("ui", "pages") for file in (ROOT / folder).rglob("*.py"))
    return tuple(text for file in files for text in texts_of(file, fewest_words=2))


def texts_of(file: Path, *, fewest_words: int = FEWEST_WORDS) -> Iterator[Text]:
    """The texts of one Python file."""
    tree = ast.parse(file.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in docstrings | parts or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        text = _text(node)
        if len(_WORDS.findall(text)) >= fewest_words and not _NO_SENTENCE.search(text):
            yield Text(f"{file.relative_to(ROOT)}:{node.lineno}", _without_code(text))


def texts_of_template(file: Path) -> Iterator[Text]:
    """The texts between the tags of one template."""
    text = _CODE_TAG.sub("`", _PUT_IN.sub("…", _STYLE.sub("", file.read_text("utf-8"))))
    for piece in _TAG.split(text):
        if len(_WORDS.findall(piece)) >= FEWEST_WORDS and not _NO_SENTENCE.search(piece):
            yield Text(str(file.relative_to(ROOT)), _without_code(" ".join(piece.split())))


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)


def _without_code(text: str) -> str:
    shorter = _CODE.sub("code", text)
    return text if shorter == text else _without_code(shorter)


def _paragraphs(markdown: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n|\n(?= *[-*|>] )", markdown):
        if not block.lstrip().startswith(("$$", "|")) and not block.startswith("    "):
            yield " ".join(block.split())
