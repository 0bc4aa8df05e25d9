"""Is a model as often right as it says? How often the interval holds the truth, also where hardly any is wrong."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, special, stats

from touchstone.core.evaluate.calibration import overconfidence
from touchstone.core.evaluate.units import samples_as_units, units_of

Samples = tuple[np.ndarray, np.ndarray]
KINDS = {
    "calibrated": (1.0, 0.0, 1.0),
    "calibrated, unlike each other": (1.0, 0.0, 2.5),
    "five times too sure": (5.0, 0.0, 1.5),
    "too sure by one logit": (1.0, 1.0, 0.3),
}


def model(accuracy: float, kind: str) -> tuple[float, Callable[[int, np.random.Generator], Samples]]:
    """How overconfident a model of this accuracy truly is, and a draw of its confidences and right answers."""
    temperature, offset, spread = KINDS[kind]
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    middle = optimize.brentq(lambda m: weights @ special.expit(m + spread * nodes) - accuracy, -5, 15)
    truth = float(weights @ special.expit(temperature * (middle + spread * nodes) + offset)) - accuracy

    def draw(n: int, rng: np.random.Generator) -> Samples:
        logit = middle + spread * rng.normal(size=n)
        return special.expit(temperature * logit + offset), rng.random(n) < special.expit(logit)

    return truth, draw


def test_of_one_confidence_it_is_clopper_and_pearsons_interval_turned_around():
    found = overconfidence(np.full(200, 0.97), np.arange(200) >= 9, samples_as_units(200))
    ends = stats.binomtest(191, 200, 0.97).proportion_ci()
    assert found.value == pytest.approx(0.97 - 191 / 200)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((0.97 - ends.high, 0.97 - ends.low), abs=0.004)
    assert found.p_value == pytest.approx(2 * stats.binom.cdf(191, 200, 0.97), rel=0.1)


def test_where_no_answer_is_wrong_it_still_allows_for_some():
    found = overconfidence(np.full(100, 0.999), np.ones(100, bool), samples_as_units(100))
    assert found.interval.holds(0.0)
    assert found.interval.upper > 0.02
    assert found.p_value > 0.05


def test_units_make_it_less_sure_and_fewer_than_five_say_nothing():
    rng = np.random.default_rng(0)
    author = np.repeat(np.arange(12), 50)
    right = rng.random(600) < rng.beta(9, 1, 12)[author]
    alone, by_author = (
        overconfidence(np.full(600, 0.95), right, units) for units in (samples_as_units(600), units_of(author))
    )
    assert by_author.interval.width > 1.5 * alone.interval.width
    assert not overconfidence(np.full(600, 0.95), right, units_of(author // 4)).interval.known


@pytest.mark.evidence
@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95, 0.995])
@pytest.mark.parametrize("n", [100, 300, 2000])
def test_its_interval_holds_the_truth_in_94_of_100_data_sets_at_least(accuracy, n, capsys):
    rng, shares = np.random.default_rng(int(1000 * accuracy) + n), {}
    for kind in KINDS:
        truth, draw = model(accuracy, kind)
        intervals = (overconfidence(*draw(n, rng), samples_as_units(n)).interval for _ in range(1500))
        shares[kind] = float(np.mean([interval.holds(truth) for interval in intervals]))
    with capsys.disabled():
        print(f"\naccuracy {accuracy}, n = {n}:", {kind: round(share, 3) for kind, share in shares.items()})
    assert all(share >= 0.94 - 2 * (0.94 * 0.06 / 1500) ** 0.5 for share in shares.values())
