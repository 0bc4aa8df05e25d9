"""Does any selection of files pass? Docstring examples run on the modules that tests import, not on copies of them."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.evidence
def test_a_module_and_its_test_run_together():
    files = [
        "touchstone/core/evaluate/source_robustness/verdict.py",
        "tests/evaluate/test_source_robustness_verdict.py",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
