"""What do the fields of an average-case plan offer, for which model and which data, and what is usual?"""

from touchstone.core.asked import About, Titles, Values
from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case import ESTIMATORS, offered
from touchstone.core.evaluate.average_case.directions import MOST_COLUMNS
from touchstone.core.split import has_test_set
from touchstone.core.trials.layer_parts import TrainingSplit, split_of

NOISE_TITLES = {"gaussian": "normal", "uniform": "uniform", "laplace": "Laplace"}
COLUMN_SIGMAS = (0.1, 0.25, 0.5, 1.0)
"""What is usual where sigma counts in a column's own spread."""
BY_AUDIT = "by_audit"
"""The choice of the estimator that the audit finds closest."""
TRIED = ("mmse", "gaussian_logits", "taylor")
"""What the audit chooses from. Of ten classes six copies with gradients cost as much as the 128 of normal logits."""


def estimators_offered(about: About) -> Titles:
    """The estimators that the screen offers for a model, and the choice by the audit where there is one."""
    titles = offered(has_gradients=has_gradients(about))
    return titles | ({BY_AUDIT: title_of(BY_AUDIT)} if has_gradients(about) else {})


def title_of(name: str) -> str:
    """An estimator's title, or that of the choice by the audit."""
    return "Chosen by the audit" if name == BY_AUDIT else ESTIMATORS[name].facts.title


def primary(estimators: tuple[str, ...]) -> tuple[str]:
    """The one choice of the screen that stands for these estimators."""
    return (BY_AUDIT,) if estimators == (*TRIED, "softmax") else (estimators[0],)


def with_confidence(primary: str) -> tuple[str, ...]:
    """The estimators that a choice of the screen stands for: softmax is always beside it."""
    return (*TRIED, "softmax") if primary == BY_AUDIT else (primary, "softmax")


def of_images(about: About) -> bool:
    """Whether noise is in units of pixels: also where nobody knows the data yet."""
    return about.data_kind in (None, "image")


def has_directions(dataset: Dataset) -> bool:
    """Whether there are named directions to look along: those of images, or single columns of few."""
    return dataset.kind == "image" or (dataset.kind == "tabular" and dataset.x.shape[1] <= MOST_COLUMNS)


def has_gradients(about: About) -> bool:
    """Whether the model gives gradients: also where nobody knows it yet."""
    return about.model is None or about.model.has_gradients


def _trained_here(about: About) -> bool:
    return about.model is None or bool(about.model.training_plan)


def rows_offered(about: About) -> Titles:
    """All, and those not trained on; where nobody knows these, those that the file keeps for tests, if it does."""
    if _trained_here(about):
        return {"test": "not trained on", "all": "all"}
    return {"test": "the file's test set", "all": "all"} if _is_marked(about) else {"all": "all"}


def usual_rows(about: About) -> dict[str, str]:
    """What is usual for a model of unknown training samples, under an address of its own."""
    if _trained_here(about):
        return {}
    return {"address": "judge_all", "usual": "test" if _is_marked(about) else "all"}


def _is_marked(about: About) -> bool:
    return about.dataset is not None and has_test_set(about.dataset)


def split_judged(values: Values, about: About) -> TrainingSplit:
    """That of the model's own training, or the file's, where it says which rows are judged."""
    if values.get("rows") != "test" or about.model is None:
        return split_of(None)
    return split_of(about.model.training_plan, about.dataset)
