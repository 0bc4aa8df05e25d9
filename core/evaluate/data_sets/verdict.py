"""What is to be known of a data set before anything is trained on it? In a sentence or two."""

from collections.abc import Sequence

from core.data.dataset import Kind
from core.evaluate.data_sets.copies import ExactCopies
from core.evaluate.data_sets.labels import LabelCounts
from core.evaluate.data_sets.numbers import NumberByClass
from core.evaluate.intervals import wilson
from core.evaluate.wording import MINUS, Verdict, count, listed, percent, plural

NOUNS = {"image": "image", "text": "text", "tabular": "row"}
FEW = 30
"""With fewer samples than this, the accuracy of a class is hardly known at all."""
TELLING = 0.05
"""From this share of a number's variance between classes on, the classes are said to differ in it."""


def data_verdict(
    kind: Kind,
    labels: LabelCounts,
    copies: ExactCopies,
    number: NumberByClass | None = None,
    *,
    constant: Sequence[str] = (),
) -> Verdict:
    """Size, classes and copies in a sentence, what to do about them, and how the classes differ in a number.

    Examples
    --------
    >>> import numpy as np
    >>> from core.evaluate.data_sets import label_counts
    >>> y = np.array([0, 0, 1, 1])
    >>> print(data_verdict("text", label_counts(y, ("no", "yes")), ExactCopies(np.array([0, 1, 2, 1]), y)).headline)
    4 texts in 2 classes, evenly spread (2 samples each); 1 exact duplicate, and its copy has another label.
    """
    n, noun = labels.n_samples, NOUNS[kind]
    headline = (
        f"{plural(n, noun)} in {plural(len(labels.rows), 'class', 'classes')}, {_spread(labels)}; {_copies(copies)}."
    )
    advice = " ".join(
        part for part in (_of_conflicts(copies), _of_copies(copies), _of_few(labels), _of_constant(constant)) if part
    )
    return Verdict(headline, "", advice, _findings(labels, number))


def _spread(labels: LabelCounts) -> str:
    least, most = labels.smallest, labels.largest
    if least.n == most.n:
        return f"evenly spread ({plural(most.n, 'sample')} each)"
    if labels.even:
        return f"about evenly spread ({count(least.n)} to {count(most.n)} samples each)"
    return f"unevenly spread: from {plural(least.n, 'sample')} ({least.label}) to {count(most.n)} ({most.label})"


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


def _of_conflicts(copies: ExactCopies) -> str:
    n = len(copies.conflicting)
    if n == 0:
        return ""
    return (
        f"Look at the {plural(n, 'sample')} whose content has more than one label: whatever a model says of them, some "
        "are counted wrong."
    )


def _of_copies(copies: ExactCopies) -> str:
    if copies.n_copies == 0:
        return ""
    share = percent(copies.n_copies / copies.n_samples)
    return f"Copies on both sides of a split flatter the accuracy: keep one of each ({share} would go)."


def _of_few(labels: LabelCounts) -> str:
    few = [row for row in labels.rows if row.n < FEW]
    if not few:
        return ""
    n = labels.smallest.n
    width = wilson(n / 2, float(n)).width / 2
    which = f"{plural(len(few), 'class has', 'classes have')} fewer than {FEW} samples"
    return (
        f"{which} ({listed([row.label for row in few])}): with {n}, an accuracy around 50 % is known to "
        f"±{100 * width:.0f} points only."
    )


def _of_constant(constant: Sequence[str]) -> str:
    if not constant:
        return ""
    return f"{plural(len(constant), 'column holds', 'columns hold')} one value only ({listed(constant)}): of no use."


def _findings(labels: LabelCounts, number: NumberByClass | None) -> tuple[str, ...]:
    largest = labels.largest
    share = percent(largest.share, largest.interval)
    guess = f"Always guessing {largest.label!r} is right for {share} of the samples: read any accuracy against that."
    return (guess,) if number is None else (guess, _difference(number))


def _difference(number: NumberByClass) -> str:
    name = number.title.split(" (")[0].lower() if "(" in number.title else number.title
    if number.explained < TELLING:
        return f"The classes hardly differ in {name}: they explain {percent(number.explained)} of its variance."
    least, most = (end(number.classes, key=lambda row: row.median) for end in (min, max))
    low, high = (f"{row.median:.3g}".replace("-", MINUS) for row in (least, most))
    return (
        f"The classes differ in {name}: they explain {percent(number.explained)} of its variance, with medians from "
        f"{low} ({least.name}) to {high} ({most.name}). A model may go by that."
    )
