"""Which splits does a plan of trials draw? Each by a seed of its own, which all models and source finders share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Integer

from touchstone.core import split as splits
from touchstone.core.data import DataError, Dataset
from touchstone.core.split.source_aware import OnlyOneSource, without
from touchstone.core.trials.epochs import n_turns, turns
from touchstone.core.trials.sources_plan import KNOWN_SOURCES, check_class_sizes, known_sources

if TYPE_CHECKING:
    from touchstone.core.trials.trial_plan import TrialPlan


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
    return [draw for draw in draws if draw.source_finder == KNOWN_SOURCES]


def _scheme(plan: "TrialPlan", scheme: str, n_repeats: int, clustering: int) -> splits.SplitScheme:
    across = {"across": plan.across} if scheme == EXCLUSIVE else {}
    drawn = RANDOM if scheme == FULL else scheme
    seed = seed_of(plan.seed, drawn, clustering)
    return splits.DRAW_SCHEMES[drawn](n_repeats=n_repeats, test_share=plan.test_share, seed=seed, **across)


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
    return 1 if source_finder == KNOWN_SOURCES else min(plan.n_clusterings, plan.n_repeats)


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
                    n_splits = splits.n_splits_of_units(_scheme(plan, scheme, n_repeats, clustering), units, y, groups)
                draws += [
                    Draw(finder, scheme, clustering + within * n_clusterings, clustering, within)
                    for within in range(n_splits)
                ]
    return tuple(sorted(draws, key=lambda draw: draw.repeat))


def _one_row_per_source(
    plan: "TrialPlan", dataset: Dataset, source_finder: str
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """Units, labels and sources from which the number of splits follows, without waiting for a clustering."""
    if source_finder == KNOWN_SOURCES:
        return dataset.unit_codes, dataset.y, known_sources(dataset)[0]
    check_class_sizes(dataset, plan.n_sources)
    groups = np.arange(dataset.n_classes * plan.n_sources)
    return None, groups // plan.n_sources, groups


@lru_cache(maxsize=64)
def _raw_split(plan: "TrialPlan", dataset: Dataset, draw: Draw, turn: int | None = None) -> splits.Split:
    """What the scheme draws, without what a turn leaves out."""
    n_clusterings = n_clusterings_of(plan, draw.source_finder)
    n_repeats = len(range(draw.clustering, plan.n_repeats, n_clusterings))
    scheme = _scheme(plan, draw.scheme, n_repeats, draw.clustering)
    sources = plan.sources(dataset, draw.source_finder, draw.clustering)
    with _naming_classes(dataset):
        # A finder may leave a class with fewer sources than asked for: where these have fewer combinations, each comes
        # again in its turn.
        n_splits = splits.n_splits_of_units(scheme, dataset.unit_codes, dataset.y, sources)
        split = splits.draw_of_units(scheme, draw.within % n_splits, dataset.unit_codes, dataset.y, sources)
    return split if turn is None else without(split, turns(dataset), turn, dataset.y)


def drawn_split(plan: "TrialPlan", dataset: Dataset, draw: Draw, turn: int | None = None) -> splits.Split:
    """The split of a draw, without what a turn leaves out, of the size that all schemes and finders train on.

    That is, of each class, what the held-out sources of the same repeat leave (the smallest number of all finders), so
    that schemes differ in nothing but the sources; FULL keeps all.
    """
    return _sized(plan, dataset, draw, partial(_raw_split, plan, dataset, turn=turn))


def spared_split(
    plan: "TrialPlan", dataset: Dataset, draw: Draw, turn: int | None = None
) -> tuple[splits.Split, Integer[np.ndarray, " n_spared"]]:
    """The split of a draw without those training rows that an epoch is chosen by, and these; sizes as there."""
    inner = _sized(plan, dataset, draw, partial(_held_back, plan, dataset, turn=turn))
    test = drawn_split(plan, dataset, draw, turn).test
    return splits.Split(inner.train, test if len(inner.test) else test[:0]), inner.test


def _sized(plan: "TrialPlan", dataset: Dataset, draw: Draw, split_of: Callable[[Draw], splits.Split]) -> splits.Split:
    """A draw's split, of each class with as many training rows as all have that its size is held to."""
    split, y = split_of(draw), dataset.y
    held_to = [each for each in map(split_of, _held_to(plan, draw)) if len(each.test)] or [split]
    n_per_class = np.min([np.bincount(y[each.train], minlength=dataset.n_classes) for each in held_to], axis=0)
    if plan.n_train is not None:
        n_per_class = in_proportion(n_per_class, plan.n_train)
    sources = plan.sources(dataset, draw.source_finder, draw.clustering)
    spread = splits.are_spread(_scheme(plan, draw.scheme, 1, draw.clustering), dataset.unit_codes, sources)
    rng = np.random.default_rng([plan.seed, *_text_seed(draw.scheme), draw.repeat])
    return splits.of_size(split, n_per_class, y, None if spread else dataset.unit_codes, rng=rng)


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
def _held_back(plan: "TrialPlan", dataset: Dataset, draw: Draw, turn: int | None = None) -> splits.Split:
    """The rows of a draw's training part that are trained on, and those that an epoch is chosen by."""
    train = drawn_split(plan, dataset, draw).train
    sources = plan.sources(dataset, draw.source_finder, draw.clustering)
    inner = _second_draw(plan, dataset, draw.scheme, draw.repeat, (dataset.unit_codes, dataset.y, sources), train)
    split = splits.Split(train[inner.train], train[inner.test])
    return split if turn is None else without(split, turns(dataset), turn, dataset.y)


def _second_draw(
    plan: "TrialPlan",
    dataset: Dataset,
    scheme: str,
    repeat: int,
    about: tuple[np.ndarray | None, np.ndarray, np.ndarray],
    train: Integer[np.ndarray, " n_train"],
) -> splits.Split:
    """A split of a training part, by the units, labels and sources of all samples; rows count within that part."""
    of_all, y, sources = about
    units = None if of_all is None else np.unique(of_all[train], return_inverse=True)[1]
    across = {"across": plan.across} if scheme == EXCLUSIVE else {}
    drawn = RANDOM if scheme == FULL else scheme
    seed = seed_of(plan.seed, f"validation {drawn}", repeat)
    try:
        with _naming_classes(dataset):
            made = splits.DRAW_SCHEMES[drawn](n_repeats=1, test_share=plan.test_share, seed=seed, **across)
            return splits.draw_of_units(made, 0, units, y[train], sources[train])
    except DataError as problem:
        raise DataError(
            f"No sources can be held out of the training part to choose an epoch: {problem} Take more sources, or "
            "the last epoch."
        ) from None


def identity(model: str, draw: Draw) -> dict[str, object]:
    """What names the rows of a draw."""
    return {
        "model": model,
        "source_finder": draw.source_finder,
        "scheme": draw.scheme,
        "repeat": draw.repeat,
        "clustering": draw.clustering,
    }


def _text_seed(text: str) -> list[int]:
    return list(text.encode())


def seed_of(seed: int, scheme: str, number: int) -> int:
    """A seed of its own for every scheme and repeat (or clustering), the same for all models and finders."""
    return int(np.random.SeedSequence([seed, *_text_seed(scheme), number]).generate_state(1)[0])


def check_held_back(plan: "TrialPlan", dataset: Dataset, draws: tuple[Draw, ...]) -> None:
    """Raise DataError where no sources are left to hold back, which is known without finding any."""
    for finder, scheme in {(draw.source_finder, draw.scheme): draw for draw in draws}:
        about = _one_row_per_source(plan, dataset, finder)
        if scheme == EXCLUSIVE:
            with _naming_classes(dataset):
                train = splits.draw_of_units(_scheme(plan, scheme, 1, 0), 0, *about).train
            _second_draw(plan, dataset, scheme, 0, about, train)
