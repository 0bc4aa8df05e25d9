"""One rule says what a word is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.represent.word_vectors import n_tokens, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t--- ... '", []),
        ("Don't STOP", ["don't", "stop"]),
        ("don’t", ["don't"]),
        ("'quoted' dogs'", ["quoted", "dogs"]),
        ("do n't 's", ["do", "n't", "s"]),
        ("snake_case x2", ["snake_case", "x2"]),
        ("Äpfel und Öl", ["äpfel", "und", "öl"]),
        ("A\u0308pfel", ["äpfel"]),
        ("今天天气很好。是吗", ["今天天气很好", "是吗"]),
    ],
)
def test_words_are_what_the_rule_says(text, words):
    assert tokenize(text) == words


def test_case_is_kept_where_asked():
    assert tokenize("New York’s", lower=False) == ["New", "York's"]


@given(st.lists(st.text(max_size=30), max_size=5))
def test_every_text_is_counted_by_its_words(texts):
    assert n_tokens(texts).tolist() == [len(tokenize(text)) for text in texts]


@given(st.text(max_size=30), st.text(max_size=30))
def test_what_stands_in_two_lines_are_the_words_of_both(first, second):
    assert tokenize(f"{first}\n{second}") == tokenize(first) + tokenize(second)
