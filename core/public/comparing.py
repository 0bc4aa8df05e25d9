# pyright: strict, reportMissingTypeStubs=false, reportUnknownMemberType=false
"""Is the new model better? Does accuracy drop on the new test set? Where is a model weak? How many samples would tell?

Of predictions in arrays, or in files; computed in this process, by the pages' code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np

from touchstone.core.data import DataError, Dataset, Predictions, PredictionTable, guess_roles, read_predictions
from touchstone.core.data.dataset import key
from touchstone.core.data.frames import Frame, file_of, frame_of, is_path
from touchstone.core.data.predictions.record import PredictionPairs, models_in, pair_predictions
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.model_comparison import INDEPENDENT, PAIRED
from touchstone.core.public.result import Basis, Result
from touchstone.core.report.stated import muted_kinds

File = str | PathLike[str] | Frame
"""A file, or a frame of any library, which is read as its Parquet file would be."""


def compare(
    reference: Predictions | File,
    target: Predictions | File,
    *further: Predictions | File,
    model: str | None = None,
    unit: str | None = None,
    seed: int = 0,
    mute: Mapping[str, str] = MappingProxyType({}),
    design: Literal["paired", "independent"] | None = None,
    margin: float | None = None,
    **options: Any,
) -> Result:
    """Is the new model better, on the same samples? Of different samples: does accuracy really drop on the new set?

    Which of both is asked follows from the samples: by ids, inputs, or true classes in the same order, files are of the
    same ones. `design` says it where somebody knows better. Of the same samples models are compared in pairs: `metric`
    and `positive` are among the `options`, and `margin` is the loss that would be put up with. Of these there may be
    `further` ones; all pairs are corrected together.

    All are `touchstone.predictions`, or all files as the app reads them (docs/file-formats.md), or frames (pandas,
    Polars, PyArrow, ...), which are read as their Parquet files would be. Files of several
    models give the answer about all of them, and `model` names the one that it is about; either way claims are
    corrected for all. `unit` names the column of what was sampled independently (an author of many texts) where no name
    says it; `touchstone.predictions` takes units themselves. `mute` as in `check`. `options` are those of
    `touchstone.core.evaluate.matched_subsets.compare_sets`, such as `epsilon`.

    Examples
    --------
    >>> from touchstone import predictions
    >>> truth, confidence = np.tile(["cat", "dog"], 30), np.linspace(0.6, 0.9, 60)
    >>> old = predictions(truth, truth, confidence=confidence)
    >>> new = predictions(truth, np.where(np.arange(60) < 30, "cat", truth), confidence=confidence)
    >>> print(compare(old, new).verdict.headline.split(":")[0])
    the new model is worse than the reference
    >>> result = compare(old, new, design="independent")
    >>> result.table()["number"].tolist()[0]
    'matched_subsets.gap[model]'
    >>> print(result.verdict.headline.split("[")[0])
    Accuracy falls by 25.0 points
    """
    from touchstone.core.evaluate.matched_subsets import compare_pairs
    from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
    from touchstone.core.report import model_comparison
    from touchstone.core.report.matched_subsets import answer

    given = (reference, target, *further)
    arrays = [each for each in given if isinstance(each, Predictions)]
    titles = ["the reference", "the new model", *(f"model {3 + place}" for place in range(len(further)))]
    if all(map(is_path, given)):
        titles = [Path(str(each)).name for each in given]
    files = [
        _read(Path(each) if is_path(each) else file_of(each, title), unit)
        for each, title in zip(given, titles, strict=True)
        if not isinstance(each, Predictions)
    ]
    if arrays and files:
        raise DataError("Give files or frames of predictions, or all as touchstone.predictions.")
    sides: list[dict[str, Predictions]] = [{model or "model": each} for each in arrays]
    if files:
        sides = [models_in(file) for file in files]
        if model is not None and all(model in side for side in sides):
            sides = [{model: side[model]} for side in sides]
        elif model is not None:
            raise DataError(f"The files have predictions of {', '.join(sides[0])}. Name one of them with model=.")
    if (paired := model_comparison.compared_models(sides, titles, design, margin, **options)) is not None:
        of_models = model_comparison.answer(paired).muting(muted_kinds(mute))
        chosen = {"model": model, "unit": unit, "margin": margin, **options}
        return Result(of_models, basis=_basis("model_comparison", PAIRED, sides, titles, chosen))
    pairs = pair_predictions(*files) if files else PredictionPairs(*sides)
    if model is not None and model not in pairs.models:
        raise DataError(f"The files have predictions of {', '.join(pairs.models)}. Name one of them with model=.")
    compared = compare_pairs(pairs.references, pairs.targets, rng=np.random.default_rng(seed), **options)
    plan = MatchingPlan(seed=seed)
    plan = replace(plan, **{name: value for name, value in options.items() if name in plan.matching})
    curve, classes = partial(plan.curve, pairs), partial(plan.by_class, pairs)
    known = answer(compared, model=model, curve=curve, reliability=plan.reliability, classes=classes)
    chosen = {"model": model, "unit": unit, "seed": seed, **options}
    return Result(known.muting(muted_kinds(mute)), basis=_basis("matched_subsets", INDEPENDENT, sides, titles, chosen))


def assert_not_worse(
    new: Predictions | File, old: Predictions | File, *, margin: float = 0.01, **options: Any
) -> Result:
    """Raise AssertionError unless the new model is surely no worse than the old one on the same samples, by `margin`.

    The whole interval of the difference has to lie above minus the margin: what is undecided is not shown. Files and
    `options` are those of `compare`, such as `metric` and `unit`; so are its errors. In pytest it is a fixture, too.

    Examples
    --------
    >>> from touchstone import predictions
    >>> truth = np.tile(["cat", "dog"], 300)
    >>> old, new = (predictions(truth, np.where(np.arange(600) < n, "cat", truth)) for n in (60, 20))
    >>> assert_not_worse(new, old).quantities[0].value > 0
    True
    >>> assert_not_worse(old, new)
    Traceback (most recent call last):
    AssertionError: the new model is not shown to be no worse than the reference by a margin of 1.0 points.
    ...
    """
    result = compare(old, new, design="paired", margin=margin, **options)
    differences = [each for each in result.quantities if each.name == "model_comparison.difference"]
    for each in differences:
        if not each.interval.lower > -margin:
            within = InWords(METRICS[each.of[1]]).difference(margin)
            raise AssertionError(
                f"{each.of[0]} is not shown to be no worse than the reference by a margin of {within}.\n"
                f"{result.verdict.text}"
            )
    return result


def slices(
    predictions: Predictions | File,
    columns: Frame | Mapping[str, Any] | Dataset | None = None,
    *,
    model: str | None = None,
    unit: str | None = None,
    metric: str = "accuracy",
    positive: str | None = None,
    seed: int = 0,
    mute: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Where is the model weak? Rules of one or two conditions, found on one half of the samples, judged on the other.

    `predictions` are `touchstone.predictions`, a file or a frame. What rules are made of are the columns of that file,
    and further `columns`: a frame, or arrays by name, with a row for each prediction, or a `touchstone.dataset` that
    holds the same samples. Numbers, kinds and texts are taken, and values may be missing. All else is as in `compare`.

    Raises DataError for columns of another length, and for a metric that these predictions do not give.

    Examples
    --------
    >>> from touchstone import predictions
    >>> rng, truth = np.random.default_rng(0), np.tile(["cat", "dog"], 500)
    >>> age = rng.uniform(20, 80, 1000)
    >>> wrong = rng.random(1000) < np.where(age >= 65, 0.5, 0.1)
    >>> answers = predictions(truth, np.where(wrong, "cat", truth))
    >>> print(slices(answers, {"age": age}).verdict.headline.split(":")[0])
    age >= 63.29
    """
    from touchstone.core.report.weak_slices import answer, found_in

    title = Path(str(predictions)).name if is_path(predictions) else "the predictions"
    if isinstance(predictions, Predictions):
        models: Mapping[str, Predictions] = {model or "model": predictions}
    else:
        models = models_in(_read(Path(predictions) if is_path(predictions) else file_of(predictions, title), unit))
    found = found_in(models, _columns(columns), model=model, metric=metric, positive=positive, seed=seed)
    chosen = {"model": model, "unit": unit, "metric": metric, "positive": positive, "seed": seed}
    fingerprints = {name: each.fingerprint for name, each in models.items() if model in (None, name)}
    fingerprints |= {"data": columns.fingerprint} if isinstance(columns, Dataset) else {}
    settings = {name: value for name, value in chosen.items() if value is not None}
    basis = Basis("weak_slices", title, INDEPENDENT, fingerprints, settings)
    return Result(answer(found).muting(muted_kinds(mute)), basis=basis)


def _columns(given: Frame | Mapping[str, Any] | Dataset | None) -> Mapping[str, Any] | Dataset:
    if given is None or isinstance(given, Mapping | Dataset):
        return cast("Mapping[str, Any] | Dataset", {} if given is None else given)
    if (frame := frame_of(given)) is None:
        raise DataError("`columns` are a frame, or arrays by name, with a row for each prediction.")
    return {str(name): values for name, values in frame.items()}


def plan(*pilot: str | PathLike[str], **settings: float) -> Result:
    """How many samples, predicted by two models, show a difference, or tell it so precisely? Before they are labelled.

    `settings` are `difference`, `margin` and `half_width` of intervals, and guesses: the share of
    `discordant` samples, on which exactly one of both models is right, an `accuracy`, how many samples come `per_unit`
    (an author, a patient) and their `intraclass_correlation`. All are fractions but `per_unit`. With a `class_share`
    all is about the recall of a class that so many samples are of. A `pilot`, two files of predictions on the same
    samples, answers the guesses that are not given.

    Raises DataError for settings that there are not, or that cannot be true together.

    Examples
    --------
    >>> result = plan(difference=0.02, discordant=0.05)
    >>> print(result.verdict.headline)
    About 979 samples show a difference of 2.0 points in 4 of 5 test sets.
    >>> result.answer.files["Sample sizes"]()["n_samples"].tolist()
    [979, 4020, 481, 865]
    """
    from touchstone.core.report.sample_sizes import answer, planned

    sizes, found = planned(pilot, settings)
    subject = " and ".join(Path(file).name for file in pilot)
    return Result(answer(sizes, found), basis=Basis("sample_sizes", subject, settings=asdict(sizes)))


def _basis(
    question: str,
    design: str,
    sides: Sequence[Mapping[str, Predictions]],
    titles: Sequence[str],
    chosen: Mapping[str, Any],
) -> Basis:
    """What a comparison rests on: what each side predicted, and what was chosen."""
    names = ("reference", "target", *(f"target {2 + place}" for place in range(len(sides) - 2)))
    hashes = [[each.fingerprint for each in side.values()] for side in sides]
    fingerprints = {name: each[0] if len(each) == 1 else key(*each) for name, each in zip(names, hashes, strict=True)}
    settings = {name: value for name, value in chosen.items() if value is not None}
    return Basis(question, " and ".join(titles), design, fingerprints, settings)


def _read(file: Path | BytesIO, unit: str | None) -> PredictionTable:
    """A file, with the column of its units where one is named. Raises DataError where there is no such column."""
    if unit is None:
        return read_predictions(file)
    table = read_prediction_table(file)
    return prediction_table(table, roles=replace(guess_roles(table), unit=unit))
