"""What does a model keep on held-out sources, by metrics other than accuracy? From the trials that there are.

Trials count by class who is right and what was answered, so every metric that is a share of such counts has a value in
each draw. Its errors over draws and over sources are made as those of an accuracy (`estimate`). Of more than two
classes there are those of all classes together.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from touchstone.core.data import DataError
from touchstone.core.evaluate.metric_estimates import positive_class
from touchstone.core.evaluate.metric_functions import Counts as CountsByClass
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, Metric, best_guess, metrics_of_counts
from touchstone.core.evaluate.source_robustness.counts import Counts as CountsOfTrials
from touchstone.core.evaluate.source_robustness.counts import Group, Layout, groups
from touchstone.core.evaluate.source_robustness.estimate import Measured, measure_metric
from touchstone.core.evaluate.source_robustness.expected import expected_value, fall_of, rho_of, usual_n_train
from touchstone.core.evaluate.source_robustness.results import MetricOnSources
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE, RANDOM


def metrics_on_sources(
    trials: pd.DataFrame, *, sizes: Sequence[int] = (), positive: str | None = None
) -> tuple[MetricOnSources, ...]:
    """Every metric that these trials give, of each model, source finder and training-set size; `trials` and `sizes` as
    in `expected_accuracy_intervals`. Accuracy is there, not among these.

    Of two classes `positive` is the one that some are about, by default what its name or rarity suggests. Raises
    DataError where it is no class of the trials.

    Examples
    --------
    >>> same = {"model": "svm", "source_finder": "kmeans", "clustering": 0, "n_train": 80, "n_test": 20,
    ...         "source": None, "n_label": 10, "n_predicted": 10, "status": "ok"}
    >>> trials = pd.DataFrame(
    ...     [{**same, "scheme": scheme, "repeat": repeat, "label": label, "n_correct": n_correct}
    ...      for scheme, right in {"source_exclusive": (6, 8), "source_inclusive": (9, 10)}.items()
    ...      for repeat, n_correct in enumerate(right) for label in (None, "ham", "spam")])
    >>> found = {each.metric: each for each in metrics_on_sources(trials)}
    >>> round(found["balanced_accuracy"].exclusive.value, 3), found["recall"].positive
    (0.7, 'spam')
    """
    return tuple(each for group in groups(trials, sizes) for each, _ in metrics_of_group(group, positive))


Ends = dict[str, Measured | None]
"""What a metric's errors are made from, by scheme; None where it is missing."""


def metrics_of_group(group: Group, positive: str | None = None) -> Iterator[tuple[MetricOnSources, Ends]]:
    """The same of the models of one source finder and training-set size, each with what it was made from."""
    n_train, of_class = usual_n_train(group), _positive_class(group.layout, positive)
    for model, schemes in group.models.items():
        for name in metrics_of_trials(len(group.layout.labels)):
            yield _on_sources(METRICS[name], of_class, model, n_train, group, schemes)


def metrics_of_trials(n_classes: int) -> tuple[str, ...]:
    """The names of all metrics that trials give of so many classes, accuracy apart.

    >>> "f1_macro" in metrics_of_trials(3), "recall" in metrics_of_trials(3), "recall" in metrics_of_trials(2)
    (True, False, True)
    """
    names = [name for name in metrics_of_counts() if n_classes == 2 or not METRICS[name].of_class]
    return tuple(name for name in names if name != ACCURACY)


def _positive_class(layout: Layout, named: str | None) -> int:
    """The class of two that metrics are about, by its place."""
    if named is not None:
        if named not in layout.labels:
            raise DataError(f"There is no class {named!r}. Choose from {', '.join(layout.labels)}.")
        return layout.labels.index(named)
    return positive_class(layout.labels, layout.n_samples)[0] if len(layout.labels) == 2 else 0


def _on_sources(
    metric: Metric, positive: int, model: str, n_train: int, group: Group, schemes: dict[str, CountsOfTrials]
) -> tuple[MetricOnSources, Ends]:
    layout = group.layout

    def value(counts: CountsByClass) -> np.ndarray:
        assert metric.of_counts is not None
        return np.asarray(metric.of_counts(counts, positive), dtype=np.float64)

    def measured(scheme: str) -> Measured | None:
        lowest = metric.lowest
        made = measure_metric(schemes[scheme], layout, scheme, value, lowest=lowest) if scheme in schemes else None
        return None if made is None or np.isnan(made.value) else made

    ends = {scheme: measured(scheme) for scheme in (RANDOM, INCLUSIVE, EXCLUSIVE)}
    random, inclusive, exclusive = ends.values()
    on_sources = MetricOnSources(
        metric=metric.name,
        positive=layout.labels[positive] if metric.of_class else None,
        model=model,
        source_finder=layout.source_finder,
        n_train=n_train,
        random=expected_value(random, layout),
        inclusive=expected_value(inclusive, layout),
        exclusive=expected_value(exclusive, layout),
        fall=fall_of(inclusive, exclusive, layout),
        rho=rho_of(exclusive, inclusive, layout),
        baseline=best_guess(metric, layout.n_samples, positive),
        n=round(float(layout.n_samples.sum())),
    )
    return on_sources, ends
