"""What do the generated tests say of the model, and what do they not? In sentences, phrased on the intervals."""

from core.evaluate.guided_tests.accuracy import AccuracyGrid, SharedAccuracy
from core.evaluate.guided_tests.generate import mix_title
from core.evaluate.guided_tests.images import Reconstruction, RoundTrip
from core.evaluate.guided_tests.results import REGIONS, GeneratedTests
from core.evaluate.guided_tests.stored import Guided
from core.evaluate.wording import Verdict, bare, count, listed, percent, plural

SIDE = (
    "At a boundary accuracy is nothing but the share of tests on their own class's side of it: about half by "
    "construction, and less where a third class is as probable."
)
"""What has to be known of any accuracy at a boundary."""


def guided_verdict(found: Guided) -> Verdict:
    """Say what the tests that were generated so far come to.

    Examples
    --------
    >>> guided_verdict(Guided(("a", "b"), 0, 0, None, None, None, None)).headline
    'Nothing has been generated yet.'
    """
    tests = found.tests
    if tests is None:
        return Verdict("Nothing has been generated yet.", "", "", ())
    if len(tests) == 0:
        asked = f"None of {plural(int(tests.asked.sum()), 'test')} that were asked for could be placed."
        return Verdict(asked, "", "Take less noise, a wider boundary or a larger radius.", ())
    findings = (*_by_region(found), _unplaced(tests), _table(found.grid), _pictures(found.reconstruction))
    return Verdict(
        headline=_headline(found),
        used=_used(found),
        advice=_advice(found),
        findings=tuple(one for one in findings if one),
    )


def round_trip_finding(trip: RoundTrip, n_all: int) -> str:
    """Say how far the whole model, given the decoded images, agrees with what its head said of the features.

    Examples
    --------
    >>> import numpy as np
    >>> differs, inside = np.array([False, True]), np.array([True, True])
    >>> one = RoundTrip(np.array([0, 1]), np.array([0.6, 0.9]), differs, inside, ("a", "b"))
    >>> round_trip_finding(one, 2)
    'Decoded and sent through the whole model again, 1 of 2 images are taken for another class than their features: ...'
    """
    k, n, share, interval = trip.disagreement
    kept = percent(*trip.kept_region[2:])
    of = "" if n == n_all else f" (at random out of {count(n_all)})"
    return (
        f"Decoded and sent through the whole model again, {count(k)} of {plural(n, 'image')}{of} are taken for another "
        f"class than their features: {percent(share, interval)}. {kept} of the images still lie in the region."
    )


def _headline(found: Guided) -> str:
    overall, (accuracy, interval) = found.accuracy(), found.test_accuracy
    head = (
        f"The model takes {_share(overall)} of the generated tests for the class that they were made for; of the "
        f"original test samples it gets {percent(accuracy, interval)} right."
    )
    return head if found.generated.for_centroid.any() else f"{head} {SIDE}"


def _used(found: Guided) -> str:
    tests, overall = found.generated, found.accuracy()
    n_known, n_classes = len(found.made_for), len(found.class_names)
    so_far = f"{count(n_known)} of {plural(n_classes, 'class', 'classes')} so far. " if n_known < n_classes else ""
    return (
        f"{so_far}{count(len(tests))} of {plural(int(tests.asked.sum()), 'test')} placed, made from "
        f"{plural(overall.n_parents, 'real sample')}; {plural(found.n_test, 'original test sample')}. Intervals are "
        "95 %, of generated tests over the samples that they were made from."
    )


def _advice(found: Guided) -> str:
    near, (_, original) = found.accuracy(REGIONS[0]), found.test_accuracy
    if near.n and near.interval.upper < original.lower:
        return (
            "Even near the centroids fewer are right than of the original test samples. Look at these in the gallery "
            "first: either the model errs where its classes are clearest, or what lies there is no real sample."
        )
    return (
        "A generated test has its label by rule, and nobody has looked at it: judge those at the boundary in the "
        "gallery, and label next the real samples that the model is least confident of."
    )


def _by_region(found: Guided) -> tuple[str, str]:
    near, edge = (found.accuracy(region) for region in REGIONS)
    return (
        f"Near the centroids {_share(near)} are right ({_counted(near)})." if near.n else "",
        f"At the boundary {_share(edge)} lie on their own class's side ({_counted(edge)}). {SIDE}" if edge.n else "",
    )


def _unplaced(tests: GeneratedTests) -> str:
    if not tests.n_unplaced:
        return ""
    rows = tests.counts_table().sort_values("unplaced", ascending=False, kind="stable")
    rows = rows[rows["unplaced"] > 0]
    where = [
        f"{row['label']} ({row['region']}, {count(int(row['unplaced']))} of {count(int(row['asked']))})"
        for _, row in rows.iterrows()
    ]
    return f"No place was found for {plural(tests.n_unplaced, 'test')}: {listed(where)}."


def _table(grid: AccuracyGrid | None) -> str:
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


def _pictures(told: Reconstruction | None) -> str:
    if told is None:
        return ""
    ends = f" [{bare(told.interval.lower, 3)}, {bare(told.interval.upper, 3)}]" if told.interval.known else ""
    whole = (
        f"Decoded images are {bare(told.error, 3)}{ends} off (black 0, white 1; root mean square over "
        f"{plural(told.n, 'test image')}); the mean image would be {bare(told.baseline, 3)} off."
    )
    if told.interval.known and told.interval.upper >= told.baseline:
        return f"{whole} That is hardly better: the pictures say little. Train the decoder for longer."
    return whole


def _share(of: SharedAccuracy) -> str:
    return percent(of.accuracy, of.interval)


def _counted(of: SharedAccuracy) -> str:
    return f"n = {count(of.n)} from {plural(of.n_parents, 'sample')}"
