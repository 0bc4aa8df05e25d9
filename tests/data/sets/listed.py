"""All files of data sets in one list, and the page of docs that shows it: `python -m tests.data.sets.listed`."""

from tests.data.sets import arrays, images, tables, texts
from tests.data.sets.made import Data, DataLayout, Proposed

LAYOUTS = [layout for module in (tables, arrays, texts, images) for layout in module.LAYOUTS]
MISSED: dict[str, str] = {}
"""Those that are refused or asked about although they could be read, and what is said."""
_INTRODUCTION = """# What files of data sets look like, and what becomes of them

{n} files as {n_tools} tools, corpora and services have them, small and made by hand; no tool is run.
What each should come to was written down first. {n_data} are read (kind, each sample's label, number of inputs,
sources and parts are checked). About {n_proposed} something is asked, the right label being offered.
{n_refused} are refused. {n_right} come to that, and none is read as something else.

The lists are in `tests/data/sets`, the test is `tests/data/test_data_layouts.py`.
`python -m tests.data.sets.listed` prints this page.

| tool | read | asked, offering as the label | refused |
|---|---|---|---|"""


def page() -> str:
    """The list as Markdown, a line for each tool."""
    by_tool: dict[str, list[DataLayout]] = {}
    for layout in LAYOUTS:
        by_tool.setdefault(layout.tool, []).append(layout)
    kinds = {
        f"n_{kind}": sum(type(layout.expected).__name__.lower() == kind for layout in LAYOUTS)
        for kind in ("data", "proposed", "refused")
    }
    n_right = len(LAYOUTS) - len(MISSED)
    top = _INTRODUCTION.format(n=len(LAYOUTS), n_tools=len(by_tool), n_right=n_right, **kinds)
    return "\n".join((top, *(_line(tool, layouts) for tool, layouts in by_tool.items()))) + "\n"


def _line(tool: str, layouts: list[DataLayout]) -> str:
    cells: list[list[str]] = [[], [], []]
    for layout in layouts:
        place, more = _expected(layout)
        mark = "†" if layout.label in MISSED else ""
        cells[place].append(layout.what + mark + (f" ({more})" if more else ""))
    return f"| {tool} | {' | '.join(map('; '.join, cells))} |"


def _expected(layout: DataLayout) -> tuple[int, str]:
    """Its column, and what is read beside the labels or offered as these."""
    expected = layout.expected
    if isinstance(expected, Data):
        return 0, ", ".join(
            word for word, there in (("sources", expected.n_sources), ("parts", expected.parts)) if there
        )
    if isinstance(expected, Proposed):
        return 1, expected.label or "nothing"
    return 2, ""


if __name__ == "__main__":
    print(page(), end="")
