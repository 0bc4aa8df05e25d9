"""What is known of the quality of test sets, and of what moved between training and test?

Few entries each, since each holds the features that it was asked about.
"""

from collections.abc import Callable

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.test_quality import Curve, PairMap, TestQuality
from touchstone.core.evaluate.test_quality import looked as work
from touchstone.core.evaluate.test_quality.looked import Looked, RegionChoice
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan, shift_of_rows
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift
from touchstone.core.figures.test_quality import Subject
from touchstone.core.report import test_quality as report
from touchstone.core.trials.layer_parts import layer_parts, layers_offered, split_of
from touchstone.core.workspace import Run, StoredModel, load_plan
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.models.choice import parts_name
from touchstone.ui.shell.background import Work
from touchstone.ui.shell.session import owner, workspace


@cache.task(max_entries=4)
def quality(looked: Looked) -> Work[TestQuality]:
    """The four dimensions of a test set."""
    return Work(lambda step: work.measured(looked))


@cache.task(max_entries=16)
def beside(dataset: Dataset, title: str, model: StoredModel, choice: RegionChoice) -> Work[Subject]:
    """Another model's test set, by the same thresholds: in the layer of that name, or else in its usual one."""
    owner_name, shelf = owner(), workspace()

    def measure(step: Callable[[], None]) -> Subject:
        stored = shelf.model_bytes(owner_name, model.fingerprint)
        layer = choice.layer if choice.layer in layers_offered(stored, dataset) else None
        parts = layer_parts(stored, dataset, layer=layer, **split_of(model.training_plan, dataset))
        looked = Looked(dataset, parts, choice, parts_name(dataset, model, parts.layer))
        return report.subject(model.name, title, looked, work.measured(looked))

    return Work(measure)


@cache.task(max_entries=4)
def curves(looked: Looked) -> Work[tuple[Curve, Curve]]:
    """The shares over both thresholds."""
    return Work(lambda step: work.curves(looked))


@cache.task(max_entries=8)
def class_pair(looked: Looked, first: int, second: int) -> Work[PairMap]:
    """Two classes in a plane."""
    return Work(lambda step: work.pair(looked, first, second))


@cache.task(max_entries=4)
def parts_told(looked: Looked) -> Work[PartsTold]:
    """How well a classifier tells training from test samples."""
    return Work(lambda step: work.parts_told(looked, step), looked.dataset.n_classes)


@cache.task(max_entries=4)
def smallest_seen(looked: Looked) -> Work[SeenShift | None]:
    """How small a shift that classifier would have seen."""
    parts = parts_told(looked)
    return Work(lambda step: work.seen(looked, parts.future.result()))


@cache.result(max_entries=4)
def samples(looked: Looked) -> pd.DataFrame:
    """Where every test sample lies."""
    return work.samples(looked)


@cache.result(max_entries=8)
def covariate_shift(run: Run) -> CovariateShift:
    """What the finished trials of a run of covariate shift tell."""
    plan, data = load_plan(run.plan), dataset_of(run.fingerprint)
    if not isinstance(plan, CovariateShiftPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} says nothing about a shift")
    return shift_of_rows(workspace().rows(owner(), run.id), plan, data.class_names, unit=data.unit_word)
