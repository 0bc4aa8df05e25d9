"""Does any result contradict itself? What commit 0772e14 said does, and is kept; what is said today does not.

The file beside this one has three results as that commit rendered them, and three after what was read on its pages:
their words are those of the pages, other parts of the sentences were filled in.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.contradictions import Shown, contradictions, shown_of
from tests.report.runs import a_workspace, plans, stored
from tests.said_today import OF_NETWORK, RECIPES, answer_to
from touchstone import check
from touchstone.core.data import load_example
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.models.model_file import model_fingerprint
from touchstone.core.report import test_quality
from touchstone.core.report.run_report import answer_of
from touchstone.core.trials import Context, TrainingPlan, to_json
from touchstone.core.trials.layer_parts import layer_parts, split_of
from touchstone.core.workspace import LOCAL_OWNER, Workspace, load_plan

THEN = json.loads(Path(__file__).with_name("said_by_0772e14.json").read_text("utf-8"))
FAULTS = {
    "folds of wine": "no claim beside an interval clear of 0",
    "folds of breast cancer": "no claim beside an interval clear of 0",
    "test quality of digits": "drawn",
    "no difference above intervals apart": "no difference above intervals that lie apart",
    "a correlation by chance": "r .89 beside p = 1.000",
    "Next names another class": "Next names “5”",
}


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return a_workspace()


@pytest.mark.parametrize("name", THEN)
def test_what_was_said_then_contradicts_itself(name):
    kept = {part: tuple(value) if isinstance(value, list) else value for part, value in THEN[name].items()}
    problems = contradictions(Shown(**{part: value for part, value in kept.items() if part != "from"}))
    assert len(problems) == 1
    assert FAULTS[name] in problems[0]


@pytest.mark.parametrize("kind", plans())
def test_no_kind_of_run_contradicts_itself(workspace, kind):
    run = stored(workspace, kind)
    answer = answer_of(
        workspace.rows(LOCAL_OWNER, run.id), workspace.dataset(LOCAL_OWNER, run.fingerprint), load_plan(run.plan)
    )
    assert contradictions(shown_of(answer)) == []


@pytest.mark.parametrize(("data", "n_folds"), [("wine", 5), ("breast_cancer", 3)])
def test_the_same_folds_say_today_why_nothing_is_claimed(data, n_folds):
    how = {"schemes": ("random_folds", "kmeans_folds", "stratified_folds"), "seeds": (0, 1, 2), "n_folds": n_folds}
    answer = check("cluster_folds", data, models=("logistic",), **how).answer
    assert contradictions(shown_of(answer)) == []


def test_the_same_test_set_is_drawn_today_in_the_order_of_its_caption():
    digits, plan, kept = load_example("digits"), TrainingPlan("linear", n_epochs=20), []

    def keep(stored: bytes, **about: object) -> str:
        kept.append(stored)
        return model_fingerprint(stored)

    plan.run_trial(digits, 0, context=Context(keep_model=keep))
    parts = layer_parts(kept[0], digits, layer=None, **split_of(to_json(plan), digits))
    quality = measure_quality(parts.train, parts.test, rng=np.random.default_rng(0))
    shown = shown_of(test_quality.answer(quality, is_drawn=parts.is_drawn))
    assert any("longest bar on top" in caption for caption, _ in shown.rows)
    assert contradictions(shown) == []


@pytest.mark.evidence
@pytest.mark.parametrize("stem", [*RECIPES, *OF_NETWORK])
def test_no_picture_of_the_docs_contradicts_itself(stem):
    assert contradictions(shown_of(answer_to(stem))) == []
