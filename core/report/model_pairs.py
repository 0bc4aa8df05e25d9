"""Which of two models is better, question by question? Paired on what both were tried on: draws, samples, noise.

Only like is compared with like: recipes with recipes on the same splits or folds, fitted models with fitted models on
the same samples under the same noise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.claims import Claim, claim, corrected
from touchstone.core.evaluate.cluster_folds.performance import recipe_difference
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.data_set_adequacy.plan import ALL
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, suite_difference
from touchstone.core.evaluate.guided_tests.verdict import second_model
from touchstone.core.evaluate.intervals import Interval, smoothed_mean, t_interval, t_p_value
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.model_comparison import ModelsOnSamples, difference, models_on_samples
from touchstone.core.evaluate.source_robustness import compare_models
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.evaluate.wording import Verdict, bare_p, count, gap, plural, points
from touchstone.core.report.overview import MOST_TIMES, times_needed
from touchstone.core.report.run_report import TITLES

KIND = "overview.better_model"
FEWEST = 10
"""Fewer samples in common say nothing of two models."""


@dataclass(frozen=True)
class ModelPair:
    """Two models under one question: `claim` is of `first` less `second`, where more is better.

    `what` says of what it is a difference, `n` of how many samples (or draws, of sources) both know.
    """

    stem: str
    what: str
    first: str
    second: str
    values: tuple[float, float]
    claim: Claim
    n: int

    @property
    def better(self) -> str | None:
        """The model that is significantly better, if one is."""
        return {"above": self.first, "below": self.second}.get(self.claim.decision)


def on_sources(trials: pd.DataFrame) -> tuple[ModelPair, ...]:
    """Recipes by how much accuracy they keep on held-out sources, on the draws that both finished (rho)."""
    return tuple(
        ModelPair(
            "source_robustness",
            f"rho, held-out {noun(pair.source_finder)}s",
            TITLES.get(pair.model, pair.model),
            TITLES.get(pair.other, pair.other),
            (pair.rho, pair.other_rho),
            pair.claim,
            pair.n_draws,
        )
        for pair in compare_models(trials)
    )


def on_sizes(trials: pd.DataFrame) -> tuple[ModelPair, ...]:
    """The same of learning curves: recipes by rho at the largest size of which sources were held out, too.

    `trials` are those of an adequacy run: with the `size` of each training part.
    """
    held_out = trials.loc[trials["scheme"] == "source_exclusive", "size"]
    if held_out.empty:
        return ()
    largest = ALL if (held_out == ALL).any() else int(held_out.max())
    at_largest = trials[trials["size"] == largest].drop(columns="size")
    what = "all training samples" if largest == ALL else plural(largest, "training sample")
    return tuple(
        replace(pair, stem="data_set_adequacy", what=f"{pair.what}, {what}") for pair in on_sources(at_largest)
    )


def on_pictures(name: str, own: JudgedSuite, others: Mapping[str, JudgedSuite]) -> tuple[ModelPair, ...]:
    """Fitted models by accuracy on the generated pictures of one of them, its own and every other one's.

    Raises DataError where one met other pictures.
    """
    pairs, kept = [], own.suite.kept
    for title, other in others.items():
        difference = suite_difference(own, other)
        accuracies = (float(other.correct[kept].mean()), float(own.correct[kept].mean()))
        what, of_difference = "accuracy, generated pictures", second_model(difference)
        pairs.append(ModelPair("guided_tests", what, title, name, accuracies, of_difference, difference.n))
    return _corrected(pairs)


def on_folds(
    rows: pd.DataFrame, y: Integer[np.ndarray, " n_samples"], design: Design = EACH_SAMPLE
) -> tuple[ModelPair, ...]:
    """Recipes by their accuracy when a sample's fold is held out, on the folds that both were tested on.

    `rows` has scheme, seed, model, fold, row (a position in `y`) and y_pred, a line for each model, seed and sample.

    Examples
    --------
    >>> y = np.zeros(40, dtype=int)
    >>> wrong = {"svm": y, "logistic": (np.arange(40) % 4 == 0).astype(int)}
    >>> rows = pd.concat(pd.DataFrame({"scheme": "random_folds", "seed": 0, "model": name, "fold": np.arange(40) % 5,
    ...                                "row": range(40), "y_pred": y_pred}) for name, y_pred in wrong.items())
    >>> [each] = on_folds(rows, y)
    >>> each.better, each.n, each.values
    ('SVM', 40, (1.0, 0.75))
    """
    tested = rows.dropna(subset=["row", "y_pred"])
    right = tested["y_pred"].to_numpy(dtype=np.int64) == y[tested["row"].to_numpy(dtype=np.int64)]
    pairs = []
    for scheme, of_scheme in tested.assign(right=right.astype(float)).groupby("scheme", observed=True, sort=False):
        by_model = {
            TITLES.get(str(name), str(name)): of_model[["seed", "fold", "row", "right"]]
            for name, of_model in of_scheme.groupby("model", observed=True, sort=False)
        }
        what = f"accuracy, {scheme_title(str(scheme))} folds"
        for first, second in combinations(by_model, 2):
            both = by_model[first].merge(by_model[second], on=["seed", "fold", "row"], suffixes=("_first", "_second"))
            if len(np.unique(both["row"])) < FEWEST:
                continue
            each = recipe_difference(both.rename(columns={"right_first": "first", "right_second": "second"}), design)
            of_difference = _claim(each.shares[0] - each.shares[1], each.mean, each.se, each.df)
            pairs.append(ModelPair("cluster_folds", what, first, second, each.shares, of_difference, each.n))
    return _corrected(pairs)


def under_noise(models: Mapping[str, Robustness]) -> tuple[ModelPair, ...]:
    """Fitted models by accuracy and by mean p_robust at each sigma, on the samples that both were given.

    p_robust is what its mean rests on: shares of noisy copies that were counted, where they were. The runs must differ
    in nothing but the model, so that the noise is the same, too.
    """
    pairs = []
    for (name, own), (other_name, other) in combinations(models.items(), 2):
        for sigma in (sigma for sigma in own.sigmas if sigma in other.sigmas):
            at = {name: own.samples_at(sigma), other_name: other.samples_at(sigma)}
            kept = {name: own.shares_at(sigma), other_name: other.shares_at(sigma)}
            if sigma == own.sigmas[0]:
                right = {title: (of["label"] == of["predicted"]).set_axis(of["row"]) for title, of in at.items()}
                pairs += _paired("average_case", "accuracy", {title: of.astype(float) for title, of in right.items()})
            pairs += _paired("average_case", f"p_robust, sigma {sigma:g}", kept)
    return _corrected(pairs)


@dataclass(frozen=True, eq=False)
class OnTwoSets:
    """The predictions of a model on a reference and a target set, and what the two sets are called."""

    model: str
    reference: Predictions
    target: Predictions
    titles: tuple[str, str]


def on_files(models: Sequence[OnTwoSets]) -> tuple[ModelPair, ...]:
    """Models of prediction files by their accuracy on each set, and by how it changes from reference to target.

    Two models are paired on the samples that both predict, as on the page of model comparison.

    Examples
    --------
    >>> right, half = np.zeros(40, dtype=int), np.arange(40) % 2
    >>> def file(letter, y_pred):
    ...     return Predictions([f"{letter}{row}" for row in range(40)], right, y_pred, ["a", "b"])
    >>> sets = [OnTwoSets("svm", file("o", right), file("n", right), ("old", "new")),
    ...         OnTwoSets("mlp", file("o", right), file("n", half), ("old", "new"))]
    >>> [(each.what, each.better, each.n) for each in on_files(sets)]
    [('accuracy, new', 'svm', 40), ('accuracy on new less that on old', 'svm', 80)]
    """
    pairs: list[ModelPair] = []
    known: set[frozenset[str]] = set()
    for first, second in combinations(models, 2):
        sides = ((first.reference, second.reference), (first.target, second.target))
        on_both = [_on_same_samples(*side) for side in sides]
        same_files = first.titles == second.titles
        names = [each.model if same_files else f"{each.model} ({each.titles[1]})" for each in (first, second)]
        for side, on_side, title in zip(sides, on_both, first.titles, strict=True):
            files = frozenset(predictions.fingerprint for predictions in side)
            if on_side is None or files in known or len(files) < 2:
                continue
            known.add(files)
            made = difference(on_side, METRICS[ACCURACY], *on_side.names)
            if not made.interval.known:
                continue
            of_difference = claim(KIND, made.value, made.interval, made.claim.p_value)
            accuracies = [float(right.mean()) for right in on_side.correct.values()]
            values, what = (accuracies[0], accuracies[1]), f"accuracy, {title}"
            pairs.append(ModelPair("matched_subsets", what, names[0], names[1], values, of_difference, made.n))
        old, new = on_both
        if old is not None and new is not None and same_files and old.design.enough and new.design.enough:
            pairs.append(_change(first, second, old, new))
    return _corrected(pairs)


def _on_same_samples(first: Predictions, second: Predictions) -> ModelsOnSamples | None:
    """Both on the samples that both predict; None where these are not the same, or have other true classes."""
    try:
        return models_on_samples({"first": first, "second": second})
    except DataError:
        return None


def _change(first: OnTwoSets, second: OnTwoSets, old: ModelsOnSamples, new: ModelsOnSamples) -> ModelPair:
    """By how much more one model's accuracy changes than another's: two sets of samples, each paired in itself."""
    (before, mean_before, se_before, df_before), (after, mean, se, df) = _apart(old), _apart(new)
    of_change = _claim(after - before, mean - mean_before, float(np.hypot(se, se_before)), min(df, df_before))
    sides = zip(new.correct.values(), old.correct.values(), strict=True)
    values = [float(now.mean() - then.mean()) for now, then in sides]
    what = f"accuracy on {first.titles[1]} less that on {first.titles[0]}"
    n = old.n + new.n
    return ModelPair("matched_subsets", what, first.model, second.model, (values[0], values[1]), of_change, n)


def _apart(models: ModelsOnSamples) -> tuple[float, float, float, float]:
    """How much more often the first model is right: as counted, smoothed, its error over units, and df."""
    own, its = (right.astype(float) for right in models.correct.values())
    apart = own - its
    mean, se = smoothed_mean(apart)
    effect = models.design.effect((apart - apart.mean()) / len(apart))
    return float(apart.mean()), mean, se * effect.times**0.5, min(effect.df, len(apart) - 1.0)


def _paired(stem: str, what: str, values: Mapping[str, pd.Series]) -> Iterator[ModelPair]:
    """Every pair of models by a value of each sample, paired over the samples that both know."""
    for first, second in combinations(values, 2):
        both = pd.concat([values[first], values[second]], axis=1, join="inner").dropna().to_numpy(dtype=float)
        n = len(both)
        if n < FEWEST:
            continue
        means = both.mean(axis=0)
        apart = both[:, 0] - both[:, 1]
        of_difference = _claim(float(apart.mean()), *smoothed_mean(apart), n - 1.0)
        yield ModelPair(stem, what, first, second, (float(means[0]), float(means[1])), of_difference, n)


def _claim(estimate: float, mean: float, se: float, df: float) -> Claim:
    """A claim of a mean of paired differences as it was counted; interval and test rest on the smoothed `mean`."""
    return claim(KIND, estimate, t_interval(mean, se, df), t_p_value(mean, se, df))


def _corrected(pairs: Sequence[ModelPair]) -> tuple[ModelPair, ...]:
    claims = corrected([each.claim for each in pairs])
    return tuple(replace(each, claim=of_both) for each, of_both in zip(pairs, claims, strict=True))


def pairs_verdict(pairs: Sequence[ModelPair]) -> Verdict:
    """What separates models, what is undecided, and what would settle that.

    >>> pairs_verdict(()).headline
    'No two models have been tried on the same draws, samples, noise or pictures yet.'
    """
    if not pairs:
        return Verdict("No two models have been tried on the same draws, samples, noise or pictures yet.", "", "", ())
    n_undecided = sum(not each.claim.decided for each in pairs)
    used = f"{plural(len(pairs), 'comparison')}, {count(n_undecided)} undecided (Holm within each question)."
    decided = sorted((each for each in pairs if each.better), key=lambda each: -abs(each.claim.estimate))
    claims = tuple(each.claim for each in [*decided, *(each for each in pairs if not each.better)])
    if not decided:
        return Verdict("No model is significantly better than another.", used, "", (), claims)
    first, *others = [_sentence(each) for each in decided]
    return Verdict(first, used, "", tuple(others[:3]), claims)


def _sentence(each: ModelPair) -> str:
    loser = each.second if each.better == each.first else each.first
    sign = 1.0 if each.better == each.first else -1.0
    by = _writes(each)(sign * each.claim.estimate, each.claim.interval.scaled(sign))
    return f"{each.better} beats {loser} by {by} ({each.what}, {plural(each.n, _unit(each))})."


def _unit(each: ModelPair) -> str:
    units = {"source_robustness": "draw", "data_set_adequacy": "draw", "guided_tests": "picture"}
    return units.get(each.stem, "sample")


def _writes(each: ModelPair) -> Callable[[float, Interval], str]:
    return points if each.what.startswith("accuracy") else gap


def pairs_lines(pairs: Iterable[ModelPair]) -> pd.DataFrame:
    """The comparisons in words, for the screen: a line each, with what would settle an undecided one."""
    return pd.DataFrame(
        [
            {
                "Of": each.what,
                "Model": each.first,
                "Against": each.second,
                "Difference": _writes(each)(each.claim.estimate, each.claim.interval),
                "n": count(each.n),
                "p (Holm)": bare_p(each.claim.p_value),
                "Better": _decision(each),
            }
            for each in pairs
        ]
    )


def _decision(each: ModelPair) -> str:
    if each.better:
        return each.better
    if each.claim.decision == "small":
        return "about the same"
    times = times_needed(each.claim)
    if times is None:
        return "undecided"
    return f"undecided: {f'{times:.1f}' if times <= MOST_TIMES else f'over {MOST_TIMES}'} × the data"


def pairs_table(pairs: Iterable[ModelPair]) -> pd.DataFrame:
    """Tidy rows: question, what, model, other, both values, difference with lower and upper, p_holm, decision, n."""
    return pd.DataFrame(
        [
            {
                "question": each.stem,
                "what": each.what,
                "model": each.first,
                "other": each.second,
                "value": each.values[0],
                "other_value": each.values[1],
                "difference": each.claim.estimate,
                "lower": each.claim.interval.lower,
                "upper": each.claim.interval.upper,
                "p_holm": each.claim.p_value,
                "decision": each.claim.decision,
                "n": each.n,
            }
            for each in pairs
        ]
    )
