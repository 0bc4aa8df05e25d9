"""Is a model any better than always answering the majority class, on the very samples that it was tested on?"""

from dataclasses import replace

import numpy as np

from touchstone.core.evaluate.source_robustness.against_rest import accuracy_difference
from touchstone.core.evaluate.source_robustness.counts import EXCLUSIVE, INCLUSIVE, RANDOM, Counts, Layout
from touchstone.core.evaluate.source_robustness.estimate import error_over_draws, error_over_sources, measure
from touchstone.core.evaluate.source_robustness.results import NO_DIFFERENCE, Baseline, Difference


def baseline(model: str, n_train: int, layout: Layout, schemes: dict[str, Counts]) -> Baseline:
    """The majority class of the data in the place of one model: the same draws, the same test parts.

    It is compared source by source, so that a source with few samples of the majority class is hard for both.
    """
    majority = int(np.argmax(layout.n_samples))
    every = np.ones(len(layout.labels), dtype=bool)
    constant = {scheme: _always(majority, counts, layout) for scheme, counts in schemes.items()}

    def share(scheme: str) -> float:
        return measure(constant[scheme], layout, scheme, every).value if scheme in constant else float("nan")

    return Baseline(
        model=model,
        source_finder=layout.source_finder,
        n_train=n_train,
        majority=layout.labels[majority],
        chance=1 / len(layout.labels),
        exclusive=share(EXCLUSIVE),
        inclusive=share(INCLUSIVE),
        random=share(RANDOM),
        above=_above(layout, schemes, constant, EXCLUSIVE),
        answers_only=_only_answer(layout, schemes),
    )


def _always(label: int, counts: Counts, layout: Layout) -> Counts:
    is_label = np.arange(len(layout.labels)) == label
    return replace(
        counts,
        correct=np.where(is_label, counts.n, 0 * counts.n),
        cell_correct=np.where(layout.cell_label == label, counts.cell_n, 0.0),
        left_out_correct=np.where(is_label, counts.left_out_n, 0 * counts.left_out_n),
    )


def above_majority(layout: Layout, schemes: dict[str, Counts], scheme: str) -> Difference:
    """A model's accuracy less that of the majority class of the data, on the test parts of one scheme."""
    majority = int(np.argmax(layout.n_samples))
    constant = {name: _always(majority, counts, layout) for name, counts in schemes.items()}
    return _above(layout, schemes, constant, scheme)


def _above(layout: Layout, schemes: dict[str, Counts], constant: dict[str, Counts], scheme: str) -> Difference:
    if scheme not in schemes:
        return NO_DIFFERENCE
    every = np.ones(len(layout.labels), dtype=bool)
    mine, other = (measure(counts[scheme], layout, scheme, every) for counts in (schemes, constant))
    terms = [(1.0, mine), (-1.0, other)]
    return accuracy_difference(mine.value - other.value, error_over_draws(terms), error_over_sources(terms, layout))


def _only_answer(layout: Layout, schemes: dict[str, Counts]) -> str | None:
    """The class of every prediction in every draw; None where there are two, or where predictions were not counted."""
    predicted = np.nansum([np.nansum(counts.predicted, axis=0) for counts in schemes.values()], axis=0)
    answers = np.flatnonzero(predicted > 0)
    return layout.labels[answers[0]] if len(answers) == 1 and len(layout.labels) > 1 else None
