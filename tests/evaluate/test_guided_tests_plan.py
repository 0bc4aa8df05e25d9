"""A plan of guided tests: which trials there are, what comes back from its rows, and what is refused."""

import json
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from tests.split.marked import marked
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.guided_tests.generate import generate_tests, start
from touchstone.core.evaluate.guided_tests.plan import COLUMNS, GuidedTestsPlan, guided_of_rows
from touchstone.core.evaluate.guided_tests.results import table_sizes
from touchstone.core.evaluate.guided_tests.suite import judge_suite, make_suite
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.models import MODELS, Cancelled
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.trials import Context, Plan, from_json, to_json
from touchstone.core.trials.layer_parts import layer_parts
from touchstone.core.trials.training_plan import TrainingPlan
from touchstone.core.workspace import frames, load_plan


@lru_cache(maxsize=2)
def stored(name: str = "digits") -> tuple[Dataset, bytes]:
    """A network trained on the training part of the usual split of an example, as the workspace keeps it."""
    data = load_example(name)
    train = TrainingPlan("linear").split(data).train
    model = MODELS["linear"](n_epochs=5).fit(data.x[train], data.y[train], seed=0, n_classes=data.n_classes)
    return data, ModelFile(model.trained(data).to_bytes(), "linear.safetensors", data.fingerprint).to_bytes()


def planned(name: str = "digits", **fields) -> tuple[GuidedTestsPlan, Dataset, Context]:
    data, model = stored(name)
    plan = GuidedTestsPlan(model_fingerprint(model), **fields)
    return plan, data, Context(model={plan.model: model}.__getitem__)


def rows_of(plan, data, context, trials=None) -> pd.DataFrame:
    """The rows of these trials (all by default), having gone where a run's rows go."""
    found = [
        plan.run_trial(data, i, context=context) for i in (range(plan.n_trials(data)) if trials is None else trials)
    ]
    return frames.from_bytes([frames.to_bytes(rows) for rows in found])


def test_json_is_canonical_and_comes_back():
    plan = GuidedTestsPlan("f1", centroid_share=1.0, r=2.0, wcl=0.5)
    assert isinstance(plan, Plan)
    assert from_json(to_json(plan), {"guided_tests": GuidedTestsPlan}) == plan
    always = {field.name for field in fields(plan)} - {"test_set"}  # a later one
    assert set(json.loads(to_json(plan))) == always | {"kind"}
    own = replace(plan, test_set="file")
    assert json.loads(to_json(own))["test_set"] == "file"
    assert load_plan(to_json(own)) == own != plan
    assert plan.stored_models() == ("f1",)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": ""}, "fingerprint of a stored model"),
        ({"layer": ""}, "name of a layer"),
        ({"r": 0.0}, "Radius must be a number above 0"),
        ({"theta1": -0.1}, "Boundary from must be a confidence"),
        ({"theta2": 1.5}, "Boundary up to must be a confidence"),
        ({"unit": "mile"}, "99th percentile, largest"),
        ({"wcl": 0.0}, "Parents up to must be a confidence"),
        ({"noise": -1.0}, "Noise must be"),
        ({"rivals": "all"}, "nearest, even"),
        ({"centroid_share": 1.1}, "share from 0 to 1"),
        ({"frequency": 0.0}, "Size must be a number above 0"),
        ({"decoder_epochs": -1}, "Decoder's epochs must"),
        ({"test_share": 1.0}, "test_share"),
        ({"seed": -1}, "Seed must"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(DataError, match=words):
        GuidedTestsPlan(**{"model": "f1"} | fields)


def test_a_plan_that_does_not_fit_the_data_is_refused():
    wine = load_example("wine")
    with pytest.raises(DataError, match=r"holds no images, .* Decoder.s epochs must be 0"):
        GuidedTestsPlan("f1", decoder_epochs=1).n_trials(wine)
    with pytest.raises(DataError, match="confidences run from"):
        GuidedTestsPlan("f1", theta2=0.3).n_trials(wine)
    with pytest.raises(DataError, match=r"Parents up to 0\.2: with 3 classes no confidence is below"):
        GuidedTestsPlan("f1", wcl=0.2).n_trials(wine)


def test_trials_are_the_decoder_and_each_class_for_the_mix_and_the_table():
    plan, data, _ = planned(decoder_epochs=1)
    assert [trial.part for trial in plan.trials(data)] == ["suite", "decoder", *["mix"] * 10, *["table"] * 10]
    assert replace(plan, decoder_epochs=0, table=False).n_trials(data) == 11
    wine = load_example("wine")
    assert {trial.part for trial in GuidedTestsPlan("f1").trials(wine)} == {"mix", "table"}  # nothing to look at


def test_the_suite_comes_back_from_its_rows_with_what_the_whole_model_made_of_it():
    plan, data, context = planned(table=False)
    found = guided_of_rows(rows_of(plan, data, context, [0]), class_names=data.class_names)
    parts = layer_parts(stored()[1], data)
    rows = {"train_rows": parts.train_rows, "test_rows": parts.test_rows}
    suite = make_suite(data.x, data.y, data.ids, **rows, class_names=data.class_names, seed=0)
    assert (found.suite.suite.images == suite.images).all()
    assert (found.suite.suite.kept == suite.kept).all()
    assert (found.suite.suite.oracle_right, found.suite.suite.oracle_n) == (suite.oracle_right, suite.oracle_n)
    assert found.suite.table().equals(judge_suite(suite, parts.model).table())
    assert (found.n_test, found.tests) == (0, None)  # the oracle's counts are not the model's


def test_it_is_kept_whether_parents_lie_at_the_boundary():
    plan, data, context = planned(table=False)
    found = guided_of_rows(rows_of(plan, data, context, range(1, 11)), class_names=data.class_names)
    parts = layer_parts(stored()[1], data)
    weak = parts.test.proba.max(axis=1) <= 0.6
    n_weak = [int((weak & (parts.test.labels == label)).sum()) for label in range(10)]
    assert found.at_boundary == tuple(n >= 10 for n in n_weak)


def test_what_was_generated_comes_back_from_the_rows_without_the_model():
    plan, data, context = planned(frequency=0.25, centroid_share=0.3, table=False)
    rows = rows_of(plan, data, context)
    assert list(rows) == list(COLUMNS)
    found = guided_of_rows(rows, class_names=data.class_names)
    parts = layer_parts(stored()[1], data)
    begin = start(fit_regions(parts.train), parts.head, train=parts.train, test=parts.test)
    n = np.maximum(np.round(0.25 * parts.test.counts()), 1).astype(np.int64)
    made = generate_tests(begin, n, centroid_share=0.3, seed=0)
    assert found.tests.table().equals(made.table())
    assert (found.tests.features == made.features).all()
    assert (found.tests.asked == made.asked).all()
    assert (found.tests.placed == made.placed).all()
    assert found.test_accuracy[0] == (parts.test.predicted == parts.test.labels).mean()
    assert (found.grid, found.decoder, found.reconstruction) == (None, None, None)
    assert found.accuracy().accuracy == made.correct.mean()
    table = found.class_table()
    assert table["placed"].sum() == len(made)
    known = table[(table["label"] == "3") & (table["region"] == "boundary")].iloc[0]
    own = (made.y == 3) & ~made.for_centroid
    assert known["accuracy"] == made.correct[own].mean()


def test_table_2_is_filled_from_the_rows_and_has_a_place_for_every_mix():
    plan, data, context = planned("wine", frequency=0.1)
    found = guided_of_rows(rows_of(plan, data, context), class_names=data.class_names)
    assert found.n_test == 36
    assert table_sizes(36) == (1, 1, 3, 4)
    assert [cell.n_per_class for cell in found.grid.cells[::5]] == [1, 3, 4]
    assert [cell.centroid_share for cell in found.grid.cells[:5]] == [0.0, 0.3, 0.5, 0.7, 1.0]
    assert found.grid.n_correct == found.n_correct
    assert found.grid.cells[-1].asked == 3 * table_sizes(36)[-1]


def test_tests_are_made_beside_the_test_set_that_the_file_marks():
    data = marked()
    train, test = TrainingPlan("linear", test_set="file").split(data)
    trained = MODELS["linear"](n_epochs=5).fit(data.x[train], data.y[train], seed=0, n_classes=data.n_classes)
    model = ModelFile(trained.trained(data).to_bytes(), "linear.safetensors", data.fingerprint).to_bytes()
    drawn = GuidedTestsPlan(model_fingerprint(model), table=False)
    n_test = []
    for plan in (drawn, replace(drawn, test_set="file")):  # one after the other: what is kept must tell them apart
        rows = rows_of(plan, data, Context(model={plan.model: model}.__getitem__))
        n_test.append(set(rows["n_test"].dropna()))
    assert n_test == [{36}, {len(test)}]
    assert len(test) != 36


def test_a_part_of_the_trials_is_a_part_of_the_results():
    plan, data, context = planned("wine", frequency=0.5)
    rows = rows_of(plan, data, context, [0, 3, 5])
    found = guided_of_rows(rows, class_names=data.class_names)
    assert found.made_for == (0,)
    assert set(found.tests.y) == {0}
    assert found.grid.cells[-1].asked == 2 * table_sizes(36)[-1]
    failed = guided_of_rows(plan.failed_trial(data, 1), class_names=data.class_names)
    assert (failed.tests, failed.made_for, failed.n_test) == (None, (), 0)
    nothing = guided_of_rows(pd.DataFrame(), class_names=data.class_names)
    assert (nothing.tests, nothing.grid) == (None, None)
    both = frames.from_bytes([frames.to_bytes(rows), frames.to_bytes(plan.failed_trial(data, 1))])
    assert guided_of_rows(both, class_names=data.class_names).tests.table().equals(found.tests.table())


def test_the_decoder_is_kept_with_its_error_and_tells_of_its_epochs():
    plan, data, context = planned(decoder_epochs=3, table=False)
    heard = []
    rows = rows_of(plan, data, replace(context, report=lambda *told: heard.append(told)), [1])
    assert heard == [(n, 3, "epoch of the decoder") for n in (1, 2, 3)]
    found = guided_of_rows(rows, class_names=data.class_names)
    parts = layer_parts(stored()[1], data)
    images = found.decoder.decode(parts.test.features)
    error = np.sqrt(np.square(images - data.x[parts.test_rows]).mean())
    assert found.reconstruction.error == pytest.approx(error, rel=1e-4)
    assert found.reconstruction.error < found.reconstruction.baseline
    assert found.reconstruction.n == 359


def test_it_stops_when_asked():
    plan, data, context = planned(decoder_epochs=3)
    for trial in (0, 1, 2):
        with pytest.raises(Cancelled):
            plan.run_trial(data, trial, context=replace(context, should_stop=lambda: True))


def test_the_same_plan_gives_the_same_rows_and_another_seed_others():
    plan, data, context = planned("wine", frequency=0.5, table=False)
    first, again = (rows_of(plan, data, context) for _ in range(2))
    assert first.equals(again)
    assert not first.equals(rows_of(replace(plan, seed=1), data, context))
