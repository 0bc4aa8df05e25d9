"""How does a result go where only text does, such as a repository? As Markdown: figures stand in it in words."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.figures.theme import alt_text
from touchstone.core.report.html import cell
from touchstone.core.report.parts import Beside, Figure, KeyNumber, Note, Part, Report, Table

_MARKS = re.compile(r"[\\`*_|$~]|<(?=[a-zA-Z/!?])|\](?=[(\[:])|^[>#+-]")
"""What begins emphasis, code, a formula, HTML or a link; an interval's brackets do not."""


def escaped(text: object) -> str:
    r"""Somebody's own words where Markdown is expected: in one line, and nothing in them is a mark.

    >>> print(escaped("a*b\n<c> is 5 % [4, 6], [x](y), p < .001"))
    a\*b \<c> is 5 % [4, 6], [x\](y), p < .001
    """
    return _MARKS.sub(r"\\\g<0>", " ".join(str(text).split()))


def to_markdown(report: Report) -> bytes:
    r"""The report as a file of Markdown.

    >>> from touchstone.core.report.parts import nothing_yet
    >>> print(to_markdown(Report("Why?", "a | b", nothing_yet("So."), "Read it.", (), "")).decode())
    # Why?
    <BLANKLINE>
    a \| b
    <BLANKLINE>
    So.
    <BLANKLINE>
    ## How to read this
    <BLANKLINE>
    Read it.
    <BLANKLINE>
    """
    answer, parts = report.answer, [f"# {report.question}", escaped(report.subject)]
    if answer.verdict is not None:
        claims = answer.claims
        parts += [_part(answer.verdict), _key_numbers(answer.key_numbers), about(claims[0] if claims else None)]
        parts.append(_sentences(answer.verdict.findings))
    for section in answer.sections:
        parts += [f"## {escaped(section.heading)}" * bool(section.heading), _parts(section.parts)]
    parts += ["## How to read this", report.how_to_read]
    if report.provenance:
        parts += ["## Data, parameters and versions", table(("", ""), report.provenance)]
    if report.parameters:
        parts.append(f"```json\n{report.parameters}\n```")
    return ("\n\n".join(part.strip() for part in parts if part.strip()) + "\n").encode()


def _parts(parts: Iterable[Part]) -> str:
    """One after the other; sentences that follow each other are a list."""
    written = []
    for are_sentences, group in groupby(parts, key=lambda part: isinstance(part, str)):
        alike = [*group]
        written += [_sentences([*map(str, alike)])] if are_sentences else map(_part, alike)
    return "\n\n".join(part for part in written if part)


def _sentences(sentences: Sequence[str]) -> str:
    return "\n".join(f"{'- ' * (len(sentences) > 1)}{escaped(sentence)}" for sentence in sentences)


def _part(part: Part) -> str:
    match part:
        case Figure():
            return f"{escaped(alt_text(part.draw(dark=False)))} {escaped(part.caption)}"
        case Table():
            lines = part.lines.itertuples(index=False, name=None)
            decimals = [part.decimals.get(str(name)) for name in part.lines.columns]
            written = ([cell(value, n) for value, n in zip(line, decimals, strict=True)] for line in lines)
            return f"**{escaped(part.title)}**\n\n{table(part.lines.columns, written)}\n\n{escaped(part.caption)}"
        case Verdict():
            return f"**{escaped(part.headline)}** {escaped(part.used)}\n\n{escaped(part.advice)}"
        case Note():
            return escaped(part.text)
        case str():
            return _sentences([part])
        case tuple():
            return _key_numbers(part)
        case Beside():
            return _parts(part.parts)


def _key_numbers(key_numbers: Iterable[KeyNumber]) -> str:
    rows = [(each.label, f"{each.value} {each.interval}", each.baseline, each.help or "") for each in key_numbers]
    return table(("Number", "Value", "Baseline", "Meaning"), rows) if rows else ""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown: names from the data end no cell and no line."""
    heads = [*head]
    return "\n".join(_line(line) for line in (heads, ["---"] * len(heads), *rows))


def _line(cells: Iterable[str]) -> str:
    """A line of a table: a name from the data ends no cell and no line.

    >>> print(_line(["a | b", "c"]))
    | a \\| b | c |
    """
    written = map(escaped, cells)
    return f"| {' | '.join(written)} |"
