"""What does a plan ask a person? It stands once, beside each field; form, address, description and reference follow.

A field of a frozen dataclass is written `n_repeats: int = asks(20, "Repeats", lowest=1, ...)`. What it asks is
plain data in the field's metadata, so that a plan needs no screen. A field that is shown as several questions, or is
not asked at all but follows from the answers, says so there, too; and one whose questions are the options of the
entries that were chosen (`asks_options`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar

Titles = Mapping[Any, str]
Number = int | float
Values = Mapping[str, Any]
Place = Literal["line", "row", "more", "command"]
LATER = "later"
"""The mark `joined` of a field that plans of earlier versions did not have: its default is what those plans meant."""

THE_DEFAULT: Any = object()
AnyPlan = TypeVar("AnyPlan")


@dataclass(frozen=True)
class About:
    """What a form is about, as far as it is known: a data set or its kind, and a stored model with its layers.

    Of predictions it is the names of their classes, the metrics that they give, and whether confidences are known.

    Where nothing is known, as for an address in a list of runs, everything that there is can be chosen.
    """

    dataset: Any = None
    kind: str | None = None
    model: Any = None
    layers: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    has_confidence: bool = True

    @property
    def data_kind(self) -> str | None:
        """Image, tabular or text.

        >>> About(kind="text").data_kind
        'text'
        """
        return self.kind if self.dataset is None else self.dataset.kind


ANYTHING = About()


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One question to a person.

    Parameters
    ----------
    label, help
        What the screen calls it, and what it says besides.
    address
        Its parameter of the address.
    place
        On a "line" of its own, in the "row" that is in sight, under "more" options, or in a "command" alone.
    form
        The form that asks it where it is another one's, such as "model"; its answer is in this plan's address, too.
    choices
        What can be chosen, and what the screen calls it; None of it where any name will do. `several` can be.
    lowest, highest, step, format
        Of a number, or of the numbers of a list (`many`), or of rows of them, each with a name (`named`). Their type
        is that of `lowest`.
    word
        What the screen calls None, or no choice at all: "usual", "all", "no model".
    when
        Whether it is asked, given the values of the fields before it.
    differs
        What of this differs with what the form is about; `usual` is what the form begins with, the default otherwise.
    says
        Its words in a description: a noun that is counted, or a function of the answer; else its titles.
    """

    label: str
    help: str = ""
    address: str = ""
    place: Place = "more"
    form: str = ""
    choices: Callable[[About], Titles | None] | None = None
    several: bool = False
    side_by_side: bool = False
    lowest: int | float | None = None
    highest: int | float | None = None
    step: int | float = 1
    format: str | None = None
    many: bool = False
    named: bool = False
    word: str | None = None
    width: int | None = None
    usual: Any = THE_DEFAULT
    when: Callable[[Values, About], bool] | None = None
    differs: Callable[[About], Mapping[str, Any]] | None = None
    says: str | Callable[[Any], str] | None = None

    def here(self, about: About) -> "Ask":
        """The question as it is asked about this."""
        return replace(self, **self.differs(about)) if self.differs else self

    def is_asked(self, values: Values, about: About) -> bool:
        """Whether it is asked, given the values of the fields before it."""
        return self.when is None or self.when(values, about)


@dataclass(frozen=True)
class Asked:
    """A question of a field of a plan: the how manieth of that field, or which option of which entry."""

    field: str
    part: Any
    ask: Ask
    usual: Any

    @property
    def of_entry(self) -> bool:
        """Whether it asks for an option of an entry that was chosen."""
        return isinstance(self.part, tuple)


@dataclass(frozen=True)
class Several:
    """How the value of a field is taken apart into the answers to its questions, and put together again."""

    apart: Callable[[Any], tuple]
    together: Callable[..., Any]


ITSELF = Several(lambda value: (value,), lambda answer: answer)


@dataclass(frozen=True)
class OptionsOf:
    """The field whose chosen names say whose options are asked, and their registry."""

    field: str
    registry: Mapping[str, type]


def asks(
    default: Any = MISSING,
    label: str = "",
    help: str = "",
    *,
    within: tuple[()] | tuple[Number, Number] | tuple[Number, Number, Number] = (),
    joined: str = "",
    several_as: Several = ITSELF,
    means: Callable[..., Any] | None = None,
    alike: Callable[[Any], Any] | None = None,
    **ask: Any,
) -> Any:
    """A field that asks one question (see `Ask`).

    A number lies `within` the lowest and the highest, and goes up by the third that stands there, or by 1.
    `means` says what None comes to where it leaves that to the data, or to other fields: a function of the plan and of
    `core.trials.defaults.Facts`. A plan that says that value is then the same work. `alike` gives what counts of a
    value: two values that come to the same are one choice. Of several names that is which ones, in whatever order.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Draws:
    ...     n_repeats: int = asks(20, "Repeats", within=(1, 1000), address="repeats", says="repeat")
    >>> [(one.ask.label, one.usual) for one in asked(Draws)]
    [('Repeats', 20)]
    """
    if not label:
        raise TypeError("a field that asks has a label")
    ask |= zip(("lowest", "highest", "step"), within, strict=False)
    question = Ask(label=label, help=help, **ask)
    alike = alike or (frozenset if question.several else None)
    return asks_several(question, default=default, joined=joined, several_as=several_as, means=means, alike=alike)


def asks_seed(*, address: str = "seed", help: str = "The same seed gives the same result.", **ask: Any) -> Any:
    """A field that asks for the seed of all that is drawn.

    >>> @dataclass(frozen=True)
    ... class Draws:
    ...     seed: int = asks_seed()
    >>> [(one.ask.label, one.ask.address, one.usual) for one in asked(Draws)]
    [('Seed', 'seed', 0)]
    """
    return asks(0, "Seed", help, address=address, within=(0, 2**31), **ask)


def asks_positive_class(**ask: Any) -> Any:
    """A field that asks for the class that metrics of one class are about; None is the usual one.

    >>> @dataclass(frozen=True)
    ... class Judged:
    ...     positive: str | None = asks_positive_class()
    >>> [(one.ask.label, one.ask.address, one.usual) for one in asked(Judged)]
    [('Positive class', 'positive_class', None)]
    """
    return asks(
        None,
        "Positive class",
        "The class that sensitivity, precision and the like are about. Usual, of two classes: the one that its name "
        "says, such as “fraud”, else the rarer one.",
        address="positive_class",
        choices=lambda about: {name: name for name in about.classes} or None,
        word="usual",
        **ask,
    )


def asks_several(
    *questions: Ask,
    default: Any = MISSING,
    several_as: Several,
    joined: str = "",
    means: Callable[..., Any] | None = None,
    alike: Callable[[Any], Any] | None = None,
) -> Any:
    """A field that is shown otherwise than it is stored: as other values, or as several questions."""
    metadata = {"asks": questions, "several": several_as, "joined": joined, "means": means, "alike": alike}
    return field(default=default, metadata=metadata)


def asks_like(plan: type, name: str, *, default: Any = THE_DEFAULT) -> Any:
    """A field that asks what the field of another plan asks; `default` may be another."""
    [like] = [one for one in fields(plan) if one.name == name]
    return field(default=like.default if default is THE_DEFAULT else default, metadata=like.metadata)


def asks_options(of: str, registry: Mapping[str, type], *, joined: str = "") -> Any:
    """A field of (entry, option, value), sorted: the options of the entries that the field `of` names.

    Options are fields that ask, of the entries' own dataclasses; one that has its default does not stand here.
    """
    return field(default=(), metadata={"options": OptionsOf(of, registry), "joined": joined})


def follows(
    default: Any = MISSING,
    *,
    of: Callable[[Values, About], Any],
    help: str = "Follows from how the model was trained.",
    joined: str = "",
) -> Any:
    """A field that nobody is asked for: it follows from the values before it, and from what the form is about."""
    return field(default=default, metadata={"follows": of, "help": help, "joined": joined})


def asked(plan: type, about: About = ANYTHING) -> tuple[Asked, ...]:
    """All questions of a plan, in the order of its fields."""
    return tuple(one for each in fields(plan) for one in _asked_by(each, about))


def answers_of(plan: Any, about: About = ANYTHING) -> dict[str, tuple[Asked, Any]]:
    """The questions that a plan answers and their answers, by parameter of the address."""
    values = {one.name: getattr(plan, one.name) for one in fields(plan)}
    answers = {}
    for one in asked(type(plan), about):
        if one.ask.address and one.ask.is_asked(values, about):
            answers[one.ask.address] = (one, _answer(plan, one))
    return answers


def values_of(
    plan: type, answers: Mapping[str, Any], about: About, settled: Values = MappingProxyType({})
) -> dict[str, Any]:
    """The values of a plan's fields, from answers by parameter of the address.

    `settled` are values that are known without an answer. A field that has neither keeps its default.
    """
    values: dict[str, Any] = dict(settled)
    for one in fields(plan):
        if "follows" in one.metadata:
            values[one.name] = one.metadata["follows"](values, about)
            continue
        questions = [each for each in _asked_by(one, about) if each.ask.address in answers]
        if "options" in one.metadata:
            values[one.name] = tuple(
                (*each.part, answers[each.ask.address]) for each in questions if each.ask.is_asked(values, about)
            )
        elif questions and len(questions) == len(one.metadata["asks"]) and questions[-1].ask.is_asked(values, about):
            values[one.name] = one.metadata["several"].together(*(answers[each.ask.address] for each in questions))
    return values


def differing(plan: Any, other: Any) -> tuple[Field, ...]:
    """The fields in which two plans of one class differ; the same names in another order are the same choice.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Draws:
    ...     models: tuple[str, ...] = asks((), "Models", several=True)
    ...     sizes: tuple[int, ...] = asks((), "Sizes", lowest=1, many=True)
    >>> [one.name for one in differing(Draws(("a", "b"), (1, 2)), Draws(("b", "a"), (2, 1)))]
    ['sizes']
    """
    return tuple(one for one in fields(plan) if _counts(plan, one) != _counts(other, one))


def _counts(plan: Any, one: Field) -> Any:
    """What counts of the value of a field."""
    value, alike = getattr(plan, one.name), one.metadata.get("alike")
    return value if alike is None else alike(value)


def usual_plan(plan: type[AnyPlan], about: About = ANYTHING, **settled: Any) -> AnyPlan:
    """The plan that its form begins with, and that nobody has changed.

    `settled` are values of fields that are known without an answer, such as a stored model. Raises DataError where
    that makes no plan.

    >>> @dataclass(frozen=True)
    ... class Draws:
    ...     n_repeats: int = asks(20, "Repeats", within=(1, 1000), address="repeats", usual=5)
    >>> usual_plan(Draws)
    Draws(n_repeats=5)
    """
    answers: dict[str, Any] = {}
    for one in asked(plan, about):
        if one.ask.address and not one.ask.form:
            usual = one.usual
            if one.ask.choices is not None and one.ask.several:
                titles = one.ask.choices(about)
                usual = usual if titles is None else tuple(name for name in usual if name in titles)
            answers[one.ask.address] = usual
    return plan(**values_of(plan, answers, about, settled))


def options_of(entry: type) -> dict[str, Field]:
    """The options of an entry of a registry, by name: those fields of its dataclass that ask."""
    return {one.name: one for one in fields(entry) if "asks" in one.metadata}


def title_of(entry: Any) -> str:
    """What the screen calls an entry of a registry.

    >>> title_of("the last epoch")
    'the last epoch'
    """
    return entry if isinstance(entry, str) else getattr(getattr(entry, "facts", entry), "title", None) or entry.label


def label_of(plan: Any, name: str) -> str:
    """What the screen calls a field of a plan (or of its class); its own name where nobody is asked for it.

    >>> @dataclass(frozen=True)
    ... class Draws:
    ...     n_repeats: int = asks(20, "Repeats", lowest=1)
    ...     split_seed: int = 0
    >>> label_of(Draws, "n_repeats"), label_of(Draws, "split_seed")
    ('Repeats', 'split_seed')
    """
    questions = next((one.metadata.get("asks", ()) for one in fields(plan) if one.name == name), ())
    return questions[0].label if questions else name


def _asked_by(one: Field, about: About) -> Iterator[Asked]:
    """The questions of a field."""
    if "options" in one.metadata:
        yield from _asked_by_entries(one.name, one.metadata["options"], about)
        return
    questions = [ask.here(about) for ask in one.metadata.get("asks", ())]
    usual = one.metadata["several"].apart(one.default) if questions and one.default is not MISSING else ()
    for part, ask in enumerate(questions):
        default = usual[part] if usual else None
        yield Asked(one.name, part, ask, default if ask.usual is THE_DEFAULT else ask.usual)


def _asked_by_entries(name: str, options: OptionsOf, about: About) -> Iterator[Asked]:
    for entry, kind in options.registry.items():
        for option, each in options_of(kind).items():
            for one in _asked_by(each, about):
                yield Asked(
                    name,
                    (entry, option),
                    replace(
                        one.ask,
                        label=f"{title_of(kind)}: {one.ask.label[:1].lower()}{one.ask.label[1:]}",
                        address=f"{entry}_{one.ask.address or option}",
                        when=lambda values, about, entry=entry: entry in values.get(options.field, ()),
                    ),
                    one.usual,
                )


def _answer(plan: Any, one: Asked) -> Any:
    value = getattr(plan, one.field)
    if one.of_entry:
        return {(entry, option): answer for entry, option, answer in value}.get(one.part, one.usual)
    [own] = [each for each in fields(plan) if each.name == one.field]
    return own.metadata["several"].apart(value)[one.part]
