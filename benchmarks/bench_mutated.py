"""What comes of files that were good and have been damaged? By format: read, refused in a sentence, or a fault.

Prints a table; asserts nothing (`tests/data/test_mutated_files.py` does, on fewer). `--files 20000` for more.
"""

import argparse
import os
import platform
from collections import Counter
from datetime import date

from tests.data.mutated import GOOD, bases, faults, outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    found = outcomes(0, parser.parse_args().files)
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| format | files | read | refused | faults | longest (s) | most memory (MiB) |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in [*dict.fromkeys(base.format for base in bases()), "all"]:
        mine = [one for one in found if name in (one.format, "all")]
        counts = Counter(one.outcome for one in mine)
        worst = max(one.seconds for one in mine), max(one.mebibytes for one in mine)
        numbers = [len(mine), counts[GOOD], counts["refused"], len(faults(mine))]
        print(f"| {name} | {' | '.join(f'{one:,}' for one in numbers)} | {worst[0]:.2f} | {worst[1]:.0f} |")
    for one in faults(found):
        print(one)


if __name__ == "__main__":
    main()
