"""What does a result rest on? Data, parameters, seeds, versions, times, device and executor, a line each."""

import json
from datetime import UTC, datetime
from typing import Any

from touchstone.core.asked import Asked, answers_of
from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import count
from touchstone.core.report.descriptions import words_of
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run

OLDER_METHOD = "Computed by an older method."


def provenance(run: Run) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that a stored result rests on; what was not recorded is left out."""
    known = run.provenance
    versions = [f"Touchstone {known['touchstone']}"] if "touchstone" in known else []
    versions += [f"{name} {number}" for name, number in known.get("versions", {}).items()]
    n_failed = f", {count(run.n_failed)} failed" if run.n_failed else ""
    workers = f", {count(known['n_workers'])} at once" if "n_workers" in known else ""
    machine = ", ".join(f"{known[name]}" for name in ("device", "machine") if name in known)
    told = {
        "Data": f"{run.dataset_name}, fingerprint {run.fingerprint}",
        "Parameters": parameters(run),
        "Trials": f"{count(run.n_done)} of {count(run.n_trials)}{n_failed}",
        "Method": OLDER_METHOD if run.older_method else "",
        "Versions": ", ".join(versions),
        "Python": known.get("python", ""),
        "Device": machine,
        "Executor": f"{known['executor']}{workers}" if "executor" in known else "",
        "Started": _when(run.started),
        "Finished": _when(run.finished) if run.state != "running" else "",
        "Run": f"{run.id}, key {run.key}",
        "Seal": known.get("seal", "") if run.state == "done" else "",
    }
    return tuple((name, value) for name, value in told.items() if value)


def parameters(run: Run) -> str:
    """What a run's plan asks, its seeds among it, as the page words it; as it is stored where no page asks for it."""
    try:
        answers = answers_of(load_plan(run.plan)).values()
    except DataError:
        answers = ()
    told = [f"{each.ask.label}: {_answer(each, answer)}" for each, answer in answers if answer is not None]
    stored = (f"{name} {value}" for name, value in json.loads(run.plan).items() if name != "kind")
    return "; ".join(told or stored)


def _answer(question: Asked, answer: Any) -> str:
    """A number as it is, anything else in the page's words."""
    if isinstance(answer, int | float) and not isinstance(answer, bool) and question.ask.choices is None:
        return f"{answer}"
    return words_of(question, answer).strip(" ·") or f"{answer}"


def _when(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M} UTC"
