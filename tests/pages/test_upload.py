"""A file of one's own takes the page over: first rows, a role over each column, what a choice comes to, one button."""

import json
import shlex

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.data.bombs import parquet_bomb
from tests.data.sets.images import PATHS, beside, csv, named
from tests.data.shared_files import recordings, zip_of
from tests.pages.conftest import plainly, texts
from touchstone.core.command.given_files import given_dataset
from touchstone.core.command.line import parsed
from touchstone.core.data.sandbox import try_file
from touchstone.core.evaluate.wording import THIN_SPACE
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.ui.shell import uploads


@pytest.fixture
def given(open_page, workspace):
    """Give the page of data sets a file."""

    def give(name: str, content: bytes) -> AppTest:
        app = open_page("data_sets", data="wine")
        app.file_uploader[0].upload(name, content)
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return give


def chosen(app: AppTest) -> dict[str, str | None]:
    return {box.label: box.value for box in app.selectbox if (box.key or "").startswith("role-")}


def select(app: AppTest, role: str, column: str) -> AppTest:
    next(box for box in app.selectbox if box.label == role).set_value(column)
    app.run()
    assert not app.exception, app.exception[0].value
    return app


def heads(app: AppTest) -> dict[str, str]:
    """Over each shown column, its role."""
    return {column: role for role, column in app.dataframe[0].value.columns}


def test_a_file_that_is_asked_about_has_the_page_to_itself(given):
    app = given("voices.tsv", recordings())
    assert not app.header
    assert not app.get("plotly_chart")
    assert not app.expander
    assert [button.label for button in app.button] == ["Use this data set"]
    assert len(app.dataframe) == 1


def test_the_best_guess_is_chosen_and_said(given):
    app = given("voices.tsv", recordings())
    assert chosen(app) == {"Label": "status", "Inputs": "", "Id": "name", "Source": "subject", "Unit": ""}
    assert list(heads(app).items())[:4] == [
        ("name", "Id"),
        ("subject", "Source"),
        ("status", "Label"),
        ("MDVP:0", "Inputs"),
    ]
    said = plainly(app)
    assert "186 rows, 2 classes: “1” 74.2 %, “0” 25.8 %. 31 sources, each a unit." in said
    assert "It has few different values." in said
    assert "6 rows each. It is called like a source." in said
    assert said.count("31 sources") == said.count("“1” 74.2 %") == said.count("186 rows") == 1, "nothing is said twice"


def test_every_column_can_be_chosen_and_each_choice_says_what_it_comes_to(given):
    app = given("voices.tsv", recordings())
    label = next(box for box in app.selectbox if box.label == "Label")
    assert len(label.options) == 25
    assert {"status · 2 classes", "subject · 31 classes", "MDVP:21"} <= set(label.options)
    app = select(app, "Label", "subject")
    assert chosen(app)["Source"] == "", "a column has the role that it was given last"
    assert "31 classes: “S00” 3.2 %" in plainly(app)
    assert heads(app)["status"] == "Inputs"


def test_what_is_left_out_is_no_input(given, workspace):
    app = given("voices.tsv", recordings())
    app.multiselect[0].set_value(["MDVP:0", "MDVP:21"]).run()
    assert heads(app)["MDVP:0"] == "Not an input"
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    dataset = workspace.dataset(LOCAL_OWNER, stored.fingerprint)
    assert dataset.feature_names == tuple(f"MDVP:{column}" for column in range(1, 21))
    assert dataset.ids[0] == "phon_S00_0"
    assert len(set(dataset.sources)) == 31
    assert app.header[0].value == "voices"


def test_a_choice_that_makes_no_data_set_is_said_and_cannot_be_used(given):
    app = select(given("voices.tsv", recordings()), "Id", "status")
    assert chosen(app)["Label"] is None
    assert app.button(key="use-upload").disabled
    app = select(app, "Label", "subject")
    assert "Each id must be unique" in app.error[0].value.replace("\\", "")
    assert app.button(key="use-upload").disabled
    app = select(app, "Id", "")
    assert not app.error
    assert not app.button(key="use-upload").disabled


def test_a_label_can_be_chosen_where_nothing_says_which_it_is(given):
    rows = b"".join(b"%d,%d,%d\n" % (n, n % 2, n % 3) for n in range(30))
    app = given("odd.csv", b"size,first,second\n" + rows)
    assert chosen(app)["Label"] == "first"
    app = select(app, "Label", "second")
    assert "**odd**: 30 rows, 3 classes" in texts(app)


def test_texts_and_numbers_can_be_exchanged(given, workspace):
    rows = "".join(f"a fine film, number {n}\t{n / 7}\tgood\na dull film, number {n}\t0\tbad\n" for n in range(20))
    app = given("films.tsv", ("notes\tlength\tlabel\n" + rows).encode())
    assert chosen(app)["Inputs"] == "notes"
    assert "**films**: 40 texts, 2 classes" in texts(app)
    app = select(app, "Inputs", "")
    assert "**films**: 40 rows, 2 classes" in texts(app)
    assert heads(app)["length"] == "Inputs"


def test_a_wide_table_is_shown_in_part_and_all_of_it_can_be_found(given):
    names = [f"gene {column}" for column in range(1500)]
    values = np.random.default_rng(0).normal(size=(40, 1500)).round(3)
    lines = ["\t".join([*names, "tissue"])]
    lines += ["\t".join([*map(str, row), "ab"[at % 2]]) for at, row in enumerate(values)]
    app = given("genes.tsv", "\n".join(lines).encode())
    assert chosen(app)["Label"] == "tissue"
    assert next(iter(heads(app))) == "tissue"
    assert len(heads(app)) == 40
    assert "And 1461 more columns" in plainly(app).replace(THIN_SPACE, "")
    assert len(next(box for box in app.selectbox if box.label == "Id").options) == 1502
    assert not app.multiselect[0].value


def test_names_of_columns_are_not_read_as_markup(given):
    rows = b"".join(b"[x](http://e.com)%d,$%d$,**%s**\n" % (n, n, b"ab"[n % 2 : n % 2 + 1]) for n in range(30))
    app = given("odd $1$.csv", b":smile: name,<b>,*label*\n" + rows)
    assert "**odd $1$.csv**" not in texts(app)
    assert "odd $1$.csv" in plainly(app)
    assert "“**a**”" not in texts(app)
    assert "“**a**”" in plainly(app)


def test_how_the_file_was_read_is_kept_with_it(given, workspace):
    app = given("voices.tsv", recordings())
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    said = json.loads(workspace.dataset(LOCAL_OWNER, stored.fingerprint).read_as)
    assert said["file"] == "voices.tsv"
    assert json.loads(said["roles"])["source"] == "subject"


def test_known_sources_are_what_the_next_page_asks_about(given, open_page, workspace):
    given("voices.tsv", recordings()).button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    app = open_page("source_robustness", data=stored.fingerprint)
    assert not app.button(key="run").disabled
    [from_here, from_the_file] = [code.value for code in app.code if "core run" in code.value]
    assert '"source_finders":["known"]' in from_here
    assert f"--data {stored.fingerprint} " in from_here
    assert "--data=voices.tsv --kind=tabular --label=status --id=name --source=subject --part= " in from_the_file


def test_the_command_of_what_was_left_out_makes_the_same_data_set(given, open_page, workspace, tmp_path, monkeypatch):
    app = given("voices.tsv", recordings())
    app.multiselect[0].set_value(["MDVP:0"]).run()
    app = select(app, "Id", "")
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    code = open_page("source_robustness", data=stored.fingerprint).code
    command = shlex.split(next(one.value for one in code if "voices.tsv" in one.value))
    (tmp_path / "voices.tsv").write_bytes(recordings())
    monkeypatch.chdir(tmp_path)
    assert given_dataset(parsed(command[3:])).fingerprint == stored.fingerprint


def test_images_of_several_sizes_are_resized_only_when_somebody_says_to_what(given, workspace):
    sizes = {f"{name}/{at}.png": (8 + at % 2, 8) for name in ("cat", "dog") for at in range(4)}
    app = given("pets.zip", zip_of(sizes))
    assert [button.label for button in app.button] == ["Resize all images"]
    assert not app.header
    app.number_input[0].set_value(6)
    app.number_input[1].set_value(5)
    app.button[0].click().run()
    assert "**pets**: 8 images, 2 classes" in texts(app)
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    assert workspace.dataset(LOCAL_OWNER, stored.fingerprint).x.shape == (8, 6, 5, 1)


def test_a_zip_whose_table_calls_the_label_otherwise_is_asked_about_like_a_table(given, open_page, workspace):
    table = named("breed", "image", PATHS, age=range(len(PATHS)))
    app = given("dogs.zip", beside("labels.csv", csv(table), "images/"))
    roles = {"Label": "breed", "Inputs": "", "Id": "", "Source": "", "Unit": "", "Images": "file in the archive"}
    assert chosen(app) == roles
    assert "**dogs**: 60 images, 3 classes" in texts(app)
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    dataset = workspace.dataset(LOCAL_OWNER, stored.fingerprint)
    assert dataset.x.shape == (60, 6, 6, 3)
    assert dataset.ids[0] == "images/f000.jpg"
    assert json.loads(dataset.read_as)["file"] == "dogs.zip"


def test_what_was_sampled_independently_is_found_by_its_name_shown_and_changed(given, workspace):
    rows = "".join(f"{n / 7},{'ab'[n % 2]},letter {n // 5},{'xyz'[n % 3]}\n" for n in range(30))
    app = given("letters.csv", ("size,label,document,site\n" + rows).encode())
    assert (chosen(app)["Source"], chosen(app)["Unit"]) == ("site", "document")
    assert heads(app)["document"] == "Unit"
    assert "3 sources. 6 documents." in plainly(app)
    app = select(app, "Unit", "")
    app = select(app, "Source", "document")
    assert "6 sources, each a unit." in plainly(app), "documents stand for others, however few"
    app = select(app, "Source", "site")
    assert "3 sources." in plainly(app)
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    assert workspace.dataset(LOCAL_OWNER, stored.fingerprint).units is None


def test_a_part_that_a_file_marks_is_shown_and_can_be_given_up(given, workspace):
    rows = "".join(f"{n / 7},{'ab'[n % 2]},{'test' if n % 3 else 'train'}\n" for n in range(30))
    app = given("split.csv", ("size,label,split\n" + rows).encode())
    assert chosen(app)["Part"] == "split"
    assert heads(app)["split"] == "Part"
    app = select(app, "Part", "")
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    assert workspace.dataset(LOCAL_OWNER, stored.fingerprint).part is None


def test_train_and_test_in_two_files_are_one_data_set(open_page, workspace):
    rows = "".join(f"{n / 7},{'ab'[n % 2]}\n" for n in range(30))
    files = [(f"films_{part}.csv", ("size,label\n" + rows).encode(), "text/csv") for part in ("test", "train")]
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].set_value(files).run()
    assert chosen(app)["Part"] == "part"
    assert "Parts that the file itself marks: 30 of train, 30 of test." in plainly(app)
    app.button(key="use-upload").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.example is None]
    dataset = workspace.dataset(LOCAL_OWNER, stored.fingerprint)
    assert (dataset.name, dataset.part.tolist()) == ("films", ["train"] * 30 + ["test"] * 30)
    assert dataset.read_as is None, "nobody has a file of this name"


def test_files_that_are_no_parts_of_one_data_set_are_refused_with_a_remedy(open_page):
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].set_value([(f"{name}.csv", b"size,label\n1,a\n2,b\n", "text/csv") for name in "ab"]).run()
    assert "give one file, or tables called after the parts" in app.error[0].value.replace("\\", "")
    assert app.header, "the data set that was there stays"


def test_a_bomb_is_one_sentence_on_the_page_and_is_not_read_again_when_the_page_is_drawn_again(given, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_MOST_UNPACKED", "128")
    tried = []
    monkeypatch.setattr(uploads, "try_file", lambda *file: (tried.append(file[1]), try_file(*file)))
    app = given("pets.parquet", parquet_bomb())
    app.run()
    assert [problem.value.replace("\\", "") for problem in app.error] == [
        "pets.parquet: it takes more memory than the 0.5 GB that it may take. Give a smaller sample, or save it as CSV."
    ]
    assert tried == ["pets.parquet"]
    assert "Use this data set" not in [button.label for button in app.button]
