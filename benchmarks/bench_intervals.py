"""How often do intervals over sources and samples hold the truth with real models? Every world of the tests.

Prints a row per world and method: the share of data sets whose interval held the truth, and its width as a multiple of
that of an interval which knows how much the estimate varies. Asserts nothing.
"""

import argparse
import platform
from datetime import date

from tests.worlds.source_robustness_coverage import METHODS, NUMBERS, coverage
from tests.worlds.source_robustness_populations import POPULATIONS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--worlds", nargs="*", default=list(POPULATIONS), choices=list(POPULATIONS))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{date.today()}, {platform.machine()}, {given.data_sets} data sets a row, seed {given.seed}\n")
    print(f"| world | method | {' | '.join(NUMBERS)} |")
    print("|" + "---|" * (2 + len(NUMBERS)))
    for name in given.worlds:
        rows = coverage(name, given.data_sets, methods=tuple(given.methods), seed=given.seed)
        for method in given.methods:
            cells = [
                f"{100 * held.share:.0f} ({held.n_optimistic}) {held.width:.1f}"
                for held in rows
                if held.method == method
            ]
            print(f"| {name} | {method} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
