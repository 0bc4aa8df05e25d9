import numpy as np
import pytest

from touchstone.core.data.errors import DataError
from touchstone.core.models.inputs import N_COMPONENTS, fit_vectors


def texts(n: int, n_words: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([" ".join(f"w{word}" for word in rng.integers(0, n_words, 12)) for _ in range(n)], dtype=object)


def test_tables_are_standardised_by_the_training_part():
    train, test = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[5.0, 6.0]])
    vectors = fit_vectors(train, seed=0)
    np.testing.assert_allclose(vectors.transform(test), [[3.0, 1.0]])


def test_pixels_stay_as_they_are():
    x = np.random.default_rng(0).random((3, 4, 5, 2), dtype=np.float32)
    np.testing.assert_array_equal(fit_vectors(x, seed=0).transform(x), x.reshape(3, 40))


@pytest.mark.parametrize(("n", "n_words", "width"), [(300, 500, N_COMPONENTS), (40, 500, 40), (300, 60, 60)])
def test_texts_become_vectors_of_one_total_variance(n, n_words, width):
    x = texts(n, n_words)
    vectors = fit_vectors(x, seed=0).transform(x)
    assert vectors.shape == (n, width)
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-8)
    assert (vectors**2).sum(axis=1).mean() == pytest.approx(N_COMPONENTS)


def test_the_same_seed_gives_the_same_vectors():
    x = texts(300, 500)
    first, second = (fit_vectors(x, seed=8).transform(x) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_length_of_a_text_does_not_count():
    x = texts(300, 500)
    vectors = fit_vectors(x, seed=0)
    np.testing.assert_allclose(
        vectors.transform(np.array(["w1 w2 w3"], dtype=object)),
        vectors.transform(np.array(["w3 w2 w1 w3 w1 w2"], dtype=object)),
        atol=1e-8,
    )


def test_texts_without_known_words_are_all_alike_and_finite():
    x = texts(200, 300)
    unknown = fit_vectors(x, seed=0).transform(np.array(["", "quite new", "?!"], dtype=object))
    assert np.isfinite(unknown).all()
    np.testing.assert_array_equal(unknown[0], unknown[1])
    np.testing.assert_array_equal(unknown[0], unknown[2])


@pytest.mark.parametrize("x", [["same words"] * 4, ["a"], ["語 字", "字"]])
def test_little_text_is_enough(x):
    x = np.array(x, dtype=object)
    assert np.isfinite(fit_vectors(x, seed=0).transform(x)).all()


def test_texts_without_a_single_word_are_refused():
    with pytest.raises(DataError, match="None of the 2 training texts holds a word"):
        fit_vectors(np.array(["?!", ""], dtype=object), seed=0)
