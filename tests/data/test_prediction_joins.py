"""Truth in one file and predictions in another join by id or by line, or the counts say why they do not."""

import numpy as np
import pytest

from core.data import DataError, Roles, join_predictions, read_predictions
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
