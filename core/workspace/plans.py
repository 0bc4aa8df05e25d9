"""Which kinds of plan can be stored and run? Those of core.questions; the class of one is imported when it is read."""

from collections.abc import Iterator, Mapping

from touchstone.core.questions import QUESTIONS, of_kind, plan_class
from touchstone.core.trials import Plan, from_json


class _Plans(Mapping[str, type]):
    """The class of every kind of plan, as the questions name it at this moment."""

    def __getitem__(self, kind: str) -> type:
        question = of_kind(kind)
        if question is None:
            raise KeyError(kind)
        return plan_class(question)

    def __iter__(self) -> Iterator[str]:
        return (question.kind for question in QUESTIONS.values() if question.kind is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


PLANS: Mapping[str, type] = _Plans()
"""Every kind of plan that can be stored and run."""


def load_plan(text: str) -> Plan:
    """The plan of any known kind that `to_json` wrote.

    Examples
    --------
    >>> load_plan('{"kind":"trials","models":["svm"]}').models
    ('svm',)
    """
    return from_json(text, PLANS)
