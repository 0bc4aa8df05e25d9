"""How do rows of two files belong together? `join` of the roles: the name that is stored, and the same in words."""

import re

LINE = "(line)"
_SHIFTED = re.compile(r"\(line ([+-]\d+)\)")


def name_of_step(step: int) -> str:
    """What `join` calls rows of predictions that belong to the row of the truth `step` rows further down.

    >>> name_of_step(1), name_of_step(-2)
    ('(line +1)', '(line -2)')
    """
    return f"(line {step:+d})"


def step_named(name: str) -> int | None:
    """By how many rows one file is moved in the way by line that `join` calls so; None where it is none.

    >>> step_named("(line -2)"), step_named("image")
    (-2, None)
    """
    match = _SHIFTED.fullmatch(name)
    return int(match[1]) if match else None


def in_words(name: str) -> str:
    """A name of `join` as people read it.

    >>> in_words("(line)"), in_words("(line +0)")
    ('line by line', 'line by line, from the first row on')
    >>> in_words("(line -1)")
    'line by line, each with the truth 1 row above'
    >>> in_words("image"), in_words("subject + visit")
    ("by column 'image'", 'by columns subject + visit')
    """
    if name == LINE:
        return "line by line"
    step = step_named(name)
    if step is None:
        return f"by columns {name}" if " + " in name or " = " in name else f"by column {name!r}"
    if step == 0:
        return "line by line, from the first row on"
    n_rows, where = abs(step), "below" if step > 0 else "above"
    return f"line by line, each with the truth {n_rows} {'row' if n_rows == 1 else 'rows'} {where}"
