"""What is a plan, in a few words? Put together from the words of its fields, for lists of runs."""

from typing import Any

from touchstone.core.asked import ANYTHING, Asked, answers_of, asked
from touchstone.core.evaluate.wording import plural
from touchstone.core.trials import Plan


def describe(plan: Plan) -> str:
    """A plan in a few words, as its class puts them together (`described`); a plan with a `title` says that.

    Examples
    --------
    >>> from touchstone.core.trials import FoldPlan, TrialPlan
    >>> describe(TrialPlan(models=("svm",), n_repeats=20))
    'SVM · k-means clusters · 20 repeats'
    >>> describe(FoldPlan(schemes=("max_shift",), options=(("max_shift", "test_share", 0.3),)))
    'Largest shift (one split) · 5 folds · 1 seed · Logistic regression · Largest shift (one split): test share 0.3'
    """
    if hasattr(plan, "title"):
        return plan.title
    words = {question.field: "" for question in asked(type(plan))} | {"options": ""}
    for question, answer in answers_of(plan).values():
        words[question.field] += _option(question, answer) if question.of_entry else words_of(question, answer)
    return type(plan).described.format(**words)


def words_of(question: Asked, answer: Any) -> str:
    """An answer in words, as the question says it.

    Examples
    --------
    >>> from touchstone.core.trials import TrialPlan
    >>> [words_of(one, getattr(TrialPlan(), one.field)) for one in asked(TrialPlan)[:2]]
    ['SVM, Logistic regression', 'k-means clusters']
    """
    ask = question.ask
    if ask.says is not None:
        return plural(answer, ask.says) if isinstance(ask.says, str) else ask.says(answer)
    titles = (ask.choices(ANYTHING) if ask.choices else None) or {}
    if ask.several:
        return ", ".join(titles[name] for name in answer) or str(ask.word)
    return str(ask.word if answer is None else titles.get(answer, answer))


def _option(question: Asked, answer: Any) -> str:
    """An option of an entry, where it is not as usual."""
    return "" if answer == question.usual else f" · {question.ask.label} {words_of(question, answer)}"
