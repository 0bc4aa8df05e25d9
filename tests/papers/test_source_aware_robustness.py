"""The paper's printed numbers: is rho what section 4 says it is, in every cell of every table?"""

import pytest

from tests.papers.source_aware_robustness import CNNS, INTERVALS, MODELS, RHO
from touchstone.core.evaluate.source_robustness import AccuracyInterval

CELLS = [
    *((f"Table 1, {model}, {clustering}", *cell) for model, by in MODELS.items() for clustering, cell in by.items()),
    *(
        (f"Tables 2 and 3, {model}, {size} samples", *interval, rho)
        for size, intervals in INTERVALS.items()
        for model, interval, rho in zip(CNNS, intervals, RHO[size], strict=True)
    ),
]


@pytest.mark.parametrize(("exclusive", "inclusive", "rho"), [cell[1:] for cell in CELLS], ids=[c[0] for c in CELLS])
def test_rho_recomputed_from_the_printed_interval_agrees_with_the_printed_rho(exclusive, inclusive, rho):
    assert AccuracyInterval(exclusive, inclusive).rho == pytest.approx(rho, abs=6e-4)


def test_every_cell_of_the_tables_is_there():
    assert len(CELLS) == 10 + 21


def test_tables_2_and_3_end_where_table_1_stands():
    for model, interval, rho in zip(CNNS, INTERVALS["56K"], RHO["56K"], strict=True):
        assert (*interval, rho) == MODELS[model]["ACOL"]
