"""Does a result contradict itself? Rules that verdict, numbers, captions, advice and the order of figures keep.

Each rule reads words and numbers as they are shown, so that it holds of any text, also of one that is kept as it was.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import plotly.graph_objects as go

from touchstone.core.report.parts import Answer, Figure

NUMBER = r"[−-]?[\d\u202f]*\.?\d+"
ENDS = rf"\[({NUMBER}), ({NUMBER})\]"
NO_CLAIM = re.compile(r"\bundecided\b|\bno significant difference\b", re.IGNORECASE)
DIFFERENCE = re.compile(rf"(?:points|difference|rho) (?:{NUMBER} )?{ENDS}")
LEVEL = re.compile(rf"%\s*{ENDS}")
REASON = re.compile(
    r"corrected|Holm|among all claims|another seed|\d seeds? differ|with \d seeds?|so small|by chance|paired",
    re.IGNORECASE,
)
CORRELATION = re.compile(rf"\br ({NUMBER}), p = (1(?:\.0*)?|\.[5-9]\d*)")
FEW = re.compile(r"[Ee]ven r 1 would have|Holm over")
ORDER = re.compile(r"\b(lowest|largest|worst|least|highest|best|longest)\b[^.]* on top", re.IGNORECASE)
NAME = re.compile(r"“([^”]+)”")
OF_PAGES = ("Label these next",)
"""Headings that stand on pages alone."""


@dataclass(frozen=True)
class Shown:
    """What a person sees of a result: the verdict's sentences, its advice, numbers, and captions with what is drawn.

    `rows` are the values of a figure from top to bottom, by its caption.
    """

    sentences: tuple[str, ...]
    advice: str = ""
    numbers: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, tuple[float, ...]], ...] = ()


def shown_of(answer: Answer) -> Shown:
    """An answer as it is seen, all its sections open."""
    verdict, parts = answer.verdict, [part for section in answer.sections for part in section.flat]
    sentences = [part for part in parts if isinstance(part, str)]
    if verdict is not None:
        sentences = [verdict.headline, *verdict.findings, verdict.used, *sentences]
    figures = [part for part in parts if isinstance(part, Figure)]
    return Shown(
        tuple(filter(None, sentences)),
        "" if verdict is None else verdict.advice,
        tuple(f"{each.label}: {each.value} {each.interval}" for each in answer.key_numbers),
        (*(section.heading for section in answer.sections), *OF_PAGES),
        tuple(
            (each.caption, rows_of(each.draw(dark=False), of_bars=order[1].lower() == "longest"))
            for each in figures
            if (order := ORDER.search(each.caption))
        ),
    )


def rows_of(figure: go.Figure, *, of_bars: bool = False) -> tuple[float, ...]:
    """What a figure of rows draws, from top to bottom: where marks stand, how long bars are, or the middle of boxes.

    Marks between two rows are of several series, of which the first is meant.
    """
    series: list[dict[float, float]] = []
    for trace in figure.data:
        if trace.type == "box" and trace.median is not None and trace.orientation == "h":
            series.append(dict(zip(_floats(trace.y), _floats(trace.median), strict=True)))
        elif trace.type in ("scatter", "scattergl") and of_bars and trace.mode == "lines" and len(trace.y) > 2:
            ends = np.array(_floats(trace.x)).reshape(-1, 3)
            series.append(dict(zip(_floats(trace.y[::3]), (ends[:, 1] - ends[:, 0]).tolist(), strict=True)))
        elif trace.type in ("scatter", "scattergl") and not of_bars and "markers" in (trace.mode or ""):
            series.append(dict(zip(_floats(trace.y), _floats(trace.x), strict=True)))
    whole = all(at.is_integer() for each in series for at in each)
    places = {at: value for each in reversed(series if whole else series[:1]) for at, value in each.items()}
    upward = figure.layout.yaxis.range is None or figure.layout.yaxis.range[0] < figure.layout.yaxis.range[1]
    return tuple(places[at] for at in sorted(places, reverse=upward))


def _floats(values: Sequence[float]) -> list[float]:
    return [float(value) for value in values]


def contradictions(shown: Shown) -> list[str]:
    """Every contradiction, in words.

    >>> contradictions(Shown(("Whether folds are harder is undecided (−16.9 points [−26.5, −7.3]).",)))
    ['no claim beside an interval clear of 0, and no reason: Whether folds are harder is undecided (−16.9 points ...']
    """
    rules = (_clear_of_zero, _levels_apart, _close_by_chance, _order, _names)
    return [problem for rule in rules for problem in rule(shown)]


def _clear_of_zero(shown: Shown) -> Iterator[str]:
    for sentence in shown.sentences:
        for said in re.split(r"(?<=[.?])\s+(?=[A-Z“])", sentence):
            clear = any(_same_side(*found) for found in DIFFERENCE.findall(said))
            if NO_CLAIM.search(said) and clear and not REASON.search(said):
                yield f"no claim beside an interval clear of 0, and no reason: {said[:60]}..."


def _levels_apart(shown: Shown) -> Iterator[str]:
    """No difference above two numbers whose own intervals lie apart."""
    for sentence in shown.sentences:
        if not re.search("no significant difference", sentence, re.IGNORECASE) or REASON.search(sentence):
            continue
        compared = re.findall(rf"({NUMBER}) %", sentence)
        beside = [each for each in shown.numbers if any(f": {value} %" in each for value in compared)]
        ends = [tuple(map(_number, found)) for found in LEVEL.findall(" ".join(beside))]
        if any(a[1] < b[0] or b[1] < a[0] for a, b in combinations(ends, 2)):
            yield f"no difference above intervals that lie apart: {sentence[:60]}..."


def _close_by_chance(shown: Shown) -> Iterator[str]:
    for sentence in shown.sentences:
        for r, p in CORRELATION.findall(sentence):
            if abs(_number(r)) >= 0.5 and not FEW.search(sentence):
                yield f"r {r} beside p = {p}, and no reason: {sentence[:60]}..."


def _order(shown: Shown) -> Iterator[str]:
    for caption, rows in shown.rows:
        word = ORDER.findall(caption)[0].lower()
        steps = np.diff([value for value in rows if np.isfinite(value)])
        rising, falling = bool((steps >= -1e-9).all()), bool((steps <= 1e-9).all())
        one_way = {"lowest": rising, "least": rising, "largest": falling, "highest": falling, "longest": falling}
        kept = one_way.get(word, rising or falling)
        if len(rows) > 1 and not kept:
            yield f"“{caption[:60]}”, drawn {', '.join(f'{value:.3g}' for value in rows[:8])}"


def _names(shown: Shown) -> Iterator[str]:
    """What Next names, the verdict or its numbers name, too."""
    there = " ".join((*shown.sentences, *shown.numbers))
    for name in NAME.findall(shown.advice):
        if f"“{name}”" not in there and name not in shown.headings:
            yield f"Next names “{name}”, and nothing else does: {shown.advice}"


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace("\u202f", ""))


def _same_side(lower: str, upper: str) -> bool:
    return _number(lower) * _number(upper) > 0
