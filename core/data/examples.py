"""What can be tried without any data of one's own? Real data sets that need no network."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from touchstone.core.data.dataset import Dataset, Kind
from touchstone.core.data.docstrings import load_docstrings
from touchstone.core.data.errors import DataError


@dataclass(frozen=True)
class Example:
    """A built-in data set: what a picker shows about it, and the function that loads it.

    >>> EXAMPLES["digits"].title
    'Handwritten digits'
    """

    name: str
    title: str
    kind: Kind
    sentence: str
    load: Callable[[], Dataset]


def load_example(name: str) -> Dataset:
    """Load a built-in data set by its name in `EXAMPLES`.

    >>> load_example("wine").n_per_class
    array([59, 71, 48])
    """
    if name not in EXAMPLES:
        raise DataError(f"There is no example {name!r}. The examples are {', '.join(EXAMPLES)}.")
    return EXAMPLES[name].load()


def _digits() -> Dataset:
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    scale = 16.0  # each pixel counts the ink in a block of 4 × 4
    return Dataset(
        name="digits",
        kind="image",
        x=bunch.images[..., None] / scale,
        y=bunch.target,
        class_names=tuple(str(name) for name in bunch.target_names),
        ids=None,
        scale=scale,
        notes=("Pixels were divided by 16 and lie in [0, 1].",),
    )


def _table(name: str) -> Dataset:
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        kind="tabular",
        x=bunch.data,
        y=bunch.target,
        class_names=tuple(str(name) for name in bunch.target_names),
        ids=None,
        feature_names=tuple(str(name) for name in bunch.feature_names),
    )


_DIGITS = "1,797 scanned digits of 8 × 8 pixels, ten classes (UCI optical digits, from scikit-learn)."
_WINE = "178 wines of three growers, 13 chemical measurements each (UCI, from scikit-learn)."
_BREAST_CANCER = "569 tumours, malignant or benign, 30 measurements of cell nuclei each (UCI, from scikit-learn)."
_DOCSTRINGS = (
    "Docstrings of numpy, scipy, pandas, scikit-learn, torch and plotly: which library is it? "
    "Sources are their subpackages."
)

EXAMPLES: dict[str, Example] = {
    example.name: example
    for example in (
        Example("digits", "Handwritten digits", "image", _DIGITS, _digits),
        Example("wine", "Wine", "tabular", _WINE, partial(_table, "wine")),
        Example("breast_cancer", "Breast cancer", "tabular", _BREAST_CANCER, partial(_table, "breast_cancer")),
        Example("docstrings", "Docstrings", "text", _DOCSTRINGS, load_docstrings),
    )
}
