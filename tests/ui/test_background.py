"""Work beside the page: what is counted, and what a page shows of it."""

import threading

import pytest
from streamlit.testing.v1 import AppTest

from touchstone.ui.shell import background
from touchstone.ui.shell.background import Work


def under_way() -> None:
    from touchstone.ui.shell import background

    task = background.Task(len, 4)
    task.step()
    assert background.answer(task, "Matching", key="it", wait=0.0) is None


def counted_by_nobody() -> None:
    from touchstone.ui.shell import background

    background.answer(background.Task(len), "Matching", key="it", wait=0.0)


def test_a_page_shows_how_far_the_work_is():
    app = AppTest.from_function(under_way).run()
    assert not app.exception
    [progress] = app.get("progress")
    assert progress.proto.value == 25
    assert progress.proto.text == "Matching: 1 of 4 steps, waiting for other work to end"


def test_what_nobody_counts_shows_no_progress():
    app = AppTest.from_function(counted_by_nobody).run()
    assert not app.exception
    assert not app.get("progress")
    assert app.get("status")


def test_work_counts_its_steps_and_hands_on_its_error():
    task = background.submit(Work(lambda step: [step() for _ in range(3)], n_steps=4))
    task.future.result(timeout=10)
    assert (task.n_done, task.share) == (3, 0.75)

    def fail(step) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        background.submit(Work(fail)).future.result(timeout=10)


def test_what_is_looked_at_through_links_keeps_no_owner_waiting(monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(background, "read_only", lambda: True)
    seen = [background.submit(Work(lambda step: gate.wait(10))) for _ in range(3)]
    monkeypatch.setattr(background, "read_only", lambda: False)
    assert background.submit(Work(lambda step: "the owner's")).future.result(timeout=5) == "the owner's"
    assert [task.future.done() for task in seen] == [False] * 3
    gate.set()
    assert [task.future.result(timeout=10) for task in seen] == [True] * 3


def test_work_that_nobody_waits_for_is_given_up_and_begins_again_when_somebody_asks(monkeypatch):
    gate, looks = threading.Event(), []

    def work(step) -> str:
        looks.append(step)
        gate.wait(10)
        step()
        return "found"

    task = background.submit(Work(work, n_steps=1))
    monkeypatch.setattr(background, "PATIENCE", -1.0)
    gate.set()
    assert isinstance(task.future.exception(timeout=10), background.Abandoned)
    monkeypatch.setattr(background, "PATIENCE", 90.0)
    task.look()
    assert task.future.result(timeout=10) == "found"
    assert len(looks) == 2
