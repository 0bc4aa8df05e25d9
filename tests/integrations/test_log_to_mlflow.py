"""Does any result come into MLflow with its intervals, its claims and all that it says?"""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from touchstone import check, compare, log_to_mlflow, plan, predictions
from touchstone.core import version
from touchstone.core.integrations import ml_flow


@pytest.fixture(scope="module")
def results():
    truth, rng = np.tile(["cat", "dog"], 150), np.random.default_rng(0)
    old, new = (predictions(truth, np.where(rng.random(300) < share, "cat", truth)) for share in (0.1, 0.4))
    return {
        "compared": compare(old, new),
        "asked": check("source_robustness", "wine", models=("nearest_neighbours",), n_repeats=2),
        "planned": plan(difference=0.02, discordant=0.05),
        "data sets": check("data_sets", "wine"),
    }


def test_without_the_package_it_says_what_to_install(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"needs mlflow-skinny, .*: pip install mlflow-skinny\."):
        log_to_mlflow(results["compared"])


def test_more_numbers_than_a_call_takes_go_in_several(results, monkeypatch):
    calls, rest = [], {"set_tags": lambda tags: None, "log_text": lambda text, file: None}
    monkeypatch.setitem(sys.modules, "mlflow", SimpleNamespace(log_metrics=calls.append, **rest))
    log_to_mlflow(results["asked"])
    monkeypatch.setattr(ml_flow, "MOST_AT_ONCE", 3)
    [whole], parts = calls[:], calls
    parts.clear()
    log_to_mlflow(results["asked"])
    assert {name: value for part in parts for name, value in part.items()} == whole
    assert max(map(len, parts)) == 3


@pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy")  # MLflow's store, with SQLAlchemy 2.1
def test_every_result_is_logged_with_its_intervals(results, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed: make integrations")
    monkeypatch.chdir(tmp_path)  # where artifacts go
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    for title, result in results.items():
        with mlflow.start_run() as run:
            log_to_mlflow(result)
            log_to_mlflow(result, title)
        client = mlflow.MlflowClient()
        data, content = client.get_run(run.info.run_id).data, result.to_dict()
        known = [number for number in content["numbers"] if number["value"] is not None]
        for number in known:
            written = ml_flow._plain(number["number"])
            for key, end in {"value": "", "lower": ".low", "upper": ".high", "n": ".n"}.items():
                assert data.metrics.get(written + end) == (number[key] and pytest.approx(number[key]))
        n_known = sum(number[key] is not None for number in known for key in ("value", "lower", "upper", "n"))
        assert len(data.metrics) == 2 * n_known
        assert data.tags["touchstone.version"] == version()
        assert data.tags["touchstone.headline"] == content["verdict"]["headline"]
        for claim in content["claims"]:
            assert claim["decision"] in data.tags[f"touchstone.claim.{claim['code']}"].split(", ")
        assert data.tags[f"touchstone.{ml_flow._plain(title)}.version"] == version()
        for file in ("result", ml_flow._plain(title)):
            place = f"{run.info.artifact_uri}/touchstone/{file}.json"
            assert json.loads(mlflow.artifacts.load_text(place)) == content
