"""What does a result rest on? Data, parameters, seeds, versions, times, device and executor, a line each."""

import json
from datetime import UTC, datetime

from core.evaluate.wording import count
from core.workspace.run import Run

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
    """The fields of a run's plan, its seeds among them, as a line."""
    plan = json.loads(run.plan)
    said = {name: value for name, value in plan.items() if name != "kind" and value is not None}
    return ", ".join(f"{name} {_short(value)}" for name, value in said.items())


def _short(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)


def _when(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M} UTC"
