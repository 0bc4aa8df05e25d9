"""Does the test set cover the feature space? (Mani et al. 2019, section 4.2)

`measure_quality(train, test, ...)` measures four dimensions in a layer of a model, beside the training set and random
splits; `centroid_curve(...)` and `boundary_curve(...)` show what rests on a threshold; `map_pair(...)` lays out two
classes; `quality_verdict(...)` and `findings(...)` say it in sentences.
"""

from touchstone.core.evaluate.test_quality.pairs import PairMap, PairShares, map_pair
from touchstone.core.evaluate.test_quality.quality import (
    Curve,
    TestQuality,
    boundary_conditioning,
    boundary_curve,
    centroid_curve,
    centroid_positioning,
    equivalence_partitioning,
    measure_quality,
    pairwise_boundary_conditioning,
    samples_table,
)
from touchstone.core.evaluate.test_quality.regions import THETA_2, UNITS, Regions, fit_regions, in_band, rivals
from touchstone.core.evaluate.test_quality.shares import Shares, Spread
from touchstone.core.evaluate.test_quality.verdict import Finding, findings, findings_table, quality_verdict
