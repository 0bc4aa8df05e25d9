"""How does a stored model fare on tests made where its test set has few? A plan like any other, class by class.

The rows hold the generated features themselves, so that results are read back without the model.
"""

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, cast, get_args

import numpy as np
import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.guided_tests import generate
from touchstone.core.evaluate.guided_tests.generate import Recipe, Rivals, Start
from touchstone.core.evaluate.guided_tests.results import (
    REGIONS,
    SAMPLES,
    AccuracyGrid,
    GeneratedTests,
    Origin,
    Reconstruction,
    SharedAccuracy,
    accuracy_grid,
    reconstruction,
    shared_accuracy,
    table_sizes,
)
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, Suite, judge_suite, make_suite
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.test_quality.regions import (
    UNITS,
    Unit,
    asks_r,
    asks_theta1,
    asks_theta2,
    asks_unit,
    check_band,
    fit_regions,
)
from touchstone.core.models.classical import stop_if
from touchstone.core.models.decoder import Decoder, fit_decoder
from touchstone.core.models.networks import one_torch_thread
from touchstone.core.parameters import asks, asks_seed, follows, label_of
from touchstone.core.trials import Context, layer_parts
from touchstone.core.trials.layer_parts import LayerParts, TrainingSplit
from touchstone.core.trials.plan import Aside, check_fields, check_whole

# How are generated tests stored? As rows of a table, class by class, with features and pictures as bytes.

COLUMNS = {
    "part": TEXTS,
    "label": "Int64",
    "region": TEXTS,
    "asked": "Int64",
    "placed": "Int64",
    "parents_at_boundary": "boolean",
    "n_test": "Int64",
    "n_correct": "Int64",
    "parent": TEXTS,
    "parent_part": TEXTS,
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
    "kept_again": TEXTS,
    "content": "object",
    "status": TEXTS,
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
_OF_EACH = ("parent_part", "rival", "t", "distance", "confidence", "predicted", "in_centroid", "in_boundary")


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
            **{name: getattr(made, name)[i] for name in _OF_EACH},
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
            **{name: getattr(suite, name)[i] for name in ("parent_part", "rival", "in_region", "read_as")},
            **{name: getattr(judged, name)[i] for name in ("predicted", "confidence")},
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


# The plan of these tests, and its trials.


DECODER_EPOCHS = 10
"""Of a decoder on a page; a plan that says nothing has none."""
MOST_FOR_DECODER = 10_000
"""A decoder is trained on so many training images at most, taken at random."""


@dataclass(frozen=True)
class GuidedTestsPlan:
    """Generate tests of every class in a mix of the two regions, and those of table 2; train a decoder to see them.

    Parameters
    ----------
    model
        The fingerprint of the stored model, or of stored features and probabilities.
    layer
        The layer by its name; None for the usual one.
    r, theta1, theta2, unit
        What the regions are (see `fit_regions`); None for what is usual.
    wcl, noise, rivals
        How features are perturbed (see `Recipe`).
    centroid_share, frequency
        The mix, as the share of the centroid region, and the size, as a share of each class's number of test samples.
    table
        Whether the tests of table 2 are generated, too.
    decoder_epochs
        How long a decoder is trained, which shows tests as images; 0 for none. For images only.
    test_share, split_seed, test_set
        Of the split that says which samples are training and which are test samples: those of the model's own
        TrainingPlan, where it has one.
    seed
        The one number that all randomness of the plan is derived from.

    Raises DataError for a name that cannot be chosen and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = GuidedTestsPlan("f1", decoder_epochs=2)
    >>> [(trial.part, trial.label) for trial in plan.trials(load_example("digits"))][:3], plan.centroid_share
    ([('suite', -1), ('decoder', -1), ('mix', 0)], 0.5)
    """

    model: str = layer_parts.asks_model()
    layer: str | None = layer_parts.asks_layer()
    r: float | None = asks_r()
    theta1: float | None = asks_theta1()
    theta2: float = asks_theta2()
    unit: str = asks_unit()
    wcl: float | None = asks(
        None,
        "Parents up to",
        "Tests are made from samples with at most this confidence; usually a tenth below the end of the boundary.",
        address="wcl",
        within=(0.001, 1.0),
        word="usual",
        means=lambda plan, facts: generate.usual_wcl(plan.theta2),
    )
    noise: float = asks(
        Recipe.noise,
        "Noise",
        "In standard deviations of the class's training features; failed attempts are repeated with less noise.",
        address="perturbed",
        within=(0.0, 10.0, 0.1),
        format="%.2f",
    )
    rivals: str = asks(
        Recipe.rivals,
        "Rivals",
        "The rival class of the boundary: the class each sample is confused with, or all others in turn.",
        address="rivals",
        choices=lambda about: {"nearest": "each sample's own", "even": "all in turn"},
    )
    centroid_share: float = asks(
        0.5,
        "Mix",
        "How many of the tests lie near their class's centroid, and how many at its boundary: centroid first, in "
        "per cent.",
        address="mix",
        place="row",
        choices=lambda about: {share: generate.mix_title(share) for share in generate.MIXES},
        side_by_side=True,
        says=generate.mix_title,
    )
    frequency: float = asks(
        1.0,
        "Size",
        "Tests for each class, as a share of its number of test samples.",
        address="size",
        place="row",
        choices=lambda about: {frequency: generate.size_title(frequency) for frequency in generate.FREQUENCIES},
        side_by_side=True,
        says=generate.size_title,
    )
    table: bool = asks(
        True,
        "Table 2, too",
        "Accuracy over mixes and sizes, as in the paper's table 2: tests per class up to a tenth of the test set.",
        address="table2",
        choices=lambda about: {True: "yes", False: "no"},
    )
    decoder_epochs: int = asks(
        0,
        "Decoder's epochs",
        "Training epochs of the network that turns features into images. 0: show the nearest real images instead.",
        address="decoder",
        within=(0, 1000, 5),
        usual=DECODER_EPOCHS,
        when=lambda values, about: about.data_kind == "image",
    )
    test_share: float = follows(0.2, of=layer_parts.split_field("test_share"))
    split_seed: int = follows(0, of=layer_parts.split_field("split_seed"))
    test_set: str = layer_parts.follows_test_set(layer_parts.split_field("test_set"))
    seed: int = asks_seed()

    described: ClassVar[str] = "{centroid_share}, {frequency} of the test set · {layer} · {model}"

    kind: ClassVar[str] = "guided_tests"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        layer_parts.check_model_and_layer(self.model, self.layer)
        for name in ("theta2", "noise", "centroid_share", "frequency", "test_share"):
            self._check_number(name)
        for name in ("r", "theta1", "wcl"):
            if getattr(self, name) is not None:
                self._check_number(name)
        for name, known in (("unit", UNITS), ("rivals", get_args(Rivals))):
            if getattr(self, name) not in known:
                raise DataError(
                    f"{label_of(self, name)} must be one of {', '.join(known)}, not {getattr(self, name)!r}."
                )
        if type(self.table) is not bool:
            raise DataError(f"{label_of(self, 'table')} must be true or false, not {self.table!r}.")
        layer_parts.check_test_set(self)
        check_whole(self, {"decoder_epochs": 0, "split_seed": 0, "seed": 0})

    def _check_number(self, name: str) -> None:
        value = getattr(self, name)
        if type(value) not in (int, float) or not _RANGES[name][0](value):
            raise DataError(f"{label_of(self, name)} must be {_RANGES[name][1]}, not {value!r}.")
        object.__setattr__(self, name, float(value))  # JSON may say 1 for 1.0

    @property
    def split(self) -> TrainingSplit:
        """Which samples are training and which are test samples."""
        return {"test_share": self.test_share, "split_seed": self.split_seed, "test_set": self.test_set}

    def stored_models(self) -> tuple[str, ...]:
        """The model."""
        return (self.model,)

    def n_trials(self, dataset: Dataset) -> int:
        """The decoder's and those of every class. Raises DataError where the plan does not fit the data set."""
        if self.decoder_epochs and dataset.kind != "image":
            raise DataError(
                f"{dataset.name} holds no images, so that there is nothing to decode: "
                f"{label_of(self, 'decoder_epochs')} must be 0."
            )
        n_classes = dataset.n_classes
        check_band(1 / n_classes if self.theta1 is None else self.theta1, self.theta2, n_classes)
        if self.wcl is not None and self.wcl < 1 / n_classes:
            raise DataError(
                f"{label_of(self, 'wcl')} {self.wcl:g}: with {n_classes} classes no confidence is below "
                f"{1 / n_classes:g}."
            )
        return len(self.trials(dataset))

    def trials(self, dataset: Dataset) -> tuple[Trial, ...]:
        """Every trial: the suite of pictures, the decoder, the mix and the tests of table 2 class by class."""
        parts = ("mix", "table") if self.table else ("mix",)
        made = [Trial("suite", -1)] if dataset.kind == "image" else []
        made += [Trial("decoder", -1)] if self.decoder_epochs else []
        return (*made, *(Trial(part, label) for part in parts for label in range(dataset.n_classes)))

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Rows of the trial (`COLUMNS`). Raises Cancelled soon after `context.should_stop()` turns true."""
        trial = self.trials(dataset)[index]
        stop_if(context.should_stop)
        with one_torch_thread():
            if trial.part in ("suite", "decoder"):
                work = self._suite if trial.part == "suite" else self._decoder
                return work(dataset, self._parts(dataset, context), context)
            begin = _start(self, dataset, Aside(self._parts(dataset, context)))
            stop_if(context.should_stop)
            return self._class(begin, trial)

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        trial = self.trials(dataset)[index]
        return framed([{"part": trial.part, "label": trial.label}], "failed")

    def _class(self, begin: Start, trial: Trial) -> pd.DataFrame:
        if trial.part == "table":
            n_centroid = n_boundary = max(table_sizes(len(begin.test)))
        else:
            n = int(generate.sizes(begin.test, self.frequency)[trial.label])
            n_centroid = round(self.centroid_share * n)
            n_boundary = n - n_centroid
        made = generate.generate_class(begin, trial.label, n_centroid=n_centroid, n_boundary=n_boundary, seed=self.seed)
        return class_rows(made, trial, begin)

    def _suite(self, dataset: Dataset, parts: LayerParts, context: Context) -> pd.DataFrame:
        """The suite of the data set, and what the whole model makes of it; nothing where there is no model."""
        if parts.model is None:
            return framed([{"part": "suite"}], "ok")
        rows = {"train_rows": parts.train_rows, "test_rows": parts.test_rows}
        suite = make_suite(
            dataset.x,
            dataset.y,
            dataset.ids,
            **rows,
            class_names=dataset.class_names,
            seed=self.seed,
            should_stop=context.should_stop,
        )
        return suite_rows(judge_suite(suite, parts.model))

    def _decoder(self, dataset: Dataset, parts: LayerParts, context: Context) -> pd.DataFrame:
        n = len(parts.train_rows)
        few = np.random.default_rng(self.seed).permutation(n)[:MOST_FOR_DECODER]
        decoder = fit_decoder(
            parts.train.features[few],
            dataset.x[parts.train_rows[few]],
            n_epochs=self.decoder_epochs,
            seed=self.seed,
            should_stop=context.should_stop,
            on_epoch=lambda n_done, n_epochs, _: context.report(n_done, n_epochs, "epoch of the decoder"),
        )
        restored = reconstruction(decoder, parts.test.features, dataset.x[parts.test_rows])
        row = {"part": "decoder", "n_test": restored.n, "baseline": restored.baseline, "content": decoder.to_bytes()}
        return framed([row | {"error": restored.error} | restored.interval.columns()], "ok")

    def _parts(self, dataset: Dataset, context: Context) -> LayerParts:
        stored, split = Aside(context.model(self.model)), tuple(self.split.items())
        return _layer_parts(self.model, self.layer, split, dataset, stored)


_RANGES = {
    "r": (lambda value: value > 0, "a number above 0"),
    "theta1": (lambda value: 0 <= value <= 1, "a confidence, from 0 to 1"),
    "theta2": (lambda value: 0 < value <= 1, "a confidence, above 0 and at most 1"),
    "wcl": (lambda value: 0 < value <= 1, "a confidence, above 0 and at most 1"),
    "noise": (lambda value: value >= 0, "a number of at least 0"),
    "centroid_share": (lambda value: 0 <= value <= 1, "a share from 0 to 1"),
    "frequency": (lambda value: value > 0, "a number above 0"),
    "test_share": (lambda value: 0 < value < 1, "a share between 0 and 1"),
}


@lru_cache(maxsize=1)
def _layer_parts(
    model: str, layer: str | None, split: tuple[tuple[str, Any], ...], dataset: Dataset, stored: Aside[bytes]
) -> LayerParts:
    return layer_parts.layer_parts(stored.value, dataset, layer=layer, **dict(split))


@lru_cache(maxsize=1)
def _start(plan: GuidedTestsPlan, dataset: Dataset, held: Aside[LayerParts]) -> Start:
    parts, unit = held.value, cast(Unit, plan.unit)
    regions = fit_regions(parts.train, r=plan.r, theta1=plan.theta1, theta2=plan.theta2, unit=unit)
    recipe = Recipe(wcl=plan.wcl, noise=plan.noise, rivals=cast(Rivals, plan.rivals))
    return generate.start(regions, parts.head, train=parts.train, test=parts.test, recipe=recipe)


# What has a run of guided tests come to so far? Its tests, its table and its decoder, read back from rows.


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
        tests, cells = self.generated, []
        for label in range(len(self.class_names)):
            for region in REGIONS:
                rows = (tests.y == label) & (tests.for_centroid == (region == REGIONS[0]))
                share = shared_accuracy(tests.correct[rows], tests.clusters[rows])
                cells.append({"n_parents": share.n_parents, "accuracy": share.accuracy, **share.interval.columns()})
        return tests.counts_table().join(pd.DataFrame(cells))


def guided_of_rows(rows: pd.DataFrame, *, class_names: tuple[str, ...], origin: Origin = SAMPLES) -> Guided:
    """Read the rows of a GuidedTestsPlan's finished trials back (`plan.COLUMNS`), all of them or the first.

    `origin` says what the real samples are that tests are made from.

    Examples
    --------
    >>> guided_of_rows(pd.DataFrame(), class_names=("a", "b")).made_for
    ()
    """
    done = rows[rows["status"] == "ok"] if len(rows) else pd.DataFrame({"part": pd.Series(dtype=TEXTS)})
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
    return accuracy_grid(*parts, n_test=n_test, n_correct=n_correct, sizes=table_sizes(n_test))


def _decoder(rows: pd.DataFrame) -> tuple[Decoder | None, Reconstruction | None]:
    if len(rows) == 0:
        return None, None
    row = rows.iloc[0]
    interval = Interval(float(row["lower"]), float(row["upper"]))
    reconstruction = Reconstruction(float(row["error"]), interval, float(row["baseline"]), int(row["n_test"]))
    return Decoder.from_bytes(row["content"]), reconstruction
