"""What tests share: the folder of real data files."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data files that tests may read; skipped where a checkout has none beside it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real data files (../shared/data) are not beside this checkout")
    return SHARED_DATA
