"""Which numbers and claims stand for a result? Each with its interval, to be drawn, or held against what is required.

They are those that the pages show, of the same code; `QUANTITIES` lists them all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.core import COMMAND
from touchstone.core.data import DataError
from touchstone.core.evaluate.claims import Claim, kind_of_code

QUANTITIES = {
    "source_robustness.rho": "share of the accuracy that is kept on held-out sources; of a model and a source finder",
    "source_robustness.exclusive": "accuracy on held-out sources",
    "source_robustness.inclusive": "accuracy on sources seen in training",
    "source_robustness.random": "accuracy on a random split",
    "source_robustness.fall": "accuracy lost on held-out sources, as a fraction",
    "source_robustness.metric": "another metric on held-out sources; of a model, a source finder and a metric",
    "source_robustness.metric_inclusive": "the metric of the verdict on sources seen in training",
    "source_robustness.metric_random": "the metric of the verdict on a random split",
    "cluster_folds.score": "macro F1, mean over folds and seeds; of a scheme and a model",
    "cluster_folds.accuracy": "accuracy, mean over folds and seeds; of a scheme and a model",
    "cluster_folds.metric": "a metric, mean over folds and seeds; of a scheme, a model and a metric",
    "average_case.p_robust": "mean share of noisy copies that keep the prediction; of a sigma",
    "average_case.overconfidence": "mean confidence less accuracy, on the run's samples as they are",
    "data_set_adequacy.gain": "accuracy that twice as many samples would add, as a fraction; of a model and a finder",
    "data_set_adequacy.gap": "accuracy on sources seen in training less that on held-out ones, at the largest size",
    "data_set_adequacy.metric": "another metric on held-out sources, at the largest size",
    "data_set_adequacy.metric_gain": "the same gain of the metric of the verdict; of a model, a finder and a metric",
    "data_set_adequacy.metric_gap": "the same gap of the metric of the verdict",
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
    "model_comparison.difference": "how much better a model is than the first one on the same samples; of a metric",
    "model_comparison.metric": "a metric of a model on these samples; of a model and a metric",
    "model_comparison.changed": "share of answers that the second model changes",
}
"""What can be bounded, and what it is. All are fractions: .9, not 90."""
OF_A_METRIC = {
    **dict.fromkeys(("matched_subsets.metric", "model_comparison.metric"), 1),
    **dict.fromkeys(("cluster_folds.metric", "source_robustness.metric", "data_set_adequacy.metric"), 2),
}
"""Numbers that are the value of a metric, and where it stands among what they are of."""


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
