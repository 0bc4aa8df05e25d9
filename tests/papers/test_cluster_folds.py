"""The paper's printed numbers: are mean and deviation what we call so, and do its files give the F1 they should?"""

import numpy as np
import pytest

from tests.papers.cluster_folds import PLACEHOLDERS, TABLE_1, TABLE_3
from touchstone.core.data.predictions.upload import GivenFile, folded_upload
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import population_std
from touchstone.core.evaluate.cluster_folds.tested import rows_of_tables
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict

ROWS = [
    pytest.param(*row, id=f"Table {number}, {splits}")
    for number, table in ((1, TABLE_1), (3, TABLE_3))
    for splits, row in table.items()
]


@pytest.mark.parametrize(("folds", "mean", "std"), ROWS)
def test_mean_and_population_deviation_agree_with_the_printed_ones(folds, mean, std):
    assert round(float(np.mean(folds)), 1) == mean
    assert round(population_std(np.array(folds)), 1) == std


def test_the_sample_deviation_is_not_the_printed_one():
    rows = [*TABLE_1.values(), *TABLE_3.values()]
    assert [round(float(np.std(folds, ddof=1)), 1) == std for folds, _, std in rows] == [False, True, False, False]


def test_the_tools_own_predictions_on_patents_score_as_they_should_and_are_called_placeholders(shared_data):
    tables = {}
    for scheme in PLACEHOLDERS:
        predictions, folds = (
            GivenFile(
                f"{kind}_{scheme}.tsv",
                (shared_data / "clusterdatasplit" / f"patent_classification__{kind}_{scheme}.tsv").read_bytes(),
            )
            for kind in ("predictions", "datasplits")
        )
        tables[scheme] = folded_upload(predictions, folds).read()
    found = fold_performance(rows_of_tables(tables))
    for run in found.runs:
        scores = [round(100 * fold.score.value, 1) for fold in run.folds]
        assert scores == pytest.approx(PLACEHOLDERS[run.scheme], abs=1e-9)
    assert any("placeholders" in finding and "Table 3" in finding for finding in fold_verdict(found).findings)
