"""Which estimates tell how robust a stored model is? A plan like any other: in chunks of samples, sigma by sigma.

The samples come in a random order that takes the classes in turn, so that those of the first finished trials are a fair
part of all. The first `n_audit` of them are held against Monte-Carlo, with every estimator that the model allows.
"""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd

from touchstone.core import parameters
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.data.values import Ints
from touchstone.core.evaluate.average_case import ESTIMATORS, NOISES, Estimator, MonteCarlo, estimates, mvn_cdf, offered
from touchstone.core.evaluate.average_case.estimators import BY_LIMIT, Estimate
from touchstone.core.evaluate.average_case.monte_carlo import DRAWS_STEP, half_sigma, looked_through
from touchstone.core.evaluate.average_case.noise import (
    MOST_COLUMNS,
    N_STRENGTHS,
    SHAPES,
    CutOff,
    Noise,
    NoisyInputs,
    check_shape,
    clean_logits,
    directions_of,
    inputs_of,
    kept_along,
    logits_of,
    shapes_offered,
    spread_of,
)
from touchstone.core.evaluate.average_case.robustness import CONFIDENCE, MONTE_CARLO, PLAIN
from touchstone.core.evaluate.wording import count, exact, plural
from touchstone.core.models.classical import stop_if
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import torch
from touchstone.core.models.load import Model, model_inputs, read_stored
from touchstone.core.models.networks import TrainedNetwork, best_device, one_torch_thread
from touchstone.core.parameters import About, asks, follows, label_of
from touchstone.core.split.units import has_test_set
from touchstone.core.trials import Context
from touchstone.core.trials.layer_parts import TrainingSplit, asks_model, check_test_set, follows_test_set, split_of
from touchstone.core.trials.plan import Aside, check_fields, check_names, check_whole, checked_options
from touchstone.core.trials.training_plan import TrainingPlan

# The rows of a run of average-case robustness: their columns, and how they are made of what was estimated.


COLUMNS = {
    "part": TEXTS,
    "row": "Int64",
    "label": "Int64",
    "sigma": "float64",
    "estimator": TEXTS,
    "predicted": "Int64",
    "p_robust": "float64",
    "error": "float64",
    "lower": "float64",
    "upper": "float64",
    "n_draws": "Int64",
    "converged": "boolean",
    "degenerate": "boolean",
    "seconds": "float64",
    "status": TEXTS,
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


def estimated(part: str, rows: Ints, y: Ints, name: str, estimate: Estimate, seconds: float) -> pd.DataFrame:
    """The rows of an estimate, by the name that they have."""
    cells = estimate.table().drop(columns="sample")
    cells = cells.assign(part=part, row=rows, label=y, estimator=name, seconds=seconds, status="ok")
    return cells[list(COLUMNS)].astype(COLUMNS)


def _frame(n: int, **cells: object) -> pd.DataFrame:
    """Rows of `COLUMNS`, as many as that; NA where nothing is given."""
    return pd.DataFrame({**dict.fromkeys(COLUMNS), "status": "ok", **cells}, index=range(n)).astype(COLUMNS)


# What does one trial of average-case robustness do? A chunk of samples, judged by what its part asks for.


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


def judged(plan: "AverageCasePlan", dataset: Dataset, trial: Trial, rows: Ints, context: Context) -> pd.DataFrame:
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
    return pd.concat(rows_of_parts, ignore_index=True) if rows_of_parts else _frame(0)


def _halved(
    plan: "AverageCasePlan",
    trial: Trial,
    model: Model | CutOff,
    x: "torch.Tensor",
    y: Ints,
    rows: Ints,
    spread: dict[str, np.ndarray],
) -> pd.DataFrame:
    start = time.perf_counter()
    x, (low, high) = inputs_of(model, x), trial.sigmas
    with logits_of(model) as logits:
        inputs = NoisyInputs(logits, x, Noise(1.0, plan.noise, **spread), _generator(plan, trial, HALF), BATCH)
        predicted = clean_logits(logits, x, batch_size=BATCH).argmax(axis=1)
        half = half_sigma(inputs, predicted, low=low, high=high, n_draws=plan.half_draws)
    ends = {"sigma": half.value, "lower": half.lower, "upper": half.upper, "converged": np.isfinite(half.value)}
    about = {"row": rows, "label": y, "predicted": predicted, "estimator": HALF, "n_draws": half.n_draws}
    seconds = (time.perf_counter() - start) / len(rows)
    return _frame(len(rows), part=trial.part, **about, **ends, p_robust=0.5, degenerate=False, seconds=seconds)


def _along(
    plan: "AverageCasePlan",
    trial: Trial,
    model: Model | CutOff,
    x: "torch.Tensor",
    dataset: Dataset,
    rows: Ints,
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
    seconds, (n, k) = (time.perf_counter() - start) / len(rows), kept.shape
    each = {"row": rows, "label": dataset.y[rows], "predicted": predicted}
    about = {"sigma": sigma, "n_draws": N_STRENGTHS, "converged": True, "degenerate": False, "seconds": seconds}
    names = np.tile(np.array(tuple(directions), dtype=object), n)
    about |= {name: np.repeat(values, k) for name, values in each.items()}
    return _frame(n * k, part=trial.part, estimator=names, p_robust=kept.ravel(), **about)


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
    shared = getattr(estimator, "antithetic", False)
    place = plan.sigmas.index(sigma) if sigma in plan.sigmas else len(plan.sigmas)
    own = (*name.encode(), *(part or trial.part).encode(), place, trial.start)
    parts = [plan.seed] if shared else [plan.seed, *own]
    return torch.Generator().manual_seed(int(np.random.SeedSequence(parts).generate_state(1)[0]))


# What do the fields of an average-case plan offer, for which model and which data, and what is usual?


NOISE_TITLES = {"gaussian": "normal", "uniform": "uniform", "laplace": "Laplace"}
COLUMN_SIGMAS = (0.1, 0.25, 0.5, 1.0)
"""What is usual where sigma counts in a column's own spread."""
BY_AUDIT = "by_audit"
"""The choice of the estimator that the audit finds closest."""
TRIED = ("mmse", "gaussian_logits", "taylor")
"""What the audit chooses from. Of ten classes six copies with gradients cost as much as the 128 of normal logits."""


def estimators_offered(about: About) -> parameters.Titles:
    """The estimators that the screen offers for a model, and the choice by the audit where there is one."""
    titles = offered(has_gradients=has_gradients(about))
    return titles | ({BY_AUDIT: title_of(BY_AUDIT)} if has_gradients(about) else {})


def title_of(name: str) -> str:
    """An estimator's title, or that of the choice by the audit."""
    return "Chosen by the audit" if name == BY_AUDIT else ESTIMATORS[name].facts.title


def primary(estimators: tuple[str, ...]) -> tuple[str]:
    """The one choice of the screen that stands for these estimators."""
    by_audit = first_and_all(estimators) == first_and_all((*TRIED, CONFIDENCE))
    return (BY_AUDIT,) if by_audit else (first_and_all(estimators)[0],)


def first_and_all(estimators: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """What counts of estimators: the first besides softmax, taken where nothing is audited, and which there are.

    >>> first_and_all(("softmax", "mmse")) == first_and_all(("mmse", "softmax"))
    True
    """
    return next((name for name in estimators if name != CONFIDENCE), CONFIDENCE), frozenset(estimators)


def with_confidence(primary: str) -> tuple[str, ...]:
    """The estimators that a choice of the screen stands for: softmax is always beside it."""
    return (*TRIED, CONFIDENCE) if primary == BY_AUDIT else (primary, CONFIDENCE)


def of_images(about: About) -> bool:
    """Whether noise is in units of pixels: also where nobody knows the data yet."""
    return about.data_kind in (None, "image")


def has_directions(dataset: Dataset) -> bool:
    """Whether there are named directions to look along: those of images, or single columns of few."""
    return dataset.kind == "image" or (dataset.kind == "tabular" and dataset.x.shape[1] <= MOST_COLUMNS)


def has_gradients(about: About) -> bool:
    """Whether the model gives gradients: also where nobody knows it yet."""
    return about.model is None or about.model.has_gradients


def _trained_here(about: About) -> bool:
    return about.model is None or bool(about.model.training_plan)


def rows_offered(about: About) -> parameters.Titles:
    """All, and those not trained on; where nobody knows these, those that the file keeps for tests, if it does."""
    if _trained_here(about):
        return {"test": "not trained on", "all": "all"}
    return {"test": "the file's test set", "all": "all"} if _is_marked(about) else {"all": "all"}


def usual_rows(about: About) -> dict[str, str]:
    """What is usual for a model of unknown training samples, under an address of its own."""
    if _trained_here(about):
        return {}
    return {"address": "judge_all", "usual": "test" if _is_marked(about) else "all"}


def _is_marked(about: About) -> bool:
    return about.dataset is not None and has_test_set(about.dataset)


def split_judged(values: parameters.Values, about: About) -> TrainingSplit:
    """That of the model's own training, or the file's, where it says which rows are judged."""
    if values.get("rows") != "test" or about.model is None:
        return split_of(None)
    return split_of(about.model.training_plan, about.dataset)


# The plan of these estimates.


@dataclass(frozen=True)
class AverageCasePlan:
    """Estimate the average-case robustness of a stored model's predictions.

    Parameters
    ----------
    model
        The fingerprint of the stored model.
    sigmas
        Standard deviations of the noise, in the model's input units (`shape` says of what), rising.
    estimators
        Names in ESTIMATORS; of those that are not softmax the audit chooses what single samples rest on, the closest to
        Monte-Carlo over all sigmas, or the first where nothing is audited. Softmax is the confidence.
    noise
        "gaussian", "uniform" or "laplace", all of the same variance.
    shape
        A name in SHAPES.
    cut_off
        Whether noisy images are cut off at black and white before the model gets them; of images alone.
    n_copies, antithetic
        MMSE's noisy copies, and whether they come in pairs, noise added and subtracted.
    n_passes
        The noisy copies of normal logits.
    class_draws
        So many noisy copies of each sample are counted for the means of classes.
    half_draws
        So many find each sample's sigma-50, a multiple of 48: from a quarter of the least of `sigmas` to four times the
        largest.
    temperature
        Softmax's.
    rows
        "test": those that a TrainingPlan with this `test_share`, `split_seed` and `test_set` kept out of training; or
        "all".
    n_samples
        So many of these rows at most, at random and by class in proportion; None takes all.
    n_audit, audit_half_width, audit_draws
        How many samples Monte-Carlo checks, the half-width of its interval for each (None: no matter how wide), and
        the most draws that one may take (where no matter: exactly so many).
    directions
        Whether noise along single named directions is looked at, too (`core.evaluate.average_case.noise`).
    paper_copies
        The audit follows plain MMSE with so many copies, too; 0: with no more than the registry says.
    seed
        The one number that all randomness of the plan is derived from.
    options
        Options of the estimators' own, as (estimator, option, value): what an entry asks by its fields.

    Raises DataError for a name that no registry knows and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = AverageCasePlan("f1", sigmas=(0.1,), rows="all", n_samples=100, n_audit=20)
    >>> [(trial.part, trial.start, trial.stop) for trial in plan.trials(load_example("digits"))][:3]
    [('samples', 0, 25), ('samples', 25, 50), ('samples', 50, 75)]
    """

    model: str = asks_model()
    sigmas: tuple[float, ...] = asks(
        (0.05, 0.1, 0.2, 0.3),
        "Sigmas",
        "Standard deviations of the noise, separated by commas. Images: in units of pixels (black 0, white "
        "1). Tables and texts: in units of each column or number of the vector.",
        address="sigmas",
        place="row",
        lowest=0.0,
        many=True,
        differs=lambda about: {} if of_images(about) else {"address": "sigmas_columns", "usual": COLUMN_SIGMAS},
        says=lambda sigmas: " to ".join(map(exact, dict.fromkeys((sigmas[0], sigmas[-1])))),
    )
    estimators: tuple[str, ...] = asks(
        ("mmse", "softmax"),
        "Estimator",
        "How p_robust, the share of noisy copies with the same prediction, is estimated. MMSE needs few noisy "
        "copies and gradients; normal logits need more copies, no gradients; Monte-Carlo counts thousands. "
        "Chosen by the audit: all but Monte-Carlo are computed, and the closest on the audited samples is taken.",
        address="estimator",
        place="row",
        choices=estimators_offered,
        differs=lambda about: (
            {}
            if has_gradients(about)
            else {"address": "estimator_blind", "usual": next(iter(estimators_offered(about)))}
        ),
        several_as=parameters.Several(primary, with_confidence),
        alike=first_and_all,
        says=title_of,
    )
    noise: str = asks(
        "gaussian", "Noise", "All of the same variance.", address="noise", choices=lambda about: NOISE_TITLES
    )
    shape: str = asks(
        "isotropic",
        "Size of the noise",
        "Sigma alike in every feature, times each feature's standard deviation, or with a covariance. That is of "
        "the data, of samples of one source, or of small changes: brightness, contrast, blur, shifts.",
        address="shape",
        choices=shapes_offered,
        differs=lambda about: {} if of_images(about) else {"address": "shape_columns", "usual": "per_feature"},
    )
    cut_off: bool = asks(
        False,
        "Noise beyond black and white",
        "Values below black or above white: kept in the model's input, or clipped as a camera would.",
        address="cut_off",
        choices=lambda about: {False: "kept", True: "cut off"},
        when=lambda values, about: of_images(about),
        joined=parameters.LATER,
    )
    n_copies: int = asks(6, "Noisy copies (MMSE)", "The N of the paper.", address="copies", within=(1, 1000, 2))
    antithetic: bool = asks(
        True,
        "Copies are",
        "Noise added and subtracted, the same at every sample; or noise of its own for every copy.",
        address="copies_are",
        choices=lambda about: {True: "antithetic pairs", False: "plain, as published"},
    )
    n_passes: int = asks(128, "Copies (normal logits)", "Forward passes only.", address="passes", within=(4, 10_000, 2))
    class_draws: int = asks(
        32,
        "Draws (classes)",
        "Noisy copies of each sample, drawn for it alone and counted; class means are computed from them.",
        address="class_draws",
        within=(2, 10_000),
        joined=parameters.LATER,
    )
    half_draws: int = asks(
        384,
        "Draws (sigma-50)",
        "Noisy copies of each sample used to find the sigma at which half of them keep the prediction.",
        address="half_draws",
        within=(DRAWS_STEP, 9600, DRAWS_STEP),
        joined=parameters.LATER,
    )
    temperature: float = asks(
        1.0, "Temperature", "Of the softmax confidence.", address="temperature", within=(0.01, 100.0, 0.1)
    )
    rows: str = asks(
        "test",
        "Samples are",
        "Held-out samples, or all. For an uploaded model the training samples are unknown: it is judged on "
        "the file's own test set, if the file marks one.",
        address="judge",
        choices=rows_offered,
        differs=usual_rows,
    )
    test_share: float = follows(0.2, of=lambda values, about: split_judged(values, about)["test_share"])
    split_seed: int = follows(0, of=lambda values, about: split_judged(values, about)["split_seed"])
    test_set: str = follows_test_set(lambda values, about: split_judged(values, about)["test_set"])
    n_samples: int | None = asks(
        None,
        "Samples",
        "The most samples to judge, drawn at random with classes in proportion.",
        address="judged",
        place="row",
        within=(20, 1_000_000, 100),
        usual=500,
    )
    n_audit: int = asks(
        50,
        "Audited",
        "How many of them are also checked by Monte-Carlo.",
        address="audited",
        place="row",
        within=(0, 10_000, 10),
    )
    audit_half_width: float | None = asks(
        0.02,
        "Half-width of the audit",
        "Monte-Carlo draws until its exact interval is this narrow, 10,000 draws at most.",
        address="half_width",
        within=(0.002, 0.5, 0.005),
        format="%.3f",
    )
    audit_draws: int = asks(
        10_000, "Draws of the audit", "The most draws that one sample may take.", place="command", lowest=1
    )
    paper_copies: int = asks(
        0,
        "Copies (plain MMSE, audited)",
        "Also audit plain MMSE with so many noisy copies. The paper compares it with Taylor at 500. Each copy "
        "takes a gradient of every class; 0 leaves this out.",
        address="paper_copies",
        within=(0, 10_000, 100),
        joined=parameters.LATER,
    )
    directions: bool = asks(
        False,
        "Named directions",
        "Also change samples along one direction at a time, as strongly as the noise does. Of images: brightness, "
        "contrast, blur, shifts. Of tables: single columns.",
        address="directions",
        choices=lambda about: {False: "left out", True: "looked at"},
        when=lambda values, about: about.dataset is None or has_directions(about.dataset),
        joined=parameters.LATER,
    )
    seed: int = parameters.asks_seed()
    options: tuple[tuple[float | int | str | bool | None, ...], ...] = parameters.asks_options(
        "estimators", ESTIMATORS, joined=parameters.LATER
    )

    described: ClassVar[str] = "{estimators} · {noise} noise of sigma {sigmas} · {model}{options}"

    kind: ClassVar[str] = "average_case"
    METHOD_VERSION: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_fields(self)
        if not (isinstance(self.model, str) and self.model):
            raise DataError("model must be the fingerprint of a stored model. Train or upload one first.")
        if not self.sigmas or not all(type(sigma) in (int, float) and sigma > 0 for sigma in self.sigmas):
            raise DataError(f"{label_of(self, 'sigmas')} must be numbers above 0, not {self.sigmas!r}.")
        object.__setattr__(self, "sigmas", tuple(float(sigma) for sigma in self.sigmas))  # JSON may say 1 for 1.0
        if list(self.sigmas) != sorted(set(self.sigmas)):
            raise DataError(f"{label_of(self, 'sigmas')} must rise, without one of them twice: {self.sigmas!r}.")
        check_names(self, "noise", NOISES)
        check_names(self, "shape", SHAPES)
        check_names(self, "rows", ("test", "all"))
        check_names(self, "estimators", ESTIMATORS)
        if set(self.estimators) <= {CONFIDENCE}:
            raise DataError(f"{label_of(self, 'estimators')}: choose at least one besides softmax.")
        lowest = {
            "n_copies": 1,
            "n_passes": 4,
            "n_samples": 1,
            "n_audit": 0,
            "audit_draws": 1,
            "class_draws": 2,
            "paper_copies": 0,
        }
        check_whole(self, lowest | {"split_seed": 0, "seed": 0}, or_none=("n_samples",))
        if type(self.half_draws) is not int or self.half_draws < DRAWS_STEP or self.half_draws % DRAWS_STEP:
            half_draws = label_of(self, "half_draws")
            raise DataError(f"{half_draws} must be a multiple of {DRAWS_STEP} above 0, not {self.half_draws!r}.")
        if not isinstance(self.test_share, float) or not 0 < self.test_share < 1:
            raise DataError(f"test_share must lie between 0 and 1, not {self.test_share!r}.")
        check_test_set(self)
        object.__setattr__(self, "options", checked_options(self.options, self.estimators, ESTIMATORS))
        try:
            for name in ESTIMATORS:
                self.estimator(name)
        except ModelError as problem:
            raise DataError(str(problem)) from problem

    @property
    def convergence_sigma(self) -> float:
        """The sigma at which convergence is followed: the middle one."""
        return self.sigmas[len(self.sigmas) // 2]

    def stored_models(self) -> tuple[str, ...]:
        """The model."""
        return (self.model,)

    def notes(self, dataset: Dataset) -> tuple[str, ...]:
        """What has to be known of the results of this plan, in sentences."""
        sentences = []
        if self.noise != "gaussian" and not set(self.estimators) <= {MONTE_CARLO, CONFIDENCE}:
            sentences.append(BY_LIMIT.format(self.noise))
        if self.n_audit and dataset.n_classes > MOST_FOR_SIGMOIDS:
            sentences.append(
                f"Beyond {MOST_FOR_SIGMOIDS} classes the multivariate sigmoids are not audited: they take the gradient "
                "of every class."
            )
        if self.rows == "all":
            sentences.append("All samples are judged, including possible training samples of the model.")
        if self.rows == "test" or self.n_samples is not None:
            sentences.append(f"{count(len(self.order(dataset)))} of {plural(dataset.n_samples, 'sample')} are judged.")
        return tuple(sentences)

    def order(self, dataset: Dataset) -> Ints:
        """The positions of the samples that are judged: classes in proportion, however few are taken from the front."""
        return _order(self, dataset)

    def n_trials(self, dataset: Dataset) -> int:
        """Chunks of samples, sigma-50's and the audit's. Raises DataError where the plan does not fit the data set."""
        if self.cut_off and dataset.kind != "image":
            raise DataError(f"Only images can be clipped at black and white; {dataset.name} holds others.")
        check_shape(self.shape, dataset)
        if self.directions and not has_directions(dataset):
            raise DataError(
                f"Named directions are those of images, and columns of tables of at most {MOST_COLUMNS}; "
                f"{dataset.name} has none. Leave them out."
            )
        return len(self.trials(dataset))

    def trials(self, dataset: Dataset) -> tuple[Trial, ...]:
        """Every trial: the samples chunk by chunk, each at all sigmas, then sigma-50, the audit and the convergence."""
        return trials_of(self, len(self.order(dataset)))

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Rows of the trial (`COLUMNS`). Raises Cancelled soon after `context.should_stop()` turns true."""
        trial = self.trials(dataset)[index]
        return judged(self, dataset, trial, self.order(dataset)[trial.start : trial.stop], context)

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        trial = self.trials(dataset)[index]
        return _frame(1, part=trial.part, sigma=trial.sigmas[-1], status="failed")

    def estimator(self, name: str) -> Estimator:
        """The estimator of this name, with the options of this plan."""
        kind = ESTIMATORS[name]
        shared = {option: getattr(self, field) for option, field in kind.facts.from_plan.items()}
        return kind(**shared | self.options_of(name))

    def options_of(self, name: str) -> dict[str, object]:
        """The options of an estimator's own, as keywords."""
        return {option: value for estimator, option, value in self.options if estimator == name}


@lru_cache(maxsize=8)
def _order(plan: AverageCasePlan, dataset: Dataset) -> Ints:
    rows = np.arange(dataset.n_samples)
    if plan.rows == "test":
        split = {"test_set": plan.test_set, "test_share": plan.test_share, "seed": plan.split_seed}
        rows = TrainingPlan(model="linear", **split).split(dataset).test
    rng = np.random.default_rng([plan.seed, 1])
    rows = rng.permutation(rows)
    y = dataset.y[rows]
    turn = np.zeros(len(rows))
    for code in np.unique(y):
        mine = np.flatnonzero(y == code)
        turn[mine] = (np.arange(len(mine)) + rng.random()) / len(mine)
    return rows[np.argsort(turn, kind="stable")][: plan.n_samples].astype(np.int64)
