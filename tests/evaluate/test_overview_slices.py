"""A slice is named where it is weak on samples that did not choose it, and seldom where none is."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.claims import claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.overview import (
    Slices,
    Weak,
    classes_verdict,
    find_slices,
    hardness,
    samples_of_weak,
    slices_verdict,
    weak_classes,
    weak_lines,
    weak_slices,
    weak_table,
)

N_SLICES, N_EACH, N_WORLDS = 20, 60, 200
CODES = np.repeat(np.arange(N_SLICES), N_EACH)
SLICES = Slices(CODES, tuple(f"slice {code}" for code in range(N_SLICES)))


def world(rng: np.random.Generator, accuracy: np.ndarray, **measures: np.ndarray) -> pd.DataFrame:
    """Samples whose prediction is correct with the chance of their slice."""
    correct = (rng.random(len(CODES)) < accuracy[CODES]).astype(float)
    label = (CODES // 5).astype(str)
    return pd.DataFrame({"id": range(len(CODES)), "label": label, "correct on Random folds": correct, **measures})


def dealt(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The samples of a table on five folds by lot, whose models are all alike."""
    right = table["correct on Random folds"]
    fold = np.random.default_rng(len(table)).permutation(len(table)) % 5
    return {right.name: pd.DataFrame({"seed": 0, "fold": fold, "row": range(len(table)), "right": right})}


def slices_of(table: pd.DataFrame, rng: np.random.Generator, slices: Slices = SLICES) -> tuple[Weak, ...]:
    return weak_slices(table, dealt(table), slices, rng=rng)


def classes_of(table: pd.DataFrame) -> tuple[Weak, ...]:
    return weak_classes(table, dealt(table))


def named(table: pd.DataFrame, seed: int) -> list[str]:
    return [each.name for each in slices_of(table, np.random.default_rng(seed)) if each.is_weak]


def test_where_no_slice_is_weak_one_is_seldom_named():
    rng, flat = np.random.default_rng(0), np.full(N_SLICES, 0.85)
    n_wrong = sum(bool(named(world(rng, flat), seed)) for seed in range(N_WORLDS))
    assert n_wrong / N_WORLDS <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)


def test_choosing_and_testing_on_the_same_samples_would_name_one_often():
    """The worst of twenty, tested on the samples that made it the worst: why half of them must not choose."""
    rng, n_wrong = np.random.default_rng(0), 0
    for _ in range(N_WORLDS):
        correct = world(rng, np.full(N_SLICES, 0.85))["correct on Random folds"].to_numpy()
        worst = int(np.bincount(CODES, correct).argmin())
        inside, outside = correct[worst == CODES], correct[worst != CODES]
        n_wrong += stats.ttest_ind(inside, outside, equal_var=False).pvalue < 0.05
    assert n_wrong / N_WORLDS > 0.1


def test_a_weak_slice_is_named_and_nothing_else():
    rng = np.random.default_rng(1)
    accuracy = np.full(N_SLICES, 0.95)
    accuracy[7] = 0.5
    names = [named(world(rng, accuracy), seed) for seed in range(100)]
    assert sum("slice 7" in each for each in names) >= 80
    assert sum(bool(set(each) - {"slice 7"}) for each in names) <= 10


def test_a_slice_that_another_method_calls_strong_is_not_chosen():
    rng = np.random.default_rng(2)
    accuracy = np.full(N_SLICES, 0.95)
    accuracy[[3, 7]] = 0.4
    p_robust = np.select([CODES == 7, CODES == 3], [0.1, 1.0], rng.uniform(0.2, 0.9, len(CODES)))
    assert named(world(rng, accuracy, p_robust=p_robust), 0) == ["slice 7"]


def test_infinite_and_missing_measures_have_their_say():
    rng = np.random.default_rng(3)
    accuracy = np.full(N_SLICES, 0.95)
    accuracy[7] = 0.4
    sigma = np.where(CODES == 7, 0.2, np.inf)
    sigma[::3] = np.nan
    [weak] = slices_of(world(rng, accuracy, sigma_50=sigma), rng)
    [(measure, inside, outside, p_lower)] = weak.beside
    assert (measure, inside, outside) == ("sigma_50", 0.2, np.inf)
    assert p_lower < 1e-6
    assert "0.2" in str(weak_table([weak])["sigma_50"][0])
    assert weak_lines([weak])["Sigma-50"][0] == ".200 (> range)"


def test_a_weak_slice_says_how_many_tests_lie_at_its_boundary():
    rng = np.random.default_rng(8)
    accuracy = np.full(N_SLICES, 0.95)
    accuracy[7] = 0.3
    table = world(rng, accuracy)
    assert slices_of(table, rng)[0].at_boundary is None
    region = np.full(len(CODES), None, dtype=object)
    region[np.flatnonzero(CODES == 7)[:9]] = ["boundary", "both"] + ["neither"] * 4 + ["centroid"] * 3
    region[CODES == 3] = "boundary"
    weak = slices_of(table.assign(region=region), rng)
    assert weak[0].at_boundary == (2, 9)
    assert weak_lines(weak)["Boundary tests"][0] == "2 of 9"
    assert weak_table(weak)[["n_at_boundary", "n_test"]].iloc[0].tolist() == [2, 9]


def test_the_halves_share_no_sample():
    """What chose a slice does not count in it: its n is half of the known samples."""
    rng = np.random.default_rng(4)
    accuracy = np.full(N_SLICES, 0.95)
    accuracy[7] = 0.3
    table = world(rng, accuracy)
    table.loc[CODES == 7, "correct on Random folds"] = table["correct on Random folds"].where(CODES != 7, np.nan)[::2]
    weak = slices_of(table, rng)
    assert all(each.n == N_EACH // 2 for each in weak)


def test_weak_classes_are_tested_against_all_others_and_corrected():
    rng = np.random.default_rng(5)
    accuracy = np.repeat([0.95, 0.95, 0.95, 0.7], 5)
    classes = classes_of(world(rng, accuracy))
    assert [each.name for each in classes if each.is_weak] == ["class “3”"]
    said = classes_verdict(classes)
    assert said.headline.startswith("Class “3” loses")
    assert said.advice == "Next: collect samples of class “3” first."
    flat = [classes_of(world(rng, np.full(N_SLICES, 0.9))) for _ in range(N_WORLDS)]
    n_wrong = sum(any(each.is_weak for each in classes) for classes in flat)
    assert n_wrong / N_WORLDS <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)


def test_nothing_weak_is_a_sentence_without_advice():
    rng = np.random.default_rng(6)
    said = slices_verdict(slices_of(world(rng, np.full(N_SLICES, 0.9)), rng))
    assert said.headline == "No group of samples is significantly weaker than the rest."
    assert not said.advice


def test_without_folds_nothing_is_known_of_held_out_samples():
    table = pd.DataFrame({"id": range(40), "label": "a", "p_robust": 0.5})
    assert weak_slices(table, {}, Slices(np.zeros(40, dtype=int), ("one",)), rng=np.random.default_rng(0)) == ()
    assert "Undecided" in classes_verdict(weak_classes(table, {})).headline


def test_the_list_of_samples_begins_with_the_least_confident():
    rng = np.random.default_rng(7)
    accuracy = np.full(N_SLICES, 0.98)
    accuracy[7] = 0.2
    confidence = np.where(CODES == 7, 0.5, 1.0) * rng.uniform(0.9, 1, len(CODES))
    table = world(rng, accuracy, confidence=confidence)
    weak = slices_of(table, rng)
    queue = samples_of_weak(table, SLICES, weak)
    assert set(queue["slice"]) == {"slice 7"}
    assert len(queue) == N_EACH
    assert queue["confidence"].is_monotonic_increasing


def test_slices_are_known_sources_or_clusters_within_a_class():
    digits = load_example("digits")
    slices = find_slices(digits, digits.x.reshape(digits.n_samples, -1))
    assert len(slices.names) == len(set(slices.names)) > 30
    for code in range(len(slices.names)):
        assert len(set(digits.y[slices.codes == code])) == 1
    speakers = np.array([f"s{row % 4}" for row in range(digits.n_samples)])
    known = Dataset("d", "image", digits.x, digits.y, digits.class_names, digits.ids, sources=speakers)
    flat = digits.x.reshape(digits.n_samples, -1)
    assert find_slices(known, flat).names[1] == "class “0”, source “s1”"


def test_sources_that_are_small_in_every_class_are_taken_over_all_classes():
    digits = load_example("digits")
    flat = digits.x.reshape(digits.n_samples, -1)
    of = ("d", "image", digits.x, digits.y, digits.class_names, digits.ids)
    thirty = Dataset(*of, sources=np.array([f"s{row % 30}" for row in range(digits.n_samples)]))
    assert find_slices(thirty, flat).names[0] == "source “s0”"
    singles = Dataset(*of, sources=np.array([f"s{row // 2}" for row in range(digits.n_samples)]))
    assert find_slices(singles, flat).names[0] == "class “0”, cluster 1"


@pytest.mark.parametrize("n", [1, 5])
def test_small_classes_are_one_slice(n):
    y = np.repeat([0, 1], [n, 30])
    small = Dataset("d", "tabular", np.arange(n + 30.0)[:, None], y, ["a", "b"], [str(row) for row in range(n + 30)])
    assert find_slices(small, small.x).names == ("class “a”", "class “b”")


def test_hardness_counts_methods_and_knows_what_was_not_measured():
    table = pd.DataFrame({"confidence": [0.1, 0.5, 0.6, 0.7, 0.8, np.nan], "p_robust": [0.2, 0.1, 1, 1, 1, np.nan]})
    assert hardness(table).tolist() == [1, 1, 0, 0, 0, -1]


def test_the_claim_of_the_headline_comes_first():
    """A small group may lose more than the one that is named, and stay undecided."""
    loose = claim("overview.weak_group", 0.4, Interval(-0.1, 0.9), 0.2, smallest=0.02)
    sure = claim("overview.weak_group", 0.2, Interval(0.1, 0.3), 0.001, smallest=0.02)
    weak = [Weak(name, 30, 0.5, Interval(0.4, 0.6), 0.9, of, ()) for name, of in (("small", loose), ("large", sure))]
    said = slices_verdict(weak)
    assert said.headline.startswith("Large loses 20.0 points")
    assert said.claims == (sure, loose)


def test_copies_count_once():
    """Where every sample is there five times, chance is there five times, too."""
    rng, n_weak, n_once = np.random.default_rng(6), 0, 0
    codes = np.repeat(rng.integers(6, size=200), 5)
    slices = Slices(codes, tuple(map(str, range(6))))
    for _ in range(60):
        correct = np.repeat((rng.random(200) < 0.8).astype(float), 5)
        table = pd.DataFrame({"id": range(1000), "label": codes.astype(str), "correct on Random folds": correct})
        known = table.assign(is_copy=np.arange(1000) % 5 > 0)
        n_weak += any(each.is_weak for each in (*classes_of(table), *slices_of(table, rng, slices)))
        n_once += any(each.is_weak for each in (*classes_of(known), *slices_of(known, rng, slices)))
    assert n_weak >= 20
    assert n_once <= stats.binom.isf(0.001, 60, 0.1)


def test_only_what_is_significantly_lower_is_called_so():
    rng, n_lower = np.random.default_rng(7), 0
    label = np.repeat(["a", "b", "c"], 100)
    for _ in range(60):
        correct = (rng.random(300) < np.repeat([0.4, 0.9, 0.9], 100)).astype(float)
        others = {"confidence": rng.random(300), "p_robust": rng.random(300)}
        table = pd.DataFrame({"id": range(300), "label": label, "correct on Random folds": correct} | others)
        n_lower += bool(classes_verdict(classes_of(table)).findings)
    assert n_lower <= stats.binom.isf(0.001, 60, 0.05)


def test_copies_do_not_make_a_measure_lower():
    """Forty contents of each class, ten copies of each: forty things were measured, not four hundred."""
    rng, n_lower = np.random.default_rng(8), 0
    label = np.repeat(["a", "b"], 400)
    for _ in range(100):
        correct = (rng.random(800) < np.repeat([0.95, 0.6], 400)).astype(float)
        p_robust = np.repeat(rng.random(80), 10)
        table = pd.DataFrame({"id": range(800), "label": label, "correct on Random folds": correct})
        table = table.assign(p_robust=p_robust, is_copy=np.arange(800) % 10 > 0)
        n_lower += bool(classes_verdict(classes_of(table)).findings)
    assert n_lower <= stats.binom.isf(0.001, 100, 0.05)


def test_what_is_lower_by_rank_and_higher_on_average_is_not_called_lower():
    label, p_robust = np.repeat(["a", "b"], 100), np.concatenate([np.full(100, 0.5), np.repeat([0.45, 1.0], [80, 20])])
    correct = np.concatenate([np.ones(100), np.arange(100) % 2])
    table = pd.DataFrame({"id": range(200), "label": label, "correct on Random folds": correct, "p_robust": p_robust})
    said = classes_verdict(classes_of(table))
    assert said.headline.startswith("Class “b” loses")
    assert said.findings == ()


def test_what_a_single_model_does_to_a_class_is_not_taken_for_the_class():
    """A model for each fold, which by luck is worse at one of three classes."""
    rng, n_weak, n_by_samples = np.random.default_rng(9), 0, 0
    label = np.arange(600) % 3
    for _ in range(100):
        fold = rng.permutation(600) % 5
        right = rng.random(600) < (0.7 + 0.2 * rng.choice([-1.0, 1.0], size=(5, 3)))[fold, label]
        table = pd.DataFrame({"id": range(600), "label": label.astype(str), "correct on Random folds": right * 1.0})
        tested = pd.DataFrame({"seed": 0, "fold": fold, "row": range(600), "right": right * 1.0})
        n_weak += any(each.is_weak for each in weak_classes(table, {"correct on Random folds": tested}))
        n_by_samples += any(each.is_weak for each in classes_of(table))
    assert n_by_samples >= 30
    assert n_weak <= stats.binom.isf(0.001, 100, 0.05)


def test_what_lies_in_few_folds_stays_undecided():
    """Nine tenths of each class in a fold of its own: one model was lucky with it or not, and nobody knows which."""
    rng, n = np.random.default_rng(10), np.arange(600)
    label = n % 3
    fold = np.where(rng.random(600) < 0.9, label, rng.integers(5, size=600))
    right = (rng.random(600) < np.array([0.9, 0.9, 0.5])[label]) * 1.0
    table = pd.DataFrame({"id": n, "label": label.astype(str), "correct on Random folds": right})
    tested = pd.DataFrame({"seed": 0, "fold": fold, "row": n, "right": right})
    classes = weak_classes(table, {"correct on Random folds": tested})
    assert not any(each.claim.decided for each in classes)
    assert "stays undecided" in classes_verdict(classes).used
    assert weak_lines(classes)["p (Holm)"].eq("").all()
    by_lot = classes_of(table)
    assert by_lot[0].is_weak
    assert "stays undecided" not in classes_verdict(by_lot).used


def test_a_model_that_always_says_one_class_is_compared_without_a_warning():
    label = np.repeat(["a", "b"], 100)
    table = pd.DataFrame({"id": range(200), "label": label, "correct on Random folds": (label == "a") * 1.0})
    [first, _] = classes_of(table)
    assert (first.name, first.claim.estimate, first.is_weak) == ("class “b”", 1.0, True)
    assert weak_slices(table, dealt(table), Slices(np.repeat([0, 1], 100), ("a", "b")), rng=np.random.default_rng(0))


def test_a_seed_that_has_only_begun_changes_nothing():
    rng, n = np.random.default_rng(11), np.arange(300)
    fold, right = rng.permutation(300) % 5, (rng.random(300) < 0.8) * 1.0
    table = pd.DataFrame({"id": n, "label": (n % 3).astype(str), "correct on Random folds": right})
    whole = pd.DataFrame({"seed": 0, "fold": fold, "row": n, "right": right})
    both = pd.concat([whole, whole[fold == 0].assign(seed=1)], ignore_index=True)
    once, begun = (weak_classes(table, {"correct on Random folds": tested}) for tested in (whole, both))
    for each, other in zip(once, begun, strict=True):
        assert other.claim.interval.width == pytest.approx(each.claim.interval.width, rel=0.05)
    assert not any(each.in_few_folds for each in begun)


def test_before_a_second_fold_is_tested_nothing_is_decided():
    n, right = np.arange(100), np.repeat([1.0, 0.0], 50)
    table = pd.DataFrame({"id": n, "label": np.repeat(["a", "b"], 50), "correct on Random folds": right})
    tested = {"correct on Random folds": pd.DataFrame({"seed": 0, "fold": 0, "row": n, "right": right})}
    assert not any(each.claim.decided for each in weak_classes(table, tested))
    assert weak_classes(table.assign(is_copy=True), tested) == ()
