"""Is the model right as often as it is sure? Functions of arrays: how sure of each sample, and whether it was right.

`calibration(...)` gathers all there is to say of one subset; the parts can be had alone.
"""

from touchstone.core.evaluate.calibration.errors import (
    N_BINS,
    Bin,
    Binning,
    Brier,
    CoveragePoint,
    accuracy_by_coverage,
    bin_of,
    brier_score,
    density,
    expected_calibration_error,
    smooth_error,
)
from touchstone.core.evaluate.calibration.summary import (
    FEWEST_OF_CLASS,
    Calibration,
    ClassCalibration,
    bins_table,
    calibration,
    calibration_by_class,
    calibration_table,
    class_error,
    class_sentence,
    class_table,
    probabilities_of,
)
