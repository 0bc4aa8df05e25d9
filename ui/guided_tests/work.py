"""What does the page of guided tests have worked out beside it? Everything rests on a layer and its regions."""

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.guided_tests.generate import (
    Properties,
    check_properties,
    generate_missing,
    label_next,
    missing_regions,
    start,
)
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.results import GeneratedTests, RoundTrip, round_trip
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, judge_suite
from touchstone.core.evaluate.test_quality import quality as quality_work
from touchstone.core.evaluate.test_quality.quality import Looked
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.load import read_stored
from touchstone.core.models.networks import one_torch_thread
from touchstone.core.trials.layer_parts import LayerParts

MOST_SENT_AGAIN = 1000
"""So many decoded images are sent through the whole model again at most, taken at random."""
_SEED = 0  # of that choice, and of what is generated to say what is missing


def regions(looked: Looked) -> Regions:
    """The regions that the training part draws. Raises DataError where they cannot be drawn."""
    return looked.choice.regions(looked.parts.train)


def tested(looked: Looked, within: Regions) -> Properties:
    """The three properties of section 4.1 on the test part."""
    with one_torch_thread():
        return check_properties(within, looked.parts.head, looked.parts.test)


def missing(looked: Looked, within: Regions) -> GeneratedTests | None:
    """Tests where the test set has too few; None where nothing is missing."""
    parts = looked.parts
    with one_torch_thread():
        begin = start(within, parts.head, train=parts.train, test=parts.test)
        return generate_missing(begin, missing_regions(quality_work.measured(looked)), seed=_SEED)


def next_ones(wanted: GeneratedTests | None, pool: LayerSamples, within: Regions, n: int) -> pd.DataFrame:
    """The samples of a pool that the model is least sure of."""
    return label_next(wanted, pool, within, n=n)


def sent_again(guided: Guided, parts: LayerParts, within: Regions) -> RoundTrip | None:
    """Decoded images, through the whole model; None without a decoder, a model, or a single test."""
    if guided.decoder is None or parts.model is None or parts.of is None or not len(guided.generated):
        return None
    tests = guided.generated
    rows = np.random.default_rng(_SEED).permutation(len(tests))[:MOST_SENT_AGAIN]
    few = tests.take(np.sort(rows))
    with one_torch_thread():
        return round_trip(few, guided.decoder.decode(few.features), model=parts.model, layer=parts.of, regions=within)


def judged_by(guided: Guided, stored: bytes, dataset: Dataset) -> JudgedSuite:
    """What another model makes of the same pictures. Raises LookupError where there are none."""
    if guided.suite is None:
        raise LookupError("there are no pictures")
    return judge_suite(guided.suite.suite, read_stored(stored, dataset, apart=True))


def content_of(dataset: Dataset, rows: np.ndarray, table: pd.DataFrame) -> pd.DataFrame:
    """A table of samples with what they are: their text, or their columns; of images nothing more."""
    if dataset.kind == "image":
        return table
    names = ("text",) if dataset.kind == "text" else dataset.feature_names
    values = dataset.x[rows][None] if dataset.kind == "text" else dataset.x[rows].T
    taken = set(table.columns)
    columns = {
        f"{name} (input)" if name in taken else name: values_of_column
        for name, values_of_column in zip(names, values, strict=True)
    }
    return pd.concat([table.reset_index(drop=True), pd.DataFrame(columns)], axis=1)
