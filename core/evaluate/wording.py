"""How is a number written, and what does a verdict say? One way for every sentence, table and figure."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.claims import Claim, entry_of
from touchstone.core.evaluate.intervals import Interval

THIN_SPACE = "\u202f"  # the narrow one that does not break
MINUS = "\u2212"
NOT_YET = "not known yet"


class Sentences(str):
    """Sentences as any text, which also know the kinds of claims that each rests on: `parts`, text and kinds."""

    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def without(self, kinds: Collection[str]) -> str:
        """Those that rest on none of these kinds."""
        return " ".join(text for text, rests_on in self.parts if not set(kinds) & set(rests_on))


def resting(text: str, *kinds: str) -> Sentences:
    """Sentences that rest on claims of these kinds, and are not said where one of them is muted.

    >>> resting("Accuracy falls.", "matched_subsets.falls").without(["matched_subsets.falls"])
    ''
    """
    sentences = Sentences(text)
    sentences.parts = ((text, kinds),)
    return sentences


def in_a_row(*texts: str) -> Sentences:
    """Texts after each other; each still knows what it rests on.

    >>> in_a_row("First.", resting("It falls.", "matched_subsets.falls"), "").without(["matched_subsets.falls"])
    'First.'
    """
    sentences = Sentences(" ".join(filter(None, texts)))
    known = (text.parts if isinstance(text, Sentences) else ((text, ()),) for text in texts if text)
    sentences.parts = tuple(part for parts in known for part in parts)
    return sentences


@dataclass(frozen=True)
class Verdict:
    r"""What a question comes to, in plain sentences: for the card (`headline`, `used`, `advice`), and `findings` below.

    `headline` holds the numbers with their intervals, `used` says of how many, `advice` what to do now. `claims` are
    what the sentences rest on, that of the headline first; `muted` are kinds of them that are not said, each with why.

    >>> Verdict("Accuracy falls.", "n = 10.", "", ("Nothing else.",)).text
    'Accuracy falls.\nn = 10.\nNothing else.'
    """

    headline: str
    used: str
    advice: str
    findings: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    muted: tuple[tuple[str, str], ...] = ()

    def muting(self, reasons: Mapping[str, str]) -> "Verdict":
        """The same without sentences that rest on muted kinds of claim; the kinds are named with their reasons.

        `reasons` are by kind. The claims themselves stay.

        >>> from touchstone.core.evaluate.claims import claim
        >>> falls = claim("matched_subsets.falls", 0.1, Interval(0.05, 0.15), 0.001)
        >>> verdict = Verdict(resting("It falls.", falls.kind), "n = 9.", "", (), (falls,))
        >>> print(verdict.muting({falls.kind: "Known"}).text)
        The answer rests on a muted claim.
        n = 9.
        Muted: M01 Accuracy falls (Known).
        """
        muted = {kind: reason for kind, reason in reasons.items() if kind in {made.kind for made in self.claims}}
        if not muted:
            return self
        sentences = (self.headline, self.used, self.advice, *self.findings)
        headline, used, advice, *findings = (in_a_row(text).without(muted) for text in sentences)
        named = (f"Muted: {entry_of(kind).name} ({reason})." for kind, reason in muted.items())
        return replace(
            self,
            headline=headline or "The answer rests on a muted claim.",
            used=used,
            advice=advice,
            findings=(*filter(None, findings), *named),
            muted=tuple(muted.items()),
        )

    @property
    def text(self) -> str:
        """Everything in one piece, a line each, for a report."""
        return "\n".join(line for line in (self.headline, self.used, self.advice, *self.findings) if line)


def percent(value: float, interval: Interval | None = None) -> str:
    """A fraction as percent with one decimal, its interval in brackets.

    >>> percent(0.974, Interval(0.968, 0.979))
    '97.4 % [96.8, 97.9]'
    >>> percent(0.5)
    '50.0 %'
    """
    return _with_ends(f"{100 * value:.1f} %", value, interval, lambda end: f"{100 * end:.1f}")


def confidence(value: float) -> str:
    """A confidence as percent, with as many decimals as tell it from 100 %, six at most.

    >>> confidence(0.5), confidence(0.99987), confidence(1.0)
    ('50.0 %', '99.99 %', '100.0 %')
    """
    below = 100 * (1 - value)
    if not 0 < below < 0.05:
        return percent(value)
    return f"{100 * value:.{min(math.ceil(-math.log10(below)), 6)}f} %"


def points(value: float, interval: Interval | None = None) -> str:
    """A difference of two fractions in percentage points.

    >>> points(-0.0042, Interval(-0.011, 0.0021))
    '−0.4 points [−1.1, 0.2]'
    """
    return _with_ends(f"{fixed(100 * value, 1)} points", value, interval, lambda end: fixed(100 * end, 1))


def gap(value: float, interval: Interval | None = None) -> str:
    """A difference of two ratios, with three decimals throughout.

    >>> gap(0.0159, Interval(-0.0068, 0.0388))
    '.016 [−.007, .039]'
    """
    return _with_ends(bare(value, 3), value, interval, lambda end: bare(end, 3))


def ratio(value: float, interval: Interval | None = None) -> str:
    """Rho with three decimals and no leading zero, the ends of its interval with two.

    >>> ratio(0.845, Interval(0.81, 0.88))
    '.845 [.81, .88]'
    >>> ratio(1.002), ratio(-0.0004)
    ('1.002', '.000')
    """
    return _with_ends(bare(value, 3), value, interval, lambda end: bare(end, 2))


def rho(value: float, interval: Interval | None = None) -> str:
    """Rho by its name.

    >>> rho(0.845, Interval(0.81, 0.88))
    'rho .845 [.81, .88]'
    """
    return f"rho {ratio(value, interval)}"


def count(n: int) -> str:
    """A whole number, thousands set apart by a thin space.

    >>> count(1797).replace(THIN_SPACE, "_")
    '1_797'
    """
    return f"{n:,}".replace(",", THIN_SPACE)


def p_value(p: float) -> str:
    """A p-value to three decimals.

    >>> p_value(0.0312), p_value(0.0004), p_value(1.0)
    ('p = .031', 'p < .001', 'p = 1.000')
    """
    if math.isnan(p):
        return f"p {NOT_YET}"
    return "p < .001" if p < 0.001 else f"p = {bare(p, 3)}"


def bare_p(p: float) -> str:
    """A p-value where its column says what it is.

    >>> bare_p(0.0312), bare_p(0.0004)
    ('.031', '< .001')
    """
    return p_value(p).removeprefix("p ").removeprefix("= ")


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "source"), plural(3, "class", "classes")
    ('1 source', '3 classes')
    """
    return f"{count(n)} {noun if n == 1 else nouns or plural_of(noun)}"


def samples_of(n: int, noun: str, n_units: int, unit: str) -> str:
    """How many samples there are, and of how many units where these are not the samples.

    >>> samples_of(100, "text", 10, "author"), samples_of(3, "text", 3, "sample")
    ('100 texts from 10 authors', '3 texts')
    """
    return plural(n, noun) if n_units == n else f"{plural(n, noun)} from {plural(n_units, unit)}"


def bare(value: float, decimals: int) -> str:
    """A number without its leading zero.

    >>> bare(-0.25, 2), bare(1.5, 1), bare(-0.001, 2)
    ('−.25', '1.5', '.00')
    """
    text = fixed(value, decimals)
    return text.replace("0.", ".", 1) if text.lstrip(MINUS).startswith("0.") else text


def exact(number: int | float) -> str:
    """A number as one would write it, and none of it lost.

    >>> exact(0.5), exact(1 / 3), exact(10_000), exact(12.0)
    ('0.5', '0.3333333333333333', '10000', '12')
    """
    return f"{number:g}" if float(f"{number:g}") == number and abs(number) < 1e5 else repr(number)


def fixed(value: float, decimals: int) -> str:
    """A number with a real minus sign, and never "minus nothing".

    >>> fixed(-0.25, 1), fixed(-0.001, 2)
    ('−0.2', '0.00')
    """
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def quoted(name: object) -> str:
    """Somebody's own word, such as a class's name, within a sentence of ours.

    >>> quoted("cat")
    '“cat”'
    """
    return f"“{name}”"


def listed(names: Sequence[str], *, most: int = 3) -> str:
    """Names in a sentence, the rest of a long list as a number.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 others')
    """
    shown = list(names[:most])
    if len(names) > most:
        shown.append(plural(len(names) - most, "other"))
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _with_ends(text: str, value: float, interval: Interval | None, write: Callable[[float], str]) -> str:
    if math.isnan(value):
        return NOT_YET
    return f"{text} [{write(interval.lower)}, {write(interval.upper)}]" if interval and interval.known else text
