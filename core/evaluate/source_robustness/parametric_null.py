"""How much harder are held-out clusters in clouds without groups? The same procedure on data and on such clouds.

A cluster is a corner of its class, and a corner is hard to reach from the rest whether or not the class has sources.
So the data go through: find clusters, hold out whole ones or a share of each, fit, test; and then so do clouds of the
same shape (`CLOUDS`), in the same features, with the same finder and splits. The model is a linear discriminant
throughout: hundreds of fits take seconds, and what is asked of it is only how much harder corners are here than there.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from scipy import special

from touchstone.core.cluster.finders import SOURCE_FINDERS, find_sources, trains
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.data.values import Codes
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import t_interval, t_p_value
from touchstone.core.evaluate.wording import p_value, points
from touchstone.core.models.classical import ShouldStop, stop_if
from touchstone.core.models.threads import single_threaded
from touchstone.core.parameters import asks
from touchstone.core.represent import REPRESENTATIONS, check_representation, default_representation
from touchstone.core.represent.representations import principal_components
from touchstone.core.split.scheme import SourceExclusive, SourceInclusive
from touchstone.core.split.units import partners
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.defaults import meant_features
from touchstone.core.trials.plan import check_fields, check_whole
from touchstone.core.trials.sources_plan import KNOWN_SOURCES, check_class_sizes, features, rows_of_units

# What would the classes look like if they had no groups? Clouds of the same shape, drawn class by class.


def copula_cloud(
    features: Float[np.ndarray, "n_samples n_features"], y: Codes, *, rng: np.random.Generator
) -> Float[np.ndarray, "n_samples n_features"]:
    """Draw each class anew from a Gaussian copula: its marginals exactly, the correlations of its normal scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> features, y = rng.exponential(size=(50, 3)), np.zeros(50, dtype=int)
    >>> cloud = copula_cloud(features, y, rng=rng)
    >>> bool((np.sort(cloud, axis=0) == np.sort(features, axis=0)).all()), bool((cloud == features).all())
    (True, False)
    """
    from scipy.stats import rankdata

    def drawn(members: np.ndarray) -> np.ndarray:
        scores = special.ndtri((rankdata(members, axis=0) - 0.5) / len(members))
        places = np.argsort(np.argsort(_rotated(scores, rng), axis=0), axis=0)
        return np.take_along_axis(np.sort(members, axis=0), places, axis=0)

    return _class_by_class(features, y, drawn)


def gaussian_cloud(
    features: Float[np.ndarray, "n_samples n_features"], y: Codes, *, rng: np.random.Generator
) -> Float[np.ndarray, "n_samples n_features"]:
    """Draw each class anew from a Gaussian, with exactly the class's mean and covariance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> features, y = rng.exponential(size=(50, 3)), np.zeros(50, dtype=int)
    >>> cloud = gaussian_cloud(features, y, rng=rng)
    >>> bool(np.allclose(np.cov(cloud.T), np.cov(features.T)))
    True
    """
    return _class_by_class(features, y, lambda members: _rotated(members, rng))


CLOUDS = {"copula": copula_cloud, "gaussian": gaussian_cloud}
"""Ways to draw a cloud, by name; the claim rests on the first."""


def _class_by_class(features: np.ndarray, y: np.ndarray, drawn: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    cloud = np.empty_like(features)
    for label in np.unique(y):
        cloud[y == label] = drawn(features[y == label])
    return cloud


def _rotated(
    members: Float[np.ndarray, "n_members n_features"], rng: np.random.Generator
) -> Float[np.ndarray, "n_members n_features"]:
    """Rows mixed by a random rotation that keeps their mean: same mean, same covariance, and else like a Gaussian."""
    mean = members.mean(axis=0)
    _, spread, directions = np.linalg.svd(members - mean, full_matrices=False)
    kept = spread > 1e-9 * max(spread[0], 1e-300)
    if not kept.any():
        return np.tile(mean, (len(members), 1))
    places = rng.standard_normal((len(members), int(kept.sum())))
    orthogonal, _ = np.linalg.qr(places - places.mean(axis=0))
    return mean + (orthogonal * spread[kept]) @ directions[kept]


# How much harder are held-out clusters in clouds without groups? The same procedure on data and on such clouds.


COLUMNS = {
    "cloud": "Int64",
    "shape": TEXTS,
    "scheme": TEXTS,
    "repeat": "Int64",
    "n_correct": "Int64",
    "n_test": "Int64",
    "n_samples": "Int64",
    "n_dimensions": "Int64",
    "seconds": "float64",
    "status": TEXTS,
}
"""The columns of the rows and their types: one row for each draw of each scheme.

`cloud` 0 with the shape "data" are the data themselves; the others are clouds of a shape in CLOUDS. `n_samples` is how
many samples went through, in `n_dimensions`. A trial that failed is one row without figures.
"""

DATA = "data"
MOST_DIMENSIONS = 20
"""Features of more columns are condensed to so many principal components."""
RIDGE = 0.001
"""Added to the covariance, as a share of its mean variance, so that it can be inverted."""


@dataclass(frozen=True)
class ParametricNullPlan:
    """Measure the gap between clusters seen in training and held-out ones, on the data and on clouds of their shape.

    Parameters
    ----------
    source_finder
        A name in SOURCE_FINDERS of one that clusters features.
    n_sources, representation, test_share
        As in TrialPlan.
    n_clouds
        Simulated data sets per class. All of the first shape come first, since the claim rests on them.
    n_clusterings, n_repeats
        Of the data and of each cloud: how often clusters are found, and how many splits of each scheme are drawn in
        all.
    max_samples
        Where there are more samples, so many at random go through: this keeps the whole within a minute or two.
    seed
        The one number that all randomness is derived from.

    Raises DataError for a name that cannot be chosen and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan, wine = ParametricNullPlan(n_clusterings=1, n_repeats=2), load_example("wine")
    >>> plan.n_trials(wine)
    39
    >>> plan.run_trial(wine, 0, context=Context())["scheme"].tolist()
    ['source_exclusive', 'source_exclusive', 'source_inclusive', 'source_inclusive']
    """

    source_finder: str = asks(
        "kmeans",
        label="Sources",
        help="How clusters are found.",
        place="command",
        choices=lambda about: {name: finder.title for name, finder in SOURCE_FINDERS.items() if not finder.trains},
    )
    n_sources: int = asks(5, label="Clusters per class", help="Clusters to find.", place="command", lowest=2)
    representation: str | None = asks(
        None,
        label="Features for finding sources",
        help="In which clusters are found.",
        place="command",
        word="usual",
        means=meant_features,
    )
    test_share: float = asks(0.2, label="Test share", help="As of the trials.", place="command", lowest=0.05)
    n_clouds: int = asks(19, label="Clouds", help="Simulated data sets per class.", place="command", lowest=19)
    n_clusterings: int = asks(2, label="Clusterings", help="Of each simulated data set.", place="command", lowest=1)
    n_repeats: int = asks(10, label="Repeats", help="Splits of each scheme.", place="command", lowest=1)
    max_samples: int = asks(2000, label="Samples", help="The most samples used.", place="command", lowest=100)
    seed: int = asks(0, label="Seed", help="The same seed gives the same result.", place="command", lowest=0)

    kind: ClassVar[str] = "clouds"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        if self.source_finder not in SOURCE_FINDERS or trains(self.source_finder):
            clustering = ", ".join(name for name in SOURCE_FINDERS if not trains(name))
            raise DataError(f"source_finder: {self.source_finder!r} cannot be chosen. Choose from {clustering}.")
        if self.representation is not None and self.representation not in REPRESENTATIONS:
            raise DataError(
                f"representation: {self.representation!r} cannot be chosen. Choose from {', '.join(REPRESENTATIONS)}."
            )
        lowest_of = {"n_sources": 2, "n_clouds": 19, "n_clusterings": 1, "n_repeats": 1, "max_samples": 100, "seed": 0}
        check_whole(self, lowest_of)
        if not isinstance(self.test_share, float) or not 0 < self.test_share < 1:
            raise DataError(f"test_share must lie between 0 and 1, not {self.test_share!r}.")

    def n_raised(self) -> int:
        """How often the version of its source finder has been raised."""
        return SOURCE_FINDERS[self.source_finder].version - 1

    @property
    def title(self) -> str:
        """What a person calls it.

        >>> ParametricNullPlan().title
        'Data without groups · k-means clusters'
        """
        return f"Data without groups · {SOURCE_FINDERS[self.source_finder].title}"

    def n_trials(self, dataset: Dataset) -> int:
        """The data, and the clouds of each shape. Raises DataError where the plan does not fit the data set."""
        if self.representation is not None:
            check_representation(dataset, self.representation)
        check_class_sizes(dataset, self.n_sources)
        return 1 + len(CLOUDS) * self.n_clouds

    def stored_models(self) -> tuple[str, ...]:
        """None: the models are forgotten."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """The rows of one cloud, or of the data (`COLUMNS`). Raises Cancelled between fits."""
        start, shape = time.perf_counter(), self.shape_of(index)
        with single_threaded():
            points, y = _points(self, dataset)
            rng = np.random.default_rng([self.seed, index])
            cloud = points if shape == DATA else CLOUDS[shape](points, y, rng=rng)
            rows = self._rows(cloud, y, dataset, rng, context.should_stop)
        same = {"cloud": index, "shape": shape, "n_samples": len(y), "n_dimensions": points.shape[1]}
        seconds = time.perf_counter() - start
        return _frame([{**same, **row, "seconds": seconds, "status": "ok"} for row in rows])

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        return _frame([{"cloud": index, "shape": self.shape_of(index), "status": "failed"}])

    def shape_of(self, index: int) -> str:
        """The shape of a trial's cloud.

        >>> [ParametricNullPlan().shape_of(index) for index in (0, 1, 19, 20, 38)]
        ['data', 'copula', 'copula', 'gaussian', 'gaussian']
        """
        return DATA if index == 0 else list(CLOUDS)[(index - 1) // self.n_clouds]

    def _rows(
        self, cloud: np.ndarray, y: Codes, dataset: Dataset, rng: np.random.Generator, should_stop: ShouldStop | None
    ) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        of_clustering = [repeats.tolist() for repeats in np.array_split(np.arange(self.n_repeats), self.n_clusterings)]
        for repeats in of_clustering:
            clusters = find_sources(
                cloud, y, n_sources=self.n_sources, method=self.source_finder, rng=rng, class_names=dataset.class_names
            )
            seed = int(rng.integers(2**31))
            given = {"n_repeats": len(repeats), "test_share": self.test_share, "seed": seed}
            held_out = list(SourceExclusive(**given).split(None, y, clusters))
            seen = partners(SourceInclusive(**given).split(None, y, clusters), held_out, y, seed=seed)
            for name, splits in (("source_exclusive", held_out), ("source_inclusive", seen)):
                for repeat, (train, test) in zip(repeats, splits, strict=False):
                    stop_if(should_stop)
                    predicted = discriminated(cloud[train], y[train], cloud[test], n_classes=dataset.n_classes)
                    n_correct = int((predicted == y[test]).sum())
                    rows.append({"scheme": name, "repeat": repeat, "n_correct": n_correct, "n_test": len(test)})
        return sorted(rows, key=lambda row: str(row["scheme"]))


def discriminated(
    x: Float[np.ndarray, "n_train n_dimensions"],
    y: Integer[np.ndarray, " n_train"],
    unseen: Float[np.ndarray, "n_test n_dimensions"],
    *,
    n_classes: int,
) -> Integer[np.ndarray, " n_test"]:
    """Classes by Fisher's linear discriminant: the nearest mean by the pooled covariance, and the classes' shares.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> discriminated(x, y, np.array([[2.0], [6.0]]), n_classes=2).tolist()
    [0, 1]
    """
    n = np.maximum(np.bincount(y, minlength=n_classes), 1e-9)
    means = np.stack([np.bincount(y, column, n_classes) / n for column in x.T], axis=1)
    away = x - means[y]
    covariance = away.T @ away / max(len(x) - n_classes, 1)
    ridge = RIDGE * np.trace(covariance) / len(covariance) + 1e-12
    directions = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), means.T)
    scores = unseen @ directions - (means * directions.T).sum(axis=1) / 2 + np.log(n / len(x))
    return scores.argmax(axis=1)


def clouds_plan(plan: TrialPlan, source_finder: str) -> ParametricNullPlan | None:
    """The clouds beside a plan of trials with one of its source finders.

    None where there is nothing to compare with: sources that are known, or that a network found.

    Examples
    --------
    >>> clouds_plan(TrialPlan(n_sources=3), "kmeans").n_sources
    3
    >>> clouds_plan(TrialPlan(), "known") is None
    True
    """
    if source_finder == KNOWN_SOURCES or trains(source_finder):
        return None
    return ParametricNullPlan(source_finder, plan.n_sources, plan.representation, plan.test_share, seed=plan.seed)


@lru_cache(maxsize=2)
def _points(plan: ParametricNullPlan, dataset: Dataset) -> tuple[Float[np.ndarray, "n_samples n_dimensions"], Codes]:
    """The features that clusters are found in, condensed, of a share of every class where there are many samples.

    Samples of one unit are one point, their mean.
    """
    encoded = np.asarray(features(dataset, plan.representation or default_representation(dataset.kind)), dtype=float)
    encoded, y = rows_of_units(dataset, encoded)
    rows = np.arange(len(y))
    if len(y) > plan.max_samples:
        rng = np.random.default_rng([plan.seed, len(y)])
        share = plan.max_samples / len(y)
        kept = [
            rng.choice(of_class, max(round(share * len(of_class)), min(len(of_class), 4 * plan.n_sources)), False)
            for of_class in (np.flatnonzero(y == label) for label in range(dataset.n_classes))
        ]
        rows = np.sort(np.concatenate(kept))
    points = encoded[rows]
    if points.shape[1] > MOST_DIMENSIONS:
        points = principal_components(points - points.mean(axis=0), MOST_DIMENSIONS)
    return points, y[rows].astype(np.int64)


def _frame(rows: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


# Are held-out clusters harder than in a cloud without groups, and by how much? The null for found sources.
#
# The gap (accuracy on clusters seen in training less that on held-out ones) of the data, less the mean gap of copula
# clouds. Under the null the data are one more such cloud, so that interval and p-value are those of a t prediction: the
# variance is that of the clouds' gaps, and the mean of n clouds adds 1 / n of it. Only what lies beyond is a claim: a
# gap below that of clouds says nothing of sources, and its p-value is 1.


KIND = "source_robustness.beyond_cloud"
FEWEST_CLOUDS = 19


@dataclass(frozen=True, eq=False)
class CloudGaps:
    """Gaps as fractions: of the data (NaN while unknown), and of each finished cloud of either shape."""

    observed: float
    copula: Float[np.ndarray, " n_copula"]
    gaussian: Float[np.ndarray, " n_gaussian"]
    n_samples: int
    n_dimensions: int

    @property
    def claim(self) -> Claim:
        """Whether the gap is beyond that of copula clouds; undecided while fewer than FEWEST_CLOUDS are known."""
        n = len(self.copula)
        known = n >= FEWEST_CLOUDS and not np.isnan(self.observed)
        excess = self.observed - float(self.copula.mean()) if known else float("nan")
        se = float(self.copula.std(ddof=1) * np.sqrt(1 + 1 / n)) if known else float("nan")
        p_value = 1.0 if excess <= 0 else t_p_value(excess, se, n - 1.0)
        return claim(KIND, excess, t_interval(excess, se, n - 1.0), p_value)


def cloud_gaps(rows: pd.DataFrame) -> CloudGaps:
    """The gaps in the rows of a ParametricNullPlan, as far as its trials go.

    Examples
    --------
    >>> rows = pd.DataFrame({"cloud": 0, "shape": "data", "scheme": ["source_exclusive", "source_inclusive"],
    ...                      "n_correct": [8, 9], "n_test": 10, "n_samples": 50, "n_dimensions": 4, "status": "ok"})
    >>> round(cloud_gaps(rows).observed, 3), cloud_gaps(rows).claim.decision
    (0.1, 'undecided')
    """
    ok = rows.loc[(rows["status"] == "ok").to_numpy(dtype=bool)] if len(rows) else rows
    if not len(ok):
        return CloudGaps(float("nan"), np.zeros(0), np.zeros(0), 0, 0)
    accuracy = ok["n_correct"].to_numpy(dtype=float) / ok["n_test"].to_numpy(dtype=float)
    means = ok.assign(accuracy=accuracy).groupby(["shape", "cloud", "scheme"])["accuracy"].mean().unstack()
    gaps = (means["source_inclusive"] - means["source_exclusive"]).dropna()

    def of(shape: str) -> np.ndarray:
        return gaps.loc[gaps.index.get_level_values("shape") == shape].to_numpy(dtype=float)

    observed = of(DATA)
    return CloudGaps(
        observed=float(observed[0]) if len(observed) else float("nan"),
        copula=of("copula"),
        gaussian=of("gaussian"),
        n_samples=int(ok["n_samples"].iloc[0]),
        n_dimensions=int(ok["n_dimensions"].iloc[0]),
    )


def cloud_sentence(null: Claim | None) -> str:
    """What may be said of clusters that stand in for sources; undecided while it is not known.

    Examples
    --------
    >>> cloud_sentence(None)
    'Undecided whether held-out clusters are harder than those of simulated data without groups.'
    >>> from touchstone.core.evaluate.intervals import Interval
    >>> from touchstone.core.evaluate.claims import claim
    >>> cloud_sentence(claim(KIND, 0.08, Interval(0.05, 0.11), 0.001)).partition(". ")[0]
    'Held-out clusters are harder than in simulated data without groups, by 8.0 points [5.0, 11.0]'
    """
    if null is None or not null.interval.known:
        return "Undecided whether held-out clusters are harder than those of simulated data without groups."
    if null.decision == "above":
        return (
            f"Held-out clusters are harder than in simulated data without groups, by "
            f"{points(null.estimate, null.interval)}. Classes have groups or curved shapes; only known sources show "
            f"whether these are sources."
        )
    if null.decision == "undecided":
        return (
            "Held-out clusters are not significantly harder than those of simulated data without groups "
            f"({p_value(null.p_value)}). They are no evidence of sources."
        )
    return "Held-out clusters are harder, as in simulated data without groups. They are no evidence of sources."
