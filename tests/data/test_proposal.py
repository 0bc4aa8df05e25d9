"""The likeliest role of every column, where reading would ask and where it would not."""

import pytest

from tests.data.shared_files import recordings
from touchstone.core.data import DataError, RolesNeeded
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.files import parse_delimited
from touchstone.core.data.tables.roles import (
    DatasetRoles,
    FileReading,
    features_of,
    guess_dataset_roles,
    propose_roles,
    roles_from_json,
    roles_to_json,
    said_roles,
    values_of,
)
from touchstone.core.data.tables.table import make_table

N = 12


def table(**columns):
    return make_table("t.csv", list(columns), list(columns.values()), lines=list(range(2, N + 2)))


NAMES = [f"r{row}" for row in range(N)]
TEXTS = [f"a fine film, number {row}" for row in range(N)]
NUMBERS = [f"{row / 7:.3f}" for row in range(N)]
KINDS = ["plain", "odd"] * 6


@pytest.mark.parametrize(
    ("given", "roles"),
    [
        (
            table(name=NAMES, size=NUMBERS, kind=KINDS),
            DatasetRoles(label="kind", features=("size",), id="name"),
        ),
        (table(word=NAMES, kind=KINDS), DatasetRoles(label="kind", text="word")),
        (
            table(half=KINDS, third=["a", "b", "c"] * 4, size=NUMBERS),
            DatasetRoles(label="half", features=("size",)),
        ),
        (
            table(file=NAMES, label=KINDS, size=NUMBERS, when=[f"2020-01-{row + 1:02d}" for row in range(N)]),
            DatasetRoles(label="label", features=("size",), id="file"),
        ),
        (
            table(notes=TEXTS, size=NUMBERS, label=KINDS),
            DatasetRoles(label="label", text="notes"),
        ),
        (table(size=NUMBERS, length=NUMBERS), DatasetRoles()),
    ],
    ids=["numbers", "words", "fewest", "dates are no ids", "texts or numbers", "nothing"],
)
def test_the_likeliest_column_has_the_role(given, roles):
    assert propose_roles(given).roles == roles


def test_a_proposal_of_recordings_is_what_somebody_would_say():
    given = parse_delimited(recordings(), "voices.tsv", Limits())
    with pytest.raises(RolesNeeded):
        guess_dataset_roles(given)
    proposal = propose_roles(given)
    assert (proposal.roles.label, proposal.roles.source, proposal.roles.id) == ("status", "subject", "name")
    assert len(proposal.roles.features) == 22
    assert proposal.question is not None
    assert "which column holds the label" in proposal.question


def test_a_mail_has_a_subject_that_is_no_source():
    given = table(subject=TEXTS, body=[f"{text}, it was said there" for text in TEXTS], label=KINDS)
    assert propose_roles(given).roles.source is None


def test_what_was_said_goes_before_what_is_guessed():
    given = table(id=NAMES, site=KINDS, status=KINDS, size=NUMBERS)
    assert said_roles(given, {"label": "status"}) == DatasetRoles(label="status", id="id", source="site")
    assert said_roles(given, {"label": "status", "id": None, "source": "id"}) == DatasetRoles("status", source="id")


def test_lists_have_no_classes_and_no_names():
    given = make_table("t.json", ["cells"], [[[1], [2], "a"]], lines=[1, 2, 3])
    assert values_of(given, "cells").counts == (("a", 1),)
    assert values_of(given, "cells").n_missing == 2


def test_no_numbers_left_is_said():
    with pytest.raises(DataError, match="no column that is left holds numbers"):
        features_of(table(word=NAMES, kind=KINDS), DatasetRoles(label="kind"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"touchstone": "data set roles", "colour": "x"}', "null", "[" * 9999]
)
def test_what_is_no_roles_is_refused(text):
    with pytest.raises(DataError, match="These are no roles of a data set"):
        roles_from_json(text)


def test_roles_come_back_from_json_and_named_features_go_with_a_command_as_json():
    assert roles_from_json('{"touchstone": "data set roles", "label": "a", "id": null}') == DatasetRoles(label="a")
    roles = DatasetRoles(label="$a b", features=("x'y", "{z}"), source="s")
    assert roles_from_json(roles_to_json(roles)) == roles
    arguments = FileReading("t.csv", roles).arguments()
    assert arguments[:2] == ["--data=t.csv", "--kind=tabular"]
    assert roles_from_json(arguments[2].removeprefix("--roles=")) == roles
