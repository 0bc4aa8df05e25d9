"""How does somebody run a suite on the next version of a model, without this app? One archive: pictures and a test."""

import io
import zipfile
from pathlib import Path

import numpy as np

from touchstone.core.evaluate.guided_tests.judged_suite import JudgedSuite
from touchstone.core.evaluate.guided_tests.results import REGIONS
from touchstone.core.evaluate.test_quality.regions import THETA_2

SUITE_FILE, RUNNER_FILE = "guided_suite.npz", "test_guided_suite.py"
_RUNNER = Path(__file__).with_name("suite_runner.py")


def suite_archive(judged: JudgedSuite, *, model: str, dataset: str, seed: int) -> bytes:
    """Write a ZIP archive with the suite and the file that pytest runs.

    `model` and `dataset` are fingerprints: of the model whose answers are in it, and of the data it was made from.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(SUITE_FILE, suite_npz(judged, model=model, dataset=dataset, seed=seed))
        archive.writestr(RUNNER_FILE, _RUNNER.read_text("utf-8"))
    return stream.getvalue()


def suite_npz(judged: JudgedSuite, *, model: str, dataset: str, seed: int) -> bytes:
    """Write a suite as NPZ that needs no pickle to be read.

    Per test: test_ids, images (see `pixel_scale`), labels, region, rival, parent_ids, parent_part; image_in_region and
    oracle_reads, counts (both speak for it) and counts_again (they would with each of the oracles fitted anew);
    image_predicted and image_confidence of the model. Of the whole: class_names, pixel_scale, model_fingerprint,
    data_fingerprint, layer (what the regions lie in), thresholds as theta1 and theta2 with r (nan: each class's
    training median), oracle_accuracy and seed.
    """
    suite = judged.suite
    names = np.array(suite.class_names, dtype=str)
    arrays = {
        "test_ids": np.arange(len(suite)),
        "images": suite.images,
        "labels": names[suite.y],
        "region": np.where(suite.for_centroid, *REGIONS).astype(str),
        "rival": names[suite.rival],
        "parent_ids": suite.parent_ids.astype(str),
        "parent_part": suite.parent_part.astype(str),
        "image_in_region": suite.in_region,
        "oracle_reads": names[suite.read_as],
        "counts": suite.kept,
        "counts_again": suite.kept_again,
        "image_predicted": names[judged.predicted],
        "image_confidence": judged.confidence,
        "class_names": names,
        "pixel_scale": np.array([0, 255]),
        "model_fingerprint": np.array(model),
        "data_fingerprint": np.array(dataset),
        "layer": np.array("principal components of the pictures (a linear reference, not the model)"),
        "theta1": np.array(1 / len(names)),
        "theta2": np.array(THETA_2),
        "r": np.array(np.nan),
        "oracle_accuracy": np.array(suite.oracle_accuracy[0]),
        "seed": np.array(seed),
    }
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()
