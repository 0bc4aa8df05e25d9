"""Is this the log of an evaluation? What harnesses write of each sample, as a truth and an answer per row.

A log is an entry: evidence that it is one, and how its samples are read. What a scorer decided is held against that.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from touchstone.core.data.errors import Oddity, refusing
from touchstone.core.registry import Registry

Rows = list[dict[str, Any]]


class Log(NamedTuple):
    """The log of a harness: `is_it` sees it by one sample, whatever that is, and `read` gives a row for each.

    A row has an id, `gold` and `predicted`, and what the scorer decided as `_right`: True, False or None. What the
    harness writes of a few samples is the `example`.
    """

    title: str
    is_it: Callable[[dict[str, Any]], bool]
    read: Callable[[Rows], Rows]
    example: Sequence[dict[str, Any]] = ()


def rows_of_log(samples: Any) -> tuple[Rows, tuple[str, ...], tuple[Oddity, ...]] | None:
    """A row for each sample of a log: id, gold, predicted, and scores where there are some; None where it is none.

    With a note which log it is, and what is odd about samples of which the scorer decided otherwise than the row says.

    >>> resps = [["-0.1", "True"], ["-2.3", "False"]]
    >>> sample = {"doc_id": 7, "target": "1", "filtered_resps": resps, "resps": [], "doc": {}, "acc": 0.0}
    >>> rows_of_log([sample])[0]
    [{'id': 7, 'gold': '1', 'predicted': '0', 'logit_0': -0.1, 'logit_1': -2.3}]
    """
    log = next((log for log in LOGS.values() if are_objects(samples) and all(map(log.is_it, samples))), None)
    if log is None:
        return None
    with refusing(f"These samples are not as {log.title} writes them. Give its log as it was written, or a table."):
        rows = log.read(samples)
    decided = [row.pop("_right", None) for row in rows]
    n = sum(
        right is not None and right != (row["gold"] == row["predicted"])
        for right, row in zip(decided, rows, strict=True)
    )
    text = f"Of {n:,} of {len(rows):,} samples the log's own scorer decided otherwise than gold and answer say."
    return rows, (f"Read as a log of {log.title}.",), (Oddity(text, "scorer_disagrees", n, len(rows)),) * bool(n)


def are_objects(rows: Any) -> bool:
    """Whether a value is a list of objects, at least one."""
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)


def _decided(values: dict[str, Any], *metrics: str) -> bool | None:
    """Whether a scorer took an answer as right, by the first of these metrics; None where it does not say."""
    return next((values[metric] == 1 for metric in metrics if metric in values), None)


# EleutherAI's harness writes a line per document: the target, and what was said, or how likely each choice was.


def _is_of_harness(sample: dict[str, Any]) -> bool:
    return {"doc_id", "doc", "target", "resps", "filtered_resps"} <= sample.keys()


def _of_harness(samples: Rows) -> Rows:
    names = _names_of_choices(samples)
    several = len({sample.get("filter") for sample in samples}) > 1
    rows = []
    for sample in samples:
        responses = sample["filtered_resps"]
        row: dict[str, Any] = {"id": sample["doc_id"], **({"model": sample["filter"]} if several else {})}
        if _are_choices(responses):
            alike = all(len(other["filtered_resps"]) == len(responses) for other in samples)
            row |= _chosen(sample["target"], [float(pair[0]) for pair in responses], names, alike)
        else:
            answer = responses[0] if isinstance(responses, list) and responses else responses
            row |= {"gold": _plain(sample["target"]), "predicted": _plain(answer)}
        row["_right"] = _decided(sample, "acc", "exact_match")
        rows.append(row)
    return rows


def _are_choices(responses: Any) -> bool:
    """Whether each of several choices has a log-likelihood, and whether it would have been said."""
    return (
        isinstance(responses, list)
        and len(responses) > 1
        and all(isinstance(each, list) and len(each) == 2 for each in responses)
    )


def _names_of_choices(samples: Rows) -> list[str]:
    """What all documents are asked to choose from, where these are the same; else nothing."""
    names = _shared([[given.get("arg_1", "") for given in _arguments(sample)] for sample in samples])
    return names if all(len(sample["filtered_resps"]) == len(names) for sample in samples) else []


def _shared(choices: Sequence[Sequence[Any]]) -> list[str]:
    """The choices of all samples, where these are the same, all different and none empty; else nothing."""
    different = {tuple(str(each).strip() for each in of_sample) for of_sample in choices}
    names = list(different.pop()) if len(different) == 1 else []
    return names if len(set(names)) == len(names) > 1 and all(names) else []


def _chosen(target: Any, scores: Sequence[float], names: Sequence[str], alike: bool) -> dict[str, Any]:
    """The choice that was right and the likeliest one, by place where they have no `names`, and how likely each was.

    Scores are given where they are of named choices, or all samples have as many (`alike`).
    """
    own = names or [str(place) for place in range(len(scores))]
    row = {"gold": _choice(target, own), "predicted": own[scores.index(max(scores))]}
    return row | ({f"logit_{name}": score for name, score in zip(own, scores, strict=True)} if names or alike else {})


def _arguments(sample: dict[str, Any]) -> list[dict[str, Any]]:
    arguments = sample.get("arguments")
    given = list(arguments.values()) if isinstance(arguments, dict) else []
    return given if all(isinstance(each, dict) for each in given) else []


def _choice(target: Any, names: Sequence[str]) -> Any:
    """The choice that a target names, by its place or itself."""
    place = str(target)
    return names[int(place)] if place.isdecimal() and int(place) < len(names) else _plain(target)


# Inspect writes one object: each sample with its target, and for each scorer the answer and what it is worth.


def _is_of_inspect(sample: dict[str, Any]) -> bool:
    return {"epoch", "input", "target", "scores"} <= sample.keys() and isinstance(sample["scores"], dict)


def _of_inspect(samples: Rows) -> Rows:
    several = len({sample["epoch"] for sample in samples}) > 1
    rows = []
    for place, sample in enumerate(samples):
        scores = (score for score in sample["scores"].values() if isinstance(score, dict))
        score = next((each for each in scores if "answer" in each), {})
        gold, value = _plain(sample["target"]), score.get("value")
        # A scorer may take another spelling of the target as right.
        answer = gold if value == "C" else "" if value == "N" else _plain(score.get("answer"))
        row = {"id": sample.get("id", place), **({"trial": sample["epoch"]} if several else {})}
        rows.append({**row, "gold": gold, "predicted": answer, "_right": {"C": True, "I": False}.get(value)})
    return rows


# LightEval writes a row per document: the document with its choices, what the model gave, and what that is worth.


def _is_of_lighteval(sample: dict[str, Any]) -> bool:
    doc, response = sample.get("doc"), sample.get("model_response")
    return isinstance(doc, dict) and isinstance(response, dict) and {"choices", "gold_index"} <= doc.keys()


def _of_lighteval(samples: Rows) -> Rows:
    names = _shared([sample["doc"]["choices"] for sample in samples])
    alike = len({len(sample["doc"]["choices"]) for sample in samples}) == 1
    rows = []
    for place, sample in enumerate(samples):
        doc, response, values = sample["doc"], sample["model_response"], sample.get("metric") or {}
        choices, right = doc["choices"], _plain(doc["gold_index"])
        row, scores = {"id": doc.get("id") or place}, response.get("logprobs") or ()
        if len(scores) == len(choices) > 1:
            row |= _chosen(right, [float(score) for score in scores], names, alike)
        else:
            answers = response.get("text_post_processed") or response["text"]
            row |= {"gold": _plain(choices[right]), "predicted": _plain(answers[0])}
        row["_right"] = _decided(values, "acc", "em", "exact_match")
        rows.append(row)
    return rows


def _plain(value: Any) -> Any:
    """A word without blanks around it, out of a list of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip() if isinstance(value, str) else value


_CHOSEN = {"doc": {}, "resps": [], "filtered_resps": [["-0.1", "True"], ["-2.3", "False"]], "acc": 1.0}
_ANSWER = {"scores": {"match": {"value": "C", "answer": "cat"}}, "input": "Which animal?"}
_CHOICES = {"choices": ["cat", "dog"], "gold_index": 0}
_BUILT_IN = {
    "lm_evaluation_harness": Log(
        "lm-evaluation-harness", _is_of_harness, _of_harness, [{"doc_id": 7, "target": "0", **_CHOSEN}]
    ),
    "inspect": Log("Inspect", _is_of_inspect, _of_inspect, [{"id": 7, "epoch": 1, "target": "cat", **_ANSWER}]),
    "lighteval": Log(
        "LightEval", _is_of_lighteval, _of_lighteval, [{"doc": _CHOICES, "model_response": {"text": ["cat"]}}]
    ),
}
LOGS: Registry[Log] = Registry("touchstone.layouts", Log, _BUILT_IN)
"""The logs that are known."""
