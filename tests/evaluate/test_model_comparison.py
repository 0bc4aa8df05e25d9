"""Are paired differences right: against scipy, a slow jackknife and real pairs, and how often is a sentence wrong?"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from touchstone.core.data import DataError, Predictions
from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.metric_estimates import estimate
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.model_comparison import (
    ModelComparison,
    by_group,
    compare_paired,
    comparison_verdict,
    difference,
    groups,
    mcnemar_mid_p,
    models_on_samples,
    pilot,
    tango_interval,
    value_of,
)

N_UNITS = 20


@given(st.integers(0, 40), st.integers(0, 40))
def test_mid_p_is_the_exact_test_without_half_of_what_was_counted(n_gained, n_lost):
    n, p = n_gained + n_lost, mcnemar_mid_p(n_gained, n_lost)
    assert p == mcnemar_mid_p(n_lost, n_gained)
    if n_gained == n_lost:
        assert p == 1
    else:
        assert p == pytest.approx(binomtest(n_gained, n, 0.5).pvalue - binom.pmf(n_gained, n, 0.5))


def likelihood(gained: np.ndarray, lost: np.ndarray, k: tuple[int, int, int]) -> np.ndarray:
    both = 1 - gained - lost
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [n * np.log(p) if n else 0 * p for n, p in zip(k, (gained, lost, both), strict=True)]
    return np.where((gained >= 0) & (lost >= 0) & (both >= 0), sum(terms), -np.inf)


@pytest.mark.parametrize("counts", [(30, 6, 1000), (3, 0, 50), (0, 0, 40), (12, 12, 30), (40, 2, 60)])
def test_tangos_interval_holds_the_differences_that_its_score_does_not_reject(counts):
    """By a grid over the share that is lost, of every difference near the ends."""
    (n_gained, n_lost, n), interval = counts, tango_interval(*counts)

    def score(value: float) -> float:
        lost = np.linspace(max(0.0, -value), (1 - value) / 2, 200_001)
        best = lost[likelihood(lost + value, lost, (n_gained, n_lost, n - n_gained - n_lost)).argmax()]
        return ((n_gained - n_lost) / n - value) / np.sqrt((2 * best + value - value**2) / n)

    assert score(interval.lower) == pytest.approx(1.96, abs=0.01)
    assert score(interval.upper) == pytest.approx(-1.96, abs=0.01)


def drawn(
    rng: np.random.Generator, n: int, *, n_models: int = 2, unit_sd: float = 0.0, noise: tuple[float, ...] = ()
) -> dict[str, Predictions]:
    """One fitted ridge classifier, asked about another block of features each time: so all models are as good.

    Blocks share the class alone. A unit moves all its samples, in each block by itself. `noise` is added to the blocks
    of the first models, and makes these worse.
    """
    d = 5

    def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y, unit = rng.integers(0, 2, n), np.arange(n) % N_UNITS
        x = 0.6 * (2 * y - 1)[:, None, None] + rng.standard_normal((n, n_models, d))
        x += unit_sd * rng.standard_normal((N_UNITS, n_models, d))[unit]
        for place, sd in enumerate(noise):
            x[:, place] += sd * rng.standard_normal((n, d))
        return x, y, unit

    (x, y, _), last = data(300), n_models - 1
    weights = np.linalg.solve(x[:, last].T @ x[:, last] + np.eye(d), x[:, last].T @ (2 * y - 1))
    x, y, unit = data(n)
    ids, groups = [f"t{row}" for row in range(n)], {"unit": unit.astype(str)} if unit_sd else {}
    files = {}
    for place in range(n_models):
        yes = 1 / (1 + np.exp(-3 * (x[:, place] @ weights)))
        known = {"proba": np.column_stack([1 - yes, yes]), "groups": groups, "unit_name": "author"}
        files[f"model {place}"] = Predictions(ids, y, (yes > 0.5).astype(int), ["a", "b"], **known)
    return files


def compared(files: dict[str, Predictions], **how) -> ModelComparison:
    models = models_on_samples(files)
    assert models is not None
    return compare_paired(models, **how)


OF_METRICS = {
    "accuracy": lambda y, said, yes: (y == said).mean(),
    "f1_macro": lambda y, said, yes: f1_score(y, said, average="macro"),
    "recall": lambda y, said, yes: (said[y == 1] == 1).mean(),
    "roc_auc": lambda y, said, yes: roc_auc_score(y, yes),
    "log_loss": lambda y, said, yes: -log_loss(y, yes),
}


@pytest.mark.parametrize("name", OF_METRICS)
@pytest.mark.parametrize("unit_sd", [0.0, 0.4])
def test_differences_are_scikit_learns_and_vary_as_leaving_out_samples_or_units_does(name, unit_sd):
    files = drawn(np.random.default_rng(4), 400, unit_sd=unit_sd, noise=(1.0,))
    made = difference(models_on_samples(files, positive="b"), METRICS[name], "model 1", "model 0")
    old, new = files.values()

    def value(rows: np.ndarray) -> float:
        own, its = (OF_METRICS[name](old.y_true[rows], each.y_pred[rows], each.proba[rows, 1]) for each in (new, old))
        return own - its

    every = np.arange(400)
    assert made.value == pytest.approx(value(every))
    unit = every if not unit_sd else every % N_UNITS
    without = np.array([value(every[unit != each]) for each in np.unique(unit)])
    k = len(without)
    se = np.sqrt((k - 1) / k * ((without - without.mean()) ** 2).sum())
    wide = made.interval.width / 2
    # Over units degrees of freedom are those of the units that move it, and at most those of all.
    assert wide == pytest.approx(1.96 * se, rel=0.08) if not unit_sd else 2.0 * se < wide < 3.2 * se


def test_what_both_models_share_makes_no_interval_wider():
    files = drawn(np.random.default_rng(0), 1000)
    old = files["model 0"]
    y_pred = old.y_pred.copy()
    y_pred[:10] = old.y_true[:10]
    better = Predictions(old.ids, old.y_true, y_pred, old.class_names)
    made = compared({"old": old, "new": better}).against_reference[0]
    assert made.n_lost == 0
    assert made.interval.width < 0.02


def test_the_same_model_twice_differs_in_nothing_and_says_how_little_that_shows():
    file = drawn(np.random.default_rng(0), 500)["model 0"]
    found = compared({"old": file, "copy": file})
    [made] = found.against_reference
    assert (made.value, made.n_gained, made.n_lost, found.changed, made.claim.p_value) == (0, 0, 0, 0, 1)
    assert made.interval.lower == pytest.approx(-0.0076, abs=1e-3)
    assert not comparison_verdict(found).advice
    assert "copy answers every sample as old does." in comparison_verdict(found).findings[0]
    by_loss = compared({"old": file, "copy": file}, metric="log_loss").against_reference[0]
    assert not by_loss.interval.known
    assert by_loss.why_not == "no answer differs"


def test_one_changed_answer_is_counted_and_decides_nothing():
    old = drawn(np.random.default_rng(0), 500)["model 0"]
    row = int(np.flatnonzero(old.correct)[0])
    y_pred = old.y_pred.copy()
    y_pred[row] = 1 - y_pred[row]
    found = compared({"old": old, "new": Predictions(old.ids, old.y_true, y_pred, old.class_names)})
    [made] = found.against_reference
    assert (made.n_gained, made.n_lost, made.claim.decision) == (0, 1, "undecided")
    assert found.changed == 1 / 500
    assert made.interval.lower < -1 / 500 < made.interval.upper


def test_a_class_that_one_model_finds_more_often_is_named():
    file = drawn(np.random.default_rng(0), 500)["model 0"]
    y_pred = np.where((file.y_true == 1) & (np.arange(500) % 9 == 0), 0, file.y_pred)
    found = compared({"old": file, "new": Predictions(file.ids, file.y_true, y_pred, ["a", "b"])})
    assert found.classes["a"].claim.decision == "undecided"
    assert found.classes["b"].claim.decision == "below"
    assert found.classes["b"].n == (file.y_true == 1).sum()


def test_what_cannot_be_compared_is_refused_with_a_reason():
    files = drawn(np.random.default_rng(0), 50)
    hard = {name: Predictions(each.ids, each.y_true, each.y_pred, ["a", "b"]) for name, each in files.items()}
    with pytest.raises(DataError, match=r"AUC needs the probabilities of all classes, which .*model 0.* lack"):
        compared(hard, metric="roc_auc")
    with pytest.raises(DataError, match="two models or more"):
        models_on_samples({"old": files["model 0"]})
    with pytest.raises(DataError, match="There is no class 'c'"):
        models_on_samples(files, positive="c")


def test_pairs_of_real_networks_are_decided_as_mcnemar_with_holm_decides(shared_data):
    table = pd.read_csv(shared_data / "cifar101" / "cifar10_test_predictions.tsv", sep="\t")
    names = [name for name in table if name not in ("id", "label")]
    labels = [str(label) for label in range(10)]
    files = {
        name: Predictions(table["id"].astype(str), table["label"], table[name], labels, name=name) for name in names
    }
    found = compared(files)
    right = {name: (table[name] == table["label"]).to_numpy() for name in names}
    pairs = list(combinations(names, 2))
    assert [(each.other, each.model) for each in found.differences] == pairs
    p_values = []
    for first, second in pairs:
        only = [int((right[a] & ~right[b]).sum()) for a, b in ((first, second), (second, first))]
        n = sum(only)
        p_values.append(binomtest(only[0], n, 0.5).pvalue - binom.pmf(only[0], n, 0.5) if only[0] != only[1] else 1.0)
    decided = [p < 0.05 for p in holm(p_values)]
    assert len(pairs) == 91
    # "Alike" is decided, too; a difference below half a point is worth no sentence, however sure.
    assert [each.better is not None for each in found.differences] == decided
    ranks = {each.model: (each.best_rank, each.worst_rank) for each in found.ranked}
    best = max(names, key=lambda name: right[name].mean())
    assert ranks[best][0] == 1
    assert found.ranked[0].model == best


@pytest.mark.evidence
@pytest.mark.parametrize(("n", "n_models", "unit_sd"), [(400, 2, 0.0), (400, 2, 0.4), (400, 8, 0.0), (400, 8, 0.4)])
def test_where_nothing_differs_hardly_a_sentence_says_so(n, n_models, unit_sd):
    """Nor of the classes and groups of the model that seems the best."""
    wrong = np.zeros(3)
    for seed in range(120):
        found = compared(
            drawn(np.random.default_rng([7, seed]), n, n_models=n_models, unit_sd=unit_sd), every_pair=False
        )
        families = (found.against_reference, found.classes.values(), by_group(found).values())
        wrong += [any(each.better for each in family) for family in families]
    assert (wrong <= 0.05 * 120 + 2 * np.sqrt(0.05 * 0.95 * 120)).all(), wrong


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["balanced_accuracy", "f1", "roc_auc", "brier_score"])
def test_nor_by_other_metrics(name):
    wrong = 0
    for seed in range(120):
        found = compared(drawn(np.random.default_rng([8, seed]), 200), metric=name, every_pair=False)
        wrong += found.against_reference[0].better is not None
    assert wrong <= 0.05 * 120 + 2 * np.sqrt(0.05 * 0.95 * 120)


@pytest.mark.parametrize(("n", "gained", "lost", "least"), [(1000, 0.028, 0.008, 49), (2000, 0.0115, 0.0015, 56)])
def test_a_small_difference_is_found_as_often_as_mcnemar_finds_it(n, gained, lost, least):
    found, y = 0, np.arange(n) % 2
    ids = [f"t{row}" for row in range(n)]
    for seed in range(60):
        rng = np.random.default_rng([9, seed])
        lot = rng.random(n)
        old = np.where(lot < gained, False, (lot < gained + lost) | (rng.random(n) < 0.88))
        new = np.where(lot < gained, True, np.where(lot < gained + lost, False, old))
        files = {
            name: Predictions(ids, y, np.where(right, y, 1 - y), ["a", "b"])
            for name, right in (("old", old), ("new", new))
        }
        found += compared(files, every_pair=False).against_reference[0].better == "new"
    assert found >= least


@pytest.mark.evidence
@pytest.mark.parametrize("unit_sd", [0.0, 0.4])
def test_no_worse_is_rarely_said_at_the_margin_itself(unit_sd):
    """The new model's blocks have noise: it loses as much as the margin, by 100,000 samples."""
    noise = (0.0, 0.35)
    whole = drawn(np.random.default_rng(1), 100_000, unit_sd=unit_sd, noise=noise)
    old, new = (each.accuracy for each in whole.values())
    wrong = 0
    for seed in range(120):
        files = drawn(np.random.default_rng([10, seed]), 600, unit_sd=unit_sd, noise=noise)
        made = compared(files, every_pair=False).against_reference[0]
        wrong += made.against(old - new) in ("better", "no worse")
    assert wrong <= 0.05 * 120 + 2 * np.sqrt(0.05 * 0.95 * 120)


def trained(rng: np.random.Generator, depths: dict[str, int], n_trainings: int, n: int = 300) -> dict[str, Predictions]:
    """Trees on digits that look at a few pixels at random: recipes by name, each trained several times on one part."""
    x, y = load_digits(return_X_y=True)
    rows = rng.permutation(len(y))
    train, test = rows[:600], rows[600 : 600 + n]
    recipes = {}
    for name, depth in depths.items():
        said = []
        for _ in range(n_trainings):
            tree = DecisionTreeClassifier(max_depth=depth, max_features=6, random_state=int(rng.integers(2**31)))
            said.append(tree.fit(x[train], y[train]).predict(x[test]))
        groups = {"trial": np.repeat([f"{name} {seed}" for seed in range(n_trainings)], n).tolist()}
        ids = [f"digit {row}" for row in test] * n_trainings
        recipes[name] = Predictions(ids, np.tile(y[test], n_trainings), np.concatenate(said), DIGITS, groups=groups)
    return recipes


DIGITS = [str(digit) for digit in range(10)]


@pytest.mark.evidence
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
def test_one_recipe_trained_anew_is_seldom_better_than_itself(metric):
    """Each recipe has three trainings, and they are the same recipe."""
    n_sets, wrong, alone = 120, 0, 0
    for seed in range(n_sets):
        files = trained(np.random.default_rng([20, seed]), {"old": 8, "new": 8}, 3)
        [made] = compared(files, metric=metric).against_reference
        wrong += made.claim.decision in ("above", "below")
        first = {name: file.take(np.asarray(file.groups["trial"]) == f"{name} 0") for name, file in files.items()}
        alone += compared(first, metric=metric).against_reference[0].claim.decision in ("above", "below")
    assert wrong <= 0.05 * n_sets + 2 * np.sqrt(0.05 * 0.95 * n_sets)
    assert alone > 0.1 * n_sets  # of one training each, two models do differ


@pytest.mark.evidence
def test_a_recipes_own_interval_holds_what_other_trainings_on_other_samples_come_to():
    """By 60 trainings on the same part, judged on all samples that are not in it."""
    x, y = load_digits(return_X_y=True)
    held = n_sets = 0
    for seed in range(80):
        rng = np.random.default_rng([30, seed])
        rows = rng.permutation(len(y))
        train, rest = rows[:600], rows[600:]
        truth = np.mean([_tree(x, y, train, rng).score(x[rest], y[rest]) for _ in range(60)])
        test = rest[:200]
        said = np.concatenate([_tree(x, y, train, rng).predict(x[test]) for _ in range(3)])
        groups = {"trial": np.repeat(["a", "b", "c"], 200).tolist()}
        file = Predictions([f"digit {row}" for row in test] * 3, np.tile(y[test], 3), said, DIGITS, groups=groups)
        models = models_on_samples({"own": file, "same": file})
        made = value_of(models, METRICS["accuracy"], "own")
        held += made.interval.lower <= truth <= made.interval.upper
        n_sets += 1
    assert held >= n_sets * 0.95 - 2 * np.sqrt(0.95 * 0.05 * n_sets)


def _tree(x: np.ndarray, y: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> DecisionTreeClassifier:
    tree = DecisionTreeClassifier(max_depth=8, max_features=6, random_state=int(rng.integers(2**31)))
    return tree.fit(x[rows], y[rows])


def test_trainings_that_differ_widen_a_recipes_own_interval():
    rng, y = np.random.default_rng(0), np.tile([0, 1], 200)
    ids, groups = [f"t{row}" for row in range(400)] * 3, {"trial": np.repeat(["a", "b", "c"], 400).tolist()}

    def recipe(*shares: float) -> Predictions:
        said = np.concatenate([np.where(rng.random(400) < share, y, 1 - y) for share in shares])
        return Predictions(ids, np.tile(y, 3), said, ["n", "p"], groups=groups)

    models = models_on_samples({"steady": recipe(0.8, 0.8, 0.8), "varying": recipe(0.65, 0.8, 0.95)})
    steady, varying = (value_of(models, METRICS["accuracy"], name).interval for name in models.names)
    assert varying.width > 3 * steady.width
    alone = estimate(METRICS["accuracy"], models.scored["varying"], models.design).interval
    assert varying.lower < alone.lower < alone.upper < varying.upper <= 1


def test_a_better_recipe_is_found_and_its_samples_are_counted_once():
    found = compared(trained(np.random.default_rng(3), {"shallow": 4, "deep": 12}, 5))
    [made] = found.against_reference
    assert made.better == "deep"
    assert (
        "n = 300 samples, 5 trainings of each, the same for all models, paired by id." in comparison_verdict(found).used
    )
    assert (found.models.n, made.n) == (300, 300)


def test_a_recipe_plans_samples_and_not_answers():
    """Three trainings of each are no three samples: a pilot counts each once, with its mean over trainings."""
    found = compared(trained(np.random.default_rng(5), {"old": 8, "new": 8}, 3))
    [made] = found.against_reference
    known = pilot(found, made)
    assert (known["per_unit"], known["intraclass_correlation"]) == (1, 0)
    assert known["discordant"] < (made.n_gained + made.n_lost) / 900
    assert "answers and loses" in comparison_verdict(found).text
    assert "from" not in comparison_verdict(found).advice


def test_a_model_trained_once_is_beside_the_first_training_of_a_recipe():
    files = trained(np.random.default_rng(6), {"old": 8, "new": 8}, 3)
    once = files["new"].take(np.arange(300))
    alone = Predictions(once.ids, once.y_true, once.y_pred, once.class_names)
    found = compared({"old": files["old"], "new": alone})
    assert found.models.trainings is None
    assert "n = 300 samples (all that the files of 900 and 300 have in common)" in comparison_verdict(found).used


def described(seed: int, **inputs: np.ndarray) -> Predictions:
    """Right on 70 % of 600 samples, with columns that say what these are."""
    y = np.random.default_rng(0).integers(0, 2, 600)
    right = np.random.default_rng(seed).random(600) < 0.7
    return Predictions([f"t{row}" for row in range(600)], y, np.where(right, y, 1 - y), ["a", "b"], inputs=inputs)


def names_of_groups(*files: Predictions) -> set[str]:
    return {name for name, _ in groups(models_on_samples(dict(zip("xyz", files, strict=False))))}


def test_columns_that_both_files_have_alike_divide_samples_unless_they_tell_outcomes():
    genre = np.array(["prose", "verse", "drama"], dtype=object)[np.arange(600) % 3]
    stars = np.random.default_rng(3).integers(1, 4, 600).astype(float)
    first, second = (described(seed, genre=genre, stars=stars) for seed in (1, 2))
    assert names_of_groups(first, second) == {"genre", "stars"}
    known = groups(models_on_samples({"x": first, "y": second}))
    assert {value for name, value in known if name == "stars"} == set("123")
    assert names_of_groups(first, described(2, genre=genre[::-1])) == set()
    for told in (first.correct, second.y_pred, first.y_true):
        column = np.where(told, "yes", "no").astype(object)
        assert names_of_groups(described(1, told=column), described(2, told=column)) == set()


def test_columns_without_meaning_decide_hardly_anything():
    """Twelve columns by lot, two models as good as each other: a corrected table says little that is wrong."""
    n_said = 0
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        lots = {f"c{place}": rng.integers(0, 4, 600).astype(float) for place in range(12)}
        models = models_on_samples({"old": described(2 * seed, **lots), "new": described(2 * seed + 1, **lots)})
        parts = by_group(compare_paired(models))
        assert len(parts) == 48
        n_said += any(each.claim.decided and each.claim.decision != "small" for each in parts.values())
    assert n_said <= 60 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 60))


def test_of_several_models_the_best_one_is_told_of_in_detail():
    y, rng = np.arange(600) % 2, np.random.default_rng(0)

    def file(share: float) -> Predictions:
        return Predictions(
            [f"t{row}" for row in range(600)], y, np.where(rng.random(600) < share, y, 1 - y), ["a", "b"]
        )

    found = compared({"old": file(0.7), "worse": file(0.6), "best": file(0.95), "better": file(0.8)})
    assert found.models.names == ("old", "best", "worse", "better")
    right = [found.models.correct[name] for name in ("best", "old")]
    assert found.changed == (right[0] != right[1]).mean()
    assert sum(each.n_gained for each in found.classes.values()) == (right[0] & ~right[1]).sum()
    assert {(each.other, each.model) for each in found.differences} == set(
        combinations(["old", "worse", "best", "better"], 2)
    )
