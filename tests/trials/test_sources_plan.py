"""Sources that are trained for: rows hold them, plans rest on them, and where they are given nothing is trained."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import FoundSources
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.trials import (
    Context,
    Plan,
    SourcesPlan,
    TrialPlan,
    found_in,
    from_json,
    needed_by,
    sources_at_hand,
    to_json,
)
from touchstone.core.trials.sources_plan import COLUMNS
from touchstone.core.workspace import frames

DRAWING = TrialPlan(models=("logistic",), source_finders=("kmeans", "deep_kmeans"), n_repeats=4, n_clusterings=2)
PLAN = SourcesPlan("deep_kmeans", n_clusterings=2)


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture
def seeds(monkeypatch) -> list[int]:
    """The seeds that a finder was called with; its sources follow from the seed, and it fell back to another one."""
    called: list[int] = []

    def find(dataset, *, n_sources, seed, on_step, should_stop):
        called.append(seed)
        on_step(3, 7)
        sources = dataset.y * n_sources + np.random.default_rng(seed).integers(n_sources, size=len(dataset.y))
        return FoundSources(sources, "", 4, "It fell back.")

    monkeypatch.setitem(SOURCE_FINDERS, "made up", SourceFinder("Made up", find))
    return called


def rows_of(plan: SourcesPlan, dataset: Dataset) -> pd.DataFrame:
    trials = [plan.run_trial(dataset, trial, context=Context()) for trial in range(plan.n_trials(dataset))]
    return pd.concat(trials, ignore_index=True)


def test_a_clustering_leaves_a_row_of_the_whole_and_one_per_sample(wine, seeds):
    steps = []
    plan = SourcesPlan("made up", n_sources=3, n_clusterings=2)
    context = Context(report=lambda *step: steps.append(step))
    rows = plan.run_trial(wine, 1, context=context)
    assert rows.dtypes.astype(str).to_dict() == COLUMNS
    whole, samples = rows.iloc[0], rows.iloc[1:]
    assert (whole["n_tries"], whole["note"], pd.isna(whole["row"])) == (4, "It fell back.", True)
    assert samples["row"].tolist() == list(range(178))
    np.testing.assert_array_equal(samples["source"].to_numpy(dtype=int) // 3, wine.y)
    assert set(rows["clustering"]) == {1}
    assert steps == [(3, 7, "epoch")]
    pd.testing.assert_frame_equal(frames.from_bytes([frames.to_bytes(rows)]), rows)


def test_plans_say_what_they_rest_on(wine):
    assert isinstance(PLAN, Plan)
    assert from_json(to_json(PLAN), {"sources": SourcesPlan}) == PLAN
    assert needed_by(DRAWING, wine) == (PLAN,)
    assert needed_by(replace(DRAWING, source_finders=("kmeans",)), wine) == needed_by(PLAN, wine) == ()
    adequacy = AdequacyPlan(models=("logistic",), source_finders=("deep_kmeans",), n_clusterings=3, n_sources=2)
    assert needed_by(adequacy, wine) == (SourcesPlan("deep_kmeans", 2, 3),)
    fewer = replace(DRAWING, n_repeats=1)
    assert needed_by(fewer, wine) == (SourcesPlan("deep_kmeans", n_clusterings=1),), (
        "no clustering is found for nothing"
    )


def test_clusterings_have_seeds_of_their_own_whatever_their_number(wine, seeds):
    rows_of(SourcesPlan("made up", n_clusterings=3, seed=8), wine)
    first_three = list(seeds)
    rows_of(SourcesPlan("made up", n_clusterings=2, seed=8), wine)
    assert len(set(first_three)) == 3
    assert seeds[3:] == first_three[:2]


def test_a_plan_draws_from_what_was_found_and_trains_nothing_then(wine, seeds):
    drawing = replace(DRAWING, source_finders=("made up",))
    (plan,) = needed_by(drawing, wine)
    found = found_in(plan, rows_of(plan, wine))
    n_trained = len(seeds)
    with sources_at_hand(wine.fingerprint, found):
        given = [drawing.sources(wine, "made up", number) for number in (0, 1)]
        rows = drawing.run_trial(wine, 0, context=Context())
    assert len(seeds) == n_trained
    assert (given[0] != given[1]).any()
    anew = [drawing.sources(wine, "made up", number) for number in (0, 1)]
    np.testing.assert_array_equal(given, anew)
    assert len(seeds) == n_trained + 2, "a plain script finds them for itself"
    plain = drawing.run_trial(wine, 0, context=Context())
    pd.testing.assert_frame_equal(rows.drop(columns="seconds"), plain.drop(columns="seconds"))


def test_what_was_not_given_is_not_trained(wine, seeds):
    drawing = replace(DRAWING, source_finders=("kmeans", "made up"))
    with sources_at_hand(wine.fingerprint, {}):
        assert len(drawing.sources(wine, "kmeans", 0)) == 178, "what needs no training is found as ever"
        with pytest.raises(DataError, match="The sources of Made up have not been found in wine yet"):
            drawing.sources(wine, "made up", 0)
    (plan,) = needed_by(drawing, wine)
    other_data = found_in(plan, rows_of(plan, wine))
    n_trained = len(seeds)
    with sources_at_hand("another data set", other_data), pytest.raises(DataError, match="have not been found"):
        drawing.sources(wine, "made up", 0)
    assert len(seeds) == n_trained


def test_a_clustering_that_failed_is_no_answer(wine):
    failed = pd.concat([PLAN.run_trial(wine, 0, context=Context()), PLAN.failed_trial(wine, 1)], ignore_index=True)
    with pytest.raises(DataError, match="deep k-means: the sources of 1 of 2 clusterings have not been found"):
        found_in(PLAN, failed)
    with pytest.raises(DataError, match="2 of 2"):
        found_in(PLAN, pd.DataFrame())


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"finder": "kmeans"}, "'kmeans' is no way to find sources by training"),
        ({"finder": "magic"}, "deep_kmeans, acol"),
        ({"n_sources": 1}, "at least 2"),
        ({"n_clusterings": 0}, "at least 1"),
        ({"seed": -1}, "at least 0"),
    ],
)
def test_what_is_asked_for_is_checked(fields, words):
    with pytest.raises(DataError, match=words):
        SourcesPlan(**{"finder": "acol", **fields})


def test_data_that_the_finder_does_not_fit_are_refused_by_every_plan_that_would_draw_from_it(wine):
    for plan in (SourcesPlan("acol"), replace(DRAWING, source_finders=("acol",))):
        with pytest.raises(DataError, match="needs images of at least 4 x 4 pixels"):
            plan.n_trials(wine)


def test_a_finder_that_leaves_fewer_sources_is_drawn_from_all_the_same():
    """Two sources in each of three classes: eight ways to hold one out of each, where five would make 125."""
    wine = load_example("wine")
    plan = TrialPlan(
        models=("logistic",),
        source_finders=("deep_kmeans",),
        schemes=("source_exclusive",),
        n_repeats=20,
        n_clusterings=1,
    )
    (needed,) = plan.needs(wine)
    halves = wine.y * 5 + np.arange(wine.n_samples) % 2
    with sources_at_hand(wine.fingerprint, {(needed, 0): halves}):
        tests = [tuple(plan.split(wine, draw).test.tolist()) for draw in plan.draws(wine)]
        rows = plan.run_trial(wine, 13, context=Context())
    assert len(tests) == 20
    assert len(set(tests)) == 8, "every combination comes, and each is a whole half of every class"
    assert tests[8:16] == tests[:8]
    assert set(rows["status"]) == {"ok"}
    assert rows["held_out_source"].dropna().nunique() == 3
