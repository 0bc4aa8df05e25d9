"""Errors in a user's words come as they were raised from wherever the work was done."""

import pickle

import pytest

from touchstone.core.data import DataError, Roles, RolesNeeded
from touchstone.core.models.errors import ModelError
from touchstone.core.split.scheme import OnlyOneSource

RAISED = (
    DataError("scores.tsv, line 14: 2 cells."),
    ModelError("net.onnx: 3 outputs."),
    OnlyOneSource(("cat", "owl")),
    RolesNeeded("Which column is the truth?", Roles(predicted="said"), ("gold", "label"), "truth"),
)


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_an_error_crosses_processes(error):
    # Workers hand what a trial raised back by pickle (our own, never a user's); one that lost its fields on the way
    # would be a bug of ours in the place of the sentence.
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
