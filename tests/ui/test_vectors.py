"""The place for vectors of somebody's own: a good file makes a data set of its own, a bad one gets its sentence."""

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from touchstone.core.data import Dataset, load_example
from touchstone.core.data.tables.vectors import write_vectors
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.runner import close_engine, engine


@pytest.fixture(autouse=True)
def fresh_process():
    st.cache_resource.clear()
    yield
    close_engine()
    st.cache_resource.clear()


@pytest.fixture
def wine() -> Dataset:
    dataset = load_example("wine")
    engine().workspace.add_dataset(LOCAL_OWNER, dataset, example="wine")
    return dataset


def page() -> None:
    from touchstone.ui.data import choice as data_choice
    from touchstone.ui.data import upload

    upload.attach(data_choice.required())


def opened(dataset: Dataset) -> AppTest:
    app = AppTest.from_function(page, default_timeout=30)
    app.query_params["data"] = dataset.fingerprint
    app.run()
    assert not app.exception
    return app


def test_a_good_file_is_matched_stored_and_chosen(wine):
    upload = np.random.default_rng(0).normal(size=(178, 4)).astype(np.float32)
    app = opened(wine)
    app.file_uploader[0].upload("mine.parquet", write_vectors(list(wine.ids[::-1]), upload[::-1]))
    app.run()
    assert "4 numbers for each sample, from mine\\.parquet by id" in app.markdown[0].value
    assert len(engine().workspace.datasets(LOCAL_OWNER)) == 1, "nothing is stored before it is asked for"
    app.button(key="use-vectors").click().run()
    assert not app.exception
    stored = next(one for one in engine().workspace.datasets(LOCAL_OWNER) if one.name == "wine + mine.parquet")
    assert app.query_params["data"] == stored.fingerprint
    read = engine().workspace.dataset(LOCAL_OWNER, stored.fingerprint)
    np.testing.assert_array_equal(read.vectors, upload)
    assert app.file_uploader[0].value is None


def test_vectors_missing_for_some_ids_are_refused_and_nothing_is_lost(wine):
    app = opened(wine)
    app.file_uploader[0].upload("mine.parquet", write_vectors(list(wine.ids[:100]), np.ones((100, 2))))
    app.run()
    assert "vectors missing for some ids" in app.error[0].value
    assert "78 of 178 samples of wine have none" in app.error[0].value.replace("\\", "")
    assert app.file_uploader[0].value
    assert [one.name for one in engine().workspace.datasets(LOCAL_OWNER)] == ["wine"]


def test_word_vectors_are_offered_for_texts_only(wine):
    said = Dataset("said", "text", ["a red fox", "blue sky"] * 3, [0, 1] * 3, ("x", "y"), list("abcdef"))
    engine().workspace.add_dataset(LOCAL_OWNER, said)
    assert "word vectors" in opened(said).caption[0].value
    assert "word vectors" not in opened(wine).caption[0].value
