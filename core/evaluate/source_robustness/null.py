"""Are held-out clusters harder than in a cloud without groups, and by how much? The null for found sources.

The gap (accuracy on clusters seen in training less that on held-out ones) of the data, less the mean gap of copula
clouds. Under the null the data are one more such cloud, so that interval and p-value are those of a t prediction: the
variance is that of the clouds' gaps, and the mean of n clouds adds 1 / n of it. Only what lies beyond is a claim: a gap
below that of clouds says nothing of sources, and its p-value is 1.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import t_interval, t_p_value
from touchstone.core.evaluate.source_robustness.clouds_plan import DATA
from touchstone.core.evaluate.wording import p_value, points

KIND = "source_robustness.beyond_cloud"
SMALLEST = 0.02
"""Two points: less is not worth the sentence."""
FEWEST_CLOUDS = 19


@dataclass(frozen=True, eq=False)
class CloudGaps:
    """Gaps as fractions: of the data (NaN while unknown), and of each finished cloud of either shape."""

    observed: float
    copula: Float[np.ndarray, " n_copula"]
    gaussian: Float[np.ndarray, " n_gaussian"]
    n_samples: int
    n_dimensions: int

    @property
    def claim(self) -> Claim:
        """Whether the gap is beyond that of copula clouds; undecided while fewer than FEWEST_CLOUDS are known."""
        n = len(self.copula)
        known = n >= FEWEST_CLOUDS and not np.isnan(self.observed)
        excess = self.observed - float(self.copula.mean()) if known else float("nan")
        se = float(self.copula.std(ddof=1) * np.sqrt(1 + 1 / n)) if known else float("nan")
        p_value = 1.0 if excess <= 0 else t_p_value(excess, se, n - 1.0)
        return claim(KIND, excess, t_interval(excess, se, n - 1.0), p_value, smallest=SMALLEST)


def cloud_gaps(rows: pd.DataFrame) -> CloudGaps:
    """The gaps in the rows of a CloudsPlan, as far as its trials go.

    Examples
    --------
    >>> rows = pd.DataFrame({"cloud": 0, "shape": "data", "scheme": ["source_exclusive", "source_inclusive"],
    ...                      "n_correct": [8, 9], "n_test": 10, "n_samples": 50, "n_dimensions": 4, "status": "ok"})
    >>> round(cloud_gaps(rows).observed, 3), cloud_gaps(rows).claim.decision
    (0.1, 'undecided')
    """
    ok = rows.loc[(rows["status"] == "ok").to_numpy(dtype=bool)] if len(rows) else rows
    if not len(ok):
        return CloudGaps(float("nan"), np.zeros(0), np.zeros(0), 0, 0)
    accuracy = ok["n_correct"].to_numpy(dtype=float) / ok["n_test"].to_numpy(dtype=float)
    means = ok.assign(accuracy=accuracy).groupby(["shape", "cloud", "scheme"])["accuracy"].mean().unstack()
    gaps = (means["source_inclusive"] - means["source_exclusive"]).dropna()

    def of(shape: str) -> np.ndarray:
        return gaps.loc[gaps.index.get_level_values("shape") == shape].to_numpy(dtype=float)

    observed = of(DATA)
    return CloudGaps(
        observed=float(observed[0]) if len(observed) else float("nan"),
        copula=of("copula"),
        gaussian=of("gaussian"),
        n_samples=int(ok["n_samples"].iloc[0]),
        n_dimensions=int(ok["n_dimensions"].iloc[0]),
    )


def cloud_sentence(null: Claim | None) -> str:
    """What may be said of clusters that stand in for sources; undecided while it is not known.

    Examples
    --------
    >>> cloud_sentence(None)
    'Undecided whether held-out clusters are harder than those of simulated data without groups.'
    >>> from touchstone.core.evaluate.intervals import Interval
    >>> from touchstone.core.evaluate.claims import claim
    >>> cloud_sentence(claim(KIND, 0.08, Interval(0.05, 0.11), 0.001, smallest=SMALLEST)).partition(". ")[0]
    'Held-out clusters are harder than in simulated data without groups, by 8.0 points [5.0, 11.0]'
    """
    if null is None or not null.interval.known:
        return "Undecided whether held-out clusters are harder than those of simulated data without groups."
    if null.decision == "above":
        return (
            f"Held-out clusters are harder than in simulated data without groups, by "
            f"{points(null.estimate, null.interval)}. Classes have groups or curved shapes; only known sources show "
            f"whether these are sources."
        )
    if null.decision == "undecided":
        return (
            "Held-out clusters are not significantly harder than those of simulated data without groups "
            f"({p_value(null.p_value)}). They are no evidence of sources."
        )
    return "Held-out clusters are harder, as in simulated data without groups. They are no evidence of sources."
