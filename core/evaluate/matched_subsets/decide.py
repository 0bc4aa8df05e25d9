"""Which of the numbers may be said? All claims of a comparison, by the one rule of `core.evaluate.claims`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from touchstone.core.evaluate.calibration.overconfidence import overconfidence
from touchstone.core.evaluate.claims import Claim, Group, claim, claim_of_t, decided_anew, family
from touchstone.core.evaluate.intervals import UNKNOWN
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes
from touchstone.core.evaluate.matched_subsets.repeats import whole
from touchstone.core.evaluate.matched_subsets.results import (
    FIELDS,
    KINDS,
    Baseline,
    SetCalibration,
    SetComparison,
    SetEstimate,
)
from touchstone.core.evaluate.units import Units

SHARES = {"falls": 0.78, "residual": 0.08, "labels": 0.02, "calibration": 0.04, "baseline": 0.02}
"""What each claim has of a model's part of the 5 % at first; the claims of labels together, those of a set each. The
headline has most, for what is said beside no fall matters less; what nearly every model passes has little."""
PARTS = {"residual": 0.45, "mix": 0.3, "unmatched": 0.25}
"""To which parts a fall that is found passes its share on."""
ONWARDS: Mapping[str, Mapping[str, float]] = {
    "residual": {"labels": 0.2, "mix": 0.2, "unmatched": 0.3, "falls": 0.3},
    "mix": {"residual": 0.5, "unmatched": 0.3, "falls": 0.2},
    "unmatched": {"residual": 0.4, "mix": 0.3, "falls": 0.3},
    "labels": {"residual": 0.5, "falls": 0.5},
    "calibration": {"falls": 0.8, "residual": 0.2},
    "baseline": {"falls": 0.8, "residual": 0.2},
}
"""To which claims each other kind passes on what it has; "falls" are those of all models alike."""


def decided(rows: Sequence[SetComparison]) -> tuple[SetComparison, ...]:
    """Comparisons that are shown together with their claims: one family of all that is said of all models.

    A fall that is found frees its share for its own parts and for the falls of other models, what is left at equal
    confidence for the labels, and so on (`core.evaluate.claims.family`). Nothing rests on how rows were decided before.
    """
    made = [_claims(row) for row in rows]
    corrected = family(
        {
            (i, name): Group(
                tuple(each.p_value for each in claims[name]),
                SHARES.get(name.partition(" ")[0], 0.0) / len(rows),
                _passes(i, name, made),
            )
            for i, claims in enumerate(made)
            for name in claims
        }
    )
    return tuple(
        _with_claims(row, {name: decided_anew(claims[name], corrected[i, name]) for name in claims})
        for i, (row, claims) in enumerate(zip(rows, made, strict=True))
    )


def _claims(row: SetComparison) -> dict[str, list[Claim]]:
    """All claims of a model by name, not corrected; those of a set by its name, too."""
    parts = ("residual", "mix", "unmatched") if row.enough else ()
    claims = {name: [_claim(name, getattr(row, FIELDS[name]))] for name in ("falls", *parts)}
    if labels := [_claim("labels", label.matched_gap) for label in row.labels if label.enough]:
        claims["labels"] = labels
    claims |= {f"calibration {each.set}": [replace(each.claim, p_value=each.p_value)] for each in row.calibrations}
    return claims | {f"baseline {each.set}": [replace(each.gain, p_value=each.p_value)] for each in row.baselines}


def _passes(i: int, name: str, made: Sequence[Mapping[str, object]]) -> dict[tuple[int, str], float]:
    """To whom a claim of model `i` passes its share on."""
    kind, others = name.partition(" ")[0], [j for j in range(len(made)) if j != i]
    if kind == "falls":
        wanted = {(i, part): share * (0.5 if others else 1.0) for part, share in PARTS.items()}
        wanted |= {(j, "falls"): 0.5 / len(others) for j in others}
    else:
        wanted = {(i, to): share for to, share in ONWARDS[kind].items() if to != "falls"}
        wanted |= {(j, "falls"): ONWARDS[kind]["falls"] / len(made) for j in range(len(made))}
    there = {(j, to): share for (j, to), share in wanted.items() if to in made[j]}
    total = sum(there.values())
    return {to: share / total for to, share in there.items()} if total else {}


def _with_claims(row: SetComparison, claims: Mapping[str, Sequence[Claim]]) -> SetComparison:
    of_labels = iter(claims.get("labels", ()))
    return replace(
        row,
        claims=tuple(claims[name][0] for name in FIELDS if name in claims),
        labels=tuple(replace(label, claim=next(of_labels) if label.enough else None) for label in row.labels),
        calibrations=tuple(replace(each, claim=claims[f"calibration {each.set}"][0]) for each in row.calibrations),
        baselines=tuple(replace(each, gain=claims[f"baseline {each.set}"][0]) for each in row.baselines),
    )


def calibrations_of(reference: Outcomes, target: Outcomes, units: Units) -> tuple[SetCalibration, ...]:
    """Whether the model is as often right as it says, on either set; not corrected yet."""
    result = []
    for place, (name, outcomes) in enumerate((("reference", reference), ("target", target))):
        measured = overconfidence(outcomes.confidence, outcomes.correct, units, place=place)
        known = units.enough or units.by_sample
        interval, p = (measured.interval, measured.p_value) if known else (UNKNOWN, float("nan"))
        made = claim(KINDS["calibration"], measured.value, interval, p)
        result.append(SetCalibration(name, measured.confidence, measured.accuracy, made, made.p_value))
    return tuple(result)


def baselines_of(reference: Outcomes, target: Outcomes, units: Units) -> tuple[Baseline, ...]:
    """What always answering a set's majority class, and guessing by its class shares, would reach; where known.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.units import samples_as_units
    >>> cats = Outcomes(np.zeros(4, int), np.ones(4), np.array([True, True, True, False]), ("cat", "dog"),
    ...                 np.array([0, 0, 0, 1]))
    >>> baseline, _ = baselines_of(cats, cats, samples_as_units(4, 4))
    >>> baseline.label, baseline.majority, baseline.chance, baseline.only
    ('cat', 0.75, 0.625, 'cat')
    """
    sets = (("reference", reference), ("target", target))
    known = [(place, name, each) for place, (name, each) in enumerate(sets) if each.truth is not None]
    return tuple(_baseline(name, outcomes, units, place) for place, name, outcomes in known)


def _baseline(name: str, outcomes: Outcomes, units: Units, place: int) -> Baseline:
    truth, names = outcomes.truth, outcomes.class_names
    counts = whole(outcomes).truth
    assert truth is not None
    assert counts is not None
    most, n = int(counts.argmax()), len(outcomes)
    gains = outcomes.correct.astype(float) - (truth == most)
    gain, variance = float(gains.mean()), float(gains.var())
    se, df = (variance / (n - 1)) ** 0.5 if n > 1 else float("nan"), n - 1.0
    if not units.by_sample:
        error = units.error(*((gains - gain) / n if i == place else np.zeros(m) for i, m in enumerate(units.n_samples)))
        se, df = (error.se, error.df) if units.enough else (float("nan"), 0.0)
    made = claim_of_t(KINDS["baseline"], gain, se, df)
    if gain < 0:  # the class was chosen as the most frequent of these very samples
        made = claim(made.kind, gain, made.interval, min(made.p_value * _n_as_frequent(counts), 1.0))
    constant = len(names) > 1 and (outcomes.label == outcomes.label[0]).all()
    return Baseline(
        set=name,
        label=names[most],
        majority=float(counts[most] / n),
        chance=float(((counts / n) ** 2).sum()),
        gain=made,
        p_value=made.p_value,
        only=names[int(outcomes.label[0])] if constant else None,
    )


def _n_as_frequent(counts: np.ndarray) -> int:
    """How many classes may as well be the most frequent one: those that are not significantly rarer.

    >>> _n_as_frequent(np.array([60, 40, 2])), _n_as_frequent(np.array([52, 48, 2]))
    (1, 2)
    """
    most = int(counts.max())
    return int(np.sum(most - counts < 1.96 * np.sqrt(most + counts)))


def _claim(name: str, estimate: SetEstimate) -> Claim:
    return claim(
        KINDS[name],
        estimate.value,
        estimate.interval,
        estimate.p_value,
        mc_error=estimate.mc_error,
    )
