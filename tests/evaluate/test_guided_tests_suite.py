"""A suite of pictures judges whole models: its pictures are chosen by none of them, and a damaged one does worse."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from touchstone.core.data import DataError, load_example
from touchstone.core.evaluate.guided_tests.results import N_OTHERS, read_by_oracle
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, Suite, judge_suite, make_suite, suite_difference
from touchstone.core.models import MODELS

N_TRAIN = 1200
DIGITS = load_example("digits")


@lru_cache(maxsize=1)
def suite() -> Suite:
    return make_suite(
        DIGITS.x,
        DIGITS.y,
        DIGITS.ids,
        train_rows=np.arange(N_TRAIN),
        test_rows=np.arange(N_TRAIN, DIGITS.n_samples),
        class_names=DIGITS.class_names,
        seed=0,
    )


@lru_cache(maxsize=4)
def judged(share_wrong: float) -> JudgedSuite:
    """What a network makes of the suite, trained with so many of its labels wrong."""
    rng = np.random.default_rng(0)
    y = DIGITS.y[:N_TRAIN].copy()
    wrong = rng.random(N_TRAIN) < share_wrong
    y[wrong] = (y[wrong] + rng.integers(1, 10, wrong.sum())) % 10
    model = MODELS["mlp_2048"](n_epochs=20).fit(DIGITS.x[:N_TRAIN], y, seed=0, n_classes=10)
    return judge_suite(suite(), model.trained(DIGITS))


def test_every_class_has_many_tests_from_many_samples_of_the_test_part():
    made = suite()
    per_class = np.bincount(made.y[made.kept], minlength=10)
    assert per_class.min() >= 30
    assert set(made.parent_ids) <= set(DIGITS.ids[N_TRAIN:])
    assert len(set(made.clusters[made.kept])) > 400
    assert (made.rival != made.y).all()
    assert (made.kept == (made.in_region & (made.read_as == made.y))).all()


def test_the_oracle_has_seen_no_parent_of_what_it_reads():
    """A sample with a wrong label is read as what it looks like: an oracle that had learned it by heart would not."""
    rows = np.arange(500)
    y = DIGITS.y.copy()
    wrong = np.arange(0, 500, 25)
    y[wrong] = (y[wrong] + 5) % 10
    read_as, right = read_by_oracle(DIGITS.x[wrong], wrong, images=DIGITS.x, y=y, rows=rows, seed=0)
    assert (read_as == DIGITS.y[wrong]).mean() > 0.85
    assert len(right) == 500


@pytest.mark.evidence
def test_a_damaged_model_does_worse_and_by_an_interval_that_says_so():
    sound, damaged = judged(0.0), judged(0.4)
    first, second = sound.accuracy(), damaged.accuracy()
    assert first.interval.lower > second.interval.upper
    found = suite_difference(sound, damaged)
    assert found.difference == pytest.approx(second.accuracy - first.accuracy)
    assert found.interval.upper < 0
    assert found.n_lost - found.n_gained == round(-found.difference * found.n)
    assert found.n == suite().kept.sum()
    assert sound.accuracy("centroid").accuracy > sound.accuracy("boundary").accuracy


def test_a_model_beside_itself_has_gained_and_lost_nothing():
    found = suite_difference(judged(0.0), judged(0.0))
    assert (found.n_gained, found.n_lost, found.difference) == (0, 0, 0.0)
    assert -0.01 < found.interval.lower < 0 < found.interval.upper < 0.01


def test_two_suites_are_no_pair():
    other = replace(judged(0.0), suite=suite().take(np.arange(10)), predicted=np.zeros(10, int), confidence=np.ones(10))
    with pytest.raises(DataError, match="met different suites"):
        suite_difference(judged(0.0), other)


def test_the_same_seed_makes_the_same_suite():
    again = suite.__wrapped__()
    assert (again.images == suite().images).all()
    assert (again.read_as == suite().read_as).all()


def test_what_hangs_on_the_oracle_makes_intervals_longer_and_no_result_another():
    made, one = suite(), judged(0.0)
    assert made.kept_again.shape == (len(made), N_OTHERS)
    assert 0.9 < (made.kept_again[made.kept]).mean() < 1.0  # oracles agree on most, and not on all
    assert not made.kept_again[~made.in_region].any()
    alone = replace(one, suite=replace(made, kept_again=np.repeat(made.kept[:, None], N_OTHERS, axis=1)))
    long, short = one.accuracy(), alone.accuracy()
    assert long.accuracy == short.accuracy
    assert long.interval.lower < short.interval.lower < short.interval.upper < long.interval.upper
