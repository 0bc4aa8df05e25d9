"""Is there a picture of every page and every verdict, and does it show what the product says today?

`make screenshots` draws and writes them, and notes beside them what their cards say (docs/screenshots/said.json), of
which files. A picture is stale where its file is another one, or where the product says something else today. What the
verdicts say is held against one list: a number answers the question, it is said over what, what next, and no sentence
is too long.
"""

import re
import struct
from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.plain_words import problems
from tests.quotes import same_but_for_rounding, stale
from tests.said_today import FOLDER, OF_NETWORK, Card, card_of, digests, network, noted, processor
from touchstone.core.questions import QUESTIONS, with_page

WIDTH, LEAST_HEIGHT = 1280, 400
IN_WORDS = (ROOT / "docs" / "measured" / "verdicts-in-words.md").read_text("utf-8")


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", picture[16:24])


@pytest.mark.parametrize("scheme", ["", "-dark"])
@pytest.mark.parametrize("stem", list(with_page()))
def test_every_page_has_its_picture(stem, scheme):
    width, height = size_of((FOLDER / f"{stem}{scheme}.png").read_bytes())
    assert width == WIDTH
    assert height >= LEAST_HEIGHT


def test_no_picture_is_of_a_page_that_is_gone():
    pages = {f"{stem}{scheme}.png" for stem in with_page() for scheme in ("", "-dark")}
    assert {file.name for file in FOLDER.glob("*.png")} == pages


@pytest.mark.parametrize("scheme", ["", "-dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("stem", list(with_page()))
def test_every_verdict_has_its_pictures(stem, width, scheme):
    wide, height = size_of((FOLDER / "verdicts" / f"{stem}-{width}{scheme}.png").read_bytes())
    assert width / 2 < wide <= width
    assert height > 80


def test_no_picture_is_of_a_verdict_that_is_gone():
    pictures = {
        f"{stem}-{width}{scheme}.png" for stem in with_page() for width in (1280, 390) for scheme in ("", "-dark")
    }
    assert {file.name for file in (FOLDER / "verdicts").glob("*.png")} == pictures


@pytest.mark.parametrize("stem", list(with_page()))
def test_a_verdict_answers_with_a_number_over_something_and_says_what_next(stem):
    [told] = re.findall(rf"## {re.escape(QUESTIONS[stem].title)}\n\n(.*?)\n\n", IN_WORDS, re.DOTALL)
    parts = dict(re.findall(r"- \*\*(.*?)\*\*: (.*)", told))
    assert parts["Number"] in parts["Answer"], parts
    assert re.search(r"\d", parts["Number"])
    assert re.search(
        r"n = \d|\d (?:test |real test )?samples|\d (?:generated )?(?:images|pictures)|\d data set",
        " ".join(parts.values()),
    ), parts
    assert parts["What next"].endswith(".")
    assert not [problem for part in parts.values() for problem in problems(part)]


SOON = ("data_sets", "matched_subsets", "cluster_folds", "source_robustness", "runs")
"""The pages whose cards are computed in some seconds."""
LATER = [stem for stem in with_page() if stem not in SOON]
RENEW = "`make screenshots` renews the pictures and docs/screenshots/said.json."


def noted_card(stem: str) -> Card:
    """What the card of a page said when its picture was drawn."""
    parts = noted()["pages"][stem]
    return Card(tuple(parts["words"]), tuple(parts["numbers"]))


def stale_in_picture(stem: str, shown: Card) -> list[str]:
    """What a card shows that its page does not say today."""
    today, picture = card_of(stem), f"docs/screenshots/{stem}.png"
    words = stale(picture, shown.words, today.words, renew=RENEW, on_any_machine=True)
    there = (*shown.words, *shown.numbers)
    missing = [
        part for part in (*today.words, *today.numbers) if not any(same_but_for_rounding(part, each) for each in there)
    ]
    more = [f"{picture} does not show what the product says today:    {part}\n{RENEW}" for part in missing]
    return words + stale(picture, shown.numbers, today.numbers, renew=RENEW, on_any_machine=True) + more


@pytest.mark.parametrize("stem", [*SOON, *(pytest.param(stem, marks=pytest.mark.evidence) for stem in LATER)])
def test_a_picture_shows_what_its_page_says_today(stem):
    if stem in (*OF_NETWORK, "overview") and noted()["network"]["processor"] != processor():
        pytest.skip(f"{processor()} trains other weights than {noted()['network']['processor']}")
    told = stale_in_picture(stem, noted_card(stem))
    assert not told, "\n".join(told)


@pytest.mark.evidence
def test_the_network_of_the_pictures_is_trained_again_as_it_was():
    if noted()["network"]["processor"] != processor():
        pytest.skip(f"{processor()} trains other weights than {noted()['network']['processor']}")
    assert network()[0].fingerprint == noted()["network"]["fingerprint"], RENEW


def test_a_stale_picture_is_found():
    """Another digit in a sentence, another number, and a number that is missing: each is told."""
    shown = noted_card("data_sets")
    answer, following = shown.words
    changed = answer.replace("174", "175")
    told = "\n".join(stale_in_picture("data_sets", replace(shown, words=(changed, following))))
    assert all(part in told for part in ("docs/screenshots/data_sets.png", changed, answer, "make screenshots"))
    assert stale_in_picture("data_sets", replace(shown, numbers=("Samples: 1 796", *shown.numbers[1:])))
    assert stale_in_picture("data_sets", replace(shown, numbers=shown.numbers[1:]))


def test_every_picture_is_the_one_whose_words_were_noted():
    pictures = digests()
    others = {path for path in pictures | noted()["pictures"] if pictures.get(path) != noted()["pictures"].get(path)}
    assert not others, f"not as docs/screenshots/said.json has them: {sorted(others)}. {RENEW}"
    assert set(noted()["pages"]) == set(with_page())


def test_verdicts_in_words_are_those_of_the_pictures():
    for stem in with_page():
        [told] = re.findall(rf"## {re.escape(QUESTIONS[stem].title)}\n\n(.*?)\n\n", IN_WORDS, re.DOTALL)
        parts = re.findall(r"- \*\*(Answer|Over what|What next)\*\*: (.*)", told)
        words = tuple("Next: " * (name == "What next") + text for name, text in parts)
        assert words == noted_card(stem).words, f"docs/measured/verdicts-in-words.md: {stem}. {RENEW}"
