"""What people have goes on working: keys of runs, addresses, links and homes that commit 0919363 wrote."""

import json
import zipfile
from pathlib import Path

import pytest

from touchstone.core.data.dataset import key
from touchstone.core.questions import of_kind
from touchstone.core.report.descriptions import describe
from touchstone.core.trials import Plan, to_json
from touchstone.core.workspace import LOCAL_OWNER, SharedWorkspace, Workspace, load_plan
from touchstone.core.workspace.engine.runner import engine
from touchstone.core.workspace.records import method_version
from touchstone.ui.forms.plan_form import about_plan, plan_at
from touchstone.ui.shell.questions import parameters

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "plans.json").read_text("utf-8"))
ABOUT, PLANS = GOLDEN["about"], GOLDEN["plans"]
KINDS = sorted({entry["kind"] for entry in PLANS})
NEWER = {
    "trials": 1,  # since 2 schemes train on equal sizes, and samples are tested in turn
    "adequacy": 1,  # the same; since 3 smaller parts have the data's own mix of classes
    "covariate_shift": 1,  # since 2 a draw counts for both mixtures, whichever it is from
    "average_case": 1,  # since 2 means of classes rest on fresh draws that are counted; since 3 a trial has all sigmas
    "guided_tests": 1,  # since 2 a suite of pictures judges the whole model, and classes have ten parents
    "folds": 1,  # since 2 steps of SDS k-means go beyond the means
    "sources": 2,  # since 3 ACOL starts as its authors do, and merges sources that are too small to hold out
}
"""The version then of methods that have had another one since: their runs open as computed by an older method."""
each_plan = pytest.mark.parametrize("entry", PLANS, ids=[f"{at}-{entry['kind']}" for at, entry in enumerate(PLANS)])


def _version_then(plan: Plan) -> int:
    return NEWER.get(plan.kind, plan.METHOD_VERSION)


@pytest.fixture
def old_home(touchstone_home: Path) -> Workspace:
    """The home of then, as the app of today opens it."""
    with zipfile.ZipFile(HERE / "home.zip") as archive:
        archive.extractall(touchstone_home)
    return engine().workspace


@each_plan
def test_a_plan_keeps_its_text_and_the_key_of_its_run(entry):
    plan = load_plan(entry["plan"])
    assert to_json(plan) == entry["plan"]
    assert key(to_json(plan), entry["fingerprint"], _version_then(plan)) == entry["key"]


def test_every_plan_keeps_its_address_and_description(old_home):
    for entry in PLANS:
        plan, question = load_plan(entry["plan"]), of_kind(entry["kind"])
        assert question.page == entry["page"]
        address = parameters(question, plan)
        if entry["address"] is not None:  # an address of today may say more, or the same in other words
            assert address is not None
            assert entry["address"].keys() <= address.keys()
            if not entry["address"].items() <= address.items():
                assert plan_at(type(plan), entry["address"], about_plan(plan)) == plan
        assert describe(plan) == entry["description"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("training", "sources", "map")])
def test_an_old_address_leads_to_the_same_plan(kind, old_home, open_page):
    for entry in PLANS:
        if entry["kind"] == kind and entry["address"] is not None and entry["fits"]:
            app = open_page(entry["page"], data=entry["fingerprint"], **entry["address"])
            assert not app.error, entry["address"]
            offer = app.session_state["share_offer"]
            if offer.plan is not None:
                assert to_json(offer.plan) == entry["plan"]
            else:  # a page that offers no command before its run: what it offers leads there all the same
                assert dict(entry["address"]).items() <= dict(offer.parameters).items()


def test_the_old_home_opens_with_its_runs(old_home):
    runs = {run.id: run for run in old_home.runs(LOCAL_OWNER)}
    assert set(ABOUT["runs"].values()) == set(runs)
    for kind, run_id in ABOUT["runs"].items():
        run = runs[run_id]
        if kind == "cancelled":
            assert (run.state, run.n_done) == ("cancelled", 4)
        else:
            assert (run.state, run.n_done, run.n_failed) == ("done", run.n_trials, 0)
        assert len(old_home.rows(LOCAL_OWNER, run_id)) >= run.n_done
        plan = load_plan(run.plan)
        assert run.key == key(to_json(plan), run.fingerprint, _version_then(plan))
        assert method_version(run) == _version_then(plan)


def test_the_old_home_opens_with_its_data_its_model_and_its_predictions(old_home):
    assert old_home.dataset(LOCAL_OWNER, ABOUT["data"]).fingerprint == ABOUT["data"]
    assert old_home.stored_model(LOCAL_OWNER, ABOUT["model"]).name == "net"
    assert old_home.model_bytes(LOCAL_OWNER, ABOUT["model"])
    for fingerprint in ABOUT["predictions"]:
        upload = old_home.predictions(LOCAL_OWNER, fingerprint)
        assert upload.fingerprint == fingerprint
        assert upload.read().select().n_samples == 60


def test_old_links_show_what_they_showed(old_home):
    run = SharedWorkspace(old_home, ABOUT["run_link"])
    assert run.run(run.owner, ABOUT["runs"]["trials"]).n_done == 24
    view = SharedWorkspace(old_home, ABOUT["view_link"])
    assert view.dataset(view.owner, ABOUT["data"]).n_samples == 178
