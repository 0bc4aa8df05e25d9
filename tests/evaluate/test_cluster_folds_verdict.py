"""Sentences rest on bounds of intervals, say what to do now, and admit what cannot be told."""

from dataclasses import replace

import pandas as pd

from core.evaluate.cluster_folds import (
    Foretold,
    Metric,
    Relation,
    fold_performance,
    fold_verdict,
    foretold_on_sources,
    scheme_title,
)
from core.evaluate.cluster_folds.results import ScoreEstimate
from core.evaluate.intervals import Interval
from core.evaluate.wording import percent, points
from core.split import FOLD_SCHEMES
from tests.evaluate.fold_populations import frame, simulated


def found(error, **options):
    return fold_performance(simulated(error, **options))


HARDER = found({"random_folds": 0.1, "sds_folds": 0.4, "mine": 0.3}, seeds=(0, 1, 2))


def finding(verdict, start: str) -> str:
    (told,) = [each for each in verdict.findings if each.startswith(start)]
    return told


def test_harder_folds_are_called_so_by_the_bound_and_come_with_a_plan():
    verdict, told = fold_verdict(HARDER, names={"model": "A model"}), HARDER.differences[0]
    interval = told.difference.interval
    assert verdict.headline.startswith(
        f"These folds are harder, by {points(-interval.upper)} at least. A model: macro F1"
    )
    assert "on SDS k-means folds" in verdict.headline
    assert "on random folds" in verdict.headline
    lower = percent(HARDER.of("sds_folds", "model").mean.interval.lower)
    assert verdict.advice.startswith(f"Next: plan with {lower}, the lower bound")
    assert "one seed is luck" not in verdict.advice
    assert "n = 600, 5 folds, 3 seeds." in verdict.used
    assert "every seed says the same" in finding(verdict, "Over 3 seeds")
    assert "mine −" in finding(verdict, "Against random folds too")


def test_one_seed_is_called_luck():
    verdict = fold_verdict(found({"random_folds": 0.1, "sds_folds": 0.4}))
    assert "one seed is luck" in verdict.advice
    assert any(each.startswith("One seed only") for each in verdict.findings)


def test_no_difference_is_admitted_with_what_it_would_take():
    verdict = fold_verdict(found({"random_folds": 0.3, "sds_folds": 0.3}, n=200))
    assert verdict.headline.startswith("No difference between the schemes can be shown.")
    assert "it may still be" in verdict.headline
    assert "samples to tell so small a difference (now 200)" in verdict.advice


def test_easier_folds_are_no_challenge():
    verdict = fold_verdict(found({"random_folds": 0.4, "sds_folds": 0.05}))
    assert verdict.headline.startswith("These folds are easier, by")
    assert "make folds another way" in verdict.advice


def test_the_spread_over_folds_is_set_against_the_papers_finding():
    steady = replace(HARDER, schemes=tuple(replace(row, std=0.01) for row in HARDER.schemes))
    assert "vary more, as the paper found" in finding(fold_verdict(HARDER), "The standard deviation")
    assert "no more, where the paper found that they do" in finding(fold_verdict(steady), "The standard deviation")


def test_one_scheme_alone_asks_for_random_folds():
    verdict = fold_verdict(found({"sds_folds": 0.2}))
    assert verdict.headline.startswith("model: macro F1")
    assert "run random folds beside it" in verdict.advice


def test_seeds_that_disagree_take_the_claim_back():
    told = replace(HARDER.differences[0], per_seed=((0, -0.3), (1, 0.1)))
    torn = replace(HARDER, differences=(told,))
    verdict = fold_verdict(torn)
    assert verdict.headline.startswith("No difference between the schemes can be shown.")
    assert "seeds disagree" in finding(verdict, "Over 3 seeds")


def test_a_model_that_learned_nothing_is_called_so():
    folded = simulated({"random_folds": 2 / 3}, n=300)
    verdict = fold_verdict(fold_performance(folded, metric=Metric("accuracy")))
    assert any(
        each.startswith("By accuracy the model cannot be told from one that learned nothing.")
        for each in verdict.findings
    )


def test_relations_are_told_with_what_so_few_folds_could_show():
    options = {"scheme": "sds_folds", "model": "model", "n": 5, "p_least": 1 / 120, "exact": True}
    none = Relation(characteristic="mean length", r=0.4, p=0.5, p_holm=1.0, **options)
    strong = Relation(characteristic="energy distance to training", r=-0.98, p=0.0083, p_holm=0.0167, **options)
    said = finding(fold_verdict(HARDER, scheme="sds_folds", relations=[none, none]), "No characteristic")
    assert "even a perfect one has p = .017 after correction" in said
    said = finding(fold_verdict(HARDER, scheme="sds_folds", relations=[none, strong]), "Scores go with")
    assert "energy distance to training (r −.98, p = .017)" in said
    assert "no proof of a cause" in said


def test_what_scores_foretell_is_told():
    gap = ScoreEstimate(0.1, Interval(0.05, 0.15))
    high = Foretold("random_folds", "model", "the new set", 0.9, 0.8, gap, False)
    alike = replace(high, scheme="sds_folds", difference=ScoreEstimate(0.0, Interval(-0.02, 0.02)))
    findings = fold_verdict(HARDER, foretold=[high, alike]).findings
    assert "Random folds promise too much for the new set: 90.0 % against 80.0 %, 10.0 points [5.0, 15.0]." in findings
    assert any(each.startswith("SDS k-means folds foretell the new set as far as") for each in findings)
    on_sources = found({"group_folds": 0.4, "random_folds": 0.1})
    said = fold_verdict(on_sources, foretold=foretold_on_sources(on_sources)).findings
    assert any('Random folds promise too much for folds by "Known sources, several to a fold"' in each for each in said)


def test_before_and_between_folds_nothing_is_claimed():
    folded = simulated({"sds_folds": 0.2})
    made = folded.rows[folded.rows["model"].isna().to_numpy()]
    nothing = fold_performance(replace(folded, rows=made))
    assert fold_verdict(nothing).headline == "No fold has been tested yet."
    some = folded.rows[(folded.rows["model"].isna() | (folded.rows["fold"] < 2)).to_numpy()]
    lost = frame("sds_folds", 0, "model", [4], [pd.NA], [pd.NA], status="failed")
    half = fold_performance(replace(folded, rows=pd.concat([some, lost], ignore_index=True)))
    verdict = fold_verdict(half)
    assert verdict.headline == "model so far: 2 of 5 folds tested, no scheme as a whole."
    assert verdict.used == "1 trial failed."
    assert "run the failed trials again" in verdict.advice


def test_every_scheme_reads_well_in_a_sentence():
    for name, scheme in FOLD_SCHEMES.items():
        verdict = fold_verdict(found({name: 0.2}, n=60))
        assert scheme_title(scheme.column) == scheme.title
        title = scheme.title[0].lower() + scheme.title[1:]
        assert f"{title} folds" in verdict.headline or f"{scheme.title}" in verdict.headline
