"""What do trials without some sources tell? The jackknife over turns, by hand, also for the baseline."""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.populations import frame, trial_rows
from tests.worlds.source_robustness_populations import RealPopulation
from touchstone.core.evaluate.source_robustness.counts import groups
from touchstone.core.evaluate.source_robustness.estimate import error_over_sources, mc_error, measure
from touchstone.core.evaluate.source_robustness.expected import baseline
from touchstone.core.trials.trial_plan import EXCLUSIVE

SIZE = 100
WHOLE = {"w1": 90, "w2": 60, "w3": 85}
WITHOUT = {("w1", "w2"): 80, ("w1", "w3"): 88, ("w2", "w1"): 40, ("w2", "w3"): 58, ("w3", "w1"): 75, ("w3", "w2"): 95}
"""Right of each source that is tested (first), where another (second) is missing from training."""


def turn_rows(tested: str, missing: str, repeat: int, turn: int) -> pd.DataFrame:
    right = WITHOUT.get((tested, missing), 0)
    rows = frame(trial_rows({("a", tested): (right, SIZE)}, repeat=repeat)).assign(left_out=turn)
    rows = rows[rows["source"].isna()]
    return rows if tested != missing else rows.assign(n_correct=0, n_label=0, n_test=0)


def trials() -> pd.DataFrame:
    whole = [frame(trial_rows({("a", name): (right, SIZE)}, repeat=r)) for r, (name, right) in enumerate(WHOLE.items())]
    turns = [turn_rows(name, other, r, t) for r, name in enumerate(WHOLE) for t, other in enumerate(WHOLE)]
    return pd.concat([*(rows.assign(left_out=pd.NA) for rows in whole), *turns]).astype({"left_out": "Int64"})


def measured(rows: pd.DataFrame):
    (group,) = groups(rows)
    return measure(group.models["model"][EXCLUSIVE], group.layout, EXCLUSIVE, np.array([True])), group.layout


def test_the_jackknife_over_turns_by_hand():
    exclusive, layout = measured(trials())
    without = np.array([np.mean([WITHOUT[t, m] / SIZE for t in WHOLE if t != m]) for m in WHOLE])
    assert exclusive.value == pytest.approx(np.mean(list(WHOLE.values())) / SIZE)
    assert exclusive.left_out == pytest.approx(without)
    error = error_over_sources([(1.0, exclusive)], layout)
    jackknife = np.sqrt(2 / 3 * np.sum((without - without.mean()) ** 2))
    assert error.se == pytest.approx(jackknife)
    assert jackknife > mc_error([(1.0, exclusive)])
    assert error.df == 2


def test_a_turn_that_is_not_yet_finished_leaves_what_was_known_before():
    rows = trials()
    part, layout = measured(rows[~((rows["left_out"] == 2).fillna(False) & (rows["repeat"] == 0))])
    none, _ = measured(rows[rows["left_out"].isna()])
    assert np.isnan(part.left_out).tolist() == [False, False, True]
    assert error_over_sources([(1.0, part)], layout) == error_over_sources([(1.0, none)], layout)


def test_the_baseline_is_counted_without_the_same_sources():
    rows = RealPopulation(n_repeats=5, size_sd=0.7).data(np.random.default_rng(0)).trials(left_out=True)
    (group,) = groups(rows[rows["model"] == "all features"])
    counts = group.models["all features"][EXCLUSIVE]
    told = baseline("all features", 0, group.layout, {EXCLUSIVE: counts})
    majority = group.layout.labels.index(told.majority)
    of_turn = np.zeros(5)
    for code in (0, 1):
        n, right = counts.left_out_n[..., code], counts.left_out_correct[..., code]
        accuracy = np.divide(right, n, out=np.full(n.shape, np.nan), where=n > 0)
        of_turn += (told.exclusive if code == majority else 1 - told.exclusive) * np.nanmean(accuracy, axis=1)
    jackknife = np.sqrt(4 / 5 * np.sum((of_turn - of_turn.mean()) ** 2))
    assert told.above.se == pytest.approx(jackknife)
    assert told.above.df == 4
