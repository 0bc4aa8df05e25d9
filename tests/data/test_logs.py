"""Are logs of evaluation harnesses read as their own scorers judged? Samples as the packages wrote them, shortened.

lm_eval 0.4 wrote them with its dummy model on a task of its own, inspect_ai 0.3.285 with its mock model.
"""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from touchstone.core.data import DataError, read_predictions
from touchstone.core.data.tables.logs import LOGS
from touchstone.core.report.card import Card, Given, read_card
from touchstone.core.testing import LAWS

LOGLIKELIHOODS = [(-0.26, -0.81, -0.55), (-0.01, -0.72, -0.4), (-0.9, -0.8, -0.1), (-0.3, -0.2, -0.5)]
CHOICES = ("red", "green", "blue")


def harness(target: int, scores: tuple[float, ...], place: int, choices: tuple[str, ...] = CHOICES) -> dict:
    """A line of `samples_*.jsonl` of a multiple-choice task."""
    said = [[str(score), "False"] for score in scores]
    arguments = {f"gen_args_{n}": {"arg_0": f"Q {place}", "arg_1": f" {choice}"} for n, choice in enumerate(choices)}
    return {
        "doc_id": place,
        "doc": {"q": f"Q {place}", "choices": list(choices), "gold": target},
        "target": str(target),
        "arguments": arguments,
        "resps": [[each] for each in said],
        "filtered_resps": said,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "a089bf8a",
        "prompt_hash": "b71e23a1",
        "target_hash": "5feceb66",
        "acc": float(max(range(len(scores)), key=scores.__getitem__) == target),
    }


def generated(target: str, answer: str, place: int, name: str = "none") -> dict:
    """A line of a task that is answered in words."""
    line = harness(0, (0.0, 0.0), place)
    return line | {
        "target": target,
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": name,
        "metrics": ["exact_match"],
        "exact_match": float(answer.strip() == target),
    }


def of_inspect(*samples: dict) -> dict:
    """A log of Inspect in JSON."""
    return {"version": 2, "status": "success", "eval": {"model": "mockllm/model"}, "plan": {}, "samples": list(samples)}


def sample(place: int, target: str, answer: str, value: str, epoch: int = 1) -> dict:
    score = {"value": value, "answer": answer, "explanation": f"ANSWER: {answer}", "history": []}
    return {
        "id": place,
        "epoch": epoch,
        "input": f"Question {place}?",
        "choices": list(CHOICES),
        "target": target,
        "messages": [],
        "output": {"model": "mockllm/model"},
        "scores": {"choice": score},
        "metadata": {},
        "total_time": 0.1,
    }


@pytest.fixture
def card(tmp_path):
    """Reads what a log holds: lines where it is a list, else one object."""

    def read(content, **more) -> Card:
        lines = isinstance(content, list)
        file = tmp_path / ("samples_colours.jsonl" if lines else "log.json")
        file.write_text("".join(json.dumps(line) + "\n" for line in content) if lines else json.dumps(content))
        return read_card(file, Given(**more))

    return read


def test_choices_are_classes_and_log_likelihoods_their_scores(card):
    lines = [
        harness(target, scores, n) for n, (target, scores) in enumerate(zip((0, 1, 2, 0), LOGLIKELIHOODS, strict=True))
    ]
    read = card(lines)
    assert (read.status, read.n, read.classes) == (0, 4, ("blue", "green", "red"))
    assert read.accuracy == sum(line["acc"] for line in lines) / 4 == 0.5
    assert dict(read.roles["probabilities"]) == {name: f"logit_{name}" for name in CHOICES}
    assert "Read as a log of lm-evaluation-harness." in read.notes


def test_choices_of_their_own_in_each_question_are_counted(card):
    lines = [harness(n % 2, LOGLIKELIHOODS[n], n, (f"a{n}", f"b{n}", f"c{n}")) for n in range(4)]
    read = card(lines)
    assert (read.status, read.accuracy) == (0, sum(line["acc"] for line in lines) / 4)
    assert set(read.classes) <= {"0", "1", "2"}


def test_answers_in_words_and_filters_side_by_side(card):
    pairs = [("yes", "yes "), ("no", "yes"), ("no", "no"), ("yes", "yes")]
    read = card([generated(*pair, n) for n, pair in enumerate(pairs)])
    assert (read.accuracy, read.classes) == (0.75, ("no", "yes"))
    two = [generated(*pair, n, name) for name in ("strict", "loose") for n, pair in enumerate(pairs)]
    assert card(two).accuracy == {"strict": 0.75, "loose": 0.75}


def test_a_sample_without_a_letter_is_asked_about(card):
    judged = [("A", "A", "C"), ("B", "A", "I"), ("C", "C", "C"), ("A", "", "I")]
    log = of_inspect(*(sample(n, *each) for n, each in enumerate(judged)))
    asked = card(log)
    assert (asked.status, asked.questions[0].role) == (3, "unanswered")
    assert card(log, said={"unanswered": "wrong"}).accuracy == 0.5  # as its own scorer says
    assert card(log, said={"unanswered": "left out"}).n == 3


def test_what_a_scorer_takes_as_right_is_right(card):
    judged = [("yes", "Yes!", "C"), ("no", "nope", "C"), ("no", "yes", "I"), ("yes", "no", "I")]
    read = card(of_inspect(*(sample(n, *each) for n, each in enumerate(judged))))
    assert (read.accuracy, read.classes) == (0.5, ("no", "yes"))


def test_a_scorer_that_disagrees_is_counted(card):
    lines = [
        harness(target, scores, n) for n, (target, scores) in enumerate(zip((0, 1, 2, 0), LOGLIKELIHOODS, strict=True))
    ]
    lines[0]["acc"] = 0.0
    [warning] = [odd for odd in card(lines).warnings if odd.code == "scorer_disagrees"]
    assert (warning.count, warning.n) == (1, 4)


def test_epochs_are_trials(card):
    log = of_inspect(*(sample(n, "AB"[n % 2], "A", "IC"[n % 2 == 0], epoch) for epoch in (1, 2) for n in range(4)))
    assert card(log).roles["trial"] == "trial"


def test_a_log_that_is_broken_is_refused_in_a_sentence(card):
    lines = [harness(0, LOGLIKELIHOODS[0], 0), harness(1, LOGLIKELIHOODS[1], 1)]
    lines[1]["filtered_resps"] = [["much", "False"], ["-1", "False"]]
    assert "not as lm-evaluation-harness writes them" in card(lines, read_as="predictions").refused


# LightEval 0.13 writes details as Parquet: dictionaries of its own classes, one column each.


def of_lighteval(path: Path, *samples: dict) -> Path:
    pd.DataFrame(list(samples)).to_parquet(path)
    return path


def details(gold: int, place: int, choices: tuple[str, ...] = CHOICES, **response: object) -> dict:
    """A row of `details_*.parquet`, without the fields that nobody needs here."""
    given = {"text": [], "logprobs": [], "text_post_processed": None, **response}
    doc = {"query": f"Q {place}", "choices": [f" {choice}" for choice in choices], "gold_index": gold, "id": str(place)}
    scores = given["logprobs"]
    right = scores.index(max(scores)) == gold if scores else given["text"][0].strip() == choices[gold]
    metric = {"acc" if scores else "em": int(right)}
    return {"doc": doc | {"task_name": "colours"}, "metric": metric, "model_response": given}


def test_choices_of_lighteval_are_classes(tmp_path):
    golds = (2, 1, 2, 0)
    rows = [
        details(*each, logprobs=list(scores)) for *each, scores in zip(golds, range(4), LOGLIKELIHOODS, strict=True)
    ]
    read = read_card(of_lighteval(tmp_path / "details_colours.parquet", *rows), Given())
    right = [row["metric"]["acc"] for row in rows]
    assert (read.n, read.classes, read.accuracy) == (4, ("blue", "green", "red"), sum(right) / 4)
    assert not read.warnings
    rows[0]["metric"]["acc"] = 1 - rows[0]["metric"]["acc"]
    read = read_card(of_lighteval(tmp_path / "other.parquet", *rows), Given())
    assert [(each.code, each.count) for each in read.warnings] == [("scorer_disagrees", 1)]


def test_answers_of_lighteval_in_words(tmp_path):
    rows = [details(gold, n, text=[answer]) for n, (gold, answer) in enumerate([(0, "red "), (1, "red"), (2, "blue")])]
    read = read_card(of_lighteval(tmp_path / "details_words.parquet", *rows), Given())
    assert (read.n, read.accuracy) == (3, 2 / 3)


def test_questions_of_lighteval_with_choices_of_their_own_are_counted(tmp_path):
    rows = [
        details(gold, place, choices, logprobs=list(LOGLIKELIHOODS[place][: len(choices)]))
        for place, (gold, choices) in enumerate([(0, ("a", "b")), (2, ("c", "d", "e")), (1, ("f", "g"))])
    ]
    read = read_card(of_lighteval(tmp_path / "details_own.parquet", *rows), Given())
    assert (read.n, read.accuracy) == (3, sum(row["metric"]["acc"] for row in rows) / 3)


# Tables of Weights & Biases, features of Hugging Face, and results without samples.


def test_a_table_of_a_run_has_its_truth_guess_and_scores(tmp_path):
    rows = [
        [place, gold, guess, 0.1, 0.2, 0.7] for place, (gold, guess) in enumerate([("a", "c"), ("b", "c"), ("c", "c")])
    ]
    table = {"columns": ["id", "truth", "guess", "score_a", "score_b", "score_c"], "data": rows, "ncols": 6, "nrows": 3}
    (file := tmp_path / "preds_0_ab12.table.json").write_text(json.dumps(table))
    read = read_card(file, Given())
    assert (read.n, read.classes, read.accuracy) == (3, ("a", "b", "c"), 1 / 3)
    assert read.roles["predicted"] == "guess"


@pytest.mark.parametrize("of_predicted", [None, ["fox", "cat", "dog"], ["dog", "fox", "cat"]])
def test_codes_get_the_names_that_the_file_has_for_them_in_the_order_of_each_column(of_predicted, tmp_path):
    names, truth, said = ["fox", "cat", "dog"], [0, 1, 2, 2], ["fox", "cat", "dog", "cat"]
    features = {"label": {"names": names}, **({"prediction": {"names": of_predicted}} if of_predicted else {})}
    codes = [(of_predicted or names).index(name) for name in said]
    table = pa.table({"label": truth, "prediction": codes}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )
    pq.write_table(table, file := tmp_path / "out.parquet")
    predictions = read_predictions(file).select()
    assert predictions.class_names == ("fox", "cat", "dog")
    assert [predictions.class_names[code] for code in predictions.y_pred] == said
    assert predictions.accuracy == 0.75


def test_a_class_that_the_truth_cannot_have_is_no_wrong_answer(tmp_path):
    features = {"label": {"names": ["fox", "cat"]}, "prediction": {"names": ["cat", "owl"]}}
    table = pa.table({"label": [0, 1, 1], "prediction": [0, 1, 0]}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )
    pq.write_table(table, file := tmp_path / "out.parquet")
    with pytest.raises(DataError, match=r"class 1 of column 'prediction' is none of column 'label'"):
        read_predictions(file)


def test_results_without_samples_are_told_to_be_such(tmp_path):
    (file := tmp_path / "result.json").write_text(json.dumps({"accuracy": 0.83, "hyperparams": {"lr": 0.1}}))
    assert "These may be results" in read_card(file, Given()).refused


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("law", LAWS[LOGS.group], ids=lambda law: law.__name__)
def test_a_log_keeps_every_law(law, name):
    law(name, LOGS[name])
