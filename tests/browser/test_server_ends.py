"""A server that is asked to end, as systemd and docker ask it, gives back the runs that it was working on."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import serve
from tests.browser.waiting import click
from touchstone.core.workspace import LOCAL_OWNER, Workspace
from touchstone.core.workspace.schema import RunRow

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
TRIALS = re.compile(r"\d+ of 3.200 trials")
SECONDS_GIVEN = 10.0
"""What docker gives a server to end in, before it is killed."""


def test_a_server_that_is_asked_to_end_gives_its_run_back_to_be_resumed_at_once(page: Page, tmp_path: Path):
    with serve(tmp_path) as server:
        page.goto(f"{server.url}/source_robustness?data=wine&repeats=400")
        click(page.get_by_role("button", name="Run", exact=True))
        expect(page.get_by_test_id("stProgress").get_by_text(TRIALS)).to_be_visible()
        row = row_of_the_run(tmp_path)
        assert (row.state, row.lease_owner is None) == ("running", False)
        os.kill(server.process, signal.SIGTERM)  # with the page still open, which follows the run
        asked = time.monotonic()
        while (row := row_of_the_run(tmp_path)).lease_owner and time.monotonic() - asked < SECONDS_GIVEN:
            time.sleep(0.05)
        assert (row.state, row.lease_owner) == ("interrupted", None)
    with serve(tmp_path) as server:
        page.goto(f"{server.url}/runs")
        run = page.locator("[class*=st-key-run-]").filter(has_text=TRIALS)
        expect(run.get_by_text("interrupted")).to_be_visible()
        click(run.get_by_role("button", name="Resume"))
        expect(run.get_by_role("button", name="Cancel")).to_be_visible()
        assert row_of_the_run(tmp_path).state == "running"


def row_of_the_run(home: Path) -> RunRow:
    """The run as it stands in the database; what a workspace says of it takes dead processes into account, too."""
    workspace = Workspace(home)
    try:
        [run] = [run for run in workspace.runs(LOCAL_OWNER) if run.n_trials == 3200]  # its clouds are another
        with workspace._store.session() as session:
            return session.get_one(RunRow, run.id)
    finally:
        workspace.close()
