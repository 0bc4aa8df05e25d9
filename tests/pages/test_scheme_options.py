"""A fold scheme with an option, put into FOLD_SCHEMES and nothing else, is in form, address, plan and trial."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from touchstone.core.data import DataError
from touchstone.core.parameters import asks
from touchstone.core.report.descriptions import describe, plan_reference
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.scheme import KFolds, count_rows
from touchstone.core.trials import Context, FoldPlan, to_json
from touchstone.core.workspace import load_plan
from touchstone.ui.forms.plan_form import plan_at, plan_parameters


@dataclass(frozen=True)
class Blocks(KFolds):
    """Runs of as many rows as the option says, dealt out to the folds in turn."""

    length: int = asks(1, "Length of a block", "Rows in a row.", lowest=1, highest=50)

    title: ClassVar[str] = "Blocks"
    needs: ClassVar[str] = "nothing"
    column: ClassVar[str] = "blocks"
    same_size: ClassVar[bool] = False

    def __post_init__(self):
        if self.length < 1:
            raise DataError("A block holds a row or more.")

    def assign(self, X, y=None, groups=None):
        return np.arange(count_rows(X, y, groups, n_folds=self.n_folds)) // self.length % self.n_folds


@pytest.fixture(autouse=True)
def with_blocks(monkeypatch):
    monkeypatch.setitem(FOLD_SCHEMES, "blocks", Blocks)


PLAN = {"schemes": ("blocks",), "models": (), "options": (("blocks", "length", 7),)}


def test_it_is_in_the_form_and_in_the_address_that_is_offered(open_page, wine):
    app = open_page("cluster_folds", data=wine.fingerprint, schemes=["Random"])
    assert "Blocks: length of a block" not in [control.label for control in app.number_input]
    app.button_group(key="schemes").set_value(["blocks"]).run()
    app.number_input(key="blocks_length").set_value(7).run()
    offer = app.session_state["share_offer"]
    assert offer.plan.options == (("blocks", "length", 7),)
    again = open_page("cluster_folds", data=wine.fingerprint, **offer.parameters)
    assert again.session_state["share_offer"].plan == offer.plan
    assert offer.parameters["blocks_length"] == ["7"]


def test_it_is_in_the_plan_and_its_trials(wine):
    plan = FoldPlan(**PLAN)
    assert load_plan(to_json(plan)) == plan
    rows = plan.run_trial(wine, 0, context=Context())
    assert rows["fold"].tolist()[:15] == [0] * 7 + [1] * 7 + [2]
    assert "options" not in to_json(FoldPlan(schemes=("blocks",), options=(("blocks", "length", 1),)))
    assert describe(plan) == "Blocks · 5 folds · 1 seed · no model · Blocks: length of a block 7"
    assert "| `blocks` | `length` | `1` |" in plan_reference("folds")


def test_its_address_leads_back():
    plan = FoldPlan(**PLAN)
    address = plan_parameters(plan)
    assert address is not None
    assert plan_at(FoldPlan, address) == plan


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((("blocks", "length", 0),), "Blocks: A block holds a row or more"),
        ((("blocks", "length", 1.5),), "Blocks: length of a block is a whole number, not 1.5"),
        ((("blocks", "width", 2),), "Blocks has no option 'width'. Its options are length"),
        ((("random_folds", "length", 2),), "random_folds is not among what is chosen"),
        ((("blocks", "length", 2), ("blocks", "length", 3)), "stands twice"),
        ((("blocks", "length"),), "a name, an option and its value"),
    ],
)
def test_what_is_wrong_is_said_in_words(options, words):
    with pytest.raises(DataError, match=words):
        FoldPlan(schemes=("blocks",), options=options)
