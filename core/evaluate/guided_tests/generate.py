"""Which tests are missing? Features made at the boundary and near the centroid of each class (Algorithm 1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError
from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.guided_tests.results import REGIONS, GeneratedTests, all_of
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.test_quality.quality import TestQuality
from touchstone.core.evaluate.test_quality.regions import Regions, rivals
from touchstone.core.evaluate.test_quality.verdict import findings
from touchstone.core.models.layers import Head, LayerSamples

# Where on its way does a feature lie in a region? Lines through feature space, many at once, and bisection on t.


_N_STEPS = 10  # of bisection: a thousandth of the way
_N_STEPS_TO_ENDS = 8
Predicate = Callable[[Floats], Bools]


@dataclass(frozen=True, eq=False)
class Paths:
    """Lines start + t * (end - start) + noise, t from 0 to 1, a row each; held to what the layer can give.

    `low` and `high` bound each feature by what training samples have: behind a ReLU nothing is negative.
    """

    start: Float[np.ndarray, "n d"] = field(repr=False)
    end: Float[np.ndarray, "n d"] = field(repr=False)
    noise: Float[np.ndarray, "n d"] = field(repr=False)
    low: Float[np.ndarray, " d"] = field(repr=False)
    high: Float[np.ndarray, " d"] = field(repr=False)

    def at(self, t: Floats) -> Float[np.ndarray, "n d"]:
        """Give the point of each line at its `t`."""
        points = self.end - self.start
        points *= t[:, None].astype(points.dtype)
        points += self.start
        points += self.noise
        return np.clip(points, self.low, self.high, out=points)

    def to(self, end: Float[np.ndarray, "n d"]) -> "Paths":
        """Give the same lines with other ends."""
        return Paths(self.start, end, self.noise, self.low, self.high)


def first_true(holds: Predicate, low: Floats, high: Floats, *, n_steps: int = _N_STEPS) -> Floats:
    """Bisect between `low`, where `holds` is not true, and `high`, where it is: give the t just inside, row by row.

    Examples
    --------
    >>> first_true(lambda t: t >= np.array([0.25, 0.5]), np.zeros(2), np.ones(2)).round(2)
    array([0.25, 0.5 ])
    """
    low, high = low.copy(), high.copy()
    for _ in range(n_steps):
        middle = (low + high) / 2
        inside = holds(middle)
        high = np.where(inside, middle, high)
        low = np.where(inside, low, middle)
    return high


def place_near_centroid(paths: Paths, y: Ints, regions: Regions, *, rng: np.random.Generator) -> Floats:
    """Give a `t` at which each line, which ends at its own centroid, lies in the centroid region, where there is one.

    The region is a ball, so that a line is inside from some t on; of what is inside each takes a random t.
    """

    def inside(t: np.ndarray) -> np.ndarray:
        return regions.in_centroid(paths.at(t), y)

    nothing, all_of_it = np.zeros(len(y)), np.ones(len(y))
    entered = np.where(inside(nothing), 0.0, first_true(inside, nothing, all_of_it))
    return entered + (1 - entered) * rng.random(len(y))


def place_at_boundary(
    paths: Paths, y: Ints, rival: Ints, regions: Regions, head: Head, *, rng: np.random.Generator
) -> tuple[Paths, Floats]:
    """Give lines that cross from one side of the boundary with the rival to the other, and a `t` in the region.

    A line that starts on its own side ends at the rival's centroid, any other at its own. Bisection finds where both
    classes are as probable, then both ends of the region around it, and each line takes a random t between these. A
    line without such a place stays at its start, which may lie in the region too.
    """
    rows = np.arange(len(y))

    def own_side(proba: np.ndarray) -> np.ndarray:
        return proba[rows, y] >= proba[rows, rival]

    nothing, all_of_it = np.zeros(len(y)), np.ones(len(y))
    proba = head(paths.at(nothing))
    begins_right, weak_at_first = own_side(proba), regions.in_boundary(proba)
    # Towards the other side, from wherever it starts: else the line need not cross the boundary at all.
    end = np.where(begins_right[:, None], regions.centroids[rival], regions.centroids[y]).astype(paths.start.dtype)
    paths = paths.to(end)
    proba = head(paths.at(all_of_it))
    crosses, weak_at_last = own_side(proba) != begins_right, regions.in_boundary(proba)

    def crossed(t: np.ndarray) -> np.ndarray:
        return own_side(head(paths.at(t))) != begins_right

    def weak(t: np.ndarray) -> np.ndarray:
        return regions.in_boundary(head(paths.at(t)))

    crossing = first_true(crossed, nothing, all_of_it)
    crosses &= weak(crossing)
    before = first_true(weak, nothing, crossing, n_steps=_N_STEPS_TO_ENDS)
    # From the far end backwards: seen from there the region's last place is its first.
    after = 1 - first_true(lambda left: weak(1 - left), nothing, 1 - crossing, n_steps=_N_STEPS_TO_ENDS)
    before, after = np.where(weak_at_first, 0.0, before), np.where(weak_at_last, 1.0, after)
    return paths, np.where(crosses, before + (after - before) * rng.random(len(y)), 0.0)


# Which tests are missing? Features made at the boundary and near the centroid of each class (Algorithm 1).


MIXES = (0.0, 0.2, 0.3, 0.5, 0.7, 0.8, 1.0)
"""The distribution choices d of Algorithm 1, as shares of the centroid region."""
FREQUENCIES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""The frequency choices fc of Algorithm 1, as shares of the class's number of test samples."""
_WEAKER = 0.1  # by how much wcl lies below theta2
_N_NEAREST = 10  # parents of a class at least, if it has so many samples: one sample is no test of a class
_MOST_ROWS = 1000  # training samples that noise in very many features is made of
_CHUNK = 2048
Rivals = Literal["nearest", "even"]


def usual_wcl(theta2: float) -> float:
    """Up to which confidence samples serve as parents where nobody said: a tenth below where the boundary ends.

    >>> round(usual_wcl(0.7), 3)
    0.6
    """
    return theta2 - _WEAKER


def mix_title(centroid_share: float) -> str:
    """What a mix is called: the share of the centroid region first, as in the paper.

    >>> mix_title(0.3), mix_title(1.0)
    ('30-70', '100-0')
    """
    near = round(100 * centroid_share)
    return f"{near}-{100 - near}"


def size_title(frequency: float) -> str:
    """What a size is called: tests for each class, as a share of its test samples.

    >>> size_title(0.25)
    '25 %'
    """
    return f"{100 * frequency:g} %"


@dataclass(frozen=True)
class Recipe:
    """How features are perturbed.

    `wcl` is the confidence up to which samples serve as parents (theta2 - .1 by default). `noise` is the size of the
    noise in standard deviations of the class's training features. `rivals` are those of the parents ("nearest"), or
    every other class in turn ("even"). What cannot be placed is tried again from another parent, `n_attempts` times in
    all, with half the noise each time.
    """

    wcl: float | None = None
    noise: float = 0.5
    rivals: Rivals = "nearest"
    n_attempts: int = 8


@dataclass(frozen=True, eq=False)
class Start:
    """All that generation begins with: regions, the head, and the samples that parents and noise come from.

    Without test samples of a class its parents are training samples. `wcl` is the recipe's, or the default.
    """

    regions: Regions = field(repr=False)
    head: Head = field(repr=False)
    train: LayerSamples = field(repr=False)
    test: LayerSamples = field(repr=False)
    recipe: Recipe
    low: Float[np.ndarray, " d"] = field(repr=False)
    high: Float[np.ndarray, " d"] = field(repr=False)
    _roots: dict[int, np.ndarray] = field(init=False, repr=False, default_factory=dict)

    @property
    def wcl(self) -> float:
        """The confidence up to which samples serve as parents."""
        return usual_wcl(self.regions.theta2) if self.recipe.wcl is None else self.recipe.wcl

    def parents(self, label: int) -> tuple[LayerSamples, Literal["test", "train"]]:
        """Give the samples of a class at its boundary; of fewer than ten, the ten that the model is least sure of."""
        part: Literal["test", "train"] = "test" if (self.test.labels == label).any() else "train"
        samples = self.test if part == "test" else self.train
        own = np.flatnonzero(samples.labels == label)
        confidence = samples.proba[own].max(axis=1)
        weak = own[confidence <= self.wcl]
        if len(weak) < _N_NEAREST:
            weak = own[np.argsort(confidence, kind="stable")[:_N_NEAREST]]
        return samples.take(weak), part

    def noise(self, label: int, n: int, *, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        """Draw Gaussian noise with the covariance of the class's training features.

        Of more than 1,000 features, with that of 1,000 of its training samples.
        """
        if label not in self._roots:
            self._roots[label] = _root(self.train.features[self.train.labels == label])
        root = self._roots[label]
        return rng.standard_normal((n, len(root)), dtype=np.float32) @ root


def start(
    regions: Regions, head: Head, *, train: LayerSamples, test: LayerSamples, recipe: Recipe | None = None
) -> Start:
    """Make ready. Raises DataError where samples, regions and head do not belong together, or a recipe is void."""
    recipe = recipe or Recipe()
    for samples in (train, test):
        regions.check(samples)
    tried = head(test.features[:1])
    if tried.shape != (1, regions.n_classes):
        raise DataError(f"The head has {tried.shape[-1]} classes, the samples have {regions.n_classes}.")
    if recipe.wcl is not None and not (1 / regions.n_classes <= recipe.wcl <= 1):
        raise DataError(f"wcl is {recipe.wcl:g}. It is a confidence, from {1 / regions.n_classes:g} to 1.")
    if recipe.noise < 0 or recipe.n_attempts < 1:
        raise DataError("Noise cannot be negative, and one attempt is the least.")
    low, high = train.features.min(axis=0), train.features.max(axis=0)
    return Start(regions, head, train, test, recipe, low.astype(np.float32), high.astype(np.float32))


def sizes(test: LayerSamples, frequency: float) -> Integer[np.ndarray, " n_classes"]:
    """Say how many to generate for each class: a share of its number of test samples, at least one.

    A class without test samples gets as many as the average class.
    """
    if not frequency > 0:
        raise DataError(f"The frequency is {frequency:g}. It must be positive, as a share of a class's test samples.")
    counts = test.counts().astype(np.float64)
    counts[counts == 0] = counts.mean()
    return np.maximum(np.round(frequency * counts), 1).astype(np.int64)


def generate_tests(
    start: Start, n: int | Sequence[int] | Integer[np.ndarray, " n_classes"], *, centroid_share: float, seed: int
) -> GeneratedTests:
    """Generate `n` features for each class, `centroid_share` of them near its centroid and the rest at its boundary.

    Raises DataError for a share outside [0, 1].
    """
    if not 0 <= centroid_share <= 1:
        raise DataError(f"The share of the centroid region is {centroid_share:g}. It must lie in [0, 1].")
    n_classes = start.regions.n_classes
    per_class = np.broadcast_to(np.asarray(n, dtype=np.int64), (n_classes,))
    if per_class.min() < 0 or per_class.max() == 0:
        raise DataError("The number of tests to generate for a class cannot be negative, and not 0 for all of them.")
    made = []
    for label in range(n_classes):
        n_centroid = round(float(centroid_share * per_class[label]))
        n_boundary = int(per_class[label]) - n_centroid
        made.append(generate_class(start, label, n_centroid=n_centroid, n_boundary=n_boundary, seed=seed))
    return all_of(made)


def generate_class(
    start: Start, label: int, *, n_centroid: int, n_boundary: int, seed: int, rival: int | None = None
) -> GeneratedTests:
    """Generate features of one class: the piece that a long generation is made of.

    With a `rival` all of those at the boundary lie on a line between the two classes. Whether a feature is kept
    depends on the region alone, never on the class that the head takes it for.
    """
    if rival is not None and (rival == label or not 0 <= rival < start.regions.n_classes):
        raise DataError(f"The rival of class {label} is another class of {start.regions.n_classes}, not {rival}.")
    rng = np.random.default_rng([seed, label])
    nobody = np.zeros(0, dtype=np.int64)
    parts = [_round(start, label, nobody, for_centroid=True, rng=rng, scale=0.0)[0]]
    for n, for_centroid in ((n_centroid, True), (n_boundary, False)):
        wanted, scale = _wanted(start, label, n, rival), start.recipe.noise
        for _ in range(start.recipe.n_attempts):
            missed = [nobody]
            for first in range(0, len(wanted), _CHUNK):
                chunk = wanted[first : first + _CHUNK]
                part, kept = _round(start, label, chunk, for_centroid=for_centroid, rng=rng, scale=scale)
                parts.append(part)
                missed.append(chunk[~kept])
            # What missed its region tries again with half the noise, which keeps it closer to the line.
            wanted, scale = np.concatenate(missed), scale / 2
    made = all_of(parts)
    asked = np.zeros_like(made.asked)
    asked[label] = n_centroid, n_boundary
    placed = np.zeros_like(asked)
    placed[label] = made.for_centroid.sum(), (~made.for_centroid).sum()
    return replace(made, asked=asked, placed=placed)


def _wanted(start: Start, label: int, n: int, rival: int | None) -> Ints:
    """Give the rival of each feature that is wanted; -1 for that of its parent, whichever this will be."""
    if rival is not None:
        return np.full(n, rival, dtype=np.int64)
    if start.recipe.rivals == "nearest":
        return np.full(n, -1, dtype=np.int64)
    return (label + 1 + np.arange(n) % (start.regions.n_classes - 1)) % start.regions.n_classes


def _round(
    start: Start, label: int, wanted: Ints, *, for_centroid: bool, rng: np.random.Generator, scale: float
) -> tuple[GeneratedTests, Bools]:
    """Try to place one feature for each wanted rival, from a random parent.

    Give those that lie where they were asked for, and which of the wanted these are.
    """
    n, regions, head = len(wanted), start.regions, start.head
    parents, part = start.parents(label)
    chosen = rng.integers(len(parents), size=n)
    y = np.full(n, label, dtype=np.int64)
    rival_of = np.where(wanted < 0, rivals(parents.proba, parents.labels)[chosen], wanted)
    begin = parents.features[chosen].astype(np.float32)
    own = np.broadcast_to(regions.centroids[label].astype(np.float32), begin.shape)
    noise = np.float32(scale) * start.noise(label, n, rng=rng)
    paths = Paths(begin, own, noise, start.low, start.high)
    if for_centroid:
        t = place_near_centroid(paths, y, regions, rng=rng)
    else:
        paths, t = place_at_boundary(paths, y, rival_of, regions, head, rng=rng)
    features = paths.at(t)
    proba, distance = head(features), regions.distances(features, y)
    near, weak = distance <= regions.radii[y], regions.in_boundary(proba)
    keep = near if for_centroid else weak
    counts = np.zeros((regions.n_classes, 2), dtype=np.int64)
    made = GeneratedTests(
        regions.class_names,
        features[keep],
        y[keep],
        np.full(int(keep.sum()), for_centroid),
        parents.ids[chosen][keep],
        np.full(int(keep.sum()), part, dtype=object),
        rival_of[keep],
        t[keep],
        distance[keep],
        proba.max(axis=1)[keep],
        proba.argmax(axis=1)[keep],
        near[keep],
        weak[keep],
        asked=counts,
        placed=counts,
    )
    return made, keep


def _root(features: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "k d"]:
    """A matrix whose square is the covariance of the rows: standard normal rows times it are noise of that kind."""
    n, d = features.shape
    if n > _MOST_ROWS and d > _MOST_ROWS:
        features = features[np.random.default_rng(0).choice(n, _MOST_ROWS, replace=False)]
        n = _MOST_ROWS
    centred = features.astype(np.float64) - features.mean(axis=0, dtype=np.float64)
    # Fewer rows than features: the rows themselves are such a matrix, k x d, and no d x d one is made.
    if n <= d:
        return (centred / np.sqrt(n)).astype(np.float32)
    values, vectors = np.linalg.eigh(centred.T @ centred / n)
    return (np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T).astype(np.float32)


# What happens on the way from one class to another? One sample, moved step by step, with all that is said of it.


@dataclass(frozen=True, eq=False)
class Walk:
    """A line through feature space at steps `t`: the head's probabilities and, of class `label`, the regions.

    `features` can be decoded, so that the way is seen.
    """

    label: int
    t: Float[np.ndarray, " n_steps"]
    features: Float[np.ndarray, "n_steps n_features"] = field(repr=False)
    proba: Float[np.ndarray, "n_steps n_classes"] = field(repr=False)
    distance: Float[np.ndarray, " n_steps"]
    in_centroid: Bool[np.ndarray, " n_steps"]
    in_boundary: Bool[np.ndarray, " n_steps"]
    class_names: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each step and class: t, label, probability, distance, in_centroid, in_boundary."""
        n_steps, n_classes = self.proba.shape
        per_step = ("t", "distance", "in_centroid", "in_boundary")
        cells = {name: np.repeat(getattr(self, name), n_classes) for name in per_step}
        names = np.tile(np.array(self.class_names, dtype=object), n_steps)
        made = pd.DataFrame({**cells, "label": names, "probability": self.proba.ravel()})
        return made[["t", "label", "probability", "distance", "in_centroid", "in_boundary"]]


def walk_between(
    regions: Regions,
    head: Head,
    features: Float[np.ndarray, " n_features"],
    *,
    label: int,
    towards: int,
    n_steps: int = 41,
) -> Walk:
    """Walk from a sample of class `label` to the centroid of the class `towards`, which may be its own.

    Raises DataError for classes that there are not, and for features of another length.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.regions import fit_regions
    >>> from touchstone.core.models.layers import LayerSamples
    >>> head = lambda features: np.column_stack([1 / (1 + np.exp(features[:, 0])), 1 / (1 + np.exp(-features[:, 0]))])
    >>> x = np.array([[-5.0], [-3.0], [3.0], [5.0]])
    >>> train = LayerSamples(x, [0, 0, 1, 1], head(x), ("left", "right"))
    >>> walk_between(fit_regions(train), head, x[0], label=0, towards=1, n_steps=3).in_centroid
    array([ True, False, False])
    """
    if not all(0 <= code < regions.n_classes for code in (label, towards)) or n_steps < 2:
        raise DataError(f"A walk has two steps or more, between classes 0 to {regions.n_classes - 1}.")
    if features.shape[0] != regions.centroids.shape[1]:
        raise DataError(f"Features of another length: {features.shape[0]}, not {regions.centroids.shape[1]}.")
    t = np.linspace(0.0, 1.0, n_steps)
    start = features.astype(np.float64)
    points = start + t[:, None] * (regions.centroids[towards] - start)
    proba, y = head(points), np.full(n_steps, label, dtype=np.int64)
    distance = regions.distances(points, y)
    return Walk(
        label,
        t,
        points,
        proba,
        distance,
        distance <= regions.radii[label],
        regions.in_boundary(proba),
        regions.class_names,
    )


# What does the test set lack, and which real samples should be labelled next? Those of least confidence.
#
# Ranked by how near they lie to what is missing, samples held a fifth of the errors that least confidence finds: what
# is missing says where a sample lies, and does not order the list.

_LABELLED_CHUNK = 1024
_N_FOR_EACH = 10  # tests that stand for a boundary of which the test set has too little


@dataclass(frozen=True)
class Missing:
    """A boundary, of a class or with one rival, that the test set has too little of and for which `n` tests stand.

    `label` and `rival` are codes; a rival of None is whichever is nearest.
    """

    label: int
    rival: int | None
    n: int


def missing_regions(quality: TestQuality) -> tuple[Missing, ...]:
    """Say what is missing: the boundaries of absent classes, and of classes and pairs found to be under-covered.

    Nothing is ever missing near a centroid, where every test set has most.
    """
    codes = {name: code for code, name in enumerate(quality.class_names)}
    under = [
        Missing(codes[finding.label], codes[finding.rival] if finding.rival else None, _N_FOR_EACH)
        for finding in findings(quality)
        if finding.direction == "under" and "boundary" in finding.dimension
    ]
    return (*(Missing(codes[name], None, _N_FOR_EACH) for name in quality.absent), *under)


def generate_missing(start: Start, missing: Sequence[Missing], *, seed: int) -> GeneratedTests | None:
    """Generate what is missing; None where nothing is."""
    made = [
        generate_class(start, request.label, n_centroid=0, n_boundary=request.n, seed=seed, rival=request.rival)
        for request in missing
    ]
    return all_of(made) if made else None


def label_next(wanted: GeneratedTests | None, pool: LayerSamples, regions: Regions, *, n: int) -> pd.DataFrame:
    """List the `n` samples of a pool, labelled or not, that the model is least sure of, the least confident first.

    Columns: id, predicted, confidence; and where there are `wanted` tests near_label, near_rival and region (of the one
    it lies nearest to) and distance (in the unit of that class). Ready to be written as a file for annotators.
    """
    regions.check(pool)
    chosen = np.argsort(pool.confidence, kind="stable")[:n]
    names = np.array(pool.class_names, dtype=object)
    columns = {
        "id": pool.ids[chosen],
        "predicted": names[pool.predicted[chosen]],
        "confidence": pool.confidence[chosen],
    }
    if wanted is None or not len(wanted):
        return pd.DataFrame(columns)
    near, distance = nearest(pool.features[chosen], wanted.features)
    columns |= {
        "near_label": names[wanted.y[near]],
        "near_rival": names[wanted.rival[near]],
        "region": np.where(wanted.for_centroid[near], *REGIONS),
        "distance": distance / regions.units[wanted.y[near]],
    }
    return pd.DataFrame(columns)


def nearest(features: Float[np.ndarray, "n d"], among: Float[np.ndarray, "m d"]) -> tuple[Ints, Floats]:
    """Give for each row the nearest row of `among`, and how far away it is.

    Where no image can be decoded, as of texts and tables, the nearest real sample stands in for a generated one.

    Examples
    --------
    >>> nearest(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0], [8.0]]))
    (array([0, 2]), array([1., 1.]))
    """
    others = among.astype(np.float64)
    squares = np.square(others).sum(axis=1)
    at, far = np.zeros(len(features), dtype=np.int64), np.zeros(len(features))
    for first in range(0, len(features), _LABELLED_CHUNK):
        rows = slice(first, first + _LABELLED_CHUNK)
        part = features[rows].astype(np.float64)
        at[rows] = (squares - 2 * part @ others.T).argmin(axis=1)
        far[rows] = np.linalg.norm(part - others[at[rows]], axis=1)
    return at, far


# Does the model behave as a well-trained one does? The three properties of section 4.1 as metamorphic tests.

TOLERANCE = 0.01
"""By how much a probability may go the wrong way on a line before it counts."""
_N_WALKED = 21
_WALKED_CHUNK = 256
Name = Literal["between centroids", "back to the true centroid", "true class first"]


@dataclass(frozen=True, eq=False)
class Property:
    """One property: `n` lines or samples were tested, `violations` lists those that break it, the worst first.

    Columns of the violations: id (of the sample, "" of a line between centroids), label, other (the class at the other
    end, or the wrongly predicted one), worst (by how much a probability went the wrong way, or how much more probable
    the wrong class is), at (where on the line, from 0 to 1; 0 of a sample).
    """

    name: Name
    says: str
    n: int
    violations: pd.DataFrame = field(repr=False)

    @property
    def n_violated(self) -> int:
        """How many break it."""
        return len(self.violations)

    @property
    def share(self) -> float:
        """The share that breaks it; NaN where nothing could be tested."""
        return self.n_violated / self.n if self.n else float("nan")

    @property
    def interval(self) -> Interval:
        """Wilson's interval of the share."""
        return wilson(float(self.n_violated), float(self.n))


@dataclass(frozen=True)
class Properties:
    """All three."""

    each: tuple[Property, Property, Property]

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each property: property, says, n, n_violated, share, lower, upper."""
        return pd.DataFrame(
            [
                {
                    "property": each.name,
                    "says": each.says,
                    "n": each.n,
                    "n_violated": each.n_violated,
                    "share": each.share,
                    **each.interval.columns(),
                }
                for each in self.each
            ]
        )

    def violations(self) -> pd.DataFrame:
        """Tidy rows, one for each violation: property, and the columns of `Property.violations`."""
        return pd.concat([each.violations.assign(property=each.name) for each in self.each], ignore_index=True)


def check_properties(regions: Regions, head: Head, test: LayerSamples) -> Properties:
    """Test all three: two on lines through feature space, which need the head, and one on the test samples alone.

    Weak misclassifications are those at the boundary: wrong, with a confidence in the regions' band.
    """
    regions.check(test)
    on_lines = _between_centroids(regions, head), _back_to_truth(regions, head, test)
    return Properties((*on_lines, _true_class_first(test)))


def wrong_ways(falling: np.ndarray, rising: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Say how far lines go wrong: the largest rise of what should fall, or fall of what should rise; and at which step.

    Examples
    --------
    >>> wrong_ways(np.array([[0.9, 0.5, 0.6]]), np.array([[0.1, 0.4, 0.4]]))
    (array([0.1]), array([2]))
    """
    rise = falling - np.minimum.accumulate(falling, axis=1)
    fall = np.maximum.accumulate(rising, axis=1) - rising
    worst = np.maximum(rise, fall)
    return worst.max(axis=1), worst.argmax(axis=1)


def _wrong_on_lines(
    head: Head, start: np.ndarray, end: np.ndarray, falling: np.ndarray, rising: np.ndarray
) -> dict[str, np.ndarray]:
    """By how much the head goes the wrong way on the line from each start to its end, and where."""
    steps = np.linspace(0.0, 1.0, _N_WALKED)[None, :, None]
    worst, at = np.zeros(len(start)), np.zeros(len(start))
    for first in range(0, len(start), _WALKED_CHUNK):
        rows = slice(first, first + _WALKED_CHUNK)
        points = start[rows, None] + steps * (end[rows, None] - start[rows, None])
        proba, n = head(points.reshape(-1, points.shape[-1])).reshape(*points.shape[:2], -1), np.arange(len(points))
        worst[rows], at[rows] = wrong_ways(proba[n, :, falling[rows]], proba[n, :, rising[rows]])
    return {"worst": worst, "at": at / (_N_WALKED - 1)}


def _between_centroids(regions: Regions, head: Head) -> Property:
    first, second = np.triu_indices(regions.n_classes, k=1)
    wrong = _wrong_on_lines(head, regions.centroids[first], regions.centroids[second], first, second)
    names = np.array(regions.class_names, dtype=object)
    made = pd.DataFrame({"id": "", "label": names[first], "other": names[second], **wrong})
    says = "from one centroid to another, the first class becomes less probable and the second more"
    return Property("between centroids", says, len(first), _violations(made))


def _back_to_truth(regions: Regions, head: Head, test: LayerSamples) -> Property:
    weak = np.flatnonzero((test.predicted != test.labels) & regions.in_boundary(test.proba))
    y, predicted = test.labels[weak], test.predicted[weak]
    says = "from a weak misclassification to the true centroid, the wrong class becomes less probable and the true more"
    names = np.array(test.class_names, dtype=object)
    wrong = _wrong_on_lines(head, test.features[weak].astype(np.float64), regions.centroids[y], predicted, y)
    made = pd.DataFrame({"id": test.ids[weak], "label": names[y], "other": names[predicted], **wrong})
    return Property("back to the true centroid", says, len(weak), _violations(made))


def _true_class_first(test: LayerSamples) -> Property:
    y, predicted = test.labels, test.predicted
    wrong = np.flatnonzero(predicted != y)
    names = np.array(test.class_names, dtype=object)
    made = pd.DataFrame(
        {
            "id": test.ids[wrong],
            "label": names[y[wrong]],
            "other": names[predicted[wrong]],
            "worst": test.proba[wrong, predicted[wrong]] - test.proba[wrong, y[wrong]],
            "at": 0.0,
        }
    )
    return Property("true class first", "the true class is the most probable", len(test), _sorted(made))


def _violations(made: pd.DataFrame) -> pd.DataFrame:
    return _sorted(made[made["worst"] > TOLERANCE])


def _sorted(made: pd.DataFrame) -> pd.DataFrame:
    return made.sort_values("worst", ascending=False, kind="stable", ignore_index=True)
