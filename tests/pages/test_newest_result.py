"""Does a page whose settings were not computed say what was? It leads to the newest result of its data set."""

from urllib.parse import parse_qs

import pytest

from tests.pages.conftest import plainly
from tests.pages.test_copied_commands import ASKED, stored
from touchstone.core.questions import QUESTIONS, of_kind
from touchstone.ui.shell.page import describe

OF_RUNS = [kind for kind in ASKED if of_kind(kind) is not None]
OTHERS = {"adequacy": {"sizes": "45, all"}}
"""Settings that these ninety rows can have, where the usual ones are too large for them."""


@pytest.mark.parametrize("kind", OF_RUNS)
def test_settings_that_were_not_computed_lead_to_the_newest_result(kind, open_page, workspace):
    run = stored(workspace, kind)
    stem = ASKED[kind]
    app = open_page(stem, data=run.fingerprint, **OTHERS.get(kind, {}))
    assert "Not computed yet for these settings." in plainly(app)
    [link] = [each.proto for each in app.get("link_button")]
    assert describe(run) in link.label.replace("\\", "")
    path, _, query = link.url.partition("?")
    assert path == f"/{QUESTIONS[stem].page}"
    app = open_page(
        stem, **{name: values if len(values) > 1 else values[0] for name, values in parse_qs(query).items()}
    )
    assert "Not computed yet for these settings." not in plainly(app)
    assert not app.get("link_button")


def test_without_a_finished_result_there_is_no_such_way(open_page, wine, workspace):
    app = open_page("source_robustness", data="wine")
    assert "Not computed yet for these settings." in plainly(app)
    assert not app.get("link_button")
