"""Which sources does a network find? Minutes of training, and so a plan of its own: sources are found once and kept.

Plans that draw from such sources name the SourcesPlan that they rest on (`core.trials.plan.needed_by`). Whoever runs or
shows them gives its rows with `sources_at_hand`; where nothing was given, as in a plain script, sources are found anew.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.cluster.finders import SOURCE_FINDERS, check_finder, find_sources, train_for_sources, trains
from touchstone.core.cluster.sources import FoundSources
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.frames import TEXTS
from touchstone.core.data.tables.names import plural_of
from touchstone.core.parameters import asks
from touchstone.core.represent import encode
from touchstone.core.split.units import labels_of_units, means_of_units, sources_of_units
from touchstone.core.trials.plan import Context, check_fields, check_whole

COLUMNS = {
    "clustering": "Int64",
    "row": "Int64",
    "source": "Int64",
    "n_tries": "Int64",
    "options": TEXTS,
    "note": TEXTS,
    "status": TEXTS,
}
"""The columns of found sources and their types.

Of each clustering there is one row of the whole, with the number of tries, the options that held and what has to be
known (`core.cluster.sources.FoundSources`), and then a row per sample: its position in the data set and its source. A
clustering that failed is one row without figures.
"""


@dataclass(frozen=True)
class SourcesPlan:
    """Find sources by training, once per clustering: each trains a network of its own, with another seed.

    Parameters
    ----------
    finder
        The name in SOURCE_FINDERS of one that trains a network. How each trains is fixed: see
        `core.cluster.finders`.
    n_sources
        Sources to find in each class.
    n_clusterings
        How many times; clustering i is the same whatever their number.
    seed
        The one number that all randomness is derived from.

    Raises DataError for an unknown name and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> rows = SourcesPlan("deep_kmeans", n_sources=2).run_trial(load_example("wine"), 1, context=Context())
    >>> rows["options"].iloc[0], rows["row"].iloc[:3].tolist(), rows["source"].nunique()
    ('Small neural network, 30 epochs', [<NA>, 0, 1], 6)
    """

    finder: str = asks(
        label="Finder",
        help="How sources are found.",
        place="command",
        choices=lambda about: {name: finder.title for name, finder in SOURCE_FINDERS.items() if trains(name)},
    )
    n_sources: int = asks(5, "Clusters per class", "Sources to find.", place="command", lowest=2)
    n_clusterings: int = asks(4, "Clusterings", "How many times.", place="command", lowest=1)
    seed: int = asks(0, "Seed", "The same seed gives the same result.", place="command", lowest=0)

    kind: ClassVar[str] = "sources"
    METHOD_VERSION: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_fields(self)
        if not trains(self.finder):
            known = ", ".join(filter(trains, SOURCE_FINDERS))
            raise DataError(f"finder: {self.finder!r} is no way to find sources by training. Choose from {known}.")
        check_whole(self, {"n_sources": 2, "n_clusterings": 1, "seed": 0})

    @property
    def title(self) -> str:
        """What a person calls it.

        >>> SourcesPlan("acol", n_clusterings=2).title
        'ACOL (experimental), 5 sources per class, 2 clusterings'
        """
        clusterings = f"{self.n_clusterings} clustering{'s' * (self.n_clusterings != 1)}"
        return f"{SOURCE_FINDERS[self.finder].title}, {self.n_sources} sources per class, {clusterings}"

    def n_trials(self, dataset: Dataset) -> int:
        """One per clustering. Raises DataError where the finder cannot be used on this data set."""
        check_finder(self.finder, dataset)
        return self.n_clusterings

    def stored_models(self) -> tuple[str, ...]:
        """None: the networks are forgotten when they have found the sources."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """The rows of one clustering (`COLUMNS`). Tells its context of epochs; raises Cancelled between them."""
        found = train_for_sources(
            self.finder,
            dataset,
            n_sources=self.n_sources,
            seed=_seed(self.seed, index),
            on_step=lambda n_done, n_steps: context.report(n_done, n_steps, "epoch"),
            should_stop=context.should_stop,
        )
        return _rows(index, found)

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        return _frame({"clustering": [index], "status": ["failed"]}, 1)


Found = Mapping[tuple, np.ndarray]
"""The sources of clusterings, by the plan for a single one (so that plans share theirs) and the clustering's number."""

_at_hand: ContextVar[tuple[str, Found] | None] = ContextVar("sources_at_hand", default=None)


def found_in(plan: SourcesPlan, rows: pd.DataFrame) -> Found:
    """The sources that the rows of a plan hold; DataError where a clustering failed, or is not there.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = SourcesPlan("deep_kmeans", n_sources=2, n_clusterings=1)
    >>> rows = plan.run_trial(load_example("wine"), 0, context=Context())
    >>> [sources.shape for sources in found_in(plan, rows).values()]
    [(178,)]
    """
    told = rows[rows["row"].notna() & (rows["status"] == "ok")] if len(rows) else rows
    by_clustering = {int(name): of for name, of in told.groupby("clustering")} if len(told) else {}
    missing = set(range(plan.n_clusterings)) - set(by_clustering)
    if missing:
        raise DataError(
            f"{SOURCE_FINDERS[plan.finder].title}: the sources of {len(missing)} of {plan.n_clusterings} clusterings "
            "have not been found."
        )
    return {
        (_any(plan), number): of.sort_values("row")["source"].to_numpy(dtype=np.int64)
        for number, of in by_clustering.items()
    }


def notes_in(plan: SourcesPlan, rows: pd.DataFrame) -> tuple[str, ...]:
    """What has to be known of how the sources in the rows of a plan were found: sentences, each once, with a count.

    Examples
    --------
    >>> rows = pd.DataFrame({"row": [pd.NA, 0, pd.NA], "note": ["It collapsed.", None, "It collapsed."]})
    >>> notes_in(SourcesPlan("acol"), rows)
    ('In 2 of 4 clusterings: It collapsed.',)
    """
    told = rows[rows["row"].isna() & (rows["note"].fillna("") != "")]
    n_of = told.groupby("note").size()
    where = f"of {plan.n_clusterings} clusterings: " if plan.n_clusterings > 1 else ""
    return tuple(f"{where and f'In {n} '}{where}{note}" for note, n in n_of.items())


@contextmanager
def sources_at_hand(fingerprint: str, found: Found) -> Iterator[None]:
    """Give plans the sources that were found on the data set of this fingerprint, for as long as it lasts.

    Nothing is trained meanwhile: what is not among them is not there.
    """
    token = _at_hand.set((fingerprint, found))
    try:
        yield
    finally:
        _at_hand.reset(token)


def sources_of(plan: SourcesPlan, dataset: Dataset, clustering: int) -> Integer[np.ndarray, " n_samples"]:
    """The sources of one clustering: those at hand, or, where nothing was given, found here and now.

    Raises DataError where sources were given, and these are not among them.
    """
    given = _at_hand.get()
    if given is None:
        return _trained(_any(plan), dataset, clustering)
    fingerprint, found = given
    if fingerprint != dataset.fingerprint or (_any(plan), clustering) not in found:
        raise DataError(
            f"The sources of {SOURCE_FINDERS[plan.finder].title} have not been found in {dataset.name} yet: a run has "
            "to find them first."
        )
    return found[_any(plan), clustering]


def _any(plan: SourcesPlan) -> SourcesPlan:
    """The plan whatever the number of its clusterings: each is the same in all of them."""
    return SourcesPlan(plan.finder, plan.n_sources, 1, plan.seed)


@lru_cache(maxsize=32)
def _trained(plan: SourcesPlan, dataset: Dataset, clustering: int) -> Integer[np.ndarray, " n_samples"]:
    return found_in(plan, plan.run_trial(dataset, clustering, context=Context()).assign(clustering=0))[plan, 0]


def _seed(seed: int, clustering: int) -> int:
    return int(np.random.SeedSequence([seed, clustering]).generate_state(1)[0]) // 2  # tries count up from it


def _rows(clustering: int, found: FoundSources) -> pd.DataFrame:
    n_samples = len(found.sources)
    whole = {"n_tries": found.n_tries, "options": found.options, "note": found.note}
    return _frame(
        {
            "clustering": [clustering] * (n_samples + 1),
            "row": [pd.NA, *range(n_samples)],
            "source": [pd.NA, *found.sources.tolist()],
            **{name: [value, *[None] * n_samples] for name, value in whole.items()},
            "status": ["ok"] * (n_samples + 1),
        },
        n_samples + 1,
    )


def _frame(columns: Mapping[str, list], n_rows: int) -> pd.DataFrame:
    return pd.DataFrame({**dict.fromkeys(COLUMNS), **columns}, index=range(n_rows), dtype=object).astype(COLUMNS)


# Where do the sources of a plan's trials come from? From the data set itself, or found in features, once.


KNOWN_SOURCES = "known"
"""The source finder's name for the sources that the data set itself came with."""


@lru_cache(maxsize=4)
def known_sources(dataset: Dataset) -> tuple[Integer[np.ndarray, " n_samples"], np.ndarray]:
    """Codes and names of the data set's own sources; DataError where it has none."""
    if dataset.sources is None:
        raise DataError(f"{dataset.name} does not name the source of its rows. Find sources by clustering.")
    names, codes = np.unique(dataset.sources.astype(str), return_inverse=True)
    return codes, names.astype(object)


@lru_cache(maxsize=4)
def features(dataset: Dataset, representation: str) -> np.ndarray:
    """The features that sources are found in, encoded once for all who ask."""
    return encode(dataset, representation)


@lru_cache(maxsize=32)
def found_by_clustering(
    dataset: Dataset, representation: str, source_finder: str, n_sources: int, seed: int, clustering: int
) -> np.ndarray:
    """The sources of one clustering of features, the same whenever they are asked for."""
    rows, y = rows_of_units(dataset, features(dataset, representation))
    found = find_sources(
        rows,
        y,
        n_sources=n_sources,
        method=source_finder,
        rng=np.random.default_rng([seed, clustering]),
        class_names=dataset.class_names,
    )
    return found if dataset.unit_codes is None else found[dataset.unit_codes]


def rows_of_units(
    dataset: Dataset, rows: Float[np.ndarray, "n_samples n_features"]
) -> tuple[Float[np.ndarray, "n_units n_features"], Integer[np.ndarray, " n_units"]]:
    """Features and label of each unit: the mean of its samples' features; those of samples where each is one."""
    return rows if dataset.unit_codes is None else means_of_units(dataset.unit_codes, rows), _labels(dataset)


def _labels(dataset: Dataset) -> Integer[np.ndarray, " n_units"]:
    return dataset.y if dataset.unit_codes is None else labels_of_units(dataset.unit_codes, dataset.y)


def whole_sources(dataset: Dataset, sources: Integer[np.ndarray, " n_samples"]) -> Integer[np.ndarray, " n_samples"]:
    """Sources that were found sample by sample, each unit in that of most of its samples."""
    if dataset.unit_codes is None:
        return sources
    return sources_of_units(dataset.unit_codes, sources)[dataset.unit_codes]


def check_class_sizes(dataset: Dataset, n_sources: int) -> None:
    """Raise DataError where a class has fewer rows than sources are to be found in it."""
    word = "row" if dataset.unit_codes is None else dataset.unit_word
    n_per_class = np.bincount(_labels(dataset), minlength=dataset.n_classes)
    small = [
        f"{name} ({n} {word if n == 1 else plural_of(word)})"
        for name, n in zip(dataset.class_names, n_per_class, strict=True)
        if n < n_sources
    ]
    if small:
        raise SmallClasses(
            f"{n_sources} sources cannot be found in {', '.join(small)}: a class needs at least one {word} for each "
            "source. Choose fewer sources, or leave these classes out.",
            tuple(np.array(dataset.class_names)[n_per_class < n_sources].tolist()),
        )
