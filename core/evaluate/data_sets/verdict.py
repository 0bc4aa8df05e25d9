"""What is to be known of a data set before anything is trained on it? In a sentence or two."""

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from scipy import sparse

from touchstone.core.data.dataset import CONTENT, Kind
from touchstone.core.evaluate.data_sets.summaries import ExactCopies, LabelCounts, NumberByClass
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import MINUS, Verdict, count, listed, percent, plural, quoted, samples_of
from touchstone.core.represent.word_vectors import tokenize

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


# Which words are frequent, and which ones are characteristic of a class?


LEAST_TEXTS = 3
"""A word in fewer texts is never called characteristic."""


@dataclass(frozen=True)
class Word:
    """A word of one class (None: of all): how often it occurs, in how many texts, and how characteristic it is.

    `share_elsewhere` is the share of the other classes' texts that have it; `log_odds` (shrunk by the prior) and `z`
    (log-odds over their standard error) compare the two. All three are NaN where no class is told from others. `stands`
    says that Fisher's exact test, corrected for all words and classes (Bonferroni, 5 %), does not leave it to chance.
    """

    word: str
    label: str | None
    n: int
    n_texts: int
    share_of_texts: float
    share_elsewhere: float = float("nan")
    log_odds: float = float("nan")
    z: float = float("nan")
    stands: bool = False


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The words of a corpus by class: `occurrences` and `n_texts_with` are sparse (n_classes, n_words) counts.

    `allowed` tells which words are shown; stop words, if they are set apart, are not.
    """

    class_names: tuple[str, ...]
    words: tuple[str, ...]
    occurrences: sparse.csr_array
    n_texts_with: sparse.csr_array
    n_texts: Integer[np.ndarray, " n_classes"]
    allowed: Bool[np.ndarray, " n_words"]

    @property
    def n_words(self) -> int:
        """How many words there are, repetitions counted."""
        return int(self.occurrences.sum())

    def without(self, stop_words: Collection[str]) -> "WordCounts":
        """The same counts, with the stop words not shown; shares and odds stay as they are."""
        allowed = np.array([word not in stop_words for word in self.words], dtype=bool)
        return WordCounts(self.class_names, self.words, self.occurrences, self.n_texts_with, self.n_texts, allowed)

    def frequent(self, label: str | None = None, *, most: int = 20) -> tuple[Word, ...]:
        """The most frequent words of a class, or of all texts; ties in alphabetical order."""
        rows = slice(None) if label is None else [self.class_names.index(label)]
        n = np.asarray(self.occurrences[rows].sum(axis=0)).ravel()
        n_texts = np.asarray(self.n_texts_with[rows].sum(axis=0)).ravel()
        total = max(int(self.n_texts[rows].sum()), 1)
        candidates = np.flatnonzero(self.allowed & (n > 0))
        first = candidates[np.argsort(-n[candidates], kind="stable")[:most]]
        return tuple(
            Word(self.words[at], label, int(n[at]), int(n_texts[at]), float(n_texts[at] / total)) for at in first
        )

    def characteristic(self, label: str, *, most: int = 20) -> tuple[Word, ...]:
        """The words whose log-odds set a class apart most surely (largest z), only those that it uses more."""
        code = self.class_names.index(label)
        at, log_odds, z = self._odds(code)
        kept = np.flatnonzero((z > 0) & self.allowed[at] & (self._texts_in_all[at] >= LEAST_TEXTS))
        first = kept[np.argsort(-z[kept], kind="stable")[:most]]
        return tuple(self._word(code, int(at[i]), float(log_odds[i]), float(z[i])) for i in first)

    def _word(self, code: int, at: int, log_odds: float, z: float) -> Word:
        n, n_texts = int(self.occurrences[code, at]), int(self.n_texts_with[code, at])
        of_class, of_all = int(self.n_texts[code]), int(self.n_texts.sum())
        elsewhere = (int(self._texts_in_all[at]) - n_texts) / max(of_all - of_class, 1)
        chance = self._chance(n_texts, int(self._texts_in_all[at]), of_class, of_all)
        return Word(
            self.words[at],
            self.class_names[code],
            n,
            n_texts,
            n_texts / of_class,
            elsewhere,
            log_odds,
            z,
            chance * self._n_claims < 0.05,
        )

    @staticmethod
    def _chance(n_texts: int, in_all: int, of_class: int, of_all: int) -> float:
        """Fisher's exact test: how likely so many texts of the class, or more, would have the word by chance."""
        from scipy.stats import hypergeom

        return float(hypergeom.sf(n_texts - 1, of_all, in_all, of_class))

    @cached_property
    def _n_claims(self) -> int:
        return int((self._texts_in_all >= LEAST_TEXTS).sum()) * len(self.class_names)

    @cached_property
    def _texts_in_all(self) -> Integer[np.ndarray, " n_words"]:
        return np.asarray(self.n_texts_with.sum(axis=0)).ravel()

    def _odds(self, code: int) -> tuple[np.ndarray, Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Position, log-odds and z of every word that the class has."""
        row = self.n_texts_with[[code]].tocoo()
        at, mine = row.col, row.data.astype(np.float64)
        of_class, of_all = float(self.n_texts[code]), float(self.n_texts.sum())
        prior = self._texts_in_all[at].astype(np.float64)
        theirs = prior - mine
        # half a text without the word keeps the odds of one that every text has finite
        without = of_all - prior + 0.5
        log_odds = np.log((mine + prior) / (of_class - mine + without)) - np.log(
            (theirs + prior) / (of_all - of_class - theirs + without)
        )
        return at, log_odds, log_odds / np.sqrt(1 / (mine + prior) + 1 / (theirs + prior))

    def table(self, *, most: int = 200) -> pd.DataFrame:
        """The most frequent words of all and the most characteristic of each class.

        Columns: list ("frequent" or "characteristic") and the fields of `Word`.
        """
        lists = [("frequent", word) for word in self.frequent(most=most)]
        for name in self.class_names:
            lists += [("characteristic", word) for word in self.characteristic(name, most=most)]
        fields = ["label", "word", "n", "n_texts", "share_of_texts", "share_elsewhere", "log_odds", "z", "stands"]
        rows = [(which, *(getattr(word, field) for field in fields)) for which, word in lists]
        return pd.DataFrame(rows, columns=["list", *fields])


def english_stop_words() -> frozenset[str]:
    """Words that say little about a topic: scikit-learn's list for English.

    Examples
    --------
    >>> "the" in english_stop_words(), "film" in english_stop_words()
    (True, False)
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


def count_words(texts: Iterable[str], y: Integer[np.ndarray, " n_samples"], class_names: Sequence[str]) -> WordCounts:
    """Count the words (``tokenize``) of texts by class.

    Examples
    --------
    >>> texts = ["a fine film", "a fine fine cast", "a dull film", "a dull plot"] * 20
    >>> found = count_words(texts, np.array([0, 0, 1, 1] * 20), ("good", "bad"))
    >>> [(word.word, word.n) for word in found.frequent(most=2)]
    [('a', 80), ('fine', 60)]
    >>> [(word.word, word.n_texts, word.stands) for word in found.characteristic("bad", most=2)]
    [('dull', 40, True), ('plot', 20, True)]
    """
    positions: dict[str, int] = {}
    classes, columns, counts = array("q"), array("q"), array("q")
    for text, code in zip(texts, y, strict=True):
        of_text: dict[int, int] = {}
        for word in tokenize(text):
            at = positions.setdefault(word, len(positions))
            of_text[at] = of_text.get(at, 0) + 1
        columns.extend(of_text)
        counts.extend(of_text.values())
        classes.extend([int(code)] * len(of_text))
    words = sorted(positions)
    rank = np.empty(len(positions), dtype=np.int64)
    rank[[positions[word] for word in words]] = np.arange(len(positions))
    shape = (len(class_names), len(positions))
    place = (np.array(classes, dtype=np.int64), rank[np.array(columns, dtype=np.int64)])
    occurrences = sparse.coo_array((np.array(counts, dtype=np.int64), place), shape=shape).tocsr()
    n_texts_with = sparse.coo_array((np.ones(len(counts), dtype=np.int64), place), shape=shape).tocsr()
    return WordCounts(
        tuple(class_names),
        tuple(words),
        occurrences,
        n_texts_with,
        np.bincount(y, minlength=len(class_names)),
        np.ones(len(positions), dtype=bool),
    )
