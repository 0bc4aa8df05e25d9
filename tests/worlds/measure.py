"""How often was each kind of claim wrong, made where true, and changed by the seed?"""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.worlds.world import World
from touchstone.core.evaluate.claims import Claim, Decision
from touchstone.core.evaluate.intervals import Interval, wilson

N_SEEDS = 2
"""Method seeds that every data set is judged with."""


@dataclass(frozen=True)
class Measured:
    """One kind of claim in one world, counted over data sets.

    Wrong and made are counted with the first method seed; `contrary` are data sets where two seeds decided two
    things, `unsteady` those where they did, or where one decided and the other did not.
    """

    world: World
    kind: str
    effect: float
    n: int
    n_wrong: int
    n_made: int
    n_right: int
    n_best: int | None
    n_contrary: int
    n_unsteady: int

    @property
    def wrong(self) -> Interval:
        """The interval of the rate of wrong claims."""
        return wilson(float(self.n_wrong), float(self.n))


def is_wrong(decision: Decision, effect: float, smallest: float) -> bool:
    """Whether a decision contradicts the true effect.

    >>> is_wrong("above", 0.0, 0.01), is_wrong("above", 0.2, 0.01), is_wrong("small", 0.2, 0.01)
    (True, False, True)
    """
    if decision == "above":
        return effect <= 0
    if decision == "below":
        return effect >= 0
    return decision == "small" and abs(effect) >= smallest


def measure(world: World, n_data_sets: int, *, first_seed: int = 0) -> tuple[Measured, ...]:
    """Judge `n_data_sets` data sets of a world, each with two method seeds."""
    seeds = range(first_seed, first_seed + n_data_sets)
    runs = [[world.claims(seed, 1000 * seed + turn) for turn in range(N_SEEDS)] for seed in seeds]
    best = [world.best(seed) for seed in seeds] if world.best else None
    return tuple(
        _of_kind(
            world,
            kind,
            effect,
            [[run[kind] for run in pair] for pair in runs],
            sum(bool(row[kind]) for row in best) if best and kind in best[0] else None,
        )
        for kind, effect in world.effects.items()
    )


def _of_kind(world: World, kind: str, effect: float, pairs: Iterable[list[Claim]], n_best: int | None) -> Measured:
    pairs = list(pairs)
    first = [pair[0] for pair in pairs]
    wrong = [is_wrong(claim.decision, effect, claim.smallest) for claim in first]
    decisions = [{claim.decision for claim in pair} for pair in pairs]
    return Measured(
        world=world,
        kind=kind,
        effect=effect,
        n=len(pairs),
        n_wrong=sum(wrong),
        n_made=sum(claim.decided for claim in first),
        n_right=sum(claim.decided and not bad for claim, bad in zip(first, wrong, strict=True)),
        n_best=n_best,
        n_contrary=sum(len(seen - {"undecided"}) > 1 for seen in decisions),
        n_unsteady=sum(len(seen) > 1 for seen in decisions),
    )


def check_level(rows: Iterable[Measured]) -> None:
    """No kind is wrong in more than 5 % + 2 standard errors, and seeds hardly ever decide against each other.

    Worlds where there is nothing to find stand by themselves: where there is something, hardly any claim can be wrong,
    and together these would hide one that is.
    """
    rows = list(rows)
    for kind in dict.fromkeys(row.kind for row in rows):
        for null in (True, False):
            mine = [row for row in rows if row.kind == kind and (row.effect == 0) == null]
            n = sum(row.n for row in mine)
            most = 0.05 * n + 2 * (0.05 * 0.95 * n) ** 0.5
            assert sum(row.n_wrong for row in mine) <= most, [(row.world.name, row.n_wrong, row.n) for row in mine]
            assert sum(row.n_contrary for row in mine) <= 0.05 * n, kind


def check_power(rows: Iterable[Measured], *, slack: int = 0) -> None:
    """What is there is said at least .8 times as often as by the best test; always, where no test is given.

    Of each kind over its worlds that have an effect; `slack` claims fewer may be made, where data sets are few.
    """
    rows = [row for row in rows if row.effect != 0]
    for kind in dict.fromkeys(row.kind for row in rows):
        mine = [row for row in rows if row.kind == kind]
        wanted = sum(row.n if row.n_best is None else row.n_best for row in mine)
        assert sum(row.n_right for row in mine) >= 0.8 * wanted - slack, kind
