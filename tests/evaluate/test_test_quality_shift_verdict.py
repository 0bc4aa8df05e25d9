"""What a covariate shift comes to in words, and the one test that needs no correction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.core.evaluate.covariate_shift import CovariateShift, Divergence, class_shift, corrected
from touchstone.core.evaluate.test_quality.shift_plan import FEWEST_RESPLITS, shift_verdict, together


def piece(value: float) -> Divergence:
    return Divergence(value, 0.01, 3, 0.9, 10, 10)


def shift(observed: list[float], null: np.ndarray) -> CovariateShift:
    """Classes of these divergences, each with its row of `null`."""
    classes = [
        class_shift(f"class {code}", 600, 500, [piece(value), *map(piece, row.tolist())])
        for code, (value, row) in enumerate(zip(observed, null, strict=True))
    ]
    return corrected(classes)


def null(n_classes: int, n_resplits: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.2, size=(n_classes, n_resplits))


def test_all_classes_together_by_hand():
    found = together(shift([0.3, 0.1], np.array([[0.1, 0.4, 0.2], [0.1, 0.2, 0.1]])))
    assert found.value == pytest.approx(0.2)
    assert found.by_chance == pytest.approx((0.1 + 0.3 + 0.15) / 3)
    assert found.p_value == 2 / 4  # one of three means, .3, is as large as .2
    assert (found.n_classes, found.n_resplits) == (2, 3)


def test_classes_that_are_not_measured_take_no_part():
    unknown = class_shift("few", 5, 2, [Divergence(float("nan"), float("nan"), 0, float("nan"), 0, 0)])
    known = shift([0.5], null(1, 99)).classes
    assert together(corrected([*known, unknown])).n_classes == 1
    said = shift_verdict(corrected([unknown]))
    assert said.headline == "No class has enough samples for this test."
    assert said.findings == ("“few”: fewer than 10 samples in a part, or none that differ.",)


def test_while_resplits_are_coming_in_the_shortest_row_counts():
    long, short = shift([0.5], null(1, 9)).classes[0], shift([0.5], null(1, 4)).classes[0]
    assert together(corrected([long, short])).n_resplits == 4
    nothing = class_shift("new", 600, 500, [piece(0.5)])
    assert np.isnan(together(corrected([long, nothing])).p_value)


@given(st.integers(1, 30), st.integers(1, 60), st.integers(0, 5))
@settings(max_examples=25)
def test_p_lies_in_its_range_and_does_not_depend_on_order(n_classes, n_resplits, seed):
    observed = np.random.default_rng(seed).uniform(0.1, 0.2, size=n_classes).tolist()
    rows = null(n_classes, n_resplits, seed)
    found, turned = together(shift(observed, rows)), together(shift(observed[::-1], rows[::-1]))
    assert 1 / (1 + n_resplits) <= found.p_value <= 1
    assert found.p_value == turned.p_value


def test_with_too_few_resplits_nothing_is_named():
    said = shift_verdict(shift([0.9] * 10, null(10, FEWEST_RESPLITS - 1)))
    assert said.headline == "19 re-splits are too few to decide whether a class has shifted; at least 20 are needed."


@pytest.mark.parametrize("n_classes", [10, 100])
def test_with_99_resplits_a_class_of_many_that_moved_is_named(n_classes):
    said = shift_verdict(shift([0.9] + [0.15] * (n_classes - 1), null(n_classes, 99)))
    assert said.headline == f"1 of {n_classes} classes has shifted significantly from training to test: “class 0”."
    assert "class 0" in said.advice


def test_a_little_in_every_class_is_found_though_none_stands_out():
    said = shift_verdict(shift([0.185] * 10, null(10, 99)))
    assert said.headline.startswith("All classes together have shifted significantly from training to test (p = .010)")


def test_where_nothing_moved_it_says_so_and_what_that_is_worth():
    said = shift_verdict(shift([0.1] * 3, null(3, 60)))
    assert said.headline == "No class of 3 has shifted significantly from training to test."
    assert said.advice == ""
    assert said.used == (
        "n = 1\u202f500 test samples against 1\u202f800 training samples, 60 re-splits of each class. Directions "
        "used keep 90.0 % to 90.0 % of the variance."
    )
