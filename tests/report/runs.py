"""A run of every kind that a page shows, of data whose every name is hostile; done here and now, without workers."""

import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.guided_tests.few_labels import FewLabelsPlan
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.source_robustness.parametric_null import ParametricNullPlan
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan
from touchstone.core.models import MODELS
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.trials import Context, FoldPlan, MapPlan, Plan, SourcesPlan, TrainingPlan, TrialPlan, to_json
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames

NAMES = (
    '<a href="javascript:alert(1)">link</a>',
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script> %{x} $y$ &lt;b&gt; `c` **d** [e](javascript:alert(1))",
)
NAME = '<svg onload=alert(1)> "wine" & $co$'
NEW = "<s>new</s>.csv"
_FOLDERS = tempfile.TemporaryDirectory(prefix="touchstone-report-")
"""Of workspaces; removed with the process."""
TRAINING = TrainingPlan("linear", n_epochs=2)


@lru_cache(maxsize=1)
def data() -> Dataset:
    """Ninety rows of three classes that can be told apart, mostly."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = rng.normal(size=(90, 4)) + 1.5 * np.eye(3, 4)[y]
    sources = [f"<b>source {row % 5}</b>" for row in range(90)]
    return Dataset(NAME, "tabular", x, y, NAMES, ids=[f"<i>{row}</i>" for row in range(90)], sources=sources)


@lru_cache(maxsize=1)
def model() -> bytes:
    """A network of these data, as it is stored."""
    train = TRAINING.split(data()).train
    fitted = MODELS["linear"](n_epochs=20).fit(data().x[train], data().y[train], seed=0, n_classes=3)
    return ModelFile(fitted.trained(data()).to_bytes(), "net.safetensors", data().fingerprint).to_bytes()


def plans() -> dict[str, Plan]:
    """A small plan of every kind."""
    of = model_fingerprint(model())
    few = {"models": ("logistic", "nearest_neighbours"), "n_repeats": 4, "n_clusterings": 1}
    found = (
        TrialPlan(source_finders=("kmeans", "known"), **few),
        AdequacyPlan(sizes=(30, 0), **few),
        FoldPlan(models=("logistic",), seeds=(0, 1), n_folds=3),
        AverageCasePlan(of, sigmas=(0.5, 1.0), shape="per_feature", n_samples=60, n_audit=20),
        CovariateShiftPlan(of, n_resplits=19),
        GuidedTestsPlan(of, frequency=0.5),
        TRAINING,
        MapPlan(),
        SourcesPlan("deep_kmeans", n_sources=2, n_clusterings=2),
        ParametricNullPlan(n_sources=2, n_clusterings=1, n_repeats=2),
        FewLabelsPlan(of, NEW, (1, 12), (100, 100), (4000, 1000)),
    )
    return {plan.kind: plan for plan in found}


@lru_cache(maxsize=8)
def rows(kind: str) -> tuple[bytes, ...]:
    """The rows of every trial of the plan of this kind."""
    plan = plans()[kind]
    context = Context(model={model_fingerprint(model()): model()}.__getitem__)
    return tuple(frames.to_bytes(plan.run_trial(data(), at, context=context)) for at in range(plan.n_trials(data())))


def stored(workspace: Workspace, kind: str) -> Run:
    """That run in a workspace, done, with its data and its model."""
    plan = plans()[kind]
    workspace.add_dataset(LOCAL_OWNER, data())
    workspace.keep_model(LOCAL_OWNER, model(), name="<u>net</u>", training_plan=to_json(TRAINING))
    run = workspace.create_run(LOCAL_OWNER, plan, data().fingerprint)
    if run.state == "done":
        return run
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    for trial, content in enumerate(rows(kind)):
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: content})
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    return workspace.run(LOCAL_OWNER, run.id)


def a_workspace() -> Workspace:
    """An empty one, in a folder of its own."""
    return Workspace(Path(tempfile.mkdtemp(dir=_FOLDERS.name)))
