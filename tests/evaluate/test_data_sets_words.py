"""Words are counted once each, and called characteristic only where chance would not do it."""

from collections import Counter

import numpy as np
import pytest

from touchstone.core.evaluate.data_sets import count_words, english_stop_words
from touchstone.core.represent.word_vectors import tokenize


def corpus(n_classes: int, n_texts: int, *, seed: int = 0) -> tuple[list[str], np.ndarray, list[str]]:
    """Texts of 12 words drawn by Zipf's law from 500, the same for every class, and a word of its class in half."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(500)])
    share = 1 / (np.arange(500) + 1)
    y = np.arange(n_texts) % n_classes
    drawn = rng.choice(words, size=(n_texts, 12), p=share / share.sum())
    own = rng.random(n_texts) < 0.5
    texts = [" ".join([*line, f"only{code}"] if mine else line) for line, code, mine in zip(drawn, y, own, strict=True)]
    return texts, y, [f"class {i}" for i in range(n_classes)]


@pytest.mark.parametrize("n_classes", [2, 100])
def test_words_are_those_of_a_counter(n_classes):
    texts, y, names = corpus(n_classes, 3000)
    found = count_words(texts, y, names)
    truth = Counter(word for text in texts for word in tokenize(text))
    assert found.n_words == truth.total()
    assert {word.word: word.n for word in found.frequent(most=600)} == dict(truth)
    of_class = Counter(word for text, code in zip(texts, y, strict=True) if code == 1 for word in tokenize(text))
    frequent = found.frequent(names[1], most=5)
    assert [word.n for word in frequent] == [n for _, n in of_class.most_common(5)]
    assert frequent[0].share_of_texts == frequent[0].n_texts / (y == 1).sum()


@pytest.mark.parametrize("n_classes", [2, 100])
def test_a_class_s_own_word_comes_first_and_stands(n_classes):
    texts, y, names = corpus(n_classes, 4000)
    found = count_words(texts, y, names)
    for code, name in enumerate(names):
        first = found.characteristic(name, most=1)[0]
        assert (first.word, first.stands) == (f"only{code}", True)


def test_where_classes_are_alike_no_word_stands():
    n_false = 0
    for seed in range(40):
        texts, y, names = corpus(2, 400, seed=seed)
        alike = [" ".join(word for word in text.split() if not word.startswith("only")) for text in texts]
        found = count_words(alike, y, names)
        n_false += any(word.stands for name in names for word in found.characteristic(name))
    assert n_false <= 6  # 5 % of 40 corpora are 2; more than 6 would come once in 200 times


def test_stop_words_are_set_apart_without_changing_what_is_counted():
    texts = ["the cat sat", "the dog ran", "the the cat"] * 4
    found = count_words(texts, np.array([0, 1, 0] * 4), ("cat", "dog"))
    kept = found.without(english_stop_words())
    assert found.frequent(most=1)[0].word == "the"
    assert [word.word for word in kept.frequent(most=2)] == ["cat", "dog"]
    assert kept.n_words == found.n_words
    assert "the" not in {word.word for word in kept.characteristic("cat")}


def test_one_long_text_does_not_make_a_word_characteristic():
    texts = ["a b c", "a b d", "a c d"] * 40
    texts[0] = "burst " * 500
    found = count_words(texts, np.arange(120) % 2, ("even", "odd"))
    assert found.frequent("even", most=1)[0].word == "burst"
    assert "burst" not in {word.word for word in found.characteristic("even")}


def test_texts_without_words_are_texts_all_the_same():
    found = count_words(["", "...", "word"], np.array([0, 1, 1]), ("a", "b"))
    assert found.frequent("b")[0].share_of_texts == 0.5
    assert found.frequent("a") == found.characteristic("a") == ()
    nothing = count_words(["", ""], np.array([0, 1]), ("a", "b"))
    assert nothing.frequent() == ()
    assert nothing.table().empty
