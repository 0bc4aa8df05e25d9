"""What can be taken away of generated tests? The tests themselves, all tables, and a report to go with them."""

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st

from core.evaluate.guided_tests import Guided, Properties, RoundTrip
from core.evaluate.guided_tests.plan import GuidedTestsPlan
from core.evaluate.guided_tests.report import guided_report
from core.evaluate.guided_tests.verdict import round_trip_finding
from core.report.guided_tests import body
from core.workspace.run import Run
from ui.data import choice as data_choice
from ui.shell import exports, page
from ui.shell.background import Task
from ui.test_quality.work import Looked


def downloads(
    run: Run,
    plan: GuidedTestsPlan,
    found: Guided,
    looked: Looked,
    tested: Properties | None,
    sent: Task[RoundTrip | None],
) -> None:
    """A row of tables, and below it the generated test set and the report, with what is known by now."""
    trip = sent.future.result() if sent.future.done() and sent.future.exception() is None else None
    st.subheader("In numbers", anchor=False)
    stem = f"guided-tests-{run.id[:8]}"
    exports.downloads(run, _tables(found, tested), stem="guided-tests", body=lambda: body(found))
    with st.container(horizontal=True, vertical_alignment="center"):
        page.download(
            "Generated test set (NPZ)", lambda: test_set(found), name=f"{stem}.npz", mime="application/octet-stream"
        )
        page.download(
            "Report (Markdown)",
            lambda: report(plan, found, looked, tested, trip).encode(),
            name=f"{stem}.md",
            mime="text/markdown",
        )
    st.caption(
        "The test set has features, labels, region, rival and parent ids, and the decoded images where there is a "
        "decoder; it is read without pickle."
    )


def test_set(found: Guided) -> bytes:
    """The generated tests as NPZ, with their images where a decoder made some."""
    tests = found.generated
    return tests.to_npz(None if found.decoder is None else found.decoder.decode(tests.features))


def report(
    plan: GuidedTestsPlan, found: Guided, looked: Looked, tested: Properties | None, trip: RoundTrip | None
) -> str:
    """The report as Markdown, with all that is known by now."""
    findings = () if trip is None else (round_trip_finding(trip, len(found.generated)),)
    return guided_report(
        found,
        plan,
        title=data_choice.required().title,
        properties=tested,
        findings=findings,
        notes=looked.parts.notes,
    )


def _tables(found: Guided, tested: Properties | None) -> Mapping[str, Callable[[], pd.DataFrame]]:
    tables: dict[str, Callable[[], pd.DataFrame]] = {"Tests": found.generated.table, "Classes": found.class_table}
    if found.grid is not None:
        tables["Table 2"] = found.grid.table
    if tested is not None:
        tables |= {"Properties": tested.table, "Violations": tested.violations}
    return tables
