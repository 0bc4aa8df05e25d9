"""Which trials tell how accurate models are on unfamiliar sources? (Kilinc & Uysal 2017, sections 2-5.1)"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.cluster import SOURCE_FINDERS, Silhouettes, check_finder, silhouettes, trains
from touchstone.core.data import DataError, Dataset
from touchstone.core.models import MODELS, check_fitting
from touchstone.core.parameters import ANYTHING, LATER, asks, asks_seed, label_of, title_of
from touchstone.core.represent import REPRESENTATIONS, check_representation, default_representation
from touchstone.core.split import DRAW_SCHEMES, Split
from touchstone.core.trials import choices
from touchstone.core.trials.defaults import meant_across, meant_epochs, meant_features
from touchstone.core.trials.draws import (
    EXCLUSIVE,
    Draw,
    all_draws,
    check_held_back,
    drawn_split,
    identity,
    n_clusterings_of,
    of_known_sources,
    seed_of,
    spared_split,
    trial_at,
)
from touchstone.core.trials.epochs import EPOCHS, LEFT_OUT, fit_and_predict, n_turns, of_turn, untrained
from touchstone.core.trials.plan import Context, check_fields, check_names, check_whole
from touchstone.core.trials.run import COLUMNS, Counted, count_trial, table_of
from touchstone.core.trials.sources_plan import (
    KNOWN_SOURCES,
    SourcesPlan,
    features,
    found_by_clustering,
    known_sources,
    sources_of,
    whole_sources,
)
from touchstone.core.trials.together import groups_of, run_together


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
        How long networks are trained; None leaves each at its own number.
    seed
        The one number that all randomness of the plan is derived from.
    left_out
        Whether every draw of known sources is repeated without some of them, out of training as out of its test part:
        each is left out in one turn (`core.split.held_out`). What models owe to single sources is then known.

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
        differs=lambda about: {"usual": (KNOWN_SOURCES,)} if choices.has_sources(about) else {},
        says=lambda names: " and ".join(choices.finders_offered(ANYTHING)[name] for name in names),
    )
    representation: str | None = asks(
        None,
        "Features for finding sources",
        address="features",
        choices=choices.features_offered,
        word="usual",
        differs=lambda about: {
            "help": f"The features that are clustered. Default: {choices.usual_features(about)}. Models are always "
            f"trained on the data themselves."
        },
        says=lambda name: f" in {title_of(REPRESENTATIONS[name])}" if name else "",
        means=meant_features,
    )
    n_sources: int = asks(
        5,
        "Clusters per class",
        "The paper's k; 5 makes test parts of a fifth.",
        address="clusters",
        lowest=2,
        highest=50,
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
        lowest=1,
        highest=1000,
        step=10,
        says="repeat",
    )
    n_clusterings: int = asks(
        4,
        "Clusterings",
        "Repeats are spread over this many clusterings, so that no single clustering decides.",
        address="clusterings",
        lowest=1,
        highest=100,
    )
    test_share: float = asks(
        0.2,
        "Test share",
        "The share of each class used for testing.",
        address="share",
        lowest=0.05,
        highest=0.5,
        step=0.05,
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
        "Training epochs of networks. Default: 20, and 30 for the small network. Fewer give a quick look at "
        "unfinished models.",
        address="epochs",
        choices=lambda about: {number: str(number) for number in choices.N_EPOCHS},
        word="usual",
        width=150,
        joined=LATER,
        means=meant_epochs,
    )
    seed: int = asks_seed()
    epoch: str = asks(
        "last",
        "Networks are tested after",
        "The paper uses the best epoch on the test part, which is optimistic. “Held out for it” takes "
        "samples, or whole sources, from the training part of every model.",
        address="epoch",
        choices=choices.epochs_offered,
        joined=LATER,
    )
    left_out: bool = asks(
        False,
        "Leave each source out",
        "Every model is also trained without each known source in turn. The 95 % CI for new data then "
        "includes the effect of single sources on training. Work grows with the number of sources, at most tenfold.",
        address="left_out",
        choices=lambda about: {False: "no", True: "yes, in turn"},
        when=lambda values, about: KNOWN_SOURCES in values.get("source_finders", ()),
        says=lambda left_out: "",
        joined=LATER,
    )

    described: ClassVar[str] = "{models} · {source_finders}{representation} · {n_repeats}"

    kind: ClassVar[str] = "trials"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self, "models", MODELS)
        check_names(self, "source_finders", [*SOURCE_FINDERS, KNOWN_SOURCES])
        check_names(self, "schemes", DRAW_SCHEMES)
        if self.representation is not None:
            check_names(self, "representation", REPRESENTATIONS)
        if self.across not in (None, "class", "all"):
            ways = " or ".join(f"{way!r} ({title})" for way, title in choices.ACROSS.items())
            raise DataError(f"{label_of(self, 'across')}: {ways}, or nothing for what is usual, not {self.across!r}.")
        check_names(self, "epoch", EPOCHS)
        lowest_of = {"n_sources": 2, "n_repeats": 1, "n_clusterings": 1, "n_train": 1, "n_epochs": 1, "seed": 0}
        check_whole(self, lowest_of, or_none=("n_train", "n_epochs"))
        if self.left_out and (KNOWN_SOURCES not in self.source_finders or self.n_train is not None):
            raise DataError(
                f"{label_of(self, 'left_out')}: only known sources can be, and only of whole training parts."
            )
        if not isinstance(self.test_share, float) or not 0 < self.test_share < 1:
            raise DataError(f"{label_of(self, 'test_share')} must lie between 0 and 1, not {self.test_share!r}.")

    def n_raised(self) -> int:
        """How often the versions of its source finders have been raised."""
        return sum(SOURCE_FINDERS[name].version - 1 for name in self.source_finders if name != KNOWN_SOURCES)

    def n_trials(self, dataset: Dataset) -> int:
        """Draws, also those without some sources, times models. DataError where the plan does not fit the data set."""
        check_fitting([MODELS[name] for name in self.models], dataset)
        if self.representation is not None:
            check_representation(dataset, self.representation)
        for finder in self.source_finders:
            if finder != KNOWN_SOURCES:
                check_finder(finder, dataset)
        draws = self.draws(dataset)
        if self.epoch == "validation":
            check_held_back(self, dataset, draws)
        n_left_out = len(of_known_sources(draws)) * n_turns(dataset) if self.left_out else 0
        return (len(draws) + n_left_out) * len(self.models)

    def draws(self, dataset: Dataset) -> tuple[Draw, ...]:
        """Every drawn split, repeat by repeat, so that the first finished trials already show the whole picture."""
        return all_draws(self, dataset)

    def needs(self, dataset: Dataset) -> tuple[SourcesPlan, ...]:
        """The plans that find the sources of those finders that train a network: once, whoever draws from them."""
        return tuple(self._sources_plan(finder) for finder in self.source_finders if trains(finder))

    def sources(self, dataset: Dataset, source_finder: str, clustering: int) -> Integer[np.ndarray, " n_samples"]:
        """The source of every sample, as found in one clustering or as known.

        Raises DataError where a class is too small to hold `n_sources`, or no sources are known.
        """
        if source_finder == KNOWN_SOURCES:
            return known_sources(dataset)[0]
        if trains(source_finder):
            found = sources_of(self._sources_plan(source_finder), dataset, clustering)
            return whole_sources(dataset, found)
        representation = self.representation or default_representation(dataset.kind)
        return found_by_clustering(dataset, representation, source_finder, self.n_sources, self.seed, clustering)

    def source_names(self, dataset: Dataset, source_finder: str) -> np.ndarray:
        """What the codes of `sources` stand for: known names, or the number that the finder gave."""
        if source_finder == KNOWN_SOURCES:
            return known_sources(dataset)[1]
        return np.arange(self.n_sources * dataset.n_classes).astype(str).astype(object)

    def silhouettes(self, dataset: Dataset, source_finder: str, clustering: int) -> Silhouettes:
        """How well the sources stand apart, in the features that sources are found in (section 2).

        Where there are more than 3,000 samples, on so many at random: a page can wait for that.
        """
        encoded = features(dataset, self.representation or default_representation(dataset.kind))
        sources = self.sources(dataset, source_finder, clustering)
        rng = np.random.default_rng([self.seed, clustering])
        return silhouettes(encoded, dataset.y, sources, rng=rng, max_samples=3000)

    def split(self, dataset: Dataset, draw: Draw) -> Split:
        """The training and test rows of a draw, of the size that all schemes of its repeat train on (`drawn_split`).

        The cut is one random order of the rows of each class, so smaller parts are nested in larger ones.
        """
        return drawn_split(self, dataset, draw)

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
        predicted, seconds = np.empty(0, dtype=np.int64), 0.0
        if len(split.test):
            predicted, seconds = fit_and_predict(
                untrained(MODELS[model], self.n_epochs),
                dataset,
                split,
                seed=self.fit_seed(draw),
                should_stop=context.should_stop,
                epoch=self.epoch,
                validation=validation,
            )
        counted = self.counted(dataset, draw, predicted, model=model, seconds=seconds, split=split)
        return of_turn(counted, turn) if self.left_out else counted

    def groups(self, dataset: Dataset, indices: Sequence[int]) -> list[tuple[int, ...]]:
        """Trials of the same network together, as far as it can be trained so; the others each for themselves."""
        return groups_of(self, dataset, indices)

    def run_trials(
        self, dataset: Dataset, indices: Sequence[int], *, context: Context, together: bool | None = None
    ) -> list[pd.DataFrame]:
        """The rows of several trials, each as `run_trial` gives them; raises what any of them raises.

        `together` says whether networks of one architecture train together where they can; None: if there is a GPU.
        """
        return run_together(self, dataset, indices, context=context, together=together)

    def fitted_and_held_back(
        self, dataset: Dataset, draw: Draw, turn: int | None = None
    ) -> tuple[Split, Integer[np.ndarray, " n_validation"] | None]:
        """The split that models are fitted on and tested with, and the training rows held back to choose an epoch.

        Those are drawn as the scheme draws its test part: whole sources only where sources are held out, so that
        familiar ones stay familiar. None where `epoch` asks for no such choice. What is left to train on is as large
        for every scheme and source finder. What a `turn` leaves out is in neither; nothing is tested where too little
        is left. Raises DataError where a class has too few sources to spare one more.
        """
        if self.epoch != "validation":
            return drawn_split(self, dataset, draw, turn), None
        return spared_split(self, dataset, draw, turn)

    def counted(
        self,
        dataset: Dataset,
        draw: Draw,
        predicted: Integer[np.ndarray, " n_test"],
        *,
        model: str,
        seconds: float,
        split: Split | None = None,
    ) -> Counted:
        """The rows of a draw whose test part somebody predicted, in the order of `split(dataset, draw).test`.

        `split` is another one of the draw, with the same test part, where the model was trained on less.
        """
        return count_trial(
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
        return table_of([row | {LEFT_OUT: turn} if self.left_out else row])

    def _sources_plan(self, source_finder: str) -> SourcesPlan:
        return SourcesPlan(source_finder, self.n_sources, n_clusterings_of(self, source_finder), self.seed)
