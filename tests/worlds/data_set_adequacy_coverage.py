"""How often does the interval of the next doubling hold the truth, with known sources and real fits?

Sources, samples and ridge fits are those of `source_robustness`, on training parts of four sizes as AdequacyPlan makes
them. The truth is the mean difference, on held-out sources, between twice as many samples of as many sources and the
samples that there are (`GAINS`, from 1,000 data sets or more by `measured_gain`; their standard errors are at most
.0005). `python -m tests.worlds.data_set_adequacy_coverage` prints a row per world.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tests.worlds.measure import is_wrong
from tests.worlds.source_robustness import Sources, splits_of
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, nested_part
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy
from touchstone.core.evaluate.data_set_adequacy.verdict import gain_claim
from touchstone.core.split.scheme import Split
from touchstone.core.trials.run import as_frame, count

POPULATIONS = {
    "8 sources in each of 4 classes": Sources(4, 8, False, 19, apart=3.0, source_sd=1.0, n_repeats=10, n_idle=6),
    "5 sources in each of 4 classes": Sources(4, 5, False, 30, apart=2.5, source_sd=0.6, n_repeats=10, n_idle=6),
    "5 uneven sources in each of 2 classes, strong": Sources(
        2, 5, False, 40, 0.7, apart=2.0, source_sd=1.0, n_repeats=20, n_idle=6
    ),
    "10 sources in each of 2 classes": Sources(2, 10, False, 30, apart=2.0, source_sd=0.6, n_repeats=10, n_idle=20),
    "20 uneven sources in each of 2 classes": Sources(
        2, 20, False, 20, 0.5, apart=2.0, source_sd=0.8, n_repeats=10, n_idle=20
    ),
    "5 shared sources, uneven": Sources(2, 5, True, 50, 0.7, apart=2.0, source_sd=0.8),
    "5 shared sources, 3 repeats": Sources(2, 5, True, 50, apart=2.0, source_sd=0.8, n_repeats=3),
    "10 shared sources": Sources(2, 10, True, 30, apart=2.0, source_sd=0.6, n_repeats=10),
    "20 shared sources, uneven": Sources(4, 20, True, 10, 0.5, apart=2.5, source_sd=0.6, n_repeats=10),
    "5 shared sources, alike": Sources(2, 5, True, 50, n_repeats=10),
    "8 sources in each of 4 classes, 3 repeats": Sources(
        4, 8, False, 19, apart=3.0, source_sd=1.0, n_repeats=3, n_idle=6
    ),
    "8 sources in each of 4 classes, at the ceiling": Sources(
        4, 8, False, 40, apart=5.0, source_sd=0.6, n_repeats=10, n_idle=6
    ),
    "5 shared sources, nothing to learn": Sources(2, 5, True, 50, apart=0.0, source_sd=0.8, n_repeats=10, n_idle=6),
    "10 sources in each of 4 classes, nothing to learn": Sources(
        4, 10, False, 20, apart=0.0, source_sd=0.5, n_repeats=10, n_idle=6
    ),
    "10 sources in each of 4 classes, steep": Sources(
        4, 10, False, 10, apart=2.5, source_sd=0.4, n_repeats=10, n_idle=30
    ),
    "20 sources in each of 2 classes, steep": Sources(
        2, 20, False, 8, apart=2.0, source_sd=0.5, n_repeats=10, n_idle=30
    ),
    "5 shared sources, steep": Sources(2, 5, True, 20, apart=2.0, source_sd=0.5, n_repeats=10, n_idle=20),
    "10 sources in each of 2 classes, one of 80 %": Sources(
        2, 10, False, 20, first_class=4.0, apart=2.0, source_sd=0.6, n_repeats=10, n_idle=10
    ),
    "20 sources in each of 2 classes, one of 90 %, little to learn": Sources(
        2, 20, False, 8, first_class=9.0, apart=1.0, source_sd=0.4, n_repeats=10, n_idle=10
    ),
}

GAINS = {
    "8 sources in each of 4 classes": 0.0029,
    "5 sources in each of 4 classes": 0.0033,
    "5 uneven sources in each of 2 classes, strong": 0.0017,
    "10 sources in each of 2 classes": 0.0041,
    "20 uneven sources in each of 2 classes": 0.0029,
    "5 shared sources, uneven": 0.0014,
    "5 shared sources, 3 repeats": 0.0019,
    "10 shared sources": 0.0022,
    "20 shared sources, uneven": 0.0032,
    "5 shared sources, alike": 0.0031,
    "8 sources in each of 4 classes, 3 repeats": 0.0026,
    "8 sources in each of 4 classes, at the ceiling": 0.0001,
    "5 shared sources, nothing to learn": 0.0,
    "10 sources in each of 4 classes, nothing to learn": 0.0,
    "10 sources in each of 4 classes, steep": 0.0177,
    "20 sources in each of 2 classes, steep": 0.0117,
    "5 shared sources, steep": 0.0123,
    "10 sources in each of 2 classes, one of 80 %": 0.0011,
    "20 sources in each of 2 classes, one of 90 %, little to learn": -0.0001,
}


@dataclass(frozen=True)
class Held:
    """Of one world: data sets, those whose interval held the true gain, and what was decided of it."""

    n: int
    n_held: int
    n_decided: int
    n_wrong: int
    n_contrary: int
    """Data sets on which another seed of the splits decided something else."""
    width: float

    def reaches(self, goal: float) -> bool:
        """Whether the share that held is at least the goal, less two of its standard errors."""
        return self.n_held / self.n >= goal - 2 * np.sqrt(goal * (1 - goal) / self.n)


def coverage(world: Sources, gain: float, n_data_sets: int, *, first_seed: int = 0, n_seeds: int = 1) -> Held:
    """Count over data sets, through the real format and the real functions.

    A true gain of less than half a thousandth is taken for none: whatever is said of its sign is wrong.
    """
    seeds = range(first_seed, first_seed + n_data_sets)
    pairs = [[next_gain(world, seed, 1000 * seed + turn) for turn in range(n_seeds)] for seed in seeds]
    first = [pair[0] for pair in pairs]
    effect = gain if abs(gain) >= 0.0005 else 0.0
    return Held(
        n=n_data_sets,
        n_held=sum(claim.interval.holds(gain) for claim in first),
        n_decided=sum(claim.decided for claim in first),
        n_wrong=sum(is_wrong(claim.decision, effect, claim.smallest) for claim in first),
        n_contrary=sum(len({claim.decision for claim in pair} - {"undecided"}) > 1 for pair in pairs),
        width=float(np.mean([claim.interval.width for claim in first])),
    )


def next_gain(world: Sources, data_seed: int, method_seed: int) -> Claim:
    """What the page would say of the next doubling of one data set."""
    return gain_claim(adequacy_of_world(world, data_seed, method_seed, by_class=False).overall[0])


def adequacy_of_world(world: Sources, data_seed: int, method_seed: int = 1, *, by_class: bool = True) -> Adequacy:
    """What the page would know of one data set; metrics of one class are about the last."""
    x, y, sources = world.data(data_seed)
    n_per_class = {f"class {code}": int(n) for code, n in enumerate(np.bincount(y))}
    rows, last = sized_frame(world, x, y, sources, method_seed), f"class {world.n_classes - 1}"
    return adequacy_of(rows, n_per_class=n_per_class, by_class=by_class, positive=last)


def measured_gain(world: Sources, n_data_sets: int, *, first_seed: int = 50_000) -> tuple[float, float]:
    """What twice as many samples of as many sources bring on held-out ones, over data sets, and its standard error."""
    twice, gains = replace(world, size=2 * world.size), []
    for seed in range(first_seed, first_seed + n_data_sets):
        x, y, sources = twice.data(seed)
        once, right = round(0.4 * len(y)), {}
        for _, _, size, split, predicted in predicted_by_size(
            twice, x, y, sources, (once, ALL), ("source_exclusive",), seed
        ):
            right.setdefault(size, []).append(np.mean(predicted == y[split.test]))
        gains.append(np.mean(right[ALL]) - np.mean(right[once]))
    return float(np.mean(gains)), float(np.std(gains, ddof=1) / np.sqrt(n_data_sets))


def predicted_by_size(
    world: Sources,
    x: np.ndarray,
    y: np.ndarray,
    sources: np.ndarray,
    sizes: tuple[int, ...],
    schemes: tuple[str, ...],
    seed: int,
) -> Iterator[tuple[str, int, int, Split, np.ndarray]]:
    z, target = np.column_stack([np.ones(len(y)), x[:, 0]]), np.eye(world.n_classes)[y]
    penalty = world.penalty * np.diag([1e-6] + [1.0] * (z.shape[1] - 1))
    splits = splits_of(world.n_repeats, seed, y, sources)
    for scheme in schemes:
        for repeat, (train, test) in enumerate(splits[scheme]):
            for size in sizes:
                rng = np.random.default_rng([seed, *scheme.encode(), repeat])
                part = train if size == ALL else nested_part(train, y, size, rng=rng)
                known = z[part]
                weights = np.linalg.solve(known.T @ known + penalty, known.T @ target[part])
                yield scheme, repeat, size, Split(part, test), (z[test] @ weights).argmax(axis=1)


def sized_frame(world: Sources, x: np.ndarray, y: np.ndarray, sources: np.ndarray, seed: int) -> pd.DataFrame:
    usual, parts = round(0.8 * len(y)), []
    sizes = (usual // 8, usual // 4, usual // 2, ALL)
    schemes = ("source_exclusive", "source_inclusive")
    for scheme, repeat, size, (train, test), predicted in predicted_by_size(world, x, y, sources, sizes, schemes, seed):
        counts = count(y[test], predicted, sources[test], world.n_classes)
        same = {"scheme": scheme, "repeat": repeat, "size": size, "n_train": len(train), "n_test": len(test)}
        n_rows = len(counts["label"])
        n_label_train = np.bincount(y[train], minlength=world.n_classes)[counts["label"]]
        parts.append(
            counts | {name: np.full(n_rows, value) for name, value in same.items()} | {"n_label_train": n_label_train}
        )
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    label = np.append([f"class {code}" for code in range(world.n_classes)], None)[rows["label"]]
    source = np.append(np.arange(sources.max() + 1).astype(str).astype(object), None)[rows["source"]]
    held_out = np.where(rows["scheme"] == "source_exclusive", source, None)
    same = {"model": "ridge", "source_finder": "known", "clustering": 0, "seconds": 0.0, "status": "ok"}
    more = {name: pd.array(rows.pop(name), dtype="Int64") for name in ("size", "n_label_train")}
    rows |= {"label": label, "source": source, "held_out_source": held_out}
    return as_frame(rows | {name: np.full(len(label), value, dtype=object) for name, value in same.items()}).assign(
        **more
    )


def main() -> None:
    """Print a row per world."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=7000)
    parser.add_argument("--worlds", nargs="*", default=list(POPULATIONS), choices=list(POPULATIONS))
    given = parser.parse_args()
    print("| world | true gain | held (%) | decided (%) | wrong (%) | seeds disagree (%) | width |\n|" + "---|" * 7)
    for name in given.worlds:
        held = coverage(POPULATIONS[name], GAINS[name], given.data_sets, first_seed=given.first_seed, n_seeds=2)
        shares = [100 * n / held.n for n in (held.n_held, held.n_decided, held.n_wrong, held.n_contrary)]
        cells = [f"{share:.1f}" for share in shares]
        print(f"| {name} | {GAINS[name]:.4f} | {' | '.join(cells)} | {held.width:.4f} |", flush=True)


if __name__ == "__main__":
    main()
