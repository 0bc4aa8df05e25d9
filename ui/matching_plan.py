"""What is compared, and how is it matched? Small frozen things that name a result: in the address and in the cache."""

from dataclasses import dataclass

from core.evaluate.calibration import Binning
from core.evaluate.matched_subsets import EPSILON
from core.evaluate.matched_subsets.matching import By, Method, Order


@dataclass(frozen=True)
class TwoSets:
    """The two test sets: fingerprints of stored predictions and, where files hold several, which set and task."""

    reference: str
    target: str
    reference_set: str | None = None
    target_set: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class MatchingPlan:
    """How samples are matched and reliability diagrams binned."""

    epsilon: float = EPSILON
    by: By = "label"
    method: Method = "random"
    order: Order = "shuffled"
    n_repeats: int = 10
    binning: Binning = "mass"
    n_bins: int = 15
    seed: int = 0

    @property
    def matching(self) -> dict[str, object]:
        """What `compare_models` and `epsilon_curve` take."""
        return {"epsilon": self.epsilon, "by": self.by, "method": self.method, "order": self.order}
