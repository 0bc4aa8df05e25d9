"""From Python the same numbers as from the app: arrays in, a verdict with its figures out, refusals in words."""

import ast
import dataclasses
import inspect
import json
import os
import pickle
import re
import subprocess
import sys
from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import touchstone
from tests import reference
from tests.conftest import ROOT
from touchstone import core
from touchstone.core import (
    Result,
    check,
    compare,
    dataset,
    few_labels,
    plan,
    predictions,
    read,
    record,
    version,
)
from touchstone.core.data import DataError, Dataset, Predictions, load_example
from touchstone.core.evaluate.matched_subsets import compare_pairs, compare_sets, matched_verdict
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.verdict import quality_verdict
from touchstone.core.figures.theme import alt_text
from touchstone.core.models import MODELS, ModelError
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.live import lent
from touchstone.core.models.load import judge, read_stored
from touchstone.core.public import asking
from touchstone.core.public.asking import RECIPES
from touchstone.core.questions import QUESTIONS, plan_class
from touchstone.core.report.run_report import takes_metric
from touchstone.core.trials import Context, TrialPlan

HEAVY = ["numpy", "pandas", "scipy", "sklearn", "torch", "numba", "sqlalchemy", "distributed", "plotly", "streamlit"]

QUICK = {
    "source_robustness": {"models": ("logistic",), "n_repeats": 3},
    "cluster_folds": {"schemes": ("random_folds",), "seeds": (0,), "n_folds": 3},
    "data_set_adequacy": {"models": ("logistic",), "n_repeats": 3, "sizes": (60, 0)},
}


@pytest.fixture(scope="module")
def wine():
    return load_example("wine")


@pytest.mark.parametrize("question", RECIPES)
def test_every_recipe_can_be_asked_and_drawn(question, wine):
    result = check(question, wine, **QUICK[question])
    assert result.verdict.headline
    assert len(result.rows)
    for figure in result.figures:
        assert alt_text(figure.draw(dark=False))


def test_the_numbers_are_those_of_the_trials_that_the_app_stores(wine):
    result = check("source_robustness", wine, **QUICK["source_robustness"])
    plan = TrialPlan(**QUICK["source_robustness"])
    trials = [plan.run_trial(wine, trial, context=Context()) for trial in range(plan.n_trials(wine))]
    [row] = expected_accuracy_intervals(pd.concat(trials, ignore_index=True)).overall
    table = result.table().set_index("number")
    assert table.loc["source_robustness.exclusive[logistic, kmeans]", "value"] == row.exclusive.value
    ends = table.loc["source_robustness.inclusive[logistic, kmeans]", ["lower", "upper"]]
    np.testing.assert_array_equal(ends.astype(float), [*dataclasses.astuple(row.inclusive.over_sources)])
    assert np.isfinite(ends.astype(float)).all()


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (np.zeros((4, 3)), "tabular"),
        (np.full((4, 5, 5), 255), "image"),
        (np.zeros((4, 5, 5, 1)), "image"),
        (list("abcd"), "text"),
    ],
)
def test_arrays_become_data_of_their_kind(x, kind):
    made = dataset(x, ["yes", "no", "yes", "no"], sources=[1, 1, 2, 2])
    assert made.kind == kind
    assert made.class_names == ("no", "yes")
    assert made.y.tolist() == [1, 0, 1, 0]
    assert made.sources.tolist() == ["1", "1", "2", "2"]
    assert kind != "image" or made.x.max() <= 1


def test_an_id_that_stands_twice_is_refused_with_its_lines(tmp_path):
    table = pd.DataFrame({"id": [f"t{row}" for row in range(60)], "y_true": ["cat", "dog"] * 30, "y_pred": "cat"})
    table.to_csv(tmp_path / "old.csv", index=False)
    table.replace({"id": {"t5": "t4"}}).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(DataError, match=r"new\.csv, line 7: id 't4' stands in line 6 too"):
        compare(tmp_path / "old.csv", tmp_path / "new.csv")


def test_a_comparison_is_the_pages():
    rng = np.random.default_rng(0)
    truth, ids = rng.integers(0, 2, 400), [str(row) for row in range(400)]
    sure = rng.uniform(0.5, 1, 400)
    old, new = (
        Predictions(ids, truth, np.where(rng.random(400) < miss, 1 - truth, truth), ["a", "b"], confidence=sure)
        for miss in (0.05, 0.25)
    )
    result = compare(old, new, design="independent")
    page = compare_pairs({"model": old}, {"model": new}, rng=np.random.default_rng(0))
    assert result.verdict == matched_verdict(page.rows[0])
    muted = compare(old, new, design="independent", mute={"M01": "known"})
    assert muted.claims == result.claims
    assert (muted.claims[0].code, muted.claims[0].decision) == ("M01", "above")
    assert "falls by" not in muted.verdict.text.replace("for “", "")
    assert muted.verdict.findings[-1] == "Muted: M01 Accuracy falls (known)."
    with pytest.raises(DataError, match="without a reason"):
        check("data_sets", "wine", mute={"M01": " "})
    assert [figure.key for figure in result.figures] == [
        "gap",
        "curve",
        "labels",
        "reliability",
        "densities",
        "one",
        "coverage",
        "confusion-reference",
        "confusion-target",
        "roc",
        "precision-recall",
    ]
    assert all(alt_text(figure.draw(dark=True)) for figure in result.figures)
    assert len(result.tables["n and accuracy of every subset"]) == 6


def test_files_of_several_models_get_the_answer_about_all_or_about_the_one_that_is_named(tmp_path):
    rng = np.random.default_rng(0)
    for name, n, falls in (("old", 400, (0.0, 0.0)), ("new", 300, (0.3, 0.1))):
        truth, sure = rng.choice(["cat", "dog"], (2, n)), rng.uniform(0.5, 1, (2, n))
        right = rng.random((2, n)) < sure - np.array(falls)[:, None]
        frame = pd.DataFrame({"id": [*range(n)] * 2, "y_true": truth[[0, 0]].ravel(), "confidence": sure.ravel()})
        frame["y_pred"] = np.where(right.ravel(), frame["y_true"], np.where(frame["y_true"] == "cat", "dog", "cat"))
        frame.assign(model=np.repeat(["mlp", "vit"], n)).to_csv(tmp_path / f"{name}.csv", index=False)
    files = tmp_path / "old.csv", tmp_path / "new.csv"
    every, vit = compare(*files), compare(*files, model="vit")
    assert "of 2 models (corrected for all claims)" in every.verdict.headline
    assert every.verdict.used.startswith("Largest fall: mlp, ")
    assert [figure.key for figure in every.figures] == ["accuracies", "gaps", "confidence"]
    numbers = every.table().set_index("number")
    assert {name.split("[")[1].rstrip("]").split(",")[0] for name in numbers.index} == {"mlp", "vit"}
    of_vit = vit.table().set_index("number")
    assert {name.split("[")[1].rstrip("]").split(",")[0] for name in of_vit.index} == {"vit"}
    pd.testing.assert_frame_equal(numbers.loc[of_vit.index], of_vit, check_exact=True)
    assert {claim.p_value for claim in vit.claims} & {claim.p_value for claim in every.claims}, "of one family"
    pd.testing.assert_frame_equal(
        vit.tables["Gap and matched gap of every model"], every.tables["Gap and matched gap of every model"]
    )


@pytest.fixture(scope="module")
def parts(wine) -> Dataset:
    """The wine, with a test part."""
    part = np.where(np.arange(wine.n_samples) % 3 == 0, "test", "train")
    return dataset(wine.x, np.array(wine.class_names)[wine.y], part=part, name="wine")


@pytest.fixture(scope="module")
def classifier(parts):
    train = parts.part == "train"
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    return scaled.fit(parts.x[train], np.array(parts.class_names)[parts.y[train]])


SMALL = {
    "average_case": {"sigmas": (0.5,), "n_samples": 40, "n_audit": 10, "audit_draws": 100, "audit_half_width": None},
    "test_quality": {},
    "covariate_shift": {"n_resplits": 19},
    "guided_tests": {"frequency": 1.0},
}


@pytest.mark.parametrize("question", SMALL)
def test_every_question_about_one_model_can_be_asked_of_a_classifier(question, parts, classifier):
    result = check(question, parts, model=classifier, **SMALL[question])
    assert result.verdict.headline
    assert all(len(table) for table in result.tables.values())
    assert len(result.rows) or question == "test_quality"
    for figure in result.figures:
        assert alt_text(figure.draw(dark=False))
    assert check(question, parts, model=classifier, **SMALL[question]).verdict == result.verdict, "by chance"


def test_every_question_is_asked_by_one_of_these():
    records = {stem for stem, question in QUESTIONS.items() if question.speaks_of or stem == "data_sets"}
    assert records - {"matched_subsets", "model_comparison", "weak_slices"} <= set(asking.QUESTIONS) - {
        "covariate_shift"
    }
    kinds = {question.kind for question in QUESTIONS.values() if question.speaks_of == "model"}
    assert kinds <= set(asking.QUESTIONS)


def test_a_live_model_has_the_numbers_of_its_file(parts, tmp_path):
    train = parts.part == "train"
    trained = MODELS["linear"](n_epochs=30).fit(parts.x[train], parts.y[train], seed=0, n_classes=3).trained(parts)
    (tmp_path / "mine.safetensors").write_bytes(trained.to_bytes())

    class Same(torch.nn.Module):
        def forward(self, x):
            return trained.logits(x.double())

    asked = {**SMALL["average_case"], "rows": "test"}
    of_file, of_module, of_function = (
        check("average_case", parts, model=model, **asked)
        for model in (tmp_path / "mine.safetensors", Same(), lambda x: trained.logits(torch.from_numpy(x)).numpy())
    )
    for live in (of_module, of_function):
        pd.testing.assert_frame_equal(live.table(), of_file.table(), rtol=1e-5)
    assert "mmse" in set(of_module.rows["estimator"]), "a module has gradients"
    assert "mmse" not in set(of_function.rows["estimator"]), "a function has none"


def test_columns_of_a_classifier_are_those_of_its_classes():
    """Of names, of numbers, whose order is not that of their letters, and of codes."""
    y = np.tile(np.arange(12), 20)
    x = y[:, None] + np.random.default_rng(0).normal(size=(240, 1), scale=0.1)
    data, fitted = dataset(x, y), KNeighborsClassifier(1).fit(x, y.astype(str))
    assert data.class_names[9:11] == ("9", "10")
    assert predictions(y, y).class_names == data.class_names
    assert list(fitted.classes_[1:3]) == ["1", "10"]
    with lent(fitted, data) as stored:
        judged = judge(read_stored(stored, data), data, np.arange(240))
    assert judged.accuracy == 1
    with lent(KNeighborsClassifier(1).fit(x, data.y), data) as stored:  # of codes
        assert judge(read_stored(stored, data), data, np.arange(240)).accuracy == 1
    with (
        lent(KNeighborsClassifier(1).fit(x, y % 3), data) as stored,
        pytest.raises(ModelError, match="knows the classes 0, 1, 2"),
    ):
        read_stored(stored, data)
    with pytest.raises(ModelError, match="lent no more"):
        read_stored(stored, data)


def test_images_reach_a_flat_classifier_as_they_lie(monkeypatch):
    digits = load_example("digits")
    fitted = LogisticRegression(max_iter=200).fit(digits.x.reshape(len(digits.x), -1), digits.y)
    with lent(fitted, digits) as stored:
        assert judge(read_stored(stored, digits), digits, np.arange(500)).accuracy > 0.9


def test_the_quality_of_a_test_set_is_the_pages(parts, classifier):
    names = np.array(parts.class_names)[parts.y]
    halves = [
        (parts.x[rows], parts.y[rows], classifier.predict_proba(parts.x[rows]))
        for rows in (parts.part == "train", parts.part == "test")
    ]
    assert (classifier.classes_ == np.unique(names)).all()
    data, model = record(*halves, class_names=parts.class_names)
    seen = [LayerSamples(*half, parts.class_names) for half in halves]
    page = measure_quality(*seen, rng=np.random.default_rng(0))
    result = check("test_quality", data, model=model)
    assert result.verdict == quality_verdict(page)
    pd.testing.assert_frame_equal(result.answer.files["Classes"](), page.table())
    assert check("guided_tests", data, model=model, frequency=1.0).verdict.headline


def test_files_are_read_as_the_app_reads_them(tmp_path):
    rng = np.random.default_rng(0)
    truth, score = rng.choice(["cat", "dog"], 300), rng.uniform(0.5, 1, 300)
    wrong = np.where(truth == "cat", "dog", "cat")
    for name, share in (("old", 0.9), ("new", 0.6)):
        said = np.where(rng.random(300) < share, truth, wrong)
        frame = pd.DataFrame({"id": range(300), "y_true": truth, "y_pred": said, "confidence": score})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.assign(model="mlp").to_csv(tmp_path / f"{name}_mlp.csv", index=False)
    by_file = compare(tmp_path / "old.csv", tmp_path / "new.csv")
    old, new = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("old", "new"))
    by_array = compare(
        *(predictions(each["y_true"], each["y_pred"], confidence=each["confidence"]) for each in (old, new)),
    )
    assert by_file.table()["value"].tolist() == pytest.approx(by_array.table()["value"].tolist(), nan_ok=True)
    for name in ("old", "new"):
        pd.read_csv(tmp_path / f"{name}.csv").assign(room=np.arange(300) // 25).to_csv(tmp_path / f"{name}.csv")
    by_room = compare(tmp_path / "old.csv", tmp_path / "new.csv", unit="room", design="independent")
    assert "300 samples from 12 rooms in the reference set" in by_room.verdict.used
    rooms = [np.arange(300) // 25] * 2
    same = compare(
        *(
            predictions(each["y_true"], each["y_pred"], confidence=each["confidence"], unit=unit)
            for each, unit in zip((old, new), rooms, strict=True)
        ),
        design="independent",
    )
    pd.testing.assert_series_equal(by_room.table()["lower"], same.table()["lower"], rtol=1e-9)
    with pytest.raises(DataError, match="no column 'hall'"):
        compare(tmp_path / "old.csv", tmp_path / "new.csv", unit="hall")
    named = compare(tmp_path / "old_mlp.csv", tmp_path / "new_mlp.csv", model="mlp", design="independent")
    assert named.table()["number"].tolist()[0] == "matched_subsets.gap[mlp]"
    with pytest.raises(DataError, match=r"predictions of mlp\. Name one"):
        compare(tmp_path / "old_mlp.csv", tmp_path / "new_mlp.csv", model="vit")
    with pytest.raises(DataError, match="Give files or frames of predictions, or all as"):
        compare(tmp_path / "old.csv", predictions(["a"], ["a"], class_names=["a", "b"]))
    table = pd.DataFrame({"size": [1.0, 9.0, 8.5], "kind": ["plum", "melon", "melon"], "by": ["a", "b", "a"]})
    table.to_csv(tmp_path / "fruit.csv", index=False)
    said = read(tmp_path / "fruit.csv", label="kind", source="by")
    assert (said.class_names, said.sources.tolist()) == (("melon", "plum"), ["a", "b", "a"])
    with pytest.raises(DataError, match="no role 'weight'"):
        read(tmp_path / "fruit.csv", weight="size")


def test_few_labels_tell_the_accuracy_of_a_pool():
    rng = np.random.default_rng(0)
    inside, n_pools = 0, 100
    for _ in range(n_pools):
        confidence = 1 - 0.5 * rng.random(2000) ** 3
        correct = rng.random(2000) < confidence
        labels = few_labels(confidence, n_labels=150, seed=int(rng.integers(1000)))
        assert len(set(labels.rows.tolist())) == 150
        interval = labels.accuracy(correct[labels.rows]).interval
        inside += interval.lower <= correct.mean() <= interval.upper
    assert inside >= 90, "a 95 % interval that holds less often than 90 of 100 times"
    early = labels.accuracy(correct[labels.rows[:100]])
    assert early.n_labels == 100
    known = few_labels(confidence, n_labels=150, known_confidence=confidence, known_correct=correct)
    assert known.design.expected_errors.sum() > 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: few_labels([0.5, 1.2], n_labels=20), "from 0 to 1"),
        (lambda: few_labels(np.full(50, 0.9), n_labels=20, known_confidence=[0.9]), "belong together"),
        (lambda: few_labels(np.full(50, 0.9), n_labels=20).accuracy([True] * 21), "21 answers were given for 20"),
        (lambda: predictions(["a"], ["b"], class_names=["a", "c"]), "'b' is none of the classes"),
        (lambda: read("no-such-file.csv"), "no-such-file.csv"),
        (lambda: check("average_case", "wine"), "is about one model"),
        (lambda: check("source_robustness", "wine", model=print), "trains models anew"),
        (lambda: check("average_case", "wine", model=7), "int is no model"),
        (lambda: check("average_case", "wine", model="no-such.onnx"), "cannot be read"),
        (lambda: check("test_quality", "wine", model=lambda x: x[:, :3] - 7, radius=1), "test_quality: .*settings are"),
        (lambda: check("average_case", "wine", model=lambda x: x[:, :3], radius=1), "core plans average_case lists"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(asked, words):
    with pytest.raises(DataError, match=words):
        asked()


def test_what_cannot_be_asked_is_refused_in_words(wine):
    with pytest.raises(DataError, match="asks no question 'weather'"):
        check("weather", wine)
    with pytest.raises(DataError, match="core plans trials lists the settings"):
        check("source_robustness", wine, repeats=3)
    with pytest.raises(DataError):
        check("source_robustness", wine, n_repeats=0)


def test_results_do_not_change(wine):
    result = check("cluster_folds", wine, **QUICK["cluster_folds"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.rows = None


def test_importing_touchstone_imports_none_of_what_it_exports_and_all_of_it_is_there():
    asked = "import touchstone, sys; before = set(sys.modules); [getattr(touchstone, n) for n in dir(touchstone)]"
    early = f"m for m in before if m.partition('.')[0] in {HEAVY} or m.startswith('touchstone.core.')"
    told = f"{asked}; print(*sorted({early}))"
    done = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
    assert {name for names in core.PUBLIC.values() for name in names} <= set(dir(touchstone))
    with pytest.raises(AttributeError):
        touchstone.nothing  # noqa: B018


STUB = ast.parse((ROOT / "touchstone" / "__init__.pyi").read_text("utf-8")).body


def test_type_checkers_see_what_there_is():
    seen = {
        node.module: {name.asname or name.name for name in node.names}
        for node in STUB
        if isinstance(node, ast.ImportFrom) and node.module in core.PUBLIC
    }
    for typed, module in (("check", "asking"), ("compare", "comparing")):
        assert any(isinstance(node, ast.FunctionDef) and node.name == typed for node in STUB)
        seen.setdefault(f"touchstone.core.public.{module}", set()).add(typed)
    assert seen == {module: set(names) for module, names in core.PUBLIC.items()}


def stubs(name: str) -> dict[str, dict[str, str]]:
    """What may be said besides the data, with its type, by the question or the function."""
    return {
        ast.unparse(node.args.args[0].annotation): {
            each.arg: ast.unparse(each.annotation)
            for each in node.args.kwonlyargs
            if each.arg not in ("model", "class_names", "mute")
        }
        for node in STUB
        if isinstance(node, ast.FunctionDef) and node.name == name
    }


def test_type_checkers_know_the_settings_of_every_question():
    typed = {key.removeprefix("Literal['").removesuffix("']"): settings for key, settings in stubs("check").items()}
    assert set(typed) == set(asking.QUESTIONS)
    for question, stem in {**{stem: stem for stem in RECIPES}, **asking.MODELS}.items():
        kind = plan_class(QUESTIONS[stem])
        hints = get_type_hints(kind)
        fields = {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.name != "model"}
        by_metric = {"metric": str | None, "positive": str | None} if takes_metric(QUESTIONS[stem]) else {}
        fields = by_metric | fields
        assert list(typed[question]) == list(fields)
        assert {name: eval(text) for name, text in typed[question].items()} == fields
    options = {*inspect.signature(measure_quality).parameters} - {"train", "test", "regions", "rng"}
    assert set(typed["test_quality"]) == options | {"layer"}
    [settings] = stubs("compare").values()
    options = {*inspect.signature(compare_sets).parameters} - {"reference", "target", "model", "rng", "on_step"}
    assert set(settings) == options | {"seed", "unit", "design", "margin"}


@pytest.mark.parametrize(
    "name", [*core.PUBLIC["touchstone.core.split.folds"], *core.PUBLIC["touchstone.core.split.scheme"]]
)
def test_splitters_are_what_scikit_learn_takes(name, wine):
    splitter = getattr(core, name)()
    groups = np.arange(wine.n_samples) % 6 if getattr(splitter, "needs", "") != "features" else None
    x = wine.x[:, :1] if name == "QuantileFolds" else wine.x  # which takes one number of each sample
    scores = cross_val_score(DummyClassifier(), x, wine.y, groups=groups, cv=splitter)
    assert len(scores) == splitter.get_n_splits(x, wine.y, groups)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", core.PUBLIC["touchstone.core.cluster.sds"])
def test_clusterers_are_scikit_learns_kind(name, wine):
    clusterer = clone(getattr(core, name)(n_clusters=3, random_state=0))
    assert np.unique(clusterer.fit(wine.x, wine.y).labels_).tolist() == [0, 1, 2]


def test_the_page_on_python_names_all_that_is_public_and_its_code_runs(tmp_path):
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    result = {"Result", "FewLabels"}  # what calls give
    public_names = {name for names in core.PUBLIC.values() for name in names} - result
    assert public_names <= set(re.findall(r"\w+", page))
    assert re.findall(r'^\| `"(\w+)"` \|', page, re.MULTILINE) == list(asking.QUESTIONS)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    known = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=known, text=True, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "Logistic regression" in done.stdout


# Can a result be kept? In a log, as JSON, and pickled, as joblib and multiprocessing do it.


@pytest.fixture(scope="module")
def results() -> list[Result]:
    truth, rng = np.tile(["cat", "dog"], 150), np.random.default_rng(0)
    old, new = (
        predictions(truth, np.where(rng.random(300) < share, "cat", truth), confidence=rng.uniform(0.6, 0.9, 300))
        for share in (0.3, 0.1)
    )
    return [
        compare(old, new),
        compare(old, new, design="independent"),
        check("source_robustness", "wine", models=("nearest_neighbours",), n_repeats=2),
        check("data_sets", "wine"),
        plan(difference=0.02, discordant=0.05),
    ]


def test_a_result_prints_itself_in_a_few_lines(results):
    for result in results:
        lines = repr(result).splitlines()
        assert len(lines) <= 12
        assert all(len(line) < 140 for line in lines)
        assert lines[0].startswith(f"<Result: {result.verdict.headline[:60]}")
        assert all(each.title in repr(result) for each in result.quantities[:4])


def test_a_result_is_json_without_loss(results):
    for result in results:
        content = json.loads(result.to_json(), parse_constant=pytest.fail)  # NaN is no JSON
        assert content == result.to_dict()
        assert content["version"] == version()
        assert content["verdict"]["headline"] == result.verdict.headline
        table = pd.DataFrame(content["numbers"], columns=[*result.table()]).astype(result.table().dtypes)
        pd.testing.assert_frame_equal(table, result.table())
        assert [each["decision"] for each in content["claims"]] == [claim.decision for claim in result.claims]


def test_a_result_is_the_same_after_pickling(results):
    for result in results:
        kept = pickle.loads(pickle.dumps(result))
        assert kept.verdict.text == result.verdict.text
        assert kept.to_json() == result.to_json()
        pd.testing.assert_frame_equal(kept.rows, result.rows)
        assert kept.tables.keys() == result.tables.keys()
        for title, table in result.tables.items():
            pd.testing.assert_frame_equal(kept.tables[title], table)
        for title, file in result.answer.files.items():
            pd.testing.assert_frame_equal(kept.answer.files[title](), file())
        for again, figure in zip(kept.figures, result.figures, strict=True):
            assert (again.key, again.caption) == (figure.key, figure.caption)
            for dark in (False, True):
                drawn, anew = (json.loads(each.draw(dark=dark).to_json()) for each in (again, figure))
                assert drawn["data"] == anew["data"]


def test_the_reference_is_what_the_docstrings_say():
    assert reference.PAGE.read_text("utf-8") == reference.page(), "python -m tests.reference writes it"
