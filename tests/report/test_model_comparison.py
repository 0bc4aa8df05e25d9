"""Does the answer about models on the same samples hold every metric, and every pair once?"""

import numpy as np
from sklearn.metrics import brier_score_loss

from tests.evaluate.test_model_comparison import compared, drawn
from touchstone.core.data import Predictions
from touchstone.core.report.model_comparison import answer, every_metric


def test_two_models_are_beside_each_other_by_every_metric_that_both_give():
    found = compared(drawn(np.random.default_rng(0), 500, noise=(0.0, 0.35)))
    table = answer(found).tables["By metric"]
    assert len(table) == len({made.metric for _, made in every_metric(found)})
    reference, model = found.models.names
    brier = table[table["Metric"] == "Brier score"].iloc[0]
    by_hand = [brier_score_loss(each.y_true, each.proba[:, 1]) for each in found.models.scored.values()]
    assert brier[reference].startswith(f"{by_hand[0]:.3f}".lstrip("0"))
    assert brier[model].startswith(f"{by_hand[1]:.3f}".lstrip("0"))
    assert "[" in brier["Better by"]
    accuracy = table[table["Metric"] == "accuracy"].iloc[0]
    assert accuracy["Better by"] == found.words.difference(found.differences[0].value, found.differences[0].interval)


def test_changes_are_divided_by_confidence_and_by_columns():
    found = compared(drawn(np.random.default_rng(0), 600, unit_sd=0.4, noise=(0.0, 0.35)))
    table = answer(found).tables["By confidence and group"]
    bands = table[table["By"] == "confidence"]
    assert len(bands) == 5
    assert bands["n"].astype(int).sum() == 600
    [made] = found.against_reference
    assert (bands["Gained"].astype(int).sum(), bands["Lost"].astype(int).sum()) == (made.n_gained, made.n_lost)
    assert "unit" not in set(table["By"])


def test_a_sample_of_a_recipe_is_in_one_band_of_confidence():
    files = {}
    for name, seed in (("old", 1), ("new", 2)):
        rng = np.random.default_rng(seed)
        y, hard = np.tile(np.arange(300) % 2, 3), np.tile(np.random.default_rng(0).random(300), 3)
        said = np.where(0.6 * hard + 0.4 * rng.random(900) < 0.7, y, 1 - y)
        confidence = np.clip(1 - hard / 2 + rng.normal(0, 0.05, 900), 0.5, 1)
        groups = {"trial": np.repeat(["1", "2", "3"], 300).tolist()}
        ids = [f"text {row}" for row in range(300)] * 3
        files[name] = Predictions(ids, y, said, ["a", "b"], confidence=confidence, groups=groups)
    table = answer(compared(files)).tables["By confidence and group"]
    assert table["n"].astype(int).sum() == 300


def test_equal_models_are_rarely_better_on_a_part():
    """By the confidence of one of them they would be: it is unsure where it is wrong."""
    tables = (answer(compared(drawn(np.random.default_rng(seed), 400))).tables for seed in range(30))
    decided = [(table["By confidence and group"]["Model is"].isin(["better", "worse"])).any() for table in tables]
    assert sum(decided) <= 0.05 * 30 + 2 * np.sqrt(0.05 * 0.95 * 30)


def test_of_several_models_the_pairs_are_a_square_too():
    found = compared(drawn(np.random.default_rng(3), 400, n_models=4, noise=(1.0,)))
    assert [each.key for each in answer(found).figures] == ["ladder", "square", "forest"]
