"""The page of weak slices: one file, a verdict, the samples of a slice, and the columns of a stored data set."""

import io
import shlex

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from tests.pages.conftest import charts, plainly
from tests.pages.test_matched_subsets import settled, store
from tests.pages.test_shared_comparison import token_of
from tests.pages.test_shared_run import open_link
from touchstone.core.__main__ import main
from touchstone.core.data import Dataset
from touchstone.core.workspace import LOCAL_OWNER

__all__ = ["open_link"]  # a fixture
N = 2000
WEAK = "age >= 65"


def people() -> pd.DataFrame:
    """Samples of two classes: their ids, classes, ages and sites; of those from 65 on a half is predicted wrongly."""
    rng, truth = np.random.default_rng(0), np.tile(["cat", "dog"], N // 2)
    age = 5 * rng.integers(4, 16, N)
    wrong = rng.random(N) < np.where(age >= 65, 0.5, 0.1)
    said = np.where(wrong, np.where(truth == "cat", "dog", "cat"), truth)
    columns = {"id": [f"person {row}" for row in range(N)], "gold": truth, "predicted": said, "confidence": 0.9}
    return pd.DataFrame(columns | {"age": age, "site": rng.choice(["north", "south"], N)})


def written(table: pd.DataFrame) -> bytes:
    return table.to_csv(sep="\t", index=False).encode()


@pytest.fixture
def file(workspace) -> str:
    return store(workspace, "people.tsv", written(people()), None)


def test_a_planted_slice_is_the_headline(open_page, file):
    app = settled(open_page("weak_slices", target=file))
    text = plainly(app)
    assert f"{WEAK}: accuracy " in text
    assert "1\u202f000 samples judged 1 slice that the others found, by 2 columns." in text
    assert charts(app)
    assert app.dataframe[0].value["Slice"][0].startswith(WEAK)


def test_the_samples_of_a_slice_are_listed_mistakes_first(open_page, file):
    app = open_page("weak_slices", target=file, slice=WEAK)
    text = plainly(settled(app))
    table = next(each.value for each in app.dataframe if "predicted class" in each.value)
    assert (table["age"] >= 65).all()
    assert (table["true class"] != table["predicted class"]).iloc[0]
    n = int((people()["age"] >= 65).sum())
    assert f"{WEAK}: {n} samples of both halves" in text


def test_the_command_finds_the_same_slices(open_page, file, capsys):
    app = settled(open_page("weak_slices", target=file, metric="sensitivity (recall)", positive_class="dog"))
    [command] = [code.value for code in app.code if code.value.startswith("python -m core slices")]
    assert main(shlex.split(command)[3:]) == 0
    shown = app.dataframe[0].value
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    assert printed["slice"].tolist() == shown["Slice"].tolist()
    assert set(printed["metric"]) == {"recall"}


def bare(workspace) -> str:
    """The file without its columns, and a stored data set that has them, with four rows of each patient."""
    known, units = people(), [f"p{row // 4}" for row in range(N)]
    more = {"feature_names": ["age"], "units": units, "unit_name": "patient"}
    y = (known["gold"] == "dog").astype(int)
    workspace.add_dataset(
        LOCAL_OWNER, Dataset("people", "tabular", known[["age"]], y, ["cat", "dog"], known["id"], **more)
    )
    return store(workspace, "bare.tsv", written(known.drop(columns=["age", "site"])), None)


def test_a_stored_data_set_describes_samples_and_names_their_units(open_page, workspace, capsys):
    app = settled(open_page("weak_slices", target=bare(workspace)))
    text = plainly(app)
    assert f"{WEAK}: accuracy " in text
    assert "patients" in text
    assert "described by people" in text
    [command] = [code.value for code in app.code if code.value.startswith("python -m core slices")]
    assert main(shlex.split(command)[3:]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(WEAK)


def test_without_columns_it_says_what_is_missing(open_page, workspace):
    file = store(workspace, "bare.tsv", written(people().drop(columns=["age", "site"])), None)
    text = plainly(settled(open_page("weak_slices", target=file)))
    assert "Nothing is known of these samples but their predictions." in text
    assert "add columns that describe the samples to the file" in text


@pytest.mark.usefixtures("links_open")
def test_a_link_carries_the_data_set_that_describes_the_samples(open_page, open_link, workspace):
    owner = settled(open_page("weak_slices", target=bare(workspace)))
    token = token_of(owner, "weak_slices")
    st.cache_resource.clear()  # the visitor's answers are not the owner's, kept
    [link] = workspace.links(LOCAL_OWNER)
    text = plainly(settled(open_link(token, **link.shows.settings)))
    assert f"{WEAK}: accuracy " in text
    assert "described by people" in text


def test_a_stored_file_has_its_columns_on_the_command_line(file, capsys):
    assert main(["slices", file, "--truth", "gold"]) == 2
    assert "is stored with its columns" in capsys.readouterr().err


def test_models_and_folds_of_a_file_are_chosen(open_page, workspace):
    table = people().drop(columns="confidence").rename(columns={"predicted": "bad_pred"})
    table["good_pred"], table["fold"] = table["gold"], np.arange(N) % 2
    file = store(workspace, "both.tsv", written(table), None)
    assert f"{WEAK}: accuracy " in plainly(settled(open_page("weak_slices", target=file, target_fold="1")))
    app = settled(open_page("weak_slices", target=file, model="good"))
    assert "No slice stands out as weak." in plainly(app)


def test_the_example_is_described_by_its_digits(open_page):
    app = open_page("weak_slices")
    assert "Upload the predictions of a model" in plainly(app)
    app.button(key="empty-button").click().run()
    text = plainly(settled(app))
    assert "by 2 columns." in text
    assert "described by digits" in text


def test_what_was_found_is_on_the_sheet_of_files(open_page, file):
    settled(open_page("weak_slices", target=file))
    app = open_page("overview", sheet="prediction files")
    text = plainly(app)
    assert "Where is the model weak?" in text
    assert f"{WEAK}: accuracy " in text
    assert "people.tsv" in text


def test_a_setting_that_there_is_not_is_refused(open_page, file):
    text = plainly(open_page("weak_slices", target=file, target_fold="7"))
    assert "This address has a setting that does not exist here" in text


def test_a_column_with_gaps_makes_rules_and_what_is_not_known_is_one(open_page, workspace):
    table = people()
    table.loc[np.arange(N) % 3 == 0, "age"] = np.nan
    wrong = (np.arange(N) % 3 == 0) & (np.random.default_rng(1).random(N) < 0.6)
    table["predicted"] = np.where(wrong, np.where(table["gold"] == "cat", "dog", "cat"), table["gold"])
    app = open_page("weak_slices", target=store(workspace, "gaps.tsv", written(table), None))
    text = plainly(settled(app))
    assert "age is missing: accuracy " in text
    assert "Known of some samples only: age." in text
