"""What is compared, and how is it matched? Small frozen things that name a result: in addresses, keys and commands."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from touchstone.core.data.predictions.record import WHOLE, Part, PredictionPairs, Predictions
from touchstone.core.evaluate import calibration
from touchstone.core.evaluate.matched_subsets import compare
from touchstone.core.evaluate.matched_subsets.estimates import calibrations, coverages, densities, on_logit_scale
from touchstone.core.evaluate.matched_subsets.matching import EPSILON, By, MatchedSubsets, Method, Order
from touchstone.core.evaluate.matched_subsets.outcomes import SCALED, Scale
from touchstone.core.evaluate.matched_subsets.results import ModelComparisons, SetComparison
from touchstone.core.evaluate.metric_estimates import positive_class
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, metric_named
from touchstone.core.parameters import About, Values, asks, asks_positive_class, asks_seed

Step = Callable[[], None]
BINNING = ("binning", "n_bins")
"""Fields of a plan that only reliability diagrams rest on."""


class Reliability(NamedTuple):
    """How well confidence fits accuracy, by subset."""

    subsets: dict[str, calibration.Calibration]
    densities: dict[str, tuple[np.ndarray, np.ndarray]]
    coverage: dict[str, tuple[calibration.CoveragePoint, ...]]
    logit: bool = False
    """Whether confidences are shown, and densities given, on a logit scale."""


@dataclass(frozen=True)
class TwoSets:
    """The two test sets: fingerprints of stored predictions and, where files hold several, which part and task.

    Of models on the same samples there may be `further` files, whole.
    """

    reference: str
    target: str
    reference_part: Part = WHOLE
    target_part: Part = WHOLE
    task: str | None = None
    further: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All of them, the reference first."""
        return (self.reference, self.target, *self.further)

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the address that lead to these sets: `reference`, `reference_set`, `reference_fold`, ..."""
        parameters = {"reference": self.reference, "target": self.target} | self.parts
        parameters |= {"further": ",".join(self.further)} if self.further else {}
        return parameters if self.task is None else parameters | {"task": self.task}

    @property
    def parts(self) -> dict[str, str]:
        """What is chosen of files that hold several sets, folds, sources or trials, by parameter of the address."""
        parts = {"reference": self.reference_part, "target": self.target_part}
        named = {f"{side}_{what}": name for side, part in parts.items() for what, name in asdict(part).items()}
        return {parameter: name for parameter, name in named.items() if name is not None}

    @classmethod
    def at(cls, parameters: Mapping[str, str]) -> "TwoSets":
        """The sets that such parameters lead to. KeyError where they do not name both.

        >>> sets = TwoSets("f00d", "beef", target_part=Part(set="new"), task="emotions", further=("cafe", "babe"))
        >>> TwoSets.at(sets.parameters) == sets
        True
        """
        first, second = (
            Part(**{each.name: parameters.get(f"{side}_{each.name}") for each in fields(Part)})
            for side in ("reference", "target")
        )
        further = tuple(filter(None, parameters.get("further", "").split(",")))
        return cls(parameters["reference"], parameters["target"], first, second, parameters.get("task"), further)


def _is_unsure(classes: tuple[str, ...]) -> bool:
    """Whether the names of two classes do not say which one is the positive one."""
    return len(classes) == 2 and not positive_class(classes, np.ones(2))[1]


def _matches(values: Values, about: About) -> bool:
    """Whether anything is matched: a mean over samples that come with confidences."""
    return about.has_confidence and not METRICS[values["metric"]].is_no_mean


@dataclass(frozen=True)
class MatchingPlan:
    """Which metric is compared, how samples are matched, and reliability diagrams binned."""

    metric: str = asks(
        ACCURACY,
        "Metric",
        "What the verdict is about. Means over samples are divided into parts by matching: accuracy, sensitivity, "
        "specificity, precision, negative predictive value, Brier score and log loss.",
        address="metric",
        place="row",
        choices=lambda about: {name: METRICS[name].title for name in about.metrics or METRICS},
    )
    positive: str | None = asks_positive_class(
        differs=lambda about: (
            {"place": "row", "label": "Which class is positive?"} if _is_unsure(about.classes) else {}
        ),
    )
    epsilon: float = asks(
        EPSILON,
        "Epsilon",
        "The largest difference in confidence within a pair.",
        address="epsilon",
        place="row",
        when=_matches,
        within=(0.0, 0.5, 0.001),
        format="%.4f",
    )
    by: By = asks(
        "label",
        "Match by",
        "Pairs have the same predicted label and about the same confidence (Algorithm 1), or about the same "
        "confidence only (Algorithm 2).",
        address="by",
        place="row",
        when=lambda values, about: _matches(values, about) and METRICS[values["metric"]].share_of != "truth",
        choices=lambda about: {"label": "label and confidence", "probability": "confidence only"},
    )
    method: Method = asks(
        "random",
        "Matching",
        "Random is the published way: each new sample in turn gets a random free match. “As many as possible” "
        "does not depend on order or chance.",
        address="method",
        place="row",
        when=_matches,
        choices=lambda about: {"random": "random", "maximum": "as many as possible"},
    )
    n_repeats: int = asks(
        10,
        "Repeats",
        "Random matchings that are averaged; more are made if a decision needs them.",
        address="repeats",
        when=_matches,
        within=(1, 200),
    )
    order: Order = asks(
        "shuffled",
        "Order",
        "The order in which new samples are matched; the paper uses that of the file.",
        address="order",
        when=_matches,
        choices=lambda about: {"shuffled": "shuffled", "given": "as in the file"},
    )
    scale: Scale = asks(
        "accuracy",
        "Epsilon is of",
        "Recalibrated on the reference set, confidences within epsilon are about as often right. The paper takes "
        "them as they are: of an overconfident model, .999 and .994 may then differ much. Margin and entropy need the "
        "probabilities of all classes, and the ensemble variance those of several models.",
        address="scale",
        when=_matches,
        choices=lambda about: {**SCALED, "confidence": "confidence as it is (paper)"},
    )
    binning: calibration.Binning = asks(
        "mass",
        "Bins of equal",
        "Bins of reliability diagrams: equally many samples in each, or equally wide.",
        address="bins",
        when=_matches,
        choices=lambda about: {"mass": "mass", "width": "width"},
    )
    n_bins: int = asks(
        15, "Number of bins", "The most bins; ties stay together.", address="nbins", within=(2, 100), when=_matches
    )
    seed: int = asks_seed(when=_matches)

    @property
    def matching(self) -> dict[str, object]:
        """What `compare_sets` takes of it."""
        names = ("epsilon", "by", "method", "order", "scale", "n_repeats", "metric", "positive")
        return {name: getattr(self, name) for name in names}

    @property
    def at_every_epsilon(self) -> "MatchingPlan":
        """The plan with the usual values of all that its curve over epsilon does not rest on: one name for one curve.

        >>> MatchingPlan(epsilon=0.2, n_bins=5, seed=1).at_every_epsilon == MatchingPlan(seed=1)
        True
        """
        usual = MatchingPlan()
        return replace(self, **{name: getattr(usual, name) for name in ("epsilon", "n_repeats", *BINNING)})

    def n_steps(self, pairs: PredictionPairs) -> int:
        """How many steps `compare` takes."""
        sizes = [len(pairs.references[model].ids) + len(pairs.targets[model].ids) for model in pairs.models]
        return sum(compare.n_steps(size, method=self.method, n_repeats=self.n_repeats) for size in sizes)

    def compare(self, pairs: PredictionPairs, step: Step = lambda: None) -> ModelComparisons:
        """All models compared on the two sets; `step` is called after each step."""
        rng = np.random.default_rng(self.seed)
        return compare.compare_pairs(pairs.references, pairs.targets, rng=rng, on_step=step, **self.matching)

    @property
    def n_steps_of_curve(self) -> int:
        """How many steps `curve` takes."""
        return len(compare.EPSILONS) * compare.n_steps(0, method=self.method, more=False)

    def curve(self, pairs: PredictionPairs, model: str, step: Step = lambda: None) -> tuple[SetComparison, ...]:
        """One model compared at every epsilon."""
        options = {name: getattr(self, name) for name in ("by", "method", "order", "scale", "metric", "positive")}
        sets, rng = (pairs.references[model], pairs.targets[model]), np.random.default_rng(self.seed)
        return compare.epsilon_curve(*sets, rng=rng, on_step=step, **options)

    def samples(self, pairs: PredictionPairs, model: str) -> tuple[Predictions, Predictions]:
        """The samples of both sets that were compared: all of them, or those that the metric is of."""
        sides, metric = (pairs.references[model], pairs.targets[model]), metric_named(self.metric)
        if metric.share_of not in ("truth", "predicted"):
            return sides
        counted = compare.counted_samples(metric, *sides, self.positive) or ()
        reference, target = (side.take(rows) for side, (rows, _) in zip(sides, counted, strict=True))
        return reference, target

    def reliability(self, subsets: MatchedSubsets) -> Reliability:
        """The calibration of the subsets of one model, as the first of its matchings made them."""
        rng = np.random.default_rng(self.seed)
        by_subset = calibrations(subsets, binning=self.binning, n_bins=self.n_bins, rng=rng)
        return Reliability(by_subset, densities(subsets), coverages(subsets), on_logit_scale(subsets))

    def by_class(
        self, pairs: PredictionPairs, subsets: MatchedSubsets, model: str, subset: str, step: Step = lambda: None
    ) -> tuple[calibration.ClassCalibration, ...] | None:
        """The calibration of every class in one subset; None where the file says no probability of every class."""
        whole = self.samples(pairs, model)["target" in subset]
        proba, rows = calibration.probabilities_of(whole), subsets.rows[subset]
        if proba is None:
            return None
        binning = {"binning": self.binning, "n_bins": self.n_bins, "design": subsets.subsets[subset].design}
        rng = np.random.default_rng(self.seed)
        return calibration.calibration_by_class(
            proba[rows], whole.y_true[rows], whole.class_names, rng=rng, on_class=step, **binning
        )
