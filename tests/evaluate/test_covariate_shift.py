import numpy as np
import pytest
from scipy.integrate import quad

from touchstone.core.data import DataError
from touchstone.core.evaluate.covariate_shift import (
    ClassParts,
    CovariateShift,
    Divergence,
    Mixture,
    ShiftOptions,
    class_parts,
    class_seed,
    class_shift,
    corrected,
    covariate_shift,
    fit_mixture,
    jensen_shannon,
    shift_of,
)

FAST = ShiftOptions(n_dimensions=5, n_components=2, n_draws=300)


def rng(seed=0):
    return np.random.default_rng(seed)


def line(*components):
    """A mixture on a line, of (weight, mean, variance)."""
    weights, means, variances = (np.array(part, dtype=np.float64) for part in zip(*components, strict=True))
    return Mixture(weights, means[:, None], variances[:, None, None])


def test_the_band_of_the_null_holds_95_percent_of_its_resplits():
    values = [0.5, *np.linspace(0.0, 1.0, 1001)]
    one = class_shift("a", 100, 50, [Divergence(value, 0.01, 2, 1.0, 1, 1) for value in values])
    (row,) = CovariateShift((one,)).table().to_dict("records")
    assert (row["null_lower"], row["null_upper"]) == pytest.approx((0.025, 0.975))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (line((1.0, 0.0, 1.0)), line((1.0, 1.5, 1.0))),
        (line((1.0, 0.0, 1.0)), line((1.0, 0.0, 6.0))),
        (line((0.3, -3.0, 0.5), (0.7, 2.0, 1.0)), line((0.6, -2.0, 1.0), (0.4, 3.0, 0.2))),
        (line((1.0, 0.0, 1.0)), line((1.0, 0.0, 1.0))),
    ],
)
def test_the_divergence_is_the_integral(p, q):
    def integrand(x):
        log_p, log_q = (float(of.log_density(np.array([[x]]))[0]) for of in (p, q))
        log_m = np.logaddexp(log_p, log_q) - np.log(2)
        return (np.exp(log_p) * (log_p - log_m) + np.exp(log_q) * (log_q - log_m)) / 2 / np.log(2)

    exact = quad(integrand, -20, 20, points=[-3, -2, 0, 2, 3], limit=200)[0]
    value, error = jensen_shannon(p, q, n_draws=40_000, rng=rng())
    assert error < 0.005
    assert value == pytest.approx(exact, abs=4 * error + 1e-12)
    assert 0 <= value <= 1


def test_mixtures_that_hardly_differ_are_told_with_a_small_error():
    """A draw counts for both mixtures: one's own term alone would have an error of .0028."""
    p, q = (Mixture(np.ones(1), np.full((1, 4), at), np.eye(4)[None]) for at in (0.0, 0.2))
    value, error = jensen_shannon(p, q, n_draws=5000, rng=rng())
    assert value == pytest.approx(0.0283, abs=0.0015)
    assert error < 0.0005


@pytest.mark.evidence
def test_the_stated_error_is_the_spread_over_draws():
    p, q = line((1.0, 0.0, 1.0)), line((1.0, 1.5, 2.0))
    found = [jensen_shannon(p, q, n_draws=400, rng=rng(seed)) for seed in range(200)]
    values, errors = (np.array(part) for part in zip(*found, strict=True))
    assert values.std() == pytest.approx(errors.mean(), rel=0.2)


def test_densities_and_draws_are_those_of_scipy():
    from scipy.stats import multivariate_normal

    root = rng().normal(size=(3, 3))
    covariance, mean = root @ root.T + np.eye(3), np.array([1.0, -2.0, 0.5])
    mixture = Mixture(np.ones(1), mean[None], covariance[None])
    x = rng(1).normal(size=(20, 3))
    assert mixture.log_density(x) == pytest.approx(multivariate_normal(mean, covariance).logpdf(x))
    drawn = mixture.sample(50_000, rng(2))
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.1)
    assert np.cov(drawn, rowvar=False) == pytest.approx(covariance, rel=0.1, abs=0.15)


def test_one_component_is_what_scikit_learn_fits():
    from sklearn.mixture import GaussianMixture

    x = rng().normal(size=(300, 4)) @ rng(1).normal(size=(4, 4))
    ours = fit_mixture(x, n_components=1, rng=rng())
    theirs = GaussianMixture(1, reg_covar=1e-3).fit(x)
    assert ours.log_density(x) == pytest.approx(theirs.score_samples(x))


def test_ours_has_the_density_of_scikit_learns_mixture():
    from sklearn.mixture import GaussianMixture

    x = np.concatenate([rng().normal(size=(200, 3)), 4 + rng(1).normal(size=(100, 3))])
    ours = fit_mixture(x, n_components=3, rng=rng(5))
    seed = int(rng(5).integers(2**31))
    theirs = GaussianMixture(3, reg_covar=1e-3, init_params="k-means++", random_state=seed, max_iter=200).fit(x)
    assert ours.log_density(x) == pytest.approx(theirs.score_samples(x))


def test_a_class_that_moved_is_told_from_one_that_stayed():
    y = np.arange(240) % 2
    train, test = rng(0).normal(size=(240, 6)), rng(1).normal(size=(240, 6))
    test[y == 1] += 1.0
    found = covariate_shift(train, y, test, y, class_names=("stays", "moves"), seed=0, n_resplits=79, options=FAST)
    stays, moves = found.classes
    assert (stays.shifted, moves.shifted) == (False, True)
    assert moves.p_value == 1 / 80
    assert moves.p_corrected == 1 / 80  # as if it had been the only one
    assert moves.excess > 0.1 > abs(stays.excess)
    table = found.table()
    assert table["n_resplits"].tolist() == [79, 79]
    assert (table["null_lower"] <= table["null_upper"]).all()
    assert table["note"].tolist() == ["", ""]


def test_pieces_may_be_computed_in_any_order_and_anywhere():
    train, test = rng().normal(size=(80, 4)), rng(1).normal(size=(60, 4))
    y, other = np.zeros(80, dtype=int), np.zeros(60, dtype=int)
    whole = covariate_shift(train, y, test, other, class_names=("one",), seed=3, n_resplits=6, options=FAST)
    pieces = {
        i: shift_of(class_parts(train, test), resplit=i, seed=class_seed(3, 0), options=FAST)
        for i in (4, 0, 6, 2, 1, 5, 3)
    }
    again = corrected([class_shift("one", 80, 60, [pieces[i] for i in range(7)], options=FAST)])
    assert again.table().equals(whole.table())


def test_re_splits_have_the_same_sizes_and_the_same_samples():
    train, test = rng().normal(size=(80, 4)), 100 + rng(1).normal(size=(60, 4))
    parts = class_parts(train, test)
    apart, mixed = (shift_of(parts, resplit=i, seed=0, options=FAST) for i in (0, 1))
    assert apart.value > 0.99
    assert mixed.value < 0.5


def test_few_samples_are_said_and_not_measured():
    train, test = rng().normal(size=(200, 3)), rng(1).normal(size=(72, 3))
    y_test = np.repeat([0, 1], [63, 9])
    found = covariate_shift(
        train, np.repeat([0, 1, 2], [120, 40, 40]), test, y_test,
        class_names=("enough", "few", "none"), seed=0, n_resplits=3,
    )  # fmt: skip
    enough, few, none = found.table().to_dict("records")
    assert enough["note"] == "1 component in place of 10, because each needs 50 samples"
    assert (enough["n_train_components"], enough["n_test_components"]) == (2, 1)
    assert "fewer than 10 samples" in few["note"]
    assert np.isnan([few["divergence"], few["p_value"], few["p_corrected"]]).all()
    assert none["note"] == "no test sample"


def test_more_features_than_samples_do_not_make_a_shift():
    """A PCA that only knew the training part would: its directions are those of the training noise."""
    p_values = []
    for seed in range(12):
        x = rng(seed).normal(size=(60, 400))
        parts = class_parts(x[:40], x[40:])
        pieces = [shift_of(parts, resplit=i, seed=seed, options=FAST) for i in range(20)]
        p_values.append(class_shift("one", 40, 20, pieces).p_value)
    assert np.mean(np.array(p_values) <= 0.1) < 0.5
    assert pieces[0].n_dimensions == 5
    assert 0 < pieces[0].kept_variance < 1


def test_features_that_do_not_vary_are_left_out():
    x = np.column_stack([rng().normal(size=(100, 2)), np.ones((100, 3))])
    found = shift_of(class_parts(x[:60], x[60:]), resplit=0, seed=0, options=FAST)
    assert found.n_dimensions == 2
    assert found.kept_variance == pytest.approx(1.0)
    same = shift_of(class_parts(np.ones((60, 3)), np.ones((40, 3))), resplit=0, seed=0, options=FAST)
    assert np.isnan(same.value)


def test_features_of_another_length_are_refused():
    with pytest.raises(DataError, match="Features of another length: 3 a test sample, 2 a training sample"):
        class_parts(np.zeros((5, 2)), np.zeros((5, 3)))
    with pytest.raises(DataError, match="no finite number"):
        class_parts(np.full((5, 2), np.nan), np.zeros((5, 2)))


def p_of_a_null_draw(seed, *, n_resplits):
    """Both parts of one curved, five-dimensional cloud that no mixture fits exactly."""
    x = rng(seed).normal(size=(180, 5))
    x[:, 1] += x[:, 0] ** 2
    parts = ClassParts(x, 120, 1.0)
    pieces = [shift_of(parts, resplit=i, seed=seed, options=FAST) for i in range(1 + n_resplits)]
    return class_shift("one", 120, 60, pieces).p_value


@pytest.mark.evidence
def test_the_p_values_of_null_draws_are_not_all_small():
    found = np.array([p_of_a_null_draw(seed, n_resplits=9) for seed in range(25)])
    assert 0.3 < found.mean() < 0.8
    assert (found <= 0.1).mean() < 0.4


@pytest.mark.evidence
def test_the_null_keeps_its_level():
    """With 19 re-splits p is at most .05 where the split as it is diverges most of 20: in 5 % of the draws, exactly."""
    found = np.array([p_of_a_null_draw(10_000 + seed, n_resplits=19) for seed in range(1000)])
    rejected = (found <= 0.05).mean()
    print(f"rejected at 5 %: {100 * rejected:.1f} % of 1,000 null draws")
    assert 0.030 <= rejected <= 0.072
