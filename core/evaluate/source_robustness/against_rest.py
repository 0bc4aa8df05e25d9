"""Which classes lose more of their accuracy on unfamiliar sources than the others do? (section 5.2.1)"""

from dataclasses import dataclass, replace

import numpy as np

from touchstone.core.evaluate.intervals import holm, moderated_variances, t_interval, t_p_value, within
from touchstone.core.evaluate.source_robustness.counts import Counts, Layout
from touchstone.core.evaluate.source_robustness.estimate import (
    Error,
    Measured,
    error_over_draws,
    error_over_sources,
    measure,
    rho_terms,
)
from touchstone.core.evaluate.source_robustness.results import Difference
from touchstone.core.trials.draws import EXCLUSIVE, INCLUSIVE


@dataclass(frozen=True)
class _Told:
    value: float
    draws: Error
    sources: Error
    own_df: float
    """The class's own sources less one. (Satterthwaite's degrees of freedom are many just where its own variance came
    out small by luck, and would then keep it from being moderated.)"""


def classes_against_rest(layout: Layout, schemes: dict[str, Counts]) -> list[Difference | None]:
    """For each class, its rho less that of all other classes together; None where either cannot be told.

    A class has few sources, so over sources the errors of all classes are moderated by each other. With each class's
    own, one of ten classes came out as unlike the rest in a fifth of simulated data sets where all were alike, in spite
    of Holm's correction.

    The variance over sources is not doubled: a class and the rest are answers of the same models. In eight simulated
    worlds where classes are alike (150 data sets each, 2 to 10 classes, 5 to 20 sources, even and uneven) such
    intervals held 0 in 95 to 100 %, doubled ones in 98 to 100 %, and then found a class that differs half as often.
    """
    contrasts = [_told(layout, schemes, code) for code in range(len(layout.labels))]
    known = [contrast for contrast in contrasts if contrast is not None]
    if not known:
        return [None] * len(contrasts)
    variances, dfs = moderated_variances(
        np.array([contrast.sources.se**2 for contrast in known]), np.array([contrast.own_df for contrast in known])
    )
    errors = [Error(float(np.sqrt(variance)), float(df)) for variance, df in zip(variances, dfs, strict=True)]
    p_draws = holm([t_p_value(contrast.value, contrast.draws.se, contrast.draws.df) for contrast in known])
    p_sources = holm(
        [t_p_value(contrast.value, error.se, error.df) for contrast, error in zip(known, errors, strict=True)]
    )
    differences = iter(
        difference(contrast.value, contrast.draws, error, p_draws_corrected=a, p_sources_corrected=b)
        for contrast, error, a, b in zip(known, errors, p_draws, p_sources, strict=True)
    )
    return [None if contrast is None else next(differences) for contrast in contrasts]


def difference(value: float, draws: Error, sources: Error, **holm_corrected: float) -> Difference:
    """A difference with the intervals and p-values that its two errors give."""
    return Difference(
        value=value,
        over_draws=t_interval(value, draws.se, draws.df),
        over_sources=t_interval(value, sources.se, sources.df),
        p_draws=t_p_value(value, draws.se, draws.df),
        p_sources=t_p_value(value, sources.se, sources.df),
        se=sources.se,
        df=sources.df,
        **holm_corrected,
    )


def accuracy_difference(value: float, draws: Error, sources: Error) -> Difference:
    """As `difference`, of two accuracies: few degrees of freedom reach no further than 100 points either way."""
    free = difference(value, draws, sources)
    return replace(
        free, over_draws=within(free.over_draws, -1.0, 1.0), over_sources=within(free.over_sources, -1.0, 1.0)
    )


def _told(layout: Layout, schemes: dict[str, Counts], code: int) -> _Told | None:
    mine = np.arange(len(layout.labels)) == code
    if mine.all() or EXCLUSIVE not in schemes or INCLUSIVE not in schemes:
        return None
    (x, i), (rest_x, rest_i) = (_ends(layout, schemes, labels) for labels in (mine, ~mine))
    if np.isnan([x.value, rest_x.value]).any() or not (i.value > 0 and rest_i.value > 0):
        return None
    terms = rho_terms(x, i) + rho_terms(rest_x, rest_i, -1.0)
    value = x.value / i.value - rest_x.value / rest_i.value
    sources = error_over_sources(terms, layout, doubled=False)
    return _Told(value, error_over_draws(terms), sources, float(x.n_seen.max() - 1))


def _ends(layout: Layout, schemes: dict[str, Counts], labels: np.ndarray) -> tuple[Measured, Measured]:
    return (
        measure(schemes[EXCLUSIVE], layout, EXCLUSIVE, labels),
        measure(schemes[INCLUSIVE], layout, INCLUSIVE, labels),
    )
