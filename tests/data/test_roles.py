"""What a column is gets known by its name or plain content; where it could be several things, somebody is asked."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.core.data import DataError, RolesNeeded
from touchstone.core.data.tables.roles import DatasetRoles, guess_dataset_roles, role_reasons
from touchstone.core.data.tables.sources import propose_sources
from touchstone.core.data.tables.table import Table, make_table

ROOT = Path(__file__).resolve().parents[2]
N = 12
SENTENCES = [f"This is sentence number {position}." for position in range(N)]
NUMBERS = [f"{position / 7:.3f}" for position in range(N)]
LABELS = ["good", "bad"] * (N // 2)
COUNTS = [str(position) for position in range(N)]
WRITERS = ["anna", "anna", "bert", "bert"] * (N // 4)


def table(**columns) -> Table:
    return make_table("t.tsv", list(columns), list(columns.values()), lines=range(2, 2 + N))


GUESSED = {
    "text by name": (table(sentence=SENTENCES, label=LABELS), DatasetRoles("label", "sentence")),
    "text by content": (table(zzz=SENTENCES, label=LABELS), DatasetRoles("label", "zzz")),
    "text beside a number": (table(text=SENTENCES, length=NUMBERS, label=LABELS), DatasetRoles("label", "text")),
    "named text of two": (table(subject=SENTENCES, body=SENTENCES, label=LABELS), DatasetRoles("label", "body")),
    "table": (table(a=NUMBERS, b=COUNTS, y=LABELS), DatasetRoles("y", features=("a", "b"))),
    "names in capitals": (table(ID=COUNTS, Text=SENTENCES, Class=LABELS), DatasetRoles("Class", "Text", id="ID")),
    "id and source": (
        table(doc_id=COUNTS, speaker=WRITERS, a=NUMBERS, target=LABELS),
        DatasetRoles("target", features=("a",), id="doc_id", source="speaker"),
    ),
    "index of pandas": (
        make_table("t.csv", ["", "a", "label"], [COUNTS, NUMBERS, LABELS], lines=range(N)),
        DatasetRoles("label", features=("a",), id="unnamed column 1"),
    ),
    "index that repeats": (
        make_table("t.csv", ["", "a", "label"], [WRITERS, NUMBERS, LABELS], lines=range(N)),
        DatasetRoles("label", features=("a",)),
    ),
    "second id is no feature": (
        table(index=COUNTS, id=COUNTS, a=NUMBERS, y=LABELS),
        DatasetRoles("y", None, ("a",), "id"),
    ),
    "words are no feature": (table(a=NUMBERS, part=WRITERS, label=LABELS), DatasetRoles("label", features=("a",))),
    "a hole in a feature": (
        table(a=["", *NUMBERS[1:]], b=NUMBERS, label=LABELS),
        DatasetRoles("label", features=("a", "b")),
    ),
}


@pytest.mark.parametrize(("table", "roles"), GUESSED.values(), ids=GUESSED)
def test_guessed(table, roles):
    assert guess_dataset_roles(table) == roles


ASKED = {
    "label by content only": (
        table(text=SENTENCES, polarity=LABELS),
        {},
        "which column holds the label",
        DatasetRoles("polarity", "text"),
    ),
    "several could be the label": (
        table(part=WRITERS, kind=LABELS, a=NUMBERS),
        {},
        "which column holds the label",
        DatasetRoles("kind", features=("a",)),
    ),
    "two labels": (
        table(label=LABELS, category=LABELS, a=NUMBERS),
        {},
        "which column holds the label",
        DatasetRoles("label", features=("a",)),
    ),
    "two texts": (
        table(first=SENTENCES, second=SENTENCES, label=LABELS),
        {},
        "which column holds the text",
        DatasetRoles("label", "first"),
    ),
    "words, but hardly text": (table(word=WRITERS, label=LABELS), {}, "holds the text", DatasetRoles("label", "word")),
    "text or numbers": (
        table(remark=SENTENCES, a=NUMBERS, label=LABELS),
        {},
        r"is this text \(column 'remark'\) or a table of numbers \(column 'a'",
        DatasetRoles("label", "remark"),
    ),
    "no numbers": (
        table(remark=WRITERS, label=LABELS),
        {"kind": "tabular"},
        "which columns hold the features",
        DatasetRoles("label", "remark"),
    ),
}


@pytest.mark.parametrize(("table", "more", "question", "guess"), ASKED.values(), ids=ASKED)
def test_asked(table, more, question, guess):
    with pytest.raises(RolesNeeded, match=question) as caught:
        guess_dataset_roles(table, **more)
    assert caught.value.guess == guess
    assert caught.value.choices == tuple(table.columns)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.guess, copy.choices) == (str(caught.value), guess, caught.value.choices)


def test_the_kind_decides_between_text_and_numbers():
    both = table(remark=SENTENCES, a=NUMBERS, label=LABELS)
    assert guess_dataset_roles(both, kind="text") == DatasetRoles("label", "remark")
    assert guess_dataset_roles(both, kind="tabular") == DatasetRoles("label", features=("a",))


def test_given_roles_stand_and_only_what_they_lack_is_guessed():
    whole = table(id=COUNTS, speaker=WRITERS, a=NUMBERS, b=NUMBERS, label=LABELS, vowel=LABELS)
    assert guess_dataset_roles(whole, roles=DatasetRoles("vowel", source="speaker")) == DatasetRoles(
        "vowel", features=("a", "b"), source="speaker"
    )
    assert guess_dataset_roles(whole, roles=DatasetRoles(features=("b",))) == DatasetRoles("label", features=("b",))


REFUSED = {
    "image": ({"kind": "image"}, "a table holds no images"),
    "no such column": (
        {"roles": DatasetRoles("polarity")},
        "there is no column 'polarity'. The columns are text, a, label",
    ),
    "one column twice": ({"roles": DatasetRoles("label", "label")}, "column 'label' has two roles"),
    "both inputs": ({"roles": DatasetRoles("label", "text", ("a",))}, "both a text and features are given"),
    "other kind": (
        {"roles": DatasetRoles("label", "text"), "kind": "tabular"},
        "make text data, but tabular was asked for",
    ),
}


@pytest.mark.parametrize(("more", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(more, message):
    with pytest.raises(DataError, match=f"t.tsv: .*{message}"):
        guess_dataset_roles(table(text=SENTENCES, a=NUMBERS, label=LABELS), **more)


def parkinson(**columns) -> Table:
    """Three recordings of each of 20 people, of whom 12 are ill, and what was measured."""
    columns = {"name": [f"rec_{row}" for row in range(60)], **columns}
    columns |= {"status": ["1"] * 36 + ["0"] * 24, "jitter": [f"{row % 7 / 100}" for row in range(60)]}
    return make_table("p.tsv", list(columns), list(columns.values()), lines=range(2, 62))


PEOPLE = [f"S{row // 3:02d}" for row in range(60)]
NUMBERED = [str(row // 3) for row in range(60)]
SHUFFLED_SITES = [("north", "south", "east")[row * 7 % 3] for row in range(60)]

SOURCES = {
    **{
        column: ({column: PEOPLE}, column, "it is called like a source; 20 values in 60 rows")
        for column in ("subject", "patient_id", "Participant", "user", "site", "Device ID", "session", "speaker")
    },
    "a number by name": ({"subject#": NUMBERED}, "subject#", "it is called like a source; 20 values in 60 rows"),
    "an id that repeats": (
        {"id": NUMBERED},
        "id",
        "each of its 20 values belongs to one class",
    ),
    "one class each": ({"who": PEOPLE[::2] + PEOPLE[1::2]}, None, None),  # labels no longer fit: nothing is proposed
    "by class": ({"who": PEOPLE}, "who", "each of its 20 values belongs to one class"),
    "a number by class and rows": ({"who": NUMBERED}, "who", "each of its 20 values belongs to one class"),
    "by rows": (
        {"clinic_of": [f"C{row // 8}" for row in range(60)]},
        "clinic_of",
        "the rows of each of its 8 values follow one another",
    ),
    "the likelier of two": ({"session": NUMBERED, "subject": PEOPLE}, "subject", None),
    "a source that every row has its own of": ({"user": [f"u{row}" for row in range(60)]}, None, None),
    "the label in other words": ({"diagnosis_name": ["ill"] * 36 + ["well"] * 24}, None, None),
    "mixed words": ({"where": SHUFFLED_SITES}, None, None),
    "days": ({"day": [f"2020-03-{row // 3 + 1:02d}" for row in range(60)]}, None, None),
    "whole numbers that go with rows only": ({"age": [str(row // 8) for row in range(60)]}, None, None),
}


@pytest.mark.parametrize(("columns", "source", "reason"), SOURCES.values(), ids=SOURCES)
def test_sources_are_proposed_with_the_reason(columns, source, reason):
    with pytest.raises(RolesNeeded) as asked:
        guess_dataset_roles(parkinson(**columns))
    guess = asked.value.guess
    assert (guess.label, guess.source, "jitter" in guess.features) == ("status", source, True)
    assert source not in guess.features
    reasons = role_reasons(parkinson(**columns), guess)
    assert reasons["label"] == "it has few different values: 2 values in 60 rows"
    if reason is not None:
        assert reasons["source"] == reason


def test_names_of_rows_are_ids_and_given_roles_get_no_source():
    with pytest.raises(RolesNeeded) as asked:
        guess_dataset_roles(parkinson(subject=PEOPLE))
    assert asked.value.guess == DatasetRoles("status", None, ("jitter",), "name", "subject")
    given = guess_dataset_roles(parkinson(subject=PEOPLE), roles=DatasetRoles("status"))
    assert given.source is None


def test_values_that_chance_could_have_put_together_are_no_sources():
    few = make_table("t.tsv", ["y", "where", "a"], [list("aabb"), list("kkll"), list("1234")], lines=range(4))
    assert propose_sources(few, "y") == ()


def test_a_column_that_marks_training_and_test_is_the_part():
    split = ["train"] * 40 + ["dev"] * 10 + ["test"] * 10
    with pytest.raises(RolesNeeded) as asked:
        guess_dataset_roles(parkinson(subject=PEOPLE, split=split))
    assert asked.value.guess.part == "split"


def test_a_label_alone_is_no_data_set():
    with pytest.raises(DataError, match="no column is left to learn the label from"):
        guess_dataset_roles(table(id=COUNTS, label=LABELS))


def test_counts_are_features_although_they_are_called_like_sources():
    columns = {"sessions": [str(row % 7) for row in range(60)], "visits": [str(row % 5) for row in range(60)]}
    with pytest.raises(RolesNeeded) as asked:
        guess_dataset_roles(parkinson(**columns))
    assert asked.value.guess.source is None
    assert {"sessions", "visits"} <= set(asked.value.guess.features)


def test_ids_that_begin_anew_in_each_part_are_no_sources():
    numbers = [str(row % 30) for row in range(60)]
    columns = {"id": numbers, "split": ["train"] * 30 + ["test"] * 30, "a": [str(row / 7) for row in range(60)]}
    columns["label"] = [("cat", "dog")[row % 2] for row in range(60)]
    table = make_table("t.tsv", list(columns), list(columns.values()), lines=list(range(2, 62)))
    roles = guess_dataset_roles(table)
    assert (roles.id, roles.source, roles.part) == (None, None, "split")
    parts_alone = {name: cells for name, cells in columns.items() if name != "split"}
    again = guess_dataset_roles(make_table("t.tsv", list(parts_alone), list(parts_alone.values()), lines=range(2, 62)))
    assert again.source == "id"


def test_a_first_line_with_a_document_is_read_by_a_process_that_has_read_nothing():
    read = "from touchstone.core.data.tables.table import read_columns; read_columns(b'a,' + b'word ' * 40_000, ',')"
    subprocess.run([sys.executable, "-c", read], check=True, cwd=ROOT)
