"""What do the generated tests say of the model, and what do they not? Sentences follow from claims."""

from math import nan

from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.claims import Claim, claim, why_undecided
from touchstone.core.evaluate.guided_tests import results
from touchstone.core.evaluate.guided_tests.generate import mix_title
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, SuiteDifference
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, apart, p_of_interval
from touchstone.core.evaluate.wording import Verdict, bare, count, listed, percent, plural, points, quoted, resting

# What may be said of generated tests? Every sentence rests on one of these (`core.evaluate.claims`).


def worse_near_centroids(near: results.SharedAccuracy, accuracy: float, interval: Interval) -> Claim:
    """By how much the accuracy near the centroids lies below that on the original test samples."""
    value = accuracy - near.accuracy
    gap = apart(accuracy, interval, near.accuracy, near.interval)
    return claim("guided_tests.worse_near_centroids", value, gap, p_of_interval(value, gap))


def decoder_helps(reconstruction: results.Reconstruction) -> Claim:
    """By how much decoded images lie nearer to the real ones than the mean image does."""
    ends, baseline = reconstruction.interval, reconstruction.baseline
    if not ends.known:
        return claim("guided_tests.decoder_helps", nan, UNKNOWN, nan)
    value, interval = baseline - reconstruction.error, ends.scaled(-1.0, baseline)
    return claim("guided_tests.decoder_helps", value, interval, p_of_interval(value, interval))


def second_model(difference: SuiteDifference) -> Claim:
    """By how much the second of two models is more accurate than the first on pictures that both met."""
    value, interval = difference.difference, difference.interval
    return claim("guided_tests.second_model", value, interval, p_of_interval(value, interval))


SIDE = "At a boundary, expect an accuracy of about 50 % by construction: tests lie on both sides."
"""What has to be known of any accuracy at a boundary."""
CHANCE = (
    "The paper's table 2 prints chance at 0-100. Read literally, its method ignores the label there: 9.3 to 10.0 % "
    "with ten classes, for any model."
)
"""What has to be known of the table that is folded away."""
NOTHING_INSIDE = (
    "This model exposes no inner layer, only its outputs. Generated features would not test it. To test a layer, "
    "upload its output on your samples: “Upload features instead”."
)
"""What has to be known of a model whose only layer is its outputs."""
LEAST_ORACLE = 0.9
"""The lower bound of the oracle's accuracy on real pictures, below which nothing is said of generated ones."""


def guided_verdict(guided: Guided) -> Verdict:
    """Say what the tests that were generated so far come to.

    Examples
    --------
    >>> guided_verdict(Guided(("a", "b"), 0, 0, None, None, None, None)).headline
    'No test has been generated yet.'
    """
    tests = guided.tests
    if tests is None:
        return Verdict("No test has been generated yet.", "", "", ())
    if len(tests) == 0:
        asked = f"None of {plural(int(tests.asked.sum()), 'test')} requested could be placed."
        return Verdict(asked, "", "Next: reduce the noise, or widen the boundary or the radius.", ())
    worse = worse_near_centroids(guided.accuracy(results.REGIONS[0]), *guided.test_accuracy)
    helps = decoder_helps(guided.reconstruction) if guided.reconstruction else None
    findings = (*_suite_findings(guided.suite), resting(_worse(worse), worse.kind))
    return Verdict(
        headline=_headline(guided),
        used=_used(guided),
        advice=resting(_advice(guided, worse), worse.kind),
        findings=tuple(finding for finding in findings if finding),
        claims=(worse,) if helps is None else (worse, helps),
    )


def features_findings(guided: Guided) -> tuple[str, ...]:
    """Say what the layer's head makes of the generated features: folded away, since no picture stands behind them."""
    helps = decoder_helps(guided.reconstruction) if guided.reconstruction else None
    about = (_parents(guided), _unplaced(guided.generated))
    findings = (*_by_region(guided), *about, _table(guided.grid), _pictures(guided.reconstruction, helps))
    return tuple(finding for finding in findings if finding)


def round_trip_finding(trip: results.RoundTrip, n_all: int) -> str:
    """Say how far the whole model, given the decoded images, agrees with what its head said of the features.

    Examples
    --------
    >>> import numpy as np
    >>> differs, inside = np.array([False, True]), np.array([True, True])
    >>> one = results.RoundTrip(np.array([0, 1]), np.array([0.6, 0.9]), differs, inside, ("a", "b"))
    >>> round_trip_finding(one, 2)
    'Decoded and classified by the whole model, 1 of 2 images get another class than their features: ...'
    """
    k, n, share, interval = trip.disagreement
    kept = percent(*trip.kept_region[2:])
    chosen = "" if n == n_all else f" (at random out of {count(n_all)})"
    return (
        f"Decoded and classified by the whole model, {count(k)} of {plural(n, 'image')}{chosen} get another class than "
        f"their features: {percent(share, interval)}. {kept} of the images still lie in the region."
    )


def difference_finding(difference: SuiteDifference, other: str, this: str) -> str:
    """Say by how much another model is more or less accurate on the pictures that both met.

    Examples
    --------
    >>> difference = SuiteDifference(100, 50, 2, 12, -0.1, Interval(-0.15, -0.05))
    >>> difference_finding(difference, "new", "old")
    '“new” is 10.0 points [5.0, 15.0] less accurate than “old” on 100 pictures: 2 gained, 12 lost.'
    """
    changed = (
        f"on {plural(difference.n, 'picture')}: {count(difference.n_gained)} gained, {count(difference.n_lost)} lost."
    )
    decision = second_model(difference).decision
    if decision == "undecided":
        between = points(difference.difference, difference.interval) + why_undecided(second_model(difference))
        return f"No significant difference between {quoted(other)} and {quoted(this)}, {between}, {changed}"
    sign, word = (1.0, "more") if decision == "above" else (-1.0, "less")
    size = points(abs(difference.difference), difference.interval.scaled(sign))
    return f"{quoted(other)} is {size} {word} accurate than {quoted(this)} {changed}"


def _headline(guided: Guided) -> str:
    if guided.suite is None:
        return f"{plural(len(guided.generated), 'test')} generated as features, and no accuracy is claimed for them."
    if not oracle_reads(guided.suite):
        share, interval = guided.suite.suite.oracle_accuracy
        return (
            f"No accuracy on generated pictures is claimed: the oracle classifies only {percent(share, interval)} "
            "of real pictures correctly."
        )
    overall, (accuracy, interval) = guided.suite.accuracy(), guided.test_accuracy
    return (
        f"Accuracy is {_share(overall)} on {plural(overall.n, 'generated picture')}, {percent(accuracy, interval)} on "
        "the original test samples."
    )


def oracle_reads(judged: JudgedSuite) -> bool:
    """Whether the oracle reads real pictures well enough to say what generated ones show."""
    return judged.suite.oracle_accuracy[1].lower >= LEAST_ORACLE and judged.accuracy().n > 0


def _used(guided: Guided) -> str:
    n_known, n_classes = len(guided.made_for), len(guided.class_names)
    so_far = f"{count(n_known)} of {plural(n_classes, 'class', 'classes')} so far. " if n_known < n_classes else ""
    if guided.suite is None:
        return (
            f"{so_far}The whole model can only be tested on pictures. Below: where tests are missing, how the "
            f"layer's head classifies generated features, and which real samples to label next."
        )
    suite, overall = guided.suite.suite, guided.suite.accuracy()
    share, interval = suite.oracle_accuracy
    others = "real samples" if overall.parent_word == "sample" else plural_of(overall.parent_word)
    return (
        f"{so_far}{count(overall.n)} of {plural(len(suite), 'picture')} count, made from "
        f"{_made_from(overall)}: they lie in their region, and an independent oracle "
        f"confirms their class. The oracle classifies {percent(share, interval)} of real pictures correctly. "
        f"Intervals are 95 %, over {others}."
    )


def _suite_findings(judged: JudgedSuite | None) -> tuple[str, ...]:
    if judged is None or not oracle_reads(judged):
        return ()
    near, edge = (judged.accuracy(region) for region in results.REGIONS)
    return (
        f"At the boundary between classes, accuracy is {_share(edge)} ({_counted(edge)})." if edge.n else "",
        f"Near the centroids of classes, it is {_share(near)} ({_counted(near)})." if near.n else "",
    )


def _parents(guided: Guided) -> str:
    """What the features' parents are: at the boundary only where they are."""
    if guided.at_boundary is None:
        return ""
    n, n_classes = sum(guided.at_boundary), len(guided.at_boundary)
    if n == n_classes:
        return "Features are made from real samples at the boundary of their class."
    return (
        f"In {n_classes - n} of {plural(n_classes, 'class', 'classes')} fewer than ten samples lie at the boundary: "
        "there, features are made from the ten least confident."
    )


def _advice(guided: Guided, worse: Claim) -> str:
    if guided.suite is not None and oracle_reads(guided.suite):
        return "Next: look at the pictures that are predicted as another class."
    if worse.decision == "above":
        return "Next: look at the generated tests near the centroids."
    return "Next: label real samples, those listed under “Label these next”."


def _worse(worse: Claim) -> str:
    if worse.decision != "above":
        return ""
    return (
        f"The head's accuracy near the centroids is {points(worse.estimate, worse.interval)} lower than on the "
        "original test samples. Either the model fails on typical samples, or no real sample lies there."
    )


def _by_region(guided: Guided) -> tuple[str, str]:
    near, edge = (guided.accuracy(region) for region in results.REGIONS)
    return (
        f"Near the centroids, the head classifies {_share(near)} of the features correctly ({_counted(near)})."
        if near.n
        else "",
        f"At the boundary, {_share(edge)} lie on their own class's side ({_counted(edge)}). {SIDE}" if edge.n else "",
    )


def _unplaced(tests: results.GeneratedTests) -> str:
    if not tests.n_unplaced:
        return ""
    rows = tests.counts_table().sort_values("unplaced", ascending=False, kind="stable")
    rows = rows[rows["unplaced"] > 0]
    where = [
        f"{quoted(row['label'])} ({row['region']}, {count(int(row['unplaced']))} of {count(int(row['asked']))})"
        for _, row in rows.iterrows()
    ]
    return f"No place was found for {plural(tests.n_unplaced, 'test')}: {listed(where)}."


def _table(grid: results.AccuracyGrid | None) -> str:
    if grid is None:
        return ""
    largest = max(cell.n_per_class for cell in grid.cells)
    first, *_, last = (cell for cell in grid.cells if cell.n_per_class == largest)
    if not (first.overall.n and last.overall.n):
        return ""
    return (
        f"Over mixes, with {plural(largest, 'test')} for each class, accuracy runs from {_share(first.overall)} at "
        f"{mix_title(first.centroid_share)} to {_share(last.overall)} at {mix_title(last.centroid_share)}; in between "
        "it is about a weighted mean of these two."
    )


def _pictures(reconstruction: results.Reconstruction | None, helps: Claim | None) -> str:
    if reconstruction is None or helps is None:
        return ""
    ends = (
        f" [{bare(reconstruction.interval.lower, 3)}, {bare(reconstruction.interval.upper, 3)}]"
        if reconstruction.interval.known
        else ""
    )
    whole = (
        f"Decoded images are {bare(reconstruction.error, 3)}{ends} off (black 0, white 1; root mean square over "
        f"{plural(reconstruction.n, 'test image')}); the mean image would be {bare(reconstruction.baseline, 3)} off."
    )
    if helps.decision == "above":
        return whole
    nearer = "The mean image is significantly nearer" if helps.decision == "below" else "No significant difference"
    return f"{whole} {nearer}: the pictures are not informative."


def _share(shared: results.SharedAccuracy) -> str:
    return percent(shared.accuracy, shared.interval)


def _counted(shared: results.SharedAccuracy) -> str:
    return f"n = {count(shared.n)} from {shared.parents}"


def _made_from(shared: results.SharedAccuracy) -> str:
    if shared.parent_word == "sample":
        return plural(shared.n_parents, "real test sample")
    return f"real test samples from {shared.parents}"
