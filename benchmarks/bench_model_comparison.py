"""How fast are models compared on the same samples, and do peers tell the same? Twenty models, and one pair in detail.

Twenty models on 100,000 samples, all pairs, from predictions to the answer: time and memory. One pair of 10,000
samples by accuracy and by the Brier score: beside evalconfidence (where benchmarks/requirements.txt is installed) and
a bootstrap of 10,000 resamples, each with its interval and its time as a ratio to ours, the best of three.
"""

import argparse
import platform
import resource
import time
from collections.abc import Callable
from datetime import date
from importlib.util import find_spec
from typing import TypeVar

import numpy as np

from touchstone.core.data import Predictions
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.model_comparison import compare_paired, difference, models_on_samples
from touchstone.core.report.model_comparison import answer

Made = TypeVar("Made")
N_RESAMPLES = 10_000
GIGABYTE = 1e6  # of kilobytes, in which the system tells memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    print(f"{date.today()}, {platform.machine()}.\n")
    of_many()
    of_one_pair()


def files(n: int, n_models: int, n_classes: int = 10) -> dict[str, Predictions]:
    """Models that find the same samples hard, each a little worse than the one before; with probabilities."""
    rng = np.random.default_rng(0)
    y, hard, made = rng.integers(0, n_classes, n), rng.random(n), {}
    ids, names = [f"sample {row}" for row in range(n)], [str(label) for label in range(n_classes)]
    for place in range(n_models):
        wrong = 0.6 * hard + 0.4 * rng.random(n) < 0.2 + 0.004 * place
        said = np.where(wrong, (y + 1) % n_classes, y)
        proba = None
        if n_models == 2:
            sure = rng.uniform(0.5, 1, n)
            proba = np.repeat(((1 - sure) / (n_classes - 1))[:, None], n_classes, axis=1)
            proba[np.arange(n), said] = sure
        made[f"model {place}"] = Predictions(ids, y, said, names, proba=proba)
    return made


def of_many() -> None:
    given = files(100_000, 20)
    start = time.perf_counter()
    made = answer(compare_paired(models_on_samples(given)))
    for section in made.sections:
        _ = section.parts
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIGABYTE
    print(f"20 models on 100,000 samples, 190 pairs: {seconds:.1f} s, {used:.2f} GB at most.\n")


def of_one_pair() -> None:
    models = models_on_samples(files(10_000, 2))
    print("| metric | by | difference, points | interval | time, ours = 1 |\n|---|---|---|---|---|")
    for name in ("accuracy", "brier_score"):
        metric = METRICS[name]
        ours, seconds = timed(lambda metric=metric: difference(models, metric, "model 1", "model 0"))
        own, its = worth(models, name)
        rows = [("ours", ours.value, ours.interval, seconds)]
        if find_spec("evalconfidence"):
            (value, interval), spent = timed(lambda own=own, its=its: by_peer(own, its))
            rows.append(("evalconfidence", value, interval, spent))
        (value, interval), spent = timed(lambda own=own, its=its: by_bootstrap(own, its))
        rows.append((f"bootstrap, {N_RESAMPLES:,}", value, interval, spent))
        for by, value, interval, spent in rows:
            ends = f"[{100 * interval.lower:.3f}, {100 * interval.upper:.3f}]"
            print(f"| {metric.title} | {by} | {100 * value:.3f} | {ends} | {spent / seconds:.1f} |")


def worth(models, name: str) -> tuple[np.ndarray, np.ndarray]:
    """What each sample is worth to the new and to the old model: larger is better."""
    metric = METRICS[name]
    if metric.of_samples is None:
        return tuple(models.correct[model].astype(float) for model in ("model 1", "model 0"))
    return tuple(-metric.of_samples(models.scored[model]) for model in ("model 1", "model 0"))


def by_peer(own: np.ndarray, its: np.ndarray) -> tuple[float, Interval]:
    from evalconfidence import compare, from_dataframe
    from pandas import DataFrame

    ids = np.arange(len(own)).astype(str)
    sides = [DataFrame({"item": ids, "model": name, "score": each}) for name, each in (("new", own), ("old", its))]
    results = [from_dataframe(side, item_id="item", model_id="model", score="score") for side in sides]
    found = compare(*results)
    return found.diff, Interval(*found.ci_diff)


def by_bootstrap(own: np.ndarray, its: np.ndarray) -> tuple[float, Interval]:
    apart, rng = own - its, np.random.default_rng(0)
    means = [apart[rng.integers(0, len(apart), len(apart))].mean() for _ in range(N_RESAMPLES)]
    return float(apart.mean()), Interval(*np.quantile(means, [0.025, 0.975]).tolist())


def timed(made: Callable[[], Made], times: int = 3) -> tuple[Made, float]:
    """What it makes, and the shortest of three times."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        result = made()
        spent.append(time.perf_counter() - start)
    return result, min(spent)


if __name__ == "__main__":
    main()
