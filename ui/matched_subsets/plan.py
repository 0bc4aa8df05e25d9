"""What is compared, and how is it matched? Small frozen things that name a result: in the address and in keys."""

from dataclasses import asdict, dataclass, replace

from touchstone.core.asked import asks, asks_seed
from touchstone.core.data.predictions.pairs import WHOLE, Part
from touchstone.core.evaluate.calibration import Binning
from touchstone.core.evaluate.matched_subsets import EPSILON
from touchstone.core.evaluate.matched_subsets.matching import By, Method, Order
from touchstone.core.evaluate.matched_subsets.outcomes import SCALED, Scale


@dataclass(frozen=True)
class TwoSets:
    """The two test sets: fingerprints of stored predictions and, where files hold several, which part and task."""

    reference: str
    target: str
    reference_part: Part = WHOLE
    target_part: Part = WHOLE
    task: str | None = None

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the address that lead to these sets: `reference`, `reference_set`, `reference_fold`, ..."""
        parameters = {"reference": self.reference, "target": self.target} | self.parts
        return parameters if self.task is None else parameters | {"task": self.task}

    @property
    def parts(self) -> dict[str, str]:
        """What is chosen of files that hold several sets, folds, sources or trials, by parameter of the address."""
        parts = {"reference": self.reference_part, "target": self.target_part}
        named = {f"{side}_{what}": name for side, part in parts.items() for what, name in asdict(part).items()}
        return {parameter: name for parameter, name in named.items() if name is not None}


@dataclass(frozen=True)
class MatchingPlan:
    """How samples are matched and reliability diagrams binned."""

    epsilon: float = asks(
        EPSILON,
        label="Epsilon",
        help="The largest difference in confidence within a pair. The curve below shows its effect.",
        address="epsilon",
        place="row",
        lowest=0.0,
        highest=0.5,
        step=0.001,
        format="%.4f",
    )
    by: By = asks(
        "label",
        label="Match by",
        help="Pairs have the same predicted label and about the same confidence (Algorithm 1), or about the same "
        "confidence only (Algorithm 2).",
        address="by",
        place="row",
        choices=lambda about: {"label": "label and confidence", "probability": "confidence only"},
    )
    method: Method = asks(
        "random",
        label="Matching",
        help="Random is the published way: each new sample in turn gets a random free match. “As many as possible” "
        "does not depend on order or chance.",
        address="method",
        place="row",
        choices=lambda about: {"random": "random", "maximum": "as many as possible"},
    )
    n_repeats: int = asks(
        10,
        label="Repeats",
        help="Random matchings that are averaged; more are made if a decision needs them.",
        address="repeats",
        lowest=1,
        highest=200,
    )
    order: Order = asks(
        "shuffled",
        label="Order",
        help="The order in which new samples are matched; the paper uses that of the file.",
        address="order",
        choices=lambda about: {"shuffled": "shuffled", "given": "as in the file"},
    )
    scale: Scale = asks(
        "accuracy",
        label="Epsilon is of",
        help="Recalibrated on the reference set, confidences within epsilon are about as often right. The paper takes "
        "them as they are: of an overconfident model, .999 and .994 may then differ much. Margin and entropy need the "
        "probabilities of all classes, and the ensemble variance those of several models.",
        address="scale",
        choices=lambda about: {**SCALED, "confidence": "confidence as it is (paper)"},
    )
    binning: Binning = asks(
        "mass",
        label="Bins of equal",
        help="Bins of reliability diagrams: equally many samples in each, or equally wide.",
        address="bins",
        choices=lambda about: {"mass": "mass", "width": "width"},
    )
    n_bins: int = asks(
        15,
        label="Number of bins",
        help="The most bins; ties stay together.",
        address="nbins",
        lowest=2,
        highest=100,
    )
    seed: int = asks_seed()

    @property
    def matching(self) -> dict[str, object]:
        """What `compare_models` and `epsilon_curve` take."""
        return {"epsilon": self.epsilon, "by": self.by, "method": self.method, "order": self.order, "scale": self.scale}

    @property
    def at_every_epsilon(self) -> "MatchingPlan":
        """The plan with the usual values of all that its curve over epsilon does not rest on: one name for one curve.

        >>> MatchingPlan(epsilon=0.2, n_bins=5, seed=1).at_every_epsilon == MatchingPlan(seed=1)
        True
        """
        usual = MatchingPlan()
        unused = ("epsilon", "n_repeats", "binning", "n_bins")
        return replace(self, **{field: getattr(usual, field) for field in unused})
