"""Has the distribution of the inputs moved from training to test? Divergence of mixtures, against its null.

Of one class (Mani et al. 2019, section 5.2): features in the directions in which its training samples vary most, a
Gaussian mixture on either part, their Jensen-Shannon divergence in bits. Two mixtures of finite samples always differ,
so the divergence is held against its null: the same samples split again at random, into parts of the same sizes, and
everything done once more.
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit, logsumexp

from touchstone.core.data import DataError
from touchstone.core.data.tables.names import plural_of
from touchstone.core.data.values import Codes, Floats
from touchstone.core.evaluate.intervals import max_t
from touchstone.core.evaluate.units import FEWEST_UNITS, drawn_as_units
from touchstone.core.models.threads import single_threaded

# How far apart are two mixtures of Gaussians? Each is fitted to points; their divergence is drawn by Monte-Carlo.


_SOFT = 1e-3  # added to the variances of components, in units of the points' own


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of Gaussians: weights, means and full covariances of its components.

    Examples
    --------
    >>> normal = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> normal.log_density(np.zeros((1, 1)))
    array([-0.91893853])
    """

    weights: Float[np.ndarray, " n_components"]
    means: Float[np.ndarray, "n_components d"] = field(repr=False)
    covariances: Float[np.ndarray, "n_components d d"] = field(repr=False)

    def log_density(self, x: Float[np.ndarray, "n d"]) -> Floats:
        """Give the natural logarithm of the density at every row of `x`."""
        parts = np.empty((len(self.weights), len(x)))
        for i, (weight, mean, covariance) in enumerate(zip(self.weights, self.means, self.covariances, strict=True)):
            root = cholesky(covariance, lower=True)
            scaled = solve_triangular(root, (x - mean).T, lower=True)
            constant = np.log(weight) - np.log(np.diag(root)).sum() - len(mean) / 2 * np.log(2 * np.pi)
            parts[i] = constant - np.square(scaled).sum(axis=0) / 2
        return np.asarray(logsumexp(parts, axis=0))

    def sample(self, n: int, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
        """Draw `n` points."""
        counts = rng.multinomial(n, self.weights / self.weights.sum())
        drawn = [
            mean + rng.normal(size=(count, len(mean))) @ cholesky(covariance, lower=True).T
            for count, mean, covariance in zip(counts, self.means, self.covariances, strict=True)
        ]
        return np.concatenate(drawn)


def fit_mixture(x: Float[np.ndarray, "n d"], *, n_components: int, rng: np.random.Generator) -> Mixture:
    """Fit a Gaussian mixture with full, regularised covariances by expectation-maximisation (scikit-learn's).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(-5, 1, (200, 1)), rng.normal(5, 1, (200, 1))])
    >>> np.sort(fit_mixture(x, n_components=2, rng=rng).means[:, 0]).round()
    array([-5.,  5.])
    """
    if n_components == 1:  # what EM would find, without it
        covariance = np.cov(x, rowvar=False, bias=True).reshape(x.shape[1], x.shape[1])
        return Mixture(np.ones(1), x.mean(axis=0)[None], (covariance + _SOFT * np.eye(x.shape[1]))[None])
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    fit = GaussianMixture(
        n_components, reg_covar=_SOFT, init_params="k-means++", random_state=int(rng.integers(2**31)), max_iter=200
    )
    with warnings.catch_warnings():
        # A fit that still creeps after 200 rounds is as good as done, and re-splits are treated alike.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(x)
    return Mixture(np.asarray(fit.weights_), np.asarray(fit.means_), np.asarray(fit.covariances_))


def jensen_shannon(p: Mixture, q: Mixture, *, n_draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Give the Jensen-Shannon divergence of two mixtures in bits, by Monte-Carlo, and its standard error.

    It is (KL(p | m) + KL(q | m)) / 2 with m = (p + q) / 2, that is what a point drawn from m tells of which of the two
    it came from: 1 bit less the entropy of its answer. The average over both answers is taken, whichever it was drawn
    from: where the two hardly differ, that varies far less than one answer's own term.

    Examples
    --------
    >>> far = Mixture(np.ones(1), np.full((1, 1), 50.0), np.ones((1, 1, 1)))
    >>> near = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> jensen_shannon(near, far, n_draws=100, rng=np.random.default_rng(0))
    (1.0, 0.0)
    """
    total, variance = 0.0, 0.0
    for own, other in ((p, q), (q, p)):
        x = own.sample(n_draws, rng)
        # From logarithms: far from a mixture its density would be 0.
        apart = other.log_density(x) - own.log_density(x)
        share = expit(apart)
        bits = 1 - (np.logaddexp(0.0, apart) - share * apart) / np.log(2)
        total += float(bits.mean()) / 2
        variance += float(bits.var(ddof=1)) / n_draws / 4
    return min(max(total, 0.0), 1.0), float(np.sqrt(variance))


# Has the distribution of the inputs moved from training to test? Divergence of mixtures, against its null.


N_DIMENSIONS = 10
N_COMPONENTS = 10
N_DRAWS = 5000
N_RESPLITS = 99
FEWEST_PER_COMPONENT = 50
FEWEST = 10
"""A class with fewer samples in either part is not measured."""
_MOST_FEATURES = 256  # what more features are brought to first, the parts taken together
_TINY = 1e-10  # of the largest variance: a direction that varies less does not vary


@dataclass(frozen=True)
class Divergence:
    """The Jensen-Shannon divergence of one class's training and test part, split as they are or once more at random.

    `value` lies in [0, 1] bits, and Monte-Carlo has the standard `error`. `n_dimensions` were kept, which hold
    `kept_variance` of the training part's; the mixtures have `n_train_components` and `n_test_components`. NaN and 0
    where a part is too small.
    """

    value: float
    error: float
    n_dimensions: int
    kept_variance: float
    n_train_components: int
    n_test_components: int


NOT_MEASURED = Divergence(float("nan"), float("nan"), 0, float("nan"), 0, 0)


@dataclass(frozen=True, eq=False)
class ClassShift:
    """One class: its divergence, and what re-splits of the same sizes give by chance (`null`).

    `p_value` is (1 + how many re-splits diverge as much) / (1 + how many there are); `p_corrected` is corrected for all
    classes (`max_t`). `note` says why a number is missing, or what was changed to get it.
    """

    label: str
    n_train: int
    n_test: int
    observed: Divergence
    null: Float[np.ndarray, " n_resplits"] = field(repr=False)
    p_value: float
    note: str
    p_corrected: float = float("nan")

    @property
    def excess(self) -> float:
        """The divergence less the mean of its null: what is left once chance has had its share."""
        return self.observed.value - float(self.null.mean()) if len(self.null) else float("nan")

    @property
    def shifted(self) -> bool:
        """Whether the parts differ by more than chance, corrected for the number of classes."""
        return self.p_corrected < 0.05


@dataclass(frozen=True, eq=False)
class CovariateShift:
    """Every class of a data set, in the order of its class names."""

    classes: tuple[ClassShift, ...]
    p_together: float = float("nan")
    """How rare so large a mean divergence of all classes is, looked at beside them."""
    unit: str = "sample"
    """What re-splits keep whole."""

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each class.

        label, n_train, n_test, the fields of `Divergence` (`value` as divergence), null_mean, null_lower and null_upper
        (95 % of re-splits), excess, n_resplits, p_value, p_corrected, note.
        """
        rows = []
        for shift in self.classes:
            known, of_split = len(shift.null) > 0, asdict(shift.observed)
            low, high = np.quantile(shift.null, [0.025, 0.975]) if known else (np.nan, np.nan)
            rows.append(
                {
                    "label": shift.label,
                    "n_train": shift.n_train,
                    "n_test": shift.n_test,
                    "divergence": of_split.pop("value"),
                    "error": of_split.pop("error"),
                    "null_mean": float(shift.null.mean()) if known else np.nan,
                    "null_lower": float(low),
                    "null_upper": float(high),
                    "excess": shift.excess,
                    "n_resplits": len(shift.null),
                    "p_value": shift.p_value,
                    "p_corrected": shift.p_corrected,
                    **of_split,
                    "note": shift.note,
                }
            )
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class ShiftOptions:
    """How the divergence of a class is measured; flat, so that a plan can hold it.

    Examples
    --------
    >>> ShiftOptions().n_components_for(1000), ShiftOptions().n_components_for(120)
    (10, 2)
    """

    n_dimensions: int = N_DIMENSIONS
    n_components: int = N_COMPONENTS
    n_draws: int = N_DRAWS

    def n_components_for(self, n: int) -> int:
        """Fewer components below 50 samples each; at least one."""
        return max(1, min(self.n_components, n // FEWEST_PER_COMPONENT))


@dataclass(frozen=True, eq=False)
class ClassParts:
    """The samples of one class, ready to be split: training samples first, `n_train` of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = class_parts(rng.normal(size=(60, 3)), rng.normal(size=(30, 3)))
    >>> shift_of(parts, resplit=0, seed=0).n_dimensions, parts.n_train
    (3, 60)
    """

    features: Float[np.ndarray, "n_samples n_features"] = field(repr=False)
    n_train: int
    total_share: float
    """How much of the variance was kept when many features were brought to fewer, both parts taken together."""
    units: Codes | None = field(default=None, repr=False)
    """The unit of each sample, where they came in units: re-splits take as many of these, each of them whole."""

    def resplit(self, rng: np.random.Generator, of_units: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The rows of training and test part, drawn again at random; units as `of_units` ranks them.

        All classes are given the same one: a unit that is in several goes to the same part in all of them.
        """
        n = len(self.features)
        if self.units is None:
            order = rng.permutation(n)
            return order[: self.n_train], order[self.n_train :]
        is_test = drawn_as_units(self.units, np.arange(n) >= self.n_train, of_units)
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)

    @property
    def enough(self) -> bool:
        """Whether both parts have samples enough, and units."""
        parts = slice(None, self.n_train), slice(self.n_train, None)
        n_units = FEWEST_UNITS if self.units is None else min(len(np.unique(self.units[part])) for part in parts)
        return min(self.n_train, len(self.features) - self.n_train) >= FEWEST and n_units >= FEWEST_UNITS


def class_parts(
    train: Float[np.ndarray, "n_train d"], test: Float[np.ndarray, "n_test ..."], units: Codes | None = None
) -> ClassParts:
    """Bring a class's two parts together, with the units of the samples of both.

    More than 256 features become the 256 directions that matter most.

    These are found without asking which part a sample is of, so that no re-split is treated unlike the other.
    """
    if train.shape[1:] != test.shape[1:]:
        raise DataError(
            f"Features of another length: {test.shape[1]} a test sample, {train.shape[1]} a training sample. Both must "
            "come from the same layer of the same model."
        )
    both = np.concatenate([train, test]).astype(np.float64)
    if not np.isfinite(both).all():
        raise DataError("The features hold something that is no finite number.")
    share = 1.0
    if both.shape[1] > _MOST_FEATURES and len(both) > 1:
        from sklearn.decomposition import PCA

        n = min(_MOST_FEATURES, len(both) - 1)
        total = np.var(both, axis=0, ddof=1).sum()
        # The fastest exact one for the shape; beyond 2,048 features only the random one ends in time.
        solver = "full" if len(both) <= 1024 else "covariance_eigh" if both.shape[1] <= 2048 else "randomized"
        with single_threaded():
            pca = PCA(n, svd_solver=solver, random_state=0).fit(both)
            both = pca.transform(both)
        share = float(pca.explained_variance_.sum() / total) if total > 0 else 1.0
    return ClassParts(both, len(train), share, units)


def shift_of(
    parts: ClassParts, *, resplit: int, seed: int, units_seed: int = 0, options: ShiftOptions | None = None
) -> Divergence:
    """Measure one split of one class: 0 is the split as it is, each number above it one of the same sizes at random.

    This is the piece that a long computation is made of: pieces depend on nothing but their arguments, and may be
    computed in any order, anywhere. Everything is done anew for each split, the PCA included: a PCA that knew the
    original training samples would favour them. `units_seed` is one for all classes, which share units.
    """
    options = options or ShiftOptions()
    rng = np.random.default_rng([seed, resplit])
    n_train, features = parts.n_train, parts.features
    if not parts.enough:
        return NOT_MEASURED
    own, other = np.arange(n_train), np.arange(n_train, len(features))
    if resplit > 0:
        own, other = parts.resplit(rng, np.random.default_rng([units_seed, resplit]))
    with single_threaded():
        train, test, kept = _projected(features[own], features[other], options.n_dimensions)
        if train.shape[1] == 0:
            return NOT_MEASURED
        p = fit_mixture(train, n_components=options.n_components_for(len(train)), rng=rng)
        q = fit_mixture(test, n_components=options.n_components_for(len(test)), rng=rng)
        value, error = jensen_shannon(p, q, n_draws=options.n_draws, rng=rng)
    n_components = (len(p.weights), len(q.weights))
    return Divergence(value, error, train.shape[1], kept * parts.total_share, *n_components)


def class_shift(
    label: str,
    n_train: int,
    n_test: int,
    pieces: Sequence[Divergence],
    *,
    options: ShiftOptions | None = None,
    unit: str = "sample",
) -> ClassShift:
    """Bring the pieces of a class together, the split as it is first. Re-splits may be missing; they are then fewer.

    Examples
    --------
    >>> pieces = [Divergence(value, 0.01, 2, 1.0, 1, 1) for value in (0.30, 0.10, 0.12, 0.31)]
    >>> class_shift("a", 100, 50, pieces).p_value
    0.5
    """
    options = options or ShiftOptions()
    observed = pieces[0]
    null = np.array([piece.value for piece in pieces[1:]])
    known = not np.isnan(observed.value)
    # The split as it is counts as one of the re-splits: the p-value then errs as seldom as it says, and is never 0.
    p = (1 + int((null >= observed.value).sum())) / (1 + len(null)) if known and len(null) else float("nan")
    return ClassShift(
        label, n_train, n_test, observed, null if known else null[:0], p, _note(observed, n_test, options, unit)
    )


def covariate_shift(
    train: Float[np.ndarray, "n_train d"],
    y_train: Integer[np.ndarray, " n_train"],
    test: Float[np.ndarray, "n_test ..."],
    y_test: Integer[np.ndarray, " n_test"],
    *,
    class_names: tuple[str, ...],
    seed: int,
    n_resplits: int = N_RESPLITS,
    options: ShiftOptions | None = None,
    units: tuple[Integer[np.ndarray, " n_train"], Integer[np.ndarray, " n_test"]] | None = None,
) -> CovariateShift:
    """Measure every class, one after the other, as a `CovariateShiftPlan` does piece by piece.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, moved = np.arange(120) % 2, np.array([0.0, 3.0])
    >>> train, test = rng.normal(size=(120, 2)), rng.normal(size=(120, 2)) + moved[y][:, None]
    >>> options = {"class_names": ("stays", "moves"), "seed": 0, "n_resplits": 59}
    >>> [one.shifted for one in covariate_shift(train, y, test, y, **options).classes]
    [False, True]
    """
    classes = []
    for code, name in enumerate(class_names):
        is_own, is_other = y_train == code, y_test == code
        own, other = train[is_own], test[is_other]
        of_units = None if units is None else np.concatenate([units[0][is_own], units[1][is_other]])
        parts = class_parts(own, other, of_units)
        seeds = {"seed": class_seed(seed, code), "units_seed": seed}
        pieces = [shift_of(parts, resplit=resplit, **seeds, options=options) for resplit in range(1 + n_resplits)]
        classes.append(class_shift(name, len(own), len(other), pieces, options=options))
    return corrected(classes)


def class_seed(seed: int, code: int) -> int:
    """Give the seed of one class's pieces, so that no two classes are split alike.

    Examples
    --------
    >>> class_seed(0, 1) == class_seed(0, 2)
    False
    """
    return int(np.random.SeedSequence([seed, code]).generate_state(1)[0])


def corrected(classes: Sequence[ClassShift]) -> CovariateShift:
    """Correct the p-values of classes for their number: a re-split is one of all classes at once (`max_t`).

    Their mean is one more that is looked at. Only as many re-splits count as every measured class has.
    """
    measured = [place for place, shift in enumerate(classes) if not np.isnan(shift.p_value)]
    p, p_together = np.full(len(classes), np.nan), float("nan")
    if measured:
        n = min(len(classes[place].null) for place in measured)
        values = np.array([[classes[at].observed.value, *classes[at].null[:n]] for at in measured])
        *corrected_p, p_together = max_t(np.vstack([values, values.mean(axis=0)])).tolist()
        p[measured] = corrected_p
    shifts = (replace(shift, p_corrected=float(each)) for shift, each in zip(classes, p, strict=True))
    return CovariateShift(tuple(shifts), p_together)


def _projected(
    train: Float[np.ndarray, "n d"], test: Float[np.ndarray, "m d"], n_dimensions: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Both parts in the directions in which the training part varies most, each brought to variance 1 there.

    The divergence knows no units: this only helps the fit of the mixtures.
    """
    centre = train.mean(axis=0)
    centred = train - centre
    # The smaller of the two problems, since every re-split asks for it anew.
    if centred.shape[1] <= len(centred):
        values, vectors = np.linalg.eigh(centred.T @ centred)
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        _, singular, rows = np.linalg.svd(centred, full_matrices=False)
        values, vectors = np.square(singular), rows.T
    kept = np.flatnonzero(values[:n_dimensions] > _TINY * max(float(values[0]), np.finfo(float).tiny))
    share = float(values[kept].sum() / values.sum()) if values.sum() > 0 else float("nan")
    turned = vectors[:, kept] / np.sqrt(values[kept] / len(train))
    return centred @ turned, (test - centre) @ turned, share


def _note(observed: Divergence, n_test: int, options: ShiftOptions, unit: str) -> str:
    if n_test == 0:
        return "no test sample"
    if np.isnan(observed.value):
        units = "" if unit == "sample" else f" or {FEWEST_UNITS} {plural_of(unit)}"
        return f"fewer than {FEWEST} samples{units} in a part, or none that differ"
    fewer = min(observed.n_train_components, observed.n_test_components)
    if fewer < options.n_components:
        what = f"{fewer} component" + "s" * (fewer != 1)
        return f"{what} in place of {options.n_components}, because each needs {FEWEST_PER_COMPONENT} samples"
    return ""
