"""How sure is a statistic of samples that came in units? One engine: influences of samples in, an error out.

A unit is what was sampled independently: an author of many texts, a patient of many pictures; by default each sample.
What another sample of data would change is what other units would. So the error is that of the jackknife that leaves
out one unit at a time, in all sets at once where it is in several: the change that leaving it out makes is the sum of
its samples' influences, made larger by its share of the set, which nobody else then has (as in CR3 of Bell and
McCaffrey 2002). Degrees of freedom are Welch's, from so many units as weigh alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan, sqrt

import numpy as np
from jaxtyping import Float, Integer, Shaped
from scipy import special

from touchstone.core.data import Dataset
from touchstone.core.data.tables.names import plural_of
from touchstone.core.data.values import Bools, Codes, Floats, Ints
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.wording import plural

FEWEST_FOR_SKEW = 50
"""Fewer units do not tell how skewed a statistic is."""
Z = float(special.ndtri(0.975))
FEWEST_UNITS = 5
"""Of fewer units in a set nothing is said of others like them."""


@dataclass(frozen=True)
class Error:
    """The standard error of a statistic over units, and its degrees of freedom; NaN and 0 where no unit can tell.

    `skew` is that of the statistic: where few units move it much, it and its standard error go together. `n_moving`
    says how many units of one weight would make up its variance.
    """

    se: float
    df: float
    skew: float = 0.0
    n_moving: float = inf


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one or several sets: of each set a code for every sample, of one list for all sets.

    Examples
    --------
    >>> units = units_of(["ann", "ann", "bob"], ["cleo", "bob"])
    >>> units.n, units.n_common, units.by_sample
    ((2, 2), 1, False)
    """

    codes: tuple[Integer[np.ndarray, " _"], ...]
    n_codes: int
    n_samples: tuple[int, ...]

    @cached_property
    def sizes(self) -> tuple[Integer[np.ndarray, " n_codes"], ...]:
        """Of each set how many samples each unit has in it."""
        return tuple(np.bincount(codes, minlength=self.n_codes) for codes in self.codes)

    @cached_property
    def n(self) -> tuple[int, ...]:
        """How many units each set has."""
        return tuple(int((sizes > 0).sum()) for sizes in self.sizes)

    @cached_property
    def n_common(self) -> int:
        """How many units are in more than one set."""
        return int((sum((sizes > 0).astype(int) for sizes in self.sizes) > 1).sum())

    @cached_property
    def by_sample(self) -> bool:
        """Whether every sample is a unit of its own, and none is in two sets."""
        return self.n == self.n_samples and not self.n_common

    @property
    def enough(self) -> bool:
        """Whether each set has units enough to say something of others like them."""
        return min(self.n) >= FEWEST_UNITS

    def error(self, *influences: Float[np.ndarray, " _"], weights: Sequence[np.ndarray] | None = None) -> Error:
        """The error of a statistic, of which `influences` say by how much each sample of each set moves it.

        They sum to about 0 in each set. `weights` are the samples' shares of what the statistic is a mean of in their
        set; all are alike where none are given.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> author = np.repeat(np.arange(10), 100)
        >>> right = rng.random(1000) < rng.beta(8, 2, 10)[author]
        >>> influence = (right - right.mean()) / 1000
        >>> error = units_of(author).error(influence)
        >>> round(error.se, 3), round(error.df, 1), round(units_of(np.arange(1000)).error(influence).se, 3)
        (0.054, 9.0, 0.013)
        """
        moved = np.zeros(self.n_codes)
        parts = []
        for i, influence in enumerate(influences):
            weight = np.ones(len(influence)) if weights is None else weights[i]
            if not self.n[i] or not weight.sum() > 0 or (self.n[i] == 1 and influence.any()):
                return Error(nan, 0.0)
            change, variances = self._changes(i, influence, weight)
            moved += change
            parts.append((float((change**2).sum()), variances))
        variance = float((moved**2).sum())
        if not np.isfinite(variance):
            return Error(nan, 0.0)
        if self.n_common:
            expected = sum(variances for _, variances in parts)
            return Error(sqrt(variance), max(alike(expected) - 1, 0.0), _skew(moved, variance), alike(moved**2))
        lost = [(own, alike(variances) - 1) for own, variances in parts if own > 0]
        if any(df <= 0 for _, df in lost):
            return Error(nan, 0.0)
        spread = sum(own**2 / df for own, df in lost)
        df = variance**2 / spread if spread else float(sum(self.n) - len(self.n))
        return Error(sqrt(variance), df, _skew(moved, variance), alike(moved**2))

    def effective(self, place: int, share: float, influence: Float[np.ndarray, " _"]) -> float:
        """How many independent samples of a set would make its share of right ones as sure; no more than it has."""
        n = self.n_samples[place]
        if self.n[place] == n or not 0 < share < 1:
            return float(n if self.n[place] == n else self.n[place])
        change, _ = self._changes(place, influence, np.ones(n))
        variance = float((change**2).sum())
        return min(share * (1 - share) / variance, float(n)) if variance > 0 else float(n)

    def _changes(
        self, place: int, influence: Float[np.ndarray, " _"], weight: Float[np.ndarray, " _"]
    ) -> tuple[Float[np.ndarray, " n_codes"], Float[np.ndarray, " n_codes"]]:
        """What leaving out each unit changes, scaled so that squares sum to the variance; what squares to expect."""
        codes, there, n = self.codes[place], self.sizes[place] > 0, self.n[place]
        total = np.bincount(codes, weights=influence, minlength=self.n_codes)
        own_share = np.bincount(codes, weights=weight, minlength=self.n_codes) / weight.sum()
        alone = there & (own_share >= 1 - 1e-12) & (total != 0)  # nothing is left without it, so that nobody can tell
        change = np.where(alone, np.nan, np.where(there, total / np.maximum(1 - own_share, 1e-12), 0.0))
        change[there] -= change[there].mean()
        samples = own_share * (weight > 0).sum()
        squares = float((influence**2).sum())
        pairs = float((samples * (samples - 1)).clip(0).sum())
        alike = float((total**2).sum()) / squares - 1 if squares > 0 else 0.0
        alike = float(np.clip(alike * samples.sum() / pairs, 0.0, 1.0)) if pairs > 0 else 0.0
        expected = samples * (1 + (samples - 1).clip(0) * alike) * squares / max(samples.sum(), 1.0)
        return change * sqrt((n - 1) / n), expected


def _skew(moved: Floats, variance: float) -> float:
    """The skewness of a sum of independent parts; 0 where too few tell."""
    n = int((moved != 0).sum())
    return float((moved**3).sum()) / variance**1.5 if variance > 0 and n >= FEWEST_FOR_SKEW else 0.0


@dataclass(frozen=True, eq=False)
class Design:
    """How the samples of one set came about: the unit of each, by a code, and what one is called; None: each is one.

    Examples
    --------
    >>> design = Design(np.array([0, 0, 1]), "author")
    >>> design.by, design.others, EACH_SAMPLE.others
    (' from 2 authors', 'authors', 'samples')
    """

    codes: Codes | None = None
    word: str = "sample"

    @property
    def by_sample(self) -> bool:
        """Whether each sample is a unit of its own."""
        return self.codes is None

    @property
    def others(self) -> str:
        """What intervals are over: units by their word, more than one of them."""
        return plural_of(self.word)

    @property
    def by(self) -> str:
        """Of what the samples are, to stand after their number; empty where each is a unit."""
        return "" if self.codes is None else f" from {plural(len(np.unique(self.codes)), self.word)}"

    @property
    def enough(self) -> bool:
        """Whether units are enough to say something of others like them; of samples that are units, it is not asked."""
        return self.codes is None or len(np.unique(self.codes)) >= FEWEST_UNITS

    def samples(self, n_samples: int, noun: str = "sample") -> str:
        """So many samples, and of how many of what.

        >>> EACH_SAMPLE.samples(3, "text"), Design(np.array([0, 0, 1]), "author").samples(3, "text")
        ('3 texts', '3 texts from 2 authors')
        """
        return plural(n_samples, noun) + self.by

    def of(self, rows: Shaped[np.ndarray, " _"] | slice) -> "Design":
        """The design of some of the samples, by position or mask."""
        return self if self.codes is None else Design(self.codes[rows], self.word)

    def units(self, n_samples: int) -> Units:
        """The same as the units of one set of so many samples."""
        return samples_as_units(n_samples) if self._units is None else self._units

    @cached_property
    def _units(self) -> Units | None:
        return None if self.codes is None else units_of(self.codes)

    def error(self, influences: Floats, weights: Floats | None = None) -> Error:
        """The error of a statistic that each sample moves by so much (see `Units.error`).

        Where each sample is a unit, degrees of freedom are not counted. Of fewer than five units nothing is said.
        """
        moves = influences - influences.mean() if len(influences) else influences
        if self._units is None:
            n = len(moves)
            return Error(sqrt(float((moves**2).sum()) * n / (n - 1)) if n > 1 else nan, inf)
        if not self._units.enough:
            return Error(nan, 0.0)
        return self._units.error(moves, weights=None if weights is None else [weights])

    def wilson(self, marked: Bools) -> Interval:
        """Wilson's interval of the share of samples that are marked, of as many samples as tell as much as units do.

        Where a few units make up the rarer of the two, its variance is known as badly as of so few.

        >>> EACH_SAMPLE.wilson(np.arange(10) < 0)
        Interval(lower=0.0, upper=0.277...)
        """
        n, share = len(marked), float(marked.mean()) if len(marked) else nan
        effect = self.effect((marked - share) / max(n, 1))
        own_df = max(self._n_holding(marked if share <= 0.5 else ~marked) - 1, 2.0)
        return wilson(float(marked.sum()) / effect.times, n / effect.times, df=min(effect.df, own_df))

    def _n_holding(self, marked: Bools) -> float:
        """Of how many units alike two marked samples would be of one as often as here (Simpson 1949)."""
        n_of_unit = np.zeros(1) if self.codes is None else np.bincount(self.codes, weights=marked)
        n, met = float(n_of_unit.sum()), float((n_of_unit * (n_of_unit - 1)).sum())
        return n * (n - 1) / met if met > 0 else inf

    def effect(self, influences: Floats, weights: Floats | None = None) -> "Effect":
        """By how much units make less of the samples, for a statistic that each moves by so much."""
        if (units := self._units) is None:
            return NO_EFFECT
        most = max(len(influences) / units.n[0], 1.0)
        error, alone = self.error(influences, weights), Design().error(influences)
        if not error.df > 0:
            return Effect(most, 0.0)
        times = (error.se / alone.se) ** 2 if alone.se > 0 else most
        largest = float(units.sizes[0].max())
        return Effect(float(np.clip(times, 1.0, max(largest, most))), error.df if alone.se > 0 else units.n[0] - 1.0)


@dataclass(frozen=True)
class Effect:
    """The design effect (Kish): so many samples tell as much as one that is a unit of its own, and with what df.

    Where nothing varies it is the mean number of samples of a unit; never below 1, nor beyond the largest unit.
    """

    times: float
    df: float

    def worth(self, n: int) -> float:
        """How many samples, each a unit, would tell as much as `n` of these, if their error were normal.

        >>> round(Effect(2.0, 9.0).worth(100), 1), NO_EFFECT.worth(100), Effect(2.0, 0.0).worth(100)
        (37.5, 100.0, nan)
        """
        if not self.df > 0:
            return nan
        return n / (self.times * (float(special.stdtrit(self.df, 0.975)) / Z) ** 2) if self.df < inf else float(n)


NO_EFFECT = Effect(1.0, inf)
EACH_SAMPLE = Design()


def design_of_units(unit: Shaped[np.ndarray, " n"] | None, word: str) -> Design:
    """The design of samples whose units are named; each is one where none is named, or none twice.

    >>> design_of_units(np.array(["ann", "bob", "ann"]), "author").by, design_of_units(np.array(["a", "b"]), "text").by
    (' from 2 authors', '')
    """
    if unit is None or len(np.unique(unit)) == len(unit):
        return EACH_SAMPLE
    return Design(np.unique(unit, return_inverse=True)[1], word)


def design_of(dataset: Dataset) -> Design:
    """How the samples of a data set came about.

    >>> from touchstone.core.data import load_example
    >>> design_of(load_example("wine")).by_sample
    True
    """
    return Design(dataset.unit_codes, dataset.unit_word)


def design_beside_sources(dataset: Dataset) -> Design:
    """The same, where sources are what intervals are over: units that are the sources are not named once more."""
    return EACH_SAMPLE if dataset.sources_are_units else design_of(dataset)


def units_of(*sets: Sequence[object] | Shaped[np.ndarray, " _"]) -> Units:
    """The units of several sets by their names: the same name in two sets is the same unit."""
    sizes = tuple(map(len, sets))
    names = np.concatenate([np.asarray(each) for each in sets])
    _, codes = np.unique(names, return_inverse=True)
    return Units(tuple(np.split(codes, np.cumsum(sizes)[:-1])), int(codes.max()) + 1, sizes)


def drawn_as_units(units: Codes, of_second: Bools, rng: np.random.Generator) -> Bools:
    """Which samples are of the second part once its units are drawn anew: as many as there are, each as a whole.

    A unit that lies in both parts counts as two: what is drawn are those that came into one of them.

    >>> drawn_as_units(np.array([3, 3, 5, 5]), np.arange(4) > 1, np.random.default_rng(0))
    array([False, False,  True,  True])
    """
    known, place = np.unique(2 * units + of_second, return_inverse=True)
    rank = rng.random(int(known.max()) + 1)[known]
    return np.isin(place, np.argsort(rank)[: int((known % 2).sum())])


def half_of_units(units: Codes, known: Bools, rng: np.random.Generator) -> Bools:
    """Mark the known samples of half of the units, dealt in the order of their sizes.

    >>> half_of_units(np.array([0, 0, 1, 1]), np.ones(4, dtype=bool), np.random.default_rng(0)).sum().item()
    2
    """
    sizes = np.bincount(units[known], minlength=units.max() + 1)
    order = np.lexsort([rng.random(len(sizes)), -sizes])
    first = rng.integers(2, size=len(order) // 2 + 1)
    half = np.column_stack([first, 1 - first]).ravel()[: len(order)]
    chooses = np.zeros(len(sizes), dtype=bool)
    chooses[order] = half == 1
    return known & chooses[units]


def mean_by(codes: Ints, values: Floats) -> Float[np.ndarray, " n_codes"]:
    """The mean of the values of each code, in the order of the codes that occur.

    >>> mean_by(np.array([7, 2, 7]), np.array([1.0, 5.0, 2.0]))
    array([5. , 1.5])
    """
    at = np.unique(codes, return_inverse=True)[1]
    return np.bincount(at, weights=values) / np.bincount(at)


def samples_as_units(*n_samples: int) -> Units:
    """Every sample a unit of its own.

    >>> samples_as_units(2, 3).n
    (2, 3)
    """
    codes = np.arange(sum(n_samples))
    return Units(tuple(np.split(codes, np.cumsum(n_samples)[:-1])), sum(n_samples), tuple(n_samples))


def alike(variances: Floats) -> float:
    """So many units of one weight would tell as much of the variance as these do."""
    squares = float((variances**2).sum())
    return float(variances.sum()) ** 2 / squares if squares > 0 else inf
