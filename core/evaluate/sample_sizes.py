"""How many samples show it? For two models on the same samples, before anything is labelled.

Only samples on which exactly one of both models is right tell them apart. How frequent these are decides how many
samples a difference needs (Connor 1987), a margin (Tango 1998, at whose limits its score test has its variance), or an
interval so short. Samples that come in units (texts of authors) tell less, the more alike those of a unit are (Kish's
design effect), and few units know their own spread badly: quantiles are then Student's. Of a class only its own
samples tell anything: so many more are needed as it is rare.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import special

from touchstone.core.data.errors import DataError
from touchstone.core.evaluate.units import FEWEST_UNITS, Design, Z
from touchstone.core.evaluate.wording import percent, points
from touchstone.core.parameters import asks

POWER = 0.8
"""How often what is there shall be shown."""
MOST_SAMPLES = 10_000_000


GUESSED = "guesses"
"""The form of what two files would tell."""


def _asks(
    usual: float,
    label: str,
    help: str,
    address: str,
    form: str = "",
    within: tuple[float, float, float] = (0.001, 0.5, 0.005),
) -> Any:
    help = f"{help} A fraction: .01 is a point."
    return asks(usual, label, help, address=address, place="row", form=form, within=within, format="%.3f")


@dataclass(frozen=True)
class SizePlan:
    """What shall be shown, and what is known or guessed of the samples.

    Examples
    --------
    >>> plan = SizePlan(difference=0.01, discordant=0.05)
    >>> [size.n for size in plan.sizes()]
    [3923, 4020, 481, 865]
    >>> replace(plan, per_unit=10.0, intraclass_correlation=0.2).sizes()[0].n_units
    1101
    >>> replace(plan, class_share=0.1).sizes()[0]
    Size(goal='difference', n=39230, n_units=None, n_of_class=3923)
    """

    difference: float = _asks(
        0.01, "Difference", "The difference of accuracies that shall be shown if it is there.", "difference"
    )
    margin: float = _asks(
        0.01, "Margin", "Of models that are as good: the loss by which one shall be shown to be no worse.", "no_worse"
    )
    half_width: float = _asks(
        0.02, "Half-width", "How far the ends of an interval may lie from the value, on either side.", "half_width"
    )
    discordant: float = _asks(
        0.1, "Discordant share", "On which share of samples exactly one of both models is right.", "discordant", GUESSED
    )
    accuracy: float = _asks(0.9, "Accuracy", "Of one of the models.", "accuracy", GUESSED, within=(0.0, 1.0, 0.01))
    per_unit: float = asks(
        1.0,
        "Samples per unit",
        "How many samples come from one author, patient or site. 1: each sample is independent.",
        address="per_unit",
        place="row",
        form=GUESSED,
        within=(1.0, 100_000.0, 1.0),
        format="%.1f",
    )
    intraclass_correlation: float = asks(
        0.05,
        "Intraclass correlation",
        "How much samples of one unit go together in what differs: 0, not at all, to 1, always.",
        address="intraclass_correlation",
        place="row",
        form=GUESSED,
        within=(0.0, 1.0, 0.01),
        format="%.2f",
        when=lambda values, _: values.get("per_unit", 1.0) > 1,
    )

    class_share: float = _asks(
        1.0,
        "Class share",
        "Of a class whose recall matters: which share of samples is of it. All other guesses are then of its samples "
        "alone. 1: all samples.",
        "class_share",
        GUESSED,
        within=(0.001, 1.0, 0.01),
    )

    @property
    def design_effect(self) -> float:
        """So many samples tell as much as one that is a unit of its own (Kish)."""
        return 1 + (self.per_unit - 1) * self.intraclass_correlation

    def sizes(self) -> tuple["Size", ...]:
        """How many samples show the difference, the margin, and tell a difference and an accuracy so precisely.

        Raises DataError where the difference cannot be as large as that.
        """
        if self.difference > self.discordant:
            raise DataError(
                f"Models that differ on {percent(self.discordant)} of samples cannot differ by "
                f"{points(self.difference)} in accuracy. Say a smaller difference, or guess a larger discordant share."
            )
        spread = sqrt(self.discordant)
        return (
            self._size("difference", lambda z, z_power: _for_difference(self.discordant, self.difference, z, z_power)),
            self._size("margin", lambda z, z_power: _for_margin(self.discordant, self.margin, z, z_power)),
            self._size("difference_within", lambda z, _: (z * spread / self.half_width) ** 2),
            self._size("accuracy_within", lambda z, _: z**2 * self.accuracy * (1 - self.accuracy) / self.half_width**2),
        )

    def _size(self, goal: str, needed: Callable[[float, float], float]) -> "Size":
        """So many samples that they are worth what `needed` says of samples that are units, by both quantiles."""
        n = self._worth(needed(*_quantiles(inf)))
        for _ in range(50 if self.per_unit > 1 else 0):
            n, before = self._worth(needed(*_quantiles(max(n / self.per_unit - 1, 1.0)))), n
            if abs(n - before) < 0.5:
                break
        n_units = max(ceil(n / self.per_unit), FEWEST_UNITS) if self.per_unit > 1 else None
        n_of_class = ceil(n) if n_units is None else ceil(n_units * self.per_unit)
        in_all = ceil(n_of_class / self.class_share)
        if in_all > MOST_SAMPLES:
            return Size(goal, None)
        return Size(goal, in_all, n_units, None if self.class_share == 1 else n_of_class)

    def _worth(self, n: float) -> float:
        return n * self.design_effect

    def detectable(self, n: int) -> float:
        """The smallest difference that so many samples show; NaN where not even the whole discordant share would.

        >>> round(SizePlan(discordant=0.05).detectable(3923), 4)
        0.01
        """
        low, high = 1e-6, self.discordant
        needs = replace(self, difference=high).sizes()[0].n
        if needs is None or needs > n:
            return nan
        for _ in range(60):
            middle = sqrt(low * high)
            needs = replace(self, difference=middle).sizes()[0].n
            low, high = (middle, high) if needs is None or needs > n else (low, middle)
        return high


@dataclass(frozen=True)
class Size:
    """How many samples reach a goal, and of how many units; None where more than ten million would be needed.

    Of a class, `n_of_class` of them are to be of it, and of so many units that have it.
    """

    goal: str
    n: int | None
    n_units: int | None = None
    n_of_class: int | None = None


def guesses_of(apart: Float[np.ndarray, " n"], accuracy: float, design: Design) -> dict[str, float]:
    """What a pilot says of the guesses of a `SizePlan`.

    `apart` is 1 where only the first model is right, -1 where only the second is, else 0; or its mean over trainings.

    >>> rows = np.arange(100)
    >>> guesses_of((rows < 90) * 1.0 - (rows % 10 > 0), 0.9, Design())
    {'discordant': 0.18, 'accuracy': 0.9, 'per_unit': 1.0, 'intraclass_correlation': 0.0}
    """
    n, per_unit, alike = len(apart), 1.0, 0.0
    if design.codes is not None:
        sizes = np.bincount(design.codes)
        per_unit = float((sizes**2).sum()) / n  # the unit of a sample at random (Kish)
        times = design.effect((apart - apart.mean()) / n).times
        alike = min(max((times - 1) / (per_unit - 1), 0.0), 1.0) if per_unit > 1 else 0.0
    return {
        "discordant": max(float((apart**2).mean()), 1 / n),
        "accuracy": accuracy,
        "per_unit": per_unit,
        "intraclass_correlation": alike,
    }


def _quantiles(df: float) -> tuple[float, float]:
    """Of a test at 5 % and of the power, with so many degrees of freedom."""
    if df == inf:
        return Z, float(special.ndtri(POWER))
    return float(special.stdtrit(df, 0.975)), float(special.stdtrit(df, POWER))


def _for_difference(discordant: float, difference: float, z: float, z_power: float) -> float:
    return ((z * sqrt(discordant) + z_power * sqrt(discordant - difference**2)) / difference) ** 2


def _for_margin(discordant: float, margin: float, z: float, z_power: float) -> float:
    """Of models that are as good: the variance at the margin is that of Tango's score test, by expectation."""
    share = discordant / 2
    a, b, c = 2.0, -discordant - 2 * margin, share * margin * (1 + margin)
    lost = (sqrt(b * b - 4 * a * c) - b) / (2 * a)
    at_margin = max(2 * lost - margin * (1 + margin), 0.0)
    return ((z * sqrt(at_margin) + z_power * sqrt(discordant)) / margin) ** 2


def shown_by(plan: SizePlan) -> Iterator[tuple[int, float]]:
    """Numbers of samples and the smallest difference that each shows, around what the plan's own needs."""
    needed = plan.sizes()[0].n or MOST_SAMPLES
    for n in np.unique(np.geomspace(max(needed / 30, 20), min(needed * 10, MOST_SAMPLES), 25).astype(int)).tolist():
        least = plan.detectable(n)
        if not isnan(least):
            yield n, least
