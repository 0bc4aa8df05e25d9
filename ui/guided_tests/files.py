"""What can be taken away of generated tests? The tests themselves, all tables, and a report to go with them."""

import numpy as np
import streamlit as st

from touchstone.core.evaluate.guided_tests import Guided, Properties, RoundTrip, round_trip
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.guided_tests.suite_file import suite_archive
from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.evaluate.test_quality.looked import Looked
from touchstone.core.report.guided_tests import answer
from touchstone.core.report.html import to_markdown
from touchstone.core.workspace.runs import Run
from touchstone.ui.shell import downloads, page
from touchstone.ui.shell.background import Task


def offer(
    run: Run,
    plan: GuidedTestsPlan,
    guided: Guided,
    looked: Looked,
    tested: Properties | None,
    sent: Task[RoundTrip | None],
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
        page.download(
            "Report (Markdown)",
            lambda: downloads.report_file(run, shown, also=also, write=to_markdown),
            name=f"{stem}.md",
            mime="text/markdown",
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
