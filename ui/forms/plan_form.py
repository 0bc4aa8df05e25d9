"""How does a plan ask, and which address leads to it? Both follow from its fields (`core.parameters`)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError
from touchstone.core.parameters import ANYTHING, About, Asked, answers_of, asked, differing, values_of
from touchstone.core.workspace import WorkspaceError
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.controls import (
    Control,
    Name,
    NamedNumbers,
    Number,
    NumberOrWord,
    Numbers,
    One,
    OneOrUsual,
    Pick,
    check_address,
)
from touchstone.ui.shell.session import owner, workspace

AnyPlan = TypeVar("AnyPlan")


def plan_form(
    plan: type[AnyPlan],
    about: About,
    *,
    form: str = "",
    settled: Mapping[str, Any] = MappingProxyType({}),
    key: str | None = None,
    border: bool = True,
) -> tuple[AnyPlan, DeltaGenerator]:
    """The form of a plan: the plan that it says, and the place for the button that starts it.

    `settled` are values of fields that another form of the page asks. Raises DataError for a choice that makes no plan.
    """
    questions = [question for question in asked(plan, about) if question.ask.address and question.ask.form == form]
    controls = {question.ask.address: control(question, about) for question in questions}
    check_address(list(controls.values()))
    drawn: dict[str, Any] = {}
    known: dict[str, Any] = {}  # without what is written in lines of text: no question hangs on that

    def draw(place: str) -> None:
        for question in questions:
            if question.ask.place == place and question.ask.is_asked(values_of(plan, known, about, settled), about):
                drawn[question.ask.address] = controls[question.ask.address].draw()
                if question.ask.choices is not None:
                    known[question.ask.address] = drawn[question.ask.address]

    with st.container(border=border, gap="small", key=key):
        draw("line")
        tight = any(question.ask.side_by_side for question in questions)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small" if tight else "medium"):
            draw("row")
            st.space("stretch")
            button = st.container(width="content")
        if any(question.ask.place == "more" for question in questions):
            folded = st.expander("More options", type="compact")
            with folded, st.container(horizontal=True, vertical_alignment="bottom"):
                draw("more")
    answers = {address: controls[address].meant(value) for address, value in drawn.items()}
    return plan(**values_of(plan, answers, about, settled)), button


def plan_parameters(plan: Any, about: About = ANYTHING) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan, defaults written out; None where no address does.

    An address holds which names were chosen, and not in which order.
    """
    written = {}
    for address, (question, answer) in answers_of(plan, about).items():
        asking = control(question, about)
        written[address] = asking.written(answer)
        if asking.unknown(written[address]):
            return None
    led = plan_at(type(plan), written, about)
    return None if led is None or differing(led, plan) else written


def about_plan(plan: Any) -> About:
    """What a plan is about as far as it says so itself: its stored model, where it has one, and that one's data.

    These are read where the model is from elsewhere: its test set is then the one that their file marks, if it does.
    Raises WorkspaceError where they are gone.
    """
    if not plan.stored_models():
        return ANYTHING
    [fingerprint] = plan.stored_models()
    model = workspace().stored_model(owner(), fingerprint)
    kind = workspace().stored_dataset(owner(), model.dataset_fingerprint).kind
    return About(None if model.training_plan else dataset_of(model.dataset_fingerprint), kind, model)


def stored_parameters(plan: Any) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to a stored plan; None also where the model that it names is gone."""
    try:
        return plan_parameters(plan, about_plan(plan))
    except WorkspaceError:
        return None


def plan_at(plan: type[AnyPlan], address: Mapping[str, list[str]], about: About = ANYTHING) -> AnyPlan | None:
    """The plan that an address leads to, what it does not say as usual; None where that makes no plan."""
    answers = {}
    try:
        for question in asked(plan, about):
            if question.ask.address in address:
                asking, written = control(question, about), address[question.ask.address]
                if asking.unknown(written):
                    return None
                answers[question.ask.address] = asking.read(written)
            elif question.ask.address and not question.ask.form:
                answers[question.ask.address] = question.usual
        return plan(**values_of(plan, answers, about))
    except DataError:
        return None


def control(question: Asked, about: About) -> Control:
    """The widget of a question."""
    ask, usual = question.ask, question.usual
    if ask.choices is not None:
        titles = ask.choices(about)
        if titles is None:
            return Name(ask.address, ask.label, ask.word is not None)
        if ask.several:
            return Pick(ask.address, ask.label, titles, tuple(name for name in usual if name in titles), ask.help)
        if ask.word is not None:
            return OneOrUsual(ask.address, ask.label, titles, ask.help, ask.width or 270)
        return One(ask.address, ask.label, titles, usual, ask.help, ask.side_by_side)
    if ask.named:
        return NamedNumbers(ask.address, ask.label, ask.lowest, ask.help, ask.width)
    if ask.many:
        return Numbers(ask.address, ask.label, ask.lowest, ask.highest, usual, ask.help, ask.word, ask.width)
    if ask.word is not None:
        return NumberOrWord(ask.address, ask.label, ask.lowest, ask.highest, usual, ask.help, ask.word)
    return Number(ask.address, ask.label, ask.lowest, ask.highest, usual, ask.step, ask.help, ask.format)
