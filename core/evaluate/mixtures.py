"""How far apart are two mixtures of Gaussians? Each is fitted to points; their divergence is drawn by Monte-Carlo."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit, logsumexp

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

    def log_density(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
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
