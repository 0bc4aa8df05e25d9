"""What does one trial of average-case robustness do? A chunk of samples, judged by what its part asks for."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case import ESTIMATORS, Estimator, MonteCarlo, estimates, mvn_cdf
from touchstone.core.evaluate.average_case.audit import MONTE_CARLO, PLAIN
from touchstone.core.evaluate.average_case.directions import directions_of, kept_along
from touchstone.core.evaluate.average_case.gradients import NoisyInputs, clean_logits, inputs_of, logits_of
from touchstone.core.evaluate.average_case.half_sigma import half_sigma, looked_through
from touchstone.core.evaluate.average_case.noise import CutOff, Noise
from touchstone.core.evaluate.average_case.rows import HALF, along_directions, estimated, halved, no_rows
from touchstone.core.evaluate.average_case.shapes import spread_of
from touchstone.core.models.classifier import stop_if
from touchstone.core.models.load import Model, model_inputs, read_stored
from touchstone.core.models.trained import TrainedNetwork
from touchstone.core.models.training import best_device, one_torch_thread
from touchstone.core.trials import Context
from touchstone.core.trials.plan import Aside

if TYPE_CHECKING:
    import torch

    from touchstone.core.evaluate.average_case.plan import AverageCasePlan

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
