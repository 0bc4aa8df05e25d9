"""Which numbers and claims stand for a result? Each with its interval, to be drawn, or held against what is required.

They are those that the pages show, of the same code; `QUANTITIES` lists them all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from touchstone.core import COMMAND
from touchstone.core.data import DataError
from touchstone.core.evaluate.claims import Claim, kind_of_code
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.report.parts import Quantity
from touchstone.core.report.run_report import TITLES

QUANTITIES = {
    "source_robustness.rho": "share of the accuracy that is kept on held-out sources; of a model and a source finder",
    "source_robustness.exclusive": "accuracy on held-out sources",
    "source_robustness.inclusive": "accuracy on sources seen in training",
    "source_robustness.random": "accuracy on a random split",
    "source_robustness.fall": "accuracy lost on held-out sources, as a fraction",
    "source_robustness.metric": "another metric on held-out sources; of a model, a source finder and a metric",
    "cluster_folds.score": "macro F1, mean over folds and seeds; of a scheme and a model",
    "cluster_folds.accuracy": "accuracy, mean over folds and seeds; of a scheme and a model",
    "cluster_folds.metric": "a metric, mean over folds and seeds; of a scheme, a model and a metric",
    "average_case.p_robust": "mean share of noisy copies that keep the prediction; of a sigma",
    "average_case.overconfidence": "mean confidence less accuracy, on the run's samples as they are",
    "data_set_adequacy.gain": "accuracy that twice as many samples would add, as a fraction; of a model and a finder",
    "data_set_adequacy.gap": "accuracy on sources seen in training less that on held-out ones, at the largest size",
    "guided_tests.pictures": "accuracy of the whole model on generated pictures that the oracle confirms",
    "guided_tests.boundary": "the same, on pictures made at class boundaries",
    "few_labels.accuracy": "accuracy on new samples, from labels of few; of a pool",
    "matched_subsets.gap": "accuracy on the reference set less that on the target set; of a model",
    "matched_subsets.matched_gap": "the part of it that is left at equal confidence",
    "matched_subsets.mix": "the part of it that other confidences explain",
    "matched_subsets.unmatched": "the part of it that unmatched targets add",
    "matched_subsets.reference": "accuracy on the reference set",
    "matched_subsets.target": "accuracy on the target set",
    "matched_subsets.metric": "a metric on one set; of a model, a metric (balanced_accuracy, roc_auc, ...) and a set",
    "matched_subsets.reference_overconfidence": "mean confidence less accuracy on the reference set",
    "matched_subsets.target_overconfidence": "mean confidence less accuracy on the target set",
    "matched_subsets.matched": "accuracy on the targets that have a reference sample of equal confidence",
}
"""What can be bounded, and what it is. All are fractions: .9, not 90."""
OF_A_METRIC = ("matched_subsets.metric", "cluster_folds.metric", "source_robustness.metric")
"""Numbers that are the value of a metric, which is among what they are of."""


class OnAxis(NamedTuple):
    """An accuracy that stands on the sheet's axis: its role there, and its words, of what it is of."""

    role: str
    words: Callable[[Sequence[str]], str]


def _of_sources(what: str) -> Callable[[Sequence[str]], str]:
    return lambda of: f"{TITLES.get(of[0], of[0])}: {what.format(noun(of[1]))}"


ON_AXIS = {
    "source_robustness.random": OnAxis("random", _of_sources("random split")),
    "source_robustness.inclusive": OnAxis("inclusive", _of_sources("{}s seen in training")),
    "source_robustness.exclusive": OnAxis("exclusive", _of_sources("held-out {}s")),
    "cluster_folds.accuracy": OnAxis("folds", lambda of: f"{TITLES.get(of[1], of[1])}: {scheme_title(of[0])} folds"),
    "few_labels.accuracy": OnAxis("labels", lambda of: f"New samples of {of[0]}, by few labels"),
    "matched_subsets.reference": OnAxis("reference", lambda of: f"{of[0]}: reference set"),
    "matched_subsets.target": OnAxis("target", lambda of: f"{of[0]}: new test set"),
    "matched_subsets.matched": OnAxis("target", lambda of: f"{of[0]}: new test set, matched"),
}
"""The accuracies that one can plan for, by name, in the order of the axis."""


def label(of: Quantity) -> str:
    """What the sheet's axis calls a number.

    >>> from touchstone.core.evaluate.intervals import Interval
    >>> label(Quantity("source_robustness.exclusive", ("svm", "kmeans"), 0.9, Interval(0.8, 0.95), 100))
    'SVM: held-out clusters'
    """
    return ON_AXIS[of.name].words(of.of)


@dataclass(frozen=True)
class StatedClaim:
    """A claim of an answer: to which question, of what (a model), and why it is muted; empty where it is not."""

    question: str
    of: tuple[str, ...]
    claim: Claim
    muted: str = ""

    @property
    def name(self) -> str:
        """What a requirement calls it: its code."""
        return self.claim.code

    @property
    def title(self) -> str:
        """What a table calls it."""
        name = self.claim.of_kind.name
        return f"{name} [{', '.join(self.of)}]" if self.of else name

    @property
    def cells(self) -> dict[str, object]:
        """What JSON and tables hold of it, with the page of its kind."""
        made = self.claim
        return {
            "question": self.question,
            "of": ", ".join(self.of),
            "code": made.code,
            "kind": made.kind,
            "title": made.of_kind.title,
            "decision": made.decision,
            "estimate": made.estimate,
            "lower": made.interval.lower,
            "upper": made.interval.upper,
            "p_value": made.p_value,
            "smallest": made.smallest,
            "muted": self.muted,
            "page": made.of_kind.page,
        }


def muted_kinds(reasons: Mapping[str, str]) -> dict[str, str]:
    """Why kinds of claim are muted, of reasons by code. Raises DataError for an unknown code, or without a reason.

    >>> muted_kinds({"M01": "agreed until May"})
    {'matched_subsets.falls': 'agreed until May'}
    """
    kinds = {}
    for code, reason in reasons.items():
        kind = kind_of_code(code)
        if kind is None:
            raise DataError(f"{code!r} is no code of a claim. {COMMAND} claims lists them.")
        if not reason.strip():
            raise DataError(f"{code} is muted without a reason: say why.")
        kinds[kind] = reason.strip()
    return kinds
