"""What is to be known of a data set before anything is trained on it? In a sentence or two."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.dataset import Kind
from touchstone.core.data.units import CONTENT
from touchstone.core.evaluate.data_sets.summaries import ExactCopies, LabelCounts, NumberByClass
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import MINUS, Verdict, count, listed, percent, plural, quoted, samples_of

NOUNS = {"image": "image", "text": "text", "tabular": "row"}
FEW = 30
"""With fewer samples than this, the accuracy of a class is hardly known at all."""
NEXT = "Next: find out how far accuracy falls on new sources."
"""What to do where nothing in the data has to be looked at first."""
TELLING = 0.05
"""From this share of a number's variance between classes on, the classes are said to differ in it."""


def data_verdict(
    kind: Kind,
    labels: LabelCounts,
    copies: ExactCopies,
    number: NumberByClass | None = None,
    *,
    constant: Sequence[str] = (),
    units: Integer[np.ndarray, " n_samples"] | None = None,
    unit_word: str = "unit",
) -> Verdict:
    """Size, classes and copies in a sentence, what to do about them, and how the classes differ in a number.

    `units` say which samples belong together (None: each is one), and `unit_word` what they are called: no split has
    them on both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.data_sets import label_counts
    >>> y = np.array([0, 0, 1, 1])
    >>> print(data_verdict("text", label_counts(y, ("no", "yes")), ExactCopies(np.array([0, 1, 2, 1]), y)).headline)
    4 texts in 2 classes, evenly spread (2 samples each); 1 exact duplicate, and its copy has another label.
    """
    n, noun = labels.n_samples, NOUNS[kind]
    n_units = n if units is None or unit_word == CONTENT else len(np.unique(units))  # copies are told by themselves
    samples, classes = samples_of(n, noun, n_units, unit_word), plural(len(labels.rows), "class", "classes")
    headline = f"{samples} in {classes}, {_spread(labels)}; {_copies(copies)}."
    to_do = (_next(copies, copies.are_in_one_unit(units)), _of_few(labels), _of_constant(constant))
    advice = " ".join(filter(None, to_do)) or NEXT
    return Verdict(headline, "", advice, _findings(labels, number))


def _spread(labels: LabelCounts) -> str:
    least, most = labels.smallest, labels.largest
    if least.n == most.n:
        return f"evenly spread ({plural(most.n, 'sample')} each)"
    if labels.even:
        return f"about evenly spread ({count(least.n)} to {count(most.n)} samples each)"
    fewest = f"{plural(least.n, 'sample')} ({quoted(least.label)})"
    return f"unevenly spread: from {fewest} to {count(most.n)} ({quoted(most.label)})"


def _copies(copies: ExactCopies) -> str:
    if copies.n_copies == 0:
        return "no exact duplicates"
    duplicates = plural(copies.n_copies, "exact duplicate")
    contents = copies.n_conflicting_contents
    if contents == 0:
        return (
            f"{duplicates}, all with the label of their first copy"
            if copies.n_copies > 1
            else f"{duplicates}, with one label"
        )
    if copies.n_copies == 1:
        return f"{duplicates}, and its copy has another label"
    return f"{duplicates}, and {plural(contents, 'content')} with more than one label"


def _next(copies: ExactCopies, together: bool) -> str:
    """What to do about copies, those with other labels first."""
    n = len(copies.conflicting)
    look = f"look at the {plural(n, 'sample')} with equal content and different labels"
    share = percent(copies.n_copies / copies.n_samples)
    keep = f"keep one of each duplicate ({share} would go): duplicates across a split inflate accuracy"
    todo = [look] * bool(n) + [keep] * (copies.n_copies > 0 and not together)
    return f"Next: {'. Then '.join(todo)}." if todo else ""


def _of_few(labels: LabelCounts) -> str:
    few = [row for row in labels.rows if row.n < FEW]
    if not few:
        return ""
    n = labels.smallest.n
    width = wilson(n / 2, float(n)).width / 2
    which = f"{plural(len(few), 'class has', 'classes have')} fewer than {FEW} samples"
    return (
        f"{which} ({listed([quoted(row.label) for row in few])}). With {n}, the 95 % CI of an accuracy near 50 % is "
        f"±{100 * width:.0f} points."
    )


def _of_constant(constant: Sequence[str]) -> str:
    if not constant:
        return ""
    names = listed([quoted(name) for name in constant])
    return f"{plural(len(constant), 'column holds', 'columns hold')} a single value ({names}) and cannot help a model."


def _findings(labels: LabelCounts, number: NumberByClass | None) -> tuple[str, ...]:
    largest = labels.largest
    share = percent(largest.share, largest.interval)
    guess = f"Majority-class baseline: always predicting {quoted(largest.label)} reaches {share} accuracy."
    return (guess,) if number is None else (guess, _difference(number))


def _difference(number: NumberByClass) -> str:
    name = number.title.split(" (")[0].lower() if "(" in number.title else number.title
    if number.explained < TELLING:
        return f"Classes hardly differ in {name}: class explains {percent(number.explained)} of its variance."
    least, most = (end(number.classes, key=lambda row: row.median) for end in (min, max))
    low, high = (f"{row.median:.3g}".replace("-", MINUS) for row in (least, most))
    return (
        f"Classes differ in {name}, which a model may use: class explains {percent(number.explained)} of its variance. "
        f"Medians go from {low} ({quoted(least.name)}) to {high} ({quoted(most.name)})."
    )
