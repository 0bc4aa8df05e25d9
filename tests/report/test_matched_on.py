"""What was matched on is what every sentence about pairs names."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.matched_subsets import matched_verdict, models_verdict
from touchstone.core.evaluate.matched_subsets.compare import compare_pairs, compare_sets
from touchstone.core.evaluate.matched_subsets.outcomes import ALIKE_IN
from touchstone.core.figures.matched_subsets import gap_chart
from touchstone.core.figures.theme import alt_text
from touchstone.core.report.matched_subsets import key_numbers


@pytest.mark.parametrize("scale", ["accuracy", "margin", "entropy"])
def test_no_sentence_speaks_of_confidence_where_another_score_was_matched(scale):
    """A set that loses by its mix, beyond it and in what has no pair, so that each sentence is there."""
    rng = np.random.default_rng(5)

    def made(n: int, sharp: float, wrong: float) -> Predictions:
        proba = special.softmax(sharp * rng.normal(size=(n, 3)), axis=1)
        y = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        y = np.where(rng.random(n) < wrong, (y + 1) % 3, y)
        return Predictions([str(i) for i in range(n)], y, proba.argmax(axis=1), ["a", "b", "c"], proba=proba)

    reference, target = made(6_000, 3, 0), made(3_000, 1.2, 0.2)
    rows = compare_pairs({"m": reference, "n": reference}, {"m": target, "n": target}, scale=scale, rng=rng)
    row = rows.rows[0]
    verdict, equal, mix = matched_verdict(row), f"equal {ALIKE_IN[scale]}", f"mix of {plural_of(ALIKE_IN[scale])}"
    assert f"At {equal} accuracy is lower" in verdict.headline
    texts = [verdict.headline, verdict.advice, *verdict.findings, models_verdict(rows), alt_text(gap_chart(row))]
    texts += [f"{metric.label} {metric.help}" for metric in key_numbers(row)]
    words = " ".join(map(str, texts)).lower()
    assert equal in words
    assert mix in words
    if scale != "accuracy":
        for others in ("equal confidence", "mix of confidences", "monitor confidences", "beyond their confidence"):
            assert others not in words


def test_samples_of_which_all_models_say_the_same_are_not_said_to_be_rounded():
    """Probabilities of few decimals: what has no variance over models has none that could be matched."""
    rng = np.random.default_rng(6)

    def made(n: int) -> Predictions:
        z, models = 3 * rng.normal(size=(n, 3)), []
        y = (special.softmax(z, axis=1).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        for _ in range(3):
            proba = special.softmax(2 * (z + 0.2 * rng.normal(size=z.shape)), axis=1).round(3)
            ids = [str(i) for i in range(n)]
            models.append(Predictions(ids, y, proba.argmax(axis=1), ["a", "b", "c"], proba=proba))
        return replace(models[0], ensemble=tuple(models))

    row = compare_sets(made(1500), made(800), scale="variance", rng=rng)
    words = " ".join([*matched_verdict(row).findings, alt_text(gap_chart(row))])
    assert row.n_rounded
    assert "all models say the same of them" in words
    assert "same in all models" in words
    assert "rounded to 1" not in words
