"""The only place besides the pages that knows Streamlit: a room for what all pages share, and one for each question."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "pages"
