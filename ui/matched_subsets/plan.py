"""What is compared, and how is it matched? Small frozen things that name a result: in the address and in keys."""

from dataclasses import asdict, dataclass, replace

from core.asked import asks
from core.data.predictions.pairs import WHOLE, Part
from core.evaluate.calibration import Binning
from core.evaluate.matched_subsets import EPSILON
from core.evaluate.matched_subsets.matching import By, Method, Order


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
        said = {"reference": self.reference, "target": self.target} | self.parts
        return said if self.task is None else said | {"task": self.task}

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
        help="The largest difference of confidence within a pair. The curve below shows what rests on it.",
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
        help="Whether a pair must have the same predicted label, too (Algorithm 1), or about the same confidence only "
        "(Algorithm 2).",
        address="by",
        place="row",
        choices=lambda about: {"label": "label and confidence", "probability": "confidence only"},
    )
    method: Method = asks(
        "random",
        label="Matching",
        help="Random is the published way: each new sample in turn takes a random match that is still free. As "
        "many as possible does not depend on order or luck.",
        address="method",
        place="row",
        choices=lambda about: {"random": "random", "maximum": "as many as possible"},
    )
    n_repeats: int = asks(
        10,
        label="Repeats",
        help="Random matchings whose mean is shown; more are made where a decision needs them.",
        address="repeats",
        lowest=1,
        highest=200,
    )
    order: Order = asks(
        "shuffled",
        label="Order",
        help="In which order new samples take their matches; the paper's is that of the file.",
        address="order",
        choices=lambda about: {"shuffled": "shuffled", "given": "as in the file"},
    )
    binning: Binning = asks(
        "mass",
        label="Bins of equal",
        help="Of reliability diagrams: as many samples in each, or as much of the scale.",
        address="bins",
        choices=lambda about: {"mass": "mass", "width": "width"},
    )
    n_bins: int = asks(
        15,
        label="Number of bins",
        help="At most so many; ties stay together.",
        address="nbins",
        lowest=2,
        highest=100,
    )
    seed: int = asks(
        0,
        label="Seed",
        help="All randomness follows from this number.",
        address="seed",
        lowest=0,
        highest=2**31,
    )

    @property
    def matching(self) -> dict[str, object]:
        """What `compare_models` and `epsilon_curve` take."""
        return {"epsilon": self.epsilon, "by": self.by, "method": self.method, "order": self.order}

    @property
    def at_every_epsilon(self) -> "MatchingPlan":
        """The plan with the usual values of all that its curve over epsilon does not rest on: one name for one curve.

        >>> MatchingPlan(epsilon=0.2, n_bins=5, seed=1).at_every_epsilon == MatchingPlan(seed=1)
        True
        """
        usual = MatchingPlan()
        unused = ("epsilon", "n_repeats", "binning", "n_bins")
        return replace(self, **{field: getattr(usual, field) for field in unused})
