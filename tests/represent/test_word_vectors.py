"""Word vectors of the texts themselves: words that are used alike lie together, whatever the order of the work."""

import numpy as np
import pytest

from touchstone.core.data import DataError, Dataset
from touchstone.core.represent import encode
from touchstone.core.represent.word_vectors import _SMOOTHING, _co_occurrences, _ppmi, tokenize, train_word_vectors

FRUIT = ["ripe", "sweet", "juicy", "peel", "pie"]
METAL = ["forged", "heavy", "molten", "rust", "alloy"]


def two_subjects(n: int = 400) -> list[str]:
    rng = np.random.default_rng(0)
    names = {0: ["plum", "melon", *FRUIT], 1: ["iron", "copper", *METAL]}
    return [" ".join(["the", *rng.choice(names[row % 2], 6)]) for row in range(n)]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_words_of_one_subject_lie_together():
    trained = train_word_vectors(two_subjects(), n_components=2)  # two subjects span two
    plum, melon, iron, copper = (
        trained.vectors[trained.positions[word]] for word in ("plum", "melon", "iron", "copper")
    )
    assert min(cosine(plum, melon), cosine(iron, copper)) > 0.9
    assert max(cosine(plum, iron), cosine(melon, copper)) < 0.2


def test_texts_of_one_subject_lie_together():
    texts = two_subjects()
    data = Dataset("t", "text", texts, np.arange(400) % 2, ("a", "b"), [str(row) for row in range(400)])
    features = encode(data, "word_vectors")
    centres = np.stack([features[code::2].mean(axis=0) for code in (0, 1)])
    nearest = np.linalg.norm(features[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == data.y).all()


def obvious_counts(documents: list[list[str]], positions: dict[str, int], window: int) -> np.ndarray:
    counts = np.zeros((len(positions), len(positions)))
    for document in documents:
        for i, word in enumerate(document):
            for j, other in enumerate(document):
                if i != j and abs(i - j) <= window and word in positions and other in positions:
                    counts[positions[word], positions[other]] += 1
    return counts


@pytest.mark.parametrize("window", [1, 2, 5, 50])
def test_pairs_are_counted_within_the_window_and_the_text(window):
    rng = np.random.default_rng(window)
    documents = [rng.choice(list("abcdef"), rng.integers(0, 9)).tolist() for _ in range(12)]
    positions = {word: position for position, word in enumerate("abcd")}
    expected = obvious_counts(documents, positions, window)
    np.testing.assert_array_equal(_co_occurrences(documents, positions, window).toarray(), expected)


def test_weights_are_what_the_formula_says():
    documents = [tokenize(text) for text in two_subjects(40)]
    words = sorted({word for document in documents for word in document})
    counts = _co_occurrences(documents, {word: position for position, word in enumerate(words)}, 3).toarray()
    p_both = counts / counts.sum()
    p_word = counts.sum(axis=1) / counts.sum()
    p_context = counts.sum(axis=0) ** _SMOOTHING / (counts.sum(axis=0) ** _SMOOTHING).sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log2(p_both / np.outer(p_word, p_context)), 0)
    from scipy.sparse import csr_array

    np.testing.assert_allclose(_ppmi(csr_array(counts)).toarray(), expected, atol=1e-12)


def test_features_are_means_of_known_words_and_the_rest_is_counted():
    trained = train_word_vectors(["red fox red", "red hen", "blue sky", "Blue"], min_count=2)
    assert set(trained.positions) == {"red", "blue"}
    means = trained.means(["RED red", "red blue hen", "hen", "", "..."])
    red, blue = (trained.vectors[trained.positions[word]] for word in ("red", "blue"))
    np.testing.assert_allclose(means.features, [red, (red + blue) / 2, 0 * red, 0 * red, 0 * red])
    assert (means.n_words, means.n_unknown_words, means.n_unknown_texts) == (6, 2, 3)


def test_the_commonest_words_are_kept_and_ties_go_by_the_alphabet():
    trained = train_word_vectors(["b c a", "c a b", "d c d c"], max_words=3)
    assert list(trained.positions) == ["c", "a", "b"]


def test_twice_is_bit_for_bit_once():
    first, second = (train_word_vectors(two_subjects()) for _ in range(2))
    assert first.vectors.tobytes() == second.vectors.tobytes()


@pytest.mark.parametrize("texts", [["a b", "c d"], ["", "..."]])
def test_texts_without_a_repeated_word_are_refused_with_a_remedy(texts):
    with pytest.raises(DataError, match=r"None of the words in the 2 texts occurs 2 times.* tfidf_svd"):
        train_word_vectors(texts)


@pytest.mark.parametrize("texts", [["a", "a"], ["a a a"], ["a b", "a b"]])
def test_tiny_vocabularies_are_a_normal_case(texts):
    assert np.isfinite(train_word_vectors(texts).means(texts).features).all()
