"""What does a worker do? Trials, which find around them somebody to ask, to tell, and to hand a trained model to.

Nothing here reaches the database: a worker sends words to the process that runs the plan, which writes them down.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.data.store import from_bytes
from touchstone.core.models import Cancelled
from touchstone.core.models.model_file import model_fingerprint
from touchstone.core.models.threads import single_threaded
from touchstone.core.trials import Context, from_json, sources_at_hand
from touchstone.core.trials.plan import Aside, Counting, Grouping, Plan
from touchstone.core.trials.run import Counted, n_rows, table_of
from touchstone.core.workspace import frames
from touchstone.core.workspace.engine.needed import NeededRows, joined
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import PLANS

# Is the code compiled that is compiled once, after an installation? The loops of clustering, matching and noise.


CORE = Path(__file__).resolve().parents[2]
LAST_COMPILED = {
    "cluster/quota_assignment.py": "assign_labels",
    "cluster/sds.py": "_add_to_sums",
    "evaluate/matched_subsets/kernels.py": "count_matching",
    "evaluate/average_case/normal_kernels.py": "integrate",
}
"""The files of such loops, below `core`, and in each the loop that needs the others and is kept after these."""

NICE = 10
"""So far the processes that compile and that work step back behind whatever somebody waits for."""


def are_compiled() -> bool:
    """Whether numba has kept every file's loops since the file was last written; nothing is imported."""
    return all(_is_kept(CORE / file, loop) for file, loop in LAST_COMPILED.items())


def compile_all() -> None:
    """Have numba compile all loops, or load what it has kept: the least of work that needs each."""
    import numpy as np

    from touchstone.core.cluster.sds import SDSKMeans
    from touchstone.core.evaluate.average_case.gaussian_cdf import mvn_cdf
    from touchstone.core.evaluate.matched_subsets.compare import compare_sets
    from touchstone.core.evaluate.matched_subsets.loops import KERNELS
    from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes

    import_module(KERNELS)  # from now on compiled loops run for sets of any size
    rng = np.random.default_rng(0)
    SDSKMeans(n_clusters=3, n_init=1, random_state=0).fit(rng.normal(size=(60, 3)), np.arange(60) % 2)
    mvn_cdf(np.ones((1, 4)), np.eye(4)[None] + 0.5)
    labels, confidence = np.arange(60) % 2, rng.uniform(0.5, 1.0, size=60)
    confidence[0] = 0.0  # so wide a range that confidences, labels and places do not fit into one word
    sets = [Outcomes(labels, confidence, rng.random(60) < confidence, ("a", "b")) for _ in range(2)]
    for method in ("random", "maximum"):
        compare_sets(*sets, epsilon=0.1, method=method, scale="confidence", n_repeats=1, more=False, rng=rng)


def _is_kept(file: Path, loop: str) -> bool:
    written = file.stat().st_mtime
    return any(kept.stat().st_mtime >= written for kept in _kept(file, f"{file.stem}.{loop}-*.nbi"))


def _kept(file: Path, pattern: str) -> Iterator[Path]:
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    yield from Path(elsewhere).glob(f"*/{pattern}") if elsewhere else (file.parent / "__pycache__").glob(pattern)


if __name__ == "__main__":
    os.nice(NICE)
    compile_all()


# What does a worker do? Trials, which find around them somebody to ask, to tell, and to hand a trained model to.


if TYPE_CHECKING:
    from distributed import Security


KeptModel = tuple[bytes, dict[str, Any]]
"""A model that a trial made, and what is known of it (see `core.workspace.data.Models.keep_model`)."""

Rows = pd.DataFrame | Counted
"""The rows of a trial: a table, or what many of them become a table of together."""

Trials = tuple[int, ...]
"""One trial, or several that are done at once. The first names them all."""

Task = tuple[Trials, ...]
"""What a worker is given at a time: trials, one after another. The first of the first names them all."""

Outcome = tuple[Trials, list[bytes] | str]
"""What came of trials: the rows of each, or what went wrong."""


@dataclass(frozen=True)
class Done:
    """What came of a task: the outcomes of its trials, the models that they made, the seconds that all took.

    Trials without an outcome were not done: somebody had asked to stop.
    """

    outcomes: list[Outcome]
    models: list[KeptModel]
    seconds: float


SECONDS_BETWEEN_REPORTS = 0.25
"""A trial's reports go to the scheduler at most so often."""

SECONDS_BETWEEN_QUESTIONS = 0.5
"""How often the scheduler is asked whether somebody wants trials to stop."""


@lru_cache(maxsize=2)
def _decoded(fingerprint: str, content: Aside[bytes]) -> Dataset:
    return from_bytes(content.value)


def work(
    kind: str,
    plan_json: str,
    task: Task,
    fingerprint: str,
    content: bytes,
    models: dict[str, bytes],
    needed: NeededRows,
    stop: str,
) -> Done:
    """What a worker does: run the trials of a task, one after another, and return what came of each.

    `models` are the stored ones that the plan asks for, `needed` the rows of the plans that it rests on. `stop` names
    the event that asks it to give up, and the topic under which it tells how far it is.
    """
    plan = from_json(plan_json, PLANS)
    if plan.kind != kind:
        raise WorkspaceError(f"A trial of kind {kind!r} came with a plan of kind {plan.kind!r}.")
    start = time.monotonic()
    dataset = _decoded(fingerprint, Aside(content))
    outcomes: list[tuple[Trials, list[Rows] | str]] = []
    at_hand = sources_at_hand(fingerprint, joined(needed)) if needed else nullcontext()
    with single_threaded(), _asked_to_stop(stop) as should_stop, at_hand:
        context, kept = surroundings(stop, task[0][0], models, should_stop)
        for trials in task:
            n_kept = len(kept)
            try:
                outcomes.append((trials, _rows(plan, dataset, trials, context)))
            except Cancelled:
                break
            except Exception as problem:  # whatever a trial raises is that trial's failure, and the others go on
                outcomes.append((trials, f"{type(problem).__name__}: {problem}"))
                del kept[n_kept:]
    return Done(_as_bytes(outcomes), kept, time.monotonic() - start)


def _rows(plan: Plan, dataset: Dataset, trials: Trials, context: Context) -> list[Rows]:
    if context.should_stop():
        raise Cancelled
    if len(trials) > 1 and isinstance(plan, Grouping):
        return list(plan.run_trials(dataset, trials, context=context))
    run_trial = plan.count_trial if isinstance(plan, Counting) else plan.run_trial
    return [run_trial(dataset, trial, context=context) for trial in trials]


def _as_bytes(outcomes: list[tuple[Trials, list[Rows] | str]]) -> list[Outcome]:
    contents = iter(_contents([rows for _, of in outcomes if not isinstance(of, str) for rows in of]))
    return [(trials, of if isinstance(of, str) else [next(contents) for _ in of]) for trials, of in outcomes]


def _contents(trials: list[Rows]) -> list[bytes]:
    """The rows of each trial as bytes: those that are no tables yet become one, and are cut out of it."""
    counted = [rows for rows in trials if not isinstance(rows, pd.DataFrame)]
    cut = iter(frames.cut_to_bytes(table_of(counted), [n_rows(rows) for rows in counted]) if counted else [])
    whole = iter(frames.each_to_bytes([rows for rows in trials if isinstance(rows, pd.DataFrame)]))
    return [next(whole if isinstance(rows, pd.DataFrame) else cut) for rows in trials]


@contextmanager
def _asked_to_stop(topic: str) -> Iterator[Callable[[], bool]]:
    """Whether somebody asks these trials to stop: asked beside them, for they must not wait for every answer."""
    from distributed import Status, get_worker

    worker, heard, over = get_worker(), threading.Event(), threading.Event()

    async def ask() -> None:
        while not (heard.is_set() or over.is_set()):
            await asyncio.sleep(SECONDS_BETWEEN_QUESTIONS)
            if worker.rpc.status != Status.running:  # the worker is being closed: there is nobody left to ask
                return
            with suppress(OSError):  # a scheduler that is away for a moment is asked again
                if await worker.scheduler.event_is_set(name=topic):
                    heard.set()

    worker.loop.add_callback(ask)
    try:
        yield heard.is_set
    finally:
        over.set()


def surroundings(
    topic: str, trial: int, models: Mapping[str, bytes], should_stop: Callable[[], bool]
) -> tuple[Context, list[KeptModel]]:
    """Say that a trial has started here; gives its context, and the list in which the models it makes will stand.

    `topic` is that of its words.
    """
    from distributed import get_worker

    worker, kept = get_worker(), []
    worker.log_event(topic, {"trial": trial, "worker": worker.address})

    def model(fingerprint: str) -> bytes:
        if fingerprint not in models:
            raise WorkspaceError(f"The plan does not name the model {fingerprint[:12]} among those that it needs.")
        return models[fingerprint]

    def keep_model(stored: bytes, **about: Any) -> str:
        kept.append((stored, about))
        return model_fingerprint(stored)

    def tell(steps: tuple[int, int, str]) -> None:
        worker.log_event(topic, {"trial": trial, "steps": steps})

    return Context(should_stop, _seldom(tell), model, keep_model), kept


def _seldom(tell: Callable[[tuple[int, int, str]], None]) -> Callable[[int, int, str], None]:
    """Reports that come too soon after one another are left out; the next one knows more."""
    told_at = 0.0

    def report(n_done: int, n_steps: int, what: str) -> None:
        nonlocal told_at
        if time.monotonic() - told_at > SECONDS_BETWEEN_REPORTS:
            tell((n_done, n_steps, what))
            told_at = time.monotonic()

    return report


# What does a worker process do before its first trial? It leaves Ctrl-C to the app and steps back behind its pages.


def dask_setup(_worker: object) -> None:
    """Called by dask in each worker process, also in one that replaces a dead one.

    A Ctrl-C in the terminal reaches the app and all its workers; only the app is to answer it. And whoever reads a
    page waits for its process, which takes little: it goes before trials, which take all that there is. torch, which
    is imported later, is to ask for its memory in large pages: gradients of 50 MB are new ones at every step.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


# What keeps a worker process from starting here? What is missing or full is named; others end without a word.


ENDS_AT_ONCE = "Worker processes end as soon as they start. Free memory or install Touchstone again, then resume."
CANNOT_START = "Worker processes cannot start: {why}. {remedy}, then resume."


@contextmanager
def start_said() -> Iterator[None]:
    """Processes that cannot start are a sentence, by what was wrong first.

    Examples
    --------
    >>> with start_said():
    ...     raise RuntimeError("Nanny failed to start.") from ModuleNotFoundError("No module named 'sklearn'")
    Traceback (most recent call last):
    touchstone.core.workspace.errors.WorkspaceError: Worker processes cannot start: No module named ...
    """
    try:
        yield
    except (RuntimeError, OSError) as problem:
        first: BaseException = problem
        while first.__cause__ is not None:
            first = first.__cause__
        if isinstance(first, RuntimeError):
            raise WorkspaceError(ENDS_AT_ONCE) from problem
        remedy = "Close other programs" if isinstance(first, OSError) else "Install Touchstone again"
        why = (isinstance(first, OSError) and first.strerror) or str(first).rstrip(".")
        raise WorkspaceError(CANNOT_START.format(why=why, remedy=remedy)) from problem


# How is a connection to a cluster encrypted? By the certificates of dask's own settings; what they lack is named.


UNREADABLE = (
    "The certificates for the cluster cannot be read ({problem}). Correct distributed.comm.tls in dask's settings, "
    "then resume: docs/deployment.md shows them."
)
NO_CERTIFICATE = (
    "TOUCHSTONE_SCHEDULER names an encrypted address, {address}, and dask's settings name no certificates. Set "
    "distributed.comm.tls, then resume: docs/deployment.md shows how."
)
NOT_ENCRYPTED = (
    "TOUCHSTONE_SCHEDULER names an address without encryption, {address}, and dask's settings require it. Start the "
    "scheduler at tls:// and name that address, then resume."
)
REFUSED = (
    "The scheduler at {address} and this Touchstone do not accept each other's certificates. Give both the same, then "
    "resume: docs/deployment.md shows how."
)


def security(address: str) -> "Security":
    """What dask's settings say of encryption. Raises WorkspaceError where they cannot serve for this address."""
    from distributed import Security

    settings = Security()
    try:
        has_certificates = settings.get_connection_args("client").get("ssl_context") is not None
    except OSError as problem:  # which what is wrong with a certificate is, too
        raise WorkspaceError(UNREADABLE.format(problem=problem.strerror or problem)) from problem
    encrypted = address.startswith("tls://")
    if encrypted and not has_certificates:
        raise WorkspaceError(NO_CERTIFICATE.format(address=address))
    if settings.require_encryption and not encrypted:
        raise WorkspaceError(NOT_ENCRYPTED.format(address=address))
    return settings


@contextmanager
def mismatch_said(address: str) -> Iterator[None]:
    """Certificates that do not fit are no reason to try again: they are a sentence."""
    from distributed.comm.core import FatalCommClosedError

    try:
        yield
    except FatalCommClosedError as problem:
        raise WorkspaceError(REFUSED.format(address=address)) from problem
