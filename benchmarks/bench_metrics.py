"""Do intervals of metrics hold the truth? By metric: how often, how often one is given, and how wide it is.

Test sets are drawn at random: from worlds of normal scores (of two and ten classes, even or with one class of 5 %,
independent or by 20 units that share a style), whose truth is that of 400,000 samples; and with replacement from what a
logistic regression says of real samples that it was not trained on, whose truth is that of all of them.
`--only roc_auc f1` for some metrics, `--sets 50` for a first look. Prints the tables of docs/measured/metrics.md.

`--on-sources` asks the same of metrics on held-out sources, and how often a fall is said where sources are alike; the
truth is the mean over as many other data sets. `--gains` counts how often more samples are said to help. `--rivals`
lays the intervals of two classes and independent samples beside the best that are known: Wilson's of shares, and
DeLong's of areas.
"""

import argparse
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from tests.evaluate.test_metrics import delong
from tests.worlds.data_set_adequacy_coverage import POPULATIONS as POPULATIONS_OF_GAINS
from tests.worlds.data_set_adequacy_coverage import adequacy_of_world
from tests.worlds.source_robustness import Sources
from touchstone.core.evaluate.data_set_adequacy.verdict import gain_claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.metric_estimates import FEWEST_OF_CLASS, estimate
from touchstone.core.evaluate.metric_functions import Scored
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.by_metric import metrics_on_sources
from touchstone.core.evaluate.units import EACH_SAMPLE, Design

SIZES = (50, 200, 1000, 5000)
N_UNITS, STYLE = 20, 0.5
Draw = Callable[[np.random.Generator, int], tuple[Scored, Design]]


@dataclass
class Row:
    """Of one metric in one world at one size: sets with an interval, of these those that hold the truth, widths.

    Of the sets in which each class that it reads has 20 samples, those with an interval are counted by themselves.
    """

    n_sets: int = 0
    n_enough: int = 0
    n_given: int = 0
    n_known: int = 0
    n_held: int = 0
    widths: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", nargs="+", default=list(METRICS))
    parser.add_argument("--on-sources", action="store_true")
    parser.add_argument("--gains", action="store_true")
    parser.add_argument("--rivals", action="store_true")
    chosen = parser.parse_args()
    if chosen.gains:
        gains(chosen.sets)
        return
    if chosen.on_sources or chosen.rivals:
        on_sources(chosen.sets) if chosen.on_sources else rivals(chosen.sets, chosen.sizes)
        return
    rows: dict[tuple[str, str, int], Row] = {}
    for world, whole, draw in worlds():
        truth = {name: METRICS[name].value(whole) for name in chosen.only}
        for n in chosen.sizes:
            for i in range(chosen.sets):
                scored, design = draw(np.random.default_rng([i, n]), n)
                for name in chosen.only:
                    _count(rows.setdefault((name, world, n), Row()), name, scored, design, truth[name])
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores; {chosen.sets} sets a row.\n")
    print("| metric | rows | held (all) | held (least) | below 93 % less 2 SE | given | mean width at 200, 1000 |")
    print("|---|---|---|---|---|---|---|")
    for name in chosen.only:
        print(_line(name, [(key, row) for key, row in rows.items() if key[0] == name]))
    print("\nRows below, worst first:")
    low = [(row.n_held / row.n_known, key, row) for key, row in rows.items() if _is_low(row)]
    for share, (name, world, n), row in sorted(low, key=lambda each: each[0]):
        print(f"- {METRICS[name].title}, {world}, n = {n}: {100 * share:.1f} % of {row.n_known}")


def by_delong(scored: Scored) -> Interval:
    """The area's, plain."""
    assert scored.proba is not None
    area, se = delong(scored.y_true == scored.positive, scored.proba[:, scored.positive])
    return Interval(area - 1.96 * se, area + 1.96 * se)


def by_wilson(name: str) -> Callable[[Scored], Interval]:
    """A share's, by scipy."""

    def interval(scored: Scored) -> Interval:
        share = METRICS[name].share
        assert share is not None
        rows, counted = share(scored)
        made = binomtest(int(counted[rows].sum()), int(rows.sum())).proportion_ci(method="wilson")
        return Interval(float(made.low), float(made.high))

    return interval


SHARES = ("accuracy", "recall", "specificity", "precision", "negative_predictive_value")
RIVALS: dict[str, Callable[[Scored], Interval]] = {name: by_wilson(name) for name in SHARES} | {"roc_auc": by_delong}


def rivals(n_sets: int, sizes: Sequence[int]) -> None:
    """By metric and size: how often both intervals hold the truth where ours is given, and their mean widths."""
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores; {n_sets} sets a world.\n")
    print("| metric | n | sets | ours held | width | best known held | width |")
    print("|---|---|---|---|---|---|---|")
    alike = [each for each in worlds() if "10" not in each[0] and "units" not in each[0] and "digits" not in each[0]]
    for name, rival in RIVALS.items():
        for n in sizes:
            both: list[tuple[bool, float, bool, float]] = []
            for _, whole, draw in alike:
                truth = METRICS[name].value(whole)
                for i in range(n_sets):
                    scored, design = draw(np.random.default_rng([i, n]), n)
                    own = estimate(METRICS[name], scored, design).interval
                    if own.known:
                        other = rival(scored)
                        both.append((own.holds(truth), own.width, other.holds(truth), other.width))
            shown = np.mean(both, axis=0) if both else np.full(4, np.nan)
            cells = [METRICS[name].title, n, len(both), f"{100 * shown[0]:.1f} %", f"{shown[1]:.4f}"]
            print(f"| {' | '.join(map(str, [*cells, f'{100 * shown[2]:.1f} %', f'{shown[3]:.4f}']))} |", flush=True)


POPULATIONS = {
    "two classes, sources alike": Sources(2, 10, size=20, n_repeats=10),
    "two classes, 75 %, sources alike": Sources(2, 10, size=20, first_class=3.0, n_repeats=10),
    "two classes, 86 %, sources alike": Sources(2, 10, size=20, first_class=6.0, apart=2.2, n_repeats=10),
    "sources within classes, 75 %, alike": Sources(2, 8, shared=False, size=20, first_class=3.0, n_repeats=10),
    "two classes, 75 %, sources differ": Sources(2, 10, size=20, first_class=3.0, source_sd=0.6, n_repeats=10),
    "sources within classes, they differ": Sources(2, 8, shared=False, size=12, source_sd=0.8, apart=2.0, n_repeats=10),
    "four classes, sources within classes, they differ": Sources(
        4, 8, shared=False, size=20, apart=2.5, source_sd=0.6, n_repeats=10
    ),
}
"""Populations of sources: in the first four a fall is said by mistake."""


def on_sources(n: int) -> None:
    """By population: falls said of accuracy and of each metric, and how often intervals held the truth."""
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores; {n} data sets a row.\n")
    print("| population | fall of accuracy said | of other metrics (least, most) | held, held out | held, seen |")
    print("|---|---|---|---|---|")
    for name, population in POPULATIONS.items():
        drawn = [population.trials(1000 + i, i) for i in range(2 * n)]
        known = [{each.metric: each for each in metrics_on_sources(trials)} for trials in drawn]
        own = [expected_accuracy_intervals(trials).overall[0].falls.decision for trials in drawn[:n]]
        falls, held = [], {"exclusive": [], "inclusive": []}
        for metric in known[0]:
            falls.append(sum(each[metric].falls.decision in ("above", "below") for each in known[:n]))
            for end, shares in held.items():
                truth = np.mean([getattr(each[metric], end).value for each in known[n:]])
                within = [getattr(each[metric], end).over_sources.holds(float(truth)) for each in known[:n]]
                shares.append(100 * float(np.mean(within)))
        said = sum(decision in ("above", "below") for decision in own)
        cells = [f"{min(shares):.1f} to {max(shares):.1f} %" for shares in held.values()]
        print(f"| {name} | {said} | {min(falls)}, {max(falls)} | {cells[0]} | {cells[1]} |", flush=True)


LEVEL = {"shared": False, "n_repeats": 10, "n_idle": 2}
GAINS = {
    "sources alike, nothing to gain": Sources(2, 10, size=40, apart=2.0, **LEVEL),
    "the same, 52 %": Sources(2, 10, size=40, first_class=1.1, apart=2.0, **LEVEL),
    "sources differ, nothing to gain": Sources(2, 10, size=40, apart=2.0, source_sd=0.6, **LEVEL),
    "nothing to learn": Sources(2, 10, size=40, apart=0.0, **LEVEL),
    "four classes alike, nothing to gain": Sources(4, 8, size=30, apart=2.5, **LEVEL),
    "80 %, nothing to gain": Sources(2, 10, size=20, first_class=4.0, apart=2.0, source_sd=0.6, **LEVEL),
    "80 %, nothing to learn": Sources(2, 10, size=20, first_class=4.0, apart=0.0, **LEVEL),
    "1.1 points to gain": POPULATIONS_OF_GAINS["20 sources in each of 2 classes, steep"],
}
"""Populations of sources: in all but the last a gain is said by mistake."""


def gains(n: int) -> None:
    """By population: how often more samples are said to help, and how many of the metrics show a gain."""
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores; {n} data sets a row.\n")
    print("| population | more samples help, by accuracy | by other metrics (least, most) | show a gain |")
    print("|---|---|---|---|")
    for name, population in GAINS.items():
        made = [adequacy_of_world(population, i, by_class=False) for i in range(n)]
        metrics = [curve.words.metric.name for curve in made[0].by_metric]
        curves = {metric: [found.by(metric, found.overall[0]) for found in made] for metric in ("accuracy", *metrics)}
        own, *others = [sum(gain_claim(curve).decision == "above" for curve in each) for each in curves.values()]
        shown = [all(curve.is_comparable for curve in curves[metric]) for metric in metrics]
        print(f"| {name} | {own} | {min(others)}, {max(others)} | {sum(shown)} of {len(metrics)} |", flush=True)


def _count(row: Row, name: str, scored: Scored, design: Design, truth: float) -> None:
    metric, own = METRICS[name], scored.counts.true
    interval = estimate(metric, scored, design).interval
    classes = own if not metric.of_class else np.array([own[scored.positive], scored.n - own[scored.positive]])
    enough = not metric.reads_classes or classes.min() >= FEWEST_OF_CLASS
    row.n_sets += 1
    row.n_enough += enough
    row.n_given += enough and interval.known
    if interval.known:
        row.n_known += 1
        row.n_held += interval.holds(truth)
        row.widths.append(interval.width)


def _is_low(row: Row) -> bool:
    """Of rows in which at least one set of ten has an interval."""
    n = row.n_known
    return n >= max(row.n_sets / 10, 20) and row.n_held / n < 0.93 - 2 * np.sqrt(0.93 * 0.07 / n)


def _line(name: str, rows: list[tuple[tuple[str, str, int], Row]]) -> str:
    some = [row for _, row in rows if row.n_known >= max(row.n_sets / 10, 20)]
    held, known = sum(row.n_held for row in some), sum(row.n_known for row in some)
    least = min((row.n_held / row.n_known for row in some), default=float("nan"))
    widths = [
        f"{np.mean([width for (_, _, size), row in rows if size == n for width in row.widths] or [np.nan]):.3f}"
        for n in (200, 1000)
    ]
    given = sum(row.n_given for _, row in rows) / max(sum(row.n_enough for _, row in rows), 1)
    cells = [METRICS[name].title, len(some), f"{100 * held / max(known, 1):.1f} %", f"{100 * least:.1f} %"]
    return f"| {' | '.join(map(str, [*cells, sum(map(_is_low, some)), f'{100 * given:.0f} %', ', '.join(widths)]))} |"


def worlds() -> Iterator[tuple[str, Scored, Draw]]:
    """The name of each world, all of it (or enough to know the truth), and how sets are drawn from it."""
    for n_classes in (2, 10):
        for rare in (False, True):
            for strength in (1.5, 3.5):
                for n_units in (0, N_UNITS):
                    name = f"{n_classes} classes{', one 5 %' * rare}, strength {strength}{', 20 units' * bool(n_units)}"
                    yield name, *_normal(n_classes, rare, strength, n_units)
    for name, load in (("breast cancer", load_breast_cancer), ("digits", load_digits)):
        for rare in (False, True):
            yield f"{name}{', one class 5 %' * rare}", *_real(load, rare)


def _normal(n_classes: int, rare: bool, strength: float, n_units: int) -> tuple[Scored, Draw]:
    prior = np.full(n_classes, 1 / n_classes)
    if rare:
        prior = np.append(np.full(n_classes - 1, 0.95 / (n_classes - 1)), 0.05)

    def made(rng: np.random.Generator, n: int, n_styles: int) -> tuple[Scored, np.ndarray]:
        y, unit = rng.choice(n_classes, size=n, p=prior), np.arange(n) % max(n_styles, 1)
        score = rng.normal(size=(n, n_classes)) + strength * np.eye(n_classes)[y]
        if n_styles:
            score += STYLE * rng.normal(size=(n_styles, n_classes))[unit]
        logits = 1.5 * score + np.log(prior)  # overconfident, as networks are
        proba = np.exp(logits - logits.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        return Scored(y, proba.argmax(axis=1), n_classes, proba, n_classes - 1), unit

    def draw(rng: np.random.Generator, n: int) -> tuple[Scored, Design]:
        scored, unit = made(rng, n, n_units)
        return scored, Design(unit, "author") if n_units else EACH_SAMPLE

    return made(np.random.default_rng(1), 400_000, 40_000 if n_units else 0)[0], draw


def _real(load: Callable, rare: bool) -> tuple[Scored, Draw]:
    x, y = load(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, train_size=0.15, random_state=0, stratify=y)
    centre, scale = x_train.mean(axis=0), x_train.std(axis=0) + 1e-9
    model = LogisticRegression(max_iter=5000).fit((x_train - centre) / scale, y_train)
    proba, n_classes = model.predict_proba((x_test - centre) / scale), len(model.classes_)
    share = np.full(n_classes, 1 / n_classes)
    if rare:
        share = np.append(np.full(n_classes - 1, 0.95 / (n_classes - 1)), 0.05)
    weight = (share / np.bincount(y_test))[y_test]
    rows = np.random.default_rng(2).choice(len(y_test), size=400_000, p=weight)

    def taken(rows: np.ndarray) -> Scored:
        return Scored(y_test[rows], proba[rows].argmax(axis=1), n_classes, proba[rows], n_classes - 1)

    def draw(rng: np.random.Generator, n: int) -> tuple[Scored, Design]:
        return taken(rng.choice(len(y_test), size=n, p=weight)), EACH_SAMPLE

    return taken(rows), draw


if __name__ == "__main__":
    main()
