"""All files of data sets in one list, and the page of docs that shows it: `python -m tests.data.sets.listed`."""

from tests.data.sets import arrays, images, tables, texts
from tests.data.sets.made import Data, DataLayout, Proposed

LAYOUTS = [layout for module in (tables, arrays, texts, images) for layout in module.LAYOUTS]
MISSED: dict[str, str] = {}
"""Those that are refused or asked about although they could be read, and what is said."""
_INTRODUCTION = """# What files of data sets look like, and what becomes of them

{n} files as {n_tools} tools, corpora and services (with their versions) have them, small and made by hand: no tool is
run. What each should come to was written down first: {n_data} should be read (kind, each sample's label, number of
inputs, sources and parts are checked), about {n_proposed} something should be asked, the right label being offered,
and {n_refused} should be refused. {n_right} come to that. {n_missed} are refused or asked about although they could be
read. None is read as something else. Of the code before this list (2026-11-23) 40 of them were not as they should be:
2 were read without the parts that they mark, the others refused, or asked about with another label on offer.

The lists are in `tests/data/sets`, the test is `tests/data/test_data_layouts.py`.
`python -m tests.data.sets.listed` prints this page.

| tool | what | file | should be | is |
|---|---|---|---|---|"""


def page() -> str:
    """The list as Markdown."""
    kinds = {
        f"n_{kind}": sum(type(layout.expected).__name__.lower() == kind for layout in LAYOUTS)
        for kind in ("data", "proposed", "refused")
    }
    n_right = len(LAYOUTS) - len(MISSED)
    n_tools = len({layout.tool for layout in LAYOUTS})
    top = _INTRODUCTION.format(n=len(LAYOUTS), n_tools=n_tools, n_right=n_right, n_missed=len(MISSED), **kinds)
    return "\n".join((top, *map(_line, LAYOUTS))) + "\n"


def _line(layout: DataLayout) -> str:
    result = f"“… {MISSED[layout.label]} …”" if layout.label in MISSED else "so"
    return f"| {layout.tool} | {layout.what} | {layout.name} | {_expected(layout)} | {result} |"


def _expected(layout: DataLayout) -> str:
    expected = layout.expected
    if isinstance(expected, Data):
        beside = [f"{expected.n_sources} sources"] if expected.n_sources else []
        beside += ["its parts"] if expected.parts else []
        return f"read: {expected.kind}, {len({*expected.labels})} classes{''.join(f', {each}' for each in beside)}"
    if isinstance(expected, Proposed):
        return f"asked: {expected.label} is offered as the label" if expected.label else "asked: which is the label"
    return "refused"


if __name__ == "__main__":
    print(page(), end="")
