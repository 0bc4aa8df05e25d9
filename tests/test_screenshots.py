"""Is there a picture of every page and every verdict, as wide as a window? `make screenshots` draws and writes them.

What the verdicts say is held against one list: a number answers the question, it is said over what, what next, and no
sentence is too long.
"""

import re
import struct

import pytest

from tests.conftest import ROOT
from tests.plain_words import problems
from touchstone.core.questions import QUESTIONS, with_page

FOLDER = ROOT / "docs" / "screenshots"
WIDTH, LEAST_HEIGHT = 1280, 400
IN_WORDS = (ROOT / "docs" / "measured" / "verdicts-in-words.md").read_text("utf-8")


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", picture[16:24])


@pytest.mark.parametrize("scheme", ["", "-dark"])
@pytest.mark.parametrize("stem", list(with_page()))
def test_every_page_has_its_picture(stem, scheme):
    width, height = size_of((FOLDER / f"{stem}{scheme}.png").read_bytes())
    assert width == WIDTH
    assert height >= LEAST_HEIGHT


def test_no_picture_is_of_a_page_that_is_gone():
    pages = {f"{stem}{scheme}.png" for stem in with_page() for scheme in ("", "-dark")}
    assert {file.name for file in FOLDER.glob("*.png")} == pages


@pytest.mark.parametrize("scheme", ["", "-dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("stem", list(with_page()))
def test_every_verdict_has_its_pictures(stem, width, scheme):
    wide, height = size_of((FOLDER / "verdicts" / f"{stem}-{width}{scheme}.png").read_bytes())
    assert width / 2 < wide <= width
    assert height > 80


def test_no_picture_is_of_a_verdict_that_is_gone():
    pictures = {
        f"{stem}-{width}{scheme}.png" for stem in with_page() for width in (1280, 390) for scheme in ("", "-dark")
    }
    assert {file.name for file in (FOLDER / "verdicts").glob("*.png")} == pictures


@pytest.mark.parametrize("stem", list(with_page()))
def test_a_verdict_answers_with_a_number_over_something_and_says_what_next(stem):
    [told] = re.findall(rf"## {re.escape(QUESTIONS[stem].title)}\n\n(.*?)\n\n", IN_WORDS, re.DOTALL)
    parts = dict(re.findall(r"- \*\*(.*?)\*\*: (.*)", told))
    assert parts["Number"] in parts["Answer"], parts
    assert re.search(r"\d", parts["Number"])
    assert re.search(
        r"n = \d|\d (?:test |real test )?samples|\d (?:generated )?(?:images|pictures)|\d data set",
        " ".join(parts.values()),
    ), parts
    assert parts["What next"].endswith(".")
    assert not [problem for part in parts.values() for problem in problems(part)]
