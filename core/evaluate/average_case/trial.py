"""What does one trial of average-case robustness do? A chunk of samples, judged by what its part asks for."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case import ESTIMATORS, Estimator, MonteCarlo, estimates, mvn_cdf
from touchstone.core.evaluate.average_case.audit import MONTE_CARLO, PLAIN
from touchstone.core.evaluate.average_case.directions import N_STRENGTHS, directions_of, kept_along, spread_of
from touchstone.core.evaluate.average_case.gradients import NoisyInputs, clean_logits, inputs_of, logits_of
from touchstone.core.evaluate.average_case.monte_carlo import HalfSigma, half_sigma, looked_through
from touchstone.core.evaluate.average_case.noise import CutOff, Noise
from touchstone.core.evaluate.average_case.results import Estimate
from touchstone.core.models.classical import stop_if
from touchstone.core.models.load import Model, model_inputs, read_stored
from touchstone.core.models.training import TrainedNetwork, best_device, one_torch_thread
from touchstone.core.trials import Context
from touchstone.core.trials.plan import Aside

if TYPE_CHECKING:
    import torch

    from touchstone.core.evaluate.average_case.plan import AverageCasePlan


# The rows of a run of average-case robustness: their columns, and how they are made of what was estimated.


COLUMNS = {
    "part": "str",
    "row": "Int64",
    "label": "Int64",
    "sigma": "float64",
    "estimator": "str",
    "predicted": "Int64",
    "p_robust": "float64",
    "error": "float64",
    "lower": "float64",
    "upper": "float64",
    "n_draws": "Int64",
    "converged": "boolean",
    "degenerate": "boolean",
    "seconds": "float64",
    "status": "str",
}
"""The columns of the rows and their types; one row for each sample, sigma and estimator.

`part` says what the row is for: "samples", "counted" (a few fresh draws of each, which class means rest on), "half"
(sigma-50 in place of sigma, with `lower` and `upper` its interval, infinite beyond the range), "audit" (Monte-Carlo and
all estimators on a part of the samples), "convergence" (those with `copies` among their facts, by the number of noisy
copies, there) or "directions" (the name of a direction in place of an estimator). `row` is the position in the data
set; `label` and `predicted` are codes of classes; `seconds` is the time per sample. The others are those of `Estimate`.
A failed trial is one row without figures.
"""

HALF = "sigma_50"
"""What stands in place of an estimator where a row holds the sigma at which half of the copies keep the prediction."""


def estimated(
    part: str,
    rows: Integer[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    name: str,
    estimate: Estimate,
    seconds: float,
) -> pd.DataFrame:
    """The rows of an estimate, by the name that they have."""
    cells = estimate.table().drop(columns="sample")
    cells = cells.assign(part=part, row=rows, label=y, estimator=name, seconds=seconds, status="ok")
    return cells[list(COLUMNS)].astype(COLUMNS)


def halved(
    rows: Integer[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    predicted: Integer[np.ndarray, " n"],
    half: HalfSigma,
    seconds: float,
) -> pd.DataFrame:
    """The rows of sigma-50: `converged` where it lies within the range that was drawn from.

    >>> half = HalfSigma(np.array([0.2]), np.array([0.1]), np.array([0.3]), 384)
    >>> halved(np.array([7]), np.array([0]), np.array([1]), half, 0.1)[["part", "row", "sigma"]].values.tolist()
    [['half', 7, 0.2]]
    """
    cells = {
        **dict.fromkeys(COLUMNS),
        "part": "half",
        "row": rows,
        "label": y,
        "sigma": half.value,
        "estimator": HALF,
        "predicted": predicted,
        "p_robust": 0.5,
        "lower": half.lower,
        "upper": half.upper,
        "n_draws": half.n_draws,
        "converged": np.isfinite(half.value),
        "degenerate": False,
        "seconds": seconds,
        "status": "ok",
    }
    return pd.DataFrame(cells, index=range(len(rows))).astype(COLUMNS)


def along_directions(
    rows: Integer[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    predicted: Integer[np.ndarray, " n"],
    sigma: float,
    names: tuple[str, ...],
    kept: Float[np.ndarray, "n k"],
    seconds: float,
) -> pd.DataFrame:
    """The rows of noise along named directions, a row for each sample and direction.

    >>> found = along_directions(np.array([7]), np.array([0]), np.array([1]), 0.1, ("blur",), np.array([[0.5]]), 0.1)
    >>> found[["part", "row", "estimator", "p_robust"]].values.tolist()
    [['directions', 7, 'blur', 0.5]]
    """
    n, k = kept.shape
    cells = {
        **dict.fromkeys(COLUMNS),
        "part": "directions",
        "row": np.repeat(rows, k),
        "label": np.repeat(y, k),
        "sigma": sigma,
        "estimator": np.tile(np.array(names, dtype=object), n),
        "predicted": np.repeat(predicted, k),
        "p_robust": kept.ravel(),
        "n_draws": N_STRENGTHS,
        "converged": True,
        "degenerate": False,
        "seconds": seconds,
        "status": "ok",
    }
    return pd.DataFrame(cells, index=range(n * k)).astype(COLUMNS)


def failed(part: str, sigma: float) -> pd.DataFrame:
    """The row of a trial that failed: no figures."""
    cells = {**dict.fromkeys(COLUMNS), "part": part, "sigma": sigma, "status": "failed"}
    return pd.DataFrame({name: pd.Series([cells[name]]).astype(kind) for name, kind in COLUMNS.items()})


def no_rows() -> pd.DataFrame:
    """The columns without any row."""
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})


CHUNK, HALF_CHUNK, AUDIT_CHUNK = 25, 10, 5
"""So many samples make a trial, few enough that a large model ends within the time of one at four sigmas."""
BATCH = 256
MOST_FOR_SIGMOIDS = 200
"""With more classes audits leave out the multivariate sigmoids: as published they take every class's gradient."""


@dataclass(frozen=True)
class Trial:
    """What one trial is for (`part`), at which sigmas, and the positions of its samples in the plan's order.

    One for "samples" counts the draws of class means, too.
    """

    part: str
    sigmas: tuple[float, ...]
    start: int
    stop: int


def trials_of(plan: "AverageCasePlan", n: int) -> tuple[Trial, ...]:
    """Every trial on `n` samples: chunk by chunk, each at all sigmas, then sigma-50, the audit and the convergence.

    Named directions, where they are asked for, come last.
    """
    chunks, few = _chunks(n, CHUNK), _chunks(min(plan.n_audit, n), AUDIT_CHUNK)
    trials = [Trial("samples", plan.sigmas, *chunk) for chunk in chunks]
    trials += [Trial("half", looked_through(plan.sigmas), *chunk) for chunk in _chunks(n, HALF_CHUNK)]
    trials += [Trial("audit", plan.sigmas, *chunk) for chunk in few]
    trials += [Trial("convergence", (plan.convergence_sigma,), *chunk) for chunk in few]
    if plan.directions:
        trials += [Trial("directions", (sigma,), *chunk) for chunk in chunks for sigma in plan.sigmas]
    return tuple(trials)


def judged(
    plan: "AverageCasePlan", dataset: Dataset, trial: Trial, rows: Integer[np.ndarray, " n"], context: Context
) -> pd.DataFrame:
    """The rows of a trial on the samples at `rows`. Raises Cancelled soon after it was asked to stop."""
    stop_if(context.should_stop)
    with one_torch_thread():
        model = _model(plan.model, dataset, Aside(context.model(plan.model)))
        x = model_inputs(model, dataset, rows)
        x = x.to(best_device()) if isinstance(model, TrainedNetwork) else x
        spread = _spread(plan.model, dataset, plan.shape, Aside(model))
        model = CutOff(model) if plan.cut_off else model
        if trial.part == "half":
            return _halved(plan, trial, model, x, dataset.y[rows], rows, spread)
        if trial.part == "directions":
            return _along(plan, trial, model, x, dataset, rows, spread)
        rows_of_parts, asked = [], asked_of(plan, trial, model, dataset.n_classes)
        made = estimates(model, x, [each.made_by for each in asked], noise=plan.noise, **spread) if asked else ()
        for place, (each, (shares, seconds)) in enumerate(zip(asked, made, strict=True)):
            stop_if(context.should_stop)
            rows_of_parts.append(estimated(each.part, rows, dataset.y[rows], each.name, shares, seconds / len(rows)))
            context.report(place + 1, len(asked), "estimate")
    return pd.concat(rows_of_parts, ignore_index=True) if rows_of_parts else no_rows()


def _halved(
    plan: "AverageCasePlan",
    trial: Trial,
    model: Model | CutOff,
    x: "torch.Tensor",
    y: Integer[np.ndarray, " n"],
    rows: Integer[np.ndarray, " n"],
    spread: dict[str, np.ndarray],
) -> pd.DataFrame:
    start = time.perf_counter()
    x, (low, high) = inputs_of(model, x), trial.sigmas
    with logits_of(model) as logits:
        inputs = NoisyInputs(logits, x, Noise(1.0, plan.noise, **spread), _generator(plan, trial, HALF), BATCH)
        predicted = clean_logits(logits, x, batch_size=BATCH).argmax(axis=1)
        half = half_sigma(inputs, predicted, low=low, high=high, n_draws=plan.half_draws)
    return halved(rows, y, predicted, half, (time.perf_counter() - start) / len(rows))


def _along(
    plan: "AverageCasePlan",
    trial: Trial,
    model: Model | CutOff,
    x: "torch.Tensor",
    dataset: Dataset,
    rows: Integer[np.ndarray, " n"],
    spread: dict[str, np.ndarray],
) -> pd.DataFrame:
    start = time.perf_counter()
    x, (sigma,) = inputs_of(model, x), trial.sigmas
    directions = directions_of(x, tuple(dataset.feature_names) if x.ndim == 2 else ())
    with logits_of(model) as logits:
        noise = Noise(sigma, plan.noise, **spread)
        inputs = NoisyInputs(logits, x, noise, _generator(plan, trial, trial.part, sigma), BATCH)
        predicted = clean_logits(logits, x, batch_size=BATCH).argmax(axis=1)
        kept = kept_along(inputs, predicted, directions)
    seconds = (time.perf_counter() - start) / len(rows)
    return along_directions(rows, dataset.y[rows], predicted, sigma, tuple(directions), kept, seconds)


@dataclass(frozen=True, eq=False)
class Asked:
    """One estimate of a trial: the part and the name that its rows have, and what it is made by."""

    part: str
    name: str
    made_by: tuple[float, Estimator, "torch.Generator"]


def asked_of(plan: "AverageCasePlan", trial: Trial, model: Model | CutOff, n_classes: int) -> list[Asked]:
    """What a trial estimates, sigma by sigma: what estimators share is then found once."""
    if trial.part == "samples":
        parts = {
            "samples": [(name, plan.estimator(name)) for name in plan.estimators],
            "counted": [(MONTE_CARLO, MonteCarlo(n_samples=plan.class_draws))],
        }
    else:
        parts = {trial.part: _audited(plan, trial.part, model, n_classes)}
    return [
        Asked(part, name, (sigma, estimator, _generator(plan, trial, name, sigma, part, estimator)))
        for sigma in trial.sigmas
        for part, estimators in parts.items()
        for name, estimator in estimators
    ]


def _audited(plan: "AverageCasePlan", part: str, model: Model | CutOff, n_classes: int) -> list[tuple[str, Estimator]]:
    _warm()
    usable = {
        name: kind
        for name, kind in ESTIMATORS.items()
        if kind.facts.audited
        and (model.has_gradients or not kind.facts.needs_gradients)
        and (n_classes <= MOST_FOR_SIGMOIDS or kind.facts.sigmoid_of is None)
    }
    if part == "convergence":
        return [
            (name, kind(**plan.options_of(name) | {"n_samples": n}))
            for name, kind in usable.items()
            for n in (*kind.facts.copies, *((plan.paper_copies,) if name == PLAIN and plan.paper_copies else ()))
        ]
    return [(name, plan.estimator(name)) for name in (MONTE_CARLO, *usable)]


def _chunks(n: int, step: int) -> list[tuple[int, int]]:
    return [(start, min(start + step, n)) for start in range(0, n, step)]


@lru_cache(maxsize=2)
def _model(fingerprint: str, dataset: Dataset, stored: Aside[bytes]) -> Model:
    return read_stored(stored.value, dataset)


@lru_cache(maxsize=2)
def _spread(fingerprint: str, dataset: Dataset, shape: str, held: Aside[Model]) -> dict[str, np.ndarray]:
    """What the noise is worth in each feature, as `estimate` takes it; all inputs are looked at for it, but once."""
    return {} if shape == "isotropic" else spread_of(shape, dataset, model_inputs(held.value, dataset))


@lru_cache(maxsize=1)
def _warm() -> None:
    """Load what the normal probabilities need, so that the first estimate is timed like the others."""
    mvn_cdf(np.ones((1, 4)), np.eye(4)[None] + 0.5)


def _generator(
    plan: "AverageCasePlan",
    trial: Trial,
    name: str,
    sigma: float | None = None,
    part: str = "",
    estimator: Estimator | None = None,
) -> "torch.Generator":
    """Antithetic noise is the same for all chunks and sigmas; other noise is each sample's own, for each part."""
    import torch

    shared = getattr(estimator, "antithetic", False)
    place = plan.sigmas.index(sigma) if sigma in plan.sigmas else len(plan.sigmas)
    own = (*name.encode(), *(part or trial.part).encode(), place, trial.start)
    parts = [plan.seed] if shared else [plan.seed, *own]
    return torch.Generator().manual_seed(int(np.random.SeedSequence(parts).generate_state(1)[0]))
