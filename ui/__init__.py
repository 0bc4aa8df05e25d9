"""The only place besides the pages that knows Streamlit: a room for what all pages share, and one for each question."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "pages"
ROUTER = ROOT / "ui" / "shell" / "router.py"

# Streamlit puts the folder of the script that it runs on the path of imports, and takes it away again after each run of
# a page. An import in another thread walks that list meanwhile: where it shrinks, a folder is skipped, such as that of
# all libraries. So the folder stands there from the beginning, and Streamlit leaves the list alone.
sys.path.append(str(ROUTER.parent))


def page_file(stem: str) -> Path:
    """The file of a page."""
    return PAGES / f"{stem}.py"
