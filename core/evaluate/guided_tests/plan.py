"""How does a stored model fare on tests made where its test set has few? A plan like any other, class by class.

The rows hold the generated features themselves, so that results are read back without the model (`stored.py`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, cast, get_args

import numpy as np
import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.guided_tests import generate
from touchstone.core.evaluate.guided_tests.generate import Recipe, Rivals, Start
from touchstone.core.evaluate.guided_tests.images import reconstruction
from touchstone.core.evaluate.guided_tests.judged_suite import judge_suite
from touchstone.core.evaluate.guided_tests.results import table_sizes
from touchstone.core.evaluate.guided_tests.rows import Trial, class_rows, framed, suite_rows
from touchstone.core.evaluate.guided_tests.suite import make_suite
from touchstone.core.evaluate.test_quality import UNITS, fit_regions
from touchstone.core.evaluate.test_quality.regions import Unit, asks_r, asks_theta1, asks_theta2, asks_unit, check_band
from touchstone.core.models.classical import stop_if
from touchstone.core.models.decoder import fit_decoder
from touchstone.core.models.training import one_torch_thread
from touchstone.core.parameters import asks, asks_seed, follows, label_of
from touchstone.core.trials import Context, layer_parts
from touchstone.core.trials.layer_parts import LayerParts, TrainingSplit
from touchstone.core.trials.plan import Aside, check_fields, check_whole

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
                parts = _parts(self._of_layer(), dataset, Aside(context.model(self.model)))
                work = self._suite if trial.part == "suite" else self._decoder
                return work(dataset, parts, context)
            begin = _start(self._of_start(), dataset, Aside(context.model(self.model)))
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
        restoring = {"error": restored.error, "lower": restored.interval.lower, "upper": restored.interval.upper}
        row = {"part": "decoder", "n_test": restored.n, "baseline": restored.baseline, "content": decoder.to_bytes()}
        return framed([row | restoring], "ok")

    def _of_layer(self) -> "_OfLayer":
        return _OfLayer(self.model, self.layer, tuple(self.split.items()))

    def _of_start(self) -> "_OfStart":
        recipe = Recipe(wcl=self.wcl, noise=self.noise, rivals=cast(Rivals, self.rivals))
        return _OfStart(self._of_layer(), self.r, self.theta1, self.theta2, cast(Unit, self.unit), recipe)


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


@dataclass(frozen=True)
class _OfLayer:
    """What the samples of a layer depend on."""

    model: str
    name: str | None
    split: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class _OfStart:
    """What generation begins with."""

    layer: _OfLayer
    r: float | None
    theta1: float | None
    theta2: float
    unit: Unit
    recipe: Recipe


@lru_cache(maxsize=1)
def _parts(layer: _OfLayer, dataset: Dataset, stored: Aside[bytes]) -> LayerParts:
    return layer_parts.layer_parts(stored.value, dataset, layer=layer.name, **dict(layer.split))


@lru_cache(maxsize=1)
def _start(wanted: _OfStart, dataset: Dataset, stored: Aside[bytes]) -> Start:
    parts = _parts(wanted.layer, dataset, stored)
    thresholds = {"r": wanted.r, "theta1": wanted.theta1, "theta2": wanted.theta2, "unit": wanted.unit}
    regions = fit_regions(parts.train, **thresholds)
    return generate.start(regions, parts.head, train=parts.train, test=parts.test, recipe=wanted.recipe)
