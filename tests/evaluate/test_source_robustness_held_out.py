"""Is the hardest source found once, drawn towards the others, and named only where it is harder than luck?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.evaluate.populations import frame, trial_rows
from touchstone.core.evaluate.source_robustness import (
    HeldOutSource,
    expected_accuracy_intervals,
    hardest,
    same_clusters,
)

NAN = float("nan")
USUAL = HeldOutSource("svm", "kmeans", 90, 0, "a", "0", 4, 50, 0.9, 0.79, 0.96, 0.97, 0.1)


def sources(*accuracies, **other) -> list[HeldOutSource]:
    return [replace(USUAL, source=str(place), exclusive=a, **other) for place, a in enumerate(accuracies)]


def test_the_lowest_of_many_alike_is_not_named():
    rng = np.random.default_rng(3)
    accuracies = rng.binomial(50, 0.9, 200) / 50
    first, *_ = hardest(sources(*accuracies))
    assert accuracies.min() < 0.8
    assert first.claim.decision == "undecided"
    assert first.shrunk > 0.85, "most of the distance of the lowest is luck"


def test_a_source_that_is_hard_is_named_with_an_interval_that_allows_for_the_others():
    first, *rest = hardest(sources(*[0.9] * 9, 0.4))
    assert (first.source.source, first.claim.decision) == ("9", "above")
    assert first.interval.lower < 0.3
    assert 0.4 < first.shrunk < 0.5
    assert not any(row.claim.decision == "above" for row in rest)


def test_the_test_is_the_exact_one_of_two_shares():
    first, *_ = hardest(sources(0.9, 0.5, moved=0.0), same={})
    tail = stats.fisher_exact([[25, 25], [5, 45]], alternative="greater").pvalue
    assert first.claim.p_value == pytest.approx(2 * 2 * tail, rel=1e-6)


def test_one_wrong_sample_beside_others_that_are_all_right_proves_nothing():
    first, *_ = hardest(sources(29 / 30, 1.0, 1.0, n=30, moved=0.0))
    assert first.claim.p_value == 1.0
    assert first.claim.decision == "undecided"


@pytest.mark.parametrize(
    ("n_sources", "n", "accuracy", "n_classes"), [(3, 30, 0.99, 1), (2, 50, 0.98, 1), (5, 36, 0.985, 10)]
)
def test_sources_alike_are_rarely_called_harder(n_sources, n, accuracy, n_classes):
    rng, n_claimed = np.random.default_rng(4), 0
    for _ in range(100):
        alike = [
            replace(
                USUAL,
                label=f"class {label}",
                source=str(place),
                n=n,
                exclusive=rng.binomial(n, accuracy) / n,
                moved=0.0,
            )
            for label in range(n_classes)
            for place in range(n_sources)
        ]
        n_claimed += any(row.claim.decision == "above" for row in hardest(alike))
    assert n_claimed <= stats.binom.isf(0.001, 100, 0.05)


def test_sources_held_out_once_decide_nothing():
    first, *_ = hardest(sources(*[0.9] * 9, 0.1, moved=NAN, n_repeats=1))
    assert not first.claim.interval.known
    assert first.interval.lower < 0.1 < first.interval.upper, "its samples are known"
    assert first.claim.decision == "undecided"


def test_what_trainings_change_makes_a_source_less_sure():
    steady, shaky = (hardest(sources(*[0.9] * 9, 0.7, moved=moved))[0] for moved in (0.0, 40.0))
    assert steady.claim.p_value < shaky.claim.p_value


def test_a_source_found_again_by_another_clustering_counts_once():
    again = [replace(source, clustering=1) for source in sources(0.9, 0.5)]
    rows = hardest([*sources(0.9, 0.5, 0.8), *again])
    assert len(rows) == 3
    assert {row.source.source: row.source.n_repeats for row in rows} == {"0": 8, "1": 8, "2": 4}
    alike = hardest(sources(0.9, 0.9, 0.9))
    assert len(alike) == 3, "clusters of one clustering are never the same"


def test_the_same_samples_are_the_same_cluster_whatever_the_counts():
    names = [np.repeat(["0", "1"], 50), np.repeat(["4", "3"], [49, 51])]
    same = same_clusters(names, np.array(["a"] * 100))
    found = [
        *sources(0.9, 0.5),
        *(replace(one, clustering=1, source=name, n=51) for one, name in zip(sources(0.88, 0.5), "43", strict=True)),
    ]
    assert len(hardest(found)) == 4
    assert len(hardest(found, same=same)) == 2


def test_a_class_of_one_source_is_left_out():
    lone = replace(USUAL, label="b", source="7", exclusive=0.1)
    assert [row.source.label for row in hardest([*sources(0.9, 0.8), lone])] == ["a", "a"]
    assert hardest([lone]) == ()
    assert hardest([]) == ()


def test_how_far_trainings_move_a_source_is_counted_by_hand():
    rows = [
        row
        for repeat, right in enumerate((6, 8))
        for row in trial_rows({("a", "0"): (right, 10), ("b", str(5 + repeat)): (9, 10)}, repeat=repeat)
    ]
    found = {source.source: source for source in expected_accuracy_intervals(frame(rows)).held_out}
    assert found["0"].moved == pytest.approx(2 / (10 * 0.7 * 0.3))
    assert np.isnan(found["5"].moved)
