"""Is there a picture of every page, light and dark, as wide as a window? `make screenshots` draws them."""

import struct

import pytest

from core.questions import with_page
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "screenshots"
WIDTH, LEAST_HEIGHT = 1280, 400


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
