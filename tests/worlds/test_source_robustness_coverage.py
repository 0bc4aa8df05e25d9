"""Do the intervals over sources hold with real models, for which other sources are also another training set?"""

import numpy as np
import pytest

from tests.worlds.source_robustness_coverage import METHODS, coverage, told
from tests.worlds.source_robustness_populations import MODELS, POPULATIONS, SURELY_SEEN, TRUTHS, measured_truth
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from touchstone.core.split.scheme import MOST_TURNS, turns_of

SHORT = ("5 shared sources, uneven", "5 sources within a class, uneven")
"""The two worlds where intervals were too narrow most often. The table of all is printed by bench_intervals."""


@pytest.mark.parametrize("method", METHODS)
def test_what_is_counted_is_what_the_public_functions_say(method):
    data = POPULATIONS[SHORT[0]].data(np.random.default_rng(3))
    trials = data.trials(left_out=METHODS[method])
    row = expected_accuracy_intervals(trials).overall[0]
    assert row.model == next(iter(MODELS))
    own = {number: (value, interval) for of, number, value, interval in told(data, tuple(METHODS)) if of == method}
    for number in ("exclusive", "inclusive", "rho", "fall"):
        assert own[number] == (getattr(row, number).value, getattr(row, number).over_sources)
    (comparison,) = compare_models(trials)
    assert own["difference"] == (comparison.difference.value, comparison.difference.over_sources)


def test_the_truths_are_those_of_the_populations():
    name = "5 shared sources, uneven, 3 repeats"
    truth, se = measured_truth(POPULATIONS[name], 40, seed=5)
    assert np.abs(np.subtract(truth, TRUTHS[name])).max() < 4 * max(se)


@pytest.mark.parametrize("name", POPULATIONS)
def test_every_source_is_left_out_once(name):
    data = POPULATIONS[name].data(np.random.default_rng(4))
    turns = turns_of(data.y, data.sources)
    assert all(len(np.unique(turns[data.sources == source])) == 1 for source in np.unique(data.sources))
    assert len(np.unique(turns)) == min(len(np.unique(data.sources)), MOST_TURNS)


@pytest.mark.evidence
@pytest.mark.parametrize("name", SHORT)
def test_the_interval_over_sources_holds_with_real_models(name, capsys):
    assert name in SURELY_SEEN
    by_default = coverage(name, 60, methods=("by default",))
    left_out = coverage(name, 20, methods=("sources left out",))
    with capsys.disabled():
        print(f"\n{name}:", *(f"{held.method}, {held.number} {held.share:.0%}" for held in by_default + left_out))
    assert all(held.reaches(0.88) for held in by_default)
    assert all(held.reaches(0.92) for held in left_out)
