"""Table 1 of Han, Srinivas & Lakkaraju (2024), as printed: runtimes at sigma .1, ResNet18 on CIFAR10, 50 points.

The text beside it says that Taylor and MMSE are 35 and 17 times as fast as Monte-Carlo. The table's own CPU times say
759 and 148 times, its GPU times 598 and 199: none of the four gives 35 or 17, so claims of speed are held against the
table here, not against the text.
"""

N_POINTS = 50
RUNTIMES = {
    # estimator: (noisy samples, CPU h:m:s, GPU h:m:s)
    "monte_carlo": (10_000, "1:41:11", "0:19:56"),
    "taylor": (None, "0:00:08", "0:00:02"),
    "mmse": (5, "0:00:41", "0:00:06"),
}
IN_THE_TEXT = {"taylor": 35, "mmse": 17}
"""Section 4.2: how many times as fast as Monte-Carlo the text says the analytic estimators are."""


def seconds(printed: str) -> int:
    """Seconds of a printed h:m:s."""
    hours, minutes, rest = (int(part) for part in printed.split(":"))
    return 3600 * hours + 60 * minutes + rest
