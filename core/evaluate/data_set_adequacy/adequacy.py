"""How do accuracy and robustness change with the size of the training set? (Kilinc & Uysal 2017, figures 6-10)

A model at one size is to its draws what a model is: so each is given to source robustness as a model of its own, and
sizes are compared as models are there, paired by draw and by source.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.data_set_adequacy.outlook import along, judged, learning_of, outlooks
from touchstone.core.evaluate.data_set_adequacy.plan import ALL
from touchstone.core.evaluate.data_set_adequacy.results import (
    Adequacy,
    AtSize,
    Curve,
    Estimate,
    Learning,
    Outlook,
    Step,
)
from touchstone.core.evaluate.fits import Fits, fits_of, usual_choices
from touchstone.core.evaluate.source_robustness import AccuracyIntervals
from touchstone.core.evaluate.source_robustness.by_metric import metrics_of_group
from touchstone.core.evaluate.source_robustness.counts import Group, Layout, Schemes, finished, groups
from touchstone.core.evaluate.source_robustness.estimate import (
    Measured,
    error_over_draws,
    error_over_sources,
    measure,
    rho_terms,
)
from touchstone.core.evaluate.source_robustness.expected import above_majority, expected_interval
from touchstone.core.evaluate.source_robustness.hardness import difference
from touchstone.core.evaluate.source_robustness.results import OF_RECALLS, MetricOnSources
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

DRAW = ["source_finder", "scheme", "clustering", "repeat"]
Trained = Mapping[str, Mapping[str | None, float]]
"""Training samples by model at a size and class, None for all."""


class Sized(NamedTuple):
    """What one model did at one size, measured on some labels: a point of a curve and what its errors are made from."""

    point: AtSize
    exclusive: Measured | None
    inclusive: Measured | None


def adequacy_of(
    trials: pd.DataFrame, *, n_per_class: Mapping[str, int], by_class: bool = True, positive: str | None = None
) -> Adequacy:
    """The curves of every model and source finder, overall, by metric and by class, as far as the trials go.

    `trials` are rows of an AdequacyPlan, `n_per_class` says how many samples of each class the data set has. Draws
    count once they are finished at every size of their model, so that sizes differ in nothing but the training part.
    Without curves `by_class` it takes a moment, also of a hundred classes. `positive` as in `metrics_on_sources`.

    Examples
    --------
    >>> same = {"model": "svm", "source_finder": "kmeans", "clustering": 0, "n_test": 20, "source": None,
    ...         "n_label": 20, "n_predicted": 20, "status": "ok"}
    >>> right = {(40, "source_exclusive"): (12, 14), (40, "source_inclusive"): (17, 19),
    ...          (0, "source_exclusive"): (16, 18), (0, "source_inclusive"): (19, 20)}
    >>> trials = pd.DataFrame(
    ...     [{**same, "scheme": scheme, "size": size, "n_train": size or 80, "repeat": repeat, "label": label,
    ...       "n_correct": n_correct}
    ...      for (size, scheme), counts in right.items() for repeat, n_correct in enumerate(counts)
    ...      for label in (None, "only")])
    >>> found = adequacy_of(trials, n_per_class={"only": 100})
    >>> step, = found.overall[0].steps
    >>> step.before.n, step.after.n, round(step.exclusive.value, 3)
    (40.0, 80.0, 0.2)
    """
    paired = _paired(finished(trials))
    whole = paired.loc[paired["label"].isna().to_numpy()]
    tried = whole.loc[:, ["model", "size"]].drop_duplicates().itertuples(index=False)
    names = {f"{model} at {size}": (str(model), int(size)) for model, size in tried}
    n_samples = sum(n_per_class.values())
    n_trained = _n_trained(paired, n_per_class)
    fits = fits_of(paired, ["source_finder", "model", "size"])
    known = paired.assign(
        model=paired["model"].astype(TEXTS) + " at " + paired["size"].astype(TEXTS),
        # What was not tested could have been trained on: so each size is told the data set's number of samples.
        n_train=pd.array(n_samples - paired["n_test"].to_numpy(dtype=np.int64), dtype="Int64"),
    )
    curves, by_metric = [], []
    of_finders = list(groups(known))
    for group in of_finders:
        finder = group.layout.source_finder
        n_of = {key: n_trained[finder, *names[key]] for key in group.models}
        trained = {key: fits.get((finder, *names[key])) for key in group.models}
        curves += _curves(group, names, n_of, trained, by_class=by_class, n_finders=len(of_finders))
        overall = [curve for curve in curves if (curve.source_finder, curve.label) == (finder, None)]
        by_metric += _curves_by_metric(group, overall, n_of, positive, n_finders=len(of_finders))
    is_whole = trials["label"].isna().to_numpy()
    return Adequacy(
        curves=tuple(curves),
        intervals=replace(
            _intervals(curves, whole, int(is_whole.sum())),
            metrics=_metrics(by_metric),
            chosen=usual_choices(paired, ["model", "source_finder"]),
        ),
        n_trials=int(is_whole.sum()),
        n_used=len(whole),
        n_failed=int((is_whole & (trials["status"] == "failed").to_numpy(dtype=bool)).sum()),
        majority=max(n_per_class.values()) / n_samples,
        chance=1 / len(n_per_class),
        by_metric=tuple(by_metric),
    )


def _paired(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of draws that are finished at every size that their model has been tried at."""
    whole = rows.loc[rows["label"].isna().to_numpy()]
    by_model = ["source_finder", "model"]
    n_sizes = whole.groupby(by_model)["size"].nunique()
    done = whole.groupby([*DRAW, "model"])["size"].nunique().reset_index()
    wanted = n_sizes.reindex(pd.MultiIndex.from_frame(done.loc[:, by_model])).to_numpy()
    complete = done.loc[done["size"].to_numpy() == wanted]
    names = [*DRAW, "model"]
    complete_keys = pd.MultiIndex.from_frame(complete.loc[:, names])
    return rows.loc[pd.MultiIndex.from_frame(rows.loc[:, names]).isin(complete_keys)]


def _n_trained(
    paired: pd.DataFrame, n_per_class: Mapping[str, int]
) -> dict[tuple[str, str, int], dict[str | None, float]]:
    """The mean number of samples trained on by source finder, model and size: of each label, and of all (None).

    Trials of older methods do not say it: they took equally many of each label, as far as what was left sufficed.
    """
    rows = paired.loc[paired["source"].isna().to_numpy()]
    if "n_label_train" in rows.columns:
        own = rows["n_label_train"]
    else:
        left = rows["label"].map(n_per_class).astype("float64") - rows["n_label"].astype("float64")
        own = left.where(rows["size"] == ALL, np.minimum(left, rows["size"].astype("float64") / len(n_per_class)))
    n = own.where(rows["label"].notna(), rows["n_train"]).astype("float64")
    means = n.groupby([rows[name] for name in ("source_finder", "model", "size", "label")], dropna=False).mean()
    trained: dict[tuple[str, str, int], dict[str | None, float]] = {}
    for (finder, model, size, label), mean in means.items():
        trained.setdefault((finder, model, int(size)), {})[None if pd.isna(label) else label] = float(mean)
    return trained


def _curves(
    group: Group,
    names: Mapping[str, tuple[str, int]],
    n_of: Trained,
    fits: Mapping[str, Fits | None],
    *,
    by_class: bool,
    n_finders: int,
) -> list[Curve]:
    """Of one source finder: for each model, the curve of all classes and then one for each class."""
    layout, sized_models = group.layout, []
    models = dict.fromkeys(names[key][0] for key in group.models)
    codes: list[int | None] = [None, *range(len(layout.labels) if by_class else 0)]
    for model in models:
        sizes = sorted(
            (key for key in group.models if names[key][0] == model),
            key=lambda key: (names[key][1] == ALL, names[key][1]),
        )
        sized = [
            [_sized(*names[key], n_of[key], fits[key], layout, group.models[key], code) for key in sizes]
            for code in codes
        ]
        above = above_majority(layout, group.models[sizes[-1]], INCLUSIVE)
        sized_models.append((model, sized, above))
    overall = outlooks([sized[0] for _, sized, _ in sized_models], layout, moderated=False, beside=n_finders)
    curves = []
    for (model, sized, above), of_all in zip(sized_models, overall, strict=True):
        outlooks_of_model = [of_all, *outlooks(sized[1:], layout, moderated=True)]
        of_model = []
        for code, points, outlook in zip(codes, sized, outlooks_of_model, strict=True):
            label = None if code is None else layout.labels[code]
            curve = replace(_curve(model, label, points, outlook, layout), steps=_steps(points, layout))
            of_model.append(replace(curve, above_majority=above) if label is None else curve)
        # Where nothing is known to be learned, accuracy rises with the mix of classes alone.
        unlearned = of_model[0].may_be_no_better and _mixed(of_model[0], n_of) > MOST_MIXED
        if unlearned:
            of_model = [replace(curve, is_comparable=False) for curve in of_model]
        curves += [curve if curve.shows_gain else _without_gains(curve) for curve in of_model]
    return curves


def _curve(model: str, label: str | None, points: Sequence[Sized], outlook: Outlook | None, layout: Layout) -> Curve:
    name = points[-1].point.about.words.name
    learning = {
        end: learning_of([(p.point.n, getattr(p, end)) for p in points], layout, drawn=label is None, name=name)
        for end in ("exclusive", "inclusive")
    }
    return Curve(
        model=model,
        source_finder=layout.source_finder,
        label=label,
        points=tuple(sized_point.point for sized_point in points),
        steps=(),
        outlook=None if outlook is None else along(outlook, learning[judged(layout.source_finder)]),
        learning=learning,
    )


# How do other metrics change with the size of the training set?
#
# The rarer a class is in training, the less often it is answered, and metrics move with that. Where parts mix classes
# too differently (those of older methods had as many samples of each class, and small ones one at least of a rare
# class), a metric has its values and its gap, and no gain.


MOST_MIXED, MOST_MIXED_BY_RECALLS = 1.15, 1.75
"""How many times as much one class may grow as another, from a size to the largest. Of metrics that rest on recalls
what one class wins the other loses. With nothing to gain (100 data sets a row), the gain of balanced accuracy is .1
points off at 1.75 and 2; sensitivity is .2 points off at 1.15, .6 at 1.5, 1.3 at 2 and 3 at 4."""


def _curves_by_metric(
    group: Group, overall: Sequence[Curve], n_of: Trained, positive: str | None, *, n_finders: int
) -> Iterator[Curve]:
    """Of one source finder: the curves of every model by every other metric, made as those of its accuracy."""
    mixed = max((_mixed(curve, n_of) for curve in overall), default=1.0)
    measured = {(each.metric, each.model): (each, ends) for each, ends in metrics_of_group(group, positive)}
    for metric in dict.fromkeys(metric for metric, _ in measured):
        sized_models = []
        for curve in overall:
            sized = []
            for point in curve.points:
                each, ends = measured[metric, _key(curve, point)]
                at_size = replace(each, model=curve.model, n_train=point.expected.n_train)
                sized.append(Sized(replace(point, metric=at_size), ends[EXCLUSIVE], ends[INCLUSIVE]))
            sized_models.append(_on_equal_draws(sized))
        of_models = outlooks(sized_models, group.layout, moderated=False, beside=n_finders)
        for curve, sized, outlook in zip(overall, sized_models, of_models, strict=True):
            made = _curve(curve.model, None, sized, outlook, group.layout)
            most = MOST_MIXED_BY_RECALLS if metric in OF_RECALLS else MOST_MIXED
            made = replace(made, is_comparable=mixed <= most)
            yield made if made.shows_gain else _without_gains(made)


def _mixed(curve: Curve, n_of: Trained) -> float:
    """How many times as much one class grows as another from some size to the largest; 1 where parts mix alike."""
    of_labels = [[n for label, n in n_of[_key(curve, at)].items() if label is not None] for at in curve.points]
    n = np.maximum(np.array(of_labels), 1.0)
    return float(np.exp(np.ptp(np.log(n[-1] / n), axis=1).max()))


def _key(curve: Curve, point: AtSize) -> str:
    return f"{curve.model} at {point.size}"


def _without_gains(curve: Curve) -> Curve:
    """What a metric is at each size, and the gap at the largest."""
    none = dict.fromkeys(("next_gain", "gain", "familiar_gain", "closing"), Estimate())
    return replace(
        curve,
        outlook=None if curve.outlook is None else replace(curve.outlook, **none),
        learning=dict.fromkeys(curve.learning, Learning(None, "")),
    )


def _on_equal_draws(sized: Sequence[Sized]) -> list[Sized]:
    """Without what cannot be compared: a metric that some size has no value of in a draw where the largest has one."""

    def alike(end: str, measured: Measured | None) -> Measured | None:
        last = getattr(sized[-1], end)
        if measured is None or last is None:
            return measured
        return measured if np.array_equal(np.isnan(measured.accuracy), np.isnan(last.accuracy)) else None

    ends = ("exclusive", "inclusive")
    return [each._replace(**{end: alike(end, getattr(each, end)) for end in ends}) for each in sized]


def _metrics(by_metric: Sequence[Curve]) -> tuple[MetricOnSources, ...]:
    return tuple(point.metric for curve in by_metric for point in curve.points if point.metric is not None)


def _sized(
    model: str,
    size: int,
    n_of: Mapping[str | None, float],
    fits: Fits | None,
    layout: Layout,
    schemes: Schemes,
    code: int | None,
) -> Sized:
    mask = np.ones(len(layout.labels), dtype=bool) if code is None else np.arange(len(layout.labels)) == code

    def measured(scheme: str) -> Measured | None:
        expected = measure(schemes[scheme], layout, scheme, mask) if scheme in schemes else None
        return None if expected is None or np.isnan(expected.value) else expected

    n = n_of[None if code is None else layout.labels[code]]
    expected = expected_interval(model, round(n_of[None]), layout, schemes, code=code)
    return Sized(AtSize(size, n, expected, fits=fits), measured(EXCLUSIVE), measured(INCLUSIVE))


def _steps(points: Sequence[Sized], layout: Layout) -> tuple[Step, ...]:
    steps = []
    for before, after in pairwise(points):
        x, i, x0, i0 = after.exclusive, after.inclusive, before.exclusive, before.inclusive
        if x is None or i is None or x0 is None or i0 is None:
            continue
        terms = {
            "exclusive": (x.value - x0.value, [(1.0, x), (-1.0, x0)]),
            "inclusive": (i.value - i0.value, [(1.0, i), (-1.0, i0)]),
            "rho": (_rho(x, i) - _rho(x0, i0), rho_terms(x, i) + rho_terms(x0, i0, -1.0)),
        }
        differences = {
            name: difference(value, error_over_draws(contrast), error_over_sources(contrast, layout))
            for name, (value, contrast) in terms.items()
        }
        steps.append(Step(before.point, after.point, **differences))
    return tuple(steps)


def _rho(exclusive: Measured, inclusive: Measured) -> float:
    return exclusive.value / inclusive.value if inclusive.value > 0 else float("nan")


def _intervals(curves: Sequence[Curve], whole: pd.DataFrame, n_trials: int) -> AccuracyIntervals:
    """The rows of all curves in the form of source robustness, and the accuracy of every draw."""
    n_correct, n_test = (whole[name].to_numpy(dtype=np.float64) for name in ("n_correct", "n_test"))
    names = ["model", "source_finder", "n_train", "scheme", "repeat", "clustering", "size"]
    return AccuracyIntervals(
        rows=tuple(point.expected for curve in curves for point in curve.points),
        held_out=(),
        accuracies=whole[names].assign(accuracy=n_correct / n_test).reset_index(drop=True),
        n_trials=n_trials,
        n_used=len(whole),
    )
