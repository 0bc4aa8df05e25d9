"""Does every text on screen and in the docs keep the rules for words, and is what readers stumbled over gone?"""

import pytest

from tests.old_sentences import OLD_SENTENCES
from tests.plain_words import problems
from tests.screen_texts import (
    ROOT,
    phrases_of_code,
    texts_of,
    texts_of_code,
    texts_of_docs,
    texts_of_pages,
    texts_of_template,
)


def test_texts_in_code_keep_the_rules():
    broken = [f"{place}: {problem}" for place, text in texts_of_code() for problem in problems(text)]
    assert not broken, "\n".join(broken)


def test_names_of_columns_and_controls_keep_the_rules():
    broken = [f"{place}: {problem}" for place, text in phrases_of_code() for problem in problems(text)]
    assert not broken, "\n".join(broken)


def test_how_to_read_keeps_the_rules():
    broken = [f"{place}: {problem}" for place, text in texts_of_pages() for problem in problems(text)]
    assert not broken, "\n".join(broken)


def test_docs_keep_the_rules():
    broken = [f"{place}: {problem}" for place, text in texts_of_docs() for problem in problems(text)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("old", OLD_SENTENCES)
def test_what_readers_stumbled_over_is_nowhere(old):
    texts = (*texts_of_code(), *texts_of_pages(), *texts_of_docs())
    places = [place for place, text in texts if old.lower() in text.lower()]
    assert not places


def test_texts_stand_with_their_places_and_docstrings_do_not():
    texts = list(texts_of(ROOT / "pages" / "runs.py"))
    place = next(place for place, text in texts if text.startswith("Runs are kept until you delete them."))
    assert place.startswith("pages/runs.py:")
    docstring = "What has been computed?"
    assert docstring in (ROOT / "pages" / "runs.py").read_text("utf-8")
    assert not any(text.startswith(docstring) for _, text in texts)


def test_texts_of_templates_are_what_stands_between_their_tags():
    texts = [text for _, text in texts_of_template(ROOT / "ui" / "shell" / "access.html")]
    assert "Open the printed address" in texts
    assert "Is the printed address lost? code prints it again." in texts
    assert not any("font" in text or "%}" in text for text in texts)


def test_many_texts_are_looked_at():
    assert len(texts_of_code()) > 1500
    assert any(text == "Predicted as" for _, text in phrases_of_code())
    assert len(texts_of_pages()) > 50
    assert len(texts_of_docs()) > 150
