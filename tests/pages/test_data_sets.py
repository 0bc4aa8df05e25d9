import io

import numpy as np
import pytest

from core.data import EXAMPLES, Dataset
from core.workspace.workspace import LOCAL_OWNER
from tests.pages.conftest import texts

GOOD = b"text\tlabel\n" + b"".join(
    b"a fine film number %d\tgood\na dull film number %d\tbad\n" % (n, n) for n in range(20)
)


def test_examples_can_be_chosen(open_page, workspace):
    app = open_page("data_sets")
    assert [app.button(key=f"choose-{name}").label for name in EXAMPLES] == ["Chosen", "Choose", "Choose", "Choose"]
    app.button(key="choose-wine").click().run()
    assert app.header[0].value == "Wine"
    assert (
        app.query_params["data"]
        == next(one for one in workspace.datasets(LOCAL_OWNER) if one.example == "wine").fingerprint
    )


def test_images_show_pictures_with_labels_and_the_scale(open_page):
    app = open_page("data_sets", data="digits")
    assert {metric.label: metric.value for metric in app.metric}["Scale"] == "1 / 16"
    assert len(app.get("image")) == 30
    assert "Pixels were divided by 16" in texts(app)


def test_tables_show_rows_with_their_columns(open_page, wine):
    app = open_page("data_sets", data=wine.fingerprint)
    features, rows = (frame.value for frame in app.dataframe)
    assert features["feature"].tolist() == list(wine.feature_names)
    assert len(rows) == 178
    assert {"id", "label", "alcohol"} <= set(rows.columns)


def test_a_good_file_is_shown_stored_and_chosen(open_page, workspace):
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload("films.tsv", GOOD)
    app.run()
    assert "**films**: 40 texts, 2 classes" in texts(app)
    assert "films" not in [one.name for one in workspace.datasets(LOCAL_OWNER)]
    app.button(key="use-upload").click().run()
    stored = next(one for one in workspace.datasets(LOCAL_OWNER) if one.name == "films")
    assert app.query_params["data"] == stored.fingerprint
    assert app.header[0].value == "films"
    assert "a fine film number 0" in app.table[0].value["text"].tolist()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("films.tsv", b"text\tlabel\na fine film\tgood\n", "good"),
        ("films.tsv", b"", "empty"),
        ("films.tsv", b"text\tlabel\nfine\tgood\textra\n", "line 2"),
        ("pictures.npz", b"not an archive", "pictures.npz"),
    ],
)
def test_a_broken_file_gets_its_error_as_written_and_stays_chosen(open_page, workspace, name, content, said):
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload(name, content)
    app.run()
    assert not app.exception
    assert said in app.error[0].value.replace("\\", "")
    assert app.file_uploader[0].value
    assert {one.example for one in workspace.datasets(LOCAL_OWNER)} == {"wine"}


def test_an_upload_can_be_deleted_and_an_example_cannot(open_page, workspace, wine):
    mine = Dataset("mine", "tabular", wine.x, wine.y, wine.class_names, wine.ids)
    workspace.add_dataset(LOCAL_OWNER, mine)
    assert "delete-data" not in [button.key for button in open_page("data_sets", data=wine.fingerprint).button]
    app = open_page("data_sets", data=mine.fingerprint)
    app.button(key="delete-data").click().run()
    assert "gone for good" in texts(app)
    assert mine.fingerprint in {one.fingerprint for one in workspace.datasets(LOCAL_OWNER)}


def test_an_example_as_older_libraries_had_it_is_an_entry_of_its_own(open_page, workspace, wine):
    older = Dataset("wine", "tabular", wine.x + 1, wine.y, wine.class_names, wine.ids)
    workspace.add_dataset(LOCAL_OWNER, older, example="wine")
    app = open_page("data_sets", data=wine.fingerprint)
    titles = app.selectbox(key="data_control").options
    assert sum(title.startswith("Wine") for title in titles) == 2
    assert app.button(key="delete-data")


def test_an_undecided_table_asks_for_its_columns_with_the_guess_filled_in(open_page, workspace):
    app = open_page("data_sets", data="wine")
    rows = b"".join(b"%d,%d,%d\n" % (n, n % 2, n % 3) for n in range(30))
    app.file_uploader[0].upload("odd.csv", b"size,first,second\n" + rows)
    app.run()
    assert any("which column holds the label" in expander.label for expander in app.expander)
    next(box for box in app.selectbox if box.label == "Label").select("second")
    next(button for button in app.button if button.label == "Read it this way").click().run()
    assert "3 classes" in texts(app)


def test_an_npz_file_of_images_can_be_used(open_page, workspace):
    stream = io.BytesIO()
    np.savez(stream, images=np.zeros((6, 4, 4), dtype=np.uint8), labels=np.array([0, 1] * 3))
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload("dots.npz", stream.getvalue())
    app.run()
    app.button(key="use-upload").click().run()
    assert app.header[0].value == "dots"
    assert len(app.get("image")) == 6
