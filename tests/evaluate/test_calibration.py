"""Calibration against second opinions: textbook loops, direct sums, and models that are perfect by construction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.calibration import (
    ClassCalibration,
    accuracy_by_coverage,
    bin_of,
    brier_score,
    calibration,
    calibration_by_class,
    calibration_table,
    class_error,
    class_sentence,
    class_table,
    correct_if_perfect,
    debiased_squared_error,
    density,
    expected_calibration_error,
    isotonic,
    probabilities_of,
    smooth_error,
)
from touchstone.core.evaluate.units import EACH_SAMPLE, Design


def textbook_ece(confidence, correct, n_bins: int) -> float:
    """Guo et al. (2017), equation 3, as everybody writes it; the first bin takes confidence 0 too."""
    edges = np.linspace(0, 1, n_bins + 1)
    total = 0.0
    for i in range(n_bins):
        inside = (confidence > edges[i]) & (confidence <= edges[i + 1])
        if i == 0:
            inside |= confidence == 0
        if inside.any():
            total += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return total


def perfect(n: int, seed: int, low: float = 0.0):
    rng = np.random.default_rng(seed)
    confidence = low + (1 - low) * rng.random(n)
    return confidence, rng.random(n) < confidence


samples = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]) | st.integers(0, 30).map(lambda k: k / 30) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=80,
)


def arrays(drawn):
    return np.array([one for one, _ in drawn], dtype=np.float64), np.array([one for _, one in drawn], dtype=np.bool_)


@given(samples, st.sampled_from([1, 2, 10, 15, 30]))
def test_equal_width_error_is_the_textbooks(drawn, n_bins):
    confidence, correct = arrays(drawn)
    ours = expected_calibration_error(confidence, correct, binning="width", n_bins=n_bins)
    assert ours == pytest.approx(textbook_ece(confidence, correct, n_bins), abs=1e-12)


def test_equal_width_error_of_a_real_network_is_the_textbooks(shared_data):
    confidence, correct = lenet(shared_data)
    ours = expected_calibration_error(confidence, correct, binning="width")
    assert ours == pytest.approx(textbook_ece(confidence, correct, 15), abs=1e-12)


def lenet(shared_data):
    with np.load(shared_data / "predictions" / "netcal_lenet5_cifar10_softmax.npz") as file:
        proba, y = file["predictions"].astype(np.float64), file["ground_truth"]
    return np.minimum(proba.max(axis=1), 1.0), proba.argmax(axis=1) == y


def test_equal_width_bins_are_scikit_learns():
    from sklearn.calibration import calibration_curve

    confidence, correct = perfect(5000, 1)
    share, mean = calibration_curve(correct, confidence, n_bins=15, strategy="uniform")
    bins = calibration(confidence, correct, binning="width", rng=np.random.default_rng(0)).bins
    assert [one.accuracy for one in bins] == pytest.approx(share.tolist(), abs=1e-12)
    assert [one.confidence for one in bins] == pytest.approx(mean.tolist(), abs=1e-12)


@given(samples, st.sampled_from(["mass", "width"]), st.sampled_from([1, 5, 15]))
def test_bins_are_ranges_and_never_part_equal_confidences(drawn, binning, n_bins):
    confidence, _ = arrays(drawn)
    index, edges = bin_of(confidence, binning=binning, n_bins=n_bins)
    assert len(edges) - 1 <= n_bins
    assert index.min() >= 0
    assert index.max() < len(edges) - 1
    order = np.argsort(confidence)
    assert (np.diff(index[order]) >= 0).all()
    for value in np.unique(confidence):
        assert len(set(index[confidence == value].tolist())) == 1
    assert (confidence >= edges[index] - 1e-15).all()
    assert (confidence <= edges[index + 1] + 1e-15).all()


def test_bins_of_equal_mass_hold_about_equally_many():
    index, edges = bin_of(np.random.default_rng(0).beta(8, 1, 3000))
    assert len(edges) == 16
    assert np.bincount(index).tolist() == [200] * 15


def test_a_perfect_model_lies_within_its_band_and_its_error_is_luck():
    inside, below, p_values, squared = [], [], [], []
    for seed in range(200):
        of = calibration(*perfect(400, seed, 0.3), n_draws=300, rng=np.random.default_rng(seed))
        inside += [one.perfect.holds(one.accuracy) for one in of.bins]
        below.append(of.ece <= of.ece_if_perfect_95)
        p_values.append(of.p_value)
        squared.append(of.squared_error)
    assert 0.94 <= np.mean(inside) <= 0.985  # counts are whole, so the band covers a little more
    assert 0.90 <= np.mean(below) <= 0.99
    assert 0.42 <= np.mean(p_values) <= 0.58
    assert abs(np.mean(squared)) < 4 * np.std(squared) / np.sqrt(200)
    assert np.min(squared) < 0


def test_the_chunks_of_the_null_are_as_good_as_sample_by_sample():
    rng = np.random.default_rng(0)
    confidence = rng.beta(5, 1, 4000)
    index, edges = bin_of(confidence, n_bins=4)
    ours = correct_if_perfect(confidence, index, len(edges) - 1, n_draws=4000, rng=rng)
    one_by_one = np.stack([np.bincount(index, weights=rng.random(4000) < confidence) for _ in range(4000)])
    spread = one_by_one.std(axis=0)
    assert np.abs(ours.mean(axis=0) - one_by_one.mean(axis=0)).max() < 0.1 * spread.max()
    assert ours.std(axis=0) == pytest.approx(spread, rel=0.05)


@given(samples)
def test_the_parts_sum_to_the_brier_score(drawn):
    confidence, correct = arrays(drawn)
    of = brier_score(confidence, correct)
    assert of.score == pytest.approx(((confidence - correct) ** 2).mean(), abs=1e-12)
    assert of.miscalibration - of.discrimination + of.uncertainty == pytest.approx(of.score, abs=1e-12)
    assert of.miscalibration >= -1e-12
    assert of.discrimination >= -1e-12
    fitted = isotonic(confidence, correct)
    assert (np.diff(fitted[np.argsort(confidence, kind="stable")]) >= -1e-12).all()


def test_the_brier_score_is_scikit_learns():
    from sklearn.metrics import brier_score_loss

    confidence, correct = perfect(500, 3)
    assert brier_score(confidence, correct).score == pytest.approx(brier_score_loss(correct, confidence), abs=1e-12)


def test_the_smooth_error_is_that_of_its_definition():
    """Residuals under a Gaussian reflected at 0 and 1, summed directly, at the bandwidth that equals the error."""
    rng = np.random.default_rng(5)
    confidence = rng.beta(6, 2, 800)
    correct = rng.random(800) < confidence**1.7
    at = (np.arange(2000) + 0.5) / 2000

    def direct(bandwidth: float) -> float:
        smooth = np.zeros(len(at))
        for shift in range(-4, 5):
            for image in (2 * shift + confidence, 2 * shift - confidence):
                kernel = np.exp(-0.5 * ((at[:, None] - image) / bandwidth) ** 2) / bandwidth / np.sqrt(2 * np.pi)
                smooth += kernel @ ((correct - confidence) / len(confidence))
        return float(np.abs(smooth).mean())

    found = smooth_error(confidence, correct)
    assert direct(found) == pytest.approx(found, abs=5e-4)


def test_an_error_of_known_size_is_found_by_all():
    rng = np.random.default_rng(0)
    confidence = 0.5 + 0.4 * rng.random(100_000)
    of = calibration(confidence, rng.random(100_000) < confidence - 0.1, rng=rng)
    assert of.ece == pytest.approx(0.1, abs=0.005)
    assert of.smooth_ece == pytest.approx(0.1, abs=0.005)
    assert of.squared_error == pytest.approx(0.01, abs=0.001)
    assert of.brier.miscalibration == pytest.approx(0.01, abs=0.002)
    assert "overconfident" in of.sentence


def test_a_bin_of_one_sample_tells_nothing_of_chance():
    confidence, correct = np.array([0.2, 0.9, 0.9]), np.array([True, True, False])
    value = debiased_squared_error(confidence, correct, np.array([0, 1, 1]), 2)
    assert value == pytest.approx((0.5 - 0.9) ** 2 - 0.25)


def test_classes_with_few_samples_are_not_judged():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([8, 8, 0.2], size=1500)
    y = (rng.random((1500, 1)) > proba.cumsum(axis=1)).sum(axis=1)
    rows = calibration_by_class(proba, np.minimum(y, 2), ["a", "b", "c"], rng=rng)
    assert [np.isnan(row.ece) for row in rows] == [False, False, True]
    assert all(row.p_holm > 0.01 for row in rows[:2])
    assert rows[2].n < 50
    proud = proba**3 / (proba**3).sum(axis=1, keepdims=True)
    judged = calibration_by_class(proud, np.minimum(y, 2), ["a", "b", "c"], rng=rng)
    assert all(row.p_holm < 0.01 and row.ece > row.ece_if_perfect_95 for row in judged[:2])


def test_a_density_is_one_in_all_and_leaks_nowhere():
    at, height = density(np.random.default_rng(0).beta(20, 1, 5000))
    assert height.mean() == pytest.approx(1.0, abs=1e-9)
    assert height.min() >= 0
    assert at[np.argmax(height)] > 0.98
    flat = density(np.random.default_rng(0).random(200_000))[1]
    assert flat == pytest.approx(np.ones(len(flat)), abs=0.05)
    assert density(np.ones(5))[1].mean() == pytest.approx(1.0, abs=1e-9)


def test_accuracy_by_coverage_is_that_of_the_surest():
    confidence, correct = perfect(1000, 4)
    points = accuracy_by_coverage(confidence, correct)
    assert points[-1].n == 1000
    assert points[-1].accuracy == correct.mean()
    for point in points:
        kept = confidence >= point.confidence
        assert (point.n, point.accuracy) == (kept.sum(), pytest.approx(correct[kept].mean()))
    tied = accuracy_by_coverage(np.array([0.9, 0.9, 0.5]), np.array([True, False, True]))
    assert [point.n for point in tied] == [2, 3]


def test_nothing_and_next_to_nothing_are_said_as_such():
    rng = np.random.default_rng(0)
    none = calibration(np.zeros(0), np.zeros(0, dtype=np.bool_), rng=rng)
    assert np.isnan([none.ece, none.accuracy, none.brier.score, none.smooth_ece]).all()
    assert "No sample" in none.sentence
    one = calibration(np.array([1.0]), np.array([True]), rng=rng)
    assert (one.ece, one.n) == (0.0, 1)
    table = calibration_table({"none": none, "one": one})
    assert table["subset"].tolist() == ["none", "one"]
    assert len(one.table()) == 1


def test_classes_come_to_a_sentence_that_claims_nothing_of_rare_ones():
    few = ClassCalibration("rare", 9, *[float("nan")] * 5)
    fine = ClassCalibration("fine", 90, 0.02, 0.02, 0.04, 0.5, 1.0)
    bad = ClassCalibration("bad", 90, 0.1, 0.02, 0.04, 0.001, 0.002)
    assert class_error([few, fine, bad]) == pytest.approx(0.06)
    said = class_sentence([few, fine, bad])
    assert "error 6.0 %, mean of 2 classes (a perfectly calibrated model: 2.0 %)" in said
    assert "Significantly miscalibrated: “bad” (10.0 %), corrected for 2 classes" in said
    assert "1 class with fewer than 50 samples not judged" in said
    assert "No class is significantly miscalibrated" in class_sentence([fine])
    assert class_sentence([few]) == "No class has 50 samples, so none is judged."
    assert np.isnan(class_error([few]))
    assert class_table([few, bad])["ece"].isna().tolist() == [True, False]


def test_two_classes_need_no_more_than_the_confidence():
    told = {"ids": ["a", "b", "c"], "y_true": [0, 1, 1], "y_pred": [0, 1, 0], "class_names": ["no", "yes"]}
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    sure = probabilities_of(Predictions(**told, confidence=[0.9, 0.8, 0.6]))
    assert sure == pytest.approx(proba)
    assert probabilities_of(Predictions(**told, proba=proba)) == pytest.approx(proba)
    assert probabilities_of(Predictions(**told)) is None
    told["class_names"] = ["no", "yes", "maybe"]
    assert probabilities_of(Predictions(**told, confidence=[0.9, 0.8, 0.6])) is None


def by_authors(seed: int, n_authors: int = 20, per_author: int = 40):
    """Confidences that are right on average over authors, each of whom is read better or worse than that."""
    rng = np.random.default_rng([seed, n_authors])
    author = np.repeat(np.arange(n_authors), per_author)
    confidence = rng.uniform(0.6, 0.8, len(author))
    chance = np.clip(confidence + rng.uniform(-0.2, 0.2, n_authors)[author], 0, 1)
    return confidence, rng.random(len(author)) < chance, Design(author, "author")


def test_a_model_is_not_called_miscalibrated_for_the_authors_it_met():
    n_wrong = {"units": 0, "samples": 0}
    bands = {"units": [], "samples": []}
    for seed in range(60):
        confidence, correct, design = by_authors(seed)
        for name, of in (("units", design), ("samples", EACH_SAMPLE)):
            found = calibration(
                confidence, correct, binning="mass", n_bins=5, n_draws=200, rng=np.random.default_rng(seed), design=of
            )
            n_wrong[name] += found.p_value < 0.05
            bands[name] += [each.interval.holds(each.confidence) for each in found.bins]
    assert n_wrong["samples"] > 9, "reproduced: without units one in four"
    assert n_wrong["units"] <= 7
    assert np.mean(bands["units"]) > 0.92 > 0.9 > np.mean(bands["samples"])


def test_accuracy_by_coverage_and_classes_are_over_units_too():
    n_wrong = 0
    for seed in range(30):
        confidence, correct, design = by_authors(seed)
        alone, over = (
            accuracy_by_coverage(confidence, correct, design=of)[-1].interval for of in (EACH_SAMPLE, design)
        )
        assert over.width > 1.3 * alone.width
        proba = np.stack([confidence, 1 - confidence], axis=1)
        rng = np.random.default_rng(seed)
        rows = calibration_by_class(proba, (~correct).astype(np.int64), ("a", "b"), n_draws=200, rng=rng, design=design)
        n_wrong += any(row.at_fault for row in rows)
    assert n_wrong <= 5
