"""What docs/deployment.md tells people to type: the fenced commands and files below each of its headings."""

import re

from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "deployment.md").read_text("utf-8")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections() -> dict[str, str]:
    """The text below each heading, up to the next one."""
    _, *parts = _HEADING.split(_without_comments_of_code(TEXT))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def blocks(heading: str, language: str = "sh") -> list[str]:
    """The fenced texts of one language below a heading."""
    return [text for kind, text in _FENCED.findall(sections()[heading]) if kind == language]


def commands(heading: str, block: int = 0) -> list[str]:
    """The commands of a block of shell lines, one a line."""
    lines = (line.partition("   # ")[0].strip() for line in blocks(heading)[block].splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _without_comments_of_code(text: str) -> str:
    """A line of code that begins with # is no heading."""
    return _FENCED.sub(lambda block: re.sub(r"^#", " #", block[0], flags=re.MULTILINE), text)
