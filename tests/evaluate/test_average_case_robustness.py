"""What the rows of a run tell: per sample, per class, fragile against sturdy, and estimators against Monte-Carlo."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from tests.evaluate.average_case_rows import counted, rows_of, skewed
from touchstone.core.evaluate.average_case.class_means import mean_of
from touchstone.core.evaluate.average_case.robustness import (
    accuracy_of_fifths,
    evaluate_robustness,
    flipped_p,
    kruskal_wallis,
    rank_correlation,
)
from touchstone.core.evaluate.average_case.verdict import average_case_verdict, farther_off
from touchstone.core.evaluate.wording import bare

NAMES = ("plum", "melon", "fig")
N = 150


def population(seed=0, means=(0.95, 0.9, 0.6), sigma=0.1):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 3
    p = np.zeros(N)
    for code, mean in enumerate(means):
        p[y == code] = skewed(int((y == code).sum()), mean, rng)
    return p, y, rng


def run_of(p, y, rng, *, predicted=None, sigma=0.1, bias=0.0):
    """Rows of one sigma: MMSE and confidence for all, an audit of the first fifty."""
    few = slice(0, 50)
    said = np.clip(p + bias, 0, 1)
    confidence = np.clip(0.5 + p / 2 + rng.normal(0, 0.05, len(p)), 0, 1)
    beside = {"taylor": np.clip(p - 0.05, 0, 1), "mmse": said, "mmse_mvs": said * 0.9, "softmax": confidence}
    return pd.concat(
        [
            rows_of(said, y, sigma=sigma, predicted=predicted),
            rows_of(confidence, y, sigma=sigma, estimator="softmax", predicted=predicted),
            counted(p[few], y[few], sigma=sigma, rng=rng),
            *(rows_of(q[few], y[few], sigma=sigma, estimator=name, part="audit") for name, q in beside.items()),
        ],
        ignore_index=True,
    )


def test_every_sample_has_its_row_and_monte_carlo_beside_it():
    p, y, rng = population()
    found = evaluate_robustness(run_of(p, y, rng), class_names=NAMES)
    table = found.table(np.array([f"row {i}" for i in range(N)], dtype=object))
    assert len(table) == N
    assert table["id"].tolist()[:2] == ["row 0", "row 1"]
    assert table["label"].tolist()[:3] == list(NAMES)
    assert table["p_robust"].to_numpy() == pytest.approx(p)
    assert table["monte_carlo_p_robust"].notna().sum() == 50
    assert np.abs(table["monte_carlo_p_robust"] - table["p_robust"]).max() < 0.1
    assert found.class_table()["n"].tolist() == [50, 50, 50]


def test_a_fragile_class_is_found_and_the_verdict_says_by_how_much():
    p, y, rng = population()
    found = evaluate_robustness(run_of(p, y, rng), class_names=NAMES)
    at = found.at(0.1)
    assert NAMES[at.gap.least] == "fig"
    assert at.p_holm < 0.001
    said = average_case_verdict(found)
    assert said.headline.startswith("Classes differ in robustness (p < .001). The largest gap is ")
    assert said.claims[0].decision == "above"
    assert "fig" in said.advice


def test_classes_that_are_alike_are_not_told_apart():
    p, y, rng = population(seed=5, means=(0.8, 0.8, 0.8))
    said = average_case_verdict(evaluate_robustness(run_of(p, y, rng), class_names=NAMES))
    assert said.headline.startswith("No significant difference in robustness between classes: largest gap ")


def test_classes_whose_ranks_differ_are_not_called_alike_where_their_means_are():
    """Three samples of one class fall far, all of the other a little: the same mean."""
    p = np.r_[np.linspace(0.991, 0.999, 57), [0.5, 0.6, 0.7], np.linspace(0.96, 0.98, 60)]
    y = np.repeat([0, 1], 60)
    found = evaluate_robustness(rows_of(p, y), class_names=("a", "b"))
    at = found.at(0.1)
    assert at.p_holm < 0.001
    assert at.gap.interval.lower == 0
    said = average_case_verdict(found).headline
    assert said.startswith("Robustness differs in ranks between classes (Kruskal-Wallis p < .001).")
    assert f"undecided: largest gap {100 * at.gap.value:.1f} points [0.0, {100 * at.gap.interval.upper:.1f}]" in said


def test_p_below_one_counts_what_the_integral_resolves():
    y = np.zeros(100, dtype=int)
    p = np.r_[np.full(60, 1.0), np.full(20, 0.9999), np.full(20, 0.99)]
    at = evaluate_robustness(rows_of(p, y), class_names=("a", "b")).at(0.1)
    assert at.below_one.value == 0.2
    assert at.below_one.interval.holds(0.2)


def test_fragile_samples_that_are_wrong_more_often_are_said_so():
    p, y, rng = population()
    predicted = np.where(p < np.quantile(p, 0.1), (y + 1) % 3, y)
    found = evaluate_robustness(run_of(p, y, rng, predicted=predicted), class_names=NAMES)
    fifths = found.at(0.1).by_robustness
    assert fifths.fragile.n == 30
    assert fifths.fragile.value == 0.5
    assert fifths.sturdy.value == 1.0
    assert any("The least robust 20 % of samples lose" in finding for finding in average_case_verdict(found).findings)


def test_of_ties_no_order_of_the_file_makes_a_fifth():
    """Robust to the last digit are 85 %, in the order of their classes; being right has nothing to do with it."""
    rng, n_decided = np.random.default_rng(7), 0
    y = np.repeat([0, 1, 2], 100)
    for _ in range(100):
        by = np.where(rng.random(300) < 0.85, 1.0 - 1e-5 * rng.random(300), rng.random(300))
        correct = rng.random(300) < np.array([0.75, 0.85, 0.97])[y]
        given, mixed = (
            accuracy_of_fifths(by[order], correct[order]) for order in (np.arange(300), rng.permutation(300))
        )
        assert (given.fragile.value, given.sturdy.value) == pytest.approx((mixed.fragile.value, mixed.sturdy.value))
        n_decided += not given.difference.interval.holds(0.0)
    assert n_decided <= binom.isf(0.001, 100, 0.05)


def test_holm_goes_over_all_sigmas():
    p, y, rng = population(seed=2, means=(0.85, 0.8, 0.75))
    rows = [run_of(p, y, rng, sigma=sigma) for sigma in (0.1, 0.2, 0.3)]
    found = evaluate_robustness(pd.concat(rows), class_names=NAMES)
    assert found.sigmas == (0.1, 0.2, 0.3)
    assert all(of.p_holm >= of.p_value for of in found.by_sigma)
    assert min(of.p_holm for of in found.by_sigma) == pytest.approx(3 * min(of.p_value for of in found.by_sigma))


def test_noise_below_the_tolerance_is_no_difference_between_classes():
    y = np.repeat([0, 1], 50)
    assert kruskal_wallis(1.0 - 2e-4 * y, y) == 1.0
    assert np.isnan(kruskal_wallis(np.ones(6), np.array([0, 0, 0, 0, 0, 1])))


def test_rank_correlation_of_what_does_not_vary_is_unknown():
    assert np.isnan(rank_correlation(np.ones(10), np.arange(10.0)).value)


def test_the_audit_finds_the_bias_that_there_is():
    p, y, rng = population(means=(0.7, 0.6, 0.5))
    found = evaluate_robustness(run_of(p, y, rng, bias=0.08), class_names=NAMES)
    audit = found.audit
    mmse, taylor = audit.of("mmse", 0.1), audit.of("taylor", 0.1)
    assert mmse.bias.interval.lower > 0.04
    assert mmse.bias.interval.holds(0.08) or mmse.bias.value == pytest.approx(0.08, abs=0.02)
    assert taylor.bias.value == pytest.approx(-0.05, abs=0.02)
    assert mmse.seconds == pytest.approx(0.01)
    assert mmse.monte_carlo_seconds == pytest.approx(0.2)
    assert len(audit.sigmoids(0.1)) == 50
    advice = average_case_verdict(found).advice
    assert "MMSE is too high on this model" in advice
    assert "Taylor was closer here" in advice


def test_an_exact_estimator_is_off_by_luck_alone():
    p, y, rng = population(means=(0.7, 0.6, 0.5))
    audit = evaluate_robustness(run_of(p, y, rng), class_names=NAMES).audit
    mmse = audit.of("mmse", 0.1)
    assert mmse.error.value == pytest.approx(mmse.by_luck, rel=0.35)
    assert mmse.bias.interval.holds(0.0)
    assert mmse.inside.value > 0.85


def test_the_papers_claim_is_tried_on_the_same_samples():
    p, y, rng = population(means=(0.7, 0.6, 0.5))
    rows = run_of(p, y, rng)
    few, off = slice(0, 50), rng.normal(0, 0.1, 50)
    copies = [
        rows_of(np.clip(p[few] + off, 0, 1), y[few], estimator="mmse_plain", part="convergence", n_draws=5),
        rows_of(np.clip(p[few] + 0.01, 0, 1), y[few], estimator="mmse", part="convergence", n_draws=6),
    ]
    found = evaluate_robustness(pd.concat([rows, *copies]), class_names=NAMES)
    paper = found.audit.paper
    assert paper.plain_less_taylor.interval.lower > 0
    assert paper.paired_less_taylor.interval.upper < 0
    said = next(finding for finding in average_case_verdict(found).findings if "The paper says that MMSE" in finding)
    assert "With N = 5 plain MMSE is farther off here" in said
    assert "With N = 500" not in said
    assert [(one.estimator, one.n_copies) for one in found.audit.convergence] == [("mmse", 6), ("mmse_plain", 5)]


def test_the_papers_500_copies_are_told_where_they_were_audited():
    p, y, rng = population(means=(0.7, 0.6, 0.5))
    few, off = slice(0, 50), rng.normal(0, 0.1, 50)
    copies = [
        rows_of(np.clip(p[few] + share * off, 0, 1), y[few], estimator=name, part="convergence", n_draws=n)
        for name, n, share in (("mmse_plain", 5, 1.0), ("mmse_plain", 500, 0.01), ("mmse", 6, 0.1))
    ]
    found = evaluate_robustness(pd.concat([run_of(p, y, rng), *copies]), class_names=NAMES)
    paper = found.audit.paper
    assert paper.n_many == 500
    assert paper.many_less_taylor.interval.upper < 0
    said = next(finding for finding in average_case_verdict(found).findings if "The paper says that MMSE" in finding)
    assert f"With N = 500 plain MMSE has {bare(paper.many.value, 3)} [" in said


def test_the_most_robust_are_those_that_stay_so_at_every_sigma():
    y = np.zeros(6, dtype=int)
    near = np.array([1.0, 0.99995, 0.5, 0.7, 1.0, 0.9])
    far = np.array([0.3, 0.9, 0.1, 0.2, 0.6, 0.4])
    rows = [rows_of(near, y, sigma=0.1), rows_of(far, y, sigma=0.3)]
    found = evaluate_robustness(pd.concat(rows), class_names=("a", "b"))
    least, most = found.extremes(0.1, 0, by="p_robust", n=2)
    assert least.tolist() == [2, 3]
    assert most.tolist() == [1, 4]


def test_failed_trials_and_no_rows_at_all_are_no_error():
    p, y, rng = population()
    rows = run_of(p, y, rng)
    failed = rows.head(1).assign(status="failed", row=pd.NA, p_robust=np.nan)
    found = evaluate_robustness(pd.concat([rows, failed]), class_names=NAMES)
    assert found.n_failed == 1
    assert found.at(0.1).n == N
    assert "1 trial failed" in average_case_verdict(found).used
    nothing = evaluate_robustness(rows.head(0), class_names=NAMES)
    assert nothing.by_sigma == ()
    assert len(nothing.table()) == 0
    assert average_case_verdict(nothing).headline == "No sample has been judged yet."


def test_strange_samples_are_counted():
    p, y, _ = population()
    rows = rows_of(p, y, degenerate=np.arange(N) < 3, converged=np.arange(N) >= 5)
    said = average_case_verdict(evaluate_robustness(rows, class_names=NAMES)).findings[-1]
    assert "3 samples with a margin that does not depend" in said
    assert "2 samples with a less precise estimate" in said


def test_samples_without_a_number_are_counted_and_left_out():
    p, y, _ = population()
    p = np.where(np.arange(N) < 7, np.nan, p)
    found = evaluate_robustness(rows_of(p, y), class_names=NAMES)
    assert (found.at(0.1).n, found.at(0.1).n_unknown) == (N - 7, 7)
    assert f"n = {N - 7} of {N}" in average_case_verdict(found).used


def test_means_rest_on_counted_draws_and_not_on_an_estimator_that_is_off():
    p, y, rng = population()
    rows = run_of(p, y, rng, bias=-0.2)
    assert evaluate_robustness(rows, class_names=NAMES).at(0.1).mean.value == pytest.approx(p.mean() - 0.2, abs=0.01)
    drawn = rows_of(rng.binomial(32, p) / 32, y, estimator="monte_carlo", part="counted", n_draws=32)
    found = evaluate_robustness(pd.concat([rows, drawn]), class_names=NAMES)
    at = found.at(0.1)
    assert at.mean.value == pytest.approx(p.mean(), abs=0.015)
    assert [of.interval.holds(p[y == code].mean()) for code, of in enumerate(at.classes)] == [True] * 3
    assert found.samples["p_robust"].to_numpy() == pytest.approx(np.clip(p - 0.2, 0, 1))
    said = average_case_verdict(found)
    assert "means from 32 fresh noisy copies of each, single samples estimated by MMSE" in said.used


def test_the_classes_that_break_first_and_last_are_told_with_their_sigma():
    p, y, rng = population()
    sigma_50 = np.where(y == 2, 0.1, np.where(y == 1, 0.3, np.inf)) * rng.lognormal(0, 0.1, N)
    ends = {"lower": 0.9 * sigma_50, "upper": 1.1 * sigma_50, "n_draws": 384}
    half = rows_of(np.full(N, 0.5), y, sigma=sigma_50, estimator="sigma_50", part="half", **ends)
    found = evaluate_robustness(pd.concat([run_of(p, y, rng), half]), class_names=NAMES)
    assert found.half_by_class[2].value == pytest.approx(0.1, rel=0.05)
    said = next(text for text in average_case_verdict(found).findings if text.startswith("In median samples"))
    assert "(“fig”, lowest observed) to beyond 0.4 (“plum”, highest)." in said
    assert found.class_table()["sigma_50"].tolist() == [of.value for of in found.half_by_class]
    assert found.table()["sigma_50_upper"].tolist() == pytest.approx(list(ends["upper"]))


def test_of_several_estimators_single_samples_rest_on_the_one_that_the_audit_finds_closest():
    rng, y = np.random.default_rng(0), np.arange(120) % 3
    p = skewed(120, 0.8, rng)
    off = {"mmse": np.clip(p - 0.1, 0, 1), "gaussian_logits": p, "taylor": np.clip(p - 0.3, 0, 1)}
    parts = [rows_of(said, y, estimator=name) for name, said in off.items()]
    parts += [rows_of(said, y, estimator=name, part="audit") for name, said in off.items()]
    rows = pd.concat([*parts, counted(p, y, rng=rng)], ignore_index=True)
    found = evaluate_robustness(rows, class_names=("a", "b", "c"))
    assert found.estimator == "gaussian_logits"
    np.testing.assert_allclose(found.samples_at(0.1)["p_robust"], p)
    assert "Normal logits (ours), closest to Monte-Carlo of 3 tried" in average_case_verdict(found).used
    unaudited = evaluate_robustness(rows[rows["part"] == "samples"], class_names=("a", "b", "c"))
    assert unaudited.estimator == "mmse"
    assert "closest" not in average_case_verdict(unaudited).used


def test_a_handful_of_fragile_samples_makes_no_estimator_farther_off():
    """Of 30 samples three differ at all, by errors that lie alike around 0."""
    rng, n_claimed = np.random.default_rng(9), 0
    for _ in range(200):
        apart = np.where(rng.random(30) < 0.1, rng.normal(size=30), 0.0)
        n_claimed += farther_off(mean_of(apart, rng=rng), flipped_p(apart, rng=rng)).decided
    assert n_claimed <= binom.isf(0.001, 200, 0.05)
