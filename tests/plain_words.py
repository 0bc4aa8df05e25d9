"""Would somebody with one minute understand it? The rules for words on screen.

They are held against every verdict that a test makes, every text in the code (tests/screen_texts.py) and “How to read
this” of every page.
"""

import re
import sys
from collections.abc import Iterator

from touchstone.core.evaluate.wording import Verdict

MOST_WORDS = 25

INSTEAD = {
    "told apart": "significantly different / no significant difference",
    "cannot be told": "undecided",
    "can be told": "undecided",
    "can tell": "no significant ... / undecided",
    "can be shown": "no significant ...",
    "unfamiliar": "held-out clusters / held-out sources",
    "familiar": "seen in training",
    "counterpart": "matched pairs, unmatched",
    "foretell": "predicts",
    "surer": "confidence; overconfident, underconfident",
    "as sure as": "confidence; overconfident, underconfident",
    "over draws": "Monte-Carlo error",
    "over sources and samples": "95 % CI for new data",
    "most frequent class": "majority-class baseline",
    "middle of each class": "mean image",
    "fragile fifth": "least robust 20 %",
    "come near": "near-duplicate",
    "taken back": "revoked",
    "count on": "keeps ... of its accuracy",
    "plan with": "plan for, and only where new inputs come from new sources",
    "unprepared": "hardest held-out clusters",
    "kept out of": "held out of",
    "gone for good": "deleted for good",
    "(has|have|had) run out": "expired",
    "ran out": "expired",
    "at most so many": "the most ...",
    "so many at most": "the most ...",
    "nobody knows": "unknown",
    "taken for": "predicted as",
    "takes it for": "predicts",
    "what rests on": "effect of",
    "the fragile": "least robust",
    "cannot tell": "does not cover / does not check",
    "% sure": "confidence",
    "(is|are|was) (sure|unsure)": "confident, low confidence",
    "least sure": "least confident",
    "surest": "most confident / most significant",
    "near duplicate": "near-duplicate",
    "is no verdict": "has no verdict",
    "for want of": "because ... needs",
    "worked out": "computed",
    "look(ed)? for in": "search",
    "set apart by": "separated by",
    "whatever the model": "for any model",
    "over all draws": "Monte-Carlo error",
}
"""What is not written (a pattern, from the beginning of a word), and what is written for it."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"")
_NUMBERS = re.compile(r"\[[^\]]*\]")
_NESTED = re.compile(r"\([^()]*\(")
_WORD = re.compile(r"\w")


def problems(text: str) -> Iterator[str]:
    """What is wrong with a text of one or more sentences, each with its remedy.

    >>> list(problems("No fall can be shown."))
    ['"can be shown": write no significant ...']
    >>> list(problems("SVM loses 11.7 points [4.3, 19.1] on held-out clusters."))
    []
    """
    text = _QUOTED.sub("name", text)
    for phrase, instead in INSTEAD.items():
        if re.search(rf"(?<!\w){phrase}", text, re.IGNORECASE):
            yield f'"{phrase}": write {instead}'
    for sentence, n_words in zip(_SENTENCE.split(text), words_of_sentences(text), strict=True):
        if n_words > MOST_WORDS:
            yield f"{n_words} words: {sentence}"
        if _NESTED.search(sentence):
            yield f"brackets within brackets: {sentence}"


def words_of_sentences(text: str) -> list[int]:
    """How many words each sentence has; names and intervals count as one and none.

    >>> words_of_sentences("SVM loses 11.7 points [4.3, 19.1]. Plan for 84 %.")
    [4, 3]
    """
    sentences = _SENTENCE.split(_QUOTED.sub("name", text))
    return [sum(bool(_WORD.search(word)) for word in _NUMBERS.sub("", each).split()) for each in sentences]


def problems_of(verdict: Verdict) -> list[str]:
    """What is wrong with the sentences of a verdict, each problem with the whole text that has it."""
    texts = (verdict.headline, verdict.used, verdict.advice, *verdict.findings)
    return [f"{problem} <- {text}" for text in texts for problem in problems(text)]


def question_of_caller() -> str:
    """The stem of the question whose code, further up, is making a verdict just now; empty where it is none's."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "").split(".")
        if module[:3] == ["touchstone", "core", "evaluate"] and len(module) > 4:
            return module[3]
        frame = frame.f_back
    return ""
