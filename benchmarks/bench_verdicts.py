"""How often are sentences wrong? Every kind of claim in simulated worlds with known truth, through the real code.

Prints a table; asserts nothing. `--data-sets N` judges so many data sets of each world (200), each with two seeds of
the method; they are others than those that tests draw (`--first-seed`, 1,000). `--only TEXT` judges the worlds whose
question, name or kinds of claim hold the text; `--processes N` side by side (all processors). `--write` puts the table
into docs/measured/verdicts.md and core/evaluate/claim_error_rates.json, from where pages read it, and writes
docs/claims.md anew; with `--only`, the rows of other worlds are kept.
"""

import argparse
import os
import platform
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

from tests.worlds.every import every_world
from tests.worlds.measure import measure
from tests.worlds.world import World
from touchstone.core.evaluate.claim_error_rates import FILE, Rate, rates, reference, written
from touchstone.core.evaluate.intervals import wilson

DOC = Path(__file__).resolve().parent.parent / "docs" / "measured" / "verdicts.md"
HEAD = (
    "| claim | world | true effect | data sets | wrong (%) | said and right (%) | best test (%) | seeds disagree (%) "
    "| one seed undecided (%) |"
)
_TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)


def main() -> None:
    arguments = _arguments()
    worlds = [world for world in every_world() if _asked_for(world, arguments.only)]
    chosen = {(world.question, world.name) for world in worlds}
    print(f"# Verdicts, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(HEAD + "\n" + "|---" * HEAD.count(" |") + "|")
    measured: list[Rate] = []
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("spawn")) as pool:
        for rows in pool.map(partial(_measured, arguments), range(len(list(every_world())))):
            measured += rows
            for rate in rows:
                print(line(rate), flush=True)
    if arguments.write:
        kept = [rate for rate in rates() if (_question(rate), rate.world) not in chosen]
        every = tuple(sorted([*kept, *measured], key=lambda rate: (rate.kind.partition(".")[0], rate.kind)))
        FILE.write_text(written(every), encoding="utf-8")
        DOC.write_text(_TABLE.sub(lambda _: table(every), DOC.read_text(encoding="utf-8")), encoding="utf-8")
        rates.cache_clear()
        (DOC.parent.parent / "claims.md").write_text(reference(), encoding="utf-8")


def _measured(arguments: argparse.Namespace, number: int) -> list[Rate]:
    """Worlds hold functions, which do not travel: each process finds its own by number."""
    world = list(every_world())[number]
    if not _asked_for(world, arguments.only):
        return []
    return [
        Rate(
            row.kind,
            world.name,
            row.effect,
            row.n,
            row.n_wrong,
            row.n_right,
            row.n_best,
            row.n_contrary,
            row.n_unsteady,
            world.reported,
        )
        for row in measure(world, arguments.data_sets, first_seed=arguments.first_seed)
    ]


def _asked_for(world: World, text: str) -> bool:
    return text in f"{world.question} {world.name} {' '.join(world.effects)}"


def table(measured: Sequence[Rate]) -> str:
    """The Markdown tables, one for each question: a row for each world, a column for each kind of claim.

    The last row is how often one seed of the method decides and the other does not, on average and at most.
    """
    return "".join(f"\n### {question}\n\n" + _worlds(list(rows)) for question, rows in _by_question(measured))


def _worlds(rows: Sequence[Rate]) -> str:
    kinds = list(dict.fromkeys(rate.kind for rate in rows))
    by_world: dict[str, dict[str, Rate]] = {}
    for rate in rows:
        by_world.setdefault(rate.world, {})[rate.kind] = rate
    lines = [["world", "data sets", *(kind.partition(".")[2] for kind in kinds)], ["---"] * (len(kinds) + 2)]
    for world, there in by_world.items():
        name = world + (" (reported only)" if any(rate.reported for rate in there.values()) else "")
        sizes = ", ".join(dict.fromkeys(str(rate.n) for rate in there.values()))
        lines.append([name, sizes, *(_cell(there[kind]) if kind in there else "" for kind in kinds)])
    unsteady = [[100 * rate.n_unsteady / rate.n for rate in rows if rate.kind == kind] for kind in kinds]
    lines.append(["*one seed undecided*", "", *(f"{sum(each) / len(each):.1f}, {max(each):.1f}" for each in unsteady)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(rate: Rate) -> str:
    """How often wrong; where there is an effect also what it is, how often found, and by the best test."""
    if rate.effect == 0 and not rate.n_right:
        return _percent(rate.n_wrong, rate.n)
    best = "" if rate.n_best is None else f" / {_percent(rate.n_best, rate.n)}"
    return f"{rate.effect:.3g}: {_percent(rate.n_wrong, rate.n)}, {_percent(rate.n_right, rate.n)}{best}"


def line(rate: Rate) -> str:
    """One row."""
    wrong = wilson(float(rate.n_wrong), float(rate.n))
    shares = [
        f"{_percent(rate.n_wrong, rate.n)} [{100 * wrong.lower:.1f}, {100 * wrong.upper:.1f}]",
        _percent(rate.n_right, rate.n),
        "" if rate.n_best is None else _percent(rate.n_best, rate.n),
        _percent(rate.n_contrary, rate.n),
        _percent(rate.n_unsteady, rate.n),
    ]
    world = rate.world + (" (reported only)" if rate.reported else "")
    return f"| {rate.kind.partition('.')[2]} | {world} | {rate.effect:.3g} | {rate.n} | {' | '.join(shares)} |"


def _by_question(measured: Sequence[Rate]) -> Iterator[tuple[str, Iterator[Rate]]]:
    return groupby(measured, key=_question)


def _question(rate: Rate) -> str:
    return rate.kind.partition(".")[0]


def _percent(n: int, of: int) -> str:
    return f"{100 * n / of:.1f}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
