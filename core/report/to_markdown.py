"""How does a result go where only text does, such as a repository? As Markdown: figures stand in it in words."""

from collections.abc import Iterable

from touchstone.core.evaluate.wording import Verdict
from touchstone.core.figures.theme import alt_text
from touchstone.core.report.html import cell
from touchstone.core.report.parts import Beside, Figure, Metric, Note, Part, Report, Table


def to_markdown(report: Report) -> bytes:
    """The report as a file of Markdown.

    >>> from touchstone.core.report.parts import nothing_yet
    >>> print(to_markdown(Report("Why?", "a | b", nothing_yet("So."), "Read it.", (), "")).decode())
    # Why?
    <BLANKLINE>
    a | b
    <BLANKLINE>
    - So.
    <BLANKLINE>
    ## How to read this
    <BLANKLINE>
    Read it.
    <BLANKLINE>
    """
    answer, parts = report.answer, [f"# {report.question}", report.subject]
    if answer.verdict is not None:
        parts += [_part(answer.verdict), *map(_part, answer.verdict.findings), _part(answer.metrics)]
    for section in answer.sections:
        parts += [f"## {section.heading}" * bool(section.heading), *map(_part, section.parts)]
    parts += ["## How to read this", report.how_to_read]
    if report.provenance:
        parts += ["## Data, parameters and versions", _table(("", ""), report.provenance)]
    return ("\n\n".join(part.strip() for part in parts if part) + "\n").encode()


def _part(part: Part) -> str:
    match part:
        case Figure():
            return f"{alt_text(part.draw(dark=False))} {part.caption}"
        case Table():
            lines = part.lines.itertuples(index=False, name=None)
            decimals = [part.decimals.get(str(name)) for name in part.lines.columns]
            written = ([cell(value, n) for value, n in zip(line, decimals, strict=True)] for line in lines)
            return f"**{part.title}**\n\n{_table(part.lines.columns, written)}\n\n{part.caption}"
        case Verdict():
            return f"**{part.headline}** {part.used}\n\n{part.advice}"
        case Note():
            return part.text
        case str():
            return f"- {part}"
        case tuple():
            return _metrics(part)
        case Beside():
            return "\n\n".join(map(_part, part.parts))


def _metrics(metrics: Iterable[Metric]) -> str:
    rows = [(each.label, f"{each.value} {each.interval}", each.baseline, each.help or "") for each in metrics]
    return _table(("Number", "Value", "Baseline", "Meaning"), rows) if rows else ""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = [*head]
    return "\n".join(_line(line) for line in (heads, ["---"] * len(heads), *rows))


def _line(cells: Iterable[str]) -> str:
    """A line of a table: a name from the data ends no cell and no line.

    >>> print(_line(["a | b", "c"]))
    | a \\| b | c |
    """
    written = (" ".join(str(each).split()).replace("|", "\\|") for each in cells)
    return f"| {' | '.join(written)} |"
