"""Real pairs of truth and predictions, damaged at random: they are joined rightly, asked about or refused."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.data.uploads import upload
from touchstone.core.data import DataError, join_predictions

N_ROWS = 320
"""Rows that are taken of a longer file, from anywhere in it."""


@dataclass(frozen=True)
class Pair:
    """Truth and predictions; for each row of either file, which of the undamaged pair it is, and `labels` of that."""

    labels: np.ndarray
    truth: pd.DataFrame
    said: pd.DataFrame
    in_truth: np.ndarray
    in_said: np.ndarray

    def take(self, half: str, rows: np.ndarray) -> "Pair":
        if half == "truth":
            return replace(self, truth=self.truth.iloc[rows], in_truth=self.in_truth[rows])
        return replace(self, said=self.said.iloc[rows], in_said=self.in_said[rows])


@cache
def real_pairs(shared_data: Path) -> dict[str, pd.DataFrame]:
    """Key, truth and prediction of every real file that has them."""
    files = {
        "predictions/cagedbird__validation_predictions14.csv": ("Image Filename", "True Label", "Predicted Label"),
        "predictions/spam__preds.tsv": ("textid", "target", "predicted"),
        "predictions/spam__hindi_preds.tsv": ("textid", "target", "predicted"),
        "predictions/mrnet__validation_predictions.csv": ("exam_id", "abnormal_true", "abnormal_pred"),
        "clusterdatasplit/toy_data__predictions_randomized.tsv": ("id", "gold", "predicted"),
        "clusterdatasplit/toy_data__predictions_distribution_sensitive_kmeans.tsv": ("id", "gold", "predicted"),
        "clusterdatasplit/patent_classification__predictions_randomized.tsv": ("id", "gold", "predicted"),
        "cifar101/cifar10_1_v6_predictions.tsv": ("id", "label", "darc"),
        "cifar101/cifar10_1_v4_predictions.tsv": ("id", "label", "cudaconvnet"),
    }
    pairs = {}
    for file, columns in files.items():
        frame = pd.read_csv(shared_data / file, sep="," if file.endswith("csv") else "\t", dtype=str)[list(columns)]
        pairs[file] = frame.set_axis(["key", "label", "predicted"], axis=1)
    lenet = np.load(shared_data / "predictions/netcal_lenet5_cifar10_softmax.npz")
    codes = [lenet["ground_truth"], lenet["predictions"].argmax(axis=1)]
    pairs["lenet"] = pd.DataFrame({"key": np.arange(10_000), "label": codes[0], "predicted": codes[1]}).astype(str)
    return pairs


def _alike(rng, pair: Pair) -> Pair:
    return pair


def _shuffled(rng, pair: Pair) -> Pair:
    return pair.take(rng.choice(["truth", "said"]), rng.permutation(len(pair.said)))


def _turned(rng, pair: Pair) -> Pair:
    return pair.take("said", np.arange(len(pair.said))[::-1])


def _sorted(rng, pair: Pair) -> Pair:
    pair = pair.take("said", np.argsort(pair.said["predicted"].to_numpy(dtype=str), kind="stable"))
    both = rng.random() < 0.5
    return pair.take("truth", np.argsort(pair.truth["label"].to_numpy(dtype=str), kind="stable")) if both else pair


def _off_by_one(rng, pair: Pair) -> Pair:
    rows = np.arange(len(pair.said))
    return pair.take("said", rng.choice([np.roll(rows, 1), np.roll(rows, -1)]))


def _one_lost(rng, pair: Pair) -> Pair:
    rows = np.arange(len(pair.said))
    return pair.take(rng.choice(["truth", "said"]), rows[1:] if rng.random() < 0.5 else rows[:-1])


def _missing(rng, pair: Pair) -> Pair:
    half = rng.choice(["truth", "said"])
    n_rows = len(getattr(pair, half))
    return pair.take(half, np.sort(rng.permutation(n_rows)[: n_rows - max(1, n_rows // 20)]))


def _missing_in_both(rng, pair: Pair) -> Pair:
    for half in ("truth", "said"):
        n_rows = len(getattr(pair, half))
        pair = pair.take(half, np.sort(rng.permutation(n_rows)[: n_rows - max(1, n_rows // 20)]))
    return pair


def _repeated(rng, pair: Pair) -> Pair:
    half = rng.choice(["truth", "said"])
    n_rows = len(getattr(pair, half))
    again = rng.choice(n_rows, max(1, n_rows // 20), replace=False)
    return pair.take(half, np.sort(np.r_[np.arange(n_rows), again]) if rng.random() < 0.5 else np.r_[:n_rows, again])


def _replaced(rng, pair: Pair) -> Pair:
    n_rows = len(pair.said)
    rows = rng.permutation(n_rows)
    kept, again = np.sort(rows[n_rows // 20 :]), rows[-(n_rows // 20) :]
    return pair.take("said", np.r_[kept, again])


def _stretch(rng, pair: Pair) -> Pair:
    rows, long = np.arange(len(pair.said)), len(pair.said) // 3
    start = rng.integers(len(rows) - long)
    part = slice(start, start + long)
    rows[part] = np.roll(rows[part], rng.choice([-1, 1])) if rng.random() < 0.5 else rng.permutation(rows[part])
    return pair.take("said", rows)


DAMAGES: tuple[Callable, ...] = (_alike, _shuffled, _turned, _sorted, _off_by_one, _one_lost, _missing, _repeated)
LONG: tuple[Callable, ...] = (_replaced, _stretch)
"""What leaves as many rows, of which many in order: without keys only the labels of long files show it."""
NAMED: tuple[Callable, ...] = (*LONG, _missing_in_both)
"""What only keys show for sure."""


def _keys(rng, frame: pd.DataFrame) -> tuple[str, dict[str, list[str]], dict[str, list[str]]]:
    """Columns that name rows in the truth and in the predictions, perhaps spelled otherwise, or none; what they are."""
    numbers = rng.choice(5 * len(frame), len(frame), replace=False)
    real = frame["key"].tolist()
    name = str(rng.choice(["id", "image", "Name", "guid"]))
    spelled = {
        "real": (real, real),
        "padded": ([f"{number:06d}" for number in numbers], [str(number) for number in numbers]),
        "points": ([str(number) for number in numbers], [f"{number}.0" for number in numbers]),
        "spaces": (real, [f" {key} " for key in real]),
        "case": ([f"Img_{number}.PNG" for number in numbers], [f"img_{number}.png" for number in numbers]),
        "other words": ([f"a{number}" for number in numbers], [f"b{number}" for number in numbers]),
        "counted": ([str(row) for row in range(len(frame))],) * 2,
    }
    kind = str(rng.choice([*spelled, "two columns", "two names", "none", "none"]))
    if kind == "none":
        return kind, {}, {}
    if kind == "two columns":
        rows = range(len(frame))
        both = {"subject": [f"s{row // 5}" for row in rows], "visit": [str(row % 5) for row in rows]}
        return kind, both, both
    if kind == "two names":
        return kind, {"file": [f"{n}.wav" for n in numbers]}, {"recording": [f"{n}.wav" for n in numbers]}
    own, other = spelled[kind]
    return kind, {name: own}, {name: other}


def damaged(rng: np.random.Generator, frames: dict[str, pd.DataFrame]) -> tuple[str, Pair]:
    """A real pair with one damage or two."""
    file = str(rng.choice(list(frames)))
    frame = frames[file]
    start = int(rng.integers(max(1, len(frame) - N_ROWS)))
    frame = frame.iloc[start : start + N_ROWS].reset_index(drop=True)
    kind, own, other = _keys(rng, frame)
    rows = np.arange(len(frame))
    pair = Pair(
        frame["label"].to_numpy(dtype=object),
        pd.DataFrame({**own, "label": frame["label"]}),
        pd.DataFrame({**other, "predicted": frame["predicted"]}),
        rows,
        rows,
    )
    possible = DAMAGES + (NAMED if own else LONG if len(frame) >= N_ROWS else ())
    chosen = [possible[code] for code in rng.choice(len(possible), 1 + int(own != {} and rng.random() < 0.5))]
    for damage in chosen:
        n_rows = len(pair.truth), len(pair.said)
        pair = damage(rng, pair) if n_rows[0] == n_rows[1] else pair
    return f"{file}: {kind} keys {list(own)}, {[damage.__name__ for damage in chosen]}", pair


TOLD = (
    "Left out, since they have no row in the other file: ",
    "In that order ",
    "their rows may stand in different orders",
    "rows in another order would hardly show",
    "too little is known to check whether rows stand in the same order",
    "are labels turned around or rows in another order?",
    "do the rows belong together?",
)
"""What a warning has to say of rows, so that nobody takes a wrong join for a right one."""


def outcome(pair: Pair) -> str:
    """What becomes of a pair: "refused" (or asked), "right", "told", or "wrong" where nothing is said of it."""
    files = (pair.truth.to_csv(index=False), "truth.csv"), (pair.said.to_csv(index=False), "said.csv")
    try:
        table = join_predictions(*(upload(*file) for file in files))
        joined = table.select()
    except DataError:
        return "refused"
    expected = pd.factorize(pair.labels[pair.in_said])[0]  # whatever the classes are called
    if len(pair.truth) == len(joined.y_true) and expected.tolist() == pd.factorize(joined.y_true)[0].tolist():
        return "right"
    return "told" if any(phrase in warning for warning in table.warnings for phrase in TOLD) else "wrong"


def outcomes(n_damages: int, shared_data: Path, *, seed: int) -> pd.DataFrame:
    """Of so many damaged pairs, what each is and what becomes of it."""
    rng, frames = np.random.default_rng(seed), real_pairs(shared_data)
    damages = (damaged(rng, frames) for _ in range(n_damages))
    return pd.DataFrame([(name, outcome(pair)) for name, pair in damages], columns=["pair", "outcome"])


def test_twenty_damages_of_real_pairs_join_no_row_wrongly_unsaid(shared_data):
    found = outcomes(20, shared_data, seed=1)
    outcomes_found = found["outcome"].tolist()
    assert "wrong" not in outcomes_found, found.to_string()
    assert outcomes_found.count("right") >= 5


@pytest.mark.evidence
def test_a_thousand_damages_of_real_pairs_join_no_row_wrongly_unsaid(shared_data):
    """And what keys bring together is joined without a question; run with -s for the counts."""
    found = outcomes(1000, shared_data, seed=0)
    counts = found["outcome"].value_counts().to_dict()
    harmless = found[
        found["pair"].str.contains("(?:real|padded|points|spaces|case|two columns|two names) keys")
        & ~found["pair"].str.contains("_(?:one_lost|missing|repeated|replaced)")
    ]
    print(f"of 1,000 damaged pairs: {counts}; of {len(harmless)} that only stand in another order and have keys:")
    print(harmless["outcome"].value_counts().to_dict())
    assert "wrong" not in counts, found[found["outcome"] == "wrong"].to_string()
    assert harmless["outcome"].tolist().count("right") > 0.95 * len(harmless)
