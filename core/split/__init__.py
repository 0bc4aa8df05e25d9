"""Schemes that split samples into a training and a test part; write one and add it to its dict.

``DRAW_SCHEMES`` draw one split after another, ``FOLD_SCHEMES`` cut all samples into folds; ``SCHEMES`` holds both.
What they did to the data is told by ``describe_split`` and by ``core.split.describe_folds``. ``split_by_part`` draws
nothing: it is the split that a file marks itself.
"""

from touchstone.core.split.describe_folds import PartDistances, SplitDescription, describe_split, part_distances
from touchstone.core.split.folds import (
    GroupFolds,
    KMeansFolds,
    LeaveOneGroupOut,
    MaxShift,
    NearestNeighbourBalls,
    PairedSourceFolds,
    QuantileFolds,
    RandomFolds,
    SameSizeFolds,
    SDSFolds,
    SourceInclusiveFolds,
    StratifiedFolds,
)
from touchstone.core.split.scheme import (
    NO_FOLD,
    FoldScheme,
    Random,
    SourceExclusive,
    SourceInclusive,
    Split,
    SplitScheme,
)
from touchstone.core.split.units import (
    DRAWN,
    FILE,
    are_spread,
    draw_of_units,
    folds_of_units,
    has_test_set,
    n_splits_of_units,
    of_size,
    partners,
    rows_to_judge,
    split_by_part,
)

DRAW_SCHEMES: dict[str, type[SplitScheme]] = {
    "source_exclusive": SourceExclusive,
    "source_inclusive": SourceInclusive,
    "random": Random,
}
FOLD_SCHEMES: dict[str, type[FoldScheme]] = {
    "random_folds": RandomFolds,
    "stratified_folds": StratifiedFolds,
    "kmeans_folds": KMeansFolds,
    "same_size_folds": SameSizeFolds,
    "sds_folds": SDSFolds,
    "paired_source_folds": PairedSourceFolds,
    "max_shift": MaxShift,
    "nearest_neighbour_balls": NearestNeighbourBalls,
    "quantile_folds": QuantileFolds,
    "group_folds": GroupFolds,
    "leave_one_group_out": LeaveOneGroupOut,
    "source_inclusive_folds": SourceInclusiveFolds,
}
SCHEMES: dict[str, type[SplitScheme] | type[FoldScheme]] = {**DRAW_SCHEMES, **FOLD_SCHEMES}
