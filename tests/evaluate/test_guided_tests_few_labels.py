"""Few labels tell the accuracy of a pool: the interval holds it, whatever the confidences are worth."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from touchstone.core.data import DataError
from touchstone.core.evaluate.guided_tests.few_labels import (
    FEWEST_LABELS,
    LabelDesign,
    design_labels,
    expected_errors,
    labelled_accuracy,
    promise,
    read_labels,
    to_label,
    unlike,
)
from touchstone.core.models.layers import LayerSamples

CLASSES = ("cat", "dog")


def judged_digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Confidence and errors of a real model, on samples with labels and on a pool."""
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    fitted, known, pool = np.split(order, [450, 850])
    model = LogisticRegression(max_iter=300).fit(x[fitted] / 16, y[fitted])
    proba = [model.predict_proba(x[rows] / 16) for rows in (known, pool)]
    (c, wrong), (c_pool, wrong_pool) = (
        (of.max(axis=1), of.argmax(axis=1) != y[rows]) for of, rows in zip(proba, (known, pool), strict=True)
    )
    return c, wrong, c_pool, wrong_pool


def held(design: LabelDesign, wrong: np.ndarray, *, n_repeats: int) -> float:
    """In how many draws of real rows, not of counts, the interval holds the accuracy of the pool."""
    rng, n = np.random.default_rng(1), 0
    for _ in range(n_repeats):
        rows = design.draw(rng)
        n_wrong = np.bincount(design.stratum[rows], wrong[rows], minlength=len(design.n_in)).astype(np.int64)
        n += labelled_accuracy(n_wrong, design.n_drawn, design.n_in).interval.holds(1 - wrong.mean())
    return n / n_repeats


def least_held(n: int) -> float:
    """What an interval of 95 % falls below in one of a thousand simulations of `n` repeats."""
    return stats.binom.ppf(0.001, n, 0.95) / n


@pytest.mark.parametrize("n_labels", [50, 100, 300])
def test_the_interval_holds_the_accuracy_and_is_shorter_than_at_random(n_labels):
    confidence, wrong, of_pool, truth = judged_digits()
    design = design_labels(of_pool, expected_errors(of_pool, confidence, wrong), n_labels=n_labels)
    assert design.n_drawn.sum() == design.n_labels == n_labels
    assert held(design, truth, n_repeats=500) >= least_held(500)
    if n_labels == 300:
        assert design.n_at_random > 1.6 * n_labels


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_it_holds_where_only_the_most_confident_are_wrong(share):
    confidence, wrong, of_pool, _ = judged_digits()
    truth = np.zeros(len(of_pool), dtype=bool)
    truth[np.argsort(-of_pool)[: int(share * len(of_pool))]] = True
    design = design_labels(of_pool, expected_errors(of_pool, confidence, wrong), n_labels=100)
    assert held(design, truth, n_repeats=500) >= least_held(500)


def test_the_estimate_is_unbiased_over_all_that_could_be_drawn():
    wrong = np.array([True, False, False, False, True, True, False])
    stratum, n_in, n_drawn = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([4, 3]), np.array([2, 2])
    estimates = [
        labelled_accuracy(np.array([wrong[list(a)].sum(), wrong[list(b)].sum()]), n_drawn, n_in).accuracy
        for a in itertools.combinations(np.flatnonzero(stratum == 0), 2)
        for b in itertools.combinations(np.flatnonzero(stratum == 1), 2)
    ]
    assert np.mean(estimates) == pytest.approx(1 - wrong.mean())


def test_one_stratum_has_the_intervals_of_textbooks():
    told = labelled_accuracy(np.array([30]), np.array([300]), np.array([5_000_000])).interval
    exact = stats.binomtest(30, 300).proportion_ci(method="exact")
    score = stats.binomtest(30, 300).proportion_ci(method="wilson")
    # The pseudo-label leaves the number of labels that count as it is, but for one in three hundred.
    assert told.upper == pytest.approx(1 - exact.low, abs=5e-4)
    assert told.lower == pytest.approx(1 - score.high, abs=5e-4)


def test_without_an_error_the_bound_is_the_exact_one():
    told = labelled_accuracy(np.array([0, 0]), np.array([50, 20]), np.array([900, 100])).interval
    most = max(wrong for wrong in range(900) if stats.hypergeom(900, wrong, 50).pmf(0) >= 0.025)
    assert 1 - (most + 2) / 1000 <= told.lower <= 1 - most / 1000
    assert told.upper == 1


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.97, 1.0])
def test_what_is_labelled_is_known_and_the_interval_speaks_of_the_rest(share):
    confidence, wrong, of_pool, truth = judged_digits()
    n_labels = int(share * len(of_pool))
    for errors in (truth, np.argsort(np.argsort(-of_pool)) < 190):
        design = design_labels(of_pool, expected_errors(of_pool, confidence, wrong), n_labels=n_labels)
        assert held(design, errors, n_repeats=300) >= least_held(300)
        rest = (len(of_pool) - n_labels) / len(of_pool)
        assert 2 * design.half_width <= rest
        assert labelled_accuracy(np.zeros_like(design.n_in), design.n_drawn, design.n_in).interval.width <= rest


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=6))
def test_an_interval_holds_its_accuracy_and_no_more_errors_than_the_rest_can_have(strata):
    n_wrong, n_right, n_rest = np.array(strata).T
    n_labelled = n_wrong + n_right + (n_wrong + n_right == 0)
    n_in = n_labelled + n_rest
    told = labelled_accuracy(n_wrong, n_labelled, n_in)
    most, least = 1 - n_wrong.sum() / n_in.sum(), 1 - (n_wrong.sum() + n_rest.sum()) / n_in.sum()
    assert least - 1e-9 <= told.interval.lower <= told.accuracy + 1e-9 <= told.interval.upper + 2e-9 <= most + 3e-9


def test_a_share_that_is_unlike_is_hardly_ever_more_than_there_is():
    rng, shares = np.random.default_rng(0), []
    for _ in range(400):
        known, pool = rng.beta(5, 1, 300), rng.beta(5, 1, 500)
        shares.append((unlike(pool, known), unlike(np.r_[pool, rng.uniform(0, 0.3, 500)], known)))
    alike, mixed = np.transpose(shares)
    assert (alike > 0).mean() <= 0.08
    assert (mixed > 0.5).mean() <= 0.08
    assert mixed.mean() > 0.35


def test_a_pool_of_higher_confidence_is_not_doubted():
    known = np.random.default_rng(0).beta(5, 1, 500)
    assert unlike(np.sqrt(known), known) == 0
    assert unlike(known, known) == 0


def test_on_samples_unlike_the_known_ones_labels_are_worth_random_ones():
    """As a spam model on another language: confident, wrong in 45 of 100, and its own test set says nothing of it."""
    rng = np.random.default_rng(0)
    known = 1 - 0.5 * rng.random(2000) ** 40
    wrong = rng.random(2000) < 1 - known
    pool = 1 - 0.5 * rng.random(8000) ** 8
    expected, truth = expected_errors(pool, known, wrong), rng.random(8000) < 0.45
    doubt = unlike(pool, known)
    trusting, doubting = (design_labels(pool, expected, n_labels=300, doubt=share) for share in (0.0, doubt))
    assert doubt > 0.5

    def variance(design: LabelDesign) -> float:
        rates = np.bincount(design.stratum, truth) / design.n_in
        return float((design.n_in / len(pool)) ** 2 @ (rates * (1 - rates) / design.n_drawn))

    at_random = truth.mean() * (1 - truth.mean()) / 300
    assert trusting.stratified
    assert at_random / variance(trusting) < 0.9
    assert at_random / variance(doubting) > 0.97
    assert held(doubting, truth, n_repeats=500) >= least_held(500)
    # What is promised before follows: ±5 points, as will be found, in place of ±2.
    assert trusting.half_width < 0.03
    assert 0.045 < doubting.half_width < 0.065
    assert promise(doubting).endswith("Drawn at random it would take as many.")


def test_confidences_that_say_nothing_are_not_used():
    rng = np.random.default_rng(0)
    confidence, wrong = rng.random(2000), rng.random(2000) < 0.1
    pool = rng.random(3000)
    design = design_labels(pool, expected_errors(pool, confidence, wrong), n_labels=200)
    assert not design.stratified
    assert design.n_at_random == pytest.approx(200, abs=1)


def test_a_model_without_a_single_known_error_is_labelled_at_random():
    pool = np.linspace(0.5, 1, 500)
    expected = expected_errors(pool, np.linspace(0.5, 1, 100), np.zeros(100, dtype=bool))
    design = design_labels(pool, expected, n_labels=100)
    assert not design.stratified
    assert design.predicted_accuracy == 1


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(25, 400), st.floats(0.0, 1.0))
def test_any_design_draws_what_was_asked_and_each_sample_once(seed, n_pool, share):
    rng = np.random.default_rng(seed)
    pool = np.round(rng.random(n_pool), 1 + seed % 3)  # with ties
    n_labels = int(FEWEST_LABELS + share * (n_pool - FEWEST_LABELS))
    design = design_labels(pool, rng.random(n_pool) ** 3, n_labels=n_labels)
    rows = design.draw(rng)
    assert len(set(rows.tolist())) == len(rows) == n_labels
    assert (np.bincount(design.stratum) == design.n_in).all()
    assert (np.bincount(design.stratum[rows]) == design.n_drawn).all()


@pytest.mark.parametrize("n_labels", [FEWEST_LABELS - 1, 101])
def test_too_few_or_too_many_labels_are_refused(n_labels):
    with pytest.raises(DataError, match="of the 100 samples, label at least 20 and at most all"):
        design_labels(np.linspace(0.5, 1, 100), np.full(100, 0.1), n_labels=n_labels)


def queue(n_labels: int = 100) -> tuple[pd.DataFrame, LayerSamples, LabelDesign]:
    rng = np.random.default_rng(0)
    p = 1 - 0.5 * rng.random(2000) ** 4
    pool = LayerSamples(np.zeros((2000, 1)), None, np.column_stack([p, 1 - p]), CLASSES)
    design = design_labels(pool.confidence, 1 - pool.confidence, n_labels=n_labels)
    return to_label(pool, design, rng=rng), pool, design


def back(table: pd.DataFrame):
    return read_labels(table.to_csv(index=False).encode(), "labels.csv", class_names=CLASSES)


def test_a_list_that_comes_back_tells_the_accuracy():
    table, _, design = queue()
    wrong = np.random.default_rng(1).random(len(table)) < 1 - table["confidence"]
    table["label"] = np.where(wrong, "dog", "cat")
    n_wrong = np.bincount(table["stratum"] - 1, wrong).astype(np.int64)
    assert back(table).accuracy == labelled_accuracy(n_wrong, design.n_drawn, design.n_in)
    assert back(table).n_skipped == 0


def test_labelling_may_stop_early_and_what_was_skipped_is_counted():
    table, *_ = queue()
    table["label"] = ["cat"] * 60 + [""] * 40
    told = back(table)
    assert (told.accuracy.n_labels, told.accuracy.n_pool, told.n_skipped) == (60, 2000, 0)
    table.loc[[3, 7], "label"] = ""
    assert (back(table).accuracy.n_labels, back(table).n_skipped) == (58, 2)


def test_classes_that_are_numbers_may_come_back_with_a_point():
    table = queue()[0].assign(predicted="3", label=[3.0] * 60 + [np.nan] * 40)
    told = read_labels(table.to_csv(index=False).encode(), "labels.csv", class_names=("3", "4"))
    assert (told.accuracy.accuracy, told.accuracy.n_labels) == (1.0, 60)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="stratum"), "no column 'stratum'"),
        (lambda t: t.assign(label=""), "'label' is empty"),
        (lambda t: t.assign(id=["5", *t["id"][1:-1], "5"]), "labels.csv, line 101: “5” is there already"),
        (lambda t: t.assign(label=["cats", *t["label"][1:]]), "labels.csv, line 2: “cats” is no class"),
        (lambda t: t.assign(stratum_size=[7, *t["stratum_size"][1:]]), "is not that of the rows above"),
        (lambda t: t[t["stratum"] != 3], "Rows of a whole stratum are missing"),
        (lambda t: t.assign(label=np.where(t["stratum"] == 2, "", t["label"])), "Stratum 2 has no label yet"),
    ],
)
def test_anything_else_is_refused_with_its_place(change, words):
    table = queue()[0].assign(label="cat")
    with pytest.raises(DataError, match=words):
        back(change(table))
