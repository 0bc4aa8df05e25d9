"""How many questions does a file of predictions ask? Until it is read, or the guess is no answer.

Files are those of `tests/data/layouts` and of the shared data; every question is answered as the guess has it. Those
that are refused without a question are not counted.
`python -m benchmarks.bench_questions --beside FOLDER` asks the same of another checkout, such as an older one.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import SHARED_DATA
from tests.data.layouts.listed import LAYOUTS

ROOT = Path(__file__).resolve().parents[1]
MOST = 6
"""Questions that anybody would answer."""
ASKING = f"""
import json, sys
from pathlib import Path
from touchstone.core.data import DataError, RolesNeeded, join_predictions, read_predictions

def asked(file, truth):
    roles = None
    for n in range({MOST} + 1):
        try:
            given = dict(roles=roles)
            read_predictions(file, **given) if truth is None else join_predictions(truth, file, **given)
            return n
        except RolesNeeded as needed:
            if needed.guess is None or needed.guess == roles:
                return n + 1
            roles = needed.guess
        except DataError:
            return n or None
    return n

files = json.load(sys.stdin)
json.dump([asked(Path(file), None if truth is None else Path(truth)) for file, truth in files], sys.stdout)
"""


def counted(tree: Path, files: list[tuple[str, str | None]]) -> list[int | None]:
    """The questions of each file, as the code in a checkout asks; None where it is refused at once."""
    answered = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASKING],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        input=json.dumps(files),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answered.stdout)


def main() -> None:
    """Print the mean number of questions of each set of files, here and in the other checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="another checkout of the project")
    trees = [ROOT, *filter(None, [parser.parse_args().beside])]
    with TemporaryDirectory() as folder:
        files: list[tuple[str, str | None]] = []
        for place, layout in enumerate(LAYOUTS):
            (home := Path(folder, str(place))).mkdir()
            (home / layout.name).write_bytes(layout.content)
            truth = None
            if layout.truth is not None:
                (home / layout.truth[0]).write_bytes(layout.truth[1])
                truth = str(home / layout.truth[0])
            files.append((str(home / layout.name), truth))
        listed = len(files)
        files += [(str(file), None) for file in sorted((SHARED_DATA / "predictions").glob("*"))]
        by_tree = [counted(tree, files) for tree in trees]
    for name, part in (("listed layouts", slice(0, listed)), ("shared files", slice(listed, None))):
        rows = list(zip(*(found[part] for found in by_tree), strict=True))
        in_all = [row for row in rows if None not in row]
        for place, tree in enumerate(trees):
            own = [row[place] for row in rows if row[place] is not None]
            same = [row[place] for row in in_all]
            print(
                f"{name}, {'here' if tree == ROOT else 'beside'}: {sum(own)} questions about {len(own)} of {len(rows)} "
                f"files, {sum(own) / len(own):.3f} each; {sum(same) / len(same):.3f} each of {len(same)} in all"
            )


if __name__ == "__main__":
    main()
