import hashlib
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.cluster.transport_oracle import assigned, least_cost
from touchstone.core.cluster.sds import MOST_IN_A_START, MOST_STEPS, SameSizeKMeans, SDSKMeans
from touchstone.core.data.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
DIGITS = load_digits()


@pytest.fixture(autouse=True)
def _no_array_api(monkeypatch):
    """The array-API check is the only one that may be left out; without this it looks at the environment."""
    monkeypatch.delenv("SCIPY_ARRAY_API", raising=False)


@parametrize_with_checks([SDSKMeans(), SameSizeKMeans()])
def test_scikit_learn_takes_them_for_its_own(estimator, check):
    check(estimator)


def cells(labels: np.ndarray, y: np.ndarray, n_clusters: int) -> np.ndarray:
    codes = np.unique(y, return_inverse=True)[1]
    found = np.zeros((codes.max() + 1, n_clusters), dtype=int)
    np.add.at(found, (codes, labels), 1)
    return found


@st.composite
def samples(draw):
    """Features with copies and constant columns, and labels of which some occur once."""
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    x = rng.normal(size=(n, d)) * draw(st.sampled_from([0.0, 1e-200, 1.0, 1e100]))
    x = x[rng.integers(0, n, n)] if draw(st.booleans()) else x
    if draw(st.booleans()):
        x[:, 0] = 3.0
    y = np.array([f"label {code}" for code in rng.integers(0, draw(st.integers(1, n)), n) ** 2])
    return x, y


@given(samples(), st.data())
@settings(max_examples=100)
def test_the_cells_that_were_asked_for_are_met(sample, data):
    x, y = sample
    n_clusters = data.draw(st.integers(1, min(len(x), 20)))
    counts = np.unique(y, return_counts=True)[1]
    quotas = None
    if data.draw(st.booleans()):
        rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
        quotas = np.array([rng.multinomial(n, rng.dirichlet(np.ones(n_clusters))) for n in counts])
        quotas = quotas if quotas.sum(axis=0).all() else None
    found = SDSKMeans(n_clusters, n_init=2, quotas=quotas, random_state=0).fit(x, y)
    met = cells(found.labels_, y, n_clusters)
    np.testing.assert_array_equal(met, found.quotas_ if quotas is None else quotas)
    assert np.isfinite(found.inertia_)
    assert 1 <= found.n_iter_ <= MOST_STEPS
    if quotas is None:
        assert (abs(met - counts[:, None] / n_clusters) < 1).all()
        assert np.ptp(met.sum(axis=0)) <= 1


@pytest.mark.parametrize("n_clusters", range(2, 21))
def test_digits_are_spread_to_within_one(n_clusters):
    found = SDSKMeans(n_clusters, n_init=1, random_state=n_clusters).fit(DIGITS.data, DIGITS.target)
    met = cells(found.labels_, DIGITS.target, n_clusters)
    assert np.ptp(met, axis=1).max() <= 1
    assert np.ptp(met.sum(axis=0)) <= 1
    same = SameSizeKMeans(n_clusters, n_init=1, random_state=n_clusters).fit(DIGITS.data, DIGITS.target)
    assert np.ptp(np.bincount(same.labels_)) <= 1


@pytest.mark.parametrize("n_components", [5, 20])
@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_squares_on_digits_is_lower_than_the_original_implementations(n_components, seed):
    x = PCA(n_components, random_state=0).fit_transform(StandardScaler().fit_transform(DIGITS.data))
    theirs_sds, theirs_same_size = {5: (39_580.8, 23_218.3), 20: (80_876.1, 64_800.0)}[n_components]
    assert SDSKMeans(5, random_state=seed).fit(x, DIGITS.target).inertia_ < theirs_sds
    assert SameSizeKMeans(5, random_state=seed).fit(x).inertia_ < theirs_same_size


def test_what_is_reported_is_what_was_found():
    x, y = DIGITS.data, DIGITS.target
    found = SDSKMeans(4, n_init=2, random_state=0).fit(x, y)
    means = np.array([x[found.labels_ == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(found.cluster_centers_, means, atol=1e-9)
    assert found.inertia_ == pytest.approx(((x - means[found.labels_]) ** 2).sum(), rel=1e-12)


def test_it_ends_where_no_other_assignment_to_its_centres_is_better():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 2)), np.sort(rng.integers(0, 3, 90))
    found = SDSKMeans(3, random_state=0).fit(x, y)
    to_centres = ((x[:, None] - found.cluster_centers_) ** 2).sum(axis=2)
    assert least_cost(to_centres, found.quotas_) == pytest.approx(found.inertia_, rel=1e-5)


def test_steps_beyond_the_means_end_lower_than_plain_ones():
    """Plain steps of Lloyd, written out, from starts of the same kind, on twelve data sets without any cluster."""
    lower = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(600, 10)), np.sort(rng.integers(0, 3, 600))
        found = SDSKMeans(5, n_init=1, random_state=seed).fit(x, y)
        centres, before, inertia = kmeans_plusplus(x, 5, random_state=seed)[0], np.inf, 1e300
        while inertia < before:
            before, cluster = inertia, assigned(((x[:, None] - centres) ** 2).sum(axis=2), found.quotas_)
            centres = np.array([x[cluster == k].mean(axis=0) for k in range(5)])
            inertia = ((x - centres[cluster]) ** 2).sum()
        lower.append(np.log(inertia / found.inertia_))
    assert np.mean(lower) > 2 * np.std(lower) / len(lower) ** 0.5


def test_equal_seeds_give_equal_labels_and_other_seeds_others():
    x, y = DIGITS.data, DIGITS.target
    first, again, other = (SDSKMeans(5, n_init=2, random_state=seed).fit(x, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    assert first.inertia_ == again.inertia_
    assert (first.labels_ != other.labels_).any()


def test_labels_are_equal_to_the_bit_in_another_process_with_other_threads():
    code = (
        "import hashlib, numpy as np\n"
        "from touchstone.core.cluster.sds import SDSKMeans\n"
        "rng = np.random.default_rng(0)\n"
        "x, y = rng.normal(size=(12000, 20)), rng.integers(0, 9, 12000)\n"
        "print(hashlib.sha256(SDSKMeans(7, n_init=2, random_state=3).fit(x, y).labels_.tobytes()).hexdigest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n},
        ).stdout.strip()
        for n in ("1", "2")
    }
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12000, 20)), rng.integers(0, 9, 12000)
    here = SDSKMeans(7, n_init=2, random_state=3).fit(x, y).labels_
    assert printed == {hashlib.sha256(here.tobytes()).hexdigest()}


def test_without_labels_it_is_same_size_k_means():
    x = DIGITS.data
    without = SDSKMeans(5, n_init=2, random_state=0).fit_predict(x)
    same_size = SameSizeKMeans(5, n_init=2, random_state=0).fit_predict(x, DIGITS.target)
    np.testing.assert_array_equal(without, same_size)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_new_samples_go_to_the_nearest_centre_whatever_the_quotas(far):
    x = DIGITS.data[:500, 20:40] + far
    model = SDSKMeans(5, random_state=0).fit(x, DIGITS.target[:500])
    new = DIGITS.data[500:900, 20:40] + far
    distances = ((new[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(new), distances.argmin(axis=1))
    assert (model.labels_ != model.predict(x)).any()  # where a cluster was full, a sample of the fit is in another
    assert SameSizeKMeans(3, random_state=0).fit(x).predict(new).max() == 2


def test_nothing_is_predicted_before_a_fit():
    with pytest.raises(NotFittedError):
        SDSKMeans(2).predict([[0.0]])


def test_labels_may_be_text_numbers_or_truths():
    x, codes = DIGITS.data[:300], DIGITS.target[:300] % 2
    found = [
        SDSKMeans(3, n_init=1, random_state=0).fit_predict(x, y)
        for y in (
            codes,
            codes == 1,
            np.array(["a", "b"])[codes],
            np.array(["a", "b"], dtype=object)[codes],
            list(codes),
        )
    ]
    for labels in found:
        np.testing.assert_array_equal(labels, found[0])


def test_quotas_of_twenty_and_eighty_percent_are_met():
    y = DIGITS.target
    counts = np.bincount(y)
    quotas = np.column_stack([counts // 5, counts - counts // 5])
    found = SDSKMeans(2, quotas=quotas, random_state=0).fit(DIGITS.data, y)
    np.testing.assert_array_equal(cells(found.labels_, y, 2), quotas)
    uneven = SameSizeKMeans(2, quotas=[97, 1700], random_state=0).fit(DIGITS.data)
    np.testing.assert_array_equal(np.bincount(uneven.labels_), [97, 1700])


def test_more_samples_than_a_start_takes_keep_their_quotas():
    rng = np.random.default_rng(0)
    n = MOST_IN_A_START + 2345
    x, y = rng.normal(size=(n, 3)), rng.geometric(0.2, n)  # the rarest labels occur once, and in no start
    found = SDSKMeans(7, n_init=2, random_state=0).fit(x, y)
    met = cells(found.labels_, y, 7)
    assert np.ptp(met, axis=1).max() <= 1
    assert np.ptp(met.sum(axis=0)) <= 1


def test_a_cluster_may_be_too_small_for_the_sample_of_a_start():
    n = MOST_IN_A_START * 3
    x = np.random.default_rng(0).normal(size=(n, 2))
    for seed in range(5):
        found = SameSizeKMeans(3, n_init=2, quotas=[1, n - 2, 1], random_state=seed).fit(x)
        np.testing.assert_array_equal(np.bincount(found.labels_), [1, n - 2, 1])
        assert np.isfinite(found.inertia_)


def test_a_cluster_for_every_sample_and_one_for_all():
    x = np.random.default_rng(0).normal(size=(30, 2))
    each = SameSizeKMeans(30, random_state=0).fit(x)
    assert sorted(each.labels_) == list(range(30))
    assert each.inertia_ == pytest.approx(0.0, abs=1e-12)
    one = SDSKMeans(1, random_state=0).fit(x, np.arange(30) % 3)
    assert one.inertia_ == pytest.approx(((x - x.mean(axis=0)) ** 2).sum())


def test_far_from_zero_it_finds_what_it_finds_at_zero():
    x = np.round(DIGITS.data)
    near = SameSizeKMeans(5, n_init=2, random_state=0).fit(x)
    far = SameSizeKMeans(5, n_init=2, random_state=0).fit(x + 2.0**26)
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-2)
    means = np.array([x[far.labels_ == k].mean(axis=0) for k in range(5)])
    assert far.inertia_ == pytest.approx(((x - means[far.labels_]) ** 2).sum(), rel=1e-9)


@pytest.mark.parametrize("estimator", [SDSKMeans(2), SameSizeKMeans(2)])
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"n_clusters": 0}, "n_clusters is 0; it must be a whole number, 1 or more"),
        ({"n_clusters": 2.5}, "n_clusters is 2.5"),
        ({"n_clusters": True}, "n_clusters is True"),
        ({"n_init": 0}, "n_init is 0"),
        ({"n_clusters": 7}, "7 clusters need 7 samples or more, but n_samples=6"),
    ],
)
def test_what_was_asked_for_is_checked(estimator, changes, says):
    with pytest.raises(DataError, match=says):
        clone(estimator).set_params(**changes).fit(np.arange(12.0).reshape(6, 2))


def test_labels_that_cannot_be_used_are_refused():
    x = np.arange(8.0).reshape(4, 2)
    with pytest.raises(DataError, match=r"no label in row 2 \(1 in all\)"):
        SDSKMeans(2).fit(x, np.array(["a", "b", None, "a"], dtype=object))
    with pytest.raises(DataError, match="cannot be sorted"):
        SDSKMeans(2).fit(x, np.array(["a", 1, "b", 2], dtype=object))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SDSKMeans(2).fit(x, [1, 2, 3])


@pytest.mark.parametrize("seed", range(5))
def test_what_single_precision_cannot_tell_apart_is_told_apart_in_double(seed):
    """Groups far apart, and in each differences whose costs are less than what single precision holds of the whole."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.repeat([-1e5, 1e5], 100), rng.normal(size=200)])
    found = SameSizeKMeans(4, n_init=1, random_state=seed).fit(x)
    to_centres = ((x[:, None] - found.cluster_centers_) ** 2).sum(axis=2)
    assert least_cost(to_centres, found.quotas_) == pytest.approx(found.inertia_, rel=1e-5)


def test_no_second_copy_of_the_features_is_held():
    """Beyond the features: half of them in single precision, and some labels at a time."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100_000, 50)), rng.integers(0, 20, 100_000)
    SDSKMeans(5, n_init=1, random_state=0).fit(x[:300], y[:300])
    tracemalloc.start()
    SDSKMeans(5, n_init=1, random_state=0).fit(x, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.8 * x.nbytes


def test_features_whose_squares_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="Standardise them first"):
        SameSizeKMeans(2).fit(np.array([[1e200], [-1e200], [0.0], [1.0]]))
