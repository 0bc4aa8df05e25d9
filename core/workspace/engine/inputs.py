"""What does a worker need for a trial? The plan, the data, the models that it names and the rows that it rests on."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from touchstone.core.data import Dataset
from touchstone.core.data.store import from_bytes
from touchstone.core.trials import Plan
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.needed import NeededRows, name_of
from touchstone.core.workspace.engine.trial_queue import Task
from touchstone.core.workspace.engine.worker import work
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run
from touchstone.core.workspace.workspace import Workspace

if TYPE_CHECKING:
    from distributed import Future


@dataclass(frozen=True)
class Inputs:
    """A plan with all that its trials need, as bytes for the workers; `dataset` is the same data, read."""

    plan: Plan
    plan_json: str
    fingerprint: str
    content: bytes
    dataset: Dataset
    models: Mapping[str, bytes]
    needed: NeededRows = field(default_factory=dict)

    def submit(self, executor: Executor, task: Task, stop: str) -> "Future":
        """Give a task to a worker, with what it needs for it; `stop` names the event that asks it to give up."""
        data = executor.data(self.fingerprint, self.content)
        models = {name: executor.data(name, content) for name, content in self.models.items()}
        needed = {plan: executor.data(name_of(content), content) for plan, content in self.needed.items()}
        return executor.client().submit(
            work, self.plan.kind, self.plan_json, task, self.fingerprint, data, models, needed, stop,
            key=f"{stop}-{task[0][0]}-{uuid.uuid4().hex[:8]}", pure=False,
        )  # fmt: skip


def inputs_of(workspace: Workspace, owner: str, run: Run) -> Inputs:
    """What the trials of a run need, but for the rows that it rests on, which have to be there first.

    Raises WorkspaceError where some of it is not there any more.
    """
    plan, content = load_plan(run.plan), workspace.dataset_bytes(owner, run.fingerprint)
    models = {name: workspace.model_bytes(owner, name) for name in plan.stored_models()}
    return Inputs(plan, run.plan, run.fingerprint, content, from_bytes(content), models)
