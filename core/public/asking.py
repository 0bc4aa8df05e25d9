# pyright: strict, reportMissingTypeStubs=false, reportUnknownMemberType=false
"""What does a question come to, of data or of a model?

Computed in this process, by the pages' code.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from touchstone.core import COMMAND
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import set_aside
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.frames import Frame, is_path
from touchstone.core.installed import remedy
from touchstone.core.models.errors import ModelError
from touchstone.core.models.live import lent
from touchstone.core.models.load import read_stored
from touchstone.core.models.model_file import RECORDED, ModelFile, model_fingerprint
from touchstone.core.models.uploaded_model import ForeignModel
from touchstone.core.parameters import About, usual_plan
from touchstone.core.public.data import read
from touchstone.core.public.result import Basis, Result
from touchstone.core.questions import QUESTIONS as RECORDS
from touchstone.core.questions import plan_class
from touchstone.core.report.run_report import answer_of, takes_metric
from touchstone.core.report.stated import muted_kinds
from touchstone.core.trials import Context, Plan, to_json
from touchstone.core.trials.layer_parts import layer_parts, layers_offered, split_of
from touchstone.core.workspace import StoredModel

# What does a question come to, of a data set, or of one model on it?


RECIPES = tuple(stem for stem, question in RECORDS.items() if question.speaks_of == "recipe")
"""The questions about a recipe, which is trained anew for each split."""
MODELS = {"average_case": "average_case", "guided_tests": "guided_tests", "covariate_shift": "test_quality"}
"""The questions about one model that a plan answers: what `check` calls them, and the stem of the question."""
QUESTIONS = ("data_sets", *RECIPES, *MODELS, "test_quality")
"""What `check` can be asked."""


def check(
    question: str,
    data: Dataset | str | PathLike[str] | Frame,
    *,
    model: Any = None,
    class_names: Iterable[object] | None = None,
    metric: str | None = None,
    positive: str | None = None,
    mute: Mapping[str, str] = MappingProxyType({}),
    **settings: Any,
) -> Result:
    """Ask a question of `QUESTIONS` about data: a data set, a file, or the name of an example.

    Questions about one model (test_quality, covariate_shift, average_case, guided_tests) take it as `model`: a
    classifier with `predict_proba`, a torch module, a function of arrays that gives logits or probabilities, a file of
    a model, or what `touchstone.record` gives. It is judged on the test part of the data where they have one (`part`),
    and must have been trained on the rest. `class_names` say what its outputs stand for, in order, where it does not
    say names itself; a module's are else those of the data. A module comes back as it was.

    `settings` are fields of the question's plan (`python -m core plans KIND` lists them), of test_quality `layer`, `r`,
    `theta1`, `theta2` and `unit`. What is not said is as the page begins with. `metric` is what the verdict of
    cluster_folds, source_robustness or data_set_adequacy is about, of the class `positive` where it is about one.
    Where sources are looked for, a class of one sample is left out, and a finding says so.
    `mute` says why claims are muted, by code (docs/claims.md): `Result.claims` has them, and the verdict does not say
    them. Raises DataError for a question, a setting, a code, a model or data that there are not.

    Examples
    --------
    >>> result = check("source_robustness", "wine", models=("logistic",), n_repeats=3)
    >>> result.verdict.headline.startswith("Logistic regression")
    True
    >>> result.table()["number"].tolist()[0]
    'source_robustness.rho[logistic, kmeans]'
    """
    if question not in QUESTIONS:
        raise DataError(f"check() asks no question {question!r}. Choose from {', '.join(QUESTIONS)}.")
    if positive is not None and metric is None:
        raise DataError("positive= names the class that metric= is about: give both.")
    kinds = muted_kinds(mute)
    if metric is not None and (question not in RECIPES or not takes_metric(RECORDS[question])):
        raise DataError(
            f"The verdict of {question} is about no other metric: see Result.table() for what it says of them."
        )
    if class_names is not None:
        if model is None or isinstance(model, bytes | str | PathLike):
            raise DataError("class_names= says what the outputs of a model in memory stand for: give it with model=.")
        model = _Named(model, tuple(class_names))
    try:
        result = _asked(question, data, model, settings, None if metric is None else (metric, positive))
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        raise DataError(f"{question}: {missing}") from error
    return replace(result, answer=result.answer.muting(kinds))


class _Named(NamedTuple):
    """A model, and what its outputs stand for."""

    model: Any
    class_names: tuple[object, ...] | None = None


def _asked(
    question: str,
    data: Dataset | str | PathLike[str] | Frame,
    model: Any,
    settings: dict[str, Any],
    metric: tuple[str, str | None] | None,
) -> Result:
    of = data if isinstance(data, Dataset) else read(data)
    if question == "data_sets":
        return _data_sets(of, **settings)
    if question in RECIPES:
        if model is not None:
            raise DataError(f"{question} trains models anew: name them with models=, and leave model out.")
        try:
            return _of_recipes(question, of, settings, metric)
        except SmallClasses as problem:
            left = set_aside(of, problem)
            result = _of_recipes(question, left, settings, metric)
            return replace(result, answer=result.answer.beginning(left.notes[-1]))
    if model is None:
        raise DataError(f"{question} is about one model: give it with model=.")
    ask: Callable[[bytes], Result] = partial(_of_model, question, of, settings)
    if isinstance(model, bytes):
        return ask(model)
    if is_path(model):
        return ask(_file(Path(model), of))
    named = model if isinstance(model, _Named) else _Named(model)
    with lent(named.model, of, named.class_names) as stored:
        return ask(stored)


def _of_recipes(
    question: str, data: Dataset, settings: dict[str, Any], metric: tuple[str, str | None] | None
) -> Result:
    return _result(question, _plan(question, About(data), settings), data, Context(), metric)


def _file(file: Path, data: Dataset) -> bytes:
    try:
        return ModelFile(file.read_bytes(), file.name, data.fingerprint).to_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error}). Name a model's file.") from None


def _of_model(question: str, data: Dataset, settings: dict[str, Any], stored: bytes) -> Result:
    if question == "test_quality":
        return _test_quality(data, stored, **settings)
    file, fingerprint = ModelFile.from_bytes(stored), model_fingerprint(stored)
    asked = None if file.architecture == RECORDED else read_stored(stored, data)
    if question == "average_case" and isinstance(asked, ForeignModel) and asked.takes_texts:
        raise ModelError("Noise is added to numbers, and the model takes texts. Ask about a model of vectors of these.")
    has_gradients = asked is not None and asked.has_gradients
    about = StoredModel(
        fingerprint, data.fingerprint, file.file_name, None, file.file_name, None, None, None, 0.0, has_gradients
    )
    settled = {"model": fingerprint}
    if question != "average_case":
        settled["layer"] = layers_offered(stored, data)[0]
    plan = _plan(MODELS[question], About(data, model=about), settings, **settled)
    return _result(question, plan, data, Context(model={fingerprint: stored}.__getitem__))


def _plan(stem: str, about: About, settings: dict[str, Any], **settled: str) -> Plan:
    record = RECORDS[stem]
    try:
        return replace(cast(Any, usual_plan(plan_class(record), about, **settled)), **settings)
    except TypeError as error:
        raise DataError(f"{stem}: {error}. {COMMAND} plans {record.kind} lists the settings.") from None


def _result(
    question: str, plan: Plan, data: Dataset, context: Context, metric: tuple[str, str | None] | None = None
) -> Result:
    """Work a plan off, here and now."""
    trials = [plan.run_trial(data, trial, context=context) for trial in range(plan.n_trials(data))]
    rows = pd.concat(trials, ignore_index=True)
    answer = answer_of(rows, data, plan, metric=metric)
    if answer.verdict is None:
        raise DataError(f"{question}: no trial came to a result, so there is nothing to say.")
    settings = json.loads(to_json(plan))
    if metric is not None:
        settings["metric"], settings["positive"] = metric
    return Result(answer, rows, _basis(question, data, settings, next(iter(plan.stored_models()), None)))


def _test_quality(data: Dataset, stored: bytes, *, layer: str | None = None, **thresholds: Any) -> Result:
    """The four dimensions of a test set in a layer of a model."""
    from touchstone.core.evaluate.test_quality.quality import measure_quality
    from touchstone.core.report import test_quality

    parts = layer_parts(stored, data, layer=layer, **split_of(None, data))
    try:
        quality = measure_quality(parts.train, parts.test, rng=np.random.default_rng(0), **thresholds)
    except TypeError as error:
        raise DataError(f"test_quality: {error}. Its settings are layer, r, theta1, theta2 and unit.") from None
    basis = _basis("test_quality", data, {"layer": parts.layer, **thresholds, "seed": 0}, model_fingerprint(stored))
    return Result(test_quality.answer(quality, is_drawn=parts.is_drawn), basis=basis)


def _data_sets(data: Dataset) -> Result:
    """What is to be known of a data set before anything is trained on it, with the number that its page begins with."""
    from touchstone.core.evaluate.data_sets import look, number
    from touchstone.core.report import data_sets
    from touchstone.core.represent import numbers_of

    first = number(data, numbers_of(data)[0])
    return Result(data_sets.answer(data, look(data), first), basis=_basis("data_sets", data, {}))


def _basis(question: str, data: Dataset, settings: Mapping[str, Any], model: str | None = None) -> Basis:
    """What an answer about data rests on, and about a model where there is one (by its fingerprint)."""
    fingerprints = {"data": data.fingerprint} | ({} if model is None else {"model": model})
    return Basis(question, data.name, fingerprints=fingerprints, settings=settings)
