"""What was matched on is what every sentence about pairs names."""

import numpy as np
import pytest
from scipy import special

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.matched_subsets import matched_verdict, models_verdict
from touchstone.core.evaluate.matched_subsets.compare import compare_pairs
from touchstone.core.evaluate.matched_subsets.outcomes import ALIKE_IN
from touchstone.core.figures.matched_subsets import gap_chart
from touchstone.core.figures.theme import alt_text
from touchstone.ui.matched_subsets import matching


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
    texts += [f"{metric.label} {metric.help}" for metric in matching.metrics(row)]
    words = " ".join(map(str, texts)).lower()
    assert equal in words
    assert mix in words
    if scale != "accuracy":
        for others in ("equal confidence", "mix of confidences", "monitor confidences", "beyond their confidence"):
            assert others not in words
