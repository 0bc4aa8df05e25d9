"""How does a run come to be again, elsewhere or later? From its parameters as JSON, by the same key, or not at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from touchstone import core
from touchstone.core.data import EXAMPLES, DataError, Dataset, load_example
from touchstone.core.trials import Plan, version_of
from touchstone.core.workspace import PLANS, Workspace, WorkspaceError, load_plan
from touchstone.core.workspace.engine.executor import versions_used
from touchstone.core.workspace.records import run_key

_NOT_OURS = (
    "This is not a file of parameters. Touchstone writes them beside every result: “Parameters (JSON)” under "
    "“Download”."
)


@dataclass(frozen=True)
class Recreated:
    """A plan and its data, with the key that the run will have and what has to be known of it.

    `notes` say what differs from where the file comes from. `data` are those that are not stored yet, and `example` is
    their name where they are built in.
    """

    plan: Plan
    fingerprint: str
    key: str
    notes: tuple[str, ...]
    data: Dataset | None
    example: str | None

    def store(self, workspace: Workspace, owner: str) -> None:
        """Keep the data in the workspace, so that the run can be created there."""
        if self.data is not None:
            workspace.add_dataset(owner, self.data, example=self.example)


def recreate(workspace: Workspace, owner: str, text: str, *, given: Dataset | None = None) -> Recreated:
    """A run's plan and data from its parameters; `given` is the data set where it is not stored here. Stores nothing.

    Raises DataError or WorkspaceError with the reason why the run cannot be the same: another version of the method,
    a field that this version does not know, data that differ or are not here, a model that is not.
    """
    content = _content(text)
    plan, wanted = load_plan(json.dumps(content["plan"])), content["data"]
    if "method" in content and content["method"] != (version := version_of(plan)):
        raise DataError(
            f"The method of {plan.kind!r} is version {version} here and was {content['method']} in the "
            "file. The same parameters now give another result, so this run cannot be repeated. "
            f"Use Touchstone {content.get('touchstone', 'of then')}, or start a new run."
        )
    fingerprint = wanted["fingerprint"]
    data = _data(workspace, owner, wanted, given)
    for model in plan.stored_models():
        workspace.stored_model(owner, model)
    key = run_key(plan, fingerprint)
    if content.get("key") not in (None, key):
        raise DataError(
            "The key in the file does not fit its plan and data. One of them was edited, or fields were added "
            f"since (Touchstone {content.get('touchstone', 'unknown')} wrote it, this is {core.version()}). Remove "
            "the key from the file to compute it as a new run."
        )
    return Recreated(plan, fingerprint, key, tuple(_notes(content)), data, _example(wanted))


def example_to_read(workspace: Workspace, owner: str, text: str) -> str | None:
    """The built-in data set that `recreate` will read, which may take a while; None where it will read none.

    Raises DataError where the text is no file of parameters.
    """
    wanted = _content(text)["data"]
    return None if _stored(workspace, owner, wanted["fingerprint"]) else _example(wanted)


def _content(text: str) -> dict:
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False).encode()  # half a character is no text, and nothing can be done with it
    except (ValueError, RecursionError):
        raise DataError(_NOT_OURS) from None
    if not isinstance(content, dict) or not isinstance(content.get("plan"), dict):
        raise DataError(_NOT_OURS)
    data = content.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("fingerprint"), str):
        raise DataError("The parameters do not say what data they are of: “data” needs a “fingerprint”.")
    kind = content["plan"].get("kind")
    if not isinstance(kind, str) or kind not in PLANS:
        raise DataError(f"Unknown kind of plan {kind!r}. Known here: {', '.join(sorted(PLANS))}.")
    return content


def _data(workspace: Workspace, owner: str, wanted: Mapping[str, str], given: Dataset | None) -> Dataset | None:
    """The data, known to be the same; None where they are stored already and nobody gave them."""
    fingerprint, example = wanted["fingerprint"], _example(wanted)
    name = wanted.get("name", "the data set")
    if given is None:
        if _stored(workspace, owner, fingerprint):
            return None
        if example is None:
            raise DataError(
                f"{name} ({fingerprint[:12]}) is not here. Upload the same file on the page “Data sets”, or name it on "
                "the command line with --data, and try again."
            )
        given = load_example(example)
    if given.fingerprint != fingerprint:
        raise DataError(
            f"The data differ: the file is about {name} ({fingerprint[:12]}), and {given.name} here is "
            f"{given.fingerprint[:12]}. Start a new run for other data, on its page."
        )
    return given


def _example(wanted: Mapping[str, str]) -> str | None:
    name = str(wanted.get("example"))
    return name if name in EXAMPLES else None


def _stored(workspace: Workspace, owner: str, fingerprint: str) -> bool:
    try:
        workspace.stored_dataset(owner, fingerprint)
    except WorkspaceError:
        return False
    return True


def _notes(content: Mapping) -> list[str]:
    told = content.get("versions")
    then: dict = told if isinstance(told, dict) else {}
    differ = [
        f"{name} {then[name]}, here {here}"
        for name, here in versions_used().items()
        if then.get(name, "") not in ("", here)
    ]
    if not differ:
        return []
    return [f"Computed with other versions then ({'; '.join(differ)}): rows may differ in their last digits."]
