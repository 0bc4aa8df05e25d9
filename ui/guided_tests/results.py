"""What is known of generated tests, of a model's properties and of what is missing, and what can be taken away?"""

from collections.abc import Callable

import numpy as np
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.guided_tests.generate import (
    Properties,
    check_properties,
    generate_missing,
    missing_regions,
    start,
)
from touchstone.core.evaluate.guided_tests.plan import Guided, GuidedTestsPlan, guided_of_rows
from touchstone.core.evaluate.guided_tests.results import GeneratedTests, Origin, RoundTrip, round_trip
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, judge_suite, suite_archive
from touchstone.core.evaluate.test_quality.quality import Looked, measured
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.models.load import read_stored
from touchstone.core.models.networks import one_torch_thread
from touchstone.core.report.guided_tests import answer
from touchstone.core.workspace import Run
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell import background, downloads, page, session

MOST_SENT_AGAIN = 1000
"""So many decoded images are sent through the whole model again at most, taken at random."""
_SEED = 0  # of that choice, and of what is generated to say what is missing


@cache.result(max_entries=4)
def guided(run: Run) -> Guided:
    """All that the finished trials of a run of guided tests tell."""
    data, rows = dataset_of(run.fingerprint), session.workspace().rows(session.owner(), run.id)
    return guided_of_rows(rows, class_names=data.class_names, origin=Origin.of(data))


@cache.task(max_entries=4)
def regions(looked: Looked) -> background.Work[Regions]:
    """The regions that were chosen, drawn by the training part."""
    return background.Work(lambda step: looked.choice.regions(looked.parts.train))


@cache.task(max_entries=4)
def properties(looked: Looked) -> background.Work[Properties]:
    """The three properties of section 4.1 on the test part."""
    within = regions(looked)

    def check(step: Callable[[], None]) -> Properties:
        with one_torch_thread():
            return check_properties(within.future.result(), looked.parts.head, looked.parts.test)

    return background.Work(check)


@cache.task(max_entries=4)
def missing_tests(looked: Looked) -> background.Work[GeneratedTests | None]:
    """Tests where the test set has too few; None where nothing is missing."""
    within, parts = regions(looked), looked.parts

    def generate(step: Callable[[], None]) -> GeneratedTests | None:
        with one_torch_thread():
            begin = start(within.future.result(), parts.head, train=parts.train, test=parts.test)
            missing = missing_regions(measured(looked))
            return generate_missing(begin, missing, seed=_SEED)

    return background.Work(generate)


@cache.task(max_entries=4)
def judged_by(run: Run, model: str) -> background.Work[JudgedSuite]:
    """What another model, named by its fingerprint, makes of a run's pictures. Raises LookupError without pictures."""
    generated, dataset = guided(run), dataset_of(run.fingerprint)
    stored = session.workspace().model_bytes(session.owner(), model)
    return background.Work(lambda step: judged(generated, stored, dataset))


def judged(guided: Guided, stored: bytes, dataset: Dataset) -> JudgedSuite:
    """What another model makes of the same pictures. Raises LookupError where there are none."""
    if guided.suite is None:
        raise LookupError("there are no pictures")
    return judge_suite(guided.suite.suite, read_stored(stored, dataset, apart=True))


@cache.task(max_entries=4)
def sent_again(run: Run, looked: Looked) -> background.Work[RoundTrip | None]:
    """Decoded images of a run, through the whole model; None without a decoder, a model, or a single test."""
    known, within, parts = guided(run), regions(looked), looked.parts

    def send(step: Callable[[], None]) -> RoundTrip | None:
        decoder, model, layer = known.decoder, parts.model, parts.of
        if decoder is None or model is None or layer is None or not len(tests := known.generated):
            return None
        few = tests.take(np.sort(np.random.default_rng(_SEED).permutation(len(tests))[:MOST_SENT_AGAIN]))
        with one_torch_thread():
            images = decoder.decode(few.features)
            return round_trip(few, images, model=model, layer=layer, regions=within.future.result())

    return background.Work(send)


# What can be taken away of generated tests? The tests themselves, all tables, and a report to go with them.


def offer_files(
    run: Run,
    plan: GuidedTestsPlan,
    guided: Guided,
    looked: Looked,
    tested: Properties | None,
    sent: background.Task[RoundTrip | None],
    within: Regions,
) -> None:
    """Have the menu offer all tables, the generated test set and the report, with what is known by now."""
    trip = sent.future.result() if sent.future.done() and sent.future.exception() is None else None
    shown, notes = answer(guided, trip=trip, tested=tested), " ".join(looked.parts.notes)
    also = {"Parts": notes} if notes else {}
    downloads.of_page(run, shown, also=also)
    stem = f"guided-tests-{run.id[:8]}"

    def more() -> None:
        if guided.suite is not None:
            page.download(
                "Suite for pytest (ZIP)",
                lambda: suite(plan, guided, looked),
                name=f"{stem}.zip",
                mime="application/zip",
            )
            st.caption("The pictures, and a file for pytest that tests the next version of the model on them.")
        page.download(
            "Generated features (NPZ)",
            lambda: test_set(plan, guided, looked, within),
            name=f"{stem}.npz",
            mime="application/octet-stream",
        )

    downloads.offer({}, stem="guided-suite", more=more)


def suite(plan: GuidedTestsPlan, guided: Guided, looked: Looked) -> bytes:
    """The pictures, and the file that runs them on any model. Raises LookupError where there are none."""
    if guided.suite is None:
        raise LookupError("there are no pictures")
    return suite_archive(guided.suite, model=plan.model, dataset=looked.dataset.fingerprint, seed=plan.seed)


def test_set(plan: GuidedTestsPlan, guided: Guided, looked: Looked, within: Regions) -> bytes:
    """The generated features as NPZ with what they are of, and the images of a decoder with what the model says."""
    tests, parts = guided.generated, looked.parts
    facts: dict[str, np.ndarray | str | float] = {
        "model_fingerprint": plan.model,
        "data_fingerprint": looked.dataset.fingerprint,
        "layer": parts.layer,
        "theta1": within.theta1,
        "theta2": within.theta2,
        "r": within.radii,
        "unit_of_distance": within.units,
    }
    if guided.decoder is None:
        return tests.to_npz(facts=facts)
    images = guided.decoder.decode(tests.features)
    if parts.model is not None and parts.of is not None:
        trip = round_trip(tests, images, model=parts.model, layer=parts.of, regions=within)
        names = np.array(guided.class_names, dtype=str)
        facts |= {"image_predicted": names[trip.predicted], "image_in_region": trip.in_region}
    return tests.to_npz(images, facts=facts)
