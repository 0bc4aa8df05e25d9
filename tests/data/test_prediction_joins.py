"""Truth in one file and predictions in another join by id or by line, or the counts say why they do not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.data.uploads import upload
from touchstone.core.data import DataError, Roles, RolesNeeded, join_predictions, read_predictions
from touchstone.core.data.predictions import ways
from touchstone.core.data.predictions.roles import LINE
from touchstone.core.data.predictions.ways import Labels
from touchstone.core.data.tables.names import compact
from touchstone.core.data.tables.table import make_table

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
    roles = Roles(truth="label", predicted="predicted")
    table = joined(truth, said, roles=roles, confirmed=True)
    assert table.select().accuracy == frames()["accuracy"]
    assert any("although both have a column 'name'" in note for note in table.notes)


def test_to_name_the_columns_is_not_to_confirm_how_rows_join():
    roles = Roles(truth="label", predicted="predicted")
    shuffled = joined(frames(image=PICTURES)["truth"], frames(image=PICTURES)["shuffled"], roles=roles)
    assert shuffled.select().accuracy == frames()["accuracy"]
    known, said = frames(id=PICTURES)["truth"], frames()["shuffled"]
    for confirmed in (False, True):
        with pytest.raises(RolesNeeded, match=r"truth.csv has ids \(column 'id'\), said.csv has none"):
            joined(known, said, roles=roles, confirmed=confirmed)


def test_the_answer_to_how_rows_join_can_be_read():
    known = frames(id=[*PICTURES[:-1], PICTURES[0]])["truth"]
    with pytest.raises(RolesNeeded) as needed:
        joined(known, frames()["straight"])
    assert joined(known, frames()["straight"], roles=needed.value.guess).select().accuracy == frames()["accuracy"]


def long(n_rows: int = 400, share: float = 0.9, **columns) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A truth and its predictions, of which a share is right, with the same columns beside both."""
    rng = np.random.default_rng(5)
    true = rng.choice(["cat", "dog", "elk", "fox"], size=n_rows)
    said = np.where(rng.random(n_rows) < share, true, rng.choice(["cat", "dog", "elk", "fox"], size=n_rows))
    return pd.DataFrame({**columns, "label": true}), pd.DataFrame({**columns, "predicted": said})


def both(known: pd.DataFrame, said: pd.DataFrame, **roles):
    return joined(known.to_csv(index=False), said.to_csv(index=False), **roles)


ROWS = np.arange(400)
ORDER = np.random.default_rng(6).permutation(400)
NUMBERS = 7 * ROWS + 3
SPELLED = {
    "padded numbers": ([f"{number:06d}" for number in NUMBERS], NUMBERS, "'3' for '000003'"),
    "numbers with a point": (NUMBERS, [f"{number}.0" for number in NUMBERS], "'3.0' for '3'"),
    "spaces": ([f"a b {row}" for row in ROWS], [f" a  b {row}" for row in ROWS], "' a  b 0' for 'a b 0'"),
    "letters' case": (
        [f"IMG{row}.PNG" for row in ROWS],
        [f"img{row}.png" for row in ROWS],
        "'img0.png' for 'IMG0.PNG'",
    ),
}


@pytest.mark.parametrize(("own", "other", "example"), SPELLED.values(), ids=SPELLED)
@pytest.mark.parametrize("name", ["id", "picture"])
def test_keys_that_differ_in_spelling_only_join_and_it_is_said(name, own, other, example):
    known, said = long()
    table = both(known.assign(**{name: own}), said.assign(**{name: other}))
    right = table.select().accuracy
    assert right == (known["label"] == said["predicted"]).mean()
    assert f"400 of 400 keys are spelled otherwise, such as {example}." in table.notes
    again = both(known.assign(**{name: own}), said.assign(**{name: other}), roles=table.roles)
    assert again.select().fingerprint == table.select().fingerprint


def test_keys_that_spelling_makes_ambiguous_are_asked_about():
    known, said = long(40)
    own, other = ([f"{row // 2:0{n_digits + row % 2 * 3}d}" for row in range(40)] for n_digits in (1, 3))  # 0, 0000, 1
    with pytest.raises(RolesNeeded, match="Which rows belong together"):
        both(known.assign(picture=own), said.assign(picture=other))


def test_columns_of_two_names_and_the_same_content_join():
    known, said = long()
    names = np.array([f"clip{number}.wav" for number in NUMBERS])
    table = both(known.assign(clip=names), said.assign(recording=names).iloc[ORDER])
    assert table.select().accuracy == (known["label"] == said["predicted"]).mean()
    assert table.roles.join == "recording = clip"
    assert any("by id (columns 'clip' and 'recording')" in note for note in table.notes)
    again = both(known.assign(clip=names), said.assign(recording=names).iloc[ORDER], roles=table.roles)
    assert again.select().fingerprint == table.select().fingerprint


def test_two_columns_that_name_rows_only_together_join():
    known, said = long(subject=[f"s{row // 8}" for row in ROWS], visit=ROWS % 8)
    table = both(known, said.iloc[ORDER])
    assert table.select().accuracy == (known["label"] == said["predicted"]).mean()
    assert any("by columns 'subject' and 'visit' of both" in note for note in table.notes)
    again = both(known, said.iloc[ORDER], roles=Roles.from_json(table.roles.to_json()))
    assert again.select().y_true.tolist() == table.select().y_true.tolist()


def test_rows_that_one_file_lacks_are_left_out_only_when_somebody_says_so():
    known, said = long(image=[f"img_{row}.png" for row in ROWS])
    with pytest.raises(RolesNeeded, match=r"20 of 400 ids of truth.csv are not in said.csv") as needed:
        both(known, said.iloc[ORDER][20:])
    right = (known["label"] == said["predicted"])[ORDER[20:]].mean()
    assert needed.value.meanings == (f"by column 'image': 380 of 400 rows, accuracy {100 * right:.1f} %",)
    table = both(known, said.iloc[ORDER][20:], roles=needed.value.guess)
    assert table.select().accuracy == right
    left_out = "Left out, since they have no row in the other file: 20 of 400 rows of truth.csv."
    assert left_out in table.warnings
    assert left_out in table.select().warnings


@pytest.mark.parametrize("half", ["truth", "said"])
def test_keys_that_stand_twice_are_named(half):
    known, said = long(image=[f"img_{row}.png" for row in ROWS])
    frames = {"truth": known, "said": said}
    frames[half] = pd.concat([frames[half], frames[half].iloc[5:8]])
    with pytest.raises(
        DataError, match=rf"{half}.csv, line 402: 'img_5.png' .* stands in line 7 too \(2 more such rows"
    ):
        both(frames["truth"], frames["said"])


MISALIGNED = {  # rows of the predictions; what is said, the ways that are offered, the one that is guessed
    "shuffled": (ORDER, r"25\.\d % would if rows were shuffled", ("(line)",), "(line)"),
    "moved by one": (np.roll(ROWS, 1), "each with the truth 1 row above: 399", ("(line)", "(line -1)"), "(line -1)"),
    "without its first row": (ROWS[1:], "truth.csv has 400 rows, said.csv has 399", ("(line +1)",), "(line +1)"),
    "without its last row": (ROWS[:-1], "truth.csv has 400 rows, said.csv has 399", ("(line +0)",), "(line +0)"),
    "a stretch moved": (
        np.r_[ROWS[:200], np.roll(ROWS[200:300], 1), ROWS[300:]],
        r"Rows 20\d to (?:299|300) agree in \d\d\.\d %, and in 9\d\.\d % when moved by 1 row\.",
        ("(line)",),
        "(line)",
    ),
    "a stretch shuffled": (
        np.r_[ROWS[:200], ROWS[200:300][np.argsort(ORDER[:100])], ROWS[300:]],
        r"Rows \d+ to \d+ agree in \d\d\.\d %, as if shuffled, the others in 9",
        ("(line)",),
        "(line)",
    ),
}


@pytest.mark.parametrize(("rows", "said_so", "ways", "guess"), MISALIGNED.values(), ids=MISALIGNED)
def test_lines_whose_labels_do_not_agree_are_asked_about(rows, said_so, ways, guess):
    known, said = long()
    with pytest.raises(RolesNeeded, match=said_so) as needed:
        both(known, said.iloc[rows])
    assert needed.value.choices == ways
    assert needed.value.guess.join == guess
    table = both(known, said.iloc[rows], roles=needed.value.guess)
    whole = (known["label"] == said["predicted"]).mean()
    if guess != "(line)":
        assert table.select().accuracy == pytest.approx(whole, abs=0.005)
    assert (len(table.select().ids) < 400) == any("Left out" in warning for warning in table.warnings)


def test_files_that_are_each_sorted_by_their_labels_are_asked_about():
    known, said = long()
    with pytest.raises(RolesNeeded, match="Both files are sorted by their labels"):
        both(known.sort_values("label"), said.sort_values("predicted"))


def test_lines_that_agree_join_and_what_that_rests_on_is_said():
    known, said = long()
    table = both(known, said)
    assert table.warnings == ()
    assert any(note.startswith("Labels agree clearly more often than the 2") for note in table.notes)
    codes = said["predicted"].map({"cat": 3, "dog": 2, "elk": 1, "fox": 0})
    with pytest.raises(RolesNeeded, match="Which predicted name stands for which class"):
        both(known, said.assign(predicted=codes))
    with pytest.raises(RolesNeeded, match="Which rows belong together"):
        both(known, said.assign(predicted=codes).iloc[ORDER])


def test_what_no_file_lacks_is_not_counted_in_a_question():
    known, said = long(image=[f"img_{row}.png" for row in ROWS])
    with pytest.raises(RolesNeeded) as needed:
        both(known, said.iloc[20:])
    assert "20 of 400 ids of truth.csv are not in said.csv" in str(needed.value)
    assert "0 of 380" not in str(needed.value)


def test_one_way_to_join_is_confirmed_and_several_are_chosen_from():
    known, said = long()
    with pytest.raises(RolesNeeded, match="Confirm this only if you know that it is right; else add a column"):
        both(known, said.iloc[ORDER])
    with pytest.raises(RolesNeeded, match="Choose one, or add a column"):
        both(known, said.iloc[np.roll(ROWS, 1)])


def test_a_way_by_line_is_told_in_words():
    known, said = long()
    table = both(known, said.iloc[1:], roles=Roles(predicted="predicted", join="(line +1)"))
    line = "Rows of the two files belong together: line by line, each with the truth 1 row below (as given)"
    assert line in table.roles.lines()


def test_two_columns_that_join_are_found_in_whatever_order_the_files_have_them():
    known, said = long(subject=[f"s{row // 8}" for row in ROWS], visit=ROWS % 8)
    said = said[["visit", "subject", "predicted"]]
    table = both(known, said.iloc[ORDER])
    assert table.roles.join == "visit + subject"
    again = both(known, said.iloc[ORDER], roles=Roles.from_json(table.roles.to_json()))
    assert again.select().y_true.tolist() == table.select().y_true.tolist()


def test_ways_are_found_by_name_without_comparing_all_columns(monkeypatch):
    names = [f"column_{number}" for number in range(300)]
    known, said = (make_table(file, each, [["a"]] * 300, lines=[2]) for file, each in (("a", names), ("b", names)))
    compared = []
    monkeypatch.setattr(ways, "compact", lambda name: compared.append(name) or compact(name))
    assert ways.keys_named("(line +1)", known, said) is None
    assert ways.keys_named("column_7 = column_5", known, said) == (("column_5", "column_7"),)
    assert ways.keys_named("column_7 + column_5", known, said) == (("column_7",) * 2, ("column_5",) * 2)
    assert len(compared) < 10 * len(names)


def test_what_labels_say_of_a_way_is_counted_once(monkeypatch):
    rows_seen = []
    doubt = Labels.doubt
    monkeypatch.setattr(Labels, "doubt", lambda self, rows: rows_seen.append(tuple(rows)) or doubt(self, rows))
    both(*long())
    assert len(rows_seen) == len(set(rows_seen)) == 1


def test_a_key_under_which_labels_do_not_agree_is_asked_about_where_lines_do():
    known, said = long()
    with pytest.raises(RolesNeeded, match="Joined by column 'id', labels agree no more often") as needed:
        both(known.assign(id=ORDER), said.assign(id=ROWS))
    assert needed.value.choices == ("id", "(line)")
    assert needed.value.guess.join == "(line)"


@pytest.mark.parametrize("half", ["truth", "said"])
def test_names_that_one_file_has_are_kept_as_ids_where_lines_join(half):
    known, said = long()
    frames = {"truth": known, "said": said}
    frames[half] = frames[half].assign(
        picture=[f"img_{row}.png" for row in ROWS], text=[f"a long text {n}" for n in ROWS]
    )
    table = both(frames["truth"], frames["said"])
    assert table.select().ids[:2].tolist() == ["img_0.png", "img_1.png"]
    again = both(frames["truth"], frames["said"], roles=Roles.from_json(table.roles.to_json()))
    assert again.select().fingerprint == table.select().fingerprint


def test_names_that_nothing_else_uses_are_kept_as_ids():
    known, said = long()
    whole = known.assign(
        predicted=said["predicted"], text=[f"a long text {n}" for n in ROWS], picture=[f"{n}.png" for n in ROWS]
    )
    table = read_predictions(upload(whole.to_csv(index=False), "t.csv"))
    assert table.roles.id == "picture"
    assert "Id: column 'picture' (it names every row)." in table.notes
    twice = pd.concat([whole.assign(model="a"), whole.assign(model="b")])
    assert read_predictions(upload(twice.to_csv(index=False), "t.csv")).roles.id == "picture"
    assert read_predictions(upload(whole.drop(columns=["text", "picture"]).to_csv(), "t.csv")).roles.id != "predicted"


def test_codes_that_one_side_counts_from_one_are_asked_about_with_what_either_way_comes_to():
    known, said = long()
    code = {"cat": 0, "dog": 1, "elk": 2, "fox": 3}
    whole = pd.DataFrame({"gold": known["label"].map(code) + 1, "predicted": said["predicted"].map(code)})
    with pytest.raises(RolesNeeded, match=r"Moved by one, 9\d\.\d % of 400 rows agree; as they stand, \d\.\d %\."):
        read_predictions(upload(whole.to_csv(index=False), "t.csv"))
    with pytest.raises(RolesNeeded, match="counted from 1"):
        both(whole[["gold"]], whole[["predicted"]])
