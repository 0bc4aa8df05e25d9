"""How often were sentences of each kind wrong, where the truth was known?

`claim_error_rates.json` is written by `python -m benchmarks.bench_verdicts --write`, on simulated worlds and through
the real code; the whole table is docs/measured/verdicts.md. Nothing decides by it: it only says how far a sentence can
be trusted.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from touchstone.core.evaluate.claims import KINDS, Claim
from touchstone.core.evaluate.wording import count, points

FILE = Path(__file__).with_suffix(".json")
_WHERE = (" where there was nothing to find", " where there was something to find")


@dataclass(frozen=True)
class Rate:
    """One kind of claim in one world: data sets, and how many of them got a wrong claim, a right one, two claims.

    `effect` is the true one in the claim's unit, `n_best` how often the best test that knows the world decides for it
    (None where there is no such test), `n_contrary` how often two seeds decided against each other, `n_unsteady` how
    often only one of them decided. A `reported` world is one that no method can be held to.
    """

    kind: str
    world: str
    effect: float
    n: int
    n_wrong: int
    n_right: int
    n_best: int | None
    n_contrary: int
    n_unsteady: int
    reported: bool = False


@cache
def rates() -> tuple[Rate, ...]:
    """All that was measured, in the order of the table."""
    return tuple(Rate(**row) for row in json.loads(FILE.read_text(encoding="utf-8")))


def written(measured: tuple[Rate, ...]) -> str:
    """The file's text, a line for each row.

    >>> written(())
    '[]\\n'
    """
    rows = [json.dumps(asdict(rate)) for rate in measured]
    return "[" + ("\n" + ",\n".join(rows) + "\n" if rows else "") + "]\n"


def reliability(claim: Claim | None) -> str:
    """How often claims of this kind were wrong, for the help beside a verdict; nothing where it was not measured.

    Counted in the worlds where such a claim is wrong: easy ones would flatter it.

    >>> reliability(None)
    ''
    """
    if claim is None:
        return ""
    wrong = _wrong(claim.kind, small=claim.decision == "small") if claim.decided else ""
    return " ".join(filter(None, (wrong, _seed(claim))))


def about(claim: Claim | None) -> str:
    """Which kind of claim it is, by its code, when such a claim is made, and how often it was wrong; empty for None."""
    if claim is None:
        return ""
    entry = claim.of_kind
    return " ".join(filter(None, (f"{entry.name}.", entry.when, _size(claim.smallest, entry.unit), reliability(claim))))


def _wrong(kind: str, *, small: bool) -> str:
    held_to = [rate for rate in rates() if rate.kind == kind and not rate.reported]
    if not held_to:
        return ""
    # An effect is claimed wrongly where there is none, and denied wrongly where there is one.
    could_fail = [rate for rate in held_to if (rate.effect != 0) == small]
    held_to, where = (could_fail, _WHERE[small]) if could_fail else (held_to, "")
    n_wrong, n = sum(rate.n_wrong for rate in held_to), sum(rate.n for rate in held_to)
    worst = max(held_to, key=lambda rate: rate.n_wrong / rate.n)
    overall = f"Sentences like this one were wrong in {count(n_wrong)} of {count(n)} simulated cases{where}."
    hardest = f"In the hardest world it was {count(worst.n_wrong)} of {count(worst.n)}." if worst.n_wrong else ""
    return " ".join(filter(None, (overall, hardest)))


def _seed(claim: Claim) -> str:
    """How much of the decision hangs on the seed, where that is worth a word."""
    if claim.stability > 0.995:
        return ""
    return f"Another random seed would decide the same in about {100 * claim.stability:.0f} % of cases."


def _size(smallest: float, unit: str) -> str:
    if not smallest:
        return ""
    size = points(smallest) if unit == "points" else f"{smallest:g} {unit}"
    return f"An effect below {size} is not worth a sentence."


# What does each code mean? docs/claims.md is this text: `python -m core claims`.


_INTRO = """# Kinds of claims

What a verdict decides is a claim of one of these kinds. It is made only where its 95 % interval and its corrected test
agree, and where the effect is worth a sentence; all else is undecided. Each kind has a code. It stands
in the help beside a verdict, in reports and in JSON. A [check](checks.md#claims) requires or mutes claims by code.

Rates of error are counted in [simulated worlds](measured/verdicts.md) with known truth. This text is printed by
`python -m core claims`.

| code | claim |
|---|---|
"""


def reference() -> str:
    """What every code means, as Markdown."""
    rows = (f"| [{each.code}](#{each.page.partition('#')[2]}) | {each.title} |\n" for each in KINDS.values())
    return "\n".join([_INTRO + "".join(rows), *map(claim_reference, KINDS)])


def claim_reference(kind: str) -> str:
    """What one kind of claim says and when, how often it was wrong, and what to do, as Markdown.

    >>> print(claim_reference("matched_subsets.baseline").splitlines()[0])
    ## M06 Accuracy beats the majority class
    """
    entry = KINDS[kind]
    wrong = [_wrong(kind, small=False), f"Of “small”: {_wrong(kind, small=True)}" if entry.small else ""]
    made = " or ".join(f"“{decision}”" for decision in entry.made)
    lines = {
        "above": entry.above,
        "below": entry.below,
        "small": entry.small,
        "when": f"{entry.when} {_size(entry.smallest, entry.unit)}".strip(),
        "how often wrong": " ".join(filter(None, wrong)),
        "what to do": entry.advice,
    }
    listed = "".join(f"- **{name}**: {text}\n" for name, text in lines.items() if text)
    return f"## {entry.name}\n\nKind `{kind}`. The claim is made where its decision is {made}.\n\n{listed}"
