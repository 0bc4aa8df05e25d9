"""Are logs of evaluation harnesses read as their own scorers judged? Samples as the packages wrote them, shortened.

lm_eval 0.4 wrote them with its dummy model on a task of its own, inspect_ai 0.3.285 with its mock model.
"""

import json

import pytest

from touchstone.core.report.card import Card, Given, read_card

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
