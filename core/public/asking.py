"""What does a question come to: of data or a model, of two test sets, of samples without labels?

Computed in this process, by the pages' code.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from os import PathLike
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from numpy.typing import ArrayLike

from touchstone.core import COMMAND, version
from touchstone.core.data import DataError, Dataset, Predictions, PredictionTable, guess_roles, read_predictions
from touchstone.core.data.dataset import set_aside
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.predictions.record import PredictionPairs, models_in, pair_predictions
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.guided_tests import few_labels as labelling
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.models.errors import ModelError
from touchstone.core.models.live import lent
from touchstone.core.models.load import read_stored
from touchstone.core.models.model_file import RECORDED, ModelFile, model_fingerprint
from touchstone.core.models.uploaded_model import ForeignModel
from touchstone.core.parameters import About, usual_plan
from touchstone.core.public.data import read
from touchstone.core.questions import QUESTIONS as RECORDS
from touchstone.core.questions import plan_class
from touchstone.core.report.parts import Answer, Figure, Quantity
from touchstone.core.report.run_report import answer_of, muted_kinds, takes_metric
from touchstone.core.trials import Context, Plan
from touchstone.core.trials.layer_parts import layer_parts, layers_offered, split_of
from touchstone.core.workspace import StoredModel

# What does a question come to? The verdict in sentences, its numbers with their intervals, figures and tables.


@dataclass(frozen=True, eq=False)
class Result:
    """What a question came to: the `answer` that the app's page shows, and the `rows` of all trials beneath it."""

    answer: Answer
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def verdict(self) -> Verdict:
        """`headline`, `advice` and further sentences; `text` is all of them."""
        assert self.answer.verdict is not None
        return self.answer.verdict

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the sentences rest on, that of the headline first; each has a `code` (docs/claims.md), a `decision`."""
        return self.answer.claims

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers that can be held against a bound, each with its 95 % interval."""
        return self.answer.numbers

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Each has a `key`, a `caption` that says how to read it, and `draw()`, which gives a plotly figure."""
        return self.answer.figures

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Aggregates as the page shows them, a frame for each title; `answer.files` makes the exact ones."""
        return self.answer.tables

    def table(self) -> pd.DataFrame:
        """Tidy rows of `quantities`: number, value, lower, upper, n; ends are of 95 % intervals."""
        return pd.DataFrame(
            [(each.title, each.value, each.interval.lower, each.interval.upper, each.n) for each in self.quantities],
            columns=["number", "value", "lower", "upper", "n"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Verdict, numbers and claims as plain dicts, lists and numbers; None where a number is unknown.

        `version` is Touchstone's. Numbers have a name, a value, the ends of a 95 % interval, n, what it is over, and a
        baseline where one is known; claims their code (docs/claims.md), decision, estimate, interval and p-value.
        """
        verdict = self.verdict
        numbers = [
            {
                "number": each.title,
                "value": each.value,
                "lower": each.interval.lower,
                "upper": each.interval.upper,
                "n": each.n,
                "over": each.over,
                "baseline": each.baseline,
            }
            for each in self.quantities
        ]
        claims = [
            {
                "code": each.code,
                "decision": each.decision,
                "estimate": each.estimate,
                "lower": each.interval.lower,
                "upper": each.interval.upper,
                "p_value": each.p_value,
            }
            for each in self.claims
        ]
        said = {"headline": verdict.headline, "used": verdict.used, "advice": verdict.advice}
        sentences = {**said, "findings": list(map(str, verdict.findings))}
        return _plain({"version": version(), "verdict": sentences, "numbers": numbers, "claims": claims})

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def __repr__(self) -> str:
        """The verdict and the first numbers, in at most twelve lines."""
        cut = partial(shorten, width=_WIDTH, placeholder=" …")
        lines = [cut(f"<Result: {self.verdict.headline}>"), *filter(None, [cut(self.verdict.used)])]
        lines += [
            f"  {each.title} = {each.value:.4g} [{each.interval.lower:.4g}, {each.interval.upper:.4g}], n = {each.n}"
            for each in self.quantities[:_MOST_SHOWN]
        ]
        if (more := len(self.quantities) - _MOST_SHOWN) > 0:
            lines.append(f"  … and {more} more: table()")
        keys = ", ".join(figure.key for figure in self.figures)
        return "\n".join([*lines, *(["  " + cut(f"figures: {keys}")] if keys else [])])

    def __reduce__(self) -> tuple[Any, ...]:
        """It pickles with its figures drawn and its tables made: what makes them stays behind."""
        return Result, (self.answer.made(), self.rows)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: None for a number that is none, or has no end."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_plain, value))
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not isfinite(value) else value


_WIDTH, _MOST_SHOWN = 110, 4  # letters of a line, and numbers, that a repr shows


# What does a question come to, of a data set, or of one model on it?


RECIPES = tuple(stem for stem, question in RECORDS.items() if question.speaks_of == "recipe")
"""The questions about a recipe, which is trained anew for each split."""
MODELS = {"average_case": "average_case", "guided_tests": "guided_tests", "covariate_shift": "test_quality"}
"""The questions about one model that a plan answers: what `check` calls them, and the stem of the question."""
QUESTIONS = ("data_sets", *RECIPES, *MODELS, "test_quality")
"""What `check` can be asked."""


def check(
    question: str,
    data: Dataset | str | PathLike[str],
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
    result = _asked(question, data, model, settings, None if metric is None else (metric, positive))
    return replace(result, answer=result.answer.muting(kinds))


class _Named(NamedTuple):
    """A model, and what its outputs stand for."""

    model: Any
    class_names: tuple[object, ...] | None = None


def _asked(
    question: str,
    data: Dataset | str | PathLike[str],
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
    if isinstance(model, str | PathLike):
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
    return _result(MODELS[question], plan, data, Context(model={fingerprint: stored}.__getitem__))


def _plan(stem: str, about: About, settings: dict[str, Any], **settled: str) -> Plan:
    record = RECORDS[stem]
    try:
        return replace(usual_plan(plan_class(record), about, **settled), **settings)
    except TypeError as error:
        raise DataError(f"{stem}: {error}. {COMMAND} plans {record.kind} lists the settings.") from None


def _result(
    stem: str, plan: Plan, data: Dataset, context: Context, metric: tuple[str, str | None] | None = None
) -> Result:
    """Work a plan off, here and now."""
    trials = [plan.run_trial(data, trial, context=context) for trial in range(plan.n_trials(data))]
    rows = pd.concat(trials, ignore_index=True)
    answer = answer_of(rows, data, plan, metric=metric)
    if answer.verdict is None:
        raise DataError(f"{stem}: no trial came to a result, so there is nothing to say.")
    return Result(answer, rows)


def _test_quality(data: Dataset, stored: bytes, *, layer: str | None = None, **thresholds: Any) -> Result:
    """The four dimensions of a test set in a layer of a model."""
    from touchstone.core.evaluate.test_quality.quality import measure_quality
    from touchstone.core.report import test_quality

    parts = layer_parts(stored, data, layer=layer, **split_of(None, data))
    try:
        quality = measure_quality(parts.train, parts.test, rng=np.random.default_rng(0), **thresholds)
    except TypeError as error:
        raise DataError(f"test_quality: {error}. Its settings are layer, r, theta1, theta2 and unit.") from None
    return Result(test_quality.answer(quality, is_drawn=parts.is_drawn))


def _data_sets(data: Dataset) -> Result:
    """What is to be known of a data set before anything is trained on it, with the number that its page begins with."""
    from touchstone.core.evaluate.data_sets import look, number
    from touchstone.core.report import data_sets
    from touchstone.core.represent import numbers_of

    first = number(data, numbers_of(data)[0])
    return Result(data_sets.answer(data, look(data), first))


# Does accuracy really drop from one test set to another? Of predictions in arrays, or in files.


File = str | PathLike[str]


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

    All are `touchstone.predictions`, or all files as the app reads them (docs/file-formats.md). Files of several
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
    files = [_read(Path(each), unit) for each in given if not isinstance(each, Predictions)]
    if arrays and files:
        raise DataError("Give files of predictions, or all as touchstone.predictions.")
    titles = ["the reference", "the new model", *(f"model {3 + place}" for place in range(len(further)))]
    sides: list[dict[str, Predictions]] = [{model or "model": each} for each in arrays]
    if files:
        titles = [Path(str(each)).name for each in given]
        sides = [models_in(file) for file in files]
        if model is not None and all(model in side for side in sides):
            sides = [{model: side[model]} for side in sides]
        elif model is not None:
            raise DataError(f"The files have predictions of {', '.join(sides[0])}. Name one of them with model=.")
    if (paired := model_comparison.compared_models(sides, titles, design, margin, **options)) is not None:
        return Result(model_comparison.answer(paired).muting(muted_kinds(mute)))
    pairs = pair_predictions(*files) if files else PredictionPairs(*sides)
    if model is not None and model not in pairs.models:
        raise DataError(f"The files have predictions of {', '.join(pairs.models)}. Name one of them with model=.")
    compared = compare_pairs(pairs.references, pairs.targets, rng=np.random.default_rng(seed), **options)
    plan = MatchingPlan(seed=seed)
    plan = replace(plan, **{name: value for name, value in options.items() if name in plan.matching})
    curve, classes = partial(plan.curve, pairs), partial(plan.by_class, pairs)
    known = answer(compared, model=model, curve=curve, reliability=plan.reliability, classes=classes)
    return Result(known.muting(muted_kinds(mute)))


def assert_not_worse(
    new: Predictions | File, old: Predictions | File, *, margin: float = 0.01, **options: Any
) -> Result:
    """Raise AssertionError unless the new model is surely no worse than the old one on the same samples, by `margin`.

    The whole interval of the difference has to lie above minus the margin: what is undecided is not shown. Files and
    `options` are those of `compare`, such as `metric` and `unit`; so are its errors. In pytest it is a fixture, too.

    Examples
    --------
    >>> from touchstone.core.public import predictions
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

    return Result(answer(*planned(pilot, settings)))


def _read(file: Path, unit: str | None) -> PredictionTable:
    """A file, with the column of its units where one is named. Raises DataError where there is no such column."""
    if unit is None:
        return read_predictions(file)
    table = read_prediction_table(file)
    return prediction_table(table, roles=replace(guess_roles(table), unit=unit))


# How accurate is a model on samples without labels? Which of them to label, and what these labels tell of all.


@dataclass(frozen=True, eq=False)
class FewLabels:
    """Which samples of a pool to label: their positions in `rows`, in the order in which to label them.

    Labels can be left out at the end, not in between: `design` draws them so that any beginning is a fair sample.
    """

    design: labelling.LabelDesign
    rows: Integer[np.ndarray, " n_labels"]

    @property
    def promise(self) -> str:
        """What the labels are expected to bring, in a sentence."""
        return labelling.promise(self.design)

    def accuracy(self, correct: ArrayLike) -> labelling.LabelledAccuracy:
        """The accuracy of the whole pool with its 95 % interval; `correct` says of the first of `rows` who is right.

        Raises DataError for more answers than rows, for others than True and False (1 and 0), or where a stratum has
        no label yet.
        """
        right = _right_or_wrong(correct, "correct")
        if right.ndim != 1 or len(right) > len(self.rows):
            raise DataError(
                f"{right.size} answers were given for {len(self.rows)} samples to label. Give one for each."
            )
        stratum, n = self.design.stratum[self.rows[: len(right)]], len(self.design.n_in)
        n_wrong, n_labelled = (np.bincount(each, minlength=n) for each in (stratum[~right], stratum))
        return labelling.labelled_accuracy(n_wrong, n_labelled, self.design.n_in)


def few_labels(
    confidence: ArrayLike,
    *,
    n_labels: int,
    known_confidence: ArrayLike | None = None,
    known_correct: ArrayLike | None = None,
    seed: int = 0,
) -> FewLabels:
    """Which `n_labels` samples of a pool to label, so that few labels tell the accuracy of all.

    `confidence` is the model's on each sample of the pool. Where it is known how confidence and errors go together, on
    a test set with labels, `known_confidence` and `known_correct` say so; else confidence is taken at its word, which
    can make the interval longer and never wrong. Raises DataError for too few labels, or more than samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> confidence = 1 - 0.5 * rng.random(5000) ** 4
    >>> labels = few_labels(confidence, n_labels=300)
    >>> print(labels.promise)
    300 labels bring the accuracy of all 5 000 samples to about ±2.7 points; drawn at random it would take 453.
    >>> correct = rng.random(300) < confidence[labels.rows]  # what the annotators found
    >>> told = labels.accuracy(correct)
    >>> bool(told.interval.lower < confidence.mean() < told.interval.upper), told.n_labels
    (True, 300)
    """
    pool = np.asarray(confidence, dtype=np.float64)
    if pool.ndim != 1 or not ((pool >= 0) & (pool <= 1)).all():
        raise DataError("confidence holds a number from 0 to 1 for each sample of the pool.")
    if (known_confidence is None) != (known_correct is None):
        raise DataError("known_confidence and known_correct belong together: give both, or neither.")
    expected: Float[np.ndarray, " n_pool"] = 1 - pool
    doubt = 0.0
    if known_confidence is not None:
        wrong, known = ~_right_or_wrong(known_correct, "known_correct"), np.asarray(known_confidence, dtype=np.float64)
        expected, doubt = labelling.expected_errors(pool, known, wrong), labelling.unlike(pool, known)
    design = labelling.design_labels(pool, expected, n_labels=n_labels, doubt=doubt)
    return FewLabels(design, design.draw(np.random.default_rng(seed)))


def _right_or_wrong(values: ArrayLike, what: str) -> Bool[np.ndarray, " n"]:
    """True and False, or 1 and 0. Raises DataError, naming the first, for anything else: NaN is neither."""
    array = np.asarray(values)
    other = [row for row, each in enumerate(array.ravel().tolist()) if each is None or each not in (0, 1)]
    if other:
        raise DataError(
            f"{what} holds {array.ravel().tolist()[other[0]]!r} at position {other[0]} (counted from 0). Say True or "
            "False of each sample, and leave those without an answer out, at the end."
        )
    return array.astype(bool)
