"""What has a run of guided tests come to so far? Its tests, its table and its decoder, read back from rows."""

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from touchstone.core.evaluate.guided_tests.images import Reconstruction
from touchstone.core.evaluate.guided_tests.judged_suite import JudgedSuite
from touchstone.core.evaluate.guided_tests.results import (
    REGIONS,
    SAMPLES,
    AccuracyGrid,
    GeneratedTests,
    Origin,
    SharedAccuracy,
    grid_beside,
    shared_accuracy,
    table_sizes,
)
from touchstone.core.evaluate.guided_tests.suite import Suite
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.models.decoder import Decoder


@dataclass(frozen=True, eq=False)
class Guided:
    """What is known of a run: what is not known yet is None, and what was generated is that of the classes so far.

    `suite` holds pictures and what the whole model makes of them; None where there are none, or no model. `at_boundary`
    says of each class so far whether the parents of its features lie at its boundary, as far as this is known. Of the
    original test samples the model got `n_correct` of `n_test` right.
    """

    class_names: tuple[str, ...]
    n_test: int
    n_correct: int
    tests: GeneratedTests | None = field(repr=False)
    grid: AccuracyGrid | None = field(repr=False)
    decoder: Decoder | None = field(repr=False)
    reconstruction: Reconstruction | None
    suite: JudgedSuite | None = field(default=None, repr=False)
    at_boundary: tuple[bool, ...] | None = None

    @property
    def test_accuracy(self) -> tuple[float, Interval]:
        """The accuracy on the original test set, with Wilson's interval."""
        n_correct, n_test = float(self.n_correct), float(self.n_test)
        return (n_correct / n_test if n_test else float("nan")), wilson(n_correct, n_test)

    @property
    def generated(self) -> GeneratedTests:
        """The tests. Raises LookupError where there are none yet."""
        if self.tests is None:
            raise LookupError("nothing has been generated yet")
        return self.tests

    @property
    def made_for(self) -> tuple[int, ...]:
        """The codes of the classes whose tests are there."""
        return () if self.tests is None else tuple(np.flatnonzero(self.tests.asked.sum(axis=1)).tolist())

    def accuracy(self, region: str | None = None) -> SharedAccuracy:
        """How the head fares on the tests, or on those for one of `REGIONS`."""
        tests = self.generated
        rows = np.ones(len(tests), dtype=bool) if region is None else tests.for_centroid == (region == REGIONS[0])
        return shared_accuracy(tests.correct[rows], tests.clusters[rows], parent_word=tests.origin.word)

    def class_table(self) -> pd.DataFrame:
        """Tidy rows, one for each class and region.

        label, region, asked, placed, unplaced, n_parents, accuracy, lower, upper.
        """
        tests, accuracies = self.generated, []
        for label in range(len(self.class_names)):
            for region in REGIONS:
                rows = (tests.y == label) & (tests.for_centroid == (region == REGIONS[0]))
                accuracies.append(shared_accuracy(tests.correct[rows], tests.clusters[rows]))
        columns = {
            "n_parents": [each.n_parents for each in accuracies],
            "accuracy": [each.accuracy for each in accuracies],
            "lower": [each.interval.lower for each in accuracies],
            "upper": [each.interval.upper for each in accuracies],
        }
        return tests.counts_table().assign(**columns)


def guided_of_rows(rows: pd.DataFrame, *, class_names: tuple[str, ...], origin: Origin = SAMPLES) -> Guided:
    """Read the rows of a GuidedTestsPlan's finished trials back (`plan.COLUMNS`), all of them or the first.

    `origin` says what the real samples are that tests are made from.

    Examples
    --------
    >>> guided_of_rows(pd.DataFrame(), class_names=("a", "b")).made_for
    ()
    """
    done = rows[rows["status"] == "ok"] if len(rows) else pd.DataFrame({"part": pd.Series(dtype="str")})
    mix, table = (_tests(done[done["part"] == part], class_names, origin) for part in ("mix", "table"))
    counts = done[done["part"] != "suite"].dropna(subset=["n_correct"]) if len(done) else done
    n_test, n_correct = (int(counts[name].iloc[0]) if len(counts) else 0 for name in ("n_test", "n_correct"))
    decoder, reconstruction = _decoder(done[done["part"] == "decoder"])
    grid = None if table is None else _grid(table, n_test, n_correct)
    suite = _suite(done[done["part"] == "suite"], class_names, origin)
    return Guided(class_names, n_test, n_correct, mix, grid, decoder, reconstruction, suite, _at_boundary(done))


def _tests(rows: pd.DataFrame, class_names: tuple[str, ...], origin: Origin) -> GeneratedTests | None:
    if len(rows) == 0:
        return None
    counts, each = rows[rows["asked"].notna()], rows[rows["asked"].isna()]
    asked, placed = (np.zeros((len(class_names), len(REGIONS)), dtype=np.int64) for _ in range(2))
    at = counts["label"].to_numpy(dtype=np.int64), counts["region"].map(REGIONS.index).to_numpy(dtype=np.int64)
    asked[at], placed[at] = (counts[name].to_numpy(dtype=np.int64) for name in ("asked", "placed"))
    codes = {name: each[name].to_numpy(dtype=np.int64) for name in ("label", "rival", "predicted")}
    return GeneratedTests(
        class_names,
        _features(each),
        codes["label"],
        (each["region"] == REGIONS[0]).to_numpy(dtype=bool),
        each["parent"].to_numpy(dtype=object),
        each["parent_part"].to_numpy(dtype=object),
        codes["rival"],
        *(each[name].to_numpy(dtype=np.float64) for name in ("t", "distance", "confidence")),
        codes["predicted"],
        *(each[name].to_numpy(dtype=bool) for name in ("in_centroid", "in_boundary")),
        asked=asked,
        placed=placed,
        origin=origin,
    )


def _at_boundary(rows: pd.DataFrame) -> tuple[bool, ...] | None:
    if "parents_at_boundary" not in rows:
        return None
    each = rows[(rows["part"] == "mix") & rows["parents_at_boundary"].notna()].groupby("label")["parents_at_boundary"]
    return tuple(bool(kept) for kept in each.first()) or None


def _suite(rows: pd.DataFrame, class_names: tuple[str, ...], origin: Origin) -> JudgedSuite | None:
    """The suite with the model's answers; None where there is none, as where there is no model to ask."""
    if "read_as" not in rows or len(rows.dropna(subset=["read_as"])) == 0:
        return None
    oracle, each = rows[rows["read_as"].isna()].iloc[0], rows[rows["read_as"].notna()]
    codes = {name: each[name].to_numpy(dtype=np.int64) for name in ("label", "read_as", "rival", "predicted")}
    shape = json.loads(oracle["content"])
    suite = Suite(
        class_names,
        np.frombuffer(b"".join(each["content"]), dtype=np.uint8).reshape(len(each), *shape),
        codes["label"],
        (each["region"] == REGIONS[0]).to_numpy(dtype=bool),
        each["in_region"].to_numpy(dtype=bool),
        codes["read_as"],
        np.array([[digit == "1" for digit in digits] for digits in each["kept_again"]], dtype=bool),
        codes["rival"],
        each["parent"].to_numpy(dtype=object),
        each["parent_part"].to_numpy(dtype=object),
        int(oracle["n_correct"]),
        int(oracle["n_test"]),
        origin,
    )
    return JudgedSuite(suite, codes["predicted"], each["confidence"].to_numpy(dtype=np.float64))


def _features(each: pd.DataFrame) -> np.ndarray:
    """A row for each test, without columns where no features are kept."""
    joined = np.frombuffer(b"".join(each["content"]), dtype="<f4")
    return joined.reshape(len(each), len(joined) // max(len(each), 1))


def _grid(both: GeneratedTests, n_test: int, n_correct: int) -> AccuracyGrid:
    parts = []
    for column in range(len(REGIONS)):
        only = np.arange(len(REGIONS)) == column
        part = both.take(both.for_centroid == (column == 0))
        parts.append(replace(part, asked=both.asked * only, placed=both.placed * only))
    return grid_beside(*parts, n_test=n_test, n_correct=n_correct, sizes=table_sizes(n_test))


def _decoder(rows: pd.DataFrame) -> tuple[Decoder | None, Reconstruction | None]:
    if len(rows) == 0:
        return None, None
    row = rows.iloc[0]
    interval = Interval(float(row["lower"]), float(row["upper"]))
    reconstruction = Reconstruction(float(row["error"]), interval, float(row["baseline"]), int(row["n_test"]))
    return Decoder.from_bytes(row["content"]), reconstruction
