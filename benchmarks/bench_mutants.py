"""What do the tests see? Faults are put into the code, one at a time, and the tests that could see one are run.

`python -m benchmarks.bench_mutants` draws 40 places of core and ui with seed 0, changes each in a copy of the tree, and
prints a row for each: where, what was changed, which test failed first or that none did, and the seconds. The tests
are those of `make test` without a browser: first the files that import the module or its package, then the module's
own examples, then the tests of its room. A fault on which tests do not end is counted by itself, not as caught.
`--only 3,17` repeats some of the rows; `--list` draws and changes nothing.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("core", "ui")
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", ">="),
    ast.GtE: (">=", "<"),
    ast.Gt: (">", "<="),
    ast.LtE: ("<=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
"""How an operator is spelt, and what is written in its place."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", re.MULTILINE)


class Mutant(NamedTuple):
    """A fault: the characters from `start` to `end` of a file become `new`."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    new: str


class Outcome(NamedTuple):
    """Which test failed first ("" if none did), or that they did not end; and the seconds it took."""

    caught_by: str
    ended: bool
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=900.0, help="after which tests of one mutant count as endless")
    parser.add_argument("--only", default="", help="rows to repeat, such as 3,17")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    mutants = dict(enumerate(drawn(asked.mutants, asked.seed), start=1))
    if asked.only:
        mutants = {int(number): mutants[int(number)] for number in asked.only.split(",")}
    print("| | place | fault | caught by | seconds |\n|---:|---|---|---|---:|", flush=True)
    if asked.list:
        for number, mutant in mutants.items():
            print(_row(number, mutant, Outcome("?", True, 0.0)))
        return
    outcomes: dict[int, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="touchstone-mutants-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for job in range(asked.jobs):
            trees.put(_copied(Path(folder) / str(job)))

        def work(number: int) -> None:
            tree = trees.get()
            try:
                outcomes[number] = outcome(mutants[number], tree, asked.seconds)
            finally:
                trees.put(tree)
            print(_row(number, mutants[number], outcomes[number]), flush=True)

        with ThreadPoolExecutor(asked.jobs) as pool:
            list(pool.map(work, mutants))
    n_caught = sum(bool(made.caught_by) for made in outcomes.values())
    n_endless = sum(not made.ended for made in outcomes.values())
    print(f"\n{n_caught} of {len(outcomes)} caught; {n_endless} more without an end within {asked.seconds:.0f} s")


def drawn(n: int, seed: int) -> list[Mutant]:
    """`n` mutants of core and ui: each is of a kind drawn first, then of one of all places of this kind.

    So constants, of which there are most, do not stand for everything.
    """
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for mutant in mutants_of(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")):
                by_kind[mutant.kind].append(mutant)
    rng = random.Random(seed)
    made: list[Mutant] = []
    while len(made) < n:
        mutant = rng.choice(by_kind[rng.choice(sorted(by_kind))])
        if mutant not in made:
            made.append(mutant)
    return made


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Every fault that can be put into a module: not into its texts, annotations or errors' messages.

    >>> code = "def least(x: int) -> int:\\n    'Of 1.'\\n    return x - 1 if not x < 2 else 0\\n"
    >>> [(mutant.kind, mutant.new) for mutant in mutants_of("core/least.py", code)]  # doctest: +NORMALIZE_WHITESPACE
    [('return', 'None'), ('not', 'x < 2'), ('comparison', '>='), ('constant', '3'), ('arithmetic', '+'),
     ('constant', '2'), ('constant', '1')]
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> tuple[int, int] | None:
        """Where an operator stands between its two sides, brackets, line breaks and comments apart."""
        start, end = span(left)[1], span(right)[0]
        gap = re.sub(r"#.*", lambda comment: " " * len(comment[0]), text[start:end])
        match = re.search(OPERATORS[type(operator)][0], gap)
        return (start + match.start(), start + match.end()) if match else None

    def mutant(node: ast.expr | ast.stmt, kind: str, where: tuple[int, int] | None, new: str) -> Iterator[Mutant]:
        if where is not None:
            yield Mutant(file, node.lineno, kind, *where, new)

    for node in _code(ast.parse(text)):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in OPERATORS:
                yield from mutant(node, "comparison", between(left, right, operator), OPERATORS[type(operator)][1])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS and not _is_text(node):
                yield from mutant(node, "arithmetic", between(left, right, operator), OPERATORS[type(operator)][1])
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                yield from mutant(node, "and/or", between(left, right, operator), OPERATORS[type(operator)][1])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from mutant(node, "not", span(node), text[slice(*span(operand))])
            case ast.Constant(value=bool(value)):
                yield from mutant(node, "truth", span(node), str(not value))
            case ast.Constant(value=int(value) | float(value)):
                yield from mutant(node, "constant", span(node), repr(value + 1))
            case ast.Return(value=ast.Constant(value=None)):
                pass
            case ast.Return(value=ast.expr() as value):
                yield from mutant(node, "return", span(value), "None")


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it that is code: what is left out is what no test should see, or no text can be cut from."""
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr():
            return
    yield node
    for name, below in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list"}:
            for child in below if isinstance(below, list) else [below]:
                if isinstance(child, ast.AST):
                    yield from _code(child)


def _is_text(node: ast.AST) -> bool:
    """Whether texts are put together, which cannot be subtracted: every test would see that."""
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def seeing(file: str, tree: Path) -> tuple[list[str], list[str]]:
    """The tests that could see a fault of a module: those near to it, then the others of its room.

    Near are files that import it, or the package that it is in (below a room, which everything imports), and its own
    examples. The rest are all tests of the room, and those of the question's name in any room.
    """
    module = "touchstone." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package = module.rpartition(".")[0] if module.count(".") > 2 else module
    direct, beside, rest = [], [], []
    room = Path(file).parts[1].removesuffix(".py")
    stem = Path(file).parts[2].removesuffix(".py") if len(Path(file).parts) > 2 else room
    for path in sorted((tree / "tests").rglob("test_*.py")):
        name = path.relative_to(tree).as_posix()
        if name.startswith("tests/browser/"):
            continue
        imported = _imported(path.read_text("utf-8"))
        if module in imported:
            direct.append(name)
        elif package in imported:
            beside.append(name)
        elif path.parent.name in {room, Path(file).parts[0]} or stem in path.stem or room in path.stem:
            rest.append(name)
    direct.sort(key=lambda name: Path(file).stem not in name)
    beside.sort(key=lambda name: Path(file).stem not in name)
    return [*direct, f"touchstone/{file}", *beside], rest


def _imported(text: str) -> set[str]:
    """The names of all modules that a module may import: `from a import b` may import a.b."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def outcome(mutant: Mutant, tree: Path, seconds: float) -> Outcome:
    """Put the fault into this copy of the tree, run the tests, and take it out again."""
    path = tree / mutant.file
    sound = path.read_text("utf-8")
    began = time.monotonic()
    try:
        path.write_text(sound[: mutant.start] + mutant.new + sound[mutant.end :], "utf-8")
        for files in seeing(mutant.file, tree):
            if files and (failed := _first_failure(files, tree, began + seconds - time.monotonic())):
                return Outcome(failed, True, time.monotonic() - began)
    except subprocess.TimeoutExpired:
        return Outcome("", False, time.monotonic() - began)
    finally:
        path.write_text(sound, "utf-8")
    return Outcome("", True, time.monotonic() - began)


def _first_failure(files: list[str], tree: Path, seconds: float) -> str:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    known = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # a fault may be as long, and of the same second
    process = subprocess.Popen(
        [*command, "-m", "not evidence and not browser", *files],
        cwd=tree,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=max(seconds, 1.0))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise
    if process.returncode in (0, 5):  # 5: the files hold no test that is not left to `make evidence`
        return ""
    match = FAILED.search(output)
    return match[1] if match else f"exit {process.returncode}: {output.strip().splitlines()[-1:]}"


def _copied(folder: Path) -> Path:
    """A copy of the tree as it stands, with the real data beside it, where the tree has them."""
    ignored = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".hypothesis")
    shutil.copytree(ROOT, folder / "tree", symlinks=True, ignore=ignored)
    if (shared := ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(shared.resolve())
    return folder / "tree"


def _row(number: int, mutant: Mutant, made: Outcome) -> str:
    line = (ROOT / mutant.file).read_text("utf-8").splitlines()[mutant.line - 1].strip().replace("|", "\\|")
    seen = f"`{made.caught_by}`" if made.caught_by else ("**survived**" if made.ended else "**no end**")
    fault = f"{mutant.kind}: `{line}` → `{mutant.new}`"
    return f"| {number} | {mutant.file}:{mutant.line} | {fault} | {seen} | {made.seconds:.0f} |"


if __name__ == "__main__":
    main()
