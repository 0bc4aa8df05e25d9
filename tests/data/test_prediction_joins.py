"""Truth in one file and predictions in another join by id or by line, or the counts say why they do not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.data import DataError, Roles, RolesNeeded, join_predictions, read_predictions
from core.data.predictions.roles import LINE
from tests.data.uploads import upload

PROBA = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])


def test_npy_joins_by_line(tmp_path):
    np.save(tmp_path / "probs.npy", PROBA)
    truth = upload("gold\n0\n1\n1\n0\n", "truth.csv")
    predictions = join_predictions(truth, tmp_path / "probs.npy").select()
    assert predictions.accuracy == 0.75
    assert any("by line" in note for note in predictions.notes)
    with pytest.raises(DataError, match="no column holds the truth"):
        read_predictions(tmp_path / "probs.npy")


JOIN_REFUSED = {
    "ids that do not join": (
        "id,gold\n1,a\n2,b\n3,a\n",
        "id,pred\n2,b\n3,a\n4,a\n5,a\n",
        r"2 of 4 ids of said.csv are not in truth.csv \(such as '4'\); 1 of 3 ids of truth.csv are not in said.csv "
        r"\(such as '1'\)",
    ),
    "other lengths": ("gold\na\nb\n", "pred\na\n", "truth.csv has 2 rows, said.csv has 1, and neither has ids"),
    "ids in one only": ("id,gold\nx,a\ny,b\n", "pred\na\nb\n", "truth.csv has ids .*said.csv has none"),
    "truth twice": ("id,gold\nx,a\nx,b\n", "id,pred\nx,a\n", "line 3: id 'x' stands in line 2 too"),
    "no truth": ("id,fold\nx,1\ny,2\n", "id,pred\nx,a\ny,b\n", "neither holds the truth"),
    "two truths": (
        "id,gold\nx,a\ny,b\n",
        "id,gold,pred\nx,a,a\ny,a,a\n",
        r"line 3: truth is 'a' here .* but 'b' in truth.csv .* in 1 of 2 rows",
    ),
}


@pytest.mark.parametrize(("truth", "said", "message"), JOIN_REFUSED.values(), ids=JOIN_REFUSED)
def test_joins_refused(truth, said, message):
    with pytest.raises(DataError, match=message):
        join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv"))


def test_joined_by_id_in_another_order_for_several_models():
    truth = upload("id,gold,site\nx,a,north\ny,b,south\n", "truth.csv")
    said = upload("id,pred,model\ny,b,m\nx,a,m\nx,b,n\ny,b,n\n", "said.csv")
    table = join_predictions(truth, said)
    assert {model: table.select(model=model).accuracy for model in table.models} == {"m": 1.0, "n": 0.5}
    assert table.select(model="m").groups["source"].tolist() == ["south", "north"]


def test_roles_of_joined_files_join_them_again():
    truth, said = "id,label,fold\nx,a,1\ny,b,2\n", "id,label\ny,b\nx,b\n"
    table = join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv"))
    assert (table.roles.truth, table.roles.predicted, table.roles.fold) == ("label (truth.csv)", "label", "fold")
    kept = Roles.from_json(table.roles.to_json())
    again = join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv"), roles=kept)
    assert again.roles == table.roles
    assert again.select().fingerprint == table.select().fingerprint


def frames(**columns: list[str]) -> dict[str, str]:
    """A truth and predictions of twelve rows that have the same columns beside their labels, as two files."""
    rng = np.random.default_rng(3)
    true = rng.choice(["cat", "dog", "fox"], size=12)
    said = np.where(rng.random(12) < 0.8, true, "dog")
    order = rng.permutation(12)
    shared = {name: np.array(values) for name, values in columns.items()}
    return {
        "truth": pd.DataFrame({**shared, "label": true}).to_csv(index=False),
        "shuffled": pd.DataFrame({**shared, "predicted": said}).iloc[order].to_csv(index=False),
        "straight": pd.DataFrame({**shared, "predicted": said}).to_csv(index=False),
        "accuracy": (true == said).mean(),
    }


PICTURES = [f"img_{row}.png" for row in range(12)]
OTHERS = [f"photo {row}" for row in range(12)]
COUNTED = [str(row) for row in range(12)]


def joined(truth: str, said: str, **roles):
    return join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv"), **roles)


@pytest.mark.parametrize("name", ["image", "img", "name", "sample", "guid", "sentence"])
def test_a_column_that_names_every_row_in_both_files_joins_them_whatever_it_is_called(name):
    files = frames(**{name: PICTURES})
    for said in (files["shuffled"], files["straight"]):
        table = joined(files["truth"], said)
        assert table.select().accuracy == files["accuracy"]
        assert table.roles.id == name
        assert any(f"by id (columns '{name}' and '{name}')" in note for note in table.notes)
        again = joined(files["truth"], said, roles=Roles.from_json(table.roles.to_json()))
        assert again.roles == table.roles
        assert again.select().fingerprint == table.select().fingerprint


def test_a_column_of_both_files_joins_them_where_one_alone_has_ids():
    files = frames(name=PICTURES)
    truth = pd.read_csv(upload(files["truth"], "truth.csv")).assign(id=[f"t{row}" for row in range(12)])
    assert joined(truth.to_csv(index=False), files["shuffled"]).select().accuracy == files["accuracy"]


def test_what_pandas_writes_for_its_index_does_not_join_rows_that_a_name_joins():
    files = frames(name=PICTURES)
    truth, said = (pd.read_csv(upload(files[half], "t.csv")).to_csv() for half in ("truth", "shuffled"))
    assert joined(truth, said).select().accuracy == files["accuracy"]


CONTRADICTORY = {
    "other values": ({"name": PICTURES}, {"name": OTHERS}, ()),
    "some of the values": ({"name": PICTURES}, {"name": [*PICTURES[:-1], "lost.png"]}, ("name",)),
    "ids that only count, and names": ({"id": COUNTED, "name": PICTURES}, {"name": PICTURES[::-1]}, ("id", "name")),
    "names in two orders": (
        {"name": PICTURES, "code": OTHERS},
        {"name": PICTURES[::-1], "code": [*OTHERS[1:], OTHERS[0]]},
        ("name", "code"),
    ),
}


@pytest.mark.parametrize(("columns", "changed", "choices"), CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_columns_that_contradict_the_lines_are_asked_about_and_never_overruled(columns, changed, choices):
    truth, said = frames(**columns)["truth"], frames(**columns | changed)["straight"]
    with pytest.raises(RolesNeeded, match="Which rows belong together") as raised:
        joined(truth, said)
    needed = raised.value
    assert needed.role == "join"
    assert needed.choices == (*choices, LINE)
    assert needed.guess.join in needed.choices
    by_line = joined(truth, said, roles=replace(needed.guess, join=LINE))
    assert by_line.select().accuracy == frames(**columns)["accuracy"]
    assert any("by line, as was said" in note for note in by_line.notes)
    again = joined(truth, said, roles=Roles.from_json(by_line.roles.to_json()))
    assert again.select().fingerprint == by_line.select().fingerprint


def test_the_answer_may_name_the_column_that_joins():
    columns = {"id": COUNTED, "name": PICTURES}
    truth, said = frames(**columns)["truth"], frames(**columns | {"name": PICTURES[::-1]})["straight"]
    rows = {name: joined(truth, said, roles=Roles(join=name)).select() for name in columns}
    assert rows["id"].accuracy == frames()["accuracy"]
    assert rows["name"].y_true.tolist() == rows["id"].y_true.tolist()[::-1]
    with pytest.raises(DataError, match="both need a column 'colour'"):
        joined(truth, said, roles=Roles(join="colour"))
    with pytest.raises(DataError, match=r"12 of 12 ids of said\.csv are not in truth\.csv"):
        joined(truth, frames(name=OTHERS)["straight"], roles=Roles(join="name"))


def test_columns_that_name_no_rows_leave_the_lines_alone():
    sizes = {"size": ["S", "L", "M"] * 4, "weight": [f"{row}.5" for row in range(12)]}
    truth = frames(**sizes)["truth"]
    said = frames(size=["S", "L", "L"] * 4, weight=[f"{row}.25" for row in range(12)])["straight"]
    table = joined(truth, said)
    assert any("by line, since neither file has ids" in note for note in table.notes)


def test_measurements_that_stand_in_both_files_join_their_rows():
    files = frames(weight=[f"{row}.5" for row in range(12)])
    assert joined(files["truth"], files["shuffled"]).select().accuracy == files["accuracy"]


def test_uploads_that_were_joined_by_line_before_anybody_asked_still_are_and_say_so():
    truth, said = frames(name=PICTURES)["truth"], frames(name=OTHERS)["straight"]
    table = joined(truth, said, roles=Roles(truth="label", predicted="predicted"))
    assert table.select().accuracy == frames()["accuracy"]
    assert any("although both have a column 'name'" in note for note in table.notes)
