import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluate.feature_populations import LinearHead, cloud, head, names
from touchstone.core.data import DataError
from touchstone.core.evaluate.guided_tests.generate import (
    FREQUENCIES,
    MIXES,
    Missing,
    Recipe,
    check_properties,
    generate_class,
    generate_missing,
    generate_tests,
    label_next,
    missing_regions,
    nearest,
    sizes,
    start,
    wrong_ways,
)
from touchstone.core.evaluate.guided_tests.results import accuracy_grid, all_of, mix_accuracy, shared_accuracy
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.models.layers import LayerSamples

HEAD = head(3, 6, apart=3.0)
TRAIN, TEST = cloud(HEAD, 200, name="train"), cloud(HEAD, 60, seed=2, name="test")
REGIONS = fit_regions(TRAIN)


def ready(**options):
    return start(REGIONS, HEAD, train=TRAIN, test=TEST, recipe=Recipe(**options))


@pytest.mark.parametrize("share", MIXES)
def test_every_generated_feature_lies_where_it_was_asked_for(share):
    tests = generate_tests(ready(), 40, centroid_share=share, seed=0)
    near = tests.for_centroid
    assert REGIONS.in_centroid(tests.features, tests.y)[near].all()
    assert REGIONS.in_boundary(HEAD(tests.features))[~near].all()
    assert tests.n_unplaced == 0
    assert tests.placed.tolist() == [[round(40 * share), 40 - round(40 * share)]] * 3
    assert np.bincount(tests.y).tolist() == [40, 40, 40]


def test_what_is_said_of_each_is_what_regions_and_head_say():
    tests = generate_tests(ready(), 30, centroid_share=0.5, seed=1)
    proba = HEAD(tests.features)
    assert tests.predicted.tolist() == proba.argmax(axis=1).tolist()
    assert tests.confidence == pytest.approx(proba.max(axis=1))
    assert tests.distance == pytest.approx(REGIONS.distances(tests.features, tests.y))
    assert (tests.in_centroid == REGIONS.in_centroid(tests.features, tests.y)).all()
    table = tests.table()
    assert (table["correct"] == (table["label"] == table["predicted"])).all()
    assert (table["rival"] != table["label"]).all()


def test_parents_are_boundary_samples_of_the_class():
    of = head(3, 6, apart=1.5)
    train, test = cloud(of, 100), cloud(of, 120, seed=2)
    regions = fit_regions(train)
    tests = generate_tests(start(regions, of, train=train, test=test), 30, centroid_share=0.4, seed=0)
    row = {one: i for i, one in enumerate(test.ids)}
    parents = np.array([row[one] for one in tests.parent_ids])
    assert (tests.parent_part == "test").all()
    assert (test.labels[parents] == tests.y).all()
    assert (test.confidence[parents] <= regions.theta2 - 0.1).all()


def test_without_boundary_samples_the_nearest_stand_in():
    far = head(3, 6, apart=12.0)
    train, test = cloud(far, 100), cloud(far, 40, seed=2)
    made = start(fit_regions(train), far, train=train, test=test)
    assert (test.confidence > 0.6).all()
    parents, part = made.parents(1)
    assert (len(parents), part) == (10, "test")
    own = test.confidence[test.labels == 1]
    assert parents.confidence.max() == pytest.approx(np.sort(own)[9])
    tests = generate_tests(made, 20, centroid_share=0.0, seed=0)
    assert tests.n_unplaced == 0


def test_a_class_with_one_weak_sample_has_ten_parents_all_the_same():
    far = head(3, 6, apart=4.0)
    train, test = cloud(far, 100), cloud(far, 40, seed=2)
    weakest = np.sort(test.confidence[test.labels == 1])
    recipe = Recipe(wcl=float(weakest[0]))  # which lets in this one sample of the class
    parents, _ = start(fit_regions(train), far, train=train, test=test, recipe=recipe).parents(1)
    assert len(parents) == 10
    assert sorted(parents.confidence) == pytest.approx(weakest[:10])


def test_an_absent_class_is_generated_from_training_samples():
    test = cloud(HEAD, [30, 0, 30], seed=2)
    made = start(REGIONS, HEAD, train=TRAIN, test=test)
    tests = generate_tests(made, sizes(test, 0.5), centroid_share=0.5, seed=0)
    own = tests.y == 1
    assert own.sum() == 10  # half of the average class's 20
    assert (tests.parent_part[own] == "train").all()
    assert (tests.parent_part[~own] == "test").all()


def test_acceptance_never_asks_for_the_predicted_class():
    """Both sides of the boundary are there, about as many on either."""
    tests = generate_tests(ready(), 300, centroid_share=0.0, seed=0)
    between = (tests.predicted == tests.y) | (tests.predicted == tests.rival)
    share = tests.correct[between].mean()
    assert 0.35 < share < 0.65


def test_the_same_seed_gives_the_same_tests_and_classes_can_be_made_apart():
    whole = generate_tests(ready(), 20, centroid_share=0.3, seed=7)
    parts = [generate_class(ready(), label, n_centroid=6, n_boundary=14, seed=7) for label in (0, 1, 2)]
    assert np.array_equal(all_of(parts).features, whole.features)
    assert all_of(parts).counts_table().equals(whole.counts_table())
    assert not np.array_equal(generate_tests(ready(), 20, centroid_share=0.3, seed=8).features, whole.features)


def test_a_rival_can_be_asked_for_and_all_can_have_their_turn():
    one = generate_class(ready(), 0, n_centroid=0, n_boundary=40, seed=0, rival=2)
    assert (one.rival == 2).all()
    proba = HEAD(one.features)
    assert np.median(np.abs(proba[:, 0] - proba[:, 2])) < 0.4
    even = generate_tests(ready(rivals="even"), 40, centroid_share=0.0, seed=0)
    assert np.bincount(even.rival[even.y == 1], minlength=3).tolist() == [20, 0, 20]


def test_noise_has_the_covariance_of_the_training_features():
    made = ready()
    own = TRAIN.features[TRAIN.labels == 1]
    noise = made.noise(1, 40_000, rng=np.random.default_rng(0))
    assert np.cov(noise, rowvar=False) == pytest.approx(np.cov(own, rowvar=False, bias=True), abs=0.05)
    # Fewer samples than features take another way to the same end.
    few = TRAIN.take(np.concatenate([np.flatnonzero(TRAIN.labels == label)[:4] for label in range(3)]))
    noise = start(fit_regions(few), HEAD, train=few, test=TEST).noise(0, 40_000, rng=np.random.default_rng(0))
    own = few.features[few.labels == 0]
    assert np.cov(noise, rowvar=False) == pytest.approx(np.cov(own, rowvar=False, bias=True), abs=0.05)


def test_features_stay_within_what_training_samples_have():
    positive = LayerSamples(
        np.maximum(TRAIN.features, 0), TRAIN.labels, HEAD(np.maximum(TRAIN.features, 0)), TRAIN.class_names
    )
    made = start(fit_regions(positive), HEAD, train=positive, test=positive, recipe=Recipe(noise=1.0))
    tests = generate_tests(made, 50, centroid_share=0.5, seed=0)
    assert tests.features.min() >= 0
    assert (tests.features <= positive.features.max(axis=0) + 1e-6).all()


def test_what_cannot_be_placed_is_counted_and_not_hidden():
    def sure(features):
        """Never at a boundary."""
        best = HEAD(features).argmax(axis=1)
        return np.where(best[:, None] == np.arange(3), 0.98, 0.01)

    made = start(REGIONS, sure, train=TRAIN, test=TEST)
    tests = generate_tests(made, 10, centroid_share=0.5, seed=0)
    assert len(tests) == 15
    assert tests.n_unplaced == 15
    counts = tests.counts_table().set_index(["label", "region"])
    assert counts.loc[("class 0", "boundary"), "unplaced"] == 5
    assert counts.loc[("class 0", "centroid"), "unplaced"] == 0
    cell = mix_accuracy(tests, centroid_share=0.5, n_per_class=10)
    assert (cell.asked, cell.n_unplaced, cell.at_boundary.n) == (30, 15, 0)
    assert np.isnan(cell.at_boundary.accuracy)


@given(
    st.integers(2, 5), st.integers(1, 6), st.floats(0.0, 1.0), st.integers(0, 1000), st.sampled_from([0.6, 0.7, 0.9])
)
@settings(max_examples=12)
def test_regions_hold_whatever_the_classes_and_the_mix(n_classes, n, share, seed, theta2):
    of = head(n_classes, 4, apart=2.5, seed=seed)
    train, test = cloud(of, 30, seed=seed), cloud(of, 10, seed=seed + 1)
    regions = fit_regions(train, theta2=theta2)
    tests = generate_tests(start(regions, of, train=train, test=test), n, centroid_share=share, seed=seed)
    near = tests.for_centroid
    assert regions.in_centroid(tests.features[near], tests.y[near]).all()
    assert regions.in_boundary(of(tests.features[~near])).all()
    assert len(tests) + tests.n_unplaced == n * n_classes


@pytest.mark.parametrize("n_classes", [2, 20, 100])
def test_two_and_a_hundred_classes(n_classes):
    of = head(n_classes, 16, apart=4.0)
    train, test = cloud(of, 20), cloud(of, 8, seed=2)
    tests = generate_tests(start(fit_regions(train), of, train=train, test=test), 2, centroid_share=0.5, seed=0)
    assert len(tests) + tests.n_unplaced == 2 * n_classes
    assert len(tests) > 1.7 * n_classes


def test_sizes_follow_the_frequency():
    test = cloud(HEAD, [40, 20, 0], seed=2)
    assert sizes(test, 0.25).tolist() == [10, 5, 5]
    assert [sizes(test, frequency)[0] for frequency in FREQUENCIES] == [4, 10, 20, 30, 40]


def test_accuracy_near_centroids_is_high_and_mixes_lie_between():
    made = ready()
    near, boundary = (generate_tests(made, 60, centroid_share=share, seed=0) for share in (1.0, 0.0))
    on_test = {"n_test": len(TEST), "n_correct": int((TEST.predicted == TEST.labels).sum())}
    grid = accuracy_grid(near, boundary, sizes=(20, 60), **on_test)
    cells = {(cell.n_per_class, cell.centroid_share): cell for cell in grid.cells}
    assert len(cells) == 10
    for size in (20, 60):
        low, high = cells[size, 0.0], cells[size, 1.0]
        assert low.overall == low.at_boundary
        assert high.overall.accuracy > 0.95 > 0.7 > low.overall.accuracy
        assert low.overall.n == high.overall.n == 3 * size
        middle = cells[size, 0.5].overall.accuracy
        assert low.overall.accuracy < middle < high.overall.accuracy
    table = grid.table()
    assert (table["lower"] <= table["accuracy"]).all()
    assert (table["accuracy"] <= table["upper"]).all()
    with pytest.raises(DataError, match="61 tests for each class"):
        accuracy_grid(near, boundary, sizes=(61,), **on_test)


def test_more_tests_from_the_same_parents_are_no_more_evidence():
    rng = np.random.default_rng(0)
    right = rng.random(40) < 0.7
    one, many = (shared_accuracy(np.repeat(right, times), np.repeat(np.arange(40), times)) for times in (1, 50))
    assert many.accuracy == one.accuracy
    assert many.n == 50 * one.n
    assert many.interval.width == pytest.approx(one.interval.width)


def test_intervals_over_parents_hold_the_truth():
    """Each parent has an accuracy of its own, of .6 on average; five tests come from each."""
    held = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        own = rng.beta(1.2, 0.8, size=50)
        correct = (rng.random((50, 5)) < own[:, None]).ravel()
        held += shared_accuracy(correct, np.repeat(np.arange(50), 5)).interval.holds(0.6)
    assert 0.91 < held / 300 < 0.99


def test_intervals_are_known_where_all_are_right():
    whole = shared_accuracy(np.ones(20, dtype=bool), np.arange(20) // 2)
    assert whole.interval.upper == 1
    assert 0.6 < whole.interval.lower < 0.8


def test_the_file_holds_what_was_generated():
    tests = generate_tests(ready(), 10, centroid_share=0.3, seed=0)
    images = np.zeros((30, 2, 2, 1), dtype=np.float32)
    with np.load(io.BytesIO(tests.to_npz(images)), allow_pickle=False) as file:
        assert np.array_equal(file["features"], tests.features)
        assert file["labels"].tolist() == [names(3)[label] for label in tests.y]
        assert (file["region"] == "centroid").sum() == 9
        assert file["parent_ids"].tolist() == tests.parent_ids.tolist()
        assert file["images"].shape == (30, 2, 2, 1)
    with np.load(io.BytesIO(tests.to_npz()), allow_pickle=False) as file:
        assert "images" not in file


def test_a_linear_head_of_two_classes_has_all_properties_but_perfect_accuracy():
    of = head(2, 4, apart=2.0)
    train, test = cloud(of, 200), cloud(of, 100, seed=2)
    found = check_properties(fit_regions(train), of, test)
    between, back, first = found.each
    assert (between.n, between.n_violated) == (1, 0)
    assert back.n > 0
    assert back.n_violated == 0
    assert first.n_violated == (test.predicted != test.labels).sum() > 0
    assert set(found.violations()["property"]) == {"true class first"}
    assert found.table()["n"].tolist() == [1, back.n, 200]


def test_a_class_in_between_breaks_the_property_of_lines():
    """From left to right through the middle: the middle class takes over, yet left falls and right rises."""
    of = LinearHead([[-4.0, 0.0], [4.0, 0.0], [0.0, 0.5]])
    train = cloud(of, 100)
    assert check_properties(fit_regions(train), of, train).each[0].n_violated == 0

    def wavering(features):
        proba = of(features)
        bump = 0.3 * np.exp(-8 * np.square(features[:, 0] - 2))
        proba[:, 0] += bump
        return proba / proba.sum(axis=1, keepdims=True)

    broken = check_properties(fit_regions(train), wavering, train).each[0]
    assert broken.n_violated >= 1
    worst = broken.violations.iloc[0]
    assert {worst["label"], worst["other"]} & {"class 0"}
    assert worst["worst"] > 0.05


def test_wrong_ways_by_hand():
    worst, at = wrong_ways(np.array([[1.0, 0.5, 0.0], [1.0, 0.2, 0.5]]), np.array([[0.0, 0.4, 0.1], [0.0, 0.1, 0.2]]))
    assert worst.tolist() == pytest.approx([0.3, 0.3])
    assert at.tolist() == [2, 2]


def test_missing_regions_and_what_to_label_next():
    of = head(3, 6, apart=3.0)
    train = cloud(of, 300)
    lacking = cloud(of, [80, 0, 80], seed=2)
    found = measure_quality(train, lacking, rng=np.random.default_rng(0))
    missing = missing_regions(found)
    assert missing[0] == Missing(1, None, 10)  # the absent class
    made = start(found.regions, of, train=train, test=lacking)
    wanted = generate_missing(made, [Missing(1, None, 30)], seed=0)
    pool = cloud(of, 100, seed=3, name="pool")
    unlabelled = LayerSamples(pool.features, None, pool.proba, pool.class_names, name="pool")
    listed = label_next(wanted, unlabelled, found.regions, n=15)
    assert len(listed) == len(set(listed["id"])) == 15
    assert set(listed["near_label"]) == {"class 1"}
    assert generate_missing(made, [], seed=0) is None


def test_the_least_confident_are_labelled_next_wherever_they_lie():
    of = head(3, 6, apart=3.0)
    train, pool = cloud(of, 300), cloud(of, 300, seed=3, name="pool")
    found = measure_quality(train, cloud(of, [80, 0, 80], seed=2), rng=np.random.default_rng(0))
    made = start(found.regions, of, train=train, test=cloud(of, [80, 0, 80], seed=2))
    wanted = generate_missing(made, [Missing(1, None, 30)], seed=0)
    listed = label_next(wanted, pool, found.regions, n=40)
    assert listed["confidence"].tolist() == np.sort(pool.confidence)[:40].tolist()
    rows = [pool.ids.tolist().index(one) for one in listed["id"]]
    wrong = pool.predicted != pool.labels
    assert wrong[rows].mean() > 3 * wrong.mean() > 0
    # Where nothing is missing, the same samples are worth a label.
    alone = label_next(None, pool, found.regions, n=40)
    assert alone["id"].tolist() == listed["id"].tolist()
    assert list(alone.columns) == ["id", "predicted", "confidence"]


def test_a_test_set_with_all_regions_misses_nothing():
    of = head(3, 6, apart=1.5)
    assert missing_regions(measure_quality(cloud(of, 500), cloud(of, 200, seed=2), rng=np.random.default_rng(0))) == ()


def test_the_nearest_are_those_of_a_full_search():
    rng = np.random.default_rng(0)
    x, among = rng.normal(size=(50, 7)), rng.normal(size=(30, 7))
    apart = np.linalg.norm(x[:, None] - among[None], axis=2)
    at, far = nearest(x, among)
    assert at.tolist() == apart.argmin(axis=1).tolist()
    assert far == pytest.approx(apart.min(axis=1))


def test_bad_wishes_are_refused():
    with pytest.raises(DataError, match="must lie in"):
        generate_tests(ready(), 3, centroid_share=1.2, seed=0)
    with pytest.raises(DataError, match="cannot be negative"):
        generate_tests(ready(), 0, centroid_share=0.5, seed=0)
    with pytest.raises(DataError, match="another class of 3"):
        generate_class(ready(), 0, n_centroid=0, n_boundary=1, seed=0, rival=0)
    with pytest.raises(DataError, match="must be positive"):
        sizes(TEST, 0.0)
    with pytest.raises(DataError, match="It is a confidence"):
        ready(wcl=0.1)
    with pytest.raises(DataError, match="Noise cannot be negative"):
        ready(noise=-1.0)
    with pytest.raises(DataError, match="The head has 2 classes"):
        start(REGIONS, head(2, 6), train=TRAIN, test=TEST)
