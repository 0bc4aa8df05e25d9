"""Files whose meaning was changed on purpose, in ways that can be seen: is any read at another accuracy in silence?

A file says what a model said of samples; its right accuracy is known. Then something happens to it that happens to
people's files. `outcome_of` says what became of it: read right, warned of, asked, refused, or a silent wrong.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import pandas as pd

from touchstone.core.report.card import Card, Given, read_card

CLASSES = (
    ("cat", "dog", "fox"),
    ("no", "yes"),
    ("0", "1"),
    ("1", "2", "3", "4"),
    ("Köln", "Zürich", "Genève"),
    ("negative", "neutral", "positive"),
    ("spam", "ham"),
)
SILENT, RIGHT, WARNED, ASKED, REFUSED = "silent", "right", "warned", "asked", "refused"


@dataclass(frozen=True)
class File:
    """A file of predictions, perhaps with the truth in another one; its right `accuracy`."""

    frame: pd.DataFrame
    accuracy: float
    truth: pd.DataFrame | None = None
    encoding: str = "utf-8"


def drawn(rng: np.random.Generator) -> File:
    """A good file: 60 to 400 rows, a model that is right in 60 to 95 % of them, with or without ids and scores."""
    names = np.array(CLASSES[rng.integers(len(CLASSES))], dtype=object)
    n, k = int(rng.integers(60, 400)), len(names)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    wrong = (y + rng.integers(1, k, n)) % k
    said = np.where(rng.random(n) < rng.uniform(0.6, 0.95), y, wrong)
    logits = rng.normal(0, 1, (n, k))
    logits[np.arange(n), said] = logits.max(axis=1) + rng.exponential(1, n) + 0.1
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    frame = pd.DataFrame({"y_true": names[y], "y_pred": names[said]})
    form = rng.integers(4)
    if form in (1, 2):
        frame = frame.assign(**{f"prob_{name}": proba[:, code].round(4) for code, name in enumerate(names)})
    if form == 2:
        frame = frame.drop(columns="y_pred")
    if form == 3:
        frame["confidence"] = proba.max(axis=1).round(4)
    if rng.random() < 0.5:
        frame.insert(0, "id", [f"r{row:05}" for row in rng.permutation(n)])
    return File(frame, float((y == said).mean()))


Change = Callable[[File, np.random.Generator], File | None]
"""None where it cannot happen to a file."""


def _spelled(respell: Callable[[str], str]) -> Change:
    def change(file: File, rng: np.random.Generator) -> File | None:
        if "y_pred" not in file.frame or all(respell(name) == name for name in set(file.frame["y_pred"])):
            return None
        some = rng.random(len(file.frame)) < rng.uniform(0.3, 1)
        said = [respell(name) if hit else name for name, hit in zip(file.frame["y_pred"], some, strict=True)]
        return File(file.frame.assign(y_pred=said), file.accuracy)

    return change


def counted_from_one(file: File, rng: np.random.Generator) -> File | None:
    """Predicted codes that count from 1 where the truth counts from 0, or the other way round."""
    names = sorted(set(file.frame["y_true"]))
    if "y_pred" not in file.frame or not all(name.isdecimal() for name in names):
        return None
    step = 1 if names[0] == "0" else -1
    return File(file.frame.assign(y_pred=[str(int(name) + step) for name in file.frame["y_pred"]]), file.accuracy)


def names_exchanged(file: File, rng: np.random.Generator) -> File | None:
    """Every predicted name stands for another class, as where an encoder was fitted twice."""
    names = sorted(set(file.frame["y_true"]))
    if "y_pred" not in file.frame or any(column.startswith("prob_") for column in file.frame):
        return None
    mapping = dict(zip(names, np.roll(names, 1), strict=True))
    return File(file.frame.assign(y_pred=[mapping[name] for name in file.frame["y_pred"]]), file.accuracy)


def columns_of_scores_exchanged(file: File, rng: np.random.Generator) -> File | None:
    """The columns of scores carry one another's names."""
    columns = [column for column in file.frame if column.startswith("prob_")]
    if not columns:
        return None
    return File(file.frame.rename(columns=dict(zip(columns, np.roll(columns, 1), strict=True))), file.accuracy)


def scores_reversed(file: File, rng: np.random.Generator) -> File | None:
    """One minus the probability of the predicted class."""
    if "confidence" not in file.frame:
        return None
    return File(file.frame.assign(confidence=(1 - file.frame["confidence"]).round(4)), file.accuracy)


def predictions_shuffled(file: File, rng: np.random.Generator) -> File:
    """What the model said stands in other rows: of another order than the truth."""
    said = [column for column in file.frame if column not in ("id", "y_true")]
    order = rng.permutation(len(file.frame))
    return File(file.frame.assign(**{column: file.frame[column].to_numpy()[order] for column in said}), file.accuracy)


def a_file_shuffled(file: File, rng: np.random.Generator) -> File:
    """The truth stands in a file of its own, without a key, and in another order."""
    frame = file.frame.drop(columns="id", errors="ignore")
    return File(frame.drop(columns="y_true"), file.accuracy, frame[["y_true"]].sample(frac=1, random_state=1))


def a_file_moved(file: File, rng: np.random.Generator) -> File:
    """The truth stands in a file of its own, one row further down."""
    frame = file.frame.drop(columns="id", errors="ignore")
    moved = pd.DataFrame({"y_true": np.roll(frame["y_true"], 1)})
    return File(frame.drop(columns="y_true"), file.accuracy, moved)


def rows_doubled(file: File, rng: np.random.Generator) -> File | None:
    """A third of the rows stand twice, as after a join that was not one to one; those that are wrong more often.

    Of labels alone, without ids, nothing can show it.
    """
    if set(file.frame) == {"y_true", "y_pred"}:
        return None
    weight = np.ones(len(file.frame))
    if "y_pred" in file.frame:
        weight += 3 * (file.frame["y_true"] != file.frame["y_pred"])
    twice = rng.choice(len(file.frame), len(file.frame) // 3, replace=False, p=weight / weight.sum())
    return File(pd.concat([file.frame, file.frame.iloc[twice]]), file.accuracy)


def read_in_another_encoding(file: File, rng: np.random.Generator) -> File | None:
    """One side was written as UTF-8 and read as Latin-1 on its way."""
    if "y_pred" not in file.frame or all(name.isascii() for name in file.frame["y_true"]):
        return None
    garbled = [name.encode("utf-8").decode("latin-1") for name in file.frame["y_pred"]]
    return File(file.frame.assign(y_pred=garbled), file.accuracy)


def answers_missing(file: File, rng: np.random.Generator) -> File | None:
    """A tenth of the answers are empty: any accuracy rests on what they count as."""
    if "y_pred" not in file.frame:
        return None
    missing = rng.random(len(file.frame)) < 0.1
    missing[0] = True
    return File(file.frame.assign(y_pred=np.where(missing, "", file.frame["y_pred"])), float("nan"))


CHANGES: dict[str, Change] = {
    "upper case": _spelled(str.upper),
    "blanks": _spelled(lambda name: f" {name} "),
    "quotes": _spelled(lambda name: f"'{name}'"),
    "full stops": _spelled(lambda name: f"{name}."),
    "another Unicode form": _spelled(lambda name: unicodedata.normalize("NFD", name)),
    "a prefix of codes": _spelled(lambda name: f"LABEL_{name}" if name.isdecimal() else name),
    "codes with a point": _spelled(lambda name: f"{name}.0" if name.isdecimal() else name),
    "truth values for codes": _spelled(lambda name: {"0": "False", "1": "True"}.get(name, name)),
    "codes from 1": counted_from_one,
    "names exchanged": names_exchanged,
    "columns of scores exchanged": columns_of_scores_exchanged,
    "scores reversed": scores_reversed,
    "predictions shuffled": predictions_shuffled,
    "a file of its own, shuffled": a_file_shuffled,
    "a file of its own, moved by a row": a_file_moved,
    "rows doubled": rows_doubled,
    "another encoding of one side": read_in_another_encoding,
    "answers missing": answers_missing,
}


def card_of(file: File) -> Card:
    """The card of a file, as the command reads it."""
    truth = None if file.truth is None else _as_csv(file.truth, "truth.csv", file.encoding)
    return read_card(_as_csv(file.frame, "said.csv", file.encoding), Given(truth))


def _as_csv(frame: pd.DataFrame, name: str, encoding: str) -> BytesIO:
    content = BytesIO(frame.to_csv(index=False).encode(encoding))
    content.name = name
    return content


def outcome_of(file: File) -> str:
    """What became of it; a silent wrong has another accuracy than the right one, and no warning."""
    card = card_of(file)
    if card.status:
        return REFUSED if card.refused else ASKED
    if isinstance(card.accuracy, float) and abs(card.accuracy - file.accuracy) < 1e-9:
        return RIGHT
    return WARNED if card.warnings else SILENT


def outcomes(n: int, seed: int = 0) -> Iterator[tuple[str, str, File]]:
    """The kind of change and what became of each of `n` files, as many of each kind as can be."""
    rng, kinds = np.random.default_rng(seed), list(CHANGES)
    made = 0
    while made < n:
        changed = CHANGES[kind := kinds[made % len(kinds)]](drawn(rng), rng)
        if changed is None:
            continue
        made += 1
        yield kind, outcome_of(changed), changed
