"""Many questions within a time: one after the other, what is done stays, and what is left out says why."""

import time

import pytest

from tests.workspace.conftest import wait_until
from tests.workspace.plans import SleepPlan
from touchstone.core.data import DataError, load_example
from touchstone.core.models.model_file import ModelFile
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.runner import (
    ANSWERED,
    CUT,
    NO_MODEL,
    NO_TIME,
    STOPPED,
    AskAll,
    Engine,
    NoModel,
    Step,
    foreseen,
    usual_steps,
)

SECONDS = 300.0


@pytest.fixture
def engine(workspace, executor) -> Engine:
    return Engine(workspace, executor)


@pytest.fixture
def fingerprint(workspace, wine) -> str:
    return workspace.add_dataset(LOCAL_OWNER, wine)


def asked(engine: Engine, fingerprint: str, steps: list[Step], seconds: float = SECONDS) -> AskAll:
    agenda = engine.ask(LOCAL_OWNER, fingerprint, steps, seconds)
    agenda.join(SECONDS)
    assert not agenda.going
    return agenda


def step(stem: str, **plan) -> Step:
    return Step(stem, lambda: SleepPlan(**plan))


def test_steps_are_worked_off_in_turn_and_what_cannot_be_asked_says_why(engine, workspace, fingerprint):
    begun = []

    def refuse() -> SleepPlan:
        begun.append(len(workspace.runs(LOCAL_OWNER)))
        raise DataError("This needs images.")

    agenda = asked(engine, fingerprint, [step("a", n=2), Step("b", refuse), step("c", n=1), Step("d", lambda: None)])
    assert agenda.done == ["a", "c", "d"]
    assert agenda.left_out == {"b": "This needs images."}
    assert begun == [1]
    assert {run.state for run in workspace.runs(LOCAL_OWNER)} == {"done"}


def test_when_the_time_is_up_a_run_keeps_what_is_done_and_goes_on_when_asked_again(engine, workspace, fingerprint):
    slow, quick = step("slow", n=40, seconds=0.5), step("quick", n=1)
    agenda = engine.ask(LOCAL_OWNER, fingerprint, [slow, quick], SECONDS)
    run = wait_until(lambda: workspace.runs(LOCAL_OWNER), lambda runs: runs and runs[0].n_done >= 2)[0]
    agenda.ends = time.monotonic()
    agenda.join(SECONDS)
    assert agenda.left_out == {"slow": CUT, "quick": NO_TIME}
    [run] = workspace.runs(LOCAL_OWNER)
    assert run.state == "cancelled"
    assert 2 <= run.n_done < 40
    before = run.n_done
    again = engine.ask(LOCAL_OWNER, fingerprint, [slow, quick], SECONDS)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id), lambda now: now.n_done > before)
    again.stop()
    again.join(SECONDS)
    assert again.left_out == {"slow": STOPPED, "quick": STOPPED}
    assert len(workspace.runs(LOCAL_OWNER)) == 1


def test_one_agenda_at_a_time_for_a_data_set(engine, fingerprint):
    first = engine.ask(LOCAL_OWNER, fingerprint, [step("a", n=30, seconds=0.3)], SECONDS)
    assert engine.ask(LOCAL_OWNER, fingerprint, [step("b", n=1)], SECONDS) is first
    assert engine.agenda(LOCAL_OWNER, "another") is None
    first.stop()
    first.join(SECONDS)


def test_an_engine_that_closes_leaves_the_run_to_be_resumed(engine, workspace, fingerprint):
    agenda = engine.ask(LOCAL_OWNER, fingerprint, [step("a", n=60, seconds=0.3), step("b", n=1)], SECONDS)
    run = wait_until(lambda: workspace.runs(LOCAL_OWNER), lambda runs: runs and runs[0].n_done >= 1)[0]
    agenda.leave()
    agenda.join(SECONDS)
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"  # the engine itself gives it back
    workspace.cancel(LOCAL_OWNER, run.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).state, lambda state: state != "running")
    assert len(workspace.runs(LOCAL_OWNER)) == 1


def test_usual_steps_train_a_model_before_they_ask_of_one(workspace, fingerprint):
    steps = usual_steps(workspace, LOCAL_OWNER, fingerprint)
    stems = [each.stem for each in steps]
    assert stems[:2] == ["source_robustness", "parametric_null"]
    assert stems[-1] == "data_set_adequacy"
    assert stems.index("training") < stems.index("average_case") < stems.index("guided_tests")
    plans = {
        each.stem: each.make() for each in steps if each.stem in ("source_robustness", "parametric_null", "training")
    }
    assert {plan.kind for plan in plans.values()} == {"trials", "clouds", "training"}
    assert all(plan.n_trials(load_example("wine")) for plan in plans.values())


def test_without_a_model_the_questions_about_one_say_so(engine, workspace, fingerprint):
    steps = [each for each in usual_steps(workspace, LOCAL_OWNER, fingerprint) if each.stem == "average_case"]
    agenda = asked(engine, fingerprint, steps)
    assert agenda.left_out == {"average_case": NO_MODEL}


def test_a_model_that_is_there_is_asked_and_none_is_trained(workspace, fingerprint):
    stored = ModelFile(b"weights", "mine.onnx", fingerprint).to_bytes()
    model = workspace.keep_model(LOCAL_OWNER, stored, name="mine")
    steps = {each.stem: each for each in usual_steps(workspace, LOCAL_OWNER, fingerprint)}
    assert steps["training"].make() is None
    assert steps["average_case"].make().model == model
    newer = ModelFile(b"others", "other.onnx", fingerprint).to_bytes()
    assert workspace.keep_model(LOCAL_OWNER, newer, name="other") != model
    named = {each.stem: each for each in usual_steps(workspace, LOCAL_OWNER, fingerprint, model=model)}
    assert named["average_case"].make().model == model


def test_what_is_asked_and_what_not_and_why_is_known_before(engine, workspace, fingerprint):
    def refuse() -> SleepPlan:
        raise DataError("This needs images.")

    def no_model() -> SleepPlan:
        raise NoModel(NO_MODEL)

    done, trained = step("source_robustness", n=1), step("training", n=2)
    asked(engine, fingerprint, [done])
    steps = [done, step("cluster_folds", n=3), trained, Step("average_case", no_model), Step("guided_tests", refuse)]
    known = foreseen([*steps, Step("parametric_null", lambda: None)], workspace, LOCAL_OWNER, fingerprint)
    assert known == {
        "source_robustness": ANSWERED,
        "cluster_folds": "",
        "training": "",
        "average_case": "",
        "guided_tests": "This needs images.",
    }
    untrained = foreseen([step for step in steps if step is not trained], workspace, LOCAL_OWNER, fingerprint)
    assert untrained["average_case"] == NO_MODEL
