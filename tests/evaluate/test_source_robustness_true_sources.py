"""Does the interval from clusters hold the accuracy on truly unseen sources? Populations where the answer is known."""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.populations import Population, frame, trial_rows
from touchstone.core.data import Dataset
from touchstone.core.evaluate.source_robustness.agreement import agreement
from touchstone.core.evaluate.source_robustness.true_sources import true_source_table, true_sources
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.sources_plan import KNOWN_SOURCES

NAMES = {"model": "SVM", "kmeans": "k-means"}
ALIKE = {"n_sources": 60, "size": 300, "size_sd": 0.1, "source_sd": 0.1, "class_sd": 0.0, "training_sd": 0.02}
"""Many large sources of much the same accuracy, so that answers are sure."""


def trials(population: Population, seed: int, finder: str, **options) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = population.data(rng).trials(rng, n_repeats=options.pop("n_repeats", 60), **options)
    return rows.assign(source_finder=finder, n_train=pd.array([8000] * len(rows), dtype="Int64"))


def both(found: Population, known: Population, **options) -> pd.DataFrame:
    return pd.concat([trials(found, 1, "kmeans", **options), trials(known, 2, KNOWN_SOURCES, **options)])


def test_where_the_clusters_are_the_true_sources_the_interval_holds():
    rows = trials(Population(**ALIKE), 1, "kmeans")
    (told,) = true_sources(pd.concat([rows, rows.assign(source_finder=KNOWN_SOURCES)]))
    assert told.above_lower.value == 0
    assert told.answer == "contained"
    said = told.sentence(NAMES)
    assert "holds the accuracy to within 1.0 points" in said, "that it may lie on the end is not said"
    assert told.n_draws == 60


def test_where_clustering_cannot_see_the_sources_the_accuracy_falls_below():
    (told,) = true_sources(both(Population(exclusive=0.92, **ALIKE), Population(exclusive=0.8, **ALIKE)))
    assert told.answer == "falls below"
    assert told.p_holm < 0.001
    assert "not pessimistic enough" in told.sentence(NAMES)
    assert " points [" in told.sentence(NAMES).split("truly unseen sources lie ")[1], "by how much is not said"


def test_clusters_that_are_harder_than_sources_hold_the_accuracy():
    (told,) = true_sources(both(Population(exclusive=0.7, **ALIKE), Population(exclusive=0.9, **ALIKE)))
    assert told.answer == "contained"
    assert "to within" not in told.sentence(NAMES)


def test_sources_that_are_easier_than_familiar_clusters_rise_above():
    known = Population(exclusive=0.99, inclusive=0.99, **ALIKE)
    (told,) = true_sources(both(Population(exclusive=0.7, inclusive=0.9, **ALIKE), known))
    assert told.answer == "rises above"
    assert "easier than the interval" in told.sentence(NAMES)


def test_few_sources_cannot_tell_and_more_repeats_would_not_help():
    found, few = Population(exclusive=0.82, **ALIKE), Population(exclusive=0.84, n_sources=3, size=3000, source_sd=0.5)
    (told,) = true_sources(both(found, few))
    assert told.answer == "undecided"
    assert told.times_needed > 1
    assert "times as many known sources would be needed" in told.sentence(NAMES)
    assert told.above_lower.over_sources.width > told.above_lower.over_draws.width


def test_only_draws_of_the_same_repeat_and_size_are_compared():
    rows = both(Population(exclusive=0.7, **ALIKE), Population(exclusive=0.9, **ALIKE), n_repeats=10)
    exclusive = (rows["scheme"] == "source_exclusive") & (rows["source_finder"] == KNOWN_SOURCES)
    rows["n_train"] = rows["n_train"].mask(exclusive & (rows["repeat"] < 3), 7000)
    rows = rows[~(exclusive & (rows["repeat"] == 9))]
    (told,) = true_sources(rows)
    assert (told.n_draws, told.n_left_out) == (6, 7)
    assert told.known.exclusive.n_draws == 6
    assert told.known.n_train == told.clustered.n_train == 8000
    of_six = rows[rows["repeat"].isin(range(3, 9)) & rows["label"].isna() & (rows["scheme"] == "source_exclusive")]
    share = (of_six["n_correct"] / of_six["n_test"]).groupby(of_six["source_finder"]).mean()
    assert told.above_lower.value == pytest.approx(share[KNOWN_SOURCES] - share["kmeans"])


def test_pairing_does_not_mind_in_which_order_clusterings_were_drawn():
    """Repeats that are easy for both leave no error of the difference, although either varies over draws."""
    rows = []
    for repeat in range(8):
        easy = 5 * (repeat % 3)
        for finder, n in (("kmeans", 60), (KNOWN_SOURCES, 70)):
            cells = {("a", f"s{repeat % 4}"): (n + easy, 100)}
            clustering = repeat % 2 if finder == "kmeans" else 0
            rows += trial_rows(cells, repeat=repeat, clustering=clustering, source_finder=finder)
        rows += trial_rows({("a", "s0"): (95, 100), ("a", "s1"): (94, 100)}, scheme="source_inclusive", repeat=repeat)
    (told,) = true_sources(frame(rows))
    assert told.above_lower.value == pytest.approx(0.1)
    assert told.above_lower.over_draws.width == pytest.approx(0, abs=1e-9)


def test_no_answer_where_nothing_is_known_or_done():
    rows = both(Population(**ALIKE), Population(**ALIKE), n_repeats=4)
    assert true_sources(rows[rows["source_finder"] == "kmeans"]) == ()
    assert true_sources(rows[rows["source_finder"] == KNOWN_SOURCES]) == ()
    assert true_sources(rows[rows["scheme"] == "source_inclusive"]) == ()
    assert true_sources(rows.iloc[:0]) == ()
    (one,) = true_sources(rows[rows["repeat"] == 0])
    assert one.answer == "undecided"
    assert "more repeats" in one.sentence()


@pytest.mark.evidence
def test_several_models_are_corrected_together():
    rows = both(Population(exclusive=0.82, **ALIKE), Population(exclusive=0.812, **ALIKE), n_repeats=30)
    (alone,) = true_sources(rows)
    three = pd.concat([rows.assign(model=name) for name in ("a", "b", "c")])
    told = true_sources(three)
    assert [one.model for one in told] == ["a", "b", "c"]
    assert all(one.p == pytest.approx(alone.p) for one in told)
    assert told[0].p_holm == pytest.approx(min(3 * alone.p, 1))


def test_the_table_has_a_row_for_each_answer():
    table = true_source_table(true_sources(both(Population(**ALIKE), Population(**ALIKE), n_repeats=5)))
    assert len(table) == 1
    row = table.iloc[0]
    assert row["above_lower"] == pytest.approx(row["unseen"] - row["exclusive"])
    assert row["below_upper"] == pytest.approx(row["inclusive"] - row["unseen"])
    assert row["n_known_sources"] == 120


def made(sources_are: str) -> Dataset:
    """Two classes whose samples lie in five heaps each, which clustering finds, and known sources.

    Either the heaps are the sources, far apart in all directions; or they lie in a row that has nothing to do with the
    class, and sources are channels: each writes the class into a number of its own.
    """
    rng = np.random.default_rng(0)
    n, y = 800, np.repeat([0, 1], 400)
    heap, channel = rng.integers(5, size=n), rng.integers(10, size=n)
    written = np.zeros((n, 10))
    written[np.arange(n), channel] = 2.0 * y - 1
    channels = sources_are == "channels"
    where = np.tile(heap[:, None], 30) if channels else 6.0 * rng.standard_normal((2, 5, 30))[y, heap]
    x = np.hstack([where, written * channels]) + 0.1 * rng.standard_normal((n, 40))
    names = [f"channel {c}" if channels else f"heap {k} {h}" for c, h, k in zip(channel, heap, y, strict=True)]
    return Dataset(sources_are, "tabular", x, y, ("no", "yes"), list(map(str, range(n))), names)


def asked(dataset: Dataset):
    plan = TrialPlan(
        models=("logistic",),
        source_finders=("kmeans", KNOWN_SOURCES),
        schemes=("source_exclusive", "source_inclusive"),
        n_repeats=10,
        n_clusterings=2,
    )
    n_trials = plan.n_trials(dataset)
    rows = pd.concat([plan.run_trial(dataset, trial, context=Context()) for trial in range(n_trials)])
    (told,) = true_sources(rows)
    return told, agreement(plan, dataset, n_permutations=99)


def test_with_models_that_are_really_trained_sources_that_clusters_cannot_see_fall_below():
    told, agreed = asked(made("channels"))
    assert told.known.exclusive.value < 0.65
    assert told.clustered.exclusive.value > 0.9
    assert told.answer == "falls below"
    assert told.n_left_out == 0
    assert next(one for one in agreed.finders if one.other_finder == KNOWN_SOURCES).index < 0.05


def test_with_models_that_are_really_trained_clusters_that_are_the_sources_do_not():
    told, agreed = asked(made("heaps"))
    with_known = next(one for one in agreed.finders if one.other_finder == KNOWN_SOURCES)
    assert with_known.better_than_chance
    assert with_known.index > 0.6
    assert told.answer in ("contained", "undecided")
    assert abs(told.above_lower.value) < 0.1


@pytest.mark.evidence
@pytest.mark.parametrize("inside", [False, True])
def test_sure_answers_are_rarely_wrong_at_the_very_ends(inside, capsys):
    """The end lies where the truth does (or just beyond what is tolerated): neither side may be called often."""
    known = Population(n_sources=16, size=60)
    truth, wrong = known.truth()["exclusive"], []
    end = truth + 0.01 if inside else truth
    for seed in range(150):
        rng = np.random.default_rng(seed)
        rows = known.data(rng).trials(rng, n_repeats=16).assign(source_finder=KNOWN_SOURCES)
        found = []
        for repeat in range(16):
            cells = {("class 0", f"s{repeat % 5}"): (round(end * 100_000), 100_000)}
            found += trial_rows(cells, repeat=repeat, n_samples=200_000)
            found += trial_rows({("class 0", "s0"): (999, 1000)}, scheme="source_inclusive", repeat=repeat)
        size = pd.array([1000] * (len(rows) + len(found)), dtype="Int64")
        (told,) = true_sources(pd.concat([rows, frame(found)], ignore_index=True).assign(n_train=size))
        wrong.append(told.answer == ("contained" if inside else "falls below"))
    with capsys.disabled():
        print(f"\nwrongly {'contained' if inside else 'falls below'}: {np.mean(wrong):.3f}")
    assert np.mean(wrong) <= 0.06
