"""How does long work look from a page? The page starts it, watches it and may stop it; it lives elsewhere.

A run lives in the database and on the workers, so that closing the tab changes nothing. Only while something is running
does a fragment ask for news, and it asks for nothing else.
"""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.report.run_report import OLDER_METHOD
from touchstone.core.trials import Plan
from touchstone.core.workspace import Run, WorkspaceError
from touchstone.core.workspace.engine.runner import close_engine
from touchstone.core.workspace.records import Steps
from touchstone.core.workspace.runs import expected_seconds
from touchstone.ui import ROOT
from touchstone.ui.shell import background, session
from touchstone.ui.shell.page import error, or_toast

SECONDS_BETWEEN_LOOKS = 1.5
SECONDS_BETWEEN_DRAWINGS = 4.0
"""So long a verdict and its figures stand before they are drawn anew with what has come since."""
STATES = {
    "queued": ("not started", "gray"),
    "running": ("running", "blue"),
    "interrupted": ("interrupted", "orange"),
    "cancelled": ("cancelled", "orange"),
    "done": ("done", "gray"),
}
"""What a run's state is called on the screen, and the colour of its badge."""

RUN_AGAIN = "Run again for results of today's method."
_ASKED = "asked_to_start"
_preparations: dict[str, subprocess.Popen[bytes]] = {}
_preparations_lock = threading.Lock()


def start(plan: Plan, dataset: Dataset) -> Run:
    """Create the run of a plan, unless it exists, and start or resume it; returns at once."""
    run = session.workspace().create_run(session.owner(), plan, dataset.fingerprint, n_trials=plan.n_trials(dataset))
    session.engine().start(session.owner(), run.id)
    return run


def found_or_fitting(plan: Plan, dataset: Dataset) -> tuple[Run | None, int]:
    """The run of a plan and how many trials it has; without a run, how many one would have.

    Raises DataError where there is no run and the plan does not fit the data. A run of before, when such a plan was
    still accepted, is shown.
    """
    run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint)
    return run, plan.n_trials(dataset) if run is None else run.n_trials


def can_start(run: Run | None) -> bool:
    """Whether a plan with this run can be started: where it has none, or none by today's method."""
    return run is None or run.older_method


def start_all(plan: Plan, dataset: Dataset, beside: Sequence[Plan]) -> None:
    """Start a plan, and those beside it that have no run yet (a callback for buttons)."""
    start(plan, dataset)
    for other in beside:
        if session.workspace().find_run(session.owner(), other, dataset.fingerprint) is None:
            start(other, dataset)


def ahead(plan: Plan, dataset: Dataset, n_trials: int) -> str:
    """What pressing Run would take: trials, and the time where runs like it tell."""
    runs = session.workspace().runs(session.owner(), dataset.fingerprint)
    seconds = expected_seconds(plan, dataset, runs, n_trials=n_trials)
    trials = f"{plural(n_trials, 'trial')}, in the background."
    if seconds is None:
        return f"{trials} The first trial shows how long it takes."
    return f"{trials} Expect about {duration(seconds)}, as in similar runs."


def run_button(run: Run | None, plan: Plan, dataset: Dataset, *, beside: Sequence[Plan] = ()) -> None:
    """The button that starts a plan, as long as it has no run by today's method; plans `beside` it start with it."""
    hint = None if can_start(run) else "Already computed, see below. Change a setting to run again."
    if not session.read_only():
        st.button(
            "Run again" if run is not None and run.older_method else "Run",
            type="primary",
            key="run",
            on_click=or_toast(start_all),
            args=(plan, dataset, beside),
            disabled=not can_start(run),
            help=hint,
        )


def ask_to_start(data: str) -> None:
    """Have the next page start what it is about, as soon as this data set is read (which may take a while)."""
    st.session_state[_ASKED] = data


def asked_to_start(data: str) -> bool:
    """Whether another page asked for that, for this data set; answered once."""
    return st.session_state.pop(_ASKED, None) == data


@or_toast
def resume(run_id: str) -> None:
    """Go on with the trials that are missing (a callback for buttons)."""
    session.engine().start(session.owner(), run_id)


@or_toast
def cancel(run_id: str) -> None:
    """Ask a run to stop; what is finished stays (a callback for buttons)."""
    session.workspace().cancel(session.owner(), run_id)


def follow(run: Run, show: Callable[[Run], None], *, every: float = SECONDS_BETWEEN_LOOKS) -> None:
    """Draw a run with `show`, again and again while it is running; when that changes, the whole page is drawn anew."""
    running = run.state == "running"

    @st.fragment(run_every=every if running else None)
    def watch() -> None:
        now = _now(run)
        if now is None or (now.state == "running") != running:
            st.rerun()
        else:
            shown(show, now)

    watch()


def shown(show: Callable[[Run], None], run: Run) -> None:
    """A fragment runs by itself: what it cannot have of the workspace, or of its trials, is said where it stands."""
    try:
        show(run)
    except (DataError, WorkspaceError) as problem:
        error(problem)


def _now(run: Run) -> Run | None:
    try:
        return session.workspace().run(session.owner(), run.id)
    except WorkspaceError:  # deleted meanwhile, from another page or browser
        return None


def progress(run: Run) -> None:
    """Where a run stands, and what can be done about it; nothing for a run that is done without a failure."""
    older_method(run)
    if run.state != "done":
        with st.container(horizontal=True, vertical_alignment="center", key=f"progress-{run.id}"):
            st.progress(run.share, text=describe(run))
            action(run)
    failures(run)


def older_method(run: Run) -> None:
    """Say of a run that today's method would come to other figures; nothing for all others."""
    if run.older_method:
        st.caption(OLDER_METHOD if session.read_only() else f"{OLDER_METHOD} {RUN_AGAIN}")


def action(run: Run) -> None:
    """The button that stops a run or makes it go on; nothing for a run that is done, or seen through a link.

    What an older method began does not go on: its trials would be of two kinds.
    """
    if session.read_only():
        return
    if run.state == "running":
        st.button("Cancel", key=f"cancel-{run.id}", on_click=cancel, args=(run.id,), disabled=run.cancelling)
    elif run.state != "done" and not run.older_method:
        st.button("Resume", key=f"resume-{run.id}", on_click=resume, args=(run.id,))


def describe(run: Run) -> str:
    """Where a run stands, in words: `72 of 120 trials, epoch 7 of 20, about 40 seconds left`."""
    if run.waits_for is not None:
        far = _far(run.waits_for)
        return f"{far}, stopping" if run.cancelling else far
    if run.state == "running" and run.n_done == 0 and not run.steps:
        if background.is_going_on():
            return background.ONCE
        first = f"; the first of {plural(run.n_trials, 'trial')} arrives within seconds" if run.n_trials > 1 else ""
        return f"Starting the workers{first}"
    if run.cancelling:
        return f"{counted(run)}, stopping"
    if run.state != "running":
        return f"{counted(run)}, {STATES[run.state][0]}"
    return counted(run) if run.seconds_left is None else f"{counted(run)}, about {duration(run.seconds_left)} left"


def counted(run: Run) -> str:
    """How much of a run is done: `72 of 120 trials`, and where a trial that is running tells, how far that one is."""
    trials = f"{count(run.n_done)} of {plural(run.n_trials, 'trial')}"
    if not run.steps:
        return trials
    return f"{trials}, {_far(run.steps[0])}"


def _far(steps: Steps) -> str:
    """How far a trial is, or another run that is waited for; what it does, where nobody counts."""
    return f"{steps.what} {count(steps.n_done)} of {count(steps.n_steps)}" if steps.n_steps else steps.what


def duration(seconds: float) -> str:
    """A time span as one would say it.

    >>> duration(8.2), duration(200), duration(9000)
    ('9 seconds', '4 minutes', '3 hours')
    """
    for unit, length in (("hour", 3600), ("minute", 60)):
        if seconds > 1.5 * length:
            return plural(int(-(-seconds // length)), unit)
    return plural(max(1, int(-(-seconds // 1))), "second")


def failures(run: Run) -> None:
    """What went wrong in a run, folded; nothing where nothing did."""
    if not run.errors:
        return
    label = f"{plural(run.n_failed, 'trial')} failed" if run.n_failed else "The run stopped"
    with st.expander(f"{label}: see why", icon=":material/error:"):
        for problem in run.errors:
            st.text(problem)


def prepare(example: str, sentence: str) -> None:
    """Read an example in a process of its own, with a visible status, and draw the page anew when it is there."""
    process = _preparation(example)

    @st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
    def watch() -> None:
        if process.poll() is None:
            status = st.status(sentence, state="running", type="compact")
            status.caption("The file is being read. The page updates when it is done.")
            return
        with _preparations_lock:
            _preparations.pop(example, None)
        if process.returncode == 0:
            st.rerun()
        st.error("Reading failed. The server's log has the reason.", icon=":material/error:")
        if st.button("Try again", key=f"prepare-{example}"):
            st.rerun()

    watch()


def _preparation(example: str) -> subprocess.Popen[bytes]:
    with _preparations_lock:
        if example not in _preparations:
            code = f"from touchstone.core.data import load_example; load_example({example!r})"
            _preparations[example] = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
        return _preparations[example]


def close() -> None:
    """Stop everything that this process started, for when the server ends."""
    with _preparations_lock:
        for process in _preparations.values():
            process.terminate()
        for process in _preparations.values():
            process.wait(timeout=10)
    close_engine()
