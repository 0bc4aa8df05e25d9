"""What stands in the card of scores while folds are still being tested."""

from dataclasses import replace

from tests.evaluate.fold_populations import simulated, without_makers
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.report.cluster_folds import key_numbers


def test_folds_tested_are_counted_and_never_against_a_number_that_nobody_knows():
    folded = simulated({"random_folds": 0.1, "sds_folds": 0.3})
    first = (folded.rows["fold"] == 0).to_numpy(dtype=bool) | folded.rows["model"].isna().to_numpy(dtype=bool)
    known = replace(folded, rows=folded.rows[first])
    told = [(each.value, each.interval) for each in key_numbers(fold_performance(known), "model", None)]
    assert told == [("1 of 5", "folds tested")] * 2
    told = [
        (each.value, each.interval)
        for each in key_numbers(fold_performance(without_makers(known, "sds_folds")), "model", None)
    ]
    assert told == [("1 of 5", "folds tested"), ("1", "folds tested, of how many is not known")]
