"""What does every entry of a registry promise? Laws that are asked of what is built in, and of what a plugin offers.

Whoever writes a plugin calls `check_plugin` in a test of their own (docs/plugins.md). A law is a function of an entry's
name and the entry; it raises AssertionError, with what was expected, where the entry does not keep it.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from math import isnan
from typing import Any, get_args

import numpy as np

from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import cluster_classes
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.data.tables.logs import LOGS, Log
from touchstone.core.evaluate.metric_estimates import estimate
from touchstone.core.evaluate.metric_functions import Counts, Scored
from touchstone.core.evaluate.metrics import METRICS, Metric
from touchstone.core.models import MODELS, Cancelled, fits
from touchstone.core.models.architectures import ARCHITECTURES
from touchstone.core.models.networks import PaperNetwork
from touchstone.core.models.threads import single_threaded
from touchstone.core.registry import GROUPS, Registry
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.represent.representations import Representation
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.split.scheme import NO_FOLD, FoldScheme
from touchstone.core.split.units import folds_of_units

Law = Callable[[str, Any], None]
KINDS: tuple[Kind, ...] = get_args(Kind)
_WORDS = ("red fox hen", "blue sky sea", "tall tree leaf", "old stone wall")


def check_plugin(package: str) -> str:
    """Ask of all that an installed package offers what Touchstone asks of its own entries, and say what that was.

    Parameters
    ----------
    package
        The name by which pip knows it. It must be installed, since Touchstone finds plugins by their entry points.

    Raises
    ------
    AssertionError
        With a line for each promise that is not kept, and for what Touchstone does not take at all.

    Examples
    --------
    >>> check_plugin("numpy")
    Traceback (most recent call last):
    AssertionError: numpy offers nothing: it has no entry point in touchstone.layouts, touchstone.metrics, ...
    """
    if not __debug__:
        raise RuntimeError("Laws are assertions, which `python -O` leaves out. Run this without -O.")
    try:
        plugin = distribution(package)
    except PackageNotFoundError:
        raise AssertionError(
            f"{package} is not installed here: pip install it first, with -e while you write."
        ) from None
    points = [point for point in plugin.entry_points if point.group.startswith("touchstone.")]
    assert points, f"{package} offers nothing: it has no entry point in {', '.join(GROUPS)}."
    broken, kept = [], []
    for point in points:
        where = f"{point.group}: {point.name}"
        if point.group not in GROUPS:
            broken.append(f"{where}: there is no such group; there are {', '.join(GROUPS)}.")
            continue
        registry = REGISTRIES[point.group]
        entry = registry.get(point.name)
        ours = (refusal for refusal in registry.refused if refusal.plugin == f"{plugin.name} {plugin.version}")
        refused = [refusal.why for refusal in ours if refusal.name == point.name]
        if refused or entry is None:
            broken.append(f"{where}: {refused[0] if refused else 'it is not there'}.")
            continue
        for law in LAWS[point.group]:
            problem = _problem_with(law, point.name, entry)
            if problem:
                broken.append(f"{where}: {law.__name__.replace('_', ' ')}: {problem}")
        kept.append(f"{where} ({len(LAWS[point.group])} laws)")
    assert not broken, "\n".join(broken)
    return "\n".join(kept)


def _problem_with(law: Law, name: str, entry: Any) -> str:
    """What is wrong with an entry, by a law; empty where it keeps it."""
    try:
        law(name, entry)
    except Exception as problem:
        kind = "" if isinstance(problem, AssertionError) else f"{type(problem).__name__}: "
        return f"{kind}{problem}".strip() or type(problem).__name__
    return ""


# Metrics. Each is asked about predictions with ties, absent classes, one class alone or a constant model.


def predictions_drawn(seed: int) -> Scored:
    """Predictions of two to nine classes, at random, with a chance of all that makes a metric undefined.

    Examples
    --------
    >>> predictions_drawn(0).n_classes
    8
    """
    rng = np.random.default_rng(seed)
    n_classes, n = int(rng.integers(2, 10)), int(rng.integers(1, 200))
    y = rng.integers(0, max(1, n_classes - seed % 3), n)
    if seed % 7 == 0:
        y[:] = y[0]
    raw = rng.gamma(0.3, size=(n, n_classes)) + 0.4 * np.eye(n_classes)[y]
    proba = raw / raw.sum(axis=1, keepdims=True)
    if seed % 2:
        proba = np.round(proba, 1) + 1e-9
        proba /= proba.sum(axis=1, keepdims=True)
    y_pred = proba.argmax(axis=1)
    if seed % 11 == 0:
        y_pred[:] = y_pred[0]
    return Scored(y, y_pred, n_classes, proba, int(rng.integers(n_classes)))


def whole_sets() -> Iterator[Scored]:
    """Predictions in which every class is there and was predicted, so that no metric jumps where one comes in."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n_classes = 2 + seed % 3
        y = rng.permutation(np.arange(60) % n_classes)
        raw = rng.gamma(0.5, size=(60, n_classes)) + 0.6 * np.eye(n_classes)[y]
        proba = raw / raw.sum(axis=1, keepdims=True)
        scored = Scored(y, proba.argmax(axis=1), n_classes, proba, int(rng.integers(n_classes)))
        if (np.bincount(scored.y_pred, minlength=n_classes) > 2).all():
            yield scored


def metric_has_the_name_of_its_entry(name: str, metric: Metric) -> None:
    """What a plan calls it and what it calls itself are the same."""
    assert metric.name == name, f"the metric calls itself {metric.name!r}"
    forms = (metric.function, metric.of_counts, metric.of_samples, metric.saved_of, metric.share)
    assert any(form is not None for form in forms), "it has no function, and nothing that says what it is"


def metric_stays_in_its_range(name: str, metric: Metric) -> None:
    """A value is a number between the lowest and the highest, or NaN where it is not defined."""
    n_known = 0
    for seed in range(60):
        scored = predictions_drawn(seed)
        value = metric.value(scored)
        assert isinstance(value, float), f"its value is {type(value).__name__}, not float"
        highest = metric.highest[scored.n_classes > 2]
        inside = metric.lowest - 1e-9 <= value <= highest + 1e-9
        assert isnan(value) or inside, f"{value} lies outside of its range, {metric.lowest} to {highest}"
        n_known += not isnan(value)
    assert n_known > 25, f"of 60 sets it is defined on {n_known} alone"


def metric_does_not_know_the_order_of_samples(name: str, metric: Metric) -> None:
    """It gives the same of the same samples in another order, and leaves these as they were."""
    for seed in range(12):
        scored = predictions_drawn(seed)
        before = _of_rows(scored, np.arange(scored.n))
        value = metric.value(scored)
        order = np.random.default_rng(0).permutation(scored.n)
        turned = metric.value(_of_rows(scored, order))
        np.testing.assert_allclose(turned, value, atol=1e-9, err_msg="the order of samples matters")
        for field in ("y_true", "y_pred", "proba"):
            now, then = getattr(scored, field), getattr(before, field)
            np.testing.assert_array_equal(now, then, err_msg=f"it changes {field}, which it is given")


def _of_rows(scored: Scored, rows: np.ndarray) -> Scored:
    """The same of some rows, each as often as it stands there: copies of what there is."""
    assert scored.proba is not None
    return replace(scored, y_true=scored.y_true[rows], y_pred=scored.y_pred[rows], proba=scored.proba[rows])


def metric_is_best_of_what_is_right(name: str, metric: Metric) -> None:
    """A model that is right throughout, and sure of it, is no worse than another: `larger_is_better` is right."""
    sign = 1 if metric.larger_is_better else -1
    for scored in whole_sets():
        right = replace(scored, y_pred=scored.y_true, proba=np.eye(scored.n_classes)[scored.y_true])
        best, value = metric.value(right), metric.value(scored)
        fine = isnan(best) or isnan(value) or sign * best >= sign * value - 1e-9
        assert fine, f"of a perfect model it is {best}, of another {value}: is larger better?"


def metric_says_the_same_in_each_of_its_forms(name: str, metric: Metric) -> None:
    """Where it is a function of counts and one of samples, both are the same, of weighted samples too."""
    if metric.function is None or metric.of_counts is None:
        return
    rng = np.random.default_rng(0)
    for scored in whole_sets():
        weights = rng.integers(1, 5, scored.n).astype(float)
        hit = scored.y_true == scored.y_pred
        columns = ((scored.y_true[hit], weights[hit]), (scored.y_true, weights), (scored.y_pred, weights))
        counts = Counts(*(np.bincount(labels, each, minlength=scored.n_classes) for labels, each in columns))
        ours = float(np.real(metric.of_counts(counts, scored.positive)))
        np.testing.assert_allclose(ours, metric.function(scored, weights), atol=1e-9, err_msg="its forms differ")


def metric_knows_how_much_each_sample_moves_it(name: str, metric: Metric) -> None:
    """Influences sum to nothing, and are what more copies of a sample come to."""
    if not metric.has_interval:
        return
    n_copies = 2000
    for scored in whole_sets():
        if isnan(metric.value(scored)):
            continue
        moves, value = metric.influences(scored), metric.value(scored)
        assert moves.shape == (scored.n,), f"it gives influences of shape {moves.shape}, not one per sample"
        assert abs(moves.sum()) < 1e-6, f"influences sum to {moves.sum()}, not to nothing"
        for row in range(0, scored.n, 17):
            rows = np.concatenate([np.tile(np.arange(scored.n), n_copies), [row] * (n_copies // 20)])
            change = 20 * (metric.value(_of_rows(scored, rows)) - value)
            close = 0.05 * abs(change) + 2e-3 * max(1.0, abs(value))
            assert abs(moves[row] - change) < close, f"a sample moves it by {change:.4f}, and not by {moves[row]:.4f}"


def metric_has_intervals_that_hold_it(name: str, metric: Metric) -> None:
    """An interval holds the value and stays where the metric lives, or there is a reason why there is none."""
    for seed in range(60):
        interval_holds(metric, predictions_drawn(seed))


def interval_holds(metric: Metric, scored: Scored) -> None:
    """Assert that the interval of a metric holds its value and lies in its range, or that there is a reason for none.

    Examples
    --------
    >>> interval_holds(METRICS["accuracy"], predictions_drawn(1))
    """
    made = estimate(metric, scored)
    assert made.interval.known or made.why_not, "there is no interval, and no reason"
    if made.interval.known:
        ends = made.interval.lower, made.interval.upper
        assert ends[0] - 1e-9 <= made.value <= ends[1] + 1e-9, f"{ends} does not hold {made.value}"
        inside = metric.lowest <= ends[0] <= ends[1] <= metric.highest[scored.n_classes > 2]
        assert inside, f"{ends} is not where the metric lives"


# Models. The papers' networks are trained for one epoch on few samples: they keep promises, but learn little.


def kinds_of(model: type) -> list[Kind]:
    """What a model can be trained on.

    Examples
    --------
    >>> kinds_of(MODELS["cnn_1"])
    ['image']
    """
    y = np.array([0, 1])
    sets = ((kind, easy_inputs(kind, y, side=side_of(model))) for kind in KINDS)
    return [kind for kind, x in sets if fits(model, Dataset("toy", kind, x, y, ("ant", "bee"), ["a", "b"]))]


def side_of(model: type) -> int:
    """How many pixels a side of a small image has that a model can take.

    Examples
    --------
    >>> side_of(MODELS["vgg19"])
    17
    """
    return max(6, ARCHITECTURES[model.architecture].smallest) if issubclass(model, PaperNetwork) else 6


def quick(model: type) -> Callable[..., Any]:
    """The model as it is, or, of the papers' networks, trained for a single epoch: no time to become good."""
    return partial(model, n_epochs=1, batch_size=32) if issubclass(model, PaperNetwork) else model


def easy_inputs(kind: str, y: np.ndarray, seed: int = 0, side: int = 6) -> np.ndarray:
    """Inputs from which the class (0 to 3) is easily told; read-only, as in a data set.

    Examples
    --------
    >>> easy_inputs("text", np.array([0]), seed=1)
    array(['fox fox hen hen red red'], dtype=object)
    """
    rng = np.random.default_rng(seed)
    if kind == "text":
        x = np.array([" ".join(rng.choice(_WORDS[label].split(), 6)) for label in y], dtype=object)
    elif kind == "tabular":
        x = rng.normal(size=(len(y), 5)) + 4 * np.eye(5)[y]
        x[:, 1] *= 1000  # columns of very different size, and one that never changes
        x[:, 4] = 7.0
    else:
        x = rng.uniform(0, 0.3, size=(len(y), side, side, 1)).astype(np.float32)
        x[np.arange(len(y)), y] += 0.7
    x.flags.writeable = False
    return x


def scores_of(fitted: Any, x: np.ndarray) -> np.ndarray:
    """Probabilities, or decision values of a model that has none."""
    return fitted.predict_proba(x) if hasattr(fitted, "predict_proba") else fitted.decision_function(x)


def _few(model: type, n: int) -> int:
    """So many samples, or, for the papers' networks, few: the largest take a second for a batch."""
    return min(n, 4) if issubclass(model, PaperNetwork) else n


def _learned(model: type, right: np.ndarray) -> None:
    share = float(right.mean())
    assert issubclass(model, PaperNetwork) or share > 0.9, f"of what is easily told it gets {share:.0%} right"


def model_has_a_label_and_numbers_with_defaults(name: str, model: type) -> None:
    """Its hyperparameters are numbers with defaults, and no other model is called so."""
    for field in fields(model):
        assert field.default is not MISSING, f"{field.name} has no default"
        assert isinstance(field.default, int | float), f"the default of {field.name} is no number"
    assert model.label.strip()
    labels = [other.label for other in MODELS.values()]
    assert labels.count(model.label) == 1, f"another model is called {model.label!r}"
    assert hasattr(model, "predict_proba") or hasattr(model, "decision_function"), (
        "it gives neither probabilities nor decision values"
    )
    assert kinds_of(model), "it fits no kind of data"
    assert len(kinds_of(model)) == len(KINDS) or model.needs.strip(), "`needs` says what it takes, where not all fits"


def model_learns_and_gives_every_class_a_column(name: str, model: type) -> None:
    """It learns what is easily told, of every kind of data that it takes, and gives each class a column."""
    for kind in kinds_of(model):
        y = np.tile([0, 1, 2], _few(model, 30))
        y.flags.writeable = False
        x, x_new = (easy_inputs(kind, y, seed=seed, side=side_of(model)) for seed in (0, 1))
        fitted = quick(model)().fit(x, y, seed=0, n_classes=3)
        assert isinstance(fitted, model), "`fit` gives the model itself"
        predicted = fitted.predict(x_new)
        assert predicted.shape == y.shape
        assert np.issubdtype(predicted.dtype, np.integer), f"it predicts {predicted.dtype}, not codes"
        assert scores_of(fitted, x_new).shape == (len(y), 3), "each class has a column"
        _learned(model, predicted == y)
        _learned(model, scores_of(fitted, x_new).argmax(axis=1) == y)


def model_bears_absent_classes(name: str, model: type) -> None:
    """Classes that the training part lacks are never predicted: probability 0, or a decision of minus infinity."""
    for kind in kinds_of(model):
        for present in ((0, 2), (1, 3), (0, 1, 3)):
            y = np.tile(present, _few(model, 24))
            x = easy_inputs(kind, y, side=side_of(model))
            fitted = quick(model)().fit(x, y, seed=0, n_classes=5)
            everything = easy_inputs(kind, np.tile([0, 1, 2, 3], 5), seed=1, side=side_of(model))
            assert set(fitted.predict(everything)) <= set(present), "it predicts a class that it has not seen"
            values = scores_of(fitted, everything)
            absent = sorted({0, 1, 2, 3, 4} - set(present))
            assert values.shape == (20, 5)
            none = 0 if hasattr(fitted, "predict_proba") else -np.inf
            assert (values[:, absent] == none).all(), f"classes without a sample have {none}"
            assert np.isfinite(values[:, list(present)]).all()
            _learned(model, fitted.predict(x) == y)
            _learned(model, scores_of(fitted, x).argmax(axis=1) == y)


def model_predicts_a_single_class_always(name: str, model: type) -> None:
    """A training part of one class is no error."""
    for kind in kinds_of(model):
        y = np.full(20, 2)
        fitted = quick(model)().fit(easy_inputs(kind, y, side=side_of(model)), y, seed=0, n_classes=4)
        x_new = easy_inputs(kind, np.tile([0, 1, 2, 3], 3), side=side_of(model))
        assert (fitted.predict(x_new) == 2).all()
        assert (scores_of(fitted, x_new).argmax(axis=1) == 2).all()


def model_has_probabilities_that_agree(name: str, model: type) -> None:
    """Probabilities sum to 1 and are highest for what is predicted, on data that are hard, too."""
    if not hasattr(model, "predict_proba"):
        return
    rng, kinds, side = np.random.default_rng(3), kinds_of(model), side_of(model)
    y = rng.integers(0, 4, _few(model, 120))
    if "tabular" in kinds:
        x = easy_inputs("tabular", y) + rng.normal(scale=3, size=(len(y), 5))  # hard, so that the classes mix
    elif "image" in kinds:
        x = rng.random((len(y), side, side, 1), dtype=np.float32)
    else:
        x = easy_inputs("text", rng.permutation(y))
    fitted = quick(model)().fit(x, y, seed=0)
    proba = fitted.predict_proba(x)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9, err_msg="probabilities sum to 1")
    assert proba.min() >= 0, "a probability is negative"
    np.testing.assert_array_equal(proba.argmax(axis=1), fitted.predict(x), err_msg="it predicts what is not likeliest")


def model_is_the_same_for_the_same_seed(name: str, model: type) -> None:
    """The same seed gives the same model, and no state of numpy or torch moves."""
    import torch

    for kind in kinds_of(model):
        y = np.tile([0, 1, 2], _few(model, 20))
        x, x_new = (easy_inputs(kind, y, seed=seed, side=side_of(model)) for seed in (0, 1))
        np.random.seed(5)  # noqa: NPY002 - the global state is what is tested: fresh from a seed, one number changes it all
        numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002 - as above
        torch_state, threads = torch.get_rng_state(), torch.get_num_threads()
        first = scores_of(quick(model)().fit(x, y, seed=11), x_new)
        torch.rand(3)
        np.random.default_rng().random()
        moved = torch.get_rng_state()
        second = scores_of(quick(model)().fit(x, y, seed=11), x_new)
        np.testing.assert_array_equal(first, second, err_msg="the same seed gives another model")
        np.testing.assert_array_equal(np.random.get_state()[1], numpy_state, err_msg="numpy's state moved")  # noqa: NPY002 - as above
        assert torch.equal(torch.get_rng_state(), moved), "torch's state moved"
        assert not torch.equal(moved, torch_state)
        assert torch.get_num_threads() == threads, "torch has another number of threads"


def model_takes_the_highest_code_for_the_last_class(name: str, model: type) -> None:
    """Without `n_classes` the highest code decides how many there are."""
    y, kind = np.tile([0, 3], _few(model, 30)), kinds_of(model)[-1]
    x = easy_inputs(kind, y, side=side_of(model))
    assert scores_of(quick(model)().fit(x, y, seed=0), x).shape == (len(y), 4)


def model_stops_when_asked_to(name: str, model: type) -> None:
    """It raises Cancelled where `should_stop()` is true, and leaves no trace."""
    import torch

    for kind in kinds_of(model):
        y = np.tile([0, 1], _few(model, 20))
        x, threads = easy_inputs(kind, y, side=side_of(model)), torch.get_num_threads()
        try:
            quick(model)().fit(x, y, seed=0, should_stop=lambda: True)
        except Cancelled:
            pass
        else:
            raise AssertionError("it goes on though `should_stop()` is true")
        assert torch.get_num_threads() == threads
        _learned(model, quick(model)().fit(x, y, seed=0, should_stop=lambda: False).predict(x) == y)


def model_learns_of_two_samples(name: str, model: type) -> None:
    """Fewer samples than anyone hopes for are no error."""
    y, kind = np.array([0, 1]), kinds_of(model)[-1]
    x = easy_inputs(kind, y, side=side_of(model))
    assert set(quick(model)().fit(x, y, seed=0).predict(x)) <= {0, 1}


# Representations.


def toy_dataset(kind: str, *, vectors: bool = True, flipped: bool = False) -> Dataset:
    """Twenty samples of two classes, or the same with the other labels; perhaps with vectors of their own.

    Examples
    --------
    >>> toy_dataset("image").x.shape
    (20, 4, 4, 1)
    """
    rng = np.random.default_rng(0)
    x = {
        "image": rng.random((20, 4, 4, 1)).astype(np.float32),
        "tabular": rng.normal(size=(20, 3)) * [1, 100, 0.01],
        "text": np.array([" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(20)], dtype=object),
    }[kind]
    y = np.tile([0, 1], 10)
    data = Dataset("toy", kind, x, 1 - y if flipped else y, ("ant", "bee"), [str(row) for row in range(20)])
    return data.with_vectors(rng.normal(size=(20, 2)), "mine") if vectors else data


def _encoded(entry: Representation, data: Dataset) -> np.ndarray:
    with single_threaded():
        return np.asarray(entry.encode(data))


def representation_gives_a_vector_per_sample(name: str, entry: Representation) -> None:
    """One finite vector per sample, always the same ones, and not the same for all."""
    assert entry.kinds, "it fits no kind of data"
    for kind in entry.kinds:
        assert kind in KINDS, f"there is no kind {kind!r}; there are {', '.join(KINDS)}"
        features = _encoded(entry, toy_dataset(kind))
        assert features.ndim == 2, f"features have {features.ndim} dimensions, not 2"
        assert features.shape[0] == 20, f"20 samples have {features.shape[0]} vectors"
        assert np.isfinite(features).all(), "a feature is missing or infinite"
        assert np.ptp(features, axis=0).any(), "features tell nothing apart"
        again = _encoded(entry, toy_dataset(kind))
        np.testing.assert_array_equal(features, again, err_msg="the same samples have other features")


def representation_says_whether_it_saw_labels(name: str, entry: Representation) -> None:
    """Labels play a part exactly where `label_informed` and the title say so."""
    for kind in entry.kinds:
        same = np.array_equal(_encoded(entry, toy_dataset(kind)), _encoded(entry, toy_dataset(kind, flipped=True)))
        assert same != entry.label_informed, "labels play a part, or not, and `label_informed` says otherwise"
    assert ("label-informed" in entry.title) == entry.label_informed, "the title says “label-informed”, or should"


# Source finders. One clusters the features of a class, or trains a network on a whole data set.


def blobs(n_classes: int, n_sources: int, *, n_each: int = 12, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Features, classes and sources that stand well apart, in random row order.

    Examples
    --------
    >>> features, y, source = blobs(2, 3)
    >>> features.shape, len(set(source.tolist()))
    ((72, 6), 6)
    """
    rng = np.random.default_rng(seed)
    source = rng.permutation(np.repeat(np.arange(n_classes * n_sources), n_each))
    centres = rng.uniform(-10, 10, size=(n_classes * n_sources, 6))
    return centres[source] + rng.normal(scale=0.05, size=(len(source), 6)), source // n_sources, source


def finder_has_its_own_title_and_a_way_to_work(name: str, finder: SourceFinder) -> None:
    """It clusters or trains, and each of its names is its own."""
    assert (finder.cluster is None) == finder.trains
    for word in ("title", "short", "in_sentences"):
        names = [getattr(other, word) for other in SOURCE_FINDERS.values()]
        assert names.count(getattr(finder, word)) == 1, f"another finder has the same `{word}`"
        assert getattr(finder, word).strip()
    assert finder.version >= 1


def finder_numbers_sources_class_by_class(name: str, finder: SourceFinder) -> None:
    """Ids are unique over classes, numbered class by class, and all used."""
    if finder.cluster is None:
        return
    for seed in range(12):
        n_classes, n_sources = 1 + seed % 4, 2 + seed % 3
        features, y, _ = blobs(n_classes, n_sources, n_each=6, seed=seed)
        rng = np.random.default_rng(seed)
        found = cluster_classes(features, y, finder.cluster, n_sources=n_sources, rng=rng)
        used = np.unique(found).tolist()
        assert used == list(range(n_classes * n_sources)), f"clusters of a class are 0 to {n_sources - 1}; not {used}"
        np.testing.assert_array_equal(found // n_sources, y, err_msg="a source belongs to two classes")


def finder_finds_what_stands_apart(name: str, finder: SourceFinder) -> None:
    """Sources that nobody could miss are found."""
    if finder.cluster is None:
        return
    features, y, source = blobs(3, 2)
    found = cluster_classes(features, y, finder.cluster, n_sources=2, rng=np.random.default_rng(1))
    pairs = len({*zip(source.tolist(), found.tolist(), strict=True)})
    assert pairs == 6, "sources that stand well apart are mixed"


def finder_finds_the_same_for_the_same_seed(name: str, finder: SourceFinder) -> None:
    """What is drawn at random comes from `rng`, or the seed, alone."""
    if finder.cluster is not None:
        features, y, _ = blobs(2, 3, seed=5)
        features = features + np.random.default_rng(0).normal(scale=5, size=features.shape)
        first, again = (
            cluster_classes(features, y, finder.cluster, n_sources=3, rng=np.random.default_rng(4)) for _ in range(2)
        )
        np.testing.assert_array_equal(first, again, err_msg="the same seed finds other sources")
        return
    assert finder.train is not None
    data = _trained_on(finder)
    first, again = (finder.train(data, n_sources=2, seed=1).sources for _ in range(2))
    np.testing.assert_array_equal(first, again, err_msg="the same seed finds other sources")
    for source in np.unique(first):
        assert len(np.unique(data.y[first == source])) == 1, "a source belongs to two classes"


def finder_that_trains_stops_when_asked_to(name: str, finder: SourceFinder) -> None:
    """It raises Cancelled where `should_stop()` is true."""
    if finder.train is None:
        return
    try:
        finder.train(_trained_on(finder), n_sources=2, should_stop=lambda: True)
    except Cancelled:
        return
    raise AssertionError("it goes on though `should_stop()` is true")


def _trained_on(finder: SourceFinder) -> Dataset:
    """Small data that a finder takes."""
    y = np.tile([0, 1], 30)
    ids = [str(row) for row in range(60)]
    sets = (Dataset("toy", kind, easy_inputs(kind, y), y, ("ant", "bee"), ids) for kind in reversed(KINDS))
    data = next(filter(finder.fits, sets), None)
    assert data is not None, "it fits no small data of any kind"
    return data


# Splitters: schemes that cut all samples into folds.


def samples_to_cut() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels and sources of sixty samples.

    Examples
    --------
    >>> [len(each) for each in samples_to_cut()]
    [60, 60, 60]
    """
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [20, 17, 23]))
    sources = rng.integers(0, 5, size=60)
    return np.column_stack([y + rng.normal(size=60), sources + rng.normal(size=60)]), y, sources


def read_by(scheme: Any, x: np.ndarray) -> np.ndarray:
    """What a scheme reads as X: one number per row where it needs one."""
    return x[:, :1] if scheme.needs == "values" else x


def splitter_is_a_frozen_dataclass(name: str, scheme: type) -> None:
    """It has the fields that all have, first and with the usual defaults, and facts and a column of its own."""
    made = scheme()
    assert is_dataclass(made), "it is no dataclass"
    own = [field.name for field in fields(made)]
    assert own[:2] == ["n_folds", "seed"], f"its first fields are {own[:2]}, not n_folds and seed"
    assert (made.n_folds, made.seed) == (5, 0), "it makes 5 folds from seed 0, unless something else is asked for"
    needs = {"features", "labels", "groups", "values", "nothing"}
    assert made.needs in needs, f"it needs {made.needs!r}, which is none of {', '.join(sorted(needs))}"
    columns = [other.column for other in FOLD_SCHEMES.values()]
    assert columns.count(made.column) == 1, f"another scheme is called {made.column!r} in files"
    try:
        made.seed = 1
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("its fields can be changed: write @dataclass(frozen=True)")
    assert hash(made) == hash(scheme())


def splitter_serves_in_scikit_learn(name: str, scheme: type) -> None:
    """In `cross_val_score`, and in a search over frames, series and names."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score

    x, y, sources = samples_to_cut()
    x, made = read_by(scheme, x), scheme(n_folds=4, seed=2)
    scores = cross_val_score(LogisticRegression(), x, y, groups=sources, cv=made)
    by_hand = [LogisticRegression().fit(x[a], y[a]).score(x[b], y[b]) for a, b in made.split(x, y, sources)]
    assert scores.tolist() == by_hand
    n_splits = made.get_n_splits(x, y, sources)
    assert len(scores) == n_splits, f"`get_n_splits` says {n_splits}, and there are {len(scores)} splits"

    names, frame = pd.Series(np.array(["ant", "bee", "cat"])[y]), pd.DataFrame(x).rename(columns=str)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=check_cv(scheme(n_folds=3)))
    search.fit(frame, names, groups=pd.Series(sources).astype(str))
    assert search.n_splits_ == scheme(n_folds=3).get_n_splits(frame, names, sources)


def splitter_takes_lists_and_names(name: str, scheme: type) -> None:
    """They give the same folds as arrays and numbers."""
    x, y, sources = samples_to_cut()
    made, x = scheme(n_folds=3, seed=4), read_by(scheme, x)
    labels = np.array(["ant", "bee", "cat"])[y].tolist()
    writers = np.array(["ann", "bob", "cem", "dan", "eve"])[sources].tolist()
    again = made.assign(x.tolist(), labels, writers)
    np.testing.assert_array_equal(made.assign(x, y, sources), again, err_msg="lists or names give other folds")


def splitter_checks_its_fields(name: str, scheme: type) -> None:
    """A single fold and a negative seed are refused in words, by a DataError."""
    for field in ({"n_folds": 1}, {"seed": -1}):
        _refused(f"{field}", scheme, **field)


def splitter_refuses_what_it_cannot_read(name: str, scheme: type) -> None:
    """What it needs and is not there, is no number or never varies is refused in words, by a DataError."""
    x, y, sources = samples_to_cut()
    made = scheme(n_folds=3)
    if scheme.label_exact:
        _refused("labels that are not there", made.assign, read_by(scheme, x), None, sources)
    if scheme.needs == "features":
        _refused("features that are not there", made.assign, None, y)
        _refused("features that are words", made.assign, np.array([["a", "b"]] * 60), y)
        _refused("a missing feature", made.assign, np.where(np.arange(60)[:, None] == 7, np.nan, x), y)
    if scheme.needs == "groups":
        _refused("sources that are not there", made.assign, x, y)
        _refused("a missing source", made.assign, x, y, np.where(np.arange(60) == 3, np.nan, sources))


def _refused(what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    try:
        function(*arguments, **named)
    except DataError:
        return
    except Exception as problem:
        raise AssertionError(f"{what}: {type(problem).__name__} in the place of a DataError") from problem
    raise AssertionError(f"{what}: it is not refused")


def splitter_keeps_what_it_promises(name: str, scheme: type) -> None:
    """Whatever the data, the number of folds and the seed: folds are whole, the same again, and as even as is said."""
    n_made = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n_folds = int(rng.integers(2, 8))
        n_rows = int(rng.integers(max(n_folds, 12), 40))
        x = rng.integers(0, 4, size=(n_rows, 2)).astype(float) if seed % 3 == 0 else rng.normal(size=(n_rows, 2))
        x[0] = x[1] + 1.0  # never all the same
        x = x[:, 0] + 10 * x[:, 1] if scheme.needs == "values" else x
        y, sources = rng.choice([0, 0, 0, 1, 1, 2, 3], n_rows), rng.integers(0, 9, n_rows)
        try:
            folds_as_promised(scheme(n_folds=n_folds, seed=seed), x, y, sources)
        except DataError:
            continue
        n_made += 1
    assert n_made >= 10, f"of 30 small data sets it refuses {30 - n_made}"


def folds_as_promised(scheme: FoldScheme, x: np.ndarray, y: np.ndarray, sources: np.ndarray) -> None:
    """Assert what a scheme promises of its folds of some data; DataError where it refuses these.

    Examples
    --------
    >>> folds_as_promised(FOLD_SCHEMES["random_folds"](), *samples_to_cut())
    """
    folds, n_splits = scheme.assign(x, y, sources), scheme.get_n_splits(x, y, sources)
    assert folds.shape == y.shape, f"there are {folds.shape} folds of {y.shape} rows"
    assert folds.dtype == np.int64, f"folds are {folds.dtype}, not int64"
    there, expected = set(folds.tolist()), {0, NO_FOLD} if scheme.single else set(range(n_splits))
    assert there == expected, f"folds are called {sorted(there)}, not {sorted(expected)}"
    np.testing.assert_array_equal(folds, scheme.assign(x, y, sources), err_msg="the same seed gives other folds")

    splits = list(scheme.split(x, y, sources))
    assert len(splits) == n_splits
    for fold, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(test, np.flatnonzero(folds == fold))
        np.testing.assert_array_equal(train, np.flatnonzero(folds != fold))

    table = np.zeros((y.max() + 1, n_splits), dtype=int)  # rows of each label (row) in each fold (column)
    np.add.at(table, (y[folds != NO_FOLD], folds[folds != NO_FOLD]), 1)
    if scheme.same_size and not scheme.single:
        assert np.ptp(table.sum(axis=0)) <= 1, "folds differ by more than one sample, though `same_size` says no"
    if scheme.single:
        n_test = min(max(round(len(y) / scheme.n_folds), 1), len(y) - 1)
        assert table.sum() == n_test, f"the test part has {table.sum()} samples, not {n_test}"
        assert (np.abs(table[:, 0] - np.bincount(y) * n_test / len(y)) < 1).all(), "labels are not those of the whole"
    elif scheme.label_exact:
        assert np.ptp(table, axis=1).max() <= 1, "a label is spread unevenly, though `label_exact` says no"


def splitter_keeps_units_whole(name: str, scheme: type) -> None:
    """No unit is in two folds, and where each sample is one, nothing changes."""
    x, y, sources = samples_to_cut()
    x, made = read_by(scheme, x), scheme(n_folds=3)
    as_it_is, by_unit = (folds_of_units(made, units, x, y, sources) for units in (None, np.arange(60)))
    np.testing.assert_array_equal(by_unit, as_it_is, err_msg="units of one sample give other folds")
    units = np.arange(60) // 2
    folds = folds_of_units(made, units, x, y[units * 2], sources[units * 2])
    assert all(len(set(folds[units == unit].tolist())) == 1 for unit in range(30)), "a unit is in two folds"


# Layouts: logs of evaluations, which are lists of objects.


def layout_knows_its_own_log(name: str, log: Log) -> None:
    """Its example is seen as its own log by itself alone, and by one sample."""
    assert log.example, "it has no example: a few samples as its harness writes them"
    for other_name, other in LOGS.items():
        seen = all(map(other.is_it, log.example))
        assert seen == (other_name == name), f"its example is {'no' if other_name == name else 'also a'} {other_name}"
    for sample in ({}, {"id": 1, "label": "cat"}, {"scores": None, "doc": 3}, {"target": [], "choices": "x"}):
        assert not log.is_it(sample), f"it takes {sample} for its own"


def layout_gives_a_row_per_sample(name: str, log: Log) -> None:
    """Each row has an id, the truth (`gold`), and what was `predicted`."""
    rows = log.read([dict(sample) for sample in log.example])
    assert len(rows) == len(log.example), f"{len(log.example)} samples become {len(rows)} rows"
    for row in rows:
        assert {"id", "gold", "predicted"} <= row.keys(), f"a row has {', '.join(row)}, and needs id, gold, predicted"
        assert row.get("_right") in (True, False, None), "`_right` says whether a scorer took the answer as right"


REGISTRIES: dict[str, Registry[Any]] = {
    registry.group: registry for registry in (LOGS, METRICS, MODELS, REPRESENTATIONS, SOURCE_FINDERS, FOLD_SCHEMES)
}
"""Every registry that plugins add to, by the group of its entry points."""
LAWS: dict[str, tuple[Law, ...]] = {
    LOGS.group: (layout_knows_its_own_log, layout_gives_a_row_per_sample),
    METRICS.group: (
        metric_has_the_name_of_its_entry,
        metric_stays_in_its_range,
        metric_does_not_know_the_order_of_samples,
        metric_is_best_of_what_is_right,
        metric_says_the_same_in_each_of_its_forms,
        metric_knows_how_much_each_sample_moves_it,
        metric_has_intervals_that_hold_it,
    ),
    MODELS.group: (
        model_has_a_label_and_numbers_with_defaults,
        model_learns_and_gives_every_class_a_column,
        model_bears_absent_classes,
        model_predicts_a_single_class_always,
        model_has_probabilities_that_agree,
        model_is_the_same_for_the_same_seed,
        model_takes_the_highest_code_for_the_last_class,
        model_stops_when_asked_to,
        model_learns_of_two_samples,
    ),
    REPRESENTATIONS.group: (representation_gives_a_vector_per_sample, representation_says_whether_it_saw_labels),
    SOURCE_FINDERS.group: (
        finder_has_its_own_title_and_a_way_to_work,
        finder_numbers_sources_class_by_class,
        finder_finds_what_stands_apart,
        finder_finds_the_same_for_the_same_seed,
        finder_that_trains_stops_when_asked_to,
    ),
    FOLD_SCHEMES.group: (
        splitter_is_a_frozen_dataclass,
        splitter_serves_in_scikit_learn,
        splitter_takes_lists_and_names,
        splitter_checks_its_fields,
        splitter_refuses_what_it_cannot_read,
        splitter_keeps_what_it_promises,
        splitter_keeps_units_whole,
    ),
}
"""What is asked of an entry of each registry."""
