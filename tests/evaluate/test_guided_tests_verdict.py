"""What is said of generated tests, in a sentence and in a report."""

from dataclasses import replace

import numpy as np
import pytest

from tests.evaluate.feature_populations import cloud, head, names
from touchstone.core.evaluate.guided_tests.generate import check_properties, generate_tests, start
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.results import Reconstruction, RoundTrip, accuracy_grid
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, Suite
from touchstone.core.evaluate.guided_tests.verdict import (
    CHANCE,
    SIDE,
    features_findings,
    guided_verdict,
    oracle_reads,
    round_trip_finding,
)
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.report.guided_tests import answer
from touchstone.core.report.markdown import escaped, to_markdown
from touchstone.core.report.parts import Report

HEAD = head(3, 6, apart=3.0)
TRAIN, TEST = cloud(HEAD, 200, name="train"), cloud(HEAD, 60, seed=2, name="test")
START = start(fit_regions(TRAIN), HEAD, train=TRAIN, test=TEST)


def made(share: float, *, n: int = 40) -> Guided:
    n_correct = int((TEST.predicted == TEST.labels).sum())
    tests = generate_tests(START, n, centroid_share=share, seed=0)
    return Guided(names(3), len(TEST), n_correct, tests, None, None, None)


def judged(*, oracle_right: int = 950) -> JudgedSuite:
    """Of 40 pictures of one class each second is kept, and of these the model gets four in five right."""
    n, rows = 40, np.arange(40)
    suite = Suite(
        names(3),
        np.zeros((n, 2, 2, 1), dtype=np.uint8),
        np.zeros(n, dtype=np.int64),
        rows % 4 == 0,
        np.ones(n, dtype=bool),
        rows % 2,
        (rows % 2 == 0)[:, None].repeat(3, axis=1),
        np.ones(n, dtype=np.int64),
        np.array([f"s{row}" for row in rows], dtype=object),
        np.full(n, "test", dtype=object),
        oracle_right,
        1000,
    )
    return JudgedSuite(suite, np.isin(rows, (2, 6, 10, 14)).astype(np.int64), np.full(n, 0.9))


def test_the_headline_is_the_whole_models_on_pictures_that_count():
    found = replace(made(0.5), suite=judged())
    said = guided_verdict(found)
    assert said.headline.startswith("Accuracy is 80.0 % [")
    assert "on 20 generated pictures" in said.headline
    assert f"{100 * found.test_accuracy[0]:.1f} % [" in said.headline
    assert said.used.startswith("20 of 40 pictures count, made from 20 real test samples")
    assert "The oracle classifies 95.0 % [" in said.used
    assert said.findings[0].startswith("At the boundary between classes, accuracy is 60.0 % [")
    assert said.findings[1].startswith("Near the centroids of classes, it is 100.0 % [")


def test_an_oracle_that_reads_badly_has_no_say():
    found = replace(made(0.5), suite=judged(oracle_right=800))
    assert not oracle_reads(found.suite)
    said = guided_verdict(found)
    assert said.headline.startswith("No accuracy on generated pictures is claimed: the oracle classifies only 80.0 % [")
    assert not any("accuracy is" in one for one in said.findings)


def test_without_pictures_no_accuracy_is_claimed_and_the_heads_is_folded_away():
    found = made(0.5)
    said = guided_verdict(found)
    assert said.headline == "120 tests generated as features, and no accuracy is claimed for them."
    assert "%" not in "".join((said.headline, said.used, *said.findings))
    folded = features_findings(found)
    assert f"{100 * found.generated.correct[found.generated.for_centroid].mean():.1f} % [" in folded[0]
    assert folded[1].startswith("At the boundary")
    assert SIDE in folded[1]


@pytest.mark.parametrize(
    ("at_boundary", "words"),
    [((True,) * 3, "real samples at the boundary"), ((True, False, False), "In 2 of 3 classes fewer than ten samples")],
)
def test_parents_are_said_to_lie_at_the_boundary_only_where_they_do(at_boundary, words):
    assert words in features_findings(replace(made(0.5), at_boundary=at_boundary))[-1]


def test_it_says_what_could_not_be_placed_and_which_classes_are_there():
    found = made(0.5)
    asked = found.generated.asked + np.array([[0, 0], [0, 7], [0, 0]])
    said = features_findings(replace(found, tests=replace(found.generated, asked=asked)))
    assert "No place was found for 7 tests: “class 1” (boundary, 7 of 27)." in said
    only = found.generated.take(found.generated.y == 2)
    assert guided_verdict(replace(found, tests=only)).used.startswith("1 of 3 classes so far.")


def test_with_nothing_placed_it_says_what_to_change():
    tests = made(0.0).generated
    nothing = replace(tests.take(np.zeros(len(tests), dtype=bool)), asked=tests.asked)
    said = guided_verdict(replace(made(0.0), tests=nothing))
    assert said.headline == "None of 120 tests requested could be placed."
    assert "widen the boundary" in said.advice


def test_a_mix_of_which_nothing_was_placed_is_passed_over():
    found = made(1.0)
    near, nothing = found.generated, found.generated.take(np.zeros(len(found.generated), dtype=bool))
    edge = replace(nothing, asked=np.array([[0, 40]] * 3))
    grid = accuracy_grid(
        near, edge, n_test=len(TEST), n_correct=int((TEST.predicted == TEST.labels).sum()), sizes=(10,)
    )
    said = features_findings(replace(found, grid=grid))
    assert not any("not known yet" in one or one.startswith("Over mixes") for one in said)


def test_failing_near_the_centroids_is_told_first():
    found = made(1.0)
    wrong = replace(found.generated, predicted=(found.generated.y + 1) % 3)
    verdict = guided_verdict(replace(found, tests=wrong))
    assert verdict.claims[0].decision == "above"
    assert verdict.findings[0].startswith("The head's accuracy near the centroids is ")
    assert "tests near the centroids" in verdict.advice
    assert "near the centroids" not in guided_verdict(found).advice


@pytest.mark.parametrize(("error", "words"), [(0.1, "would be .200 off."), (0.195, "No significant difference")])
def test_the_decoder_stands_beside_the_mean_image(error, words):
    told = Reconstruction(error, Interval(error - 0.01, error + 0.01), 0.2, 30)
    said = features_findings(replace(made(0.5), reconstruction=told))
    assert words in said[-1]
    assert f".{round(1000 * error):03d} [" in said[-1]


def test_a_round_trip_says_of_how_many_images():
    trip = RoundTrip(np.zeros(8, dtype=np.int64), np.ones(8), np.arange(8) < 2, np.arange(8) < 6, names(3))
    said = round_trip_finding(trip, 100)
    assert "2 of 8 images (at random out of 100)" in said
    assert "25.0 % [" in said
    assert "75.0 % [" in said


def test_the_report_in_markdown_holds_everything():
    found = made(0.5)
    near, boundary = (generate_tests(START, 20, centroid_share=share, seed=0) for share in (1.0, 0.0))
    found = replace(
        found,
        grid=accuracy_grid(
            near, boundary, n_test=len(TEST), n_correct=int((TEST.predicted == TEST.labels).sum()), sizes=(5, 20)
        ),
    )
    kept = check_properties(START.regions, HEAD, TEST)
    shown = Report("Which tests?", "clouds", answer(found, tested=kept), "**Read** it.", (("Noise", "a | b"),), "")
    text = to_markdown(shown).decode()
    assert text.startswith("# Which tests?\n\nclouds\n")
    assert all(escaped(sentence) in text for sentence in (guided_verdict(found).headline, *features_findings(found)))
    assert all(note in text for note in (SIDE, CHANCE, "**Read** it.", "| Noise | a \\| b |"))
    assert "| Per class | 0-100 | 30-70 | 50-50 | 70-30 | 100-0 |" in text
    assert text.count("| class 1 |") == 2
    assert "\nAccuracy on generated tests by class" in text, "a figure stands there in words"
    assert f"| true class first | the true class is the most probable | 180 | {kept.each[2].n_violated} |" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("| class")}
    assert widths == {6}
