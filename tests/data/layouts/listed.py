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
    "truth": "asked: which column is the truth",
    "positive": "asked: of which class the probability is",
    "classes": "asked: which class is which",
    "predicted": "asked: which column is the prediction",
}
_INTRODUCTION = """# What exporters write, and what becomes of it

{n} files of predictions as {n_tools} tools (with their versions) write them, small and made by hand: no tool is run.
What each should come to was written down before the code was changed, from what its owner would expect:
{n_read} should be read (n, classes, accuracy and the confidence of every row are checked), about {n_asked} something
should be asked, and {n_refused} should be refused, since what is needed is not in them. {n_right} come to that.
{n_missed} are refused or asked about although they could be read. None is read as something else.

The lists are in `tests/data/layouts`, the test is `tests/data/test_prediction_layouts.py`.
`python -m tests.data.layouts.listed` prints this page.

| tool | what | file | should be | is |
|---|---|---|---|---|"""


def page() -> str:
    """The list as Markdown."""
    tools = {layout.tool for layout in LAYOUTS}
    right = len(LAYOUTS) - len(MISSED)
    kinds = {
        f"n_{kind.__name__.lower()}": sum(isinstance(layout.expected, kind) for layout in LAYOUTS)
        for kind in (Read, Asked, Refused)
    }
    top = _INTRODUCTION.format(n=len(LAYOUTS), n_tools=len(tools), n_right=right, n_missed=len(MISSED), **kinds)
    return "\n".join((top, *map(_line, LAYOUTS))) + "\n"


def _line(layout: Layout) -> str:
    files = " + ".join((layout.name, *([layout.truth[0]] if layout.truth else [])))
    result = f"“… {MISSED[layout.label]} …”" if layout.label in MISSED else "so"
    return f"| {layout.tool} | {layout.what} | {files} | {_expected(layout)} | {result} |"


def _expected(layout: Layout) -> str:
    expected = layout.expected
    if isinstance(expected, Read):
        return f"read: {expected.n_classes} classes, confidence {'known' if expected.confidence else 'not in it'}"
    if isinstance(expected, Asked):
        return _QUESTIONS[expected.role]
    return f"refused: {layout.lacks}"


if __name__ == "__main__":
    print(page(), end="")
