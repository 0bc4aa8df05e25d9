"""Several ways of finding sources on one page: side by side, and put to the test by known sources."""

import re

import numpy as np
import pytest
import streamlit as st

from tests.pages.conftest import PLAN, charts, sent_address, stored_run, texts
from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import FoundSources
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, AdequacyPlan
from touchstone.core.trials import SourcesPlan, TrialPlan, needed_by
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.records import Steps
from touchstone.core.workspace.runs import WAITING

FOUND = TrialPlan(models=("svm", "logistic"), source_finders=("kmeans", "same_size_kmeans"), n_repeats=2)
BOTH = TrialPlan(models=("logistic",), source_finders=("kmeans", "known"), n_repeats=8, n_clusterings=2)
ADDRESS = {
    "models": ["Logistic regression"],
    "sources": ["k-means clusters", "known sources"],
    "repeats": "8",
    "clusterings": "2",
}


@pytest.fixture
def named(workspace, wine) -> Dataset:
    """Wine with sources that it did not come with: their names tell nothing."""
    sites = [f"site {row % 7}" for row in range(178)]
    dataset = Dataset("named", "tabular", wine.x, wine.y, wine.class_names, wine.ids, sites)
    workspace.add_dataset(LOCAL_OWNER, dataset)
    return dataset


def tables(app) -> dict:
    return {frame.value.columns[0] + str(frame.value.columns[2]): frame.value for frame in app.dataframe}


def test_with_one_finder_there_is_nothing_to_compare(open_page, workspace, wine):
    stored_run(workspace, wine)
    said = texts(open_page("source_robustness", data=wine.fingerprint, repeats="4"))
    assert "Do the ways of finding sources agree?" not in said
    assert "truly unseen" not in said
    assert PLAN.source_finders == ("kmeans",)


def test_two_finders_stand_side_by_side(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FOUND)
    sources = ["k-means clusters", "k-means clusters of the same size"]
    app = open_page("source_robustness", data=wine.fingerprint, repeats="2", sources=sources)
    said = texts(app).replace("\\", "")
    assert "Do the ways of finding sources agree?" in said
    assert "k-means and same-size k-means agree better than chance" in said
    assert "Clusterings of k-means agree with each other better than chance" in said
    assert ".0456 (k-means) and .0280 (ACOL)" in said
    assert "truly unseen" not in said, "without known sources nothing can be put to the test"
    (silhouettes,) = [frame.value for frame in app.dataframe if "pooled" in frame.value.columns]
    assert silhouettes["Sources"].tolist() == ["k-means", "same-size k-means"]
    assert silhouettes["pooled"].between(-1, 1).all()
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert any(alt.startswith("Adjusted Rand index") for alt in alts)
    assert any("Logistic regression, same-size:" in alt for alt in alts), "intervals do not say whose sources"
    assert app.selectbox(key="about").options[1:] == [
        *("SVM, k-means", "Logistic regression, k-means", "SVM, same-size", "Logistic regression, same-size"),
    ]


def test_an_address_chooses_among_finders(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FOUND)
    sources = ["k-means clusters", "k-means clusters of the same size"]
    about = {"about": "SVM, same-size"}
    app = open_page("source_robustness", data=wine.fingerprint, repeats="2", sources=sources, **about)
    assert re.search(r"SVM, same-size( so far)?: \d", texts(app).replace("\\", "")), "the verdict names no finder"
    assert "SVM, same-size: which classes and sources are hard?" in texts(app).replace("\\", "")
    assert "about=SVM%2C+same-size" in sent_address(app)


def test_known_sources_put_found_ones_to_the_test(open_page, workspace, named):
    stored_run(workspace, named, plan=BOTH)
    app = open_page("source_robustness", data=named.fingerprint, **ADDRESS)
    said = texts(app).replace("\\", "")
    assert "Does the interval contain the accuracy on truly unseen sources?" in said
    assert "on truly unseen sources" in said
    (table,) = [frame.value for frame in app.dataframe if "Truly unseen" in frame.value.columns]
    (row,) = table.to_dict("records")
    assert row["Model"] == "Logistic regression"
    assert row["The accuracy is"] in ("contained", "falls below", "rises above", "undecided")
    assert row["Known sources"] == 7
    assert row["Draws"] == 8
    assert "k-means and known sources agree no better than chance" in said
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert any(alt.startswith("Accuracy on truly unseen sources") for alt in alts)
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"True sources (TSV)", "Agreement (TSV)"} <= set(labels)


def test_an_interrupted_run_says_what_would_settle_it(open_page, workspace, named):
    stored_run(workspace, named, plan=BOTH, n_trials=4)  # no repeat of both finders has all its draws
    app = open_page("source_robustness", data=named.fingerprint, **ADDRESS)
    assert not app.exception
    assert "4 of 4 trials used" in texts(app)


TRAINED = TrialPlan(models=("logistic",), source_finders=("kmeans", "acol"), n_repeats=4, n_clusterings=2)
TRAINED_ADDRESS = {
    "models": ["Logistic regression"],
    "sources": ["k-means clusters", "ACOL (experimental)"],
    "repeats": "4",
    "clusterings": "2",
}
NOTE = "ACOL collapsed in 4 of 4 tries: these sources are those of k-means on the pixels."


@pytest.fixture
def digits(workspace) -> Dataset:
    """Zeros to threes."""
    all_of_them = load_example("digits")
    rows = np.flatnonzero(all_of_them.y < 4)[:240]
    names = ("zero", "one", "two", "three")
    dataset = Dataset("few", "image", all_of_them.x[rows], all_of_them.y[rows], names, all_of_them.ids[rows])
    workspace.add_dataset(LOCAL_OWNER, dataset)
    return dataset


@pytest.fixture
def acol(monkeypatch) -> list[int]:
    """ACOL that finds something at once and falls back in its first clustering; the seeds it was called with."""
    seeds: list[int] = []

    def find(dataset, *, n_sources, seed, on_step, should_stop):
        seeds.append(seed)
        sources = dataset.y * n_sources + np.arange(len(dataset.y)) % n_sources
        return FoundSources(sources, "", 4, NOTE if len(seeds) == 1 else "")

    monkeypatch.setitem(SOURCE_FINDERS, "acol", SourceFinder("ACOL (experimental)", find, short="ACOL"))
    return seeds


def test_a_finder_that_fell_back_is_told_and_the_page_trains_nothing(open_page, workspace, digits, acol):
    sources = stored_run(workspace, digits, plan=SourcesPlan("acol", n_clusterings=2))
    stored_run(workspace, digits, plan=TRAINED)
    n_trained = len(acol)
    app = open_page("source_robustness", data=digits.fingerprint, **TRAINED_ADDRESS)
    [warning] = app.warning
    assert warning.value.replace("\\", "") == f"ACOL (experimental): In 1 of 2 clusterings: {NOTE}"
    said = texts(app).replace("\\", "")
    assert "Do the ways of finding sources agree?" in said
    assert "k-means and ACOL agree no better than chance" in said, "rows in turn have nothing to do with clusters"
    sheets = [alt for alt in charts(app) if alt.startswith("Mean images")]
    assert sheets == [
        f"Mean images of the sources that {name} found: 4 classes, 5 sources each." for name in ("k-means", "ACOL")
    ]
    [by_class] = [frame.value for frame in app.dataframe if "all classes" in frame.value.columns]
    assert by_class.columns.tolist() == ["Sources", "all classes", "zero", "one", "two", "three"]
    assert said.count("pooled over all classes") + said.count("The paper's, of all 70,000 images") == 1
    assert len(acol) == n_trained, "the page trained"

    workspace.delete_run(LOCAL_OWNER, sources.id)
    st.cache_resource.clear()
    app = open_page("source_robustness", data=digits.fingerprint, **TRAINED_ADDRESS)
    assert [note.value.replace("\\", "") for note in app.warning] == [warning.value.replace("\\", "")]
    assert "The sources of ACOL (experimental) were deleted" in app.info[0].value.replace("\\", "")
    assert app.button(key="find-acol").label == "Compute those of ACOL (experimental) again"
    assert "Do the ways of finding sources agree?" not in texts(app)
    assert not [alt for alt in charts(app) if alt.startswith("Mean images")]
    assert len(acol) == n_trained, "the page trained"


def test_whoever_asks_for_more_data_is_told_of_the_fallback_too(open_page, workspace, digits, acol):
    plan = AdequacyPlan(
        models=("logistic",), source_finders=("acol",), n_repeats=2, n_clusterings=1, sizes=(40, 80, ALL)
    )
    [needed] = needed_by(plan, digits)
    stored_run(workspace, digits, plan=needed)
    stored_run(workspace, digits, plan=plan)
    chosen = {**TRAINED_ADDRESS, "sources": ["ACOL (experimental)"], "repeats": "2", "clusterings": "1"}
    app = open_page("data_set_adequacy", data=digits.fingerprint, sizes="40, 80, all", **chosen)
    [warning] = app.warning
    assert warning.value.replace("\\", "") == f"ACOL (experimental): {NOTE}"
    assert app.metric, "the results stand beside the note"


def test_before_the_sources_are_found_there_are_no_splits_to_take_home(open_page, digits, acol):
    app = open_page("source_robustness", data=digits.fingerprint, **TRAINED_ADDRESS)
    assert "The sources are not computed yet" in texts(app)
    assert acol == []


def test_a_search_for_sources_is_listed_and_leads_to_where_they_are_drawn_from(open_page, workspace, digits, acol):
    stored_run(workspace, digits, plan=SourcesPlan("acol", n_clusterings=2))
    app = open_page("runs")
    said = texts(app).replace("\\", "")
    assert "Which sources does a network find?" in said
    assert "ACOL (experimental), 5 sources per class, 2 clusterings" in said
    [link] = app.get("page_link")
    assert "ACOL" in link.proto.query_string


def test_acol_is_offered_for_images_only(open_page, wine, digits):
    of_table = open_page("source_robustness", data=wine.fingerprint)
    of_images = open_page("source_robustness", data=digits.fingerprint)
    options = [list(app.get("button_group")[1].options) for app in (of_table, of_images)]
    assert "deep k-means" in str(options[0])
    assert "ACOL" not in str(options[0])
    assert "ACOL (experimental)" in str(options[1])


def test_a_run_that_waits_says_what_for(open_page, workspace, digits, acol):
    run = workspace.create_run(LOCAL_OWNER, TRAINED, digits.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    waiting = Steps(4, 20, "Finding sources by ACOL (experimental): clustering 1 of 2, epoch")
    workspace.record_steps(LOCAL_OWNER, run.id, "test", {WAITING: waiting})
    app = open_page("source_robustness", data=digits.fingerprint, **TRAINED_ADDRESS)
    [progress] = app.get("progress")
    assert progress.proto.text == "Finding sources by ACOL (experimental): clustering 1 of 2, epoch 4 of 20"
    assert progress.proto.value == 0
