"""What a stored model says of the samples that were held out of its training, as a file that every question reads."""

import numpy as np
import pytest

from touchstone.core.data import Dataset, load_example
from touchstone.core.data.predictions.same_samples import rows_in, same_samples
from touchstone.core.models.errors import ModelError
from touchstone.core.models.load import read_stored
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.networks import LinearNetwork, Mlp2048
from touchstone.core.trials.plan import to_json
from touchstone.core.trials.predictions_of_model import predictions_of_model, rows_held_out
from touchstone.core.trials.training_plan import TrainingPlan


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


def stored(network, dataset: Dataset) -> bytes:
    trained = network.fit(dataset.x, dataset.y, seed=0).trained(dataset)
    return ModelFile(trained.to_bytes(), "mine.safetensors", dataset.fingerprint).to_bytes()


def test_a_model_is_asked_about_the_test_part_of_its_own_training(wine):
    plan = TrainingPlan("linear", test_share=0.3, seed=4)
    assert rows_held_out(wine, to_json(plan)).tolist() == plan.split(wine).test.tolist()


def test_what_it_says_is_what_the_model_answers(wine):
    content = stored(LinearNetwork(n_epochs=3), wine)
    said = predictions_of_model(content, wine, name="linear on wine").read().select()
    model = read_stored(content, wine)
    answers = model.logits(model.inputs(wine.x)).argmax(dim=1).numpy()
    names = np.array(said.class_names)
    assert (names[said.y_pred] == np.array(wine.class_names)[answers]).all()
    assert (names[said.y_true] == np.array(wine.class_names)[wine.y]).all()
    assert said.proba.sum(axis=1) == pytest.approx(1)


def test_two_models_of_one_data_set_are_of_the_same_samples_though_it_is_sorted_by_class(wine):
    sides = [predictions_of_model(stored(kind(n_epochs=2), wine), wine, name="m") for kind in (LinearNetwork, Mlp2048)]
    common = same_samples([side.read().select() for side in sides])
    assert (common.by, common.n, common.is_whole) == ("ids", wine.n_samples, True)


def test_of_two_trainings_on_other_splits_the_common_test_samples_are_compared(wine):
    plans = [to_json(TrainingPlan("linear", test_share=0.5, seed=seed)) for seed in (1, 2)]
    content = stored(LinearNetwork(n_epochs=2), wine)
    sides = [predictions_of_model(content, wine, name="m", training_plan=plan).read().select() for plan in plans]
    kept = [set(rows_held_out(wine, plan).tolist()) for plan in plans]
    common = same_samples(sides)
    assert {int(name.removeprefix("row ")) for name in sides[0].ids[common.rows[0]]} == kept[0] & kept[1]


def test_sources_units_and_texts_go_with_it():
    rng = np.random.default_rng(0)
    texts = [f"a note of number {row} {'good' if row % 2 else 'bad'}" for row in range(80)]
    notes = Dataset(
        "notes",
        "text",
        texts,
        np.arange(80) % 2,
        ("ham", "spam"),
        [f"n{row}" for row in range(80)],
        sources=[f"site {row % 3}" for row in range(80)],
        units=[f"author {row % 20}" for row in range(80)],
        unit_name="author",
        vectors=rng.normal(size=(80, 4)),
    )
    vectors = Dataset("v", "tabular", notes.vectors, notes.y, notes.class_names, notes.ids)
    trained = LinearNetwork(n_epochs=2).fit(vectors.x, vectors.y, seed=0).trained(vectors)
    content = ModelFile(trained.to_bytes(), "mine.safetensors", notes.fingerprint).to_bytes()
    said = predictions_of_model(content, notes, name="m").read().select()
    assert said.groups["source"].tolist() == notes.sources.tolist()
    assert said.groups["unit"].tolist() == notes.units.tolist()
    assert said.inputs["text"].tolist() == texts
    assert rows_in(notes, said).tolist() == list(range(80))


def test_every_step_is_told_and_other_data_are_refused(wine):
    n_steps = []
    predictions_of_model(stored(LinearNetwork(n_epochs=1), wine), wine, name="m", step=lambda: n_steps.append(1))
    assert len(n_steps) == 1
    with pytest.raises(ModelError, match="takes inputs of shape"):
        predictions_of_model(stored(LinearNetwork(n_epochs=1), wine), load_example("digits"), name="m")
