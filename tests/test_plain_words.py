"""Do the rules for words on screen find what breaks them?"""

import pytest

from tests.plain_words import problems, problems_of
from touchstone.core.evaluate.wording import Verdict


@pytest.mark.parametrize(
    "sentence",
    [
        "SVM and MLP cannot be told apart.",
        "Accuracy falls on unfamiliar sources.",
        "Its mean (over draws (of two schemes)) is high.",
        " ".join(["word"] * 26) + ".",
    ],
)
def test_what_breaks_the_rules_is_found(sentence):
    assert list(problems(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "SVM loses 11.7 points [4.3, 19.1] on held-out clusters: 95.7 % to 84.0 %. It keeps 81 to 95 % (rho .878).",
        'No significant difference between "familiar" and "count on" (two classes of these names).',
        " ".join(["word"] * 25) + ".",
    ],
)
def test_what_keeps_the_rules_passes(sentence):
    assert not list(problems(sentence))


def test_every_part_of_a_verdict_is_held_to_them():
    for place in range(4):
        parts = ["Fine.", "Fine.", "Fine.", ("Fine.",)]
        parts[place] = "It cannot be told." if place < 3 else ("It cannot be told.",)
        assert problems_of(Verdict(*parts))
