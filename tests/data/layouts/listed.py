"""All layouts in one list, and the page of docs that shows it: `python -m tests.data.layouts.listed` prints that."""

from tests.data.layouts import language, packages, platforms, statistics, tracking, training
from tests.data.layouts.made import Asked, Layout, Read, Refused

MODULES = (training, tracking, statistics, packages, platforms, language)
LAYOUTS = [layout for module in MODULES for layout in module.LAYOUTS]
MISSED = {
    "Weka 3.8: CSV with -distribution": "7 cells, but the header has 5",
    "Vertex AI: AutoML tables, batch prediction as CSV": "which column holds the truth",
}
"""Those that are refused or asked about although they could be read, and what is said."""
_QUESTIONS = {
    "truth": "which column is the truth",
    "positive": "of which class the probability is",
    "classes": "which class is which",
    "predicted": "which column is the prediction",
}
_INTRODUCTION = """# What exporters write, and what becomes of it

{n} files of predictions as {n_tools} tools write them, small and made by hand; no tool is run.
What each should come to was written down first. {n_read} are read (n, classes, accuracy and each row's confidence
are checked). About {n_asked} something is asked. {n_refused} are refused, since what is needed is not in them.
{n_right} come to that, and none is read as something else. {n_missed} could be read and are not (†).
A reason in brackets holds for all that stands before it, back to the last bracket.

The lists are in `tests/data/layouts`, the test is `tests/data/test_prediction_layouts.py`.
`python -m tests.data.layouts.listed` prints this page.

| tool | read, with confidence | read, none in it | asked | refused |
|---|---|---|---|---|"""


def page() -> str:
    """The list as Markdown, a line for each tool."""
    by_tool: dict[str, list[Layout]] = {}
    for layout in LAYOUTS:
        by_tool.setdefault(layout.tool, []).append(layout)
    kinds = {
        f"n_{kind.__name__.lower()}": sum(isinstance(layout.expected, kind) for layout in LAYOUTS)
        for kind in (Read, Asked, Refused)
    }
    n_right = len(LAYOUTS) - len(MISSED)
    top = _INTRODUCTION.format(n=len(LAYOUTS), n_tools=len(by_tool), n_right=n_right, n_missed=len(MISSED), **kinds)
    return "\n".join((top, *(_line(tool, layouts) for tool, layouts in by_tool.items()))) + "\n"


def _line(tool: str, layouts: list[Layout]) -> str:
    cells: list[dict[str, list[str]]] = [{}, {}, {}, {}]
    for layout in layouts:
        place, why = _expected(layout)
        mark = f"†, “… {MISSED[layout.label]} …”" if layout.label in MISSED else ""
        cells[place].setdefault(why, []).append(layout.what + mark)
    return f"| {tool} | {' | '.join('; '.join(map(_together, cell.items())) for cell in cells)} |"


def _together(files: tuple[str, list[str]]) -> str:
    """What one reason holds for."""
    why, what = files
    return "; ".join(what) + (f" ({why})" if why else "")


def _expected(layout: Layout) -> tuple[int, str]:
    """Its column, and why it is not read."""
    expected = layout.expected
    if isinstance(expected, Read):
        return (0 if expected.confidence else 1), ""
    if isinstance(expected, Asked):
        return 2, _QUESTIONS[expected.role]
    return 3, layout.lacks


if __name__ == "__main__":
    print(page(), end="")
