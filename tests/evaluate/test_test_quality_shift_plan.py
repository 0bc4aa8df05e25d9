"""A plan of covariate shift: block by block the very answer of `covariate_shift`, and a fair one on the way there."""

import json
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.feature_populations import cloud, head
from tests.split.marked import marked
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.covariate_shift import covariate_shift
from touchstone.core.evaluate.test_quality import shift_plan
from touchstone.core.evaluate.test_quality.shift_plan import COLUMNS, FAILED, WAITING, CovariateShiftPlan, shift_of_rows
from touchstone.core.models import Cancelled
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.models.networks import LinearNetwork, Mlp2048
from touchstone.core.trials import Context, Plan, from_json, to_json
from touchstone.core.trials.layer_parts import layer_parts
from touchstone.core.trials.training_plan import TrainingPlan
from touchstone.core.workspace import frames, load_plan

FAST = {"n_dimensions": 4, "n_components": 2, "n_draws": 200, "n_resplits": 19}


def planned(stored: bytes, **changed) -> tuple[CovariateShiftPlan, Context]:
    plan = CovariateShiftPlan(model_fingerprint(stored), **FAST | changed)
    return plan, Context(model={plan.model: stored}.__getitem__)


def rows_of(plan: CovariateShiftPlan, data: Dataset, context: Context, trials=None) -> pd.DataFrame:
    """Rows of these trials (of all), having gone where a run's rows go."""
    trials = range(plan.n_trials(data)) if trials is None else trials
    return frames.from_bytes([frames.to_bytes(plan.run_trial(data, i, context=context)) for i in trials])


def recorded(n_classes=3, n_train=40, n_test=20, *, moved=0.0, n_features=6) -> tuple[Dataset, bytes]:
    """Clouds whose last class lies elsewhere in the test part."""
    of = head(n_classes, n_features)
    train, test = cloud(of, n_train, seed=1), cloud(of, n_test, seed=2)
    features = test.features + moved * (test.labels == n_classes - 1)[:, None]
    there = type(test)(features, test.labels, of(features), test.class_names)
    data, record = record_of(train, there, name="clouds")
    return data, record.to_bytes()


def whole(data: Dataset, stored: bytes, plan: CovariateShiftPlan):
    parts = layer_parts(stored, data, layer=plan.layer, test_share=plan.test_share, split_seed=plan.split_seed)
    return covariate_shift(
        parts.train.features, parts.train.labels, parts.test.features, parts.test.labels,
        class_names=data.class_names, seed=plan.seed, n_resplits=plan.n_resplits, options=plan.options,
    )  # fmt: skip


def same(found, other):
    pd.testing.assert_frame_equal(found.table(), other.table(), check_exact=True)
    for one, two in zip(found.classes, other.classes, strict=True):
        assert np.array_equal(one.null, two.null)


@lru_cache(maxsize=1)
def wine_model() -> tuple[Dataset, bytes]:
    wine = load_example("wine")
    train = TrainingPlan("linear", test_share=0.4, seed=3).split(wine).train
    trained = Mlp2048(n_epochs=1).fit(wine.x[train], wine.y[train], seed=0, n_classes=3).trained(wine)
    return wine, ModelFile(trained.to_bytes(), "mlp.safetensors", wine.fingerprint, "mlp_2048").to_bytes()


def test_json_is_canonical_and_comes_back():
    plan = CovariateShiftPlan("f1", layer="last hidden", seed=3)
    assert isinstance(plan, Plan)
    assert load_plan(to_json(plan)) == from_json(to_json(plan), {"covariate_shift": CovariateShiftPlan}) == plan
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
        ({"n_resplits": 0}, "Re-splits must be"),
        ({"n_resplits": True}, "Re-splits must be"),
        ({"n_dimensions": 0}, "Directions must be"),
        ({"n_components": 0}, "Components must be"),
        ({"n_draws": 1}, "Draws must be"),
        ({"test_share": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "Seed must be"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(DataError, match=words):
        CovariateShiftPlan(**{"model": "f1"} | fields)


def test_the_rows_of_a_finished_plan_give_the_very_answer_in_any_order():
    data, stored = recorded(moved=3.0)
    plan, context = planned(stored, seed=4, n_resplits=60)
    rows = rows_of(plan, data, context)
    assert rows.dtypes.astype(str).to_dict() == COLUMNS
    assert len(rows) == 3 * (1 + plan.n_resplits)
    found = shift_of_rows(rows, plan, data.class_names)
    same(found, whole(data, stored, plan))
    same(shift_of_rows(rows.sample(frac=1.0, random_state=0), plan, data.class_names), found)
    assert [one.shifted for one in found.classes] == [False, False, True]


def test_a_trained_model_is_measured_in_its_layer_and_its_own_split():
    data, stored = wine_model()
    plan, context = planned(stored, test_share=0.4, split_seed=3, n_resplits=5)
    found = shift_of_rows(rows_of(plan, data, context), plan, data.class_names)
    same(found, whole(data, stored, plan))
    split = TrainingPlan("linear", test_share=0.4, seed=3).split(data)
    assert [one.n_test for one in found.classes] == np.bincount(data.y[split.test]).tolist()
    assert [one.observed.n_dimensions for one in found.classes] == [4, 4, 4]


def test_a_model_that_was_trained_on_the_files_training_part_is_measured_on_the_files_test_part():
    data = marked()
    train, test = TrainingPlan("linear", test_set="file").split(data)
    trained = LinearNetwork(n_epochs=5).fit(data.x[train], data.y[train], seed=0).trained(data)
    stored = ModelFile(trained.to_bytes(), "linear.safetensors", data.fingerprint).to_bytes()
    drawn, context = planned(stored)
    counts = []
    for plan in (drawn, replace(drawn, test_set="file")):  # one after the other: what is kept must tell them apart
        rows = rows_of(plan, data, context, range(data.n_classes))
        counts.append(rows.groupby("label")["n_test"].first().tolist())
    assert counts[1] == np.bincount(data.y[test]).tolist() != counts[0]


def test_every_class_has_its_blocks_and_the_first_of_all_classes_come_first(monkeypatch):
    monkeypatch.setattr(shift_plan, "_SAMPLES", 400)
    shift_plan._blocks.cache_clear()
    data, stored = recorded()
    plan, _ = planned(stored)
    blocks = plan.blocks(data)
    assert [block.label for block in blocks[:3]] == [0, 1, 2]
    for label in range(3):
        mine = [i for block in blocks if block.label == label for i in range(block.start, block.stop)]
        assert mine == list(range(20))
        assert len([block for block in blocks if block.label == label]) > 2
    shift_plan._blocks.cache_clear()


def test_fewer_blocks_are_fewer_re_splits_and_their_own_p(monkeypatch):
    monkeypatch.setattr(shift_plan, "_SAMPLES", 400)
    shift_plan._blocks.cache_clear()
    data, stored = recorded(moved=3.0)
    plan, context = planned(stored)
    rows = rows_of(plan, data, context)
    every = shift_of_rows(rows, plan, data.class_names)
    for n_done in (1, 4, 7):
        trials = list(range(n_done))
        found = shift_of_rows(rows_of(plan, data, context, trials), plan, data.class_names)
        for label, (one, final) in enumerate(zip(found.classes, every.classes, strict=True)):
            n = sum(block.stop - block.start for block in plan.blocks(data)[:n_done] if block.label == label)
            if n == 0:
                assert (one.note, len(one.null)) == (WAITING, 0)
                assert np.isnan([one.p_value, one.p_corrected, one.observed.value]).all()
                continue
            assert np.array_equal(one.null, final.null[: n - 1])
            assert one.p_value == (1 + (one.null >= one.observed.value).sum()) / n
    shift_plan._blocks.cache_clear()


def test_re_splits_that_could_not_be_measured_are_missing_and_no_more():
    data, stored = recorded(n_train=400, n_test=100)
    plan, context = planned(stored, n_resplits=99)
    trials = [i for i, block in enumerate(plan.blocks(data)) if block.label == 0]
    rows = [plan.run_trial(data, trials[0], context=context), plan.failed_trial(data, trials[1])]
    found = shift_of_rows(frames.from_bytes([frames.to_bytes(one) for one in rows]), plan, data.class_names)
    length = plan.blocks(data)[0].stop
    assert [len(one.null) for one in found.classes] == [length - 1, 0, 0]
    assert found.classes[0].p_value > 1 / 100
    failed = plan.failed_trial(data, trials[0])
    assert failed.dtypes.astype(str).to_dict() == COLUMNS
    assert failed[["divergence", "error", "seconds"]].isna().all(axis=None)
    lost = shift_of_rows(frames.from_bytes([frames.to_bytes(failed)]), plan, data.class_names)
    assert [one.note for one in lost.classes] == [FAILED, WAITING, WAITING]


def test_a_class_that_the_test_part_lacks_is_reported():
    data, stored = recorded(n_test=(20, 0, 20))
    plan, context = planned(stored, n_resplits=3)
    found = shift_of_rows(rows_of(plan, data, context), plan, data.class_names)
    same(found, whole(data, stored, plan))
    assert found.classes[1].note == "no test sample"
    assert np.isnan(found.classes[1].p_corrected)
    assert not np.isnan(found.classes[2].p_corrected)


@pytest.mark.evidence
@pytest.mark.parametrize("n_classes", [2, 100])
def test_from_two_classes_to_a_hundred(n_classes):
    data, stored = recorded(n_classes, 12, 10)
    plan, context = planned(stored, n_resplits=1)
    assert plan.n_trials(data) == n_classes
    found = shift_of_rows(rows_of(plan, data, context), plan, data.class_names)
    same(found, whole(data, stored, plan))
    assert {len(one.null) for one in found.classes} == {1}


def test_twenty_newsgroups(shared_data):
    frame = pd.read_parquet(shared_data / "newsgroups20_train.parquet")
    few = frame[frame["body"].str.strip() != ""].groupby("newsgroup").head(50)
    names = tuple(sorted(few["newsgroup"].unique()))
    y = np.array([names.index(group) for group in few["newsgroup"]])
    texts = np.array([body[:1000] for body in few["body"]], dtype=object)
    news = Dataset("news", "text", texts, y, names, [str(row) for row in few.index])
    train = TrainingPlan("linear", test_share=0.3).split(news).train
    trained = LinearNetwork(n_epochs=2).fit(news.x[train], news.y[train], seed=0, n_classes=20).trained(news)
    stored = ModelFile(trained.to_bytes(), "news.safetensors", news.fingerprint, "linear").to_bytes()
    plan, context = planned(stored, test_share=0.3, n_resplits=2)
    found = shift_of_rows(rows_of(plan, news, context), plan, news.class_names)
    assert [(one.n_train, one.n_test) for one in found.classes] == [(35, 15)] * 20
    assert not any(np.isnan(one.p_value) for one in found.classes)


def test_a_trial_tells_how_far_it_is_and_stops_when_asked():
    data, stored = recorded()
    plan, context = planned(stored)
    heard = []
    plan.run_trial(data, 0, context=replace(context, report=lambda *news: heard.append(news)))
    assert heard == [(i, 20, "re-split") for i in range(1, 21)]
    heard.clear()
    hearing = replace(context, report=lambda *news: heard.append(news), should_stop=lambda: len(heard) == 3)
    with pytest.raises(Cancelled):
        plan.run_trial(data, 0, context=hearing)
    assert len(heard) == 3


def test_a_layer_or_a_model_that_is_not_there_is_named():
    data, stored = wine_model()
    plan, context = planned(stored, layer="last convolution")
    with pytest.raises(DataError, match="no layer 'last convolution'"):
        plan.run_trial(data, 0, context=context)
    with pytest.raises(DataError, match=plan.model[:12]):
        plan.run_trial(data, 0, context=Context())
