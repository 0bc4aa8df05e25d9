"""Is a comparison by another metric what that metric says, and is it divided where it is a mean over samples?"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, recall_score, roc_auc_score

from tests.plain_words import problems_of
from touchstone.core.data import DataError, Predictions
from touchstone.core.data.predictions.record import PredictionPairs
from touchstone.core.evaluate.matched_subsets import Outcomes, compare_models, compare_sets, matched_verdict
from touchstone.core.evaluate.matched_subsets.compare import epsilon_curve
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
from touchstone.core.evaluate.matched_subsets.verdict import models_verdict
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.report.matched_subsets import answer, numbers

NAMES = ("legit", "fraud")
DIVIDED = ("recall", "specificity", "precision", "negative_predictive_value", "brier_score", "log_loss")


def drawn(n: int, seed: int, *, harder: float = 0.0, share: float = 0.3, names=NAMES) -> Predictions:
    """What a model says whose scores are those of the truth but for `harder`, which brings the classes closer."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    logit = 2.2 * (rng.normal(size=n) + (2.2 - harder) * y - 1.1) + np.log(share / (1 - share))
    score = 1 / (1 + np.exp(-logit))
    proba = np.column_stack([1 - score, score])
    return Predictions([f"row {i}" for i in range(n)], y, proba.argmax(axis=1), names, proba)


def compared(metric: str, *, seed: int = 0, harder: float = 0.7, n: int = 1500, positive=None):
    sets = drawn(n, 2 * seed), drawn(n // 2, 2 * seed + 1, harder=harder)
    options = {"metric": metric, "positive": positive, "rng": np.random.default_rng(seed)}
    return compare_sets(*sets, more=False, **options), sets


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_gives_a_verdict_in_plain_words(metric):
    if metric == "top_k_accuracy":
        with pytest.raises(DataError, match="no sample that top-2 accuracy is of"):
            compared(metric)
        return
    comparison, (reference, target) = compared(metric)
    verdict = matched_verdict(comparison)
    assert not problems_of(verdict)
    words, own = comparison.words, comparison.metrics.of(metric)
    for side in ("reference", "target"):
        assert comparison.subset(side).reached.value == pytest.approx(getattr(own, side).value)
    assert comparison.gap.value == pytest.approx(own.worse)
    assert words.title in verdict.headline or words.name in verdict.headline
    shown = answer(MatchingPlan(metric=metric).compare(PredictionPairs({"m": reference}, {"m": target})))
    assert shown.key_numbers[0].label == f"{words.title} {words.falls} by"
    for figure in shown.figures:
        assert figure.draw().data
    of = ("m",) if metric == "accuracy" else ("m", metric)
    assert next(iter(numbers([comparison]))).of[1:] == of[1:]


@pytest.mark.parametrize("metric", DIVIDED)
def test_what_is_a_mean_over_samples_is_divided_and_the_parts_add_up(metric):
    comparison, _ = compared(metric)
    parts = comparison.matched_gap.value + comparison.mix.value + comparison.unmatched.value + comparison.rounded.value
    assert comparison.can_match
    assert parts == pytest.approx(comparison.gap.value, abs=1e-9)
    if metric in ("recall", "brier_score", "log_loss"):
        assert comparison.claim("falls").decision == comparison.claim("residual").decision == "above"


@pytest.mark.parametrize("metric", [name for name, each in METRICS.items() if each.is_no_mean])
def test_what_is_no_mean_over_samples_has_no_parts_and_says_so(metric):
    comparison, sets = compared(metric)
    assert not comparison.can_match
    assert "is no mean over samples" in matched_verdict(comparison).headline
    with pytest.raises(DataError, match="is no mean over samples"):
        epsilon_curve(*sets, metric=metric, rng=np.random.default_rng(0))


def test_gaps_are_those_of_scikit_learn():
    for metric, function, of in (
        ("brier_score", brier_score_loss, "proba"),
        ("log_loss", log_loss, "proba"),
        ("roc_auc", roc_auc_score, "proba"),
        ("recall", recall_score, "y_pred"),
        ("balanced_accuracy", balanced_accuracy_score, "y_pred"),
    ):
        comparison, sets = compared(metric)
        said = [each.y_pred if of == "y_pred" else each.proba[:, 1] for each in sets]
        own, other = (function(each.y_true, values) for each, values in zip(sets, said, strict=True))
        worse = other - own if metric in ("brier_score", "log_loss") else own - other
        assert comparison.gap.value == pytest.approx(worse, abs=1e-9)


def test_recall_is_the_accuracy_of_the_samples_of_its_class():
    """The same numbers as a comparison of these samples alone, by confidence only: their labels say which are right."""
    comparison, (reference, target) = compared("recall")
    alone = [each.take(each.y_true == 1) for each in (reference, target)]
    same = compare_sets(*alone, by="probability", more=False, rng=np.random.default_rng(0))
    for name in ("gap", "matched_gap", "mix", "unmatched"):
        assert repr(getattr(comparison, name)) == repr(getattr(same, name))
    assert (comparison.n_reference, comparison.labels) == (alone[0].n_samples, ())
    assert MatchingPlan(metric="recall").samples(PredictionPairs({"m": reference}, {"m": target}), "m")[
        1
    ].ids.tolist() == (alone[1].ids.tolist())


def test_the_other_class_can_be_the_positive_one():
    (fraud, _), (legit, sets) = compared("recall"), compared("recall", positive="legit")
    assert (fraud.words.of_class, legit.words.of_class) == ("fraud", "legit")
    assert legit.subset("target").reached.value == pytest.approx(
        recall_score(sets[1].y_true, sets[1].y_pred, pos_label=0)
    )
    specific, _ = compared("specificity")
    assert repr(legit.gap) == repr(specific.gap)


def test_of_several_classes_one_has_to_be_named():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    said = np.where(rng.random(300) < 0.8, y, rng.integers(3, size=300))
    one = Predictions([f"row {i}" for i in range(300)], y, said, ["x", "y", "z"])
    options = {"metric": "recall", "rng": rng}
    with pytest.raises(DataError, match="about one class: name it as the positive one"):
        compare_sets(one, one, **options)
    assert compare_sets(one, one, positive="y", **options).subset("target").reached.value == pytest.approx(
        recall_score(y, said, average=None)[1]
    )
    with pytest.raises(DataError, match="needs the probabilities of all classes"):
        compare_sets(one, one, metric="log_loss", rng=rng)
    right = Outcomes(np.zeros(3, dtype=int), np.full(3, np.nan), np.array([True, False, True]), ("any",))
    with pytest.raises(DataError, match="needs predictions of classes"):
        compare_sets(right, right, metric="recall", rng=rng)


def test_a_set_without_the_class_is_refused_with_a_remedy():
    one, other = drawn(200, 0), drawn(200, 1)
    with pytest.raises(DataError, match=r"The new set has no sample that .* is of. Choose another metric"):
        compare_sets(one, other.take(other.y_true == 0), metric="recall", rng=np.random.default_rng(0))


def test_the_verdict_on_many_models_is_about_the_metric():
    sets = ({f"m{i}": drawn(800, 2 * i + side, harder=side * 0.8) for i in range(3)} for side in range(2))
    many = compare_models(*sets, metric="brier_score", rng=np.random.default_rng(0))
    assert models_verdict(many).startswith("Brier score rises in 3 of 3 models")
    assert answer(many).verdict.used.startswith("Largest rise: m")


def fitted(seed: int) -> tuple[Predictions, Predictions]:
    """Two test sets of one population, by a logistic regression of 20 features that had 60 samples: overconfident."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=20) * (np.arange(20) < 5)

    def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
        x = rng.normal(size=(n, 20))
        return x, (x @ weights + 1.5 * rng.normal(size=n) > 1.0).astype(int)

    model = LogisticRegression(C=10.0, max_iter=2000).fit(*sample(60))
    sets = []
    for n in (800, 400):
        x, y = sample(n)
        proba = model.predict_proba(x)
        sets.append(Predictions([f"row {i}" for i in range(n)], y, proba.argmax(axis=1), NAMES, proba))
    return sets[0], sets[1]


@pytest.mark.evidence
@pytest.mark.parametrize("metric", ["accuracy", "recall", "precision", "brier_score", "log_loss", "roc_auc", "f1"])
def test_where_nothing_differs_a_sentence_is_seldom_false(metric):
    """Both sets are of one population: any claim of a fall or of a part is false. 5 % of 120 and two SE."""
    wrong = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        comparison = compare_sets(*fitted(5000 + seed), metric=metric, more=False, rng=rng)
        wrong += any(claim.decision in ("above", "below") for claim in comparison.claims)
    assert wrong <= 10, wrong
