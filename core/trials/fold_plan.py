"""How do models fare on folds that are made to differ? One trial makes folds, then each fold is tested in one."""

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.asked import LATER, Ask, Several, asks, asks_options, asks_several, label_of, title_of
from touchstone.core.data import DataError, Dataset
from touchstone.core.models import MODELS, check_fitting
from touchstone.core.models.classifier import stop_if
from touchstone.core.represent import (
    REPRESENTATIONS,
    check_representation,
    default_representation,
    features_for_splits,
    number_of,
)
from touchstone.core.split import FOLD_SCHEMES, FoldScheme, SDSFolds, folds_of_units, n_splits_of_units
from touchstone.core.trials.choices import (
    features_offered,
    first_four,
    fold_schemes_offered,
    models_offered,
    numbers_offered,
    usual_features,
)
from touchstone.core.trials.defaults import meant_features
from touchstone.core.trials.fold_rows import FoldTrial, frame_of_folds
from touchstone.core.trials.labels_by_fold import (
    WeightRows,
    checked_weights,
    notes_on_labels,
    rare_labels,
    wanted_by_fold,
    weights_by_code,
)
from touchstone.core.trials.options import checked_options
from touchstone.core.trials.plan import Context, check_fields, check_names
from touchstone.core.trials.plan_sources import known_sources

MOST_FOLDS = 2**15 - 1
"""Of a scheme; rows hold their fold in 16 bits, and every fold is a trial for each model."""
SPECIFIED = SDSFolds
"""The scheme whose folds get the labels that somebody specifies."""


@dataclass(frozen=True)
class FoldPlan:
    """Make the folds of every scheme and seed; then train every model on all folds but one, and test it on that one.

    Parameters
    ----------
    representation
        The name in REPRESENTATIONS of the features that folds are made in; None takes the usual one of the kind.
    n_components
        Principal components of the standardised features (the paper's tool: 5); None keeps all features.
    schemes
        Names in FOLD_SCHEMES. All models and schemes see the same samples, so that they are compared paired.
    n_folds
        How many folds a scheme makes, where that is for us to say.
    seeds
        Of each scheme; several tell how much of a score is luck.
    models
        Names in MODELS; none at all only makes the folds.
    options
        Of the schemes: (scheme, option, value), for what is not as usual; an option is a field of the scheme that asks.
    labels_by_fold
        How many samples of a label each fold of SDS k-means gets, as (label, weight, ...) with a weight for each fold:
        shares or counts (`core.trials.labels_by_fold`). Labels of which nothing is said are spread evenly.
    number
        The name of the number per sample for quantiles (`core.represent.numbers_of`); None where no scheme reads one.

    Raises DataError for a name that no registry knows and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> FoldPlan(seeds=(0, 1)).n_trials(load_example("wine"))
    24
    """

    schemes: tuple[str, ...] = asks(
        ("random_folds", "sds_folds"),
        label="Folds",
        help="How samples are put into folds. Random folds are the benchmark. SDS k-means (size- and "
        "distribution-sensitive) makes folds that differ in inputs, with equal sizes and labels.",
        address="schemes",
        place="line",
        choices=fold_schemes_offered,
        several=True,
        says=first_four,
    )
    models: tuple[str, ...] = asks(
        ("logistic",),
        label="Models",
        help="Each is trained on all folds but one and tested on that one. Choose none to make folds only.",
        address="models",
        place="line",
        choices=models_offered,
        several=True,
        word="no model",
    )
    n_folds: int = asks(
        5,
        label="Number of folds",
        help="Used where the data do not fix the number of folds.",
        address="folds",
        place="row",
        lowest=2,
        highest=50,
        says="fold",
    )
    number: str | None = asks(
        None,
        label="Quantiles of",
        help="The number of each sample whose quantiles are the folds.",
        address="number",
        place="row",
        choices=numbers_offered,
        when=lambda values, about: bool(_by_number(values["schemes"])),
        differs=lambda about: {"usual": next(iter(numbers_offered(about) or {}), None)},
    )
    representation: str | None = asks(
        None,
        label="Features that folds are made in",
        address="features",
        choices=features_offered,
        word="usual",
        differs=lambda about: {
            "help": f"Default: {usual_features(about)}. Models are always trained on the data themselves."
        },
        says=lambda name: f" · {title_of(REPRESENTATIONS[name])}" if name else "",
        means=meant_features,
    )
    n_components: int | None = asks(
        5,
        label="Principal components",
        help="The paper's 5, or all.",
        address="components",
        lowest=1,
        highest=500,
        word="all",
    )
    seeds: tuple[int, ...] = asks_several(
        Ask(
            label="Seeds",
            help="Folds are made anew for each seed. With fewer than three seeds a scheme has no verdict.",
            address="seeds",
            lowest=1,
            highest=50,
            usual=3,
            says="seed",
        ),
        Ask(
            label="First seed",
            help="The same seed gives the same result.",
            address="seed",
            lowest=0,
            highest=2**31,
            says=lambda seed: "",
        ),
        default=(0,),
        several_as=Several(
            lambda seeds: (len(seeds), min(seeds)), lambda n_seeds, first: tuple(range(first, first + n_seeds))
        ),
    )
    labels_by_fold: WeightRows = asks(
        (),
        label="Labels by fold",
        help="How the samples of a label are spread over the folds of SDS k-means. Write a label, a colon and a "
        "number for each fold: “spam: 3 2 1; ham: 1 1 1”. Counts or shares. Other labels are spread evenly.",
        address="labels_by_fold",
        lowest=0.0,
        named=True,
        width=520,
        when=lambda values, about: bool(_by_labels(values["schemes"])),
        says=lambda rows: " · labels by fold as specified" if rows else "",
        joined=LATER,
    )
    options: tuple[tuple[float | int | str | bool | None, ...], ...] = asks_options(
        "schemes", FOLD_SCHEMES, joined=LATER
    )

    described: ClassVar[str] = "{schemes} · {n_folds} · {seeds} · {models}{representation}{labels_by_fold}{options}"

    kind: ClassVar[str] = "folds"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self, "schemes", FOLD_SCHEMES)
        check_names(self, "models", MODELS, or_none=True)
        if self.representation is not None:
            check_names(self, "representation", REPRESENTATIONS)
        for name, values, lowest in (
            ("n_folds", (self.n_folds,), 2),
            ("n_components", () if self.n_components is None else (self.n_components,), 1),
            ("seeds", self.seeds, 0),
        ):
            for value in values:
                if type(value) is not int or value < lowest:
                    raise DataError(f"{label_of(self, name)}: whole numbers of at least {lowest}, not {value!r}.")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise DataError("Seeds: at least one is needed, and each must stand once.")
        by_number = _by_number(self.schemes)
        if by_number and self.number is None:
            raise DataError(
                f"{label_of(self, 'number')}: {FOLD_SCHEMES[by_number[0]].title} cuts by a number of each sample. "
                "Say which one."
            )
        self._check_labels_by_fold()
        object.__setattr__(self, "options", checked_options(self.options, self.schemes, FOLD_SCHEMES))
        for name in self.schemes:
            try:
                fold_scheme(self, name, self.seeds[0])
            except DataError as problem:
                raise DataError(f"{FOLD_SCHEMES[name].title}: {problem}") from None

    def _check_labels_by_fold(self) -> None:
        what = label_of(self, "labels_by_fold")
        if self.labels_by_fold and not _by_labels(self.schemes):
            raise DataError(f"{what}: none of the folds that are chosen reads them. Choose {SPECIFIED.title}, too.")
        object.__setattr__(self, "labels_by_fold", checked_weights(self.labels_by_fold, self.n_folds, what=what))

    @property
    def takes_labels(self) -> bool:
        """Whether any of its schemes gives folds the labels that are specified."""
        return bool(_by_labels(self.schemes))

    @property
    def label_informed(self) -> bool:
        """Whether the features that folds are made in saw the labels, as a trained network's do."""
        return self.representation is not None and REPRESENTATIONS[self.representation].label_informed

    def n_trials(self, dataset: Dataset) -> int:
        """One for the folds of each scheme and seed, one for each fold and model. DataError where they do not fit."""
        return len(self.trials(dataset))

    def notes(self, dataset: Dataset) -> tuple[str, ...]:
        """What is to be known before such folds are made, in sentences: labels that are rare, or specified."""
        specified = notes_on_labels(self.labels_by_fold, title=SPECIFIED.title)
        return (*rare_labels(dataset, self.n_folds), *specified)

    def wanted(self, dataset: Dataset, scheme: str) -> Float[np.ndarray, "n_folds n_classes"] | None:
        """How many samples of each class each fold was specified to hold, before rounding; None where nobody did.

        Raises DataError for a class that the data set does not have, and where a fold would stay empty.
        """
        if not (self.labels_by_fold and _by_labels([scheme])):
            return None
        return wanted_by_fold(self.labels_by_fold, dataset, self.n_folds, what=label_of(self, "labels_by_fold"))

    def trials(self, dataset: Dataset) -> tuple[FoldTrial, ...]:
        """Every trial: first all that make folds, then fold by fold, so that the first scores show all schemes."""
        return _trials(self, dataset)

    def folds(self, dataset: Dataset, scheme: str, seed: int) -> Integer[np.ndarray, " n_samples"]:
        """The fold that each sample is tested in, from 0; -1 for one that is in no test part."""
        return _folds(self, dataset, scheme, seed)

    def features(self, dataset: Dataset) -> Float[np.ndarray, "n_samples n_components"]:
        """What the folds are made in: the representation, standardised, then its principal components."""
        return _features(dataset, self.representation or default_representation(dataset.kind), self.n_components)

    def stored_models(self) -> tuple[str, ...]:
        """None: the models of this plan are made by its trials, and forgotten."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Rows of a trial (`COLUMNS`). Raises Cancelled where it is to stop between steps, fits or epochs."""
        trial, start = self.trials(dataset)[index], time.perf_counter()
        stop_if(context.should_stop)
        folds = self.folds(dataset, trial.scheme, trial.seed)
        if trial.model is None:
            return self._frame(trial, row=np.arange(len(folds)), fold=folds, seconds=time.perf_counter() - start)
        stop_if(context.should_stop)
        start = time.perf_counter()
        test, train = np.flatnonzero(folds == trial.fold), np.flatnonzero(folds != trial.fold)
        model = MODELS[trial.model]()
        seed = int(np.random.SeedSequence([trial.seed, *trial.scheme.encode(), trial.fold]).generate_state(1)[0])
        options = {"n_classes": dataset.n_classes, "should_stop": context.should_stop}
        model.fit(dataset.x[train], dataset.y[train], seed=seed, **options)
        predicted = np.asarray(model.predict(dataset.x[test]))
        return self._frame(
            trial,
            row=test,
            fold=np.full(len(test), trial.fold),
            y_pred=predicted,
            confidence=_confidence(model, dataset.x[test]),
            n_train=len(train),
            seconds=time.perf_counter() - start,
        )

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        trial = self.trials(dataset)[index]
        return self._frame(trial, row=[pd.NA], fold=[pd.NA if trial.fold is None else trial.fold], status="failed")

    def _frame(self, trial: FoldTrial, **cells: Any) -> pd.DataFrame:
        return frame_of_folds(trial, schemes=self.schemes, models=self.models, **cells)


def fold_scheme(plan: FoldPlan, scheme: str, seed: int) -> FoldScheme:
    """The scheme as the plan means it: a cross-validator that also serves outside.

    >>> fold_scheme(FoldPlan(n_folds=4), "random_folds", 1).get_n_splits()
    4
    """
    options = {option: value for entry, option, value in plan.options if entry == scheme}
    return FOLD_SCHEMES[scheme](n_folds=plan.n_folds, seed=seed, **options)


def _by_labels(schemes: Collection[str]) -> list[str]:
    """Those of the schemes whose folds get the labels that are specified."""
    return [name for name in schemes if FOLD_SCHEMES[name] is SPECIFIED]


def _by_number(schemes: Collection[str]) -> list[str]:
    """Those of the schemes that cut by a number of each sample."""
    return [name for name in schemes if FOLD_SCHEMES[name].needs == "values"]


@lru_cache(maxsize=16)
def _trials(plan: FoldPlan, dataset: Dataset) -> tuple[FoldTrial, ...]:
    _check_fit(plan, dataset)
    makers = [FoldTrial(scheme, seed, None, None) for seed in plan.seeds for scheme in plan.schemes]
    tests = []
    for scheme, seed, _, _ in makers:
        made_by = fold_scheme(plan, scheme, seed)
        n_folds = n_splits_of_units(made_by, dataset.unit_codes, dataset.y, _groups(dataset, scheme))
        if n_folds > MOST_FOLDS:
            raise DataError(
                f"{scheme} would make {n_folds:,} folds of {dataset.name}; at most {MOST_FOLDS:,} can be tested. "
                f"Ask for fewer folds, or for {FOLD_SCHEMES['group_folds'].title}, which put several sources into one."
            )
        tests += [(seed, fold, scheme, model) for fold in range(n_folds) for model in plan.models]
    order = {scheme: place for place, scheme in enumerate(plan.schemes)}
    tests.sort(key=lambda test: (plan.seeds.index(test[0]), test[1], order[test[2]]))
    return (*makers, *(FoldTrial(scheme, seed, model, fold) for seed, fold, scheme, model in tests))


def _check_fit(plan: FoldPlan, dataset: Dataset) -> None:
    """Refuse what can be seen without waiting for features; the rest fails with the trial that makes the folds."""
    check_fitting([MODELS[name] for name in plan.models], dataset)
    needs = {FOLD_SCHEMES[name].needs for name in plan.schemes}
    if plan.n_folds > dataset.n_units:
        raise DataError(
            f"{plan.n_folds} folds cannot be made of the {dataset.n_units} {dataset.unit_word}s of {dataset.name}: "
            "each fold needs one. Ask for fewer folds."
        )
    if "features" in needs and plan.representation is not None:
        check_representation(dataset, plan.representation)
    if "values" in needs:
        number_of(dataset, plan.number or "")
    for scheme in plan.schemes:
        plan.wanted(dataset, scheme)


@lru_cache(maxsize=32)
def _folds(plan: FoldPlan, dataset: Dataset, scheme: str, seed: int) -> Integer[np.ndarray, " n_samples"]:
    needs = FOLD_SCHEMES[scheme].needs
    groups = _groups(dataset, scheme)
    if needs == "features":
        x = plan.features(dataset)
    elif needs == "values":
        x = number_of(dataset, plan.number or "")
    else:
        x = np.zeros((dataset.n_samples, 1))
    made_by = fold_scheme(plan, scheme, seed)
    if isinstance(made_by, SPECIFIED) and plan.labels_by_fold:
        what = label_of(plan, "labels_by_fold")
        weights = weights_by_code(plan.labels_by_fold, dataset, what=what)
        made_by = replace(made_by, labels_by_fold=tuple((code, *weights[code]) for code in weights))
    folds = folds_of_units(made_by, dataset.unit_codes, x, dataset.y, groups)
    folds.flags.writeable = False  # it is shared by every trial of the process
    return folds


def _groups(dataset: Dataset, scheme: str) -> Integer[np.ndarray, " n_samples"] | None:
    """The source of every sample where it is known (a scheme may do without); DataError where the scheme needs it."""
    if dataset.sources is None and FOLD_SCHEMES[scheme].needs != "groups":
        return None
    return known_sources(dataset)[0]


@lru_cache(maxsize=4)
def _features(dataset: Dataset, representation: str, n_components: int | None) -> np.ndarray:
    return features_for_splits(dataset, representation, n_components=n_components)


def _confidence(model: object, x: np.ndarray) -> Float[np.ndarray, " n_test"]:
    predict_proba = getattr(model, "predict_proba", None)
    if predict_proba is None or len(x) == 0:
        return np.full(len(x), np.nan)
    return np.asarray(predict_proba(x), dtype=np.float64).max(axis=1)
