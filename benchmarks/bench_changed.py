"""Is a file whose meaning was changed read at another accuracy without a word? By kind of change, with its interval.

Prints a table; asserts nothing (`tests/data/test_changed_meaning.py` does, on fewer). Kinds: see
`tests/data/changed_meaning.py`.
"""

import argparse
import os
import platform
from collections import Counter
from datetime import date

from tests.data.changed_meaning import ASKED, CHANGES, REFUSED, RIGHT, SILENT, WARNED, outcomes
from touchstone.core.evaluate.intervals import wilson

SHOWN = (RIGHT, WARNED, ASKED, REFUSED, SILENT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    found = [(kind, outcome) for kind, outcome, _ in outcomes(parser.parse_args().files)]
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(f"| change | files | {' | '.join(SHOWN)} | silent, 95 % CI (%) |")
    print("|---|---:|" + "---:|" * (len(SHOWN) + 1))
    for name in [*CHANGES, "all"]:
        counts = Counter(outcome for kind, outcome in found if name in (kind, "all"))
        n = counts.total()
        ends = wilson(float(counts[SILENT]), float(n))
        cells = [f"{counts[outcome]:,}" for outcome in SHOWN]
        print(f"| {name} | {n:,} | {' | '.join(cells)} | {100 * ends.lower:.1f} to {100 * ends.upper:.1f} |")


if __name__ == "__main__":
    main()
