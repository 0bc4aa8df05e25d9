"""Does accuracy really drop from one test set to another? Of predictions in arrays, or in files."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from touchstone.core.data import DataError, Predictions, PredictionTable, guess_roles, read_predictions
from touchstone.core.data.predictions.pairs import pair_predictions
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.public.result import Result
from touchstone.core.report.parts import Answer, Figure, Section
from touchstone.core.report.quantities import muted_kinds, of_comparisons

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
    """Does accuracy really drop from one test set to another? Of one model's predictions on both.

    Both are `touchstone.predictions`, or both files as the app reads them (docs/file-formats.md); where files hold
    several models, `model` names one, and `unit` the column of what was sampled independently (an author of many texts)
    where no name says it; `touchstone.predictions` takes units themselves. `mute` as in `check`. `options` are those of
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
    from touchstone.core.evaluate.matched_subsets import compare_pairs, matched_verdict
    from touchstone.core.figures.matched_subsets import gap_chart

    references, targets = {"model": reference}, {"model": target}
    if not isinstance(reference, Predictions) and not isinstance(target, Predictions):
        pairs = pair_predictions(*(_read(Path(file), unit) for file in (reference, target)))
        name = _one_of(pairs.models, model)
        references, targets = {name: pairs.references[name]}, {name: pairs.targets[name]}
    elif not (isinstance(reference, Predictions) and isinstance(target, Predictions)):
        raise DataError("Give two files of predictions, or both as touchstone.predictions.")
    compared = compare_pairs(references, targets, rng=np.random.default_rng(seed), **options)
    row = compared.rows[0]
    caption = "Right of zero, accuracy falls; the parts add up to the gap. Bars are 95 % CIs."
    figures = (Figure("gap", partial(gap_chart, row), caption),) if row.can_match else ()
    answer = Answer(matched_verdict(row), sections=(Section("", figures),), numbers=of_comparisons(compared))
    return Result(answer.muting(muted_kinds(mute)))


def _read(file: Path, unit: str | None) -> PredictionTable:
    """A file, with the column of its units where one is named. Raises DataError where there is no such column."""
    if unit is None:
        return read_predictions(file)
    table = read_prediction_table(file)
    return prediction_table(table, roles=replace(guess_roles(table), unit=unit))


def _one_of(models: tuple[str, ...], name: str | None) -> str:
    """The model that was named, or the only one. Raises DataError where one has to be named."""
    if name is None and len(models) == 1:
        return models[0]
    if name not in models:
        raise DataError(f"The files have predictions of {', '.join(models)}. Name one of them with model=.")
    return name
