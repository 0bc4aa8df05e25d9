import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_nothing_heavy_is_imported_before_something_is_computed():
    code = (
        "import sys\n"
        "from touchstone.core import models, represent\n"
        "from touchstone.core.cluster import finders\n"
        "from touchstone.core.split import folds, units\n"
        "print([name for name in ('sklearn', 'torch', 'scipy', 'threadpoolctl') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
