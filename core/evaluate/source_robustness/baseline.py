"""Is a model any better than always answering the majority class, on the very samples that it was tested on?"""

from dataclasses import replace

import numpy as np

from touchstone.core.evaluate.intervals import UNKNOWN, Interval, apart, joined, p_of_interval
from touchstone.core.evaluate.source_robustness.counts import Counts, Layout
from touchstone.core.evaluate.source_robustness.estimate import (
    error_over_draws,
    error_over_sources,
    few_errors,
    measure,
    of_samples,
)
from touchstone.core.evaluate.source_robustness.hardness import accuracy_difference
from touchstone.core.evaluate.source_robustness.results import NO_DIFFERENCE, Baseline, Difference
from touchstone.core.trials.draws import EXCLUSIVE, INCLUSIVE, RANDOM


def baseline(model: str, n_train: int, layout: Layout, schemes: dict[str, Counts]) -> Baseline:
    """The majority class of the data in the place of one model: the same draws, the same test parts."""
    majority = int(np.argmax(layout.n_samples))

    def share(scheme: str) -> float:
        return _share(majority, schemes[scheme]) if scheme in schemes else float("nan")

    return Baseline(
        model=model,
        source_finder=layout.source_finder,
        n_train=n_train,
        majority=layout.labels[majority],
        chance=1 / len(layout.labels),
        exclusive=share(EXCLUSIVE),
        inclusive=share(INCLUSIVE),
        random=share(RANDOM),
        above=above_majority(layout, schemes, EXCLUSIVE),
        answers_only=_only_answer(layout, schemes),
    )


def _share(label: int, counts: Counts) -> float:
    """The mean over draws of a class's share of the test part."""
    shares = counts.n[counts.done, label] / counts.n[counts.done].sum(axis=1)
    return float(shares.mean()) if len(shares) else float("nan")


def above_majority(layout: Layout, schemes: dict[str, Counts], scheme: str) -> Difference:
    """A model's accuracy less that of the majority class of the data, on the test parts of one scheme.

    Its error is that of the accuracies on the majority class and on all others, for the mix of classes at hand: how
    many samples of a class other sources would bring is no doubt about the model, which is told from a constant
    by what it gets right of both.
    """
    if scheme not in schemes:
        return NO_DIFFERENCE
    counts, majority = schemes[scheme], int(np.argmax(layout.n_samples))
    every = np.ones(len(layout.labels), dtype=bool)
    is_majority = np.arange(len(layout.labels)) == majority
    share = _share(majority, counts)
    value = measure(counts, layout, scheme, every).value - share
    if is_majority.all():
        return Difference(value, UNKNOWN, UNKNOWN, float("nan"), float("nan"))
    own, others = (measure(counts, layout, scheme, mask) for mask in (is_majority, ~is_majority))
    terms = [(share, own), (1 - share, others)]
    above = accuracy_difference(value, error_over_draws(terms), error_over_sources(terms, layout))
    if not (few_errors(own) or few_errors(others)):
        return above
    right, wrong = of_samples(others), of_samples(own)
    won = Interval((1 - share) * right.lower, (1 - share) * right.upper)
    lost = Interval(share * (1 - wrong.upper), share * (1 - wrong.lower))
    by_samples = apart((1 - share) * others.value, won, share * (1 - own.value), lost)
    over_sources = joined(above.over_sources, by_samples)
    return replace(above, over_sources=over_sources, p_sources=p_of_interval(value, over_sources))


def _only_answer(layout: Layout, schemes: dict[str, Counts]) -> str | None:
    """The class of every prediction in every draw; None where there are two, or where predictions were not counted."""
    predicted = np.nansum([np.nansum(counts.predicted, axis=0) for counts in schemes.values()], axis=0)
    answers = np.flatnonzero(predicted > 0)
    return layout.labels[answers[0]] if len(answers) == 1 and len(layout.labels) > 1 else None
