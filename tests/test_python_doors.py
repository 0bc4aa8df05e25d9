"""Do arrays, frames and models in memory come to what they mean, or to an error that says what to do? Never to less."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from touchstone import check, compare, dataset, few_labels, predictions
from touchstone.core.data import DataError
from touchstone.core.models.errors import ModelError
from touchstone.core.models.live import lent
from touchstone.core.models.load import judge, read_stored

Y = np.tile([0, 1, 2], 40)


# Which class is it? Names, codes, numbers and what is missing.


@pytest.mark.parametrize(
    ("true", "predicted", "names"),
    [
        (Y, Y.astype(float), ("0", "1", "2")),
        (Y.astype(float), Y, ("0", "1", "2")),
        (Y, [f"LABEL_{each}" for each in Y], ("0", "1", "2")),
        (Y, torch.tensor(Y), ("0", "1", "2")),
        (Y.tolist(), list(torch.tensor(Y)), ("0", "1", "2")),
        (Y, list(Y.astype(np.float32)), ("0", "1", "2")),
        (pd.Series(Y, dtype="category"), pd.Series(Y, dtype="Int64"), ("0", "1", "2")),
        (Y == 1, (Y == 1).astype(int), ("0", "1")),
        (np.array(["Cat", "dog", "fox"])[Y], np.array(["cat", "Dog", "FOX"])[Y], ("FOX", "Dog", "cat")),
    ],
)
def test_the_same_classes_spelled_otherwise_are_the_same(true, predicted, names):
    made = predictions(true, predicted)
    assert made.accuracy == 1
    assert set(made.class_names) == {*names} or {each.lower() for each in made.class_names} == {"cat", "dog", "fox"}


def test_names_against_codes_are_asked_about_and_class_names_answer():
    names = np.array(["zero", "one", "two"])
    with pytest.raises(DataError, match=r"Which predicted name stands for which class\? .* class_names="):
        predictions(names[Y], Y)
    made = predictions(names[Y], Y, class_names=names)
    assert (made.accuracy, made.class_names) == (1, ("zero", "one", "two"))
    assert predictions(Y, names[Y], class_names=names).accuracy == 1
    assert predictions(Y, Y, class_names=names).class_names == ("zero", "one", "two")


def test_codes_that_count_from_one_are_no_wrong_answers():
    with pytest.raises(DataError, match="as if one of them counted from 1"):
        predictions(Y, Y + 1)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_what_is_missing_is_no_class(missing):
    gaps = np.array(["a", "b", missing, "a", missing, "b"], dtype=object)
    whole = np.array(list("ababab"))
    for ask in (
        lambda: predictions(gaps, whole),
        lambda: predictions(whole, gaps),
        lambda: dataset(np.zeros((6, 2)), gaps),
        lambda: dataset(np.zeros((6, 2)), whole, sources=gaps),
        lambda: dataset(np.zeros((6, 2)), whole, unit=gaps),
    ):
        with pytest.raises(DataError, match=r"missing \(None or NaN\) in 2 rows of 6, first in row 2"):
            ask()
    with pytest.raises(DataError, match="y_true is missing"):
        predictions(["a", "b", missing, "a"], list("abab"))
    numbers = np.array([0, 1, np.nan, 1])
    with pytest.raises(DataError, match="y is missing"):
        dataset(np.zeros((4, 2)), numbers)


def test_the_order_of_classes_can_be_said():
    made = dataset(np.zeros((120, 2)), Y, class_names=["zero", "one", "two"])
    assert (made.class_names, made.y.tolist()) == (("zero", "one", "two"), Y.tolist())
    named = dataset(np.zeros((120, 2)), np.array(["zero", "one", "two"])[Y], class_names=["zero", "one", "two"])
    assert named.y.tolist() == Y.tolist()
    with pytest.raises(DataError, match="'3' is none of the classes, a, b"):
        dataset(np.zeros((4, 2)), [0, 1, 3, 0], class_names=["a", "b"])


def test_a_comparison_of_what_was_read_otherwise_says_no_fall():
    rng = np.random.default_rng(0)
    sets = []
    for n in (400, 300):
        y = rng.integers(0, 2, n)
        said = np.where(rng.random(n) < 0.9, y, 1 - y)
        sets.append(predictions(y, [f"LABEL_{each}" for each in said], confidence=rng.uniform(0.5, 1, n)))
    assert "falls by" not in compare(*sets).verdict.headline


# What are pixels divided by, and where do their channels stand?


def test_pixels_are_scaled_as_those_of_files_or_as_is_said():
    digits = load_digits()
    assert dataset(digits.images, digits.target).scale == 16
    assert dataset(digits.images / 16, digits.target).scale == 1
    assert dataset(digits.images.astype(np.uint8) * 15, digits.target).scale == 255
    said = dataset(digits.images, digits.target, scale=32)
    assert (said.scale, said.x.max()) == (32, 0.5)
    with pytest.raises(DataError, match="say what they are divided by, such as scale=255"):
        dataset(digits.images * 0.7, digits.target)
    assert dataset(digits.images * 0.7, digits.target, scale=16).x.max() == pytest.approx(0.7)
    with pytest.raises(DataError, match="Divided by 8"):
        dataset(digits.images, digits.target, scale=8)


def test_channels_first_are_told_apart_from_pictures_of_three_lines():
    x = torch.rand(50, 3, 8, 8, requires_grad=True)
    y = np.tile([0, 1], 25)
    with pytest.raises(DataError, match=r"\(n, channels, height, width\).* give x.transpose\(0, 2, 3, 1\)"):
        dataset(x, y)
    assert dataset(x.detach().permute(0, 2, 3, 1), y).x.shape == (50, 8, 8, 3)


# What do a model's outputs stand for, and is it left as it was?


@pytest.fixture(scope="module")
def words():
    """A data set of three classes by name, and a model that was trained on their codes in another order."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 60)
    x = rng.normal(size=(180, 4)) + 4 * np.eye(3, 4)[y]
    names = np.array(["zero", "one", "two"])
    data = dataset(x, names[y], part=np.where(np.arange(180) < 120, "train", "test"))
    return data, x, y, names


def test_a_model_of_codes_says_what_they_stand_for_or_is_asked(words):
    data, x, y, names = words
    assert data.class_names == ("one", "two", "zero")
    on_codes = LogisticRegression().fit(x, y)
    with pytest.raises(ModelError, match=r"trained on codes, 0 to 2; .* class_names=data.class_names where"):
        check("average_case", data, model=on_codes)

    def accuracy(model, class_names=None):
        with lent(model, data, class_names) as stored:
            logits = read_stored(stored, data).logits(torch.from_numpy(x).float())
        return (logits.argmax(1).numpy() == data.y).mean()

    assert accuracy(on_codes, names) > 0.95
    assert accuracy(LogisticRegression().fit(x, data.y), data.class_names) > 0.95
    assert accuracy(LogisticRegression().fit(x, names[y])) > 0.95
    assert accuracy(on_codes.predict_proba, names) > 0.95
    with pytest.raises(ModelError, match="The model knows the classes a, b, c"):
        accuracy(on_codes, ["a", "b", "c"])
    asked = {"sigmas": (0.01,), "estimators": ("monte_carlo",)}
    by_code = check("average_case", data, model=on_codes, class_names=names, **asked).table()
    by_name = check("average_case", data, model=LogisticRegression().fit(x, names[y]), **asked).table()
    pd.testing.assert_frame_equal(by_code, by_name)
    with pytest.raises(DataError, match="class_names= says what the outputs of a model in memory stand for"):
        check("cluster_folds", data, class_names=names)


def test_a_training_loop_goes_on_as_if_nobody_had_looked(words):
    """Dropout, batch normalisation, frozen parts, gradients and random numbers are as they were."""
    data, x, y, _ = words
    inputs, targets = torch.from_numpy(x).float(), torch.from_numpy(y)

    def losses(*, looks: bool) -> list[float]:
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Linear(4, 16), torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 3)
        )
        net[1].eval()  # frozen on purpose
        optimiser, curve = torch.optim.Adam(net.parameters(), lr=0.01), []
        for step in range(12):
            loss = torch.nn.functional.cross_entropy(net(inputs), targets)
            optimiser.zero_grad()
            loss.backward()
            if looks and step % 4 == 1:
                check("average_case", data, model=net, sigmas=(0.1,), estimators=("monte_carlo", "mmse"))
                assert net.training
                assert not net[1].training
                assert net[2].training
            optimiser.step()
            curve.append(loss.item())
        return curve

    assert losses(looks=True) == losses(looks=False)


# Who was right? Nothing but yes and no.


@pytest.mark.parametrize("answers", [[True, np.nan, False], ["True", "False", "True"], [True, None, True], [1, 2, 0]])
def test_answers_that_are_neither_right_nor_wrong_are_refused(answers):
    labels = few_labels(np.linspace(0.5, 1, 200), n_labels=30)
    with pytest.raises(DataError, match=r"correct holds .* at position \d+ \(counted from 0\). Say True or False"):
        labels.accuracy([True] * 20 + answers)
    with pytest.raises(DataError, match="known_correct holds"):
        few_labels(np.linspace(0.5, 1, 200), n_labels=30, known_confidence=[0.9] * len(answers), known_correct=answers)


def test_right_and_wrong_may_be_ones_and_zeros():
    labels = few_labels(np.linspace(0.5, 1, 200), n_labels=30)
    right = np.arange(30) % 5 > 0
    assert labels.accuracy(right.astype(int)) == labels.accuracy(right)


def test_a_class_of_one_sample_is_set_aside_and_said():
    rng = np.random.default_rng(0)
    y = np.array(["often"] * 60 + ["seldom"] * 60 + ["rare"])
    x = rng.normal(size=(121, 3))
    asked = {"models": ("nearest_neighbours",), "n_repeats": 2}
    result = check("source_robustness", dataset(x, y), **asked)
    assert result.verdict.findings[0] == "Left out: 1 sample of rare."
    left = check("source_robustness", dataset(x[:120], y[:120]), **asked)
    assert result.verdict.headline == left.verdict.headline
    with pytest.raises(DataError, match=r"5 sources cannot be found in rare \(2 rows\)"):
        check("source_robustness", dataset([*x, x[120]], [*y, "rare"]), **asked)


# Is a model that was fitted on a frame asked by the names of its columns? And one that gives an object with logits?


def frame_of_wine() -> tuple[pd.DataFrame, np.ndarray]:
    bunch = load_wine(as_frame=True)
    return bunch.data, bunch.target_names[bunch.target]


def test_columns_of_a_frame_are_found_by_name_in_whatever_order():
    frame, y = frame_of_wine()
    pipeline = make_pipeline(
        make_column_transformer((StandardScaler(), ["proline", "hue"]), ("passthrough", ["flavanoids", "alcohol"])),
        LogisticRegression(max_iter=5_000),
    )
    shuffled = frame[list(frame)[::-1]]
    pipeline.fit(shuffled, y)
    data = dataset(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn only warns of names that it does not see
        with lent(pipeline, data) as stored:
            judged = judge(read_stored(stored, data), data)
    assert judged.accuracy == pipeline.score(shuffled, y) > 0.9


def test_columns_that_the_data_lack_are_named():
    frame, y = frame_of_wine()
    model = GaussianNB().fit(frame.rename(columns={"hue": "shade"}), y)
    with pytest.raises(ModelError, match="columns that the data lack: shade"), lent(model, dataset(frame, y)) as stored:
        read_stored(stored, dataset(frame, y))


def test_the_logits_in_what_a_module_gives_are_its_outputs():
    frame, y = frame_of_wine()
    data = dataset(frame, y)

    class Wrapped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(13, 3)

        def forward(self, x: torch.Tensor) -> SimpleNamespace:
            return SimpleNamespace(logits=self.layer(x), hidden_states=None)

    wrapped = Wrapped()
    with lent(wrapped, data) as stored, lent(wrapped.layer, data) as bare:
        x = torch.tensor(frame.to_numpy(), dtype=torch.float32)
        given, expected = (read_stored(each, data).logits(x) for each in (stored, bare))
    assert torch.equal(given, expected)
