"""What does matching cost, against a vectorised mask for each target? And the whole of a comparison?

Prints a table; asserts nothing. The mask loop is run on its first 200 targets and extrapolated: it costs the same for
each. Ours are medians of five repeats on sets that are sorted once; sorting is listed beside.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib import import_module

import numpy as np

from touchstone.core.evaluate.matched_subsets import Outcomes, compare_sets
from touchstone.core.evaluate.matched_subsets.loops import KERNELS
from touchstone.core.evaluate.matched_subsets.matching import SLACK, candidates, matchings

N_LABELS = 10
N_MASKED = 200
EPSILON = 0.005


def made(n: int, rng: np.random.Generator) -> Outcomes:
    confidence = 0.1 + 0.9 * rng.beta(4, 1, n)
    label = rng.integers(N_LABELS, size=n)
    return Outcomes(label, confidence, rng.random(n) < confidence, tuple(map(str, range(N_LABELS))))


def mask_loop(reference: Outcomes, target: Outcomes, by: str, n_targets: int, rng: np.random.Generator) -> None:
    available = np.ones(len(reference), dtype=bool)
    for t in range(n_targets):
        mask = np.abs(reference.confidence - target.confidence[t]) <= EPSILON + SLACK
        if by == "label":
            mask &= reference.label == target.label[t]
        mask &= available
        found = np.flatnonzero(mask)
        if len(found):
            available[found[rng.integers(len(found))]] = False


def seconds(work: Callable[[], object], n: int = 5) -> float:
    times = []
    for _ in range(n):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    rng = np.random.default_rng(0)
    import_module(KERNELS)  # from now on compiled loops run for sets of any size
    small = candidates(made(20, rng), made(10, rng), epsilon=EPSILON)
    for method in ("random", "maximum"):  # compiled before it is timed
        next(matchings(small, 1, method=method, rng=rng))
    print(f"# Matched subsets, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"100 000 targets against 1 000 000 references, {N_LABELS} labels, epsilon {EPSILON}")
    print(f"by           sorting  one repeat  maximum  mask loop (extrapolated from {N_MASKED} targets)  ratio")
    reference, target = made(1_000_000, rng), made(100_000, rng)
    for by in ("label", "probability"):
        sort = seconds(lambda by=by: candidates(reference, target, epsilon=EPSILON, by=by), 3)
        of = candidates(reference, target, epsilon=EPSILON, by=by)
        one = seconds(lambda of=of: next(matchings(of, 1, rng=rng)))
        most = seconds(lambda of=of: next(matchings(of, 1, method="maximum", rng=rng)), 3)
        masked = seconds(lambda by=by: mask_loop(reference, target, by, N_MASKED, rng), 3)
        loop = masked / N_MASKED * len(target)
        print(f"{by:12} {sort:5.2f} s    {one:6.3f} s   {most:5.2f} s  {loop:6.0f} s {loop / one:49,.0f}")
    print("\nCost of one repeat as both sets grow (targets : references = 1 : 10)")
    for n in (12_500, 25_000, 50_000, 100_000, 200_000):
        of = candidates(made(10 * n, rng), made(n, rng), epsilon=EPSILON)
        one = seconds(lambda of=of: next(matchings(of, 1, rng=rng)))
        print(f"{n:8,} : {10 * n:9,}  {one:6.3f} s  {1e9 * one / (11 * n):5.1f} ns a sample")
    print("\nA whole comparison, on either scale, with as many repeats as it takes")
    print("reference x target  by            recalibrated   repeats  as published")
    for n_reference, n_target in ((50_000, 1000), (50_000, 10_000), (10_000, 50_000)):
        reference, target = made(n_reference, rng), made(n_target, rng)
        for by in ("label", "probability"):
            work = partial(compare_sets, reference, target, by=by, rng=rng)
            took, published = (seconds(partial(work, scale=scale), 3) for scale in ("accuracy", "confidence"))
            n = compare_sets(reference, target, by=by, rng=rng).n_repeats
            print(f"{n_reference:8,} x {n_target:7,}  {by:12} {took:10.2f} s {n:9} {published:10.2f} s")
    print("\nLeast total difference, one label, the largest that is solved exactly (10 000 x 10 000)")
    one_label = [
        Outcomes(np.zeros(10_000, dtype=np.int64), o.confidence, o.correct, o.class_names)
        for o in (made(10_000, rng), made(10_000, rng))
    ]
    for epsilon in (0.005, 0.05):
        of = candidates(*one_label, epsilon=epsilon)
        took = seconds(lambda of=of: next(matchings(of, 1, method="maximum", rng=rng)), 3)
        print(f"epsilon {epsilon:<6} {took:5.2f} s  {int((of.last - of.first).sum()):,} candidate pairs")


if __name__ == "__main__":
    main()
