"""How robust is a prediction on average, without drawing thousands of copies? (Han et al. 2024, section 3.2)

The model is replaced by one that is linear around the sample, for which the answer is a normal probability: by its
tangent (Taylor), by the mean tangent over noisy copies (MMSE), or by the mean and covariance of noisy logits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.average_case.gaussian_cdf import (
    Chunks,
    NormalProbability,
    linearised,
    logit_moments,
    mvn_cdf,
)
from touchstone.core.evaluate.average_case.noise import Margins, NoisyInputs, mv_sigmoid
from touchstone.core.models.errors import ModelError

# What is known of each sample? Its robustness, how far off the number may be, and what was strange about it.


@dataclass(frozen=True, eq=False)
class Estimate:
    """The average-case robustness `p_robust` of each sample: the share of noisy copies that keep its prediction.

    `error` bounds what the integral of an analytic estimator may be off, not what the model's curvature adds to that;
    `lower` and `upper` are the ends of Monte-Carlo's exact interval, which speaks about the model itself. What an
    estimator cannot say is NaN. `predicted` is the class without noise, `n_draws` how many noisy copies were used.
    Not `converged`: error or interval are wider than was asked for. `degenerate`: a margin does not change with the
    input (no gradient, or two logits alike), one margin determines another, or the model gave no number.
    `caveat` says what the numbers rest on.

    Examples
    --------
    >>> one = np.ones(1)
    >>> made = Estimate("softmax", 0.1, one, np.nan * one, np.nan * one, np.nan * one, np.zeros(1, dtype=np.int64),
    ...     np.zeros(1, dtype=np.int64), one > 0, one < 0, caveat="")
    >>> made.table()[["sample", "p_robust", "predicted"]].values.tolist()
    [[0.0, 1.0, 0.0]]
    """

    estimator: str
    sigma: float
    p_robust: Floats
    error: Floats
    lower: Floats
    upper: Floats
    predicted: Ints
    n_draws: Ints
    converged: Bools
    degenerate: Bools
    caveat: str

    def __len__(self) -> int:
        return len(self.p_robust)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each sample (its position): the columns are the fields."""
        return pd.DataFrame(
            {
                "sample": np.arange(len(self)),
                "estimator": self.estimator,
                "sigma": self.sigma,
                "predicted": self.predicted,
                "p_robust": self.p_robust,
                "error": self.error,
                "lower": self.lower,
                "upper": self.upper,
                "n_draws": self.n_draws,
                "converged": self.converged,
                "degenerate": self.degenerate,
            }
        )


# What is known of an estimator beside how it computes? One record on each entry, which all that shows it reads.


@dataclass(frozen=True)
class Mark:
    """How figures draw an estimator: a place in the theme's colours (or ink, or grey), plotly's symbol and dash."""

    colour: int | Literal["ink", "grey"]
    symbol: str
    dash: str = "solid"


@dataclass(frozen=True)
class Facts:
    """What pickers, plan, audit, verdict, figures and report have to know of an estimator.

    Parameters
    ----------
    title, short
        What the screen calls it, and a legend, where there is little room.
    mark
        How figures draw it, the same on every page.
    needs_gradients
        Whether it takes a model with gradients.
    offered
        Whether the page offers it as what a verdict rests on; in the order of the registry, the first as the usual one.
    audited
        Whether audits hold it against Monte-Carlo. Those of new runs only: old runs keep what was computed.
    recommended
        Whether a verdict may name it as closer: not the approximations that are right by luck where they are.
    sigmoid_of
        The estimator whose margins it takes, for one that puts the multivariate sigmoid in place of the normal
        distribution function.
    copies, drawn
        The numbers of noisy copies (its option `n_samples`) whose convergence an audit follows, and how they are drawn,
        in words.
    from_plan
        Which of its options take which field of an AverageCasePlan; others stay as they are.
    """

    title: str
    mark: Mark
    short: str = ""
    needs_gradients: bool = False
    offered: bool = False
    audited: bool = True
    recommended: bool = False
    sigmoid_of: str | None = None
    copies: tuple[int, ...] = ()
    drawn: str = ""
    from_plan: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "short", self.short or self.title)


# The estimators, and how they compute.


PAPER_COPIES, PAIRED_COPIES = 5, 6
"""Around so many copies MMSE is said to converge (section 4.2); and as many in pairs as come next to it."""
SIGMOID_SCALE = 1.702
"""Times this, the logistic function is within .01 of the normal distribution function everywhere."""
LEFT_SHARE = 0.5
"""The classes that are not differentiated may break the prediction so often, as a share of the tolerance."""
BY_LIMIT = (
    "The noise is {}. Normal logits then rest on the central limit theorem (lemma 2): many features, none of which "
    "decides alone."
)
NO_BOUND = "An approximation without an error bound: read it with its bias against Monte-Carlo on this model."


@dataclass(frozen=True)
class Taylor:
    """Definition 2: the model's tangent at the sample. One forward pass and one backward pass per class.

    `tol` is the error that the normal probability may have. Of many classes only those that noise can turn the
    prediction into are differentiated, and what the rest may add is part of the error; or `every_class`, as published.
    """

    facts: ClassVar[Facts] = Facts("Taylor", Mark(3, "diamond"), needs_gradients=True, offered=True, recommended=True)
    tol: float = 1e-3
    every_class: bool = False

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        tangents = linearised(inputs, 1, None, most_left=_left(self))
        return _by_normal_cdf(inputs, "taylor", tangents, 1, self.tol)


@dataclass(frozen=True)
class TaylorMVS:
    """Taylor's margins in the multivariate sigmoid, as published: fast for many classes, and without an error bound."""

    facts: ClassVar[Facts] = Facts(
        "Taylor, multivariate sigmoid (approximation)",
        Mark(3, "diamond-open", "dash"),
        "Taylor, sigmoid",
        needs_gradients=True,
        sigmoid_of="taylor",
    )

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        return _by_sigmoid(inputs, "taylor_mvs", linearised(inputs, 1, None), 1)


@dataclass(frozen=True)
class MMSE:
    """Definition 3: the mean of the model's tangents over `n_samples` noisy copies.

    `antithetic`: copies come in pairs, noise added and subtracted, the same at every sample; what is linear in the
    noise then cancels. Without it every sample has noise of its own, as published. `every_class` is as for `Taylor`.
    """

    facts: ClassVar[Facts] = Facts(
        "MMSE",
        Mark(2, "circle"),
        needs_gradients=True,
        offered=True,
        recommended=True,
        copies=(2, PAIRED_COPIES, 12, 24),
        drawn="antithetic pairs",
        from_plan={"n_samples": "n_copies", "antithetic": "antithetic"},
    )
    name: ClassVar[str] = "mmse"
    n_samples: int = 6
    antithetic: bool = True
    tol: float = 1e-3
    every_class: bool = False

    def __post_init__(self):
        _check_copies(self.n_samples, self.antithetic, 1)

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        tangents = linearised(inputs, self.n_samples, self.antithetic, most_left=_left(self))
        return _by_normal_cdf(inputs, self.name, tangents, self.n_samples, self.tol)


@dataclass(frozen=True)
class PlainMMSE(MMSE):
    """MMSE as published: independent noise for every sample, and as many copies as it is said to converge at."""

    facts: ClassVar[Facts] = Facts(
        "MMSE, plain noise",
        Mark(2, "cross-thin-open", "dot"),
        needs_gradients=True,
        copies=(1, PAPER_COPIES, 12, 24),
        drawn="plain noise, as published",
    )
    name: ClassVar[str] = "mmse_plain"
    n_samples: int = PAPER_COPIES
    antithetic: bool = False


@dataclass(frozen=True)
class MMSEMVS:
    """MMSE's margins in the multivariate sigmoid, as published; see `MMSE` for the options."""

    facts: ClassVar[Facts] = Facts(
        "MMSE, multivariate sigmoid (approximation)",
        Mark(2, "circle-open", "dash"),
        "MMSE, sigmoid",
        needs_gradients=True,
        sigmoid_of="mmse",
        from_plan=MMSE.facts.from_plan,
    )
    name: ClassVar[str] = "mmse_mvs"
    factor: ClassVar[float] = 1.0
    n_samples: int = 6
    antithetic: bool = True

    def __post_init__(self):
        _check_copies(self.n_samples, self.antithetic, 1)

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        tangents = linearised(inputs, self.n_samples, self.antithetic)
        return _by_sigmoid(inputs, self.name, tangents, self.n_samples, factor=self.factor)


@dataclass(frozen=True)
class ScaledMMSEMVS(MMSEMVS):
    """The same with margins times 1.702, by which a sigmoid comes close to the normal distribution function.

    The factor is that of Hendrycks & Gimpel (2016), whom the paper cites for it; the printed formula lacks it.
    """

    facts: ClassVar[Facts] = Facts(
        "MMSE, multivariate sigmoid, scaled (ours)",
        Mark(2, "hexagon-open", "longdash"),
        "MMSE, scaled sigmoid",
        needs_gradients=True,
        sigmoid_of="mmse",
        from_plan=MMSE.facts.from_plan,
    )
    name: ClassVar[str] = "mmse_scaled"
    factor: ClassVar[float] = SIGMOID_SCALE


@dataclass(frozen=True)
class GaussianLogits:
    """Ours, not the paper's: logits of `n_samples` noisy copies are taken to be normal. Forward passes only.

    It works for models without gradients. The mean and covariance of the logits come from the copies, so that with few
    of them they are uncertain themselves; `antithetic` is as for `MMSE`.
    """

    facts: ClassVar[Facts] = Facts(
        "Normal logits (ours)",
        Mark(4, "square"),
        "Normal logits",
        offered=True,
        recommended=True,
        from_plan={"n_samples": "n_passes"},
    )
    n_samples: int = 128
    antithetic: bool = True
    tol: float = 1e-3

    def __post_init__(self):
        _check_copies(self.n_samples, self.antithetic, 4)

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        moments = logit_moments(inputs, self.n_samples, self.antithetic)
        return _by_normal_cdf(inputs, "gaussian_logits", moments, self.n_samples, self.tol)


@dataclass(frozen=True)
class Softmax:
    """The model's confidence at `temperature` taken for its robustness: the same for every noise (section 3.2.3)."""

    facts: ClassVar[Facts] = Facts(
        "Softmax confidence (approximation)",
        Mark("grey", "x-thin-open", "dashdot"),
        "Softmax",
        from_plan={"temperature": "temperature"},
    )
    temperature: float = 1.0

    def __post_init__(self):
        if not self.temperature > 0:
            raise ModelError(f"A temperature of {self.temperature:g}; it must be above 0.")

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        from scipy.special import softmax

        logits = inputs.clean
        predicted, known = logits.argmax(axis=1), np.asarray(np.isfinite(logits).all(axis=1))
        p = softmax(np.where(known[:, None], logits, 0.0) / self.temperature, axis=1).max(axis=1)
        p = np.where(known, p, np.nan)
        return estimate_of("softmax", inputs, p, predicted, 0, degenerate=~known, caveat=NO_BOUND)


def _by_normal_cdf(inputs: NoisyInputs, name: str, chunks: Chunks, n_copies: int, tol: float) -> Estimate:
    """Every sample's probability that no margin falls below 0, with the error of the integral."""
    parts = []
    for predicted, margins in chunks:
        known = _probability(margins, tol)
        unsure = margins.fixed.any(axis=1) | known.degenerate
        parts.append((known.p, predicted, known.error, known.converged, unsure))
    p, predicted, error, converged, unsure = map(np.concatenate, zip(*parts, strict=True))
    caveat = "" if inputs.noise.kind == "gaussian" else BY_LIMIT.format(inputs.noise.kind)
    of_all = {"error": error, "converged": converged, "degenerate": unsure, "caveat": caveat}
    return estimate_of(name, inputs, p, predicted, n_copies, **of_all)


def _probability(margins: Margins, tol: float) -> NormalProbability:
    """The normal probability of the margins; the classes left out add between nothing and their bound."""
    if margins.left is None:
        return mvn_cdf(margins.limits, margins.cov, tol=tol)
    known = mvn_cdf(margins.limits, margins.cov, tol=tol * (1 - LEFT_SHARE / 2))
    half = np.minimum(margins.left, np.nan_to_num(known.p)) / 2
    return NormalProbability(known.p - half, known.error + half, known.error + half <= tol, known.degenerate)


def _left(estimator: Taylor | MMSE) -> float:
    return 0.0 if estimator.every_class else LEFT_SHARE * estimator.tol


def _by_sigmoid(inputs: NoisyInputs, name: str, chunks: Chunks, n_copies: int, *, factor: float = 1.0) -> Estimate:
    """Every sample's multivariate sigmoid of its margins in standard deviations, times a factor."""
    parts = [
        (predicted, mv_sigmoid(factor * margins.scaled), margins.fixed.any(axis=1)) for predicted, margins in chunks
    ]
    predicted, p, fixed = map(np.concatenate, zip(*parts, strict=True))
    kind = inputs.noise.kind
    caveat = NO_BOUND if kind == "gaussian" else f"{NO_BOUND} {BY_LIMIT.format(kind)}"
    return estimate_of(name, inputs, p, predicted, n_copies, degenerate=fixed | np.isnan(p), caveat=caveat)


def estimate_of(
    name: str,
    inputs: NoisyInputs,
    p: Floats,
    predicted: Ints,
    n_copies: int,
    *,
    degenerate: Bools,
    caveat: str,
    error: Floats | None = None,
    converged: Bools | None = None,
) -> Estimate:
    """Put an analytic estimate together: it has an error or none, and no interval.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> inputs = NoisyInputs(torch.nn.Linear(2, 3), torch.zeros(1, 2), Noise(0.1), torch.Generator(), batch_size=4)
    >>> estimate_of("mine", inputs, np.ones(1), np.array([2]), 0, degenerate=np.array([False]), caveat="").lower
    array([nan])
    """
    unknown = np.full(len(p), np.nan)
    return Estimate(
        estimator=name,
        sigma=inputs.noise.sigma,
        p_robust=p,
        error=unknown if error is None else error,
        lower=unknown,
        upper=unknown,
        predicted=predicted,
        n_draws=np.full(len(p), n_copies),
        converged=~np.isnan(p) if converged is None else converged,
        degenerate=degenerate,
        caveat=caveat,
    )


def _check_copies(n: int, antithetic: bool, least: int) -> None:
    if n < least or (antithetic and n % 2):
        pairs = ", and an even number for antithetic pairs" if antithetic else ""
        raise ModelError(f"{n} noisy copies; it takes at least {least}{pairs}.")
