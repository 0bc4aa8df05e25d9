"""Sentences of runs hold where samples came in units, and what is there is still found.

The long run is `python -m benchmarks.bench_designs --parts runs`.
"""

from dataclasses import replace

import pytest
from scipy.stats import binom

from tests.worlds.units import NULLS, POWER

N_DATA_SETS = 8


@pytest.mark.evidence
def test_few_verdicts_have_a_false_sentence():
    n_wrong = sum(bool(design.wrong(seed)) for design in NULLS for seed in range(N_DATA_SETS))
    assert n_wrong <= binom.isf(0.001, len(NULLS) * N_DATA_SETS, 0.05)


@pytest.mark.parametrize("design", [each for each in NULLS if each.copies], ids=lambda design: design.name)
def test_rows_three_times_are_not_three_times_as_much_evidence(design):
    """Each of these says something false in a third of data sets or more where units are not known."""
    few = replace(design, n_units=60) if "shift" in design.name else design
    assert sum(bool(few.wrong(seed)) for seed in range(2)) <= 1


@pytest.mark.evidence
@pytest.mark.parametrize("design", POWER, ids=lambda design: design.name)
def test_what_is_there_is_found_over_units_too(design):
    assert sum(design.finds(seed) for seed in range(N_DATA_SETS)) >= N_DATA_SETS * 0.6
