"""The only place besides the pages that knows Streamlit: a room for what all pages share, and one for each question."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "pages"


def page_file(stem: str) -> Path:
    """The file of a page."""
    return PAGES / f"{stem}.py"
