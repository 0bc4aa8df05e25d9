"""Where is the model weak? Rules of one or two conditions, found on one half of the samples and judged on the other.

The half that finds scores every rule by how far samples within lose more than all (by their influences on the metric)
in standard errors of no difference, over units where that makes more of it. A second condition has to add something,
and each further slice has to be weak beyond those before it. The other half holds each slice against its rest, all
together by Holm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isnan, nan
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import WHOLE, Part, Predictions
from touchstone.core.data.predictions.same_samples import rows_in
from touchstone.core.data.values import Bools, Codes, Floats
from touchstone.core.evaluate.claims import Claim, claim, corrected
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, p_of_interval, t_p_value
from touchstone.core.evaluate.metric_estimates import InWords, MetricEstimate, on_two_sets, positive_class, scored_as
from touchstone.core.evaluate.metric_functions import Scored
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.units import (
    EACH_SAMPLE,
    FEWEST_UNITS,
    Design,
    design_of_units,
    half_of_units,
    samples_as_units,
    units_of,
)
from touchstone.core.evaluate.wording import listed, quoted
from touchstone.core.parameters import asks, asks_positive_class, asks_seed

WEAK = "weak_slices.weak"
FEWEST = 20
"""So many samples a slice and its rest have in either half, at least."""
MOST_CHOSEN, LEAST_Z, LEAST_ADDED = 10, 1.64, 2.0
"""So many slices are judged; so far beyond chance each is, and what its second condition adds to either alone."""
MOST_KINDS = 20
"""A column of more different texts is measured by its lengths and signs, where these are texts of several words."""
_THRESHOLDS = np.linspace(0.05, 0.95, 19)
_MOST_SEARCHED, _WIDTH, _WORK = 10_000, 40, 2e9
_UNTOLD = 0.1
"""A column that leaves no more of the mistakes open than this part was made from them."""
Columns = Mapping[str, np.ndarray]
"""What is known of samples: numbers (NaN where there is none), or texts (None or "" where there is none)."""
NO_COLUMNS: Columns = MappingProxyType({})


@dataclass(frozen=True)
class OneFile:
    """The fingerprint of stored predictions and, where the file holds several, which part, task and model."""

    file: str
    part: Part = WHOLE
    task: str | None = None
    model: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The one there is."""
        return (self.file,)

    @property
    def parts(self) -> dict[str, str]:
        """What is chosen of a file that holds several, by parameter of the address."""
        parts = {f"target_{what}": name for what, name in asdict(self.part).items()}
        chosen = {**parts, "task": self.task, "model": self.model}
        return {parameter: name for parameter, name in chosen.items() if name is not None}

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the address that lead to these predictions."""
        return {"target": self.file} | self.parts

    @classmethod
    def at(cls, parameters: Mapping[str, str]) -> "OneFile":
        """The predictions that such parameters lead to. KeyError where they name no file.

        >>> one = OneFile("f00d", Part(fold="2"), model="svm")
        >>> OneFile.at(one.parameters) == one
        True
        """
        part = Part(**{each.name: parameters.get(f"target_{each.name}") for each in fields(Part)})
        return cls(parameters["target"], part, parameters.get("task"), parameters.get("model"))


@dataclass(frozen=True)
class Condition:
    """What a column has to be: a number from a value on, or below it; a text of one value; or not there.

    >>> str(Condition("duration", ">=", 65.0)), str(Condition("region", "=", "north"))
    ('duration >= 65', 'region = north')
    """

    column: str
    how: Literal[">=", "<", "=", "is missing"]
    value: float | str = ""

    def __str__(self) -> str:
        value = f"{self.value:.4g}" if isinstance(self.value, float) else self.value
        return f"{self.column} {self.how} {value}".rstrip()

    def holds(self, columns: Columns) -> Bools:
        """Of which samples it is true."""
        values = columns[self.column]
        if self.how == "is missing":
            return missing(values)
        if self.how == "=":
            return np.asarray(values == self.value, dtype=bool)
        return values >= self.value if self.how == ">=" else values < self.value


Rule = tuple[Condition, ...]


@dataclass(frozen=True)
class WeakSlice:
    """A rule and what the half that did not find it says: the metric within and in the rest, and by how much worse.

    `n` samples of that half are within. `claim` is corrected for all slices that were judged; where nothing can be
    told of others, `why_not` says why.
    """

    rule: Rule
    within: MetricEstimate
    rest: MetricEstimate
    worse: float
    interval: Interval
    claim: Claim
    n: int
    design: Design

    @property
    def name(self) -> str:
        """The rule in words."""
        return " and ".join(map(str, self.rule))

    @property
    def is_weak(self) -> bool:
        """Whether it is significantly weaker than the rest."""
        return self.claim.decision == "above"

    @property
    def why_not(self) -> str:
        """Why no interval is known; empty where it is."""
        return "" if self.interval.known else self.within.why_not or self.rest.why_not


@dataclass(frozen=True, eq=False)
class WeakSlices:
    """The slices that one half of the samples found, as the other half sees them; those that are weak come first.

    `n` are samples of the half that judges. `left_out` are columns that tell the mistakes themselves.
    """

    metric: str
    positive: str | None
    slices: tuple[WeakSlice, ...]
    n: int
    design: Design
    columns: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def words(self) -> InWords:
        """How sentences speak of the metric."""
        return InWords(METRICS[self.metric], self.positive)

    @property
    def weak(self) -> tuple[WeakSlice, ...]:
        """Those that are significantly weaker than their rest."""
        return tuple(each for each in self.slices if each.is_weak)

    def sentence(self, each: WeakSlice) -> str:
        """One slice in words."""
        words = self.words
        by = words.difference(each.worse, each.interval)
        ends = f"{words.name} {words.value(each.within.value)} against {words.value(each.rest.value)}"
        return f"{each.name}: {ends}, a difference of {by}, {each.design.samples(each.n)}."

    def table(self) -> pd.DataFrame:
        """Tidy rows, a slice each: slice, metric, value, rest, worse, lower, upper, p_holm, decision, n."""
        rows = [
            (
                each.name,
                self.metric,
                each.within.value,
                each.rest.value,
                each.worse,
                each.interval.lower,
                each.interval.upper,
                each.claim.p_value,
                each.claim.decision,
                each.n,
            )
            for each in self.slices
        ]
        names = ["slice", "metric", "value", "rest", "worse", "lower", "upper", "p_holm", "decision", "n"]
        return pd.DataFrame(rows, columns=names)


@dataclass(frozen=True)
class SlicePlan:
    """What slices are weak in, and which halves of the samples find and judge them."""

    metric: str = asks(
        ACCURACY,
        "Metric",
        "What the model may be weak in.",
        address="metric",
        place="row",
        choices=lambda about: {
            name: METRICS[name].title for name in about.metrics or METRICS if METRICS[name].has_interval
        },
    )
    positive: str | None = asks_positive_class()
    seed: int = asks_seed(help="What the halves are drawn from. Another one finds and judges by other halves.")

    def find(self, predictions: Predictions, columns: Mapping[str, Any] | Dataset = NO_COLUMNS) -> WeakSlices:
        """The slices of these predictions, by their columns and further ones."""
        return find_weak_slices(predictions, columns, metric=self.metric, positive=self.positive, seed=self.seed)


def find_weak_slices(
    predictions: Predictions,
    columns: Mapping[str, Any] | Dataset = NO_COLUMNS,
    *,
    metric: str = ACCURACY,
    positive: str | None = None,
    seed: int = 0,
) -> WeakSlices:
    """Find slices by the columns of the predictions' file, and by further `columns` of as many rows, and judge them.

    In the place of `columns` a data set that holds these samples says what it knows of them (`beside`). Neither true
    nor predicted classes make a rule. Raises DataError for a metric that these predictions do not give.

    Examples
    --------
    >>> rng, y = np.random.default_rng(0), np.arange(2000) % 2
    >>> age, site = rng.uniform(20, 80, 2000), rng.choice(["north", "south"], 2000)
    >>> wrong = rng.random(2000) < np.where((age >= 65) & (site == "north"), 0.5, 0.1)
    >>> answers = Predictions([f"s{i}" for i in range(2000)], y, np.where(wrong, 1 - y, y), ["a", "b"])
    >>> [each.name for each in find_weak_slices(answers, {"age": age, "site": site}).weak]
    ['age >= 64.9 and site = north']
    """
    if isinstance(columns, Dataset):
        predictions, columns = beside(predictions, columns)
    scored, positive = _scored(predictions, metric, positive)
    known = columns_of(predictions, columns)
    wrong = ~predictions.correct
    left_out = tuple(name for name, values in known.items() if tells(values, wrong))
    known = {name: values for name, values in known.items() if name not in left_out}
    design = _design(predictions)
    names = np.unique(predictions.ids.astype(str), return_inverse=True)[1] if design.codes is None else design.codes
    rng = np.random.default_rng(seed)
    finds = half_of_units(names, np.ones(len(names), dtype=bool), rng)
    searched = finds if finds.sum() <= _MOST_SEARCHED else _some(finds, names, rng)
    chosen = _chosen(scored, known, design, searched, ~finds, metric) if searched.any() and not finds.all() else []
    judged = [_judged(scored, known, design, ~finds, metric, rule) for rule in chosen]
    sure = [each for each in judged if each.interval.known]
    claims = iter(corrected([each.claim for each in sure]))
    judged = [replace(each, claim=next(claims)) if each.interval.known else each for each in judged]
    in_order = tuple(sorted(judged, key=lambda each: not each.is_weak))
    return WeakSlices(metric, positive, in_order, int((~finds).sum()), design.of(~finds), tuple(known), left_out)


def _scored(predictions: Predictions, metric: str, positive: str | None) -> tuple[Scored, str | None]:
    names, entry = predictions.class_names, METRICS[metric]
    if positive is not None and positive not in names:
        raise DataError(f"There is no class {quoted(positive)}. Choose one of {listed(names)}.")
    scored = scored_as(predictions, names)
    label = 1 if positive is None else names.index(positive)
    if positive is None and len(names) == 2:
        label, _ = positive_class(names, scored.counts.true)
        positive = names[label]
    if entry.of_class and positive is None:
        raise DataError(f"{entry.title} is about one class: name it as the positive one.")
    if not entry.applies(scored):
        raise DataError(f"{entry.title} needs the probabilities of all classes.")
    if not entry.has_interval:
        raise DataError(f"{entry.title} has no interval, so no slice can be judged by it. Choose another metric.")
    return replace(scored, positive=label), positive


def _design(predictions: Predictions) -> Design:
    """Units as the file names them; a sample that stands once for every trial is one."""
    design = design_of_units(predictions.units, predictions.unit_word)
    return design_of_units(predictions.ids, EACH_SAMPLE.word) if design.by_sample else design


# What is known of samples, and which conditions may be made of it?


def columns_of(predictions: Predictions, more: Mapping[str, Any] = NO_COLUMNS) -> dict[str, np.ndarray]:
    """A file's source and columns, and `more`, as numbers and kinds; texts by their lengths and signs.

    Raises DataError for a column of another number of rows.

    >>> file = Predictions(["a", "b"], [0, 1], [0, 1], ["x", "y"])
    >>> {name: values.tolist() for name, values in columns_of(file, {"age": [3, 4]}).items()}
    {'age': [3.0, 4.0]}
    """
    columns: dict[str, np.ndarray] = {}
    groups = {name: values for name, values in predictions.groups.items() if name == "source"}
    for name, given in {**groups, **predictions.inputs, **more}.items():
        values = pd.Series(given)
        if len(values) != predictions.n_samples:
            raise DataError(f"{name} has {len(values)} rows, and there are {predictions.n_samples} predictions.")
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            columns[name] = values.to_numpy(dtype=np.float64, na_value=nan)
            continue
        texts = values.astype(object).where(values.notna(), "").astype(str)
        if texts.nunique() > MOST_KINDS and texts.str.count(r"\s").mean() >= 1:
            columns |= of_texts(name, texts)
        else:
            columns[name] = texts.to_numpy(dtype=object)
    return columns


def beside(predictions: Predictions, dataset: Dataset) -> tuple[Predictions, Columns]:
    """What a data set knows of samples that it holds: columns, and units where the predictions' file names none.

    Of tables these are the features, of pictures brightness and contrast, of texts the text; sources and numbers, too.
    Raises DataError where it does not hold all of the samples.

    >>> fruit = Dataset("fruit", "tabular", [[1.0], [9.0]], [0, 1], ["plum", "melon"], ["p1", "m7"], scale=2.0)
    >>> columns = beside(Predictions(["m7", "p1"], [1, 0], [1, 1], ["plum", "melon"]), fruit)[1]
    >>> {name: values.tolist() for name, values in columns.items()}
    {'x1': [18.0, 2.0]}
    """
    rows = rows_in(dataset, predictions)
    if rows is None:
        raise DataError(f"{dataset.name} does not hold the samples of these predictions, by id or by text.")
    x, columns = dataset.x[rows], {}
    if dataset.kind == "tabular":
        columns |= {name: x[:, place] * dataset.scale for place, name in enumerate(dataset.feature_names)}
    elif dataset.kind == "image":
        columns |= {"brightness": x.mean(axis=(1, 2, 3)), "contrast": x.std(axis=(1, 2, 3))}
    else:
        columns["text"] = x
    if dataset.numbers is not None:
        columns |= {name: dataset.numbers[rows, place] for place, name in enumerate(dataset.number_names)}
    if dataset.sources is not None:
        columns["source"] = dataset.sources[rows]
    if dataset.units is not None and predictions.units is None:
        units = {"unit": dataset.units[rows]}
        predictions = replace(predictions, groups={**predictions.groups, **units}, unit_name=dataset.unit_name)
    return predictions, columns


def of_texts(name: str, texts: pd.Series) -> dict[str, np.ndarray]:
    """How long texts are, and of which signs.

    >>> of_texts("review", pd.Series(["Ab c", "é"]))["words of review"]
    array([2., 1.])
    """
    length = texts.str.len().to_numpy(dtype=np.float64)
    signs = {"capitals": r"[A-Z]", "digits": r"\d", "letters beyond A to Z": r"[^\W\d_a-zA-Z]"}
    return {
        f"length of {name}": length,
        f"words of {name}": texts.str.split().str.len().to_numpy(dtype=np.float64),
        **{
            f"share of {what} in {name}": texts.str.count(sign).to_numpy(dtype=np.float64) / np.maximum(length, 1)
            for what, sign in signs.items()
        },
    }


def missing(values: np.ndarray) -> Bools:
    """Where nothing is known."""
    return np.asarray(values == "", dtype=bool) if values.dtype == object else np.isnan(values)


def tells(values: np.ndarray, wrong: Bools) -> bool:
    """Whether a column says which predictions are wrong, nearly without fail: it was made from them.

    >>> loss, wrong = np.arange(10.0), np.arange(10) > 6
    >>> tells(loss, wrong), tells(-loss, wrong), tells(loss % 2, wrong)
    (True, True, False)
    """
    at_first = min(int(wrong.sum()), int((~wrong).sum()))
    kinds, codes = np.unique(values, return_inverse=True)
    if not at_first or len(kinds) < 2:
        return False
    n, n_wrong = np.bincount(codes), np.bincount(codes, weights=wrong)
    if values.dtype == object:
        return len(kinds) <= MOST_KINDS and float(np.minimum(n_wrong, n - n_wrong).sum()) <= _UNTOLD * at_first
    below, right_below = np.cumsum(n_wrong)[:-1], np.cumsum(n - n_wrong)[:-1]
    untold = below + (~wrong).sum() - right_below
    return float(min(untold.min(), (len(wrong) - untold).min())) <= _UNTOLD * at_first


def conditions_of(columns: Columns, rows: Bools) -> Iterator[Condition]:
    """Every condition that some of the `rows` fulfil and others do not; thresholds are quantiles of these rows."""
    for name, values in columns.items():
        there = values[rows & ~missing(values)]
        if 0 < len(there) < rows.sum():
            yield Condition(name, "is missing")
        kinds = np.unique(there)
        if values.dtype == object:
            yield from (Condition(name, "=", str(kind)) for kind in kinds if len(kinds) > 1 or len(there) < rows.sum())
        elif len(kinds) > 1:
            ends = kinds[1:] if len(kinds) <= MOST_KINDS else np.quantile(there, _THRESHOLDS)
            for end in np.unique([float(f"{end:.4g}") for end in ends]):
                yield from (Condition(name, how, float(end)) for how in (">=", "<"))


def _some(finds: Bools, names: Codes, rng: np.random.Generator) -> Bools:
    """About as many of the samples that find as may be searched, by unit."""
    return finds & (rng.random(int(names.max()) + 1) < _MOST_SEARCHED / finds.sum())[names]


# Which rules does one half find?


@dataclass(frozen=True, eq=False)
class _Half:
    """By how much each sample of the finding half loses more than all of it, and what is known of it."""

    loss: Floats
    codes: Codes | None

    def z(self, members: np.ndarray, within: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every pair of `members` (rules by samples) with those `within`: how many samples, their loss, and z."""
        variance, n_all = float((self.loss**2).mean()), len(self.loss)
        n, lost = within @ members.T, (within * self.loss) @ members.T
        spread = variance * n * (1 - n / n_all)
        if self.codes is not None:
            order = np.argsort(self.codes, kind="stable")
            starts = np.flatnonzero(np.diff(self.codes[order], prepend=-1))
            for row, mask in enumerate(within):
                of_units = np.add.reduceat((members * (mask * self.loss))[:, order], starts, axis=1)
                spread[row] = np.maximum(spread[row], (of_units**2).sum(axis=1) * (1 - n[row] / n_all))
        with np.errstate(divide="ignore", invalid="ignore"):
            return n, lost, np.where(spread > 0, lost / np.sqrt(spread), 0.0)


def _chosen(scored: Scored, columns: Columns, design: Design, finds: Bools, judges: Bools, metric: str) -> list[Rule]:
    entry, own = METRICS[metric], scored.take(finds)
    sign = -1.0 if entry.larger_is_better else 1.0
    if isnan(entry.value(own)):
        return []
    influences = entry.influences(own)
    half = _Half(sign * len(influences) * (influences - influences.mean()), design.of(finds).codes)
    if not float(np.abs(np.nan_to_num(half.loss)).max()) > 1e-12 or not np.isfinite(half.loss).all():
        return []
    conditions = [*conditions_of(columns, finds)]
    held = [each.holds(columns) for each in conditions]
    kept = [place for place, mask in enumerate(held) if _is_large(mask[finds]) and _is_large(mask[judges])]
    if not kept:
        return []
    conditions = [conditions[place] for place in kept]
    members, of_judge = (np.array([held[p][part] for p in kept], dtype=np.float64) for part in (finds, judges))
    n_of, lost_of, z_of = (each[0] for each in half.z(members, np.ones((1, members.shape[1]))))
    rules = [(float(z), (place,)) for place, z in enumerate(z_of)]
    width = int(np.clip(_WORK / members.size, _WIDTH, len(kept)))
    beam = np.argsort(-z_of.round(9), kind="stable")[:width]
    n, lost, z = half.z(members, members[beam])
    n_judge = of_judge[beam] @ of_judge.T
    sizes = (n, members.shape[1] - n, n_judge, of_judge.shape[1] - n_judge)
    good = np.logical_and.reduce([size >= FEWEST for size in sizes]) & (z >= LEAST_Z)
    good &= _adds(half, n, lost, n_of[beam][:, None], lost_of[beam][:, None]) & _adds(half, n, lost, n_of, lost_of)
    rules += [(float(z[a, b]), tuple(sorted((int(beam[a]), int(b))))) for a, b in np.argwhere(good)]
    ranked = sorted({(-round(score, 9), len(rule), rule) for score, rule in rules if score >= LEAST_Z})
    return [tuple(conditions[p] for p in rule) for rule in _apart(half, members, of_judge, design, judges, ranked)]


def _is_large(mask: Bools) -> bool:
    return min(int(mask.sum()), int((~mask).sum())) >= FEWEST


def _adds(half: _Half, n: np.ndarray, lost: np.ndarray, n_of: np.ndarray, lost_of: np.ndarray) -> np.ndarray:
    """Whether pairs lose more than what else their one condition holds of, surely enough."""
    spread = float(np.sqrt((half.loss**2).mean()))
    with np.errstate(divide="ignore", invalid="ignore"):
        more = lost / n - (lost_of - lost) / (n_of - n)
        return np.nan_to_num(more / (spread * np.sqrt(1 / n + 1 / (n_of - n)))) >= LEAST_ADDED


def _apart(
    half: _Half, members: np.ndarray, of_judge: np.ndarray, design: Design, judges: Bools, ranked: list[Any]
) -> Iterator[tuple[int, ...]]:
    """The best rules, each of which is weak also in what none before it holds."""
    covered, n_chosen, codes = np.zeros(members.shape[1], dtype=bool), 0, design.of(judges).codes
    for _, _, rule in ranked:
        inside = members[list(rule)].all(axis=0)
        rest = inside & ~covered
        if rest.sum() < FEWEST or not half.z(1.0 * rest[None], np.ones((1, len(rest))))[2][0, 0] >= LEAST_Z:
            continue
        if codes is not None:
            judged = of_judge[list(rule)].all(axis=0)
            if min(len(np.unique(codes[part])) for part in (judged, ~judged)) < FEWEST_UNITS:
                continue
        yield rule
        covered |= inside
        n_chosen += 1
        if n_chosen == MOST_CHOSEN:
            return


# What does the other half say?


def _judged(scored: Scored, columns: Columns, design: Design, judges: Bools, metric: str, rule: Rule) -> WeakSlice:
    """A slice against its rest, on the half that did not find it; not corrected for the others."""
    inside = np.logical_and.reduce([each.holds(columns) for each in rule])
    parts, entry = (judges & ~inside, judges & inside), METRICS[metric]
    sides = tuple(scored.take(part) for part in parts)
    designs = [design.of(part) for part in parts]
    by_sample = design.codes is None
    units = samples_as_units(*(side.n for side in sides)) if by_sample else units_of(*(d.codes for d in designs))
    made = on_two_sets(entry, sides, designs, units)
    p = p_of_interval(made.worse, made.interval) if made.interval.known else nan
    if made.interval.known and not by_sample:
        error = units.error(*(turn * entry.influences(side) for turn, side in zip((1, -1), sides, strict=True)))
        p = max(p, t_p_value(made.worse, error.se, error.df)) if error.df > 0 and error.se > 0 else p
    if made.worse <= 0:
        p = max(p, 1.0) if made.interval.known else nan  # found as weak: that it is better is never claimed
    interval = UNKNOWN if isnan(p) else made.interval
    made_claim = claim(WEAK, made.worse, interval, p)
    return WeakSlice(rule, made.target, made.reference, made.worse, interval, made_claim, sides[1].n, designs[1])
