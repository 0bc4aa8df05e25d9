"""What is a plan, in a few words? Put together from the words of its fields, for lists of runs."""

import json
from dataclasses import MISSING, Field, fields
from typing import Any

from touchstone.core.evaluate.wording import exact, plural
from touchstone.core.parameters import ANYTHING, ITSELF, Ask, Asked, answers_of, asked, options_of
from touchstone.core.questions import of_kind
from touchstone.core.trials import Plan
from touchstone.core.workspace import PLANS


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


# What can a plan say? A reference of every kind: its fields, what they take, and what the page calls them.
#
# It follows from what stands beside the fields (`core.parameters`). docs/plans.md is this text: `python -m core plans`.


MOST_AGAIN = 120
"""What is longer than so many characters is not said again in the reference of all kinds."""
_HEAD = "| field | default | takes | on the page | meaning |\n|---|---|---|---|---|"


def reference() -> str:
    """The reference of all kinds of plan, as Markdown."""
    intro = (
        '# Plans\n\nA plan says what is computed. The pages make plans; `python -m core run --data digits \'{"kind":'
        '"trials","models":["svm"]}\'` takes one as JSON. Fields that are left out have their default, which is not '
        "always what the page starts with; ranges are the page's. This text is printed by `python -m core plans`.\n"
    )
    first: dict[str, str] = {}
    pages = ["\n".join(_as_before(line, kind, first) for line in plan_reference(kind).split("\n")) for kind in PLANS]
    return "\n".join([intro, *pages])


def _as_before(line: str, kind: str, first: dict[str, str]) -> str:
    """A field, or a long list of what it takes, that stood before to the letter refers to where it stood first."""
    if not line.startswith("| `"):
        return line
    name, default, takes, *rest = line.split(" | ")
    here = f"{name.removeprefix('| ')} of `{kind}`"
    if first.setdefault(line, kind) != kind and len(line) > MOST_AGAIN:
        return f"{name} | {default} | as in `{first[line]}` | | |"
    if first.setdefault(takes, here) != here and len(takes) > MOST_AGAIN:
        takes = f"as {first[takes]}"
    return " | ".join([name, default, takes, *rest])


def plan_reference(kind: str) -> str:
    """The reference of one kind of plan, as Markdown.

    Examples
    --------
    >>> print(plan_reference("sources").splitlines()[5])
    | `n_sources` | `5` | a whole number, 2 or more |  | Sources to find. |
    """
    plan = PLANS[kind]
    by_field: dict[str, list[Asked]] = {}
    for question in asked(plan):
        by_field.setdefault(question.field, []).append(question)
    lines = []
    for field in fields(plan):
        default = "needed" if field.default is MISSING else f"`{json.dumps(field.default)}`"
        if "follows" in field.metadata:
            lines.append(f"| `{field.name}` | {default} | | | {field.metadata['help']} |")
        elif "options" in field.metadata:
            where = "below" if _options_of(field) else "none of them has any"
            lines.append(
                f"| `{field.name}` | {default} | a list of `[name, option, value]` | {where} | Of "
                f"`{field.metadata['options'].field}`; those that are left out are as usual. |"
            )
        elif field.name not in by_field:  # a kind that somebody added may have fields that ask nothing
            lines.append(f"| `{field.name}` | {default} | | | |")
        else:
            stored_so = field.metadata["several"] is ITSELF
            lines += [_line(field.name, default, one.ask, stored_so=stored_so) for one in by_field[field.name]]
    question = of_kind(kind)
    parts = [f"## `{kind}`: {question.title if question else kind}", "\n".join([_HEAD, *lines]), *_options(plan)]
    return "\n\n".join(parts) + "\n"


def _line(name: str, default: str, ask: Ask, *, stored_so: bool) -> str:
    """A field; where it is stored otherwise than it is asked for, the default shows how."""
    takes = _takes(ask) if stored_so else f"as the default; the page asks for {_takes(ask)}"
    page = f"{ask.label} (`{ask.address}`)" if ask.address else ""
    return f"| `{name}` | {default} | {takes} | {page} | {ask.help} |"


def _takes(ask: Ask) -> str:
    nothing = f", or `null`: {ask.word}" if ask.word and not ask.several and not ask.many else ""
    if ask.choices is not None:
        titles = ask.choices(ANYTHING)
        if titles is None:
            return f"a name{nothing}"
        if all(type(name) is int for name in titles):
            return f"a whole number{nothing}; the page offers {', '.join(titles.values())}"
        of = "some of " if ask.several else "one of "
        names = (f"`{json.dumps(name)}`" + (f" ({title})" if title != name else "") for name, title in titles.items())
        return of + ", ".join(names) + nothing
    if ask.named:
        return f"a list of `[name, number, …]`, numbers{_range(ask)}"
    whole = "whole number" if isinstance(ask.lowest, int) else "number"
    kind = f"a list of {whole}s" if ask.many else f"a {whole}"
    return f"{kind}{_range(ask)}{nothing}"


def _range(ask: Ask) -> str:
    if ask.lowest is None:
        return ""
    return f", {exact(ask.lowest)} " + ("or more" if ask.highest is None else f"to {exact(ask.highest)}")


def _options(plan: type) -> list[str]:
    """The options of the entries that a field names, as a table; nothing where there are none."""
    tables = [_options_of(field) for field in fields(plan) if "options" in field.metadata]
    head = "| name | option | default | takes | meaning |\n|---|---|---|---|---|"
    return ["\n".join([head, *lines]) for lines in tables if lines]


def _options_of(field: Field) -> list[str]:
    """A line for each option of the entries that a field of options is about; entries with the same one share it."""
    entries: dict[str, list[str]] = {}
    for entry, kind in field.metadata["options"].registry.items():
        for name, option in options_of(kind).items():
            for ask in option.metadata["asks"]:
                line = f"`{name}` | `{json.dumps(option.default)}` | {_takes(ask)} | {ask.label}: {ask.help} |"
                entries.setdefault(line, []).append(f"`{entry}`")
    return [f"| {', '.join(names)} | {line}" for line, names in entries.items()]
