"""How are generated tests stored? As rows of a table, class by class, with features and pictures as bytes."""

import json
from dataclasses import dataclass

import pandas as pd

from touchstone.core.evaluate.guided_tests.generate import Start
from touchstone.core.evaluate.guided_tests.judged_suite import JudgedSuite
from touchstone.core.evaluate.guided_tests.results import REGIONS, GeneratedTests

COLUMNS = {
    "part": "str",
    "label": "Int64",
    "region": "str",
    "asked": "Int64",
    "placed": "Int64",
    "parents_at_boundary": "boolean",
    "n_test": "Int64",
    "n_correct": "Int64",
    "parent": "str",
    "parent_part": "str",
    "rival": "Int64",
    "t": "float64",
    "distance": "float64",
    "confidence": "float64",
    "predicted": "Int64",
    "in_centroid": "boolean",
    "in_boundary": "boolean",
    "error": "float64",
    "lower": "float64",
    "upper": "float64",
    "baseline": "float64",
    "in_region": "boolean",
    "read_as": "Int64",
    "kept_again": "str",
    "content": "object",
    "status": "str",
}
"""The columns of the rows and their types.

`part` is "mix" (the tests that were asked for), "table" (those of table 2), "suite" (pictures for the whole model) or
"decoder". Of the first two a class has a row with what was `asked` for and `placed` in each region, whether its parents
all lie at its boundary, and in which the model got `n_correct` of all `n_test` test samples right; and a row for each
test, with the columns of `GeneratedTests` (codes of classes) and, of a mix, its features in `content`, as bytes of
float32. The decoder's row has it in `content`, and its reconstruction of `n_test` test images. A suite has a row for
each test, with its picture in `content` as bytes, whether that is still `in_region`, what the oracle `read_as` and for
which others it would count (`kept_again`, a digit 0 or 1 for each); and a row with the oracle's `n_correct` of `n_test`
real samples and the pictures' shape as JSON in `content`. Elsewhere `content` is empty. A failed trial is one row
without figures.
"""


@dataclass(frozen=True)
class Trial:
    """What one trial is for (`part`), and for which class; -1 for none."""

    part: str
    label: int


def class_rows(made: GeneratedTests, trial: Trial, begin: Start) -> pd.DataFrame:
    """The rows of a class: what was asked for and placed in each region, then each test."""
    test = begin.test
    whole = {"n_test": len(test), "n_correct": int((test.predicted == test.labels).sum())}
    whole["parents_at_boundary"] = bool((begin.parents(trial.label)[0].confidence <= begin.wcl).all())
    counts = [
        {"region": region, "asked": int(made.asked[trial.label, at]), "placed": int(made.placed[trial.label, at])}
        for at, region in enumerate(REGIONS)
    ]
    features = made.features.astype("<f4", copy=False)
    tests = [
        {
            "region": REGIONS[0] if made.for_centroid[i] else REGIONS[1],
            "parent": made.parent_ids[i],
            "parent_part": made.parent_part[i],
            "rival": made.rival[i],
            "t": made.t[i],
            "distance": made.distance[i],
            "confidence": made.confidence[i],
            "predicted": made.predicted[i],
            "in_centroid": bool(made.in_centroid[i]),
            "in_boundary": bool(made.in_boundary[i]),
            "content": features[i].tobytes() if trial.part == "mix" else b"",
        }
        for i in range(len(made))
    ]
    both = [*({**row, **whole} for row in counts), *tests]
    return framed([{"part": trial.part, "label": trial.label, **row} for row in both], "ok")


def suite_rows(judged: JudgedSuite) -> pd.DataFrame:
    """The rows of a suite: the oracle's, then one for each test with its picture."""
    suite = judged.suite
    oracle = {"n_test": suite.oracle_n, "n_correct": suite.oracle_right}
    shape = json.dumps(list(suite.images.shape[1:])).encode()
    tests = [
        {
            "label": suite.y[i],
            "region": REGIONS[0] if suite.for_centroid[i] else REGIONS[1],
            "parent": suite.parent_ids[i],
            "parent_part": suite.parent_part[i],
            "rival": suite.rival[i],
            "predicted": judged.predicted[i],
            "confidence": judged.confidence[i],
            "in_region": bool(suite.in_region[i]),
            "read_as": suite.read_as[i],
            "kept_again": "".join(str(int(kept)) for kept in suite.kept_again[i]),
            "content": suite.images[i].tobytes(),
        }
        for i in range(len(suite))
    ]
    return framed([{"part": "suite", **row} for row in ({**oracle, "content": shape}, *tests)], "ok")


def framed(rows: list[dict[str, object]], status: str) -> pd.DataFrame:
    """Rows as a frame of `COLUMNS`; `content` is never missing, so that its column is of bytes throughout."""
    filled = [{"content": b"", "status": status, **row} for row in rows]
    cells = {name: pd.Series([row.get(name) for row in filled], dtype=object) for name in COLUMNS}
    return pd.DataFrame({name: cells[name].astype(kind) for name, kind in COLUMNS.items()})
