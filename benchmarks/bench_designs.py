"""In how many data sets is any sentence of a verdict false, whatever the design? With power beside it.

The designs of two sets are those of tests/worlds/designs.py: authors of many texts, networks that are too sure, many
classes, many models; those of runs are of tests/worlds/units.py; sources that differ are asked with ten seeds.
`--data-sets N` of each (120); `--only TEXT` of those whose name holds it; `--seeds N` compares the words of so many
seeds of the method on forty pairs of files; `--write` puts the tables into docs/measured/verdicts.md.
"""

import argparse
import os
import platform
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

from tests.worlds import units
from tests.worlds.designs import NULLS, POWER, claims_of
from tests.worlds.source_robustness import Sources
from touchstone.core.evaluate.wording import count

DOC = Path(__file__).resolve().parent.parent / "docs" / "measured" / "verdicts.md"
FIRST_SEED = 1000
PARTS = ("designs", "power", "runs", "sources")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=120)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    print(f"# Designs, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        if asked.seeds:
            seeds(asked, pool)
            return
        tell = {"designs": tables, "power": power, "runs": runs, "sources": sources}
        said = {part: tell[part](asked, pool) for part in asked.parts}
    if asked.write:
        text = DOC.read_text(encoding="utf-8")
        for part, table in said.items():
            between = re.compile(rf"(?<=<!-- {part} -->\n).*?(?=<!-- end of {part} -->)", re.DOTALL)
            text = between.sub(lambda _, table=table: table, text)
        DOC.write_text(text, encoding="utf-8")


def tables(asked: argparse.Namespace, pool: ProcessPoolExecutor) -> str:
    rows, total, n = [], 0, asked.data_sets
    chosen = [i for i, design in enumerate(NULLS) if asked.only in design.name]
    _say(rows, f"| design | any false sentence, of {n} | by kind |")
    _say(rows, "|---|---|---|")
    numbers = range(FIRST_SEED, FIRST_SEED + n)
    for i in chosen:
        wrong = list(pool.map(partial(_wrong, i), numbers, chunksize=4))
        n_wrong, kinds = sum(map(bool, wrong)), Counter(name.split()[0] for each in wrong for name in set(each))
        total += n_wrong
        _say(rows, f"| {NULLS[i].name} | {n_wrong} | {', '.join(f'{name} {k}' for name, k in kinds.items())} |")
    if chosen:
        of = n * len(chosen)
        most = 0.05 * of + 2 * (0.05 * 0.95 * of) ** 0.5
        _say(rows, f"| all | {count(total)} of {count(of)}; 5 % and two standard errors are {most:.0f} | |")
    return "\n".join([*rows, ""])


def power(asked: argparse.Namespace, pool: ProcessPoolExecutor) -> str:
    rows, n = [], asked.data_sets
    _say(
        rows,
        f"| design | fall found, of {n} | by a test of it alone | gap at equal confidence | by a test of it alone |",
    )
    _say(rows, "|---|---|---|---|---|")
    for i in (i for i, design in enumerate(POWER) if asked.only in design.name):
        found = list(pool.map(partial(_found, i), range(FIRST_SEED, FIRST_SEED + n), chunksize=4))
        n_of = [sum(each[name] for each in found) for name in ("falls", "falls alone", "residual", "residual alone")]
        _say(rows, f"| {POWER[i].name} | {' | '.join(map(str, n_of))} |")
    return "\n".join([*rows, ""])


def runs(asked: argparse.Namespace, pool: ProcessPoolExecutor) -> str:
    """The same of the other questions, beside what they would say if nobody told them of units."""
    rows, n, totals = [], asked.data_sets, Counter()
    _say(rows, f"| design | any false sentence, of {n} | units not known | by kind |")
    _say(rows, "|---|---|---|---|")
    numbers = range(FIRST_SEED, FIRST_SEED + n)
    chosen = [i for i, design in enumerate(units.NULLS) if asked.only in design.name]
    for i in chosen:
        of_units = units.NULLS[i].per_unit > 1
        wrong = list(pool.map(partial(_wrong_of_run, i, True), numbers, chunksize=4))
        blind = list(pool.map(partial(_wrong_of_run, i, False), numbers, chunksize=4)) if of_units else []
        n_wrong, n_blind = (sum(map(bool, each)) for each in (wrong, blind))
        kinds = Counter(name.replace("_", " ") for each in wrong for name in set(each))
        by_kind = ", ".join(f"{name} {k}" for name, k in kinds.most_common())
        totals += Counter(known=n_wrong, blind=n_blind, n_blind=n * of_units)
        _say(rows, f"| {units.NULLS[i].name} | {n_wrong} | {n_blind if of_units else ''} | {by_kind} |")
    if chosen:
        of = n * len(chosen)
        most = 0.05 * of + 2 * (0.05 * 0.95 * of) ** 0.5
        known = f"{count(totals['known'])} of {count(of)}; 5 % and two standard errors are {most:.0f}"
        _say(rows, f"| all | {known} | {count(totals['blind'])} of {count(totals['n_blind'])} | |")
    return "\n".join([*rows, ""])


SOURCES = {
    "10 shared sources, sd .4": Sources(source_sd=0.4),
    "10 shared sources, sd .6": Sources(source_sd=0.6),
    "10 shared sources, sd 1": Sources(source_sd=1.0),
    "8 sources in each of 4 classes, sd .6": Sources(4, 8, shared=False, size=20, apart=2.5, source_sd=0.6),
    "8 sources in each of 4 classes, sd 1": Sources(4, 8, shared=False, size=20, apart=2.5, source_sd=1.0),
    "10 shared sources, alike": Sources(),
}
N_OF_SOURCES, N_SEEDS = 16, 10


def sources(asked: argparse.Namespace, pool: ProcessPoolExecutor) -> str:
    """Do ten seeds of the splits decide the same of accuracy on held-out sources? Sixteen data sets of each world."""
    rows, n = [], N_OF_SOURCES * N_SEEDS
    _say(rows, f"| world | accuracy is said to fall, of {n} | decided as most seeds of the data set do |")
    _say(rows, "|---|---|---|")
    for name in (name for name in SOURCES if asked.only in name):
        keys = [(data_set, seed) for data_set in range(N_OF_SOURCES) for seed in range(N_SEEDS)]
        said = list(pool.map(partial(_falls, name), keys, chunksize=10))
        of_sets = [Counter(said[at : at + N_SEEDS]) for at in range(0, n, N_SEEDS)]
        alike = sum(decided.most_common(1)[0][1] for decided in of_sets)
        _say(rows, f"| {name} | {sum(decided['above'] for decided in of_sets)} | {alike} |")
    return "\n".join([*rows, ""])


def _falls(name: str, key: tuple[int, int]) -> str:
    data_set, seed = key
    return SOURCES[name].intervals(data_set, 1000 * data_set + seed)[0].overall[0].falls.decision


def seeds(asked: argparse.Namespace, pool: ProcessPoolExecutor) -> None:
    """The same files with other seeds of the method: how often two of them use the same words."""
    designs = [i for i, design in enumerate((*NULLS, *POWER)) if "classes" not in design.name]
    files = [(i, FIRST_SEED + seed) for seed in range(-(-40 // len(designs))) for i in designs][:40]
    same, contrary, pairs = 0, 0, 0
    for said in pool.map(partial(_words, asked.seeds), files):
        for one, other in combinations(said, 2):
            pairs += 1
            same += one == other
            contrary += any({one[name], other.get(name)} >= {"above", "below"} for name in one)
    print(f"{len(files)} pairs of files, {asked.seeds} seeds: the same words in {100 * same / pairs:.1f} % of {pairs}")
    print(f"contrary words in {contrary}")


def _words(n_seeds: int, file: tuple[int, int]) -> list[dict[str, str]]:
    i, seed = file
    said = []
    for method in range(n_seeds):
        compared, _ = (*NULLS, *POWER)[i].compared(seed, method)
        decided: dict[str, str] = {}
        for row in compared.rows:
            for number, (name, claim) in enumerate(claims_of(row)):
                decided[f"{row.model} {number} {name}"] = claim.decision
        said.append(decided)
    return said


def _wrong(i: int, seed: int) -> list[str]:
    return NULLS[i].wrong(seed)


def _wrong_of_run(i: int, known: bool, seed: int) -> list[str]:
    return replace(units.NULLS[i], known=known).wrong(seed)


def _found(i: int, seed: int) -> dict[str, bool]:
    return POWER[i].found(seed)


def _say(rows: list[str], line: str) -> None:
    rows.append(line)
    print(line, flush=True)


if __name__ == "__main__":
    main()
