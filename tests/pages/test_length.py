"""Is a page still a letter? What it draws at length has a room of its own in ui/."""

from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))
MOST_LINES = 120


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_no_longer_than_a_letter(page: Path):
    assert len(page.read_text("utf-8").splitlines()) <= MOST_LINES
