"""Covariate shift on real workers, which get the model or the record from the workspace: the same rows as here."""

import pandas as pd
import pytest

from tests.evaluate.feature_populations import cloud, head
from tests.workspace.conftest import wait_while_running
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan, shift_of_rows
from touchstone.core.models.layer_files import record_of
from touchstone.core.trials import Context
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.runner import Engine


@pytest.mark.parametrize("layer", [None, "last convolution"])
def test_a_record_is_measured_and_a_layer_that_it_lacks_is_a_failure_with_a_reason(workspace, executor, layer):
    of = head(2, 5)
    data, record = record_of(cloud(of, 30, seed=1), cloud(of, 15, seed=2), name="clouds")
    fingerprint = workspace.add_dataset(LOCAL_OWNER, data)
    model = workspace.keep_model(LOCAL_OWNER, record.to_bytes(), name="clouds")
    plan = CovariateShiftPlan(model, layer, n_resplits=59, n_draws=200)
    run = workspace.create_run(LOCAL_OWNER, plan, fingerprint, n_trials=plan.n_trials(data))
    assert Engine(workspace, executor).start(LOCAL_OWNER, run.id)
    run = wait_while_running(workspace, run.id)
    there = workspace.rows(LOCAL_OWNER, run.id)
    assert (run.state, run.n_done) == ("done", 4)
    if layer is None:
        context = Context(model={model: record.to_bytes()}.__getitem__)
        here = pd.concat([plan.run_trial(data, trial, context=context) for trial in range(4)], ignore_index=True)
        pd.testing.assert_frame_equal(there.drop(columns="seconds"), here.drop(columns="seconds"))
    else:
        assert run.n_failed == 4
        assert "no layer 'last convolution'" in run.errors[0]
        found = shift_of_rows(there, plan, data.class_names)
        assert [one.note for one in found.classes] == ["could not be measured"] * 2
