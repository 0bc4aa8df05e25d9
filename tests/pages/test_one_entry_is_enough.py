"""A toy is put into a registry and nowhere else: it is offered, run, checked, drawn, and in the report."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import recall_score

from tests.pages.conftest import charts, plainly, sent_report, stored_run
from tests.pages.test_average_case import kept, planned, rows_of
from tests.pages.test_average_case import stored_run as stored_average_case
from tests.pages.test_matched_subsets import frauds, settled, store
from touchstone.core import compare
from touchstone.core.__main__ import main
from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.average_case import ESTIMATORS, Facts, GaussianLogits, Mark
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.metric_functions import recalls
from touchstone.core.evaluate.metrics import METRICS, Metric
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from touchstone.core.figures import average_case as figures
from touchstone.core.figures.theme import theme
from touchstone.core.models import MODELS
from touchstone.core.models.errors import ModelError
from touchstone.core.parameters import About, asks
from touchstone.core.report import average_case as average_case_report
from touchstone.core.report import source_robustness as source_robustness_report
from touchstone.core.report.descriptions import describe
from touchstone.core.report.parts import Answer, Figure, Table
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.represent.representations import Representation
from touchstone.core.trials import FoldPlan, MapPlan, TrialPlan, to_json
from touchstone.core.workspace import LOCAL_OWNER, frames, load_plan
from touchstone.ui.forms.plan_form import plan_parameters


@dataclass(frozen=True)
class Halfway:
    """Normal logits by another name."""

    facts: ClassVar[Facts] = Facts(
        "Halfway estimate",
        Mark(5, "hexagon", "longdash"),
        "Halfway",
        offered=True,
        recommended=True,
        copies=(4, 8),
        from_plan={"n_samples": "n_passes"},
    )
    n_samples: int = 4
    lean: float = asks(1.0, label="Lean", help="What p_robust is multiplied by.", lowest=0.0, highest=1.0, step=0.1)

    def __post_init__(self):
        if not 0 < self.lean <= 1:
            raise ModelError("A lean lies between 0 and 1.")

    def __call__(self, inputs):
        estimate = GaussianLogits(self.n_samples)(inputs)
        return replace(estimate, estimator="halfway", p_robust=self.lean * estimate.p_robust)


@dataclass
class Always:
    """The class that is most frequent, whatever comes."""

    label: ClassVar[str] = "Always the same"
    needs: ClassVar[str] = "it looks at tables alone"

    @classmethod
    def fits(cls, dataset) -> bool:
        return dataset.kind == "tabular"

    def fit(self, x, y, *, seed, n_classes=None, should_stop=None):
        self._class = np.bincount(y).argmax()
        return self

    def predict(self, x):
        return np.full(len(x), self._class)


def in_turn(features, n_sources, rng):
    """Sources as rows come."""
    return np.arange(len(features)) % n_sources


def words_of(answer: Answer) -> str:
    """All that a report says in its verdict, captions, tables and alternative texts."""
    said = [str(answer.verdict)]
    for part in (part for section in answer.sections for part in section.flat):
        if isinstance(part, Table):
            said.append(part.lines.to_string())
        elif isinstance(part, Figure):
            said += [part.caption, part.draw(dark=False).to_json()]
        else:
            said.append(part)
    return "\n".join(said)


GEOMETRIC = Metric(
    "geometric_mean",
    "geometric mean of recalls",
    lambda scored, weights: float(
        np.sqrt(np.prod(recall_score(scored.y_true, scored.y_pred, average=None, sample_weight=weights)))
    ),
    of_counts=lambda counts, _: np.sqrt(np.prod(recalls(counts), axis=-1)),
)
"""Of two classes."""


def test_a_metric_is_behind_every_door(open_page, workspace, monkeypatch, tmp_path, capsys):
    """Pages of files and of data, the sheet of both, reports, command line, check and Python."""
    monkeypatch.setitem(METRICS, GEOMETRIC.name, GEOMETRIC)
    title = "Geometric mean of recalls"
    contents = {"reference": frauds(900, 0.9, 1), "target": frauds(500, 0.5, 2)}
    two = {side: store(workspace, f"{side}.tsv", content, None) for side, content in contents.items()}

    app = settled(open_page("matched_subsets", **two, metric=GEOMETRIC.title))
    assert f"{title} falls by" in plainly(app)
    offered = next(table.value for table in app.dataframe if "New is worse by" in table.value)
    assert GEOMETRIC.title in offered["Metric"].tolist()
    commands = [code.value for code in app.code if "core compare" in code.value]
    assert commands
    assert all(f"--metric={GEOMETRIC.name}" in command for command in commands)
    assert title in sent_report(app)
    app = open_page("overview", sheet="prediction files")
    assert f"expect {GEOMETRIC.title} " in plainly(app), "the sheet begins with what the files were compared by"

    y, ids = np.arange(120) % 2, [f"row {number}" for number in range(120)]
    x = np.random.default_rng(0).normal(size=(120, 3)) + y[:, None]
    data = Dataset("two", "tabular", x, y, ("legit", "fraud"), ids)
    workspace.add_dataset(LOCAL_OWNER, data)
    stored_run(workspace, data)
    stored_run(workspace, data, plan=FoldPlan(models=("logistic",), seeds=(0, 1, 2)))
    for stem, more in (("source_robustness", {"repeats": "4"}), ("cluster_folds", {"models": "Logistic regression"})):
        app = open_page(stem, data=data.fingerprint, metric=title, **more)
        assert GEOMETRIC.title in plainly(app), stem
        assert GEOMETRIC.title in sent_report(app), stem
    app = open_page("overview", data=data.fingerprint, metric=title)
    assert f"expect {GEOMETRIC.title} " in plainly(app)

    files = []
    for side, content in contents.items():
        files.append(str(tmp_path / f"{side}.tsv"))
        Path(files[-1]).write_bytes(content)
    result = compare(*files, metric=GEOMETRIC.name)
    assert result.verdict.headline.startswith(f"{title} falls by")
    assert main(["compare", "--reference", files[0], "--target", files[1], "--metric", GEOMETRIC.name]) == 0
    assert f"{title} falls by" in "".join(capsys.readouterr())
    report = tmp_path / "out.html"
    required = ["--require", f"{GEOMETRIC.name}.lower >= .9", "--metric", GEOMETRIC.name, "--report", str(report)]
    assert main(["check", "--predictions", *files, *required]) == 1
    assert "fails" in capsys.readouterr().out
    assert f"{title} you can plan for." in report.read_text("utf-8")


def test_an_estimator_is_offered_run_audited_drawn_and_reported(open_page, workspace, monkeypatch):
    monkeypatch.setitem(ESTIMATORS, "halfway", Halfway)
    data, model = kept(workspace, "wine")
    fields = {"sigmas": (0.5,), "n_samples": 40, "n_audit": 20}
    run = stored_average_case(workspace, "wine", planned(model, estimators=("halfway", "softmax"), **fields))

    address = {"sigmas_columns": "0.5", "judged": "40", "audited": "20", "estimator": "Halfway estimate"}
    app = open_page("average_case", data=data.fingerprint, model=model, **address)
    assert "Halfway estimate" in app.selectbox(key="estimator").options
    assert app.button(key="run").disabled, "the address leads to another plan"
    assert "single samples estimated by Halfway estimate" in plainly(app)
    app.session_state["fold-audit"] = True
    app.run()
    assert any("Halfway " in alt for alt in charts(app) if alt.startswith("Each estimator's bias"))

    robustness = evaluate_robustness(workspace.rows(LOCAL_OWNER, run.id), class_names=data.class_names)
    assert "halfway" in robustness.audit.names
    assert {one.n_copies for one in robustness.audit.convergence if one.estimator == "halfway"} == {4, 8}
    for figure in (figures.error_chart(robustness.audit), figures.convergence_chart(robustness.audit)):
        (drawn,) = [trace for trace in figure.data if trace.name == "Halfway"]
        assert (drawn.marker.symbol, drawn.line.dash) == ("hexagon", "longdash")
        assert drawn.line.color == theme(dark=False).colours[5]
    table = average_case_report.estimator_table(robustness.audit, 0.5)
    assert "Halfway estimate" in table.lines["Estimator"].tolist()
    assert "Halfway estimate" in words_of(average_case_report.answer(robustness))


def test_an_option_of_an_estimator_is_in_form_address_plan_and_trial(open_page, workspace, monkeypatch):
    monkeypatch.setitem(ESTIMATORS, "halfway", Halfway)
    data, model = kept(workspace, "wine")
    fields = {"sigmas": (0.5,), "n_samples": 20, "n_audit": 0, "estimators": ("halfway", "softmax")}
    leaning = planned(model, **fields, options=(("halfway", "lean", 0.5),))
    address = plan_parameters(leaning, About(data, model=workspace.stored_model(LOCAL_OWNER, model)))
    assert address is not None
    assert address["halfway_lean"] == ["0.5"]
    app = open_page("average_case", data=data.fingerprint, **address)
    assert app.session_state["share_offer"].plan == leaning
    assert "Halfway estimate: lean" in [control.label for control in app.number_input]

    rows, whole = (
        frames.from_bytes(rows_of("wine", plan)).query("estimator == 'halfway'")
        for plan in (leaning, planned(model, **fields))
    )
    assert (rows["p_robust"] == 0.5 * whole["p_robust"]).all()
    assert load_plan(to_json(leaning)) == leaning
    assert "Halfway estimate: lean 0.5" in describe(leaning)
    assert "options" not in to_json(planned(model, **fields, options=(("halfway", "lean", 1.0),)))
    with pytest.raises(DataError, match="A lean lies between 0 and 1"):
        planned(model, **fields, options=(("halfway", "lean", 0.0),))


def test_a_source_finder_and_a_model_are_offered_run_drawn_and_reported(open_page, workspace, wine, monkeypatch):
    monkeypatch.setitem(SOURCE_FINDERS, "in_turn", SourceFinder("rows in turn", cluster=in_turn, short="in turn"))
    monkeypatch.setitem(MODELS, "always", Always)
    plan = TrialPlan(models=("logistic", "always"), source_finders=("kmeans", "in_turn"), n_repeats=2)
    run = stored_run(workspace, wine, plan=plan)

    chosen = {"models": ["Logistic regression", "Always the same"], "sources": ["k-means clusters", "rows in turn"]}
    app = open_page("source_robustness", data=wine.fingerprint, repeats="2", **chosen)
    assert app.button(key="run").disabled, "the address leads to another plan"
    assert "k-means and in turn agree" in plainly(app)
    assert any("Always the same, in turn:" in alt for alt in charts(app))
    assert "Always the same, in turn" in app.selectbox(key="about").options

    rows = workspace.rows(LOCAL_OWNER, run.id)
    answer = source_robustness_report.answer(expected_accuracy_intervals(rows), compare_models(rows), wine)
    assert "Always the same, in turn" in words_of(answer)
    with pytest.raises(ValueError, match="it looks at tables alone"):
        TrialPlan(models=("always",)).n_trials(load_example("digits"))


def test_runs_of_an_entry_that_is_gone_are_listed_and_harm_no_page(open_page, workspace, wine, monkeypatch):
    """As where a plugin is not installed any more."""
    with monkeypatch.context() as patch:
        patch.setitem(REPRESENTATIONS, "toy", Representation("Toy", ("tabular",), lambda dataset: dataset.x[:, :3]))
        patch.setitem(MODELS, "always", Always)
        stored_run(workspace, wine, plan=MapPlan(representation="toy", method="umap"))
        stored_run(workspace, wine, plan=FoldPlan(models=("always",), representation="toy"))
        stored_run(workspace, wine, plan=TrialPlan(models=("always",), n_repeats=2))
    folds = FoldPlan(models=("logistic",), schemes=("random_folds",), seeds=(0, 1, 2))
    stored_run(workspace, wine, plan=folds)
    assert "its plugins, does not know" in plainly(open_page("runs"))
    for stem in ("cluster_folds", "source_robustness", "overview", "data_sets"):
        app = open_page(stem, data=wine.fingerprint, models="Logistic regression", schemes="Random")
        assert not app.exception, stem
    with pytest.raises(DataError, match="no plugin that is installed here has it"):
        TrialPlan(models=("always",))
