"""Does accuracy really drop from one test set to another? Of predictions in arrays, or in files."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from touchstone.core.data import DataError, Predictions, PredictionTable, guess_roles, read_predictions
from touchstone.core.data.predictions.pairs import PredictionPairs, pair_predictions
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.public.result import Result
from touchstone.core.report.quantities import muted_kinds

File = str | PathLike[str]


def compare(
    reference: Predictions | File,
    target: Predictions | File,
    *,
    model: str | None = None,
    unit: str | None = None,
    seed: int = 0,
    mute: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Result:
    """Does accuracy really drop from one test set to another? Of the predictions of a model, or of many, on both.

    Both are `touchstone.predictions`, or both files as the app reads them (docs/file-formats.md). Files of several
    models give the answer about all of them, and `model` names the one that it is about; either way claims are
    corrected for all. `unit` names the column of what was sampled independently (an author of many texts) where no name
    says it; `touchstone.predictions` takes units themselves. `mute` as in `check`. `options` are those of
    `touchstone.core.evaluate.matched_subsets.compare_sets`, such as `epsilon`.

    Examples
    --------
    >>> from touchstone.core.public import predictions
    >>> truth, confidence = np.tile(["cat", "dog"], 30), np.linspace(0.6, 0.9, 60)
    >>> old = predictions(truth, truth, confidence=confidence)
    >>> new = predictions(truth, np.where(np.arange(60) < 30, "cat", truth), confidence=confidence)
    >>> result = compare(old, new)
    >>> result.table()["number"].tolist()[0]
    'matched_subsets.gap[model]'
    >>> print(result.verdict.headline.split("[")[0])
    Accuracy falls by 25.0 points
    """
    from touchstone.core.evaluate.matched_subsets import compare_pairs
    from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
    from touchstone.core.report.matched_subsets import answer

    if isinstance(reference, Predictions) and isinstance(target, Predictions):
        pairs = PredictionPairs({model or "model": reference}, {model or "model": target})
    elif isinstance(reference, Predictions) or isinstance(target, Predictions):
        raise DataError("Give two files of predictions, or both as touchstone.predictions.")
    else:
        pairs = pair_predictions(_read(Path(reference), unit), _read(Path(target), unit))
    if model is not None and model not in pairs.models:
        raise DataError(f"The files have predictions of {', '.join(pairs.models)}. Name one of them with model=.")
    compared = compare_pairs(pairs.references, pairs.targets, rng=np.random.default_rng(seed), **options)
    plan = MatchingPlan(seed=seed)
    plan = replace(plan, **{name: value for name, value in options.items() if name in plan.matching})
    curve, classes = cache(partial(plan.curve, pairs)), cache(partial(plan.by_class, pairs))
    known = answer(compared, model=model, curve=curve, reliability=cache(plan.reliability), classes=classes)
    return Result(known.muting(muted_kinds(mute)))


def _read(file: Path, unit: str | None) -> PredictionTable:
    """A file, with the column of its units where one is named. Raises DataError where there is no such column."""
    if unit is None:
        return read_predictions(file)
    table = read_prediction_table(file)
    return prediction_table(table, roles=replace(guess_roles(table), unit=unit))
