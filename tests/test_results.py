"""What becomes of a result? It is shown, kept in a file, handed on, and held beside others."""

import dataclasses
import json
import math
import pickle
import re
import string
import zipfile
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from markupsafe import escape
from plotly.io import from_json
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.conftest import ONE_TYPE_OF_TEXTS
from tests.contradictions import contradictions, shown_of
from touchstone import RESULT_SCHEMA, Result, check, collect, compare, dataset, load, plan, predictions, slices
from touchstone.core.data import DataError, load_example
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.wording import Verdict, in_a_row, resting
from touchstone.core.public.asking import QUESTIONS
from touchstone.core.public.result import Basis
from touchstone.core.report.kept import read_answer
from touchstone.core.report.parts import Answer, Beside, Figure, KeyNumber, Note, Quantity, Section, Table

RNG = np.random.default_rng(7)
HOW = {
    "cluster_folds": {"schemes": ("random_folds", "kmeans_folds"), "seeds": (0,), "n_folds": 3},
    "source_robustness": {"models": ("logistic",), "n_repeats": 3},
    "data_set_adequacy": {"models": ("logistic",), "n_repeats": 3, "sizes": (60, 0)},
    "average_case": {"sigmas": (0.5,), "n_samples": 40, "n_audit": 10, "audit_draws": 100, "audit_half_width": None},
    "guided_tests": {"frequency": 1.0},
    "covariate_shift": {"n_resplits": 19},
}
OF_NO_DATA = ("model_comparison", "matched_subsets", "sample_sizes", "weak_slices")


@pytest.fixture(scope="module")
def results():
    """One of every kind."""
    wine = load_example("wine")
    part = np.where(np.arange(wine.n_samples) % 3 == 0, "test", "train")
    names = np.array(wine.class_names)[wine.y]
    wine = dataset(wine.x, names, part=part, name="wine")
    train = part == "train"
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(wine.x[train], names[train])
    rng = np.random.default_rng(7)
    truth = np.tile(["cat", "dog"], 200)
    sides = [
        predictions(truth, np.where(rng.random(400) < share, truth, "cat"), confidence=rng.uniform(0.5, 1, 400))
        for share in (0.9, 0.7)
    ]
    found = {"sample_sizes": plan(difference=0.02), "model_comparison": compare(*sides)}
    age = np.where(sides[1].correct, rng.uniform(20, 70, 400), rng.uniform(60, 90, 400))
    found["weak_slices"] = slices(sides[1], {"age": age})
    found["matched_subsets"] = compare(*sides, design="independent")
    for question in QUESTIONS:
        by = {"model": model} if question in (*list(HOW)[3:], "test_quality") else {}
        found[question] = check(question, wine, **by, **HOW.get(question, {}))
    return found


EVERY = pytest.mark.parametrize("question", [*QUESTIONS, *OF_NO_DATA])


@EVERY
def test_what_a_result_says_fits_the_published_schema(results, question):
    content = json.loads(results[question].to_json())
    Draft202012Validator(RESULT_SCHEMA).validate(content)
    assert content["question"] == question
    assert question == "sample_sizes" or content["fingerprints"]


def test_the_schema_is_one_and_closed():
    Draft202012Validator.check_schema(RESULT_SCHEMA)
    assert RESULT_SCHEMA["additionalProperties"] is False
    assert set(RESULT_SCHEMA["properties"]["question"]["enum"]) == {*QUESTIONS, *OF_NO_DATA}


@EVERY
def test_a_kept_result_is_what_it_was(results, question, tmp_path):
    first = results[question]
    second = load(first.save(tmp_path / "kept.touchstone"))
    assert second == first
    assert hash(second) == hash(first)
    assert second.to_json() == first.to_json()
    assert repr(second) == repr(first)
    assert _told(second.verdict) == _told(first.verdict)
    assert second.answer.key_numbers == first.answer.key_numbers
    assert_equal(second.rows, first.rows)
    assert list(second.tables) == list(first.tables)
    for title, table in first.tables.items():
        assert_equal(second.tables[title], table)
    for title, make in first.answer.files.items():
        assert_equal(second.answer.files[title](), make())
    for before, after in zip(first.figures, second.figures, strict=True):
        for dark in (False, True):
            drawn = from_json(before.draw(dark=dark).to_json())
            assert after.draw(dark=dark).to_json() == drawn.to_json()


# The columns of a frame that has none are of no type.


def assert_equal(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """To the types where pandas has one type of texts, and one kind of missing ones."""
    if not ONE_TYPE_OF_TEXTS:
        one, other = (each.astype(object).where(each.notna(), None) for each in (one, other))
    pd.testing.assert_frame_equal(one, other, check_column_type=False)


@EVERY
def test_keeping_it_again_changes_nothing(results, question, tmp_path):
    first = results[question].save(tmp_path / "first.touchstone")
    second = load(first).save(tmp_path / "second.touchstone")
    for name in ("result.json", "answer.json"):
        before, after = (zipfile.ZipFile(file).read(name) for file in (first, second))
        assert after == before, name
    assert pickle.loads(pickle.dumps(results[question])) == results[question]


def test_muted_sentences_stay_muted_where_claims_are_kept(results, tmp_path):
    answer = results["matched_subsets"].answer
    kept = load(results["matched_subsets"].save(tmp_path / "kept.touchstone")).answer
    reasons = {answer.claims[0].kind: "known"}
    assert kept.muting(reasons).verdict == answer.muting(reasons).verdict != answer.verdict


@EVERY
def test_a_notebook_shows_verdict_numbers_and_figure(results, question):
    shown = results[question]._repr_html_()
    assert shown.count("<dt>") == min(4, len(results[question].answer.key_numbers))
    assert ("<iframe" in shown) == bool(results[question].figures)
    assert not re.findall(r"(?:src|href)=[\"']?https?:", shown), "nothing is fetched"


@EVERY
def test_its_report_is_one_page(results, question, tmp_path):
    page = results[question].report(tmp_path / "report.html").read_text("utf-8")
    assert str(escape(results[question].verdict.headline)) in page
    assert results[question].basis.title in page
    assert all(value in page for value in results[question].basis.fingerprints.values())


def test_results_side_by_side(results):
    named = collect(results)
    assert set(named["result"]) == {name for name, each in results.items() if each.quantities}
    assert len(named) == sum(len(each.quantities) for each in results.values())
    listed = collect([results["model_comparison"], results["matched_subsets"]])
    assert set(listed["result"]) == {0, 1}
    assert list(collect([]).columns) == list(listed.columns)


def test_no_kind_of_result_contradicts_itself(results):
    problems = {kind: contradictions(shown_of(result.answer)) for kind, result in results.items()}
    assert {kind: told for kind, told in problems.items() if told} == {}


def test_what_differs_is_not_equal(results):
    assert results["sample_sizes"] == plan(difference=0.02)
    assert results["sample_sizes"] != plan(difference=0.03)
    assert results["sample_sizes"] != 3


def test_figures_by_their_names(results):
    result = results["source_robustness"]
    key = result.figures[0].key
    assert result.figure(key).to_json() == result.figures[0].draw(dark=False).to_json()
    assert result.figure(key, dark=True).layout.paper_bgcolor != "#FFFFFF"
    with pytest.raises(DataError, match=f"no figure 'axis'.*{key}"):
        result.figure("axis")


def test_files_that_are_none(results, tmp_path):
    kept = results["sample_sizes"].save(tmp_path / "kept.touchstone")
    (tmp_path / "text").write_text("no result")
    with pytest.raises(DataError, match="text: this is no zip archive"):
        load(tmp_path / "text")
    with pytest.raises(DataError, match=r"missing.touchstone: the file cannot be read"):
        load(tmp_path / "missing.touchstone")
    with pytest.raises(DataError, match="cannot be written"):
        results["sample_sizes"].save(tmp_path / "nowhere" / "kept.touchstone")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("result.json", "{}")
    with pytest.raises(DataError, match=r"no kept result: answer.json is not in it"):
        load(other)
    with zipfile.ZipFile(kept) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    for damaged in ('{"os.system": "true"}', '{"answer": {"Dataset": {}}, "rows": {"table": 0}}', "[]", "{"):
        with zipfile.ZipFile(other, "w") as archive:
            for name, each in {**content, "answer.json": damaged.encode()}.items():
                archive.writestr(name, each)
        with pytest.raises(DataError, match="damaged, or of another version"):
            load(other)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
TEXTS = st.text(max_size=8)
NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=6)
INTERVALS = st.builds(Interval, NUMBERS, NUMBERS)
SENTENCES = st.lists(st.one_of(TEXTS, st.builds(resting, TEXTS, st.just("matched_subsets.falls"))), max_size=3).map(
    lambda texts: in_a_row(*texts)
)
CLAIMS = st.builds(
    Claim,
    st.just("matched_subsets.falls"),
    NUMBERS,
    INTERVALS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.sampled_from(["above", "below", "small", "undecided"]),
)
TABLES = st.builds(
    lambda numbers, texts: pd.DataFrame({"n": numbers[: len(texts)], "of": texts[: len(numbers)]}),
    st.lists(NUMBERS, max_size=4),
    st.lists(TEXTS, max_size=4),
)
KEY_NUMBERS = st.lists(st.builds(KeyNumber, TEXTS, TEXTS, TEXTS, st.none() | TEXTS, TEXTS), max_size=3).map(tuple)
PLAIN = st.one_of(
    TEXTS, st.builds(Note, TEXTS), KEY_NUMBERS, st.builds(lambda title, lines: Table(title, lines), TEXTS, TABLES)
)
PARTS = st.one_of(PLAIN, st.builds(Beside, st.lists(PLAIN, max_size=2).map(tuple)))
ANSWERS = st.builds(
    Answer,
    st.builds(
        Verdict,
        SENTENCES,
        SENTENCES,
        SENTENCES,
        st.lists(SENTENCES, max_size=2).map(tuple),
        st.lists(CLAIMS, max_size=2).map(tuple),
    ),
    KEY_NUMBERS,
    st.lists(st.builds(Section, TEXTS, st.lists(PARTS, max_size=3).map(tuple), TEXTS, st.booleans()), max_size=3).map(
        tuple
    ),
    st.lists(
        st.builds(Quantity, NAMES, st.lists(NAMES, max_size=2).map(tuple), NUMBERS, INTERVALS, st.integers(0, 9)),
        max_size=3,
    ).map(tuple),
    st.dictionaries(NAMES, TABLES.map(lambda table: partial(pd.DataFrame, table)), max_size=2),
)
BASES = st.builds(
    Basis,
    TEXTS,
    TEXTS,
    st.sampled_from(["", "paired", "independent"]),
    st.dictionaries(NAMES, TEXTS, max_size=2),
    st.dictionaries(NAMES, st.one_of(st.none(), st.booleans(), st.integers(), TEXTS, st.lists(TEXTS)), max_size=3),
)


# Drawing one takes long: meanwhile a thread of an earlier module may draw from `random`, which nothing here does.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(ANSWERS, TABLES, BASES)
def test_whatever_is_kept_comes_back(tmp_path_factory, answer, rows, basis):
    file = tmp_path_factory.mktemp("kept") / "kept.touchstone"
    first = Result(answer, rows, basis)
    second = load(first.save(file))
    assert second == first
    assert _told(second.answer) == _told(answer)
    assert_equal(second.rows, rows)
    _, summary, _ = read_answer(file.read_bytes(), "kept")
    assert summary == json.loads(first.to_json())


def _told(value):
    """Everything of a part, in a form that can be compared: NaN is NaN."""
    if isinstance(value, pd.DataFrame):
        return value.to_csv()
    if isinstance(value, Figure):
        return value.key, value.draw(dark=False).to_json()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, str) and hasattr(value, "parts"):
        return value.parts
    if dataclasses.is_dataclass(value):
        return {each.name: _told(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_told(each) for each in value]
    if isinstance(value, dict):
        return {key: _told(each()) for key, each in value.items()}
    return value
