"""Near texts are those that a comparison of all pairs finds, also where most of them are copies."""

import tracemalloc

import numpy as np
import pytest

from touchstone.core.represent.duplicates import near_duplicate_texts
from touchstone.core.represent.word_vectors import tokenize


def test_near_texts_are_those_that_comparing_all_finds():
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(4)
    share = 1 / np.arange(1, 301)
    words = np.array([f"w{i}" for i in range(300)])
    texts = [" ".join(rng.choice(words, size=rng.integers(1, 15), p=share / share.sum())) for _ in range(1200)]
    texts += [f"{text} w{i % 300}" for i, text in enumerate(texts[:200])] + ["...", ""]
    weights = TfidfVectorizer(analyzer=tokenize).fit_transform(texts).toarray()
    truth = weights @ weights.T
    for similarity in (0.5, 0.8, 0.95, 1.0):
        pairs, cosines = near_duplicate_texts(np.array(texts, dtype=object), similarity=similarity)
        expected = np.argwhere(np.triu(truth >= similarity - 1e-6, k=1))
        assert {tuple(pair) for pair in pairs.tolist()} == {tuple(pair) for pair in expected.tolist()}
        assert np.allclose(cosines, truth[pairs[:, 0], pairs[:, 1]])
        assert (np.diff(cosines) <= 1e-12).all()
    few, _ = near_duplicate_texts(np.array(texts, dtype=object), similarity=0.5, most=50)
    everything, _ = near_duplicate_texts(np.array(texts, dtype=object), similarity=0.5)
    assert np.array_equal(few, everything[:50])


def test_texts_of_other_rare_words_are_not_near():
    texts = np.array(["a backbone", "a pathetically", "donna", "lecherous"] + ["a film and a plot"] * 50, dtype=object)
    pairs, _ = near_duplicate_texts(texts)
    assert pairs.min() >= 4
    assert len(pairs) == 50 * 49 / 2


def test_texts_without_any_word_have_no_near_ones():
    pairs, cosines = near_duplicate_texts(np.array(["", "...", "!"], dtype=object))
    assert pairs.shape == (0, 2)
    assert len(cosines) == 0


def test_copies_of_near_texts_are_paired_with_each_other_and_with_all_of_the_other():
    rng = np.random.default_rng(5)
    contents = ["one two three four", "Four, three: two one!", "one two three four five", "six seven", "...", "..."]
    texts = np.array([contents[which] for which in rng.integers(len(contents), size=80)], dtype=object)
    words = [" ".join(sorted(tokenize(text))) for text in texts]
    near = {("four one three two", "five four one three two")}
    same = [(i, j) for i in range(80) for j in range(i + 1, 80) if words[i] and words[i] == words[j]]
    other = [(i, j) for i in range(80) for j in range(i + 1, 80) if {(words[i], words[j]), (words[j], words[i])} & near]
    pairs, cosines = near_duplicate_texts(texts, similarity=0.7)
    assert [tuple(pair) for pair in pairs[: len(same)].tolist()] == same
    assert sorted(tuple(pair) for pair in pairs[len(same) :].tolist()) == other
    assert (cosines[: len(same)] == 1).all()
    assert (cosines[len(same) :] < 1).all()
    for most in (1, 7, len(same) + 5):
        assert np.array_equal(near_duplicate_texts(texts, similarity=0.7, most=most)[0], pairs[:most])


@pytest.mark.evidence
def test_many_copies_and_many_candidates_take_little_memory():
    line = "please call our line now to claim the free prize that we hold for you today"
    copies = [line] * 20_000
    variants = [f"{line} {at} {at + 1} {at + 2}" for at in range(3000)]
    tracemalloc.start()
    pairs, _ = near_duplicate_texts(np.array(copies + variants, dtype=object), most=20_000)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert len(pairs) == 20_000
    assert peak < 150  # megabytes; 200 million pairs of copies would take 3,000
