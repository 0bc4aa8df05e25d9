"""What a column is gets known by its name or plain content; where it could be several things, somebody is asked."""

import pickle

import pytest

from core.data import DataError, RolesNeeded
from core.data.tables import Table, make_table
from core.data.tables.roles import DatasetRoles, guess_dataset_roles

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
        DatasetRoles(),
    ),
    "two labels": (table(label=LABELS, category=LABELS, a=NUMBERS), {}, "which column holds the label", DatasetRoles()),
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


def test_a_label_alone_is_no_data_set():
    with pytest.raises(DataError, match="beside the label there is nothing"):
        guess_dataset_roles(table(id=COUNTS, label=LABELS))
