"""How many functions of a room have more than ten ways through them? Counted as radon does, with nothing but Python.

`python -m benchmarks.complexity [FOLDER ...]` prints the share for each folder (core/data, core and ui unless named),
and of those that are named the functions, the most tangled first. A function within another counts for itself, and in
the outer one.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 10
_ONE_MORE = (ast.If, ast.IfExp, ast.Lambda, ast.Assert, ast.ExceptHandler)


def complexity(function: ast.AST) -> int:
    """One, and one more for each place where a function can go another way."""
    return 1 + sum(map(_ways, ast.walk(function)))


def _ways(node: ast.AST) -> int:
    match node:
        case ast.BoolOp(values=values):
            return len(values) - 1
        case ast.comprehension(ifs=conditions):
            return 1 + len(conditions)
        case ast.For(orelse=otherwise) | ast.While(orelse=otherwise) | ast.AsyncFor(orelse=otherwise):
            return 1 + bool(otherwise)
        case ast.Try(orelse=otherwise):
            return int(bool(otherwise))
        case ast.Match(cases=cases):
            return len(cases)
    return int(isinstance(node, _ONE_MORE))


def functions(folder: Path) -> Iterator[tuple[str, int]]:
    """Every function below a folder, by file, line and name, with its complexity."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", complexity(node)


def main() -> None:
    for name in sys.argv[1:] or ("core/data", "core", "ui"):
        counted = list(functions(ROOT / name))
        tangled = sorted(((place, ways) for place, ways in counted if ways > MOST), key=lambda each: -each[1])
        share = len(tangled) / len(counted)
        print(f"{name}: {len(tangled)} of {len(counted)} functions over {MOST} ({100 * share:.1f} %)")
        for place, ways in tangled if sys.argv[1:] else ():
            print(f"  {ways:3} {place}")


if __name__ == "__main__":
    main()
