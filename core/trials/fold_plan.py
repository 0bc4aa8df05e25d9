"""How do models fare on folds that are made to differ? One trial makes folds, then each fold is tested in one."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core import represent
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.frames import TEXTS
from touchstone.core.data.tables.names import plural_of
from touchstone.core.data.values import locked
from touchstone.core.models import MODELS, check_fitting
from touchstone.core.models.classical import stop_if
from touchstone.core.models.stopping import Training
from touchstone.core.parameters import LATER, Ask, Several, asks, asks_options, asks_several, label_of
from touchstone.core.split.folds import FOLD_SCHEMES, SDSFolds
from touchstone.core.split.scheme import FoldScheme, held_whole
from touchstone.core.split.units import SPREADING, folds_of_units, labels_of_units, n_splits_of_units
from touchstone.core.trials import choices
from touchstone.core.trials.epochs import n_raised_by_training, trains_networks
from touchstone.core.trials.plan import Context, check_fields, check_names, checked_options
from touchstone.core.trials.run import TRAINING, trained_for
from touchstone.core.trials.sources_plan import known_sources

# What are the rows of a trial of folds? Lean ones: a run may have hundreds of thousands.


COLUMNS = ("scheme", "seed", "model", "fold", "row", "y_pred", "confidence", "n_train", "seconds", "status")
"""The columns of a frame of folds.

The trial that makes folds has a row for every sample: its `row` (position in the data set) and `fold` (from 0; -1 in no
test part), `model` and `y_pred` missing. A trial that tests a fold has a row for every sample of the fold: `y_pred` is
a code into the class names, `confidence` the highest predicted probability (NaN where the model gives none), `n_train`
the number of samples trained on. `seconds` (of the trial) and `status` ("ok" or "failed") stand on every row; a failed
trial is one row without figures.
"""


class FoldTrial(NamedTuple):
    """One trial of a plan: `model` and `fold` are None where it makes the folds of a scheme and seed."""

    scheme: str
    seed: int
    model: str | None
    fold: int | None


def frame_of_folds(
    trial: FoldTrial,
    *,
    schemes: Collection[str],
    models: Collection[str],
    row: object,
    fold: object,
    y_pred: object = pd.NA,
    confidence: object = np.nan,
    n_train: object = pd.NA,
    seconds: float = np.nan,
    status: str = "ok",
    training: Training | None = None,
) -> pd.DataFrame:
    """A frame of `COLUMNS`; every trial of a plan has the same types and categories, so that frames join.

    Where there are networks among the models, it has `core.trials.run.TRAINING` besides.

    Examples
    --------
    >>> trial = FoldTrial("random_folds", 0, None, None)
    >>> frame_of_folds(trial, schemes=["random_folds"], models=["svm"], row=[0, 1], fold=[1, 0])["fold"].tolist()
    [1, 0]
    """
    index = pd.RangeIndex(len(row))
    cells = {
        "scheme": (trial.scheme, pd.CategoricalDtype(pd.Index(schemes, dtype=TEXTS))),
        "seed": (trial.seed, "int64"),
        "model": (trial.model, pd.CategoricalDtype(pd.Index(models, dtype=TEXTS))),
        "fold": (pd.array(fold, dtype="Int16"), "Int16"),
        "row": (pd.array(row, dtype="Int32"), "Int32"),
        "y_pred": (y_pred, "Int32"),
        "confidence": (confidence, "float32"),
        "n_train": (n_train, "Int32"),
        "seconds": (seconds, "float32"),
        "status": (status, pd.CategoricalDtype(pd.Index(["ok", "failed"], dtype=TEXTS))),
    }
    if trains_networks(models):
        cells |= {name: (value, TRAINING[name]) for name, value in trained_for(training).items()}
    return pd.DataFrame({name: pd.Series(value, index, dtype=dtype) for name, (value, dtype) in cells.items()})


# How many samples of each label belong in each fold, where somebody says so? (Wecker et al. 2020, section 3.3)
#
# A label has a weight for every fold: its samples are shared out in proportion, and counts that sum to its samples are
# met exactly. Labels of which nothing is said are spread evenly.


WeightRows = tuple[tuple[str | int | float, ...], ...]
"""For each label that something is said of: the label, then its weight in each fold."""


def checked_weights(rows: Any, n_folds: int, *, what: str) -> WeightRows:
    """The rows as (label, weight, ...), weights as floats; DataError, which begins with `what`, where they make none.

    Examples
    --------
    >>> checked_weights((("ham", 1, 3),), 2, what="Labels by fold")
    (('ham', 1.0, 3.0),)
    >>> checked_weights((("ham", 1),), 2, what="Labels by fold")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: Labels by fold: “ham” needs a number for each of the 2 folds, not 1.
    """
    checked: dict[str, tuple[str | float, ...]] = {}
    for row in rows:
        if not (isinstance(row, tuple) and row and isinstance(row[0], str)):
            raise DataError(f"{what}: each row is a label and a number for each fold, not {row!r}.")
        label, weights = row[0], row[1:]
        if label in checked:
            raise DataError(f"{what}: “{label}” stands twice. Give it one row.")
        if len(weights) != n_folds:
            raise DataError(f"{what}: “{label}” needs a number for each of the {n_folds} folds, not {len(weights)}.")
        if not all(type(weight) in (int, float) and weight >= 0 for weight in weights) or sum(weights) <= 0:
            raise DataError(f"{what}: the numbers of “{label}” must be 0 or more, and one of them above 0.")
        checked[label] = (label, *(float(weight) for weight in weights))
    return tuple(checked.values())


def weights_by_code(rows: WeightRows, dataset: Dataset, *, what: str) -> dict[int, tuple[float, ...]]:
    """The weights by the code of each label; DataError where the data set has no such class.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> weights_by_code((("class_1", 1.0, 3.0),), load_example("wine"), what="Labels by fold")
    {1: (1.0, 3.0)}
    """
    unknown = [f"“{row[0]}”" for row in rows if row[0] not in dataset.class_names]
    if unknown:
        more = " …" if dataset.n_classes > 10 else ""
        raise DataError(
            f"{what}: {dataset.name} has no class {', '.join(unknown)}. "
            f"Its classes are {', '.join(f'“{name}”' for name in dataset.class_names[:10])}{more}."
        )
    return {dataset.class_names.index(str(row[0])): tuple(float(weight) for weight in row[1:]) for row in rows}


def wanted_by_fold(
    rows: WeightRows, dataset: Dataset, n_folds: int, *, what: str
) -> Float[np.ndarray, "n_folds n_classes"]:
    """How many samples of each class each fold is to get, before any is rounded; DataError where a fold gets none.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> wanted_by_fold((("class_1", 1.0, 3.0),), load_example("wine"), 2, what="Labels by fold")
    array([[29.5 , 17.75, 24.  ],
           [29.5 , 53.25, 24.  ]])
    """
    shares = np.full((dataset.n_classes, n_folds), 1 / n_folds)
    for code, weights in weights_by_code(rows, dataset, what=what).items():
        shares[code] = np.array(weights) / sum(weights)
    wanted = (shares * dataset.n_per_class[:, None]).T
    empty = np.flatnonzero(wanted.sum(axis=1) < 1)
    if len(empty):
        raise DataError(f"{what}: fold {empty[0] + 1} would hold no sample. Give it some, or ask for fewer folds.")
    return wanted


def notes_on_labels(rows: WeightRows, *, title: str) -> tuple[str, ...]:
    """What is to be known where somebody says the labels of a scheme's folds, in sentences; none where nobody does.

    >>> notes_on_labels((("ham", 0.0, 2.0), ("spam", 1.0, 1.0)), title="SDS k-means")[1:]
    ('All samples of “ham” are in fold 2: no model that is tested there has seen one.',)
    """
    filled = [(row[0], [fold for fold, weight in enumerate(row[1:], 1) if weight]) for row in rows]
    unseen = [
        f"All samples of “{label}” are in fold {folds[0]}: no model that is tested there has seen one."
        for label, folds in filled
        if len(folds) == 1
    ]
    chosen = f"You specified the labels of the folds of {title}, so scores also differ because labels do."
    return (chosen, *unseen[:5]) if rows else ()


def rare_labels(dataset: Dataset, n_folds: int) -> tuple[str, ...]:
    """The labels that have fewer samples than there are folds, in a sentence; none where there are none.

    >>> from touchstone.core.data import load_example
    >>> rare_labels(load_example("wine"), 5)
    ()
    """
    n = dataset.n_per_class
    rare = [f"{name} ({count})" for name, count in zip(dataset.class_names, n, strict=True) if count < n_folds]
    if not rare:
        return ()
    more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
    return (
        f"Fewer samples than the {n_folds} folds: {', '.join(rare[:5])}{more}. That is allowed; such a label is "
        f"missing from some folds, and their scores do not cover it.",
    )


# Which folds hold all samples of a class? Whoever is tested there was trained without it.


def unseen_classes(
    cuts: Mapping[tuple[str, int], Integer[np.ndarray, " n_samples"]],
    y: Integer[np.ndarray, " n_samples"],
    class_names: Sequence[str],
) -> tuple[str, ...]:
    """The classes that are in one fold of a scheme and seed altogether, in sentences; none where there are none.

    >>> unseen_classes({("random_folds", 3): np.array([0, 1, 1])}, np.array([0, 0, 1]), ("ham", "spam"))
    ('Fold 2 of “Random” holds all of “spam”: models tested there saw none.',)
    """
    sentences, several = [], len({seed for _, seed in cuts}) > 1
    for (scheme, seed), folds in cuts.items():
        by_fold: dict[int, list[str]] = {}
        for label, fold in held_whole(folds, y).items():
            by_fold.setdefault(fold, []).append(class_names[label])
        named = FOLD_SCHEMES[scheme].title if scheme in FOLD_SCHEMES else scheme
        title = f"“{named}”" + f", seed {seed}," * several
        sentences += [
            f"Fold {fold + 1} of {title} holds all of {_in_quotes(names)}: models tested there saw none."
            for fold, names in sorted(by_fold.items())
        ]
    more = len(sentences) - MOST_UNSEEN
    holds = "fold holds" if more == 1 else "folds hold"
    return (*sentences[:MOST_UNSEEN], *([f"{more:,} more {holds} all of a class."] if more > 0 else []))


MOST_UNSEEN = 3
"""So many folds that hold whole classes are named; the others are counted."""


def _in_quotes(names: Sequence[str]) -> str:
    shown = [f"“{name}”" for name in names]
    return " and ".join(shown) if len(shown) < 3 else f"{', '.join(shown[:2])} and {len(shown) - 2:,} more"


# The plan of folds, and its trials.


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
        shares or counts (`core.trials.fold_plan`). Labels of which nothing is said are spread evenly.
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
        "Folds",
        "How samples are put into folds. Random folds are the benchmark. SDS k-means (size- and "
        "distribution-sensitive) makes folds that differ in inputs, with equal sizes and labels.",
        address="schemes",
        place="line",
        choices=choices.fold_schemes_offered,
        several=True,
        says=choices.first_four,
    )
    models: tuple[str, ...] = asks(
        ("logistic",),
        "Models",
        "Each is trained on all folds but one and tested on that one. Choose none to make folds only.",
        address="models",
        place="line",
        choices=choices.models_offered,
        several=True,
        word="no model",
    )
    n_folds: int = asks(
        5,
        "Number of folds",
        "Used where the data do not fix the number of folds.",
        address="folds",
        place="row",
        within=(2, 50),
        says="fold",
    )
    number: str | None = asks(
        None,
        "Quantiles of",
        "The number of each sample whose quantiles are the folds.",
        address="number",
        place="row",
        choices=choices.numbers_offered,
        when=lambda values, about: bool(_by_number(values["schemes"])),
        differs=lambda about: {"usual": next(iter(choices.numbers_offered(about) or {}), None)},
    )
    representation: str | None = choices.asks_features("Features that folds are made in", says=" · ")
    n_components: int | None = asks(
        5, "Principal components", "The paper's 5, or all.", address="components", within=(1, 500), word="all"
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
        alike=frozenset,
    )
    labels_by_fold: WeightRows = asks(
        (),
        "Labels by fold",
        "How the samples of a label are spread over the folds of SDS k-means. Write a label, a colon and a "
        "number for each fold: “spam: 3 2 1; ham: 1 1 1”. Counts or shares. Other labels are spread evenly.",
        address="labels_by_fold",
        lowest=0.0,
        named=True,
        width=520,
        when=lambda values, about: bool(_by_labels(values["schemes"])),
        says=lambda rows: " · labels by fold as specified" if rows else "",
        joined=LATER,
        alike=frozenset,
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
        check_names(self, "representation", represent.REPRESENTATIONS, or_none=True)
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
        what = label_of(self, "labels_by_fold")
        if self.labels_by_fold and not _by_labels(self.schemes):
            raise DataError(f"{what}: none of the folds that are chosen reads them. Choose {SPECIFIED.title}, too.")
        object.__setattr__(self, "labels_by_fold", checked_weights(self.labels_by_fold, self.n_folds, what=what))
        object.__setattr__(self, "options", checked_options(self.options, self.schemes, FOLD_SCHEMES))
        for name in self.schemes:
            try:
                fold_scheme(self, name, self.seeds[0])
            except DataError as problem:
                raise DataError(f"{FOLD_SCHEMES[name].title}: {problem}") from None

    @property
    def takes_labels(self) -> bool:
        """Whether any of its schemes gives folds the labels that are specified."""
        return bool(_by_labels(self.schemes))

    @property
    def label_informed(self) -> bool:
        """Whether the features that folds are made in saw the labels, as a trained network's do."""
        return self.representation is not None and represent.REPRESENTATIONS[self.representation].label_informed

    def n_trials(self, dataset: Dataset) -> int:
        """One for the folds of each scheme and seed, one for each fold and model. DataError where they do not fit.

        SmallClasses where models would be tested on all samples of a class, because its sources are in one fold.
        """
        n_trials = len(self.trials(dataset))
        if self.models and (problem := _unlearned(self, dataset)) is not None:
            raise problem
        return n_trials

    def notes(self, dataset: Dataset) -> tuple[str, ...]:
        """What is to be known before such folds are made, in sentences: units, labels that are rare, or specified.

        Folds that need no features are made for it: which of them hold all samples of a class is known now.
        """
        specified = notes_on_labels(self.labels_by_fold, title=SPECIFIED.title)
        unseen = unseen_classes(_known_cuts(self, dataset), dataset.y, dataset.class_names)
        return (*_whole_units(dataset, self.schemes), *rare_labels(dataset, self.n_folds), *unseen, *specified)

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
        representation = self.representation or represent.default_representation(dataset.kind)
        return _features(dataset, representation, self.n_components)

    def n_raised(self) -> int:
        """How often the training of its networks has been raised."""
        return n_raised_by_training(self.models)

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
            training=getattr(model, "training", None),
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


def _whole_units(dataset: Dataset, schemes: Collection[str]) -> tuple[str, ...]:
    """That folds keep units whole, where there are any, and which folds do not on purpose."""
    if dataset.unit_codes is None:
        return ()
    spread = [f" in “{FOLD_SCHEMES[name].title}”" for name in schemes if FOLD_SCHEMES[name] in SPREADING]
    but = f", except{spread[0]}" if spread and dataset.sources_are_units else ""
    return (f"Each of the {dataset.n_units:,} {plural_of(dataset.unit_word)} is in one fold{but}.",)


@lru_cache(maxsize=16)
def _trials(plan: FoldPlan, dataset: Dataset) -> tuple[FoldTrial, ...]:
    _check_fit(plan, dataset)
    makers = [FoldTrial(scheme, seed, None, None) for seed in plan.seeds for scheme in plan.schemes]
    tests = []
    for scheme, seed, _, _ in makers:
        made_by = fold_scheme(plan, scheme, seed)
        if made_by.needs == "groups":  # made at once, without features: what cannot be made is refused now
            n_folds = int(_folds(plan, dataset, scheme, seed).max()) + 1
        else:
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
            f"{plan.n_folds} folds cannot be made of the {dataset.n_units} {plural_of(dataset.unit_word)} of "
            f"{dataset.name}: each fold needs one. Ask for fewer folds."
        )
    if "features" in needs and plan.representation is not None:
        represent.check_representation(dataset, plan.representation)
    if "values" in needs:
        represent.number_of(dataset, plan.number or "")
    for scheme in plan.schemes:
        plan.wanted(dataset, scheme)


@lru_cache(maxsize=16)
def _unlearned(plan: FoldPlan, dataset: Dataset) -> SmallClasses | None:
    """Why models could not learn a class, in folds by known sources: one fold has all of its samples."""
    for scheme in (name for name in plan.schemes if FOLD_SCHEMES[name].needs == "groups"):
        for seed in plan.seeds:
            folds = _folds(plan, dataset, scheme, seed)
            for label, fold in held_whole(folds, dataset.y).items():
                of_class, name = dataset.y == label, f"“{dataset.class_names[label]}”"
                n_sources = len(set(known_sources(dataset)[0][of_class].tolist()))
                if n_sources == 1:
                    problem = f"All samples of {name} come from 1 source, so a fold would train without it: "
                    remedy = "leave it out, or take folds that need no sources."
                else:
                    problem = f"Fold {fold + 1} of {folds.max() + 1} would hold all {n_sources} sources of {name}: "
                    remedy = "leave it out, or take other folds."
                return SmallClasses(problem + remedy, (dataset.class_names[label],))
    return None


def _known_cuts(plan: FoldPlan, dataset: Dataset) -> dict[tuple[str, int], Integer[np.ndarray, " n_samples"]]:
    """The folds that need no features, where classes are small enough to be in one of them as a whole.

    None of the others is: with more than ten samples or units a class has less than one chance in 500 to be so.
    """
    labels = dataset.y if dataset.unit_codes is None else labels_of_units(dataset.unit_codes, dataset.y)
    few = np.bincount(labels, minlength=dataset.n_classes).min() <= 10
    needs = {name: FOLD_SCHEMES[name].needs for name in plan.schemes}
    known = [name for name in plan.schemes if needs[name] == "groups" or (few and needs[name] in ("nothing", "labels"))]
    return {(name, seed): _folds(plan, dataset, name, seed) for seed in plan.seeds for name in known}


@lru_cache(maxsize=32)
def _folds(plan: FoldPlan, dataset: Dataset, scheme: str, seed: int) -> Integer[np.ndarray, " n_samples"]:
    needs = FOLD_SCHEMES[scheme].needs
    groups = _groups(dataset, scheme)
    if needs == "features":
        x = plan.features(dataset)
    elif needs == "values":
        x = represent.number_of(dataset, plan.number or "")
    else:
        x = np.zeros((dataset.n_samples, 1))
    made_by = fold_scheme(plan, scheme, seed)
    if isinstance(made_by, SPECIFIED) and plan.labels_by_fold:
        what = label_of(plan, "labels_by_fold")
        weights = weights_by_code(plan.labels_by_fold, dataset, what=what)
        made_by = replace(made_by, labels_by_fold=tuple((code, *weights[code]) for code in weights))
    return locked(folds_of_units(made_by, dataset.unit_codes, x, dataset.y, groups))  # every trial here shares it


def _groups(dataset: Dataset, scheme: str) -> Integer[np.ndarray, " n_samples"] | None:
    """The source of every sample where it is known (a scheme may do without); DataError where the scheme needs it."""
    if dataset.sources is None and FOLD_SCHEMES[scheme].needs != "groups":
        return None
    return known_sources(dataset)[0]


@lru_cache(maxsize=4)
def _features(dataset: Dataset, representation: str, n_components: int | None) -> np.ndarray:
    return represent.features_for_splits(dataset, representation, n_components=n_components)


def _confidence(model: object, x: np.ndarray) -> Float[np.ndarray, " n_test"]:
    predict_proba = getattr(model, "predict_proba", None)
    if predict_proba is None or len(x) == 0:
        return np.full(len(x), np.nan)
    return np.asarray(predict_proba(x), dtype=np.float64).max(axis=1)
