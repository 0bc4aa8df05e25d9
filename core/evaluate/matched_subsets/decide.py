"""Which of the numbers may be said? All claims of a comparison, by the one rule of `core.evaluate.claims`."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from touchstone.core.evaluate.claims import Claim, claim, claim_of_t, corrected
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes
from touchstone.core.evaluate.matched_subsets.repeats import whole
from touchstone.core.evaluate.matched_subsets.results import (
    FIELDS,
    KINDS,
    Baseline,
    LabelGap,
    SetComparison,
    SetEstimate,
)

SMALLEST = 0.005
"""Half a point of accuracy: less is not worth a sentence."""


def decided(rows: Sequence[SetComparison]) -> tuple[SetComparison, ...]:
    """Comparisons that are shown together with their claims, corrected (Holm) for all that are looked at.

    Each is a family over the models: the fall; what is left of it at equal confidence; its other two parts; the gain
    over the baseline on either set. The labels of a model are corrected among themselves (`labels_decided`).
    """
    families = [
        _regrouped([_claims(row, names) if row.enough or names == ("falls",) else [] for row in rows])
        for names in (("falls",), ("residual",), ("mix", "unmatched"))
    ]
    gains = _regrouped([[baseline.gain for baseline in row.baselines] for row in rows])
    result = []
    for row, gain, *claims in zip(rows, gains, *families, strict=True):
        baselines = tuple(
            replace(baseline, gain=claim_of_gain) for baseline, claim_of_gain in zip(row.baselines, gain, strict=True)
        )
        result.append(replace(row, claims=tuple(each for group in claims for each in group), baselines=baselines))
    return tuple(result)


def labels_decided(rows: Sequence[LabelGap]) -> tuple[LabelGap, ...]:
    """Labels that have enough pairs with their claims, corrected for their number; the others have none."""
    claims = iter(corrected([_claim("labels", row.matched_gap) for row in rows if row.enough]))
    return tuple(replace(row, claim=next(claims) if row.enough else None) for row in rows)


def settled(row: SetComparison) -> bool:
    """Whether no decision of a comparison hangs on the Monte-Carlo error of its bounds."""
    return all(_without_error(each).decision == each.decision for each in row.claims)


def baselines_of(reference: Outcomes, target: Outcomes) -> tuple[Baseline, ...]:
    """What always answering a set's majority class, and guessing by its class shares, would reach; where known.

    Examples
    --------
    >>> import numpy as np
    >>> cats = Outcomes(np.zeros(4, int), np.ones(4), np.array([True, True, True, False]), ("cat", "dog"),
    ...                 np.array([0, 0, 0, 1]))
    >>> baseline, _ = baselines_of(cats, cats)
    >>> baseline.label, baseline.majority, baseline.chance, baseline.only
    ('cat', 0.75, 0.625, 'cat')
    """
    sets = (("reference", reference), ("target", target))
    return tuple(_baseline(name, outcomes) for name, outcomes in sets if outcomes.truth is not None)


def _baseline(name: str, outcomes: Outcomes) -> Baseline:
    truth, names = outcomes.truth, outcomes.class_names
    counts = whole(outcomes).truth
    assert truth is not None
    assert counts is not None
    most, n = int(counts.argmax()), len(outcomes)
    gains = outcomes.correct.astype(float) - (truth == most)
    gain, variance = float(gains.mean()), float(gains.var())
    se = (variance / (n - 1)) ** 0.5 if n > 1 else float("nan")
    made = claim_of_t(KINDS["baseline"], gain, se, n - 1.0)
    if gain < 0:  # the class was chosen as the most frequent of these very samples
        made = claim(made.kind, gain, made.interval, min(made.p_value * _n_as_frequent(counts), 1.0))
    constant = len(names) > 1 and (outcomes.label == outcomes.label[0]).all()
    return Baseline(
        set=name,
        label=names[most],
        majority=float(counts[most] / n),
        chance=float(((counts / n) ** 2).sum()),
        gain=made,
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
        smallest=SMALLEST,
        mc_error=estimate.mc_error,
    )


def _without_error(given: Claim) -> Claim:
    return claim(given.kind, given.estimate, given.interval, given.p_value, smallest=given.smallest)


def _claims(row: SetComparison, names: Sequence[str]) -> list[Claim]:
    return [_claim(name, getattr(row, FIELDS[name])) for name in names]


def _regrouped(groups: Sequence[Sequence[Claim]]) -> list[list[Claim]]:
    """All claims of several groups corrected together, group by group."""
    claims = iter(corrected([each for group in groups for each in group]))
    return [[next(claims) for _ in group] for group in groups]
