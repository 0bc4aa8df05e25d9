"""How large is the house? Lines of code of the product, its files, and how much of the code is imports.

A line of code has something on it besides a comment, and belongs to no docstring, nor to the text below a constant.
`python -m benchmarks.bench_size` prints a row for each folder of core, ui and pages; `--files` lists the largest files.
"""

import argparse
import ast
import io
import tokenize
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("core", "ui", "pages")
SMALL = 60
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING),
    tokenize.ENDMARKER,
}


class Size(NamedTuple):
    """Lines of a file: all, those of code, and those of code that are imports."""

    lines: int
    code: int
    imports: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=0, help="how many of the largest files to list")
    asked = parser.parse_args()
    sizes = {file: size_of(file.read_text("utf-8")) for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))}
    by_folder: dict[str, list[Size]] = defaultdict(list)
    for file, size in sizes.items():
        by_folder["/".join(file.relative_to(ROOT).parts[:-1][:2])].append(size)
    print("| folder | files | lines | code | imports |\n|---|---|---|---|---|")
    for folder, of in sorted(by_folder.items()):
        print(_row(folder, of))
    print(_row("all", list(sizes.values())))
    code = [size.code for size in sizes.values()]
    n_small = sum(lines < SMALL for lines in code)
    print(f"\nmedian {median(code):.0f} lines of code a file; {n_small} files of fewer than {SMALL}")
    for file, size in sorted(sizes.items(), key=lambda each: -each[1].code)[: asked.files]:
        print(f"{size.code:5} {file.relative_to(ROOT)}")


def size_of(text: str) -> Size:
    """The size of a module by its text.

    >>> size_of('"What is this?"\\nimport os  # for names\\n\\n\\ndef name(\\n):\\n    return os.name\\n')
    Size(lines=7, code=4, imports=1)
    """
    tree = ast.parse(text)
    documents: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= _lines(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documents |= _lines(node)
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    code -= documents
    return Size(text.count("\n"), len(code), len(imports & code))


def _lines(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _row(name: str, sizes: list[Size]) -> str:
    lines, code, imports = (sum(size[place] for size in sizes) for place in range(3))
    return f"| {name} | {len(sizes)} | {lines:,} | {code:,} | {imports:,} ({100 * imports / max(code, 1):.0f} %) |"


if __name__ == "__main__":
    main()
