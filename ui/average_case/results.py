"""What do runs of average-case robustness tell?"""

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case.noise import square_root
from touchstone.core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from touchstone.core.evaluate.average_case.shapes import spread_of
from touchstone.core.evaluate.units import design_of
from touchstone.core.models.inputs import network_inputs
from touchstone.core.workspace.run import Run
from touchstone.ui import cache
from touchstone.ui.data.results import dataset_of
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=8)
def robustness(run: Run) -> Robustness:
    """All that the finished trials of a run of average-case robustness tell."""
    data = dataset_of(run.fingerprint)
    rows = workspace().rows(owner(), run.id)
    return evaluate_robustness(rows, class_names=data.class_names, design=design_of(data))


@cache.result(max_entries=4)
def noise_root(dataset: Dataset, shape: str) -> np.ndarray:
    """What turns independent noise in the pixels of images, channels first, into noise that varies together."""
    return square_root(spread_of(shape, dataset, network_inputs(dataset.x))["covariance"])
