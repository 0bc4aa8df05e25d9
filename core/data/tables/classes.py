"""Which names mean the same class? `LABEL_0` and 0, 1.0 and 1: only where nothing else could be meant."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence

_WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
_NUMBERED = re.compile(r"(?:label|class|cls|c)?[\s_:-]*(\d+)(?:\.0+)?", re.ASCII | re.IGNORECASE)
_TRUTH_VALUES = {"true": "1", "false": "0"}
_SAME = 0.999  # the share of rows from which on two columns say the same


def _whole(name: str) -> str:
    match = _WHOLE.fullmatch(name.strip())
    return match.group(1) if match else name


def _numbered(name: str) -> str:
    match = _NUMBERED.fullmatch(name.strip())
    return str(int(match.group(1))) if match else name


def _truth_value(name: str) -> str:
    return _TRUTH_VALUES.get(name.strip().lower(), _whole(name))


def _folded(name: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", name.casefold()).split()) or name


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "": str,
    "without '.0'": _whole,
    "by their numbers": _numbered,
    "true as 1, false as 0": _truth_value,
    "whatever their case and punctuation": _folded,
}


def common_names(truth: Collection[str], predicted: Collection[str]) -> tuple[dict[str, str], str] | None:
    """A name for every name on either side, and how they were matched; None where they have nothing in common.

    Names are kept as they are, unless another way of reading them, that never takes two names of one side for the
    same, brings the sides closer together. Whole numbers lose their ".0" in any case, as in "1.0". Numbers that one
    side may count from 0 and the other from 1 match nothing.

    >>> common_names({"0", "1"}, {"LABEL_0", "LABEL_1"})
    ({'0': '0', '1': '1', 'LABEL_0': '0', 'LABEL_1': '1'}, 'by their numbers')
    >>> common_names({"0", "1"}, {"ham", "spam"}) is None
    True
    >>> common_names({"0", "1"}, {"LABEL_1", "LABEL_2"}) is None
    True
    """
    best = None
    for how, spelling in _SPELLINGS.items():
        known, said = {spelling(name) for name in truth}, {spelling(name) for name in predicted}
        apart = spelling is _numbered and _counted_apart(known, said)
        if len(known) == len(set(truth)) and len(said) == len(set(predicted)) and known & said and not apart:
            n_names = len(known | said)
            if best is None or n_names < best[0]:
                best = n_names, how, spelling
    if best is None:
        return None
    _, how, spelling = best
    if spelling is _folded:
        shown = {spelling(name): name for name in (*sorted(predicted), *sorted(truth))}
        return {name: shown[spelling(name)] for name in sorted({*truth, *predicted})}, how
    names = {name: spelling(name) for name in sorted({*truth, *predicted})}
    return drop_points(names), how


def counted_apart(truth: Collection[str], predicted: Collection[str]) -> bool:
    """Whether plain codes of both sides are the same but for one that all are higher by, as if counted from 0 and 1.

    One side may lack some classes. Sides of which one holds all codes of the other are taken as they stand.

    >>> counted_apart({"1", "2", "3"}, {"0", "1", "2"}), counted_apart({"0", "1", "2"}, {"0", "2"})
    (True, False)
    """
    if not all(name.isdecimal() and name == str(int(name)) for name in {*truth, *predicted}):
        return False
    known, said = {int(name) for name in truth}, {int(name) for name in predicted}
    if known <= said or said <= known or {min(known), min(said)} != {0, 1}:
        return False
    shifted = {code + min(known) - min(said) for code in said}
    return shifted <= known or known <= shifted


def _counted_apart(known: set[str], said: set[str]) -> bool:
    """Whether both sides have numbers that the other lacks, and begin at different ones: as if counted from 0 and 1."""
    if known <= said or said <= known:
        return False
    lowest = [min((int(name) for name in names if name.isdecimal()), default=0) for names in (known, said)]
    return lowest[0] != lowest[1]


def drop_points(names: dict[str, str]) -> dict[str, str]:
    """Whole numbers without ".0", where all names are whole numbers and no two become one.

    >>> drop_points({"0.0": "0.0", "1.0": "1.0"})
    {'0.0': '0', '1.0': '1'}
    """
    shown = set(names.values())
    short = {name: _whole(name) for name in shown}
    if all(re.fullmatch(r"[+-]?\d+", name) for name in short.values()) and len(set(short.values())) == len(shown):
        return {name: short[value] for name, value in names.items()}
    return names


def renaming(names: Sequence[str], labels: Sequence[str], *, least: float = _SAME) -> dict[str, str] | None:
    """Which name stands for which label, row by row; None where rows disagree, or two names stand for one label.

    >>> renaming(["0", "1", "0"], ["cat", "dog", "cat"])
    {'0': 'cat', '1': 'dog'}
    >>> renaming(["0", "1", "0"], ["cat", "dog", "dog"]) is None
    True
    """
    pairs = Counter(zip(names, labels, strict=True))
    mapping: dict[str, str] = {}
    for (name, label), _ in pairs.most_common():
        if name not in mapping:
            mapping[name] = label
    n_same = sum(count for (name, label), count in pairs.items() if mapping[name] == label)
    if len(set(mapping.values())) < len(mapping) or n_same <= least * len(names):
        return None
    return mapping


def several_in_one(labels: Sequence[str]) -> int | None:
    """The first row whose label is several labels, as in "cat|dog" where both stand alone elsewhere; else None.

    >>> several_in_one(["cat", "dog", "cat|dog"]), several_in_one(["black, white", "red"])
    (2, None)
    """
    alone = dict.fromkeys(labels)  # in the order of the rows
    for label in alone:
        for mark in "|;,":
            parts = [part.strip() for part in label.split(mark)]
            if len(parts) > 1 and all(part in alone for part in parts):
                return labels.index(label) if isinstance(labels, list) else list(labels).index(label)
    return None
