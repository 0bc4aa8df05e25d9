"""What do README and docs quote of the product, and which of it does the product not say (any more)?"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from tests.said_today import plain

_QUOTED = re.compile(r"^> (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_NUMBER = re.compile(r"\d (?:%|points?) \[[−+-]?\d")


def quotations(text: str) -> list[str]:
    """The sentences that a page quotes, a line each, without the marks of bold letters.

    >>> quotations("It says:\\n\\n> **SVM loses 3 points.** Now\\n> Next: look.\\n\\nSo it is.")
    ['SVM loses 3 points. Now', 'Next: look.']
    """
    return [plain(line.replace("**", "")) for line in _QUOTED.findall(text)]


def printed(text: str) -> list[str]:
    """The lines of what a program prints: of blocks without a language that hold a number with its interval."""
    blocks = [block for language, block in _BLOCK.findall(text) if not language and _NUMBER.search(block)]
    return [line for block in blocks for line in block.splitlines()]


def stale(
    file: str, quoted: Iterable[str], said: str | Iterable[str], *, renew: str, on_any_machine: bool = False
) -> list[str]:
    """What a file quotes and the product does not say today: where, what stands there, what is said, what to do.

    `said` are lines that quotations must equal, or a text that they must be in. Processors differ in the last bit of
    a sum, so that numbers of models that are fitted anew may, `on_any_machine`, be one apart in their last digit.

    >>> print(*stale("README.md", ["A loses 2 points."], ["A loses 3 points."], renew="Write that."))
    README.md quotes:          A loses 2 points.
    The product says today:    A loses 3 points.
    Write that.
    """
    lines = said.splitlines() if isinstance(said, str) else list(said)
    return [
        f"{file} quotes:          {line}\nThe product says today:    {_nearest(line, lines)}\n{renew}"
        for line in quoted
        if line not in said and not (on_any_machine and any(same_but_for_rounding(line, each) for each in lines))
    ]


def same_but_for_rounding(line: str, other: str) -> bool:
    """Whether two lines are the same words, with numbers at most one apart in their last digit.

    >>> same_but_for_rounding("rho 0.860 [0.726, 0.931]", "rho 0.860 [0.726, 0.930]")
    True
    >>> same_but_for_rounding("rho 0.860, n = 10", "rho 0.862, n = 10")
    False
    """
    numbers = [_DIGITS.findall(each) for each in (line, other)]
    if _DIGITS.sub("#", line) != _DIGITS.sub("#", other):
        return False
    return all(map(_are_neighbours, *numbers))


def _are_neighbours(one: str, other: str) -> bool:
    n = len(one.partition(".")[2])
    as_long = n == len(other.partition(".")[2]) > 0
    return one == other or (as_long and abs(float(one) - float(other)) < 1.5 * 10**-n)


def _nearest(line: str, lines: list[str]) -> str:
    return next(iter(get_close_matches(line, lines, n=1, cutoff=0.3)), "nothing like it, but: " + " | ".join(lines))


def numbers_outside_quotations(text: str) -> Iterator[str]:
    """Lines that give a number with its interval, and neither quote it nor show it as printed.

    >>> list(numbers_outside_quotations("> 3.0 % [1.0, 5.0]\\n\\nIt is 3.0 % [1.0, 5.0] here."))
    ['It is 3.0 % [1.0, 5.0] here.']
    """
    rest = _BLOCK.sub("", _QUOTED.sub("", text))
    return (line for line in rest.splitlines() if _NUMBER.search(line))
