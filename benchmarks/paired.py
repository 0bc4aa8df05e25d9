"""By how much does one way take longer than another? The ratio of every round, with an interval over rounds."""

from collections.abc import Sequence

import numpy as np
from scipy import stats


def ratio(these: Sequence[float], others: Sequence[float]) -> str:
    """The first by the second of every round: geometric mean, 95 % interval (t of logarithms), lowest and highest."""
    logs = np.log(np.divide(these, others))
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    mean, lower, upper, lowest, highest = np.exp(
        [logs.mean(), logs.mean() - half, logs.mean() + half, logs.min(), logs.max()]
    )
    return f"{mean:.2f} [{lower:.2f}, {upper:.2f}], {lowest:.2f} to {highest:.2f} in {len(logs)} rounds"
