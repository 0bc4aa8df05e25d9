import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from tests.evaluate.feature_populations import cloud, head
from tests.plain_words import problems
from touchstone.core.data import DataError
from touchstone.core.evaluate.claims import corrected
from touchstone.core.evaluate.test_quality.missed import map_pair
from touchstone.core.evaluate.test_quality.quality import (
    boundary_conditioning,
    boundary_curve,
    centroid_curve,
    centroid_positioning,
    equivalence_partitioning,
    measure_quality,
    pairwise_boundary_conditioning,
    samples_table,
)
from touchstone.core.evaluate.test_quality.regions import Shares, fit_regions, random_splits, share_intervals
from touchstone.core.evaluate.test_quality.verdict import (
    DRAWN_HERE,
    claims_of,
    class_shares,
    findings,
    findings_table,
    quality_verdict,
)
from touchstone.core.models.layers import LayerSamples


def rng():
    return np.random.default_rng(0)


# Two classes on a line: centroids 0 and 10, training distances 1 1 3 3 and 2 2 2 2.
TRAIN = LayerSamples(
    [[-1.0], [1.0], [-3.0], [3.0], [8.0], [12.0], [8.0], [12.0]],
    [0, 0, 0, 0, 1, 1, 1, 1],
    [[0.9, 0.1]] * 4 + [[0.1, 0.9]] * 4,
    ("left", "right"),
    name="train",
)
TEST = LayerSamples(
    [[0.0], [2.0], [2.5], [10.0], [13.0]],
    [0, 0, 0, 1, 1],
    [[0.95, 0.05], [0.7, 0.3], [0.4, 0.6], [0.1, 0.9], [0.45, 0.55]],
    ("left", "right"),
    name="test",
)


def test_equivalence_partitioning_by_hand():
    shares = equivalence_partitioning(np.array([0, 0, 0, 2]), n_classes=4)
    assert shares.value.tolist() == [3.0, 0.0, 1.0, 0.0]
    assert shares.absent == ("1", "3")


def test_centroid_positioning_by_hand():
    regions = fit_regions(TRAIN, unit="largest")
    assert regions.centroids.ravel().tolist() == [0.0, 10.0]
    assert regions.units.tolist() == [3.0, 2.0]
    assert regions.radii == pytest.approx([2 / 3, 1.0])  # medians of 1 1 3 3 and 2 2 2 2
    shares = centroid_positioning(TEST.features, TEST.labels, regions=regions)
    assert shares.n_in.tolist() == [2, 1]  # 0 and 2 of class 0, which reaches to 2; 10 of class 1, which reaches to 12
    assert shares.value.tolist() == [2 / 3, 1 / 2]


def test_the_default_radius_is_neutral_on_the_training_set():
    train = cloud(head(4), [50, 80, 100, 31])
    shares = centroid_positioning(train.features, train.labels, regions=fit_regions(train))
    assert shares.value == pytest.approx([0.5] * 4, abs=0.02)


def test_a_radius_of_ones_own_is_in_the_unit():
    regions = fit_regions(TRAIN, r=1.1, unit="largest")
    shares = centroid_positioning(TEST.features, TEST.labels, regions=regions)
    assert shares.value.tolist() == [1.0, 1 / 2]  # reaching to 3.3 and to 12.2


def test_boundary_conditioning_by_hand():
    shares = boundary_conditioning(TEST.proba, TEST.labels, theta2=0.7)
    assert shares.n_in.tolist() == [2, 1]
    assert boundary_conditioning(TEST.proba, TEST.labels, theta1=0.58, theta2=0.7).n_in.tolist() == [2, 0]
    assert boundary_conditioning(TEST.proba, TEST.labels, theta2=1.0).value.tolist() == [1.0, 1.0]


def test_pairwise_boundary_conditioning_by_hand():
    proba = np.array([[0.5, 0.3, 0.2], [0.35, 0.25, 0.4], [0.9, 0.1, 0.0], [0.4, 0.5, 0.1], [0.1, 0.6, 0.3]])
    pairs = pairwise_boundary_conditioning(proba, np.array([0, 0, 0, 1, 1]))
    assert pairs.n_in.tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]
    assert pairs.value[0].tolist() == [0, 1 / 3, 1 / 3]
    assert np.isnan(pairs.value[2]).all()


def test_rounded_probabilities_of_a_tie_still_lie_at_the_boundary():
    thirds = np.full((1, 3), 0.333)
    assert boundary_conditioning(thirds, np.array([0])).value[0] == 1.0


@st.composite
def predictions(draw):
    n_classes = draw(st.integers(2, 6))
    n = draw(st.integers(1, 40))
    raw = draw(arrays(np.float64, (n, n_classes), elements=st.floats(0.01, 1.0)))
    y = draw(arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    return raw / raw.sum(axis=1, keepdims=True), y


@given(predictions(), st.floats(0.5, 1.0), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_laws_of_the_dimensions(given_predictions, theta2, random):
    proba, y = given_predictions
    n_classes = proba.shape[1]
    ep = equivalence_partitioning(y, n_classes=n_classes)
    assert ep.value.mean() == pytest.approx(1.0)
    bc = boundary_conditioning(proba, y, theta2=theta2)
    pbc = pairwise_boundary_conditioning(proba, y, theta2=theta2)
    there = bc.n > 0
    assert np.isnan(bc.value[~there]).all()
    assert pbc.value[there].sum(axis=1) == pytest.approx(bc.value[there])
    assert np.diag(pbc.n_in).sum() == 0
    for shares in (ep, bc):
        assert (shares.lower[there] <= shares.value[there]).all()
        assert (shares.value[there] <= shares.upper[there]).all()
        assert (shares.lower[there] >= 0).all()
        assert (shares.upper[there] <= shares.scale).all()
    order = list(range(len(y)))
    random.shuffle(order)
    again = pairwise_boundary_conditioning(proba[order], y[order], theta2=theta2)
    assert (again.n_in == pbc.n_in).all()


@given(st.integers(0, 10_000), st.floats(0.3, 3.0))
@settings(max_examples=20)
def test_centroid_positioning_does_not_depend_on_order_or_units(seed, factor):
    train, test = cloud(head(), 30, seed=seed), cloud(head(), [20, 1, 7], seed=seed + 1)
    shares = centroid_positioning(test.features, test.labels, regions=fit_regions(train))
    assert ((shares.value >= 0) & (shares.value <= 1)).all()
    order = np.random.default_rng(seed).permutation(len(test))
    shuffled = np.random.default_rng(seed + 1).permutation(len(train))
    regions = fit_regions(train.take(shuffled))
    assert (centroid_positioning(test.features[order], test.labels[order], regions=regions).n_in == shares.n_in).all()
    scaled = LayerSamples(4.0 * train.features, train.labels, train.proba, train.class_names)
    assert (
        centroid_positioning(4.0 * test.features, test.labels, regions=fit_regions(scaled)).n_in == shares.n_in
    ).all()


def test_the_bootstrap_without_resamples_is_that_of_many_resamples():
    inside = np.arange(200) < 60
    drawn = np.random.default_rng(0).integers(200, size=(20_000, 200))
    low, high = np.quantile(inside[drawn].mean(axis=1), [0.025, 0.975])
    _, lower, upper, resampled = share_intervals(np.array([60]), np.array([200]))
    assert resampled.all()
    assert [lower[0], upper[0]] == pytest.approx([low, high], abs=0.0051)


@pytest.mark.parametrize("k", [0, 3, 40, 197, 200])
def test_intervals_are_never_empty(k):
    share, lower, upper, _ = share_intervals(np.array([k]), np.array([200]))
    assert lower[0] <= share[0] <= upper[0]
    assert upper[0] - lower[0] > 0.01


def test_random_splits_are_those_one_would_draw():
    train, test = np.arange(900) < 90, np.arange(100) < 25
    both = np.concatenate([train, test])
    draws = np.array(
        [rng_i.choice(both, 100, replace=False).mean() for rng_i in map(np.random.default_rng, range(4000))]
    )
    found = random_splits(np.array([25]), np.array([100]), np.array([90]), np.array([900]))
    assert found.mean[0] == pytest.approx(draws.mean(), abs=0.002)
    assert [found.lower[0], found.upper[0]] == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.0101)
    assert found.p_value[0] < 0.001
    assert random_splits(np.array([11]), np.array([100]), np.array([104]), np.array([900])).p_value[0] > 0.5


def test_a_test_set_from_the_middle_is_found_out():
    of = head(apart=3.0)
    train, easy = cloud(of, 400), cloud(of, 150, seed=2, shrunk=0.6, name="easy")
    found = measure_quality(train, easy, rng=rng())
    assert (found.centroid.value > 0.85).all()
    assert (found.centroid.p_holm < 0.001).all()
    kinds = {(one.dimension, one.direction) for one in findings(found)}
    assert ("centroid positioning", "over") in kinds
    assert ("boundary conditioning", "under") in kinds
    assert "boundary" in quality_verdict(found).advice


def test_an_honest_test_set_has_nothing_over_or_under_but_what_is_rare():
    of = head(apart=2.0)
    found = measure_quality(cloud(of, 2000), cloud(of, 500, seed=2), rng=rng())
    assert findings(found) == ()
    assert quality_verdict(found).advice == ""
    assert (found.boundary.split_lower <= found.boundary.value).all()
    assert (found.boundary.value <= found.boundary.split_upper).all()


def test_of_a_test_set_drawn_here_the_card_says_that_it_is_nobodys_own():
    found = measure_quality(TRAIN, TEST, rng=rng())
    own, drawn = quality_verdict(found), quality_verdict(found, is_drawn=True)
    assert drawn.used == f"{own.used} {DRAWN_HERE}"
    assert "random" not in own.used
    assert list(problems(DRAWN_HERE)) == []
    assert max(len(sentence.split()) for sentence in DRAWN_HERE.split(". ")) <= 20


def test_p_values_of_random_splits_keep_their_level():
    of = head(apart=2.0)
    rejected = []
    for seed in range(40):
        found = measure_quality(cloud(of, 200, seed=seed), cloud(of, 60, seed=1000 + seed), rng=rng(), theta2=0.8)
        rejected.append((found.boundary.p_value < 0.05).mean())
    assert np.mean(rejected) < 0.08  # discrete, so below .05 on average


def test_an_absent_class_is_reported_and_nothing_crashes():
    of = head(4)
    found = measure_quality(cloud(of, 60), cloud(of, [40, 0, 40, 40], seed=2), rng=rng())
    assert found.absent == ("class 1",)
    assert np.isnan(found.centroid.value[1])
    assert found.equivalence.value[1] == 0
    assert "class 1" in quality_verdict(found).advice
    first = findings(found)[0]
    assert (first.label, first.dimension, first.direction) == ("class 1", "equivalence partitioning", "under")
    row = found.table().query("label == 'class 1' and dimension == 'boundary conditioning'").iloc[0]
    assert (row.n, row.by) == (0, "")


def test_classes_out_of_proportion_are_named():
    of = head(3, apart=2.0)
    found = measure_quality(cloud(of, 300), cloud(of, [300, 100, 200], seed=2), rng=rng())
    of_ep = {(one.label, one.direction) for one in findings(found) if one.dimension == "equivalence partitioning"}
    assert of_ep == {("class 0", "over"), ("class 1", "under")}
    assert set(findings_table(found)["direction"]) <= {"over", "under"}


@pytest.mark.parametrize("n_classes", [2, 20, 100])
def test_two_and_a_hundred_classes(n_classes):
    of = head(n_classes, 32, apart=3.0)
    found = measure_quality(cloud(of, 40), cloud(of, 12, seed=2), rng=rng())
    assert len(found.table()) == 3 * n_classes
    assert found.pairs.value.sum(axis=1) == pytest.approx(found.boundary.value)
    order = found.pairs.order()
    assert sorted(order) == list(range(n_classes))
    top = found.pairs.table(most=10)
    assert len(top) == min(10, n_classes * (n_classes - 1))
    assert (top["value"].diff().dropna() <= 0).all()
    assert (top["label"] != top["rival"]).all()
    assert len(quality_verdict(found).text) < 2500


def test_the_order_of_classes_puts_the_confused_side_by_side():
    counts = np.zeros((6, 6), dtype=np.int64)
    for i, j in ((0, 3), (1, 4), (2, 5)):
        counts[i, j] = counts[j, i] = 20
    from touchstone.core.evaluate.test_quality.missed import PairShares

    order = PairShares.of(tuple("abcdef"), counts, np.full(6, 50)).order().tolist()
    assert all(abs(order.index(i) - order.index(i + 3)) == 1 for i in range(3))


def test_a_sample_at_the_radius_lies_within_it():
    regions = fit_regions(TRAIN, r=1.0)
    own = regions.distances(TRAIN.features, TRAIN.labels)
    radii = tuple(np.unique(own).tolist())
    curve = centroid_curve(regions, TRAIN, TRAIN, radii=radii)
    expected = [[(own[TRAIN.labels == label] <= radius).sum() for radius in radii] for label in (0, 1)]
    assert curve.n_in.tolist() == expected
    assert curve.n_in[:, -1].tolist() == [4, 4]


def test_curves_go_through_the_values_at_their_thresholds():
    of = head()
    train, test = cloud(of, 100), cloud(of, 60, seed=2)
    regions = fit_regions(train, r=0.6)
    curve = centroid_curve(regions, test, train, radii=(0.3, 0.6, 2.0))
    assert (curve.n_in[:, 1] == centroid_positioning(test.features, test.labels, regions=regions).n_in).all()
    assert (curve.value[:, 2] == 1).all()
    boundary = boundary_curve(test, train)
    assert (np.diff(boundary.n_in, axis=1) >= 0).all()
    assert (boundary.value[:, -1] == 1).all()
    at = 20
    shares = boundary_conditioning(test.proba, test.labels, theta2=float(boundary.threshold[at]))
    assert (shares.n_in == boundary.n_in[:, at]).all()
    from_half = boundary_curve(test, train, theta1=0.5)
    shares = boundary_conditioning(test.proba, test.labels, theta1=0.5, theta2=float(from_half.threshold[at]))
    assert (shares.n_in == from_half.n_in[:, at]).all()
    assert len(curve.table()) == 9


def test_the_table_of_samples_says_what_the_dimensions_count():
    of = head(apart=2.0)
    train, test = cloud(of, 100), cloud(of, 60, seed=2)
    found = measure_quality(train, test, rng=rng())
    table = samples_table(test, found.regions)
    by_label = table.groupby("label")
    assert by_label["in_centroid"].sum().tolist() == found.centroid.n_in.tolist()
    assert by_label["in_boundary"].sum().tolist() == found.boundary.n_in.tolist()
    assert (table["rival"] != table["label"]).all()


def test_the_map_of_a_pair_shows_centroids_boundary_and_regions():
    of = head(3, 8, apart=3.0)
    train, test = cloud(of, 200), cloud(of, 50, seed=2)
    regions = fit_regions(train)
    shown = map_pair(test, regions, 0, 2, head=of)
    assert len(shown.points) == 100
    in_circle = np.linalg.norm(shown.points - shown.centroids[shown.y], axis=1) <= shown.radii[shown.y] + 1e-9
    assert in_circle[shown.in_centroid].all()
    assert 0 < shown.kept_variance < 1
    assert shown.grid is not None
    middle = shown.grid[:, np.abs(shown.grid_x - 0.5).argmin()]
    assert np.abs(middle - 0.5).max() < 0.35
    assert shown.grid[:, 0].max() < 0.5 < shown.grid[:, -1].min()
    # Two features, two classes: the plane is the whole space, and the map keeps its distances.
    plane = head(2, 2)
    both = map_pair(cloud(plane, 30), fit_regions(cloud(plane, 30)), 0, 1)
    assert both.kept_variance == pytest.approx(1.0)
    assert both.grid is None


def test_spread_over_classes():
    of = head(4, apart=2.0)
    even = measure_quality(cloud(of, 500), cloud(of, 200, seed=2), rng=rng()).spreads["equivalence partitioning"]
    assert even.value == 0
    skewed = measure_quality(cloud(of, 500), cloud(of, [400, 200, 100, 100], seed=2), rng=rng()).spreads
    told = skewed["equivalence partitioning"]
    assert told.interval.lower > told.by_chance
    assert told.value == pytest.approx(np.std([2.0, 1.0, 0.5, 0.5]))


def test_spread_lies_in_its_interval_where_noise_is_all_there_is():
    of = head(30, 40, apart=3.0)
    found = measure_quality(cloud(of, 60), cloud(of, 20, seed=2), rng=rng())
    for name in ("centroid positioning", "boundary conditioning"):
        spread = found.spreads[name]
        assert spread.interval.holds(spread.value)
        assert spread.interval.width > 0


def test_pairs_of_a_random_split_are_counted_as_one_would_draw_them():
    of = head(8, 16, apart=2.0)
    train, test = cloud(of, 60), cloud(of, 15, seed=2)
    pairs = measure_quality(train, test, rng=rng()).pairs
    trained = pairwise_boundary_conditioning(train.proba, train.labels)
    pooled, met = pairs.n_in + trained.n_in, []
    for seed in range(400):
        draw = np.random.default_rng(seed)
        met.append(
            sum(
                (draw.multivariate_hypergeometric(row, n) > 0).sum()
                for row, n in zip(pooled, pairs.n_in.sum(axis=1), strict=True)
            )
        )
    assert pairs.split_met == pytest.approx(np.mean(met), abs=0.3)
    assert pairs.n_met == pytest.approx(pairs.split_met, abs=4 * np.std(met))


def test_bad_input_is_refused_with_what_to_do():
    with pytest.raises(DataError, match=r"test has 2 a sample, .*1.*same layer|Features of another length"):
        measure_quality(TRAIN, LayerSamples(np.zeros((2, 2)), [0, 1], [[0.5, 0.5]] * 2, TRAIN.class_names), rng=rng())
    with pytest.raises(DataError, match="differ in their classes"):
        measure_quality(TRAIN, LayerSamples(np.zeros((1, 1)), [0], [[0.5, 0.2, 0.3]], ("a", "b", "c")), rng=rng())
    with pytest.raises(DataError, match="class 'right' has 1 training sample"):
        fit_regions(TRAIN.take(np.array([0, 1, 2, 4])))
    with pytest.raises(DataError, match="do not differ"):
        fit_regions(TRAIN.take(np.array([0, 1, 5, 7])))
    with pytest.raises(DataError, match=r"run from 0\.8 to 0\.7"):
        fit_regions(TRAIN, theta1=0.8)
    with pytest.raises(DataError, match="must be positive"):
        fit_regions(TRAIN, r=0.0)
    with pytest.raises(DataError, match="Labels run from 0 to 2"):
        equivalence_partitioning(np.array([0, 2]), n_classes=2)
    with pytest.raises(DataError, match="empty"):
        equivalence_partitioning(np.zeros(0, dtype=int), n_classes=2)
    with pytest.raises(DataError, match="two different classes"):
        map_pair(TEST, fit_regions(TRAIN), 1, 1)
    unlabelled = LayerSamples(TEST.features, None, TEST.proba, TEST.class_names, name="pool")
    with pytest.raises(DataError, match="pool: the samples have no labels"):
        measure_quality(TRAIN, unlabelled, rng=rng())


@pytest.mark.parametrize(("n_classes", "n"), [(50, 150), (100, 200), (4, 60)])
def test_of_many_classes_alike_none_is_said_to_have_more_than_its_share(n_classes, n):
    rng, names = np.random.default_rng(8), tuple(map(str, range(n_classes)))
    n_claimed = 0
    for _ in range(200):
        n_in = np.bincount(rng.integers(n_classes, size=n), minlength=n_classes)
        shares = Shares.of("equivalence partitioning", names, n_in, np.full(n_classes, n), scale=float(n_classes))
        n_claimed += any(claim.decision in ("above", "below") for claim in corrected(class_shares(shares)))
    assert n_claimed <= binom.isf(0.001, 200, 0.05)


def test_a_model_that_knows_its_training_samples_has_no_pair_with_too_many_tests():
    """It is sure of what it was trained on, so that more of any test set lies at a boundary: no pair is to blame."""
    from sklearn.ensemble import RandomForestClassifier

    n_claimed = 0
    for seed in range(8):
        drawn = np.random.default_rng([seed, 11])
        y = np.arange(800) % 3
        x = drawn.normal(size=(800, 20)) + 1.2 * np.eye(3, 20)[y]
        model = RandomForestClassifier(50, random_state=seed).fit(x[:600], y[:600])
        parts = [
            LayerSamples(x[rows], y[rows], model.predict_proba(x[rows]), ("a", "b", "c"))
            for rows in (slice(600), slice(600, None))
        ]
        n_claimed += any(claim.decided for claim in claims_of(measure_quality(*parts, rng=drawn)).pairs.values())
    assert n_claimed <= 2
