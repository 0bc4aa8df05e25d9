"""Touchstone from Python: from arrays to a verdict with its numbers and figures, by the code that the pages run.

`check` asks a question about a recipe, which is trained anew for each split; `compare` holds two sets of predictions
against each other. These, `dataset` and `Result` are the public surface; everything else may change. Questions about
one trained model need it stored, in the app or by the command line.

Splitters and clusterers are scikit-learn's kind of objects, for your own `cross_val_score`: see `core.split` and
`core.cluster`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core import COMMAND
from core.asked import About, usual_plan
from core.data import DataError, Dataset, Predictions
from core.evaluate.wording import Verdict
from core.questions import QUESTIONS, module_of, plan_class
from core.report.parts import Body, Figure
from core.report.quantities import Quantity, of_comparisons, of_run
from core.trials import Context

RECIPES = tuple(stem for stem, question in QUESTIONS.items() if question.speaks_of == "recipe")
"""The questions that `check` can ask."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a question came to: the verdict in sentences, numbers with their intervals, figures, and the rows beneath.

    `rows` are the trials as they are stored by the app; there are none of a comparison of predictions.
    """

    verdict: Verdict
    quantities: tuple[Quantity, ...]
    figures: tuple[Figure, ...]
    rows: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """Tidy rows: number, value, lower, upper, n; ends are of 95 % intervals."""
        return pd.DataFrame(
            [
                {
                    "number": of.title,
                    "value": of.value,
                    "lower": of.interval.lower,
                    "upper": of.interval.upper,
                    "n": of.n,
                }
                for of in self.quantities
            ],
            columns=["number", "value", "lower", "upper", "n"],
        )


def dataset(
    x: ArrayLike | Iterable[str],
    y: ArrayLike,
    *,
    sources: Iterable[object] | None = None,
    ids: Iterable[object] | None = None,
    name: str = "data",
) -> Dataset:
    """A data set of arrays: a table (n, columns), texts, or images (n, height, width[, channels]) up to 1 or 255.

    `y` are class names or numbers, `sources` who or what made each sample (a writer, a site), where that is known.
    Raises DataError for what cannot be used.

    Examples
    --------
    >>> dataset([[1.0], [9.0], [8.5]], ["plum", "melon", "melon"]).class_names
    ('melon', 'plum')
    """
    names, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    values = np.asarray(x)
    kind, scale = "tabular", 1.0
    if values.dtype.kind in "OUT":
        kind, values = "text", values.astype(object)
    elif values.ndim in (3, 4):
        kind, values = "image", values[..., None] if values.ndim == 3 else values
        scale = 255.0 if values.size and values.max() > 1 else 1.0
        values = (values / scale).astype(np.float32)
    given = None if sources is None else [str(source) for source in sources]
    of_samples = None if ids is None else [str(one) for one in ids]
    return Dataset(name, kind, values, codes, names.tolist(), of_samples, given, scale=scale)


def check(question: str, data: Dataset, **settings: Any) -> Result:
    """Ask a question of `RECIPES` about a data set, in this process; `settings` are fields of its plan.

    What is not said is as the page begins with (`python -m core plans KIND` lists the fields). Raises DataError for a
    question, a setting or data that there are not.

    Examples
    --------
    >>> from core.data import load_example
    >>> result = check("source_robustness", load_example("wine"), models=("logistic",), n_repeats=3)
    >>> result.verdict.headline.startswith("Logistic regression")
    True
    >>> result.table()["number"].tolist()[0]
    'source_robustness.rho[logistic, kmeans]'
    """
    if question not in RECIPES:
        raise DataError(f"check() asks no question {question!r}. Choose from {', '.join(RECIPES)}.")
    record = QUESTIONS[question]
    try:
        plan = replace(usual_plan(plan_class(record), About(data)), **settings)
    except TypeError as error:
        raise DataError(f"{question}: {error}. {COMMAND} plans {record.kind} lists the settings.") from None
    rows = pd.concat(
        [plan.run_trial(data, trial, context=Context()) for trial in range(plan.n_trials(data))], ignore_index=True
    )
    body: Body = module_of(record, "report").body_of_rows(rows, data, plan)
    if body.said is None:
        raise DataError(f"{question}: no trial came to a result, so there is nothing to say.")
    return Result(body.said, of_run(rows, data, plan), body.figures, rows)


def compare(reference: Predictions, target: Predictions, *, seed: int = 0, **options: Any) -> Result:
    """Does accuracy really drop from one test set to another? Of one model's predictions on both.

    `options` are those of `core.evaluate.matched_subsets.compare_sets`, such as `epsilon`.

    Examples
    --------
    >>> truth = np.tile([0, 1], 30)
    >>> ids, sure = [str(row) for row in range(60)], np.linspace(0.6, 0.9, 60)
    >>> old = Predictions(ids, truth, truth, ["a", "b"], confidence=sure)
    >>> new = Predictions(ids, truth, np.where(np.arange(60) < 30, 0, truth), ["a", "b"], confidence=sure)
    >>> compare(old, new).table()["number"].tolist()[0]
    'matched_subsets.gap[model]'
    """
    from functools import partial

    from core.evaluate.matched_subsets import compare_pairs, matched_verdict
    from core.figures.matched_subsets import gap_chart

    found = compare_pairs({"model": reference}, {"model": target}, rng=np.random.default_rng(seed), **options)
    row = found.rows[0]
    caption = "Right of zero, accuracy falls; the three parts add up to the gap. Bars are 95 % CIs for new data."
    return Result(
        matched_verdict(row),
        of_comparisons(found),
        (Figure("gap", partial(gap_chart, row), caption),) if row.can_match else (),
        pd.DataFrame(),
    )
