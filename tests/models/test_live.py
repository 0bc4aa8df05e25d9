"""Is a model in memory asked in its own form, be it of texts, of a frame with names in it, or of pictures?

What it gives by itself, for the very samples as somebody else holds them, is the truth here.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from touchstone import check, dataset
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.categories import MOST_NAMES, column_of, with_indicators
from touchstone.core.models.errors import ModelError
from touchstone.core.models.live import lent
from touchstone.core.models.load import model_inputs, read_stored

pytestmark = pytest.mark.usefixtures("one_thread")
RNG = np.random.default_rng(0)
N = 200
MOOD = RNG.choice(["good", "bad"], N)
WORDS = {"good": ["great", "lovely", "fine"], "bad": ["awful", "sad", "poor"]}
TEXTS = [" ".join([*RNG.choice(["film", "story", "time"], 4), RNG.choice(WORDS[mood])]) for mood in MOOD]
PART = np.where(np.arange(N) < 150, "train", "test")


def probabilities(model: object, data: Dataset, class_names: list[str] | None = None) -> np.ndarray:
    """What the model says of every sample, in the order of the data's classes."""
    with lent(model, data, class_names) as stored, torch.inference_mode():
        held = read_stored(stored, data)
        return held.logits(model_inputs(held, data)).softmax(dim=1).numpy()


# Texts.


@pytest.fixture(scope="module")
def films() -> Dataset:
    return dataset(TEXTS, MOOD, part=PART)


@pytest.fixture(scope="module")
def reader():
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS[:150], MOOD[:150])


def test_a_pipeline_reads_the_texts_themselves(films, reader):
    order = [reader.classes_.tolist().index(name) for name in films.class_names]
    np.testing.assert_allclose(probabilities(reader, films), reader.predict_proba(TEXTS)[:, order], rtol=1e-6)


@pytest.mark.parametrize("question", ["test_quality", "covariate_shift", "guided_tests"])
def test_questions_that_need_no_inputs_of_numbers_are_asked_of_it(question, films, reader):
    assert check(question, films, model=reader).verdict.headline


def test_noise_is_added_to_numbers_alone(films, reader):
    with pytest.raises(ModelError, match="Noise is added to numbers"):
        check("average_case", films, model=reader)


def test_vectors_that_came_along_go_to_the_model_that_takes_them(films, reader):
    vectors = TfidfVectorizer().fit_transform(TEXTS).toarray()
    beside = films.with_vectors(vectors, "tfidf")
    of_vectors = LogisticRegression().fit(vectors, MOOD)
    order = [of_vectors.classes_.tolist().index(name) for name in films.class_names]
    np.testing.assert_allclose(probabilities(of_vectors, beside), of_vectors.predict_proba(vectors)[:, order])
    np.testing.assert_allclose(probabilities(reader, beside), reader.predict_proba(TEXTS)[:, order])


def test_a_module_or_what_cannot_read_is_told_what_to_do(films):
    def illiterate(_: object) -> None:
        raise ValueError("no idea")

    with pytest.raises(ModelError, match="takes numbers, data holds texts"):
        probabilities(torch.nn.Linear(3, 2), films)
    with pytest.raises(ModelError, match=r"cannot be asked about the texts of data \(no idea\)"):
        probabilities(illiterate, films)


# Scores with their labels, as pipelines of Hugging Face give them.


class Pipeline:
    """What is seen of such a pipeline from outside; `labels` are its model's, in order."""

    def __init__(self, task: str, labels: list[str], top_only: bool = False):
        self.task, self.top_only = task, top_only
        self.model = SimpleNamespace(config=SimpleNamespace(id2label=dict(enumerate(labels))))

    def __call__(self, inputs: list, top_k: int | None = 1) -> list:
        self.given = inputs
        assert top_k is None
        scored = [self.scores(each) for each in inputs]
        best_first = [sorted(each, key=lambda one: -one["score"]) for each in scored]
        return [each[0] for each in best_first] if self.top_only else best_first

    def scores(self, one: object) -> list[dict[str, object]]:
        first = len(one) % 7 / 7 if isinstance(one, str) else np.asarray(one).mean() / 255
        labels = [*self.model.config.id2label.values()]
        return [{"label": label, "score": p} for label, p in zip(labels, (first, 1 - first), strict=True)]


SECOND = np.array([1 - len(text) % 7 / 7 for text in TEXTS])


def test_scores_are_those_of_their_labels_whatever_stands_first(films):
    assert films.class_names == ("bad", "good")
    assert np.allclose(probabilities(Pipeline("text-classification", ["bad", "good"]), films)[:, 1], SECOND)
    assert np.allclose(probabilities(Pipeline("sentiment-analysis", ["good", "bad"]), films)[:, 0], SECOND)


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1"], ["POSITIVE", "NEGATIVE"]])
def test_other_labels_are_asked_about_and_class_names_answer_in_the_models_order(labels, films):
    model = Pipeline("text-classification", labels)
    with pytest.raises(ModelError, match="class_names="):
        probabilities(model, films)
    assert np.allclose(probabilities(model, films, ["good", "bad"])[:, 0], SECOND)


def test_the_best_class_alone_is_not_enough(films):
    with pytest.raises(ModelError, match="those of all"):
        probabilities(Pipeline("text-classification", ["bad", "good"], top_only=True), films)


def test_pictures_reach_a_pipeline_as_pictures():
    pixels = np.random.default_rng(1).random((40, 8, 6, 1))
    data = dataset(pixels, np.arange(40) % 2)
    model = Pipeline("image-classification", ["0", "1"])
    expected = (pixels * 255).round().mean(axis=(1, 2, 3)) / 255
    assert np.allclose(probabilities(model, data)[:, 0], expected, atol=1e-6)
    assert (model.given[0].mode, model.given[0].size) == ("RGB", (6, 8))


# Frames with names in them.


AGE, SEX = RNG.normal(40, 10, N), RNG.choice(["male", "female"], N)
FRAME = pd.DataFrame({"age": AGE, "sex": SEX, "port": RNG.choice(["S", "C=Q", "x"], N)})
SURVIVED = np.where((SEX == "female") + RNG.normal(0, 0.4, N) > 0.5, "yes", "no")


def test_a_model_of_a_frame_is_asked_with_its_names():
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["port", "sex"]), (StandardScaler(), ["age"])), LogisticRegression()
    ).fit(FRAME, SURVIVED)
    data = dataset(FRAME, SURVIVED, part=PART)
    assert data.feature_names == ("age", "sex=female", "sex=male", "port=C=Q", "port=S", "port=x")
    assert np.array_equal(data.x[:, 2], SEX == "male")
    np.testing.assert_allclose(probabilities(pipeline, data), pipeline.predict_proba(FRAME), rtol=1e-6)
    assert check("average_case", data, model=pipeline).verdict.headline


def test_names_come_back_as_they_were_and_empty_cells_stay_empty():
    cells = np.array(["b", None, "a", "b=a", float("nan")], dtype=object)
    made = with_indicators({"x": [1.0, 2, 3, 4, 5], "kind": cells}, "t")
    x = np.column_stack([*made.values()])
    assert column_of(x, [*made], "kind").tolist() == ["b", None, "a", "b=a", None]
    assert column_of(x, [*made], "x").tolist() == [1, 2, 3, 4, 5]
    assert column_of(x, [*made], "kin") is None


def test_texts_and_mixed_cells_of_a_frame_are_no_categories():
    many = FRAME.assign(name=[f"passenger {place}" for place in range(N)])
    with pytest.raises(DataError, match=f"column 'name' holds 200 different texts, more than the {MOST_NAMES}"):
        dataset(many, SURVIVED)
    with pytest.raises(DataError, match=r"column 'port' holds 3\.5 beside texts"):
        dataset(FRAME.assign(port=["S", 3.5] * (N // 2)), SURVIVED)


def test_dates_are_neither_and_cells_may_be_of_any_kind_of_empty():
    with pytest.raises(DataError, match=r"column 'when' holds .*2020.*Give it as texts or as numbers"):
        dataset(FRAME.assign(when=pd.Timestamp("2020-05-01")), SURVIVED)
    frame = FRAME.assign(port=pd.array([pd.NA, "S"] * (N // 2), dtype="string"), n=pd.array([1, 2] * (N // 2), "Int64"))
    data = dataset(frame, SURVIVED)
    assert data.feature_names == ("age", "sex=female", "sex=male", "port=S", "n")
    assert (data.x[:, 3].sum(), data.x[:, 4].sum()) == (N / 2, 1.5 * N)
    with pytest.raises(DataError, match="finite number: fill in or leave out what is missing"):
        dataset(frame.assign(n=pd.array([1, None] * (N // 2), "Int64")), SURVIVED)


def test_one_column_of_texts_is_texts():
    assert dataset(pd.DataFrame({"review": TEXTS}), MOOD).x.tolist() == TEXTS


# Networks behind other interfaces.


def test_a_network_behind_scikit_learns_interface_gets_its_own_precision():
    class Net:
        def __init__(self) -> None:
            torch.manual_seed(0)
            self.module_, self.classes_ = torch.nn.Linear(2, 2), ["no", "yes"]

        def predict_proba(self, x: np.ndarray) -> np.ndarray:
            with torch.inference_mode():
                return self.module_(torch.from_numpy(x)).softmax(dim=1).numpy()

    x = np.column_stack([AGE / 40, SEX == "male"])
    net = Net()
    np.testing.assert_allclose(
        probabilities(net, dataset(x, SURVIVED)), net.predict_proba(x.astype(np.float32)), rtol=1e-5
    )


@pytest.mark.parametrize("wrap", [lambda z: (z, None), lambda z: {"loss": None, "logits": z}])
def test_logits_are_found_among_several_outputs(wrap):
    class Several(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> object:
            return wrap(self.layer(x))

    several, data = Several(), dataset(np.column_stack([AGE, AGE**2]) / 40, SURVIVED)
    assert np.array_equal(probabilities(several, data), probabilities(several.layer, data))


def test_a_function_may_give_tensors_that_know_their_gradients(films):
    weights = torch.ones(2, requires_grad=True)

    def model(texts: list[str]) -> torch.Tensor:
        return torch.tensor([[len(text) / 5, 1.0] for text in texts]) * weights

    expected = model(TEXTS).softmax(dim=1).detach().numpy()
    np.testing.assert_allclose(probabilities(model, films), expected, rtol=1e-5)
