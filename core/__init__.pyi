"""What type checkers see of `core`: its public surface, which is imported when it is asked for."""

from core.cluster import SameSizeKMeans, SDSKMeans
from core.public import FewLabels, Result, check, compare, dataset, few_labels, predictions, read, record
from core.split import (
    GroupFolds,
    KMeansFolds,
    LeaveOneGroupOut,
    MaxShift,
    NearestNeighbourBalls,
    PairedSourceFolds,
    QuantileFolds,
    Random,
    RandomFolds,
    SameSizeFolds,
    SDSFolds,
    SourceExclusive,
    SourceInclusive,
    SourceInclusiveFolds,
    StratifiedFolds,
)

__all__ = [
    "COMMAND",
    "PUBLIC",
    "FewLabels",
    "GroupFolds",
    "KMeansFolds",
    "LeaveOneGroupOut",
    "MaxShift",
    "NearestNeighbourBalls",
    "PairedSourceFolds",
    "QuantileFolds",
    "Random",
    "RandomFolds",
    "Result",
    "SDSFolds",
    "SDSKMeans",
    "SameSizeFolds",
    "SameSizeKMeans",
    "SourceExclusive",
    "SourceInclusive",
    "SourceInclusiveFolds",
    "StratifiedFolds",
    "check",
    "compare",
    "dataset",
    "few_labels",
    "predictions",
    "read",
    "record",
    "version",
    "versions",
]

__version__: str
COMMAND: str
PUBLIC: dict[str, tuple[str, ...]]

def version() -> str: ...
def versions(*libraries: str) -> dict[str, str]: ...
