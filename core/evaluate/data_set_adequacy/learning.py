"""Which learning curve goes through the accuracies, how sure is it, and what would twice as many samples add?"""

from collections.abc import Sequence

import numpy as np

from touchstone.core.evaluate.data_set_adequacy.power_law import PowerLaw, fit_power_law
from touchstone.core.evaluate.data_set_adequacy.results import CurvePoint, Learning, Told
from touchstone.core.evaluate.intervals import logit_interval, t_interval
from touchstone.core.evaluate.source_robustness.counts import Layout
from touchstone.core.evaluate.source_robustness.estimate import Error, Measured, error_over_draws, error_over_sources
from touchstone.core.evaluate.source_robustness.expected import FEW_ERRORS

N_POINTS = 16
AHEAD = 2.0
"""How far beyond the data the curve is drawn, and asked: twice as many samples."""


def learning_of(points: Sequence[tuple[float, Measured | None]], layout: Layout, *, drawn: bool) -> Learning:
    """The curve through one accuracy over the size of the training set, or the reason why there is none.

    `drawn` says whether its own points are wanted, too, for a figure.

    The curve's own error is by the delta method: to first order it is a weighted sum of the accuracies at all sizes,
    whose errors over sources and samples are known together.
    """
    known = [(n, measured) for n, measured in points if measured is not None and n > 0]
    if len(known) < 2:
        return Learning(None, "there are too few sizes yet")
    n, measured = np.array([n for n, _ in known]), [measure for _, measure in known]
    if not (np.diff(n) > 0).all():
        return Learning(None, "the class has no additional samples at the larger sizes")
    last = measured[-1]
    if (1 - last.value) * last.n_samples < FEW_ERRORS:
        return Learning(None, "nearly every sample is classified correctly")
    accuracy = np.stack([measure.accuracy for measure in measured], axis=1)
    whole = ~np.isnan(accuracy).any(axis=1)
    law = fit_power_law(n, accuracy[whole], last.clustering[whole])
    if isinstance(law, str):
        return Learning(None, law)
    return _known(law, n, measured, layout, n_points=N_POINTS if drawn else 0)


def _known(law: PowerLaw, n: np.ndarray, measured: Sequence[Measured], layout: Layout, *, n_points: int) -> Learning:
    def errors(weights: np.ndarray) -> tuple[Error, Error]:
        terms = [(float(weight), measure) for weight, measure in zip(weights, measured, strict=True)]
        return error_over_sources(terms, layout), error_over_draws(terms)

    def accuracy(value: float, weights: np.ndarray) -> Told:
        sources, draws = errors(weights)
        return Told(value, logit_interval(value, sources.se, sources.df), logit_interval(value, draws.se, draws.df))

    points = []
    for at in np.geomspace(n[0], AHEAD * n[-1], n_points):
        difference = accuracy(law.at(float(at)), law.weights(float(at)))
        points.append(CurvePoint(float(at), difference.value, difference.interval))
    ahead, here = AHEAD * float(n[-1]), float(n[-1])
    gain = law.at(ahead) - law.at(here)
    sources, draws = errors(law.weights(ahead) - law.weights(here))
    return Learning(
        law=law,
        reason="",
        points=tuple(points),
        ceiling=accuracy(law.ceiling, law.sensitivity[0]) if law.ceiling < 1 else Told(1.0),
        next_gain=Told(gain, t_interval(gain, sources.se, sources.df), t_interval(gain, draws.se, draws.df)),
    )
