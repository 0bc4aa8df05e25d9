"""What do test-set quality and guided generation cost? 10,000 test samples of 10 classes in 512 features.

Prints a table; asserts nothing. Seconds are of the clock and of the processors. Goals: the four dimensions in 2 s,
10,000 generated features of one mix in 10 s. Features and head are like those of VGG-19's last hidden layer.
"""

import os
import platform
import time
from datetime import date

import numpy as np

from touchstone.core.evaluate.covariate_shift import class_parts, shift_of
from touchstone.core.evaluate.guided_tests.generate import generate_tests, start
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.models.layers import LayerSamples

N_TRAIN, N_TEST, N_CLASSES, N_FEATURES = 50_000, 10_000, 10, 512
N_PER_CLASS = 1000
SPREAD = 3.0  # of each class, as wide as makes some samples weak
MEANS = np.abs(np.random.default_rng(0).normal(size=(N_CLASSES, N_FEATURES))).astype(np.float32)


def head(features):
    """A linear step and a softmax."""
    logits = (features @ MEANS.T - np.square(MEANS).sum(axis=1) / 2).astype(np.float64) / SPREAD**2
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def clouds(n, *, seed):
    """Features behind a ReLU: a cloud for each class."""
    y = np.arange(n) % N_CLASSES
    noise = SPREAD * np.random.default_rng(seed).standard_normal((n, N_FEATURES), dtype=np.float32)
    features = np.maximum(MEANS[y] + noise, 0)
    return LayerSamples(features, y, head(features), tuple(str(label) for label in range(N_CLASSES)))


def timed(what, goal, work):
    begin, used = time.perf_counter(), time.process_time()
    made = work()
    took, used = time.perf_counter() - begin, time.process_time() - used
    print(f"{what:58} {took:8.2f} s {used:8.2f} s of processor   {goal}", flush=True)
    return made


def main() -> None:
    print(f"# Test-set quality, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"Load {os.getloadavg()[0]:.1f}; {N_TRAIN:,} training and {N_TEST:,} test samples, {N_FEATURES} features\n")
    train, test = clouds(N_TRAIN, seed=1), clouds(N_TEST, seed=2)
    print(f"The head is right about {100 * (test.predicted == test.labels).mean():.1f} % of the test samples")
    regions = timed("regions from the training samples", "", lambda: fit_regions(train))
    rng = np.random.default_rng(0)
    timed(
        "four dimensions, all comparisons and intervals",
        "goal 2 s",
        lambda: measure_quality(train, test, regions=regions, rng=rng),
    )
    made = start(regions, head, train=train, test=test)
    for share in (0.0, 0.5, 1.0):
        what = f"{N_CLASSES * N_PER_CLASS:,} guided features, {share:.0%} near centroids"
        tests = timed(
            what, "goal 10 s", lambda share=share: generate_tests(made, N_PER_CLASS, centroid_share=share, seed=0)
        )
        print(f"{'':58} {len(tests):8,} placed, {tests.n_unplaced:,} not")
    own, other = train.features[train.labels == 0], test.features[test.labels == 0]
    parts = timed("covariate shift of a class: both parts brought together", "", lambda: class_parts(own, other))
    timed("covariate shift of a class: one piece of 100", "", lambda: shift_of(parts, resplit=0, seed=0))


if __name__ == "__main__":
    main()
