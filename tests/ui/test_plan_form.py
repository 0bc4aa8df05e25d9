"""Forms and addresses follow from what stands beside the fields of plans: an address leads back to the very plan."""

from dataclasses import fields, replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.forms import controls_of
from touchstone.core.data import DataError, load_example
from touchstone.core.evaluate.guided_tests.few_labels import FewLabelsPlan
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
from touchstone.core.evaluate.test_quality.quality import RegionChoice
from touchstone.core.parameters import ANYTHING, About, Asked, asked, differing, usual_plan, values_of
from touchstone.core.trials import FoldPlan, SourcesPlan, TrainingPlan, to_json
from touchstone.core.trials.defaults import Facts
from touchstone.core.workspace import PLANS, StoredModel
from touchstone.core.workspace.runs import is_of
from touchstone.ui.forms.controls import NumberOrWord
from touchstone.ui.forms.plan_form import plan_at, plan_parameters

WITHOUT_A_FORM = (SourcesPlan, FewLabelsPlan)  # a network of sources, and counts of labels that were read
WITH_A_FORM = [plan for plan in PLANS.values() if plan not in WITHOUT_A_FORM] + [MatchingPlan, RegionChoice]
TRAINED = to_json(TrainingPlan("linear", test_share=0.3, seed=5))
MODEL = StoredModel("f1f2", "d1", "mine", "linear", "mine.safetensors", TRAINED, None, None, 0.0)
ABOUTS = [About(kind=kind, model=MODEL) for kind in ("image", "tabular")]


def answers_to(question: Asked, about: About) -> st.SearchStrategy:
    """What a person could answer."""
    ask = question.ask
    if ask.choices is not None:
        titles = ask.choices(about)
        names = st.sampled_from(sorted(titles, key=str)) if titles else st.sampled_from(["inputs", "proline"])
        if ask.several:
            return st.sets(names, min_size=1).map(lambda chosen: tuple(name for name in titles if name in chosen))
    elif isinstance(ask.lowest, int):
        names = st.integers(max(ask.lowest, 1), min(ask.highest or 10_000, 10_000))
    else:
        names = st.floats(ask.lowest, ask.highest or 100.0).map(lambda number: round(number, 4) + 0.0)
    if ask.named:
        rows = st.tuples(
            st.sampled_from(ODD_NAMES),
            *[names.filter(bool)] * 3,
        )
        return st.lists(rows, max_size=2, unique_by=lambda row: row[0]).map(tuple)
    if ask.many:
        none = [None] if ask.word else []
        return st.sets(names.filter(bool), min_size=1, max_size=5).map(lambda chosen: (*sorted(chosen), *none))
    return names | st.none() if ask.word else names


ODD_NAMES = ["ham", "a: 1; b", " <=50K", '"x": 1', "two\nlines", "\\", "ü: 1e-7"]


@pytest.mark.parametrize("about", ABOUTS, ids=["image", "tabular"])
@pytest.mark.parametrize("plan", WITH_A_FORM, ids=lambda plan: plan.__name__)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_plan_of_a_form_has_an_address_that_leads_back(plan, about, data):
    answers: dict = {}
    for question in (one for one in asked(plan, about) if one.ask.address):
        if question.ask.is_asked(values_of(plan, answers, about), about):
            answers[question.ask.address] = data.draw(answers_to(question, about), label=question.ask.address)
    try:
        said = plan(**values_of(plan, answers, about))
    except DataError:
        return  # a choice that makes no plan, such as a theta 1 above theta 2
    address = plan_parameters(said, about)
    assert address is not None
    assert plan_at(plan, address, about) == said


VALUES = {
    "seeds": (3, 4, 5),
    "labels_by_fold": (("a", 3.0, 2.0, 1.0, 1.0, 1.0), ("b", 1.0, 1.0, 1.0, 1.0, 2.0)),
    "sizes": (100, 300, 0),
    "estimators": ("mmse", "gaussian_logits", "taylor", "softmax"),
}
NEEDED = {"model": "f1f2"}


def several_values(plan: type, name: str) -> tuple:
    """Several values of a field that holds a list."""
    [ask, *_] = [question.ask for question in asked(plan) if question.field == name]
    [default] = [one.default for one in fields(plan) if one.name == name]
    if name in VALUES or not ask.several:
        return VALUES.get(name, default)
    return default if len(default) > 1 else tuple(ask.choices(ANYTHING))[:3]


LISTS = [
    pytest.param(plan, one.name, id=f"{plan.__name__}-{one.name}")
    for plan in WITH_A_FORM
    for one in fields(plan)
    if isinstance(one.default, tuple) and "asks" in one.metadata
]


@pytest.mark.parametrize(("plan", "name"), LISTS)
def test_a_plan_that_names_the_same_in_another_order_is_the_same_choice(plan, name):
    values, about, facts = several_values(plan, name), ABOUTS[0], Facts.of(load_example("wine"))
    assert len(values) > 1, "give several values of this field in VALUES"
    settled = {each.name: NEEDED[each.name] for each in fields(plan) if each.name in NEEDED}
    first = replace(usual_plan(plan, about, **settled), **{name: values})
    [ask, *_] = [each.ask for each in asked(plan) if each.field == name]
    address = plan_parameters(first, about)
    assert address is not None
    for order in permutations(values):
        try:
            made = replace(first, **{name: order})
        except DataError:
            assert not ask.several, "only numbers may be asked for in an order of their own"
            continue
        if differing(first, made):
            assert not ask.several
            assert plan_parameters(made, about) != address
            continue
        led = plan_parameters(made, about)
        assert led is not None, f"{order} cannot be opened"
        assert led == address or not ask.several
        assert not differing(plan_at(plan, led, about), made)
        if "kind" in vars(plan):
            assert is_of(to_json(made), first, facts)
            assert is_of(to_json(first), made, facts)


@pytest.mark.parametrize("plan", WITH_A_FORM, ids=lambda plan: plan.__name__)
def test_no_two_questions_share_a_parameter_of_the_address(plan):
    keys = [question.ask.address for question in asked(plan) if question.ask.address]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("plan", WITH_A_FORM, ids=lambda plan: plan.__name__)
def test_a_form_begins_with_what_its_controls_offer(plan):
    for about in (ANYTHING, *ABOUTS):
        for control in controls_of(plan, about).values():
            if hasattr(control, "default"):
                assert not control.unknown(control.written(control.default)), control


@pytest.mark.parametrize("zero", ["0", "0.0"])
def test_an_address_of_before_that_says_0_leads_to_what_is_usual(zero):
    assert plan_at(FoldPlan, {"components": [zero]}) == FoldPlan(n_components=None, seeds=(0, 1, 2))
    assert plan_at(
        RegionChoice,
        {"layer": ["inputs"], "theta2": ["0.7"], "unit": ["99th percentile"], "r": [zero], "theta1": [zero]},
    ) == RegionChoice("inputs")


@pytest.mark.parametrize(
    ("text", "words"), [("-1", "from 1 to 500, or “all”"), ("many", "not 'many'"), ("2.5", "whole")]
)
def test_what_is_neither_a_number_nor_the_word_is_said(text, words):
    control = controls_of(FoldPlan)["components"]
    assert isinstance(control, NumberOrWord)
    with pytest.raises(DataError, match=words):
        control.meant(text)


def test_all_that_changes_a_comparison_stands_in_its_address():
    address = plan_parameters(MatchingPlan())
    assert address is not None
    settings = {"epsilon", "repeats", "seed", "order", "by", "method", "scale", "bins", "nbins"}
    assert {*settings, "metric", "positive_class"} == set(address)
