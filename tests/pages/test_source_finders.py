"""Several ways of finding sources on one page: side by side, and put to the test by known sources."""

import re

import pytest

from core.data import Dataset
from core.trials import TrialPlan
from core.workspace.workspace import LOCAL_OWNER
from tests.pages.conftest import PLAN, stored_run, texts

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
    assert "about=SVM%2C+same-size" in app.code[0].value


def test_known_sources_put_found_ones_to_the_test(open_page, workspace, named):
    stored_run(workspace, named, plan=BOTH)
    app = open_page("source_robustness", data=named.fingerprint, **ADDRESS)
    said = texts(app).replace("\\", "")
    assert "Does the interval hold the accuracy on truly unseen sources?" in said
    assert "on truly unseen sources" in said
    (table,) = [frame.value for frame in app.dataframe if "Truly unseen" in frame.value.columns]
    (row,) = table.to_dict("records")
    assert row["Model"] == "Logistic regression"
    assert row["The accuracy is"] in ("contained", "falls below", "rises above", "cannot be told")
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
