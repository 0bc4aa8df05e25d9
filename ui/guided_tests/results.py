"""What is known of generated tests, of the properties that a model should have, and of what is missing?"""

from touchstone.core.evaluate.guided_tests.generate import Properties
from touchstone.core.evaluate.guided_tests.plan import Guided, guided_of_rows
from touchstone.core.evaluate.guided_tests.results import GeneratedTests, Origin, RoundTrip
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite
from touchstone.core.evaluate.test_quality.quality import Looked
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.workspace.runs import Run
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.guided_tests import work
from touchstone.ui.shell.background import Work
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=4)
def guided(run: Run) -> Guided:
    """All that the finished trials of a run of guided tests tell."""
    data, rows = dataset_of(run.fingerprint), workspace().rows(owner(), run.id)
    return guided_of_rows(rows, class_names=data.class_names, origin=Origin.of(data))


@cache.task(max_entries=4)
def regions(looked: Looked) -> Work[Regions]:
    """The regions that were chosen, drawn by the training part."""
    return Work(lambda step: work.regions(looked))


@cache.task(max_entries=4)
def properties(looked: Looked) -> Work[Properties]:
    """The three properties of a well-trained classifier."""
    within = regions(looked)
    return Work(lambda step: work.tested(looked, within.future.result()))


@cache.task(max_entries=4)
def missing_tests(looked: Looked) -> Work[GeneratedTests | None]:
    """Tests where the test set has too few."""
    within = regions(looked)
    return Work(lambda step: work.missing(looked, within.future.result()))


@cache.task(max_entries=4)
def judged_by(run: Run, model: str) -> Work[JudgedSuite]:
    """What another model, named by its fingerprint, makes of a run's pictures. Raises LookupError without pictures."""
    generated, dataset = guided(run), dataset_of(run.fingerprint)
    stored = workspace().model_bytes(owner(), model)
    return Work(lambda step: work.judged_by(generated, stored, dataset))


@cache.task(max_entries=4)
def sent_again(run: Run, looked: Looked) -> Work[RoundTrip | None]:
    """The generated images of a run, through the whole model."""
    generated, within = guided(run), regions(looked)
    return Work(lambda step: work.sent_again(generated, looked.parts, within.future.result()))
