"""Sentences follow from claims, say what to do next where something can be done, and decide nothing from one seed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.evaluate.fold_populations import frame, simulated
from tests.worlds import cluster_folds as worlds
from touchstone.core.data import Predictions
from touchstone.core.evaluate.cluster_folds.performance import fold_performance, predicted_on_sources
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    PredictedHeldOut,
    Relation,
    ScoredBy,
    ScoreEstimate,
)
from touchstone.core.evaluate.cluster_folds.tested import labels_shift, predictions_on_folds
from touchstone.core.evaluate.cluster_folds.verdict import (
    beats_baselines,
    differs_between_folds,
    fold_verdict,
    scheme_title,
)
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.wording import gap, percent, points
from touchstone.core.report.cluster_folds import answer
from touchstone.core.report.overview import settles
from touchstone.core.split.folds import FOLD_SCHEMES

BANNED = ("at least", "plan with", "cannot be told", "can be shown", "luck", "that the data", "foretell", "promise")
SEEDS = (0, 1, 2)


def scored(error, **options) -> FoldPerformance:
    return fold_performance(simulated(error, **options))


HARDER = scored({"random_folds": 0.1, "sds_folds": 0.4, "mine": 0.3}, seeds=SEEDS)


def finding(verdict, start: str) -> str:
    (sentence,) = [each for each in verdict.findings if each.startswith(start)]
    return sentence


def decision(verdict, kind: str) -> str:
    return next(claim.decision for claim in verdict.claims if claim.kind == f"cluster_folds.{kind}")


def test_harder_folds_are_called_so_from_three_seeds_and_their_labels_are_asked_for():
    verdict, difference = fold_verdict(HARDER, names={"model": "A model"}), HARDER.differences[0]
    interval = difference.difference.interval
    loss = points(-difference.difference.value, Interval(-interval.upper, -interval.lower))
    assert verdict.headline.startswith(f"A model loses {loss} of macro F1 on SDS k-means folds: ")
    assert "on random folds" in verdict.headline
    assert decision(verdict, "harder") == "above"
    assert verdict.advice == "Next: check whether these folds differ in labels as well as inputs."
    assert "n = 600, 5 folds, 3 seeds." in verdict.used
    assert "mine −" in finding(verdict, "Other schemes less random folds")


def test_a_correlation_is_written_in_its_own_unit_throughout():
    errors = {"random_folds": 0.1, "sds_folds": 0.4, "mine": 0.3, "group_folds": 0.2}
    folded = simulated(errors, seeds=SEEDS)
    scores = fold_performance(folded, metric=ScoredBy("matthews_corrcoef"))
    shown, (difference, *_) = answer(scores, folded), scores.differences
    interval = difference.difference.interval
    loss = gap(-difference.difference.value, Interval(-interval.upper, -interval.lower))
    ends = f"{gap(difference.other_score)} on random folds, {gap(difference.score)} here"
    verdict, row = shown.verdict, scores.of("sds_folds", "model")
    assert verdict.headline == f"model loses {loss} of Matthews correlation on SDS k-means folds: {ends}."
    assert any("predict −" in each or " too much for folds by “Known sources" in each for each in verdict.findings)
    said = [each for each in verdict.findings if "The lowest class is" not in each and "accuracy" not in each]
    assert not any("%" in each or "points" in each for each in said), said
    values = [each.value for each in shown.key_numbers]
    assert values[:3] == [gap(row.mean.value), gap(difference.other_score), gap(difference.difference.value)]
    assert values[3] == gap(row.std)
    [run, *_], lines = scores.runs, shown.section("table").parts[0].lines
    assert lines["By fold"][0].split() == [gap(fold.score.value) for fold in run.folds]
    assert lines["Mean"][0] == gap(run.mean.value, run.mean.interval)
    assert lines["Std"][0] == gap(run.std)
    named = {each.of[2] for each in shown.numbers if each.name == "cluster_folds.metric"}
    assert "matthews_corrcoef" in named


@pytest.mark.parametrize("n_seeds", [1, 2])
def test_fewer_than_three_seeds_decide_nothing_of_a_scheme(n_seeds):
    verdict = fold_verdict(scored({"random_folds": 0.1, "sds_folds": 0.4}, seeds=range(n_seeds)))
    assert decision(verdict, "harder") == "undecided"
    assert "lower on these SDS k-means folds" in verdict.headline
    assert "Whether such folds are harder is undecided with" in verdict.headline
    assert verdict.advice == "Next: run three seeds."


def test_no_difference_comes_with_what_it_would_take():
    found = scored({"random_folds": 0.3, "sds_folds": 0.3, "mine": 0.3}, n=200, seeds=SEEDS)
    verdict = fold_verdict(found, scheme="sds_folds")
    assert "no significant difference in macro F1 on SDS k-means folds" in verdict.headline
    assert verdict.advice == "Next: report no difference.", "seeds differ most here, which no sample makes less"
    [difference] = [each for each in found.differences if each.scheme == "sds_folds"]
    alike = replace(difference, over_seeds=Interval(-0.001, 0.001))
    others = tuple(alike if each is difference else each for each in found.differences)
    verdict = fold_verdict(replace(found, differences=others), scheme="sds_folds")
    assert "samples (now 200)" in verdict.advice


def test_seeds_that_are_far_apart_leave_it_undecided():
    errors = ((0, 0.9), (1, 0.05), (2, 0.15))
    parts = [simulated({"random_folds": 0.1, "sds_folds": error}, seeds=[seed]) for seed, error in errors]
    torn = fold_performance(replace(parts[0], rows=pd.concat([part.rows for part in parts], ignore_index=True)))
    verdict = fold_verdict(torn)
    assert decision(verdict, "harder") == "undecided"
    assert "whether SDS k-means folds are harder is undecided" in verdict.headline
    assert "of macro F1), for 3 seeds differ. It has " in verdict.headline
    assert verdict.advice == "Next: run 6 seeds."
    [claim] = [claim for claim in verdict.claims if claim.kind.endswith("harder")]
    assert settles(claim) == "", "no number of samples makes less of what seeds differ by"


def test_easier_folds_are_no_challenge():
    verdict = fold_verdict(scored({"random_folds": 0.4, "sds_folds": 0.05}, seeds=SEEDS))
    assert verdict.headline.startswith("model gains ")
    assert "try another fold scheme" in verdict.advice


def test_one_scheme_alone_asks_for_random_folds():
    verdict = fold_verdict(scored({"sds_folds": 0.2}))
    assert verdict.headline.startswith("model: macro F1")
    assert verdict.advice == "Next: run random folds beside these."


def test_folds_below_the_majority_class_are_counted_and_said_first():
    design = next(design for design in worlds.DESIGNS if design.scheme == "paired_source_folds" and design.n == 300)
    paired = worlds.folded(replace(design, draw=worlds.across, model="neighbours"), 0, 0)
    performance = fold_performance(paired)
    n = sum(run.n_below_majority for run in performance.runs_of(design.scheme, "neighbours"))
    assert n > 5
    said = f"{n} of 15 folds have an accuracy below the majority-class baseline. "
    assert fold_verdict(performance).headline.startswith(said)
    assert "majority-class baseline." not in fold_verdict(HARDER).headline


def test_folds_that_change_labels_say_so_and_are_not_planned_for():
    design = replace(worlds.DESIGNS[0], draw=worlds.across, n=300, scheme="paired_source_folds", model="neighbours")
    for scheme, expected in (("paired_source_folds", "above"), ("kmeans_folds", "small")):
        of = replace(design, scheme=scheme, baseline="random_folds")
        rows, places = worlds.folded(of, 0, 0), worlds.drawn(of, 0).places
        folds = [rows.folds(scheme, seed) for seed in rows.seeds(scheme)]
        shift = labels_shift(scheme, places, rows.y, folds, rng=np.random.default_rng(0))
        assert shift is not None
        verdict = fold_verdict(fold_performance(rows), shifts=[shift])
        assert decision(verdict, "labels_shift") == expected
        changed = verdict.findings[0].startswith("Labels change with these folds, not the inputs alone.")
        assert changed == (expected == "above")
        mean = fold_performance(rows).of(scheme, "neighbours").mean
        plan = f"Next: if inputs may differ as these folds do, plan for {percent(mean.value, mean.interval)}."
        assert (verdict.advice == plan) == (not changed)


def test_a_model_that_learned_nothing_is_called_so():
    folded = simulated({"random_folds": 0.63}, n=300)
    verdict = fold_verdict(fold_performance(folded, metric=ScoredBy("accuracy")))
    assert finding(verdict, "No significant difference from a model that ignores its input.")
    assert decision(verdict, "beats_baselines") == "undecided"


def test_folds_with_few_wrong_samples_are_not_called_alike():
    """Ten classes in folds of 20 whose labels are ever noisier: 4.1 points apart, not alike."""
    world = next(each for each in worlds.DESIGNS if "ten groups ever noisier" in each.name)
    decisions = {worlds.performance(world, seed).runs: None for seed in range(6)}
    assert {differs_between_folds(runs).decision for runs in decisions} == {"undecided"}


def test_an_error_that_has_nothing_to_do_with_the_class_is_compared_with_the_share_of_the_majority():
    """Right in 60 % whatever the class, where 60 % are of one class: that share is drawn, too."""
    rng, n_claimed = np.random.default_rng(3), 0
    for _ in range(300):
        y = (rng.random(200) < 0.4).astype(int)
        y_pred = np.where(rng.random(200) < 0.6, y, 1 - y)
        folds = {"fold": [str(row % 5) for row in range(200)]}
        said = Predictions(list(map(str, range(200))), y, y_pred, ["a", "b"], groups=folds)
        performance = fold_performance(predictions_on_folds({"mine": said}), metric=ScoredBy("accuracy"))
        n_claimed += beats_baselines(performance.schemes[0]).decided
    assert n_claimed <= stats.binom.isf(0.001, 300, 0.05)


def test_relations_are_told_with_what_so_few_folds_could_show():
    options = {"scheme": "sds_folds", "model": "model", "n": 5, "p_least": 1 / 120, "exact": True}
    none = Relation(characteristic="mean length", r=0.4, p=0.5, p_holm=1.0, **options)
    strong = Relation(characteristic="energy distance to training", r=-0.98, p=0.0083, p_holm=0.0167, **options)
    sentence = finding(fold_verdict(HARDER, scheme="sds_folds", relations=[none, none]), "No characteristic")
    assert "Even r 1 would have p = .017 with so few folds." in sentence
    sentence = finding(fold_verdict(HARDER, scheme="sds_folds", relations=[none, strong]), "Scores correlate with")
    assert "energy distance to training (r −.98, p = .017)" in sentence
    assert "does not prove a cause" in sentence


def test_what_scores_predict_is_said():
    gap = ScoreEstimate(0.1, Interval(0.05, 0.15))
    high = PredictedHeldOut("random_folds", "model", "the new set", 0.9, 0.8, gap, 0.0001, False)
    alike = replace(high, scheme="sds_folds", difference=ScoreEstimate(0.0, Interval(-0.02, 0.02)), p=1.0)
    close = replace(high, scheme="mine", difference=ScoreEstimate(0.0, Interval(-0.004, 0.004)), p=1.0)
    findings = fold_verdict(HARDER, predicted_held_out=[high, alike, close]).findings
    ends = "90.0 % against 80.0 %"
    assert (
        f"Random folds predict 10.0 points [5.0, 15.0] too much for this trained model on the new set: {ends}."
        in findings
    )
    assert any(each.startswith("SDS k-means folds and the new set: no significant difference") for each in findings)
    assert any("predict the new set to within 1.0 points" in each for each in findings)
    on_sources = scored({"group_folds": 0.4, "random_folds": 0.1})
    findings = fold_verdict(on_sources, predicted_held_out=predicted_on_sources(on_sources)).findings
    assert any("too much for folds by “Known sources, several to a fold”" in each for each in findings)


def test_before_and_between_folds_nothing_is_claimed_or_advised():
    folded = simulated({"sds_folds": 0.2})
    made = folded.rows[folded.rows["model"].isna().to_numpy()]
    nothing = fold_performance(replace(folded, rows=made))
    assert fold_verdict(nothing).headline == "No fold has been tested yet."
    some = folded.rows[(folded.rows["model"].isna() | (folded.rows["fold"] < 2)).to_numpy()]
    assert fold_verdict(fold_performance(replace(folded, rows=some))).advice == ""
    lost = frame("sds_folds", 0, "model", [4], [pd.NA], [pd.NA], status="failed")
    half = fold_performance(replace(folded, rows=pd.concat([some, lost], ignore_index=True)))
    verdict = fold_verdict(half)
    assert verdict.headline == "model: 2 of 5 folds done; no fold scheme is complete yet."
    assert verdict.used == "1 trial failed."
    assert "run the failed trials again" in verdict.advice


@pytest.mark.parametrize("n_seeds", [1, 3])
@pytest.mark.parametrize("error", [0.02, 0.1, 0.12, 0.4])
def test_no_sentence_is_long_or_banned(error, n_seeds):
    verdict = fold_verdict(scored({"random_folds": 0.1, "sds_folds": error}, seeds=range(n_seeds)))
    for sentence in verdict.text.replace("\n", " ").split(". "):
        assert len(sentence.split()) <= 32, sentence  # numbers and intervals are words here
    assert not any(phrase in verdict.text for phrase in BANNED)
    assert any(name in verdict.text for name in ("“a”", "“b”", "“c”"))


def test_every_scheme_reads_well_in_a_sentence():
    for name, scheme in FOLD_SCHEMES.items():
        verdict = fold_verdict(scored({name: 0.2}, n=60))
        assert scheme_title(scheme.column) == scheme.title
        title = scheme.title[0].lower() + scheme.title[1:]
        assert f"{title} folds" in verdict.headline or f"{scheme.title}" in verdict.headline
