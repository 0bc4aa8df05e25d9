"""How often were sentences of each kind wrong, where the truth was known?

`claim_error_rates.json` is written by `python -m benchmarks.bench_verdicts --write`, on simulated worlds and through
the real code; the whole table is docs/measured/verdicts.md. Nothing decides by it: it only says how far a sentence can
be trusted.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.wording import count

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
    held_to = [rate for rate in rates() if rate.kind == claim.kind and not rate.reported]
    if not claim.decided or not held_to:
        return _seed(claim)
    # An effect is claimed wrongly where there is none, and denied wrongly where there is one.
    could_fail = [rate for rate in held_to if (rate.effect != 0) == (claim.decision == "small")]
    held_to, where = (could_fail, _WHERE[claim.decision == "small"]) if could_fail else (held_to, "")
    n_wrong, n = sum(rate.n_wrong for rate in held_to), sum(rate.n for rate in held_to)
    worst = max(held_to, key=lambda rate: rate.n_wrong / rate.n)
    overall = f"Sentences like this one were wrong in {count(n_wrong)} of {count(n)} simulated cases{where}."
    hardest = f"In the hardest world it was {count(worst.n_wrong)} of {count(worst.n)}." if worst.n_wrong else ""
    return " ".join(part for part in (overall, hardest, _seed(claim)) if part)


def _seed(claim: Claim) -> str:
    """How much of the decision hangs on the seed, where that is worth a word."""
    if claim.stability > 0.995:
        return ""
    return f"Another random seed would decide the same in about {100 * claim.stability:.0f} % of cases."
