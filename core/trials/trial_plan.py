"""Which trials tell how accurate models are on unfamiliar sources? (Kilinc & Uysal 2017, sections 2-5.1)"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.cluster.finders import SOURCE_FINDERS, check_finder, trains
from touchstone.core.cluster.sources import Silhouettes, silhouettes
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.tables.names import plural_of
from touchstone.core.data.values import listed
from touchstone.core.models import MODELS, Classifier, check_fitting
from touchstone.core.models.networks import PaperNetwork, best_device
from touchstone.core.models.stopping import Training
from touchstone.core.models.together import fit_together, why_not_together
from touchstone.core.parameters import ANYTHING, LATER, asks, asks_seed, label_of
from touchstone.core.represent import REPRESENTATIONS, check_representation, default_representation
from touchstone.core.split.scheme import DRAW_SCHEMES, OnlyOneSource, Split, SplitScheme, turns_of, without
from touchstone.core.split.units import are_spread, draw_of_units, n_splits_of_units, of_size
from touchstone.core.trials import choices
from touchstone.core.trials import sources_plan as finding
from touchstone.core.trials.defaults import meant_across
from touchstone.core.trials.epochs import (
    EPOCHS,
    Chosen,
    Fitted,
    n_raised_by_training,
    predict_at,
    trains_networks,
    untrained,
)
from touchstone.core.trials.plan import Context, check_fields, check_names, check_whole
from touchstone.core.trials.run import COLUMNS, LEFT_OUT, TUNED, Counted, count_trial, of_turn, table_of, trained_for

# Which splits does a plan of trials draw? Each by a seed of its own, which all models and source finders share.


EXCLUSIVE, INCLUSIVE, RANDOM = "source_exclusive", "source_inclusive", "random"
FULL = "random_full"
"""The scheme of random splits whose training part is not cut to what held-out sources leave."""


def schemes_of(plan: "TrialPlan") -> tuple[str, ...]:
    """The schemes that a plan draws by: random splits, where held-out sources make them smaller, at full size as well.

    Examples
    --------
    >>> from touchstone.core.trials import TrialPlan
    >>> schemes_of(TrialPlan())
    ('source_exclusive', 'source_inclusive', 'random', 'random_full')
    """
    whole = plan.n_train is None and {EXCLUSIVE, RANDOM} <= set(plan.schemes)
    return (*plan.schemes, FULL) if whole else plan.schemes


@dataclass(frozen=True)
class Draw:
    """One drawn split of a plan: whose sources, which scheme, which repeat. All models of the plan share it."""

    source_finder: str
    scheme: str
    repeat: int
    clustering: int
    within: int
    """The how manieth draw of its clustering this is."""


def of_known_sources(draws: Sequence[Draw]) -> list[Draw]:
    """The draws of sources that the data set names itself."""
    return [draw for draw in draws if draw.source_finder == finding.KNOWN_SOURCES]


def _scheme(plan: "TrialPlan", scheme: str, n_repeats: int, clustering: int, *, use: str = "") -> SplitScheme:
    """A scheme that draws so many repeats, by seeds that are those of one clustering and, where there is one, `use`."""
    across = {"across": plan.across} if scheme == EXCLUSIVE else {}
    drawn = RANDOM if scheme == FULL else scheme
    seed = seed_of(plan.seed, f"{use}{drawn}", clustering)
    return DRAW_SCHEMES[drawn](n_repeats=n_repeats, test_share=plan.test_share, seed=seed, **across)


@lru_cache(maxsize=4)
def turns(dataset: Dataset) -> Integer[np.ndarray, " n_samples"]:
    """The turn in which each sample is left out; DataError where no sources are known."""
    return turns_of(dataset.y, finding.known_sources(dataset)[0])


def n_turns(dataset: Dataset) -> int:
    """How often each draw is repeated without some of its sources.

    Examples
    --------
    >>> y, sources = np.array([0, 0, 1, 1]), ["ann", "bob", "ann", "bob"]
    >>> n_turns(Dataset("written", "tabular", np.zeros((4, 1)), y, ("a", "b"), list("1234"), sources))
    2
    """
    return int(turns(dataset).max()) + 1


def trial_at(plan: "TrialPlan", dataset: Dataset, index: int) -> tuple[Draw, str, int | None]:
    """Draw, model and the turn that is left out of a trial: all whole draws first, then all turns of each draw."""
    at, model = divmod(index, len(plan.models))
    draws = plan.draws(dataset)
    if at < len(draws):
        return draws[at], plan.models[model], None
    draw, turn = divmod(at - len(draws), n_turns(dataset))
    return of_known_sources(draws)[draw], plan.models[model], turn


def n_clusterings_of(plan: "TrialPlan", source_finder: str) -> int:
    """How many clusterings a finder makes: known sources are there once."""
    return 1 if source_finder == finding.KNOWN_SOURCES else min(plan.n_clusterings, plan.n_repeats)


@lru_cache(maxsize=16)
def all_draws(plan: "TrialPlan", dataset: Dataset) -> tuple[Draw, ...]:
    """Every drawn split of a plan, repeat by repeat."""
    draws = []
    for finder in plan.source_finders:
        units, y, groups = _one_row_per_source(plan, dataset, finder)
        n_clusterings = n_clusterings_of(plan, finder)
        for scheme in schemes_of(plan):
            for clustering in range(n_clusterings):
                n_repeats = len(range(clustering, plan.n_repeats, n_clusterings))
                with _naming_classes(dataset):
                    n_splits = n_splits_of_units(_scheme(plan, scheme, n_repeats, clustering), units, y, groups)
                draws += [
                    Draw(finder, scheme, clustering + within * n_clusterings, clustering, within)
                    for within in range(n_splits)
                ]
    return tuple(sorted(draws, key=lambda draw: draw.repeat))


def _one_row_per_source(
    plan: "TrialPlan", dataset: Dataset, source_finder: str
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """Units, labels and sources from which the number of splits follows, without waiting for a clustering."""
    if source_finder == finding.KNOWN_SOURCES:
        return dataset.unit_codes, dataset.y, finding.known_sources(dataset)[0]
    finding.check_class_sizes(dataset, plan.n_sources)
    groups = np.arange(dataset.n_classes * plan.n_sources)
    return None, groups // plan.n_sources, groups


@lru_cache(maxsize=64)
def _raw_split(plan: "TrialPlan", dataset: Dataset, draw: Draw, turn: int | None = None) -> Split:
    """What the scheme draws, without what a turn leaves out."""
    n_clusterings = n_clusterings_of(plan, draw.source_finder)
    n_repeats = len(range(draw.clustering, plan.n_repeats, n_clusterings))
    scheme = _scheme(plan, draw.scheme, n_repeats, draw.clustering)
    sources = plan.sources(dataset, draw.source_finder, draw.clustering)
    with _naming_classes(dataset):
        # A finder may leave a class with fewer sources than asked for: where these have fewer combinations, each comes
        # again in its turn.
        n_splits = n_splits_of_units(scheme, dataset.unit_codes, dataset.y, sources)
        split = draw_of_units(scheme, draw.within % n_splits, dataset.unit_codes, dataset.y, sources)
    return split if turn is None else without(split, turns(dataset), turn, dataset.y)


def _sized(plan: "TrialPlan", dataset: Dataset, draw: Draw, split_of: Callable[[Draw], Split]) -> Split:
    """A draw's split, of each class with as many training rows as all have that its size is held to."""
    split, y = split_of(draw), dataset.y
    held_to = [each for each in map(split_of, _held_to(plan, draw)) if len(each.test)] or [split]
    n_per_class = np.min([np.bincount(y[each.train], minlength=dataset.n_classes) for each in held_to], axis=0)
    if plan.n_train is not None:
        n_per_class = in_proportion(n_per_class, plan.n_train)
    sources = plan.sources(dataset, draw.source_finder, draw.clustering)
    spread = are_spread(_scheme(plan, draw.scheme, 1, draw.clustering), dataset.unit_codes, sources)
    rng = np.random.default_rng([plan.seed, *draw.scheme.encode(), draw.repeat])
    return of_size(split, n_per_class, y, None if spread else dataset.unit_codes, rng=rng)


def _held_to(plan: "TrialPlan", draw: Draw) -> Iterator[Draw]:
    """The draws of the same repeat whose training parts say how large that of a draw is: one of each finder."""
    held_out = EXCLUSIVE in plan.schemes and draw.scheme != FULL
    for finder in plan.source_finders:
        within, clustering = divmod(draw.repeat, n_clusterings_of(plan, finder))
        yield Draw(finder, EXCLUSIVE if held_out else draw.scheme, draw.repeat, clustering, within)


def in_proportion(n_per_class: Integer[np.ndarray, " n_classes"], n: int) -> Integer[np.ndarray, " n_classes"]:
    """So many samples in all, of each class its share; a smaller number has no more of any class.

    Examples
    --------
    >>> in_proportion(np.array([2, 4, 6]), 6), in_proportion(np.array([2, 4, 6]), 20)
    (array([1, 2, 3]), array([2, 4, 6]))
    """
    label = np.repeat(np.arange(len(n_per_class)), n_per_class)
    rank = np.arange(len(label)) - np.repeat(np.cumsum(n_per_class) - n_per_class, n_per_class)
    first = np.argsort((rank + 0.5) / n_per_class[label], kind="stable")[:n]
    return np.bincount(label[first], minlength=len(n_per_class))


@contextmanager
def _naming_classes(dataset: Dataset) -> Iterator[None]:
    """Schemes see codes of classes; whoever reads what they refuse knows the names."""
    try:
        yield
    except OnlyOneSource as problem:
        raise problem.named(dataset.class_names) from None


@lru_cache(maxsize=64)
def _held_back(plan: "TrialPlan", dataset: Dataset, draw: Draw, turn: int | None = None) -> Split:
    """The rows of a draw's training part that are trained on, and those that an epoch is chosen by."""
    train = plan.split(dataset, draw).train
    sources = plan.sources(dataset, draw.source_finder, draw.clustering)
    inner = _second_draw(plan, dataset, draw.scheme, draw.repeat, (dataset.unit_codes, dataset.y, sources), train)
    split = Split(train[inner.train], train[inner.test])
    return split if turn is None else without(split, turns(dataset), turn, dataset.y)


def _second_draw(
    plan: "TrialPlan",
    dataset: Dataset,
    scheme: str,
    repeat: int,
    about: tuple[np.ndarray | None, np.ndarray, np.ndarray],
    train: Integer[np.ndarray, " n_train"],
) -> Split:
    """A split of a training part, by the units, labels and sources of all samples; rows count within that part."""
    of_all, y, sources = about
    units = None if of_all is None else np.unique(of_all[train], return_inverse=True)[1]
    try:
        with _naming_classes(dataset):
            made = _scheme(plan, scheme, 1, repeat, use="validation ")
            return draw_of_units(made, 0, units, y[train], sources[train])
    except DataError as problem:
        raise DataError(
            f"No sources can be held out of the training part to choose an epoch: {problem} Take more sources, or "
            "the last epoch."
        ) from None


def identity(model: str, draw: Draw) -> dict[str, object]:
    """What names the rows of a draw."""
    return {"model": model} | {name: value for name, value in vars(draw).items() if name != "within"}


def seed_of(seed: int, scheme: str, number: int) -> int:
    """A seed of its own for every scheme and repeat (or clustering), the same for all models and finders."""
    return int(np.random.SeedSequence([seed, *scheme.encode(), number]).generate_state(1)[0])


FIRST_DRAWS = 20
"""So many splits of known sources are drawn before a run, where units may take a class out of training."""


@lru_cache(maxsize=16)
def unlearned(plan: "TrialPlan", dataset: Dataset) -> SmallClasses | None:
    """Why models could not learn a class from what known sources leave; None where the first splits have all classes.

    Raises DataError where a scheme cannot draw from these sources at all, which is known without training.
    """
    about = _one_row_per_source(plan, dataset, finding.KNOWN_SOURCES)
    for scheme in schemes_of(plan):
        of_scheme = [draw for draw in of_known_sources(plan.draws(dataset)) if draw.scheme == scheme]
        # Without units, whoever holds sources out leaves some of each class.
        looked_at = FIRST_DRAWS if scheme == EXCLUSIVE and dataset.unit_codes is not None else 1
        for number, draw in enumerate(of_scheme[:looked_at], 1):
            train = _raw_split(plan, dataset, draw).train
            if plan.epoch == "validation" and len(plan.source_finders) == 1:
                train = plan.fitted_and_held_back(dataset, draw)[0].train
            elif plan.epoch == "validation":  # how much is left to train on, other finders say once they have clustered
                train = train[_second_draw(plan, dataset, scheme, draw.repeat, about, train).train]
            n_left = np.bincount(dataset.y[train], minlength=dataset.n_classes)
            if scheme == EXCLUSIVE and not n_left.all():
                lost = tuple(np.array(dataset.class_names)[n_left == 0].tolist())
                names = listed(f"“{name}”" for name in lost[:3])
                return SmallClasses(
                    f"Split {number} would hold out all samples of {names}: leave it out, or give it samples of more "
                    f"{plural_of(dataset.unit_word)} and sources.",
                    lost,
                )
    return None


def check_held_back(plan: "TrialPlan", dataset: Dataset, draws: tuple[Draw, ...]) -> None:
    """Raise DataError where no sources are left to hold back, which is known without finding any."""
    for finder, scheme in {(draw.source_finder, draw.scheme): draw for draw in draws}:
        about = _one_row_per_source(plan, dataset, finder)
        if scheme == EXCLUSIVE:
            with _naming_classes(dataset):
                train = draw_of_units(_scheme(plan, scheme, 1, 0), 0, *about).train
            _second_draw(plan, dataset, scheme, 0, about, train)


# How do repeats of one network's trial become one piece of work? Trained together, each tested on its own part.


AT_ONCE = 16
"""So many networks are trained together at most: each brings its weights, gradients and velocities to the GPU."""


def trained_together(model: Classifier, dataset: Dataset, together: bool | None = None) -> bool:
    """Whether repeats of a model on this data set are trained together; None asks whether there is a GPU for it.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> trained_together(MODELS["cnn_1"](), load_example("digits"), together=True)
    True
    >>> trained_together(MODELS["svm"](), load_example("digits"), together=True)
    False
    """
    if why_not_together(model, dataset) is not None:
        return False
    return best_device() != "cpu" if together is None else together


def in_groups(models: Mapping[int, str], together: Collection[str]) -> list[tuple[int, ...]]:
    """Put trials, by the names of their models, into groups of at most AT_ONCE; models not `together` stay alone.

    Groups stand in the order of their first trials.

    Examples
    --------
    >>> in_groups({0: "svm", 1: "cnn_1", 2: "svm", 3: "cnn_1"}, {"cnn_1"})
    [(0,), (1, 3), (2,)]
    """
    groups = [(trial,) for trial, name in models.items() if name not in together]
    for name in together:
        of_model = [trial for trial, model in models.items() if model == name]
        groups += [tuple(of_model[first : first + AT_ONCE]) for first in range(0, len(of_model), AT_ONCE)]
    return sorted(groups)


def predict_together(
    epochs: tuple[str, ...],
    model: PaperNetwork,
    dataset: Dataset,
    splits: Sequence[Split],
    *,
    seeds: Sequence[int],
    should_stop: Callable[[], bool],
    validations: Sequence[Integer[np.ndarray, " _"] | None] | None = None,
    at_once: int = AT_ONCE,
    device: str | None = None,
) -> list[Fitted]:
    """Give what `predict_at` gives for each split and seed, at most `at_once` networks trained together.

    The seconds are a network's share of what those trained with it took. Raises ModelError where the model cannot be
    trained so (see `why_not_together`) and where training diverges for one of them, and Cancelled when `should_stop`
    turns true between epochs.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> wine = load_example("wine")
    >>> splits = [Split(np.arange(0, 178, 2), np.arange(1, 178, 2)), Split(np.arange(1, 178, 2), np.arange(0, 178, 2))]
    >>> options = dict(seeds=[0, 1], should_stop=lambda: False)
    >>> fitted = predict_together(("last", "best"), MODELS["linear"](), wine, splits, **options)
    >>> [bool((one.predicted["best"] == wine.y[split.test]).mean() > 0.9) for one, split in zip(fitted, splits)]
    [True, True]
    """
    held_back = validations or [None] * len(splits)
    given, results = list(zip(splits, seeds, held_back, strict=True)), []
    for first in range(0, len(given), at_once):
        start = time.perf_counter()
        group = given[first : first + at_once]
        chosen = [Chosen(epochs, dataset, split.test, validation) for split, _, validation in group]

        def look(_n_done: int, _n_epochs: int, models: dict[int, PaperNetwork], chosen: list[Chosen] = chosen) -> None:
            for place, trained in models.items():
                chosen[place].look(trained)

        fitted = fit_together(
            model,
            dataset,
            [split.train for split, _, _ in group],
            [seed for _, seed, _ in group],
            device=device,
            on_epoch=look if chosen[0].judges else None,
            should_stop=should_stop,
        )
        predicted = [one.at_the_end(trained) for one, trained in zip(chosen, fitted, strict=True)]
        seconds = (time.perf_counter() - start) / len(group)
        results += [
            Fitted(labels, seconds, trained.training) for labels, trained in zip(predicted, fitted, strict=True)
        ]
    return results


# The plan of these trials.


@dataclass(frozen=True)
class TrialPlan:
    """Fit every model on every draw of every scheme and count what it gets right.

    Parameters
    ----------
    models
        Names in MODELS. Each is fitted on the same draws, so that models are compared paired.
    source_finders
        Names in SOURCE_FINDERS, or "known" for the data set's own sources. With several, the training parts of the
        same repeat are cut to the smallest of them, class by class, so that only the sources differ. Those that train a
        network find sources in the samples themselves, whatever the `representation`; see `needs`.
    n_sources
        Sources to find in each class (the paper's k = 5).
    representation
        The name in REPRESENTATIONS of the features that sources are found in; None takes the usual one of the kind.
    schemes
        Names in DRAW_SCHEMES. All train on as many samples of each class as the held-out sources of the same repeat
        leave; random splits are drawn at full size as well (`schemes_of`).
    n_repeats
        Draws per scheme and finder, spread over `n_clusterings` seeds of the finder.
    test_share
        Share of the samples (or of each class's sources) that is tested on.
    across
        "class", "all" or None, as in SourceExclusive.
    n_train
        Cut every training part to this many samples, at random, of each class its share; None keeps all.
    epoch
        A name in EPOCHS: which epoch of a network's training counts. With "validation", every draw of its scheme is
        followed by a second one within the training part, and no model trains on what that one holds out.
    n_epochs
        How long networks are trained; None: until they have learned what they can (`core.models.stopping`).
    seed
        The one number that all randomness of the plan is derived from.
    left_out
        Whether every draw of known sources is repeated without some of them, out of training as out of its test part:
        each is left out in one turn (`core.split.scheme`). What models owe to single sources is then known.

    tuned
        Whether each model's hyperparameters are chosen anew in every training part, by folds of its sources
        (`core.trials.tuning`).

    Raises DataError for a name that no registry knows and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> TrialPlan(models=("logistic",), n_repeats=20).n_trials(load_example("wine"))
    80
    """

    models: tuple[str, ...] = asks(
        ("svm", "logistic"),
        "Models",
        "Each is trained anew on the same splits, so that models are compared split by split.",
        address="models",
        place="line",
        choices=choices.models_offered,
        several=True,
    )
    source_finders: tuple[str, ...] = asks(
        ("kmeans",),
        "Sources",
        "Where a class's samples come from: clusters found within the class, or the sources named in the data. "
        "Deep k-means and ACOL train networks to find them, once, for minutes; ACOL is experimental.",
        address="sources",
        place="row",
        choices=choices.finders_offered,
        several=True,
        differs=lambda about: {"usual": (finding.KNOWN_SOURCES,)} if choices.has_sources(about) else {},
        says=lambda names: " and ".join(choices.finders_offered(ANYTHING)[name] for name in names),
    )
    representation: str | None = choices.asks_features(
        "Features for finding sources", help="The features that are clustered. ", says=" in "
    )
    n_sources: int = asks(
        5, "Clusters per class", "The paper's k; 5 makes test parts of a fifth.", address="clusters", within=(2, 50)
    )
    schemes: tuple[str, ...] = asks(
        ("source_exclusive", "source_inclusive", "random"),
        "Schemes",
        "How splits are drawn; pages show all schemes.",
        place="command",
        choices=lambda about: {name: name for name in DRAW_SCHEMES},
        several=True,
    )
    n_repeats: int = asks(
        20,
        "Repeats",
        "Splits drawn per scheme: 20 for a quick look, 100 as in the paper. More repeats make the "
        "Monte-Carlo error smaller, never the 95 % CI for new data.",
        address="repeats",
        place="row",
        within=(1, 1000, 10),
        says="repeat",
    )
    n_clusterings: int = asks(
        4,
        "Clusterings",
        "Repeats are spread over this many clusterings, so that no single clustering decides.",
        address="clusterings",
        within=(1, 100),
    )
    test_share: float = asks(
        0.2, "Test share", "The share of each class used for testing.", address="share", within=(0.05, 0.5, 0.05)
    )
    across: str | None = asks(
        None,
        "Sources are held out",
        "“Over all classes together” is for sources with samples of several classes, such as writers, and the "
        "default for these.",
        address="held_out",
        choices=lambda about: choices.ACROSS,
        word="usual",
        means=meant_across,
    )
    n_train: int | None = asks(
        None,
        "Training samples",
        "Every training part is cut to this many samples, at random.",
        place="command",
        lowest=1,
        word="all",
    )
    n_epochs: int | None = asks(
        None,
        "Epochs of networks",
        "Usual: until the loss on the training part falls no more. A number of epochs trains small parts less than "
        "large ones.",
        address="epochs",
        choices=lambda about: {number: str(number) for number in choices.N_EPOCHS},
        word="usual",
        width=150,
        joined=LATER,
    )
    seed: int = asks_seed()
    epoch: str = asks(
        "last",
        "Networks are tested after",
        "The paper uses the best epoch on the test part, which is optimistic. “Held out for it” takes "
        "samples, or whole sources, from the training part of every model.",
        address="epoch",
        choices=lambda about: EPOCHS,
        joined=LATER,
    )
    left_out: bool = asks(
        False,
        "Leave each source out",
        "Every model is also trained without each known source in turn. The 95 % CI for new data then "
        "includes the effect of single sources on training. Work grows with the number of sources, at most tenfold.",
        address="left_out",
        choices=lambda about: {False: "no", True: "yes, in turn"},
        when=lambda values, about: finding.KNOWN_SOURCES in values.get("source_finders", ()),
        says=lambda left_out: "",
        joined=LATER,
    )

    tuned: bool = asks(
        False,
        "Hyperparameters",
        "“By inner folds” chooses C and gamma of the SVM, and C of logistic regression, in every training part, by "
        "folds of its own sources. An SVM is then fitted 37 times instead of once.",
        address="hyperparameters",
        choices=lambda about: {False: "usual", True: "by inner folds"},
        says=lambda tuned: "",
        joined=LATER,
    )

    described: ClassVar[str] = "{models} · {source_finders}{representation} · {n_repeats}"

    kind: ClassVar[str] = "trials"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self, "models", MODELS)
        check_names(self, "source_finders", SOURCE_FINDERS, also=(finding.KNOWN_SOURCES,))
        check_names(self, "schemes", DRAW_SCHEMES)
        check_names(self, "representation", REPRESENTATIONS, or_none=True)
        if self.across not in (None, "class", "all"):
            ways = " or ".join(f"{way!r} ({title})" for way, title in choices.ACROSS.items())
            raise DataError(f"{label_of(self, 'across')}: {ways}, or nothing for what is usual, not {self.across!r}.")
        check_names(self, "epoch", EPOCHS)
        lowest_of = {"n_sources": 2, "n_repeats": 1, "n_clusterings": 1, "n_train": 1, "n_epochs": 1, "seed": 0}
        check_whole(self, lowest_of, or_none=("n_train", "n_epochs"))
        if self.left_out and (finding.KNOWN_SOURCES not in self.source_finders or self.n_train is not None):
            raise DataError(
                f"{label_of(self, 'left_out')}: only known sources can be, and only of whole training parts."
            )
        if not isinstance(self.test_share, float) or not 0 < self.test_share < 1:
            raise DataError(f"{label_of(self, 'test_share')} must lie between 0 and 1, not {self.test_share!r}.")

    def n_raised(self) -> int:
        """How often the versions of its source finders and of the training of its networks have been raised."""
        finders = sum(SOURCE_FINDERS[name].version - 1 for name in self.source_finders if name != finding.KNOWN_SOURCES)
        return finders + n_raised_by_training(self.models)

    def n_trials(self, dataset: Dataset) -> int:
        """Draws, also those without some sources, times models. DataError where the plan does not fit the data set.

        Of known sources the first splits are drawn for it: what these cannot give is known before any work.
        """
        check_fitting([MODELS[name] for name in self.models], dataset)
        if self.representation is not None:
            check_representation(dataset, self.representation)
        for finder in self.source_finders:
            if finder != finding.KNOWN_SOURCES:
                check_finder(finder, dataset)
        draws = self.draws(dataset)
        if finding.KNOWN_SOURCES in self.source_finders and (problem := unlearned(self, dataset)) is not None:
            raise problem
        if self.epoch == "validation":
            check_held_back(self, dataset, draws)
        n_left_out = len(of_known_sources(draws)) * n_turns(dataset) if self.left_out else 0
        return (len(draws) + n_left_out) * len(self.models)

    def draws(self, dataset: Dataset) -> tuple[Draw, ...]:
        """Every drawn split, repeat by repeat, so that the first finished trials already show the whole picture."""
        return all_draws(self, dataset)

    def needs(self, dataset: Dataset) -> tuple[finding.SourcesPlan, ...]:
        """The plans that find the sources of those finders that train a network: once, whoever draws from them."""
        return tuple(self._sources_plan(finder) for finder in self.source_finders if trains(finder))

    def sources(self, dataset: Dataset, source_finder: str, clustering: int) -> Integer[np.ndarray, " n_samples"]:
        """The source of every sample, as found in one clustering or as known.

        Raises DataError where a class is too small to hold `n_sources`, or no sources are known.
        """
        if source_finder == finding.KNOWN_SOURCES:
            return finding.known_sources(dataset)[0]
        if trains(source_finder):
            found = finding.sources_of(self._sources_plan(source_finder), dataset, clustering)
            return finding.whole_sources(dataset, found)
        representation = self.representation or default_representation(dataset.kind)
        return finding.found_by_clustering(
            dataset, representation, source_finder, self.n_sources, self.seed, clustering
        )

    def source_names(self, dataset: Dataset, source_finder: str) -> np.ndarray:
        """What the codes of `sources` stand for: known names, or the number that the finder gave."""
        if source_finder == finding.KNOWN_SOURCES:
            return finding.known_sources(dataset)[1]
        return np.arange(self.n_sources * dataset.n_classes).astype(str).astype(object)

    def silhouettes(self, dataset: Dataset, source_finder: str, clustering: int) -> Silhouettes:
        """How well the sources stand apart, in the features that sources are found in (section 2).

        Where there are more than 3,000 samples, on so many at random: a page can wait for that.
        """
        encoded = finding.features(dataset, self.representation or default_representation(dataset.kind))
        sources = self.sources(dataset, source_finder, clustering)
        rng = np.random.default_rng([self.seed, clustering])
        return silhouettes(encoded, dataset.y, sources, rng=rng, max_samples=3000)

    def split(self, dataset: Dataset, draw: Draw, turn: int | None = None) -> Split:
        """The rows of a draw to train on and to test on, without what a turn leaves out; all schemes train on as many.

        They are, of each class, what the held-out sources of a repeat leave (the smallest number of all finders),
        so that schemes differ in nothing but the sources; FULL keeps all. The cut is one random order of the rows of
        each class, so smaller parts are nested in larger ones.
        """
        return _sized(self, dataset, draw, partial(_raw_split, self, dataset, turn=turn))

    def fit_seed(self, draw: Draw) -> int:
        """What a model that is fitted on this draw is seeded with."""
        return seed_of(self.seed, draw.scheme, draw.repeat)

    def stored_models(self) -> tuple[str, ...]:
        """None: the models of this plan are made by its trials, and forgotten."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Rows of the trial (`core.trials.run.COLUMNS`): the whole test part, each label, each label's sources."""
        return table_of([self.count_trial(dataset, index, context=context)])

    def count_trial(self, dataset: Dataset, index: int, *, context: Context) -> Counted:
        """The rows of the trial before they are a table."""
        draw, model, turn = trial_at(self, dataset, index)
        split, validation = self.fitted_and_held_back(dataset, draw, turn)
        fitted = Fitted({self.epoch: np.empty(0, dtype=np.int64)}, 0.0, None)
        if len(split.test):
            given = {"seed": self.fit_seed(draw), "should_stop": context.should_stop, "validation": validation}
            classifier, inner = untrained(MODELS[model], self.n_epochs), self.inner(dataset, draw, split)
            fitted = predict_at((self.epoch,), classifier, dataset, split, inner=inner, **given)
        counted = self._counted(dataset, draw, fitted, model=model, split=split)
        return of_turn(counted, turn) if self.left_out else counted

    def groups(self, dataset: Dataset, indices: Sequence[int]) -> list[tuple[int, ...]]:
        """Trials of the same network together, as far as it can be trained so; the others each for themselves."""
        models = {name: untrained(MODELS[name], None) for name in self.models}
        fit = {name for name, model in models.items() if trained_together(model, dataset, together=True)}
        trials = {index: trial_at(self, dataset, index) for index in indices}
        # A trial that leaves sources out may have nothing to train for, and stays alone.
        return in_groups({index: model if turn is None else "" for index, (_, model, turn) in trials.items()}, fit)

    def run_trials(
        self, dataset: Dataset, indices: Sequence[int], *, context: Context, together: bool | None = None
    ) -> list[pd.DataFrame]:
        """The rows of several trials, each as `run_trial` gives them; raises what any of them raises.

        `together` says whether networks of one architecture train together where they can; None: if there is a GPU.
        """
        rows: dict[int, pd.DataFrame] = {}
        trials = {index: trial_at(self, dataset, index) for index in indices}
        for name in self.models:
            model = untrained(MODELS[name], self.n_epochs)
            draws = {index: draw for index, (draw, trained, _) in trials.items() if trained == name}
            leaves_out = any(trials[index][2] is not None for index in draws)
            if not draws or leaves_out or not trained_together(model, dataset, together):
                rows |= {index: self.run_trial(dataset, index, context=context) for index in draws}
                continue
            splits, validations = zip(
                *(self.fitted_and_held_back(dataset, draw) for draw in draws.values()), strict=True
            )
            fitted = predict_together(
                *((self.epoch,), model, dataset, splits),
                seeds=[self.fit_seed(draw) for draw in draws.values()],
                validations=validations,
                should_stop=context.should_stop,
            )
            for (index, draw), split, one in zip(draws.items(), splits, fitted, strict=True):
                counted = self._counted(dataset, draw, one, model=name, split=split)
                rows[index] = table_of([of_turn(counted, None) if self.left_out else counted])
        return [rows[index] for index in indices]

    def fitted_and_held_back(
        self, dataset: Dataset, draw: Draw, turn: int | None = None
    ) -> tuple[Split, Integer[np.ndarray, " n_validation"] | None]:
        """The split that models are fitted on and tested with, and the training rows held back to choose an epoch.

        Those are drawn as the scheme draws its test part: whole sources only where sources are held out, so that
        familiar ones stay familiar. None where `epoch` asks for no such choice. What is left to train on is as large
        for every scheme and source finder. What a `turn` leaves out is in neither; nothing is tested where too little
        is left. Raises DataError where a class has too few sources to spare one more.
        """
        split = self.split(dataset, draw, turn)
        if self.epoch != "validation":
            return split, None
        inner = _sized(self, dataset, draw, partial(_held_back, self, dataset, turn=turn))
        return Split(inner.train, split.test if len(inner.test) else split.test[:0]), inner.test

    def _counted(self, dataset: Dataset, draw: Draw, fitted: Fitted, *, model: str, split: Split) -> Counted:
        return self.counted(dataset, draw, fitted.predicted[self.epoch], model=model, split=split, **fitted.about)

    def inner(self, dataset: Dataset, draw: Draw, split: Split) -> Integer[np.ndarray, " n_train"] | None:
        """The source of each training sample, by which hyperparameters are chosen; None where they are not."""
        return self.sources(dataset, draw.source_finder, draw.clustering)[split.train] if self.tuned else None

    def counted(
        self,
        dataset: Dataset,
        draw: Draw,
        predicted: Integer[np.ndarray, " n_test"],
        *,
        model: str,
        seconds: float,
        split: Split | None = None,
        training: Training | None = None,
        hyperparameters: str = "",
    ) -> Counted:
        """The rows of a draw whose test part somebody predicted, in the order of `split(dataset, draw).test`.

        `split` is another one of the draw, with the same test part, where the model was trained on less; `training`
        says how a network was trained, `hyperparameters` what inner folds chose.
        """
        trained = trained_for(training) if trains_networks(self.models) else {}
        if self.tuned:
            trained |= {TUNED: hyperparameters or None}
        return trained | count_trial(
            dataset,
            split or self.split(dataset, draw),
            predicted,
            self.sources(dataset, draw.source_finder, draw.clustering),
            source_names=self.source_names(dataset, draw.source_finder),
            sources_held_out=draw.scheme == EXCLUSIVE,
            seconds=seconds,
            constant=identity(model, draw),
        )

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        draw, model, turn = trial_at(self, dataset, index)
        row = {**dict.fromkeys(COLUMNS), **identity(model, draw), "status": "failed"}
        if trains_networks(self.models):
            row |= trained_for(None)
        if self.tuned:
            row |= {TUNED: None}
        return table_of([row | {LEFT_OUT: turn} if self.left_out else row])

    def _sources_plan(self, source_finder: str) -> finding.SourcesPlan:
        return finding.SourcesPlan(source_finder, self.n_sources, n_clusterings_of(self, source_finder), self.seed)
