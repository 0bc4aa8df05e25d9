"""The exported suite is run by pytest, away from the app, on two versions of a model."""

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.evaluate.test_guided_tests_suite import judged, suite
from touchstone.core.evaluate.guided_tests import suite_runner
from touchstone.core.evaluate.guided_tests.suite import suite_archive, suite_difference

MODEL = "import numpy as np\ndef predict(images):\n    assert images.dtype == np.uint8\n    return np.load({!r})\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive of a sound model, with a file that gives a damaged one's answers, and one that is sound."""
    at = tmp_path_factory.mktemp("suite")
    content = suite_archive(judged(0.0), model="f1f2", dataset="d1d2", seed=0)
    zipfile.ZipFile(io.BytesIO(content)).extractall(at)
    for name, version in (("sound", judged(0.0)), ("damaged", judged(0.4))):
        asked = suite().kept | suite().kept_again.any(axis=1)
        np.save(at / f"{name}.npy", version.predicted[asked])
        (at / f"{name}_model.py").write_text(MODEL.format(str(at / f"{name}.npy")), "utf-8")
    return at


def run(folder: Path, **settings: str) -> tuple[int, str]:
    """What pytest says of the archive's tests, run as a user runs them: nothing of this project is on the path."""
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_guided_suite.py"]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))}
    made = subprocess.run(command, cwd=folder, env=env | settings, capture_output=True, text=True, check=False)
    return made.returncode, made.stdout


def test_the_archive_holds_all_that_a_test_rests_on(folder):
    with np.load(folder / "guided_suite.npz", allow_pickle=False) as file:
        assert str(file["model_fingerprint"]) == "f1f2"
        assert str(file["data_fingerprint"]) == "d1d2"
        assert (file["images"] == suite().images).all()
        assert file["pixel_scale"].tolist() == [0, 255]
        assert "not the model" in str(file["layer"])
        assert (float(file["theta1"]), float(file["theta2"])) == (0.1, 0.7)
        names = file["class_names"]
        assert (file["oracle_reads"] == names[suite().read_as]).all()
        assert (file["image_predicted"] == names[judged(0.0).predicted]).all()
        assert (file["counts"] == (file["image_in_region"] & (file["oracle_reads"] == file["labels"]))).all()


def test_the_same_version_passes_and_says_its_accuracy(folder):
    code, said = run(folder, GUIDED_PREDICT="sound_model:predict", GUIDED_LEAST="0.8")
    assert code == 0, said
    assert f"accuracy {100 * judged(0.0).accuracy().accuracy:.1f} % [" in said
    assert "gained 0 tests, lost 0: +0.0 points" in said


def test_a_damaged_version_fails_with_the_tests_that_it_lost(folder):
    code, said = run(folder, GUIDED_PREDICT="damaged_model:predict", GUIDED_LEAST="0.93")
    assert code == 1
    found = suite_difference(judged(0.0), judged(0.4))
    assert f"gained {found.n_gained} tests, lost {found.n_lost}: {100 * found.difference:+.1f} points" in said
    assert "significantly worse" in said
    assert "significantly below 0.93" in said
    assert "  lost: test " in said
    ends = re.search(r"points \[([-+.\d]+), ([-+.\d]+)\]", said)
    assert [float(end) for end in ends.groups()] == pytest.approx(
        [100 * found.interval.lower, 100 * found.interval.upper], abs=0.15
    )


def test_a_kept_version_is_what_the_next_is_compared_with(folder):
    kept = str(folder / "kept.npy")
    code, _ = run(folder, GUIDED_PREDICT="damaged_model:predict", GUIDED_KEEP=kept)
    assert code == 1  # it is worse than the sound one
    code, said = run(folder, GUIDED_PREDICT="damaged_model:predict", GUIDED_BEFORE=kept)
    assert code == 0, said
    found = suite_difference(judged(0.4), judged(0.0))
    code, said = run(folder, GUIDED_PREDICT="sound_model:predict", GUIDED_BEFORE=kept)
    assert code == 0, said
    assert f"gained {found.n_gained} tests, lost {found.n_lost}" in said


def of_parents(parents: np.ndarray, kept_again: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """A suite all of whose pictures count, whatever the oracle."""
    every = np.ones((len(parents), 3), dtype=bool)
    counts = {"counts": every[:, 0], "counts_again": every if kept_again is None else kept_again}
    return {"parent_ids": parents, **counts}


def test_mcnemar_is_exact_over_real_samples():
    """Ten pictures of one sample that all changed are one change, not ten."""
    old, new, one = np.zeros(10, dtype=bool), np.ones(10, dtype=bool), np.zeros(10, dtype=int)
    assert suite_runner.change(old, new, of_parents(one))[-1] == 1.0
    assert suite_runner.change(old, new, of_parents(np.arange(10)))[-1] == pytest.approx(2 / 2**10)
    assert suite_runner.change(new, new, of_parents(np.arange(10)))[-1] == 1.0


def test_the_interval_of_an_accuracy_is_over_real_samples():
    correct = np.repeat([True, False, True, True], 25)
    wide, narrow = (
        suite_runner.share(correct, of_parents(parents)) for parents in (np.repeat(np.arange(4), 25), np.arange(100))
    )
    assert wide[0] == narrow[0] == 0.75
    assert wide[2] - wide[1] > 2 * (narrow[2] - narrow[1])
    assert narrow[1:] == pytest.approx((0.6573, 0.8246), abs=0.005)  # Wilson's, of 75 in 100


def test_what_hangs_on_the_oracle_is_in_the_interval():
    """Half of the oracles keep only what the model gets right: its accuracy is less sure than its samples say."""
    correct, parents = np.repeat([True, False, True, True], 25), np.arange(100)
    again = np.column_stack([np.ones(100, dtype=bool), correct])
    sure, unsure = (suite_runner.share(correct, of_parents(parents, one)) for one in (None, again))
    assert unsure[0] == sure[0]
    assert unsure[2] - unsure[1] > 3 * (sure[2] - sure[1])
