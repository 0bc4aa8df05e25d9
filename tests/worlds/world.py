"""What is a world, and what came of its claims?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from touchstone.core.evaluate.claims import Claim


@dataclass(frozen=True)
class World:
    """One way in which data come to be, where the truth of every claim is known.

    Parameters
    ----------
    question
        The question's stem.
    name
        The world in plain words, sizes included, as the table prints it: "5 shared sources, uneven, 20 repeats, ridge".
    effects
        The true effect by kind of claim, in the claim's unit and with its sign. "above" is wrong where it is not above
        0, "below" where it is not below 0, "small" where it is no smaller than the claim's `smallest`.
    claims
        `claims(data_seed, method_seed)`: draw data anew, fit, and return the claims that the page would make. The
        same data seed gives the same data; the method seed is everything that a user's choice of seed decides.
    best
        `best(data_seed)`: by kind, whether the best test that knows the world decides for the effect on these data;
        None where no effect is to be found, or none is known.
    reported
        Whether the world is only reported, and bars nothing (the issue names these).
    """

    question: str
    name: str
    effects: Mapping[str, float]
    claims: Callable[[int, int], Mapping[str, Claim]]
    best: Callable[[int], Mapping[str, bool]] | None = None
    reported: bool = False
