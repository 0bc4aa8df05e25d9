"""What type checkers see of `touchstone`: its public surface, which is imported when it is asked for.

Settings of `check` are the fields of each question's plan, settings of `compare` the options of `compare_sets`.
"""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Literal, overload

from touchstone.core.cluster.sds import SameSizeKMeans, SDSKMeans
from touchstone.core.data import Dataset, Predictions
from touchstone.core.data.frames import Frame
from touchstone.core.integrations import hugging_face_callback, lightning_callback, log_to_mlflow
from touchstone.core.public.comparing import assert_not_worse, plan, slices
from touchstone.core.public.data import card, dataset, predictions, read, record
from touchstone.core.public.labelling import FewLabels, few_labels
from touchstone.core.public.result import RESULT_SCHEMA, Result, collect, load
from touchstone.core.split.folds import (
    GroupFolds,
    KMeansFolds,
    LeaveOneGroupOut,
    MaxShift,
    NearestNeighbourBalls,
    PairedSourceFolds,
    QuantileFolds,
    RandomFolds,
    SameSizeFolds,
    SDSFolds,
    SourceInclusiveFolds,
    StratifiedFolds,
)
from touchstone.core.split.scheme import Random, SourceExclusive, SourceInclusive

__all__ = [
    "RESULT_SCHEMA",
    "FewLabels",
    "GroupFolds",
    "KMeansFolds",
    "LeaveOneGroupOut",
    "MaxShift",
    "NearestNeighbourBalls",
    "PairedSourceFolds",
    "QuantileFolds",
    "Random",
    "RandomFolds",
    "Result",
    "SDSFolds",
    "SDSKMeans",
    "SameSizeFolds",
    "SameSizeKMeans",
    "SourceExclusive",
    "SourceInclusive",
    "SourceInclusiveFolds",
    "StratifiedFolds",
    "assert_not_worse",
    "card",
    "check",
    "collect",
    "compare",
    "dataset",
    "few_labels",
    "hugging_face_callback",
    "lightning_callback",
    "load",
    "log_to_mlflow",
    "plan",
    "predictions",
    "read",
    "record",
    "slices",
]

__version__: str

@overload
def check(
    question: Literal["data_sets"], data: Dataset | str | PathLike[str] | Frame, *, mute: Mapping[str, str] = ...
) -> Result: ...
@overload
def check(
    question: Literal["cluster_folds"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    metric: str | None = ...,
    positive: str | None = ...,
    mute: Mapping[str, str] = ...,
    schemes: tuple[str, ...] = ...,
    models: tuple[str, ...] = ...,
    n_folds: int = ...,
    number: str | None = ...,
    representation: str | None = ...,
    n_components: int | None = ...,
    seeds: tuple[int, ...] = ...,
    labels_by_fold: tuple[tuple[str | int | float, ...], ...] = ...,
    options: tuple[tuple[float | int | str | bool | None, ...], ...] = ...,
) -> Result: ...
@overload
def check(
    question: Literal["source_robustness"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    metric: str | None = ...,
    positive: str | None = ...,
    mute: Mapping[str, str] = ...,
    models: tuple[str, ...] = ...,
    source_finders: tuple[str, ...] = ...,
    representation: str | None = ...,
    n_sources: int = ...,
    schemes: tuple[str, ...] = ...,
    n_repeats: int = ...,
    n_clusterings: int = ...,
    test_share: float = ...,
    across: str | None = ...,
    n_train: int | None = ...,
    n_epochs: int | None = ...,
    seed: int = ...,
    epoch: str = ...,
    left_out: bool = ...,
    tuned: bool = ...,
) -> Result: ...
@overload
def check(
    question: Literal["data_set_adequacy"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    metric: str | None = ...,
    positive: str | None = ...,
    mute: Mapping[str, str] = ...,
    models: tuple[str, ...] = ...,
    source_finders: tuple[str, ...] = ...,
    representation: str | None = ...,
    n_sources: int = ...,
    schemes: tuple[str, ...] = ...,
    n_repeats: int = ...,
    n_clusterings: int = ...,
    test_share: float = ...,
    across: str | None = ...,
    sizes: tuple[int, ...] = ...,
    n_epochs: int | None = ...,
    seed: int = ...,
    tuned: bool = ...,
) -> Result: ...
@overload
def check(
    question: Literal["average_case"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    model: Any,
    class_names: Iterable[object] | None = ...,
    mute: Mapping[str, str] = ...,
    sigmas: tuple[float, ...] = ...,
    estimators: tuple[str, ...] = ...,
    noise: str = ...,
    shape: str = ...,
    cut_off: bool = ...,
    n_copies: int = ...,
    antithetic: bool = ...,
    n_passes: int = ...,
    class_draws: int = ...,
    half_draws: int = ...,
    temperature: float = ...,
    rows: str = ...,
    test_share: float = ...,
    split_seed: int = ...,
    test_set: str = ...,
    n_samples: int | None = ...,
    n_audit: int = ...,
    audit_half_width: float | None = ...,
    audit_draws: int = ...,
    paper_copies: int = ...,
    directions: bool = ...,
    seed: int = ...,
    options: tuple[tuple[float | int | str | bool | None, ...], ...] = ...,
) -> Result: ...
@overload
def check(
    question: Literal["guided_tests"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    model: Any,
    class_names: Iterable[object] | None = ...,
    mute: Mapping[str, str] = ...,
    layer: str | None = ...,
    r: float | None = ...,
    theta1: float | None = ...,
    theta2: float = ...,
    unit: str = ...,
    wcl: float | None = ...,
    noise: float = ...,
    rivals: str = ...,
    centroid_share: float = ...,
    frequency: float = ...,
    table: bool = ...,
    decoder_epochs: int = ...,
    test_share: float = ...,
    split_seed: int = ...,
    test_set: str = ...,
    seed: int = ...,
) -> Result: ...
@overload
def check(
    question: Literal["covariate_shift"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    model: Any,
    class_names: Iterable[object] | None = ...,
    mute: Mapping[str, str] = ...,
    layer: str | None = ...,
    n_resplits: int = ...,
    n_dimensions: int = ...,
    n_components: int = ...,
    n_draws: int = ...,
    test_share: float = ...,
    split_seed: int = ...,
    test_set: str = ...,
    seed: int = ...,
) -> Result: ...
@overload
def check(
    question: Literal["test_quality"],
    data: Dataset | str | PathLike[str] | Frame,
    *,
    model: Any,
    class_names: Iterable[object] | None = ...,
    mute: Mapping[str, str] = ...,
    layer: str | None = ...,
    r: float | None = ...,
    theta1: float | None = ...,
    theta2: float = ...,
    unit: str = ...,
) -> Result: ...
def compare(
    reference: Predictions | str | PathLike[str],
    target: Predictions | str | PathLike[str],
    *further: Predictions | str | PathLike[str],
    model: str | None = None,
    unit: str | None = None,
    seed: int = 0,
    mute: Mapping[str, str] = ...,
    design: Literal["paired", "independent"] | None = None,
    margin: float | None = None,
    epsilon: float = ...,
    by: Literal["label", "probability"] = ...,
    method: Literal["random", "maximum"] = ...,
    order: Literal["shuffled", "given"] = ...,
    scale: Literal["accuracy", "confidence", "margin", "entropy"] = ...,
    n_repeats: int = ...,
    more: bool = ...,
    metric: str = ...,
    positive: str | None = ...,
) -> Result: ...
