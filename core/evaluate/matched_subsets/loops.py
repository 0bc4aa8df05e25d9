"""The loops of matching as numpy and Python run them, and whether to run these or the compiled ones of `kernels`.

Both give the very same. A first small comparison would wait for the compiler several times as long as for all its
loops, and any later one would have to load what it made; so plain loops run until they took about as long as that.
What the functions get and give is said in `kernels`.
"""

import sys
from types import ModuleType

import numpy as np

KERNELS = "touchstone.core.evaluate.matched_subsets.kernels"
PATIENCE = 1_000_000
"""How many steps of about a microsecond plain loops take before the others are loaded, which takes about as long."""
_done = 0


def loops_for(n_steps: int) -> ModuleType:
    """The module whose loops to run for work of about so many microseconds in plain ones: this one, or `kernels`."""
    global _done
    if KERNELS not in sys.modules:
        _done += n_steps
        if _done <= PATIENCE:
            return sys.modules[__name__]
    from touchstone.core.evaluate.matched_subsets import kernels

    return kernels


def in_order(label, confidence):
    """The order of rows by label, then by confidence, equal ones as they were given."""
    return np.lexsort((confidence, label))


def candidate_ranges(reference_confidence, start, stop, confidence, tolerance, first, last):
    """As `kernels.candidate_ranges`."""
    references, stops = reference_confidence.tolist(), stop.tolist()
    low = high = 0
    for t, (begin, level) in enumerate(zip(start.tolist(), confidence.tolist(), strict=True)):
        low, high = max(low, begin), max(high, begin)
        while low < stops[t] and references[low] - level < -tolerance:
            low += 1
        while high < stops[t] and references[high] - level <= tolerance:
            high += 1
        first[t], last[t] = low, high


def draw(begins, ends, n, uniform):
    """As `kernels.draw`, turn by turn, of all matchings at once."""
    n_matchings, n_turns = begins.shape
    within = np.arange((ends - begins).max(initial=0))
    left = np.ones((n_matchings, n + len(within)), dtype=bool)
    whose = np.arange(n_matchings)
    taken = np.full((n_matchings, n_turns), -1)
    for k in range(n_turns):
        begin = begins[:, k]
        there = left[whose[:, None], begin[:, None] + within] & (within < (ends[:, k] - begin)[:, None])
        n_there = there.cumsum(axis=1)
        available = n_there[:, -1] if len(within) else np.zeros(n_matchings, dtype=int)
        rank = (uniform[:, k] * available).astype(np.int64)
        choosing = np.flatnonzero(available)
        chosen = begin[choosing] + (n_there[choosing] <= rank[choosing, None]).sum(axis=1)
        left[choosing, chosen] = False
        taken[choosing, k] = chosen
    return taken


def sweep(first, last):
    """As `kernels.sweep`."""
    partner, free = [], 0
    for begin, end in zip(first.tolist(), last.tolist(), strict=True):
        free = max(free, begin)
        partner.append(free if free < end else -1)
        free += free < end
    return np.array(partner, dtype=np.int64)


def count_matching(partner, correct, target_correct, expected, apart, label, n_labels, times, target_times):
    """As `kernels.count_matching`."""
    paired = partner >= 0
    references, targets = partner[paired], np.flatnonzero(paired)
    times[references] += 1
    target_times[targets] += 1
    right, target_right = correct[references], target_correct[targets]
    whole = [len(targets), _total(right), _total(target_right), _total(expected[~paired & ~apart])]
    of_labels = [
        np.bincount(label[targets], weight, n_labels) for weight in (None, right, target_right, right != target_right)
    ]
    return np.concatenate([whole, *of_labels]).astype(np.float64)


def _total(numbers):
    """The sum as a loop makes it, one after another: numpy's own differs in the last digit."""
    return np.bincount(np.zeros(len(numbers), dtype=np.int64), numbers, 1)[0]
