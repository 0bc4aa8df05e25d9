"""Which tests are missing? (Mani et al. 2019, sections 4.1, 4.3 and 5.4)

`start(...)` makes ready, `generate_tests(...)` makes features in the regions that were asked for,
`accuracy_grid(...)` says how the head fares on them, `check_properties(...)` and `walk_between(...)` follow it along
lines through feature space, `label_next(...)` lists the real samples of least confidence, `round_trip(...)` sends
decoded images through the whole model.
"""

from touchstone.core.evaluate.guided_tests.generate import (
    FREQUENCIES,
    MIXES,
    Recipe,
    Start,
    Walk,
    generate_class,
    generate_tests,
    sizes,
    start,
    walk_between,
)
from touchstone.core.evaluate.guided_tests.images import Reconstruction, RoundTrip, reconstruction, round_trip
from touchstone.core.evaluate.guided_tests.judged_suite import (
    JudgedSuite,
    SuiteDifference,
    judge_suite,
    suite_difference,
)
from touchstone.core.evaluate.guided_tests.missing import (
    Missing,
    generate_missing,
    label_next,
    missing_regions,
    nearest,
)
from touchstone.core.evaluate.guided_tests.properties import Properties, Property, check_properties
from touchstone.core.evaluate.guided_tests.results import (
    REGIONS,
    TABLE_MIXES,
    TABLE_SIZES,
    AccuracyGrid,
    GeneratedTests,
    MixAccuracy,
    SharedAccuracy,
    accuracy_grid,
    all_of,
    grid_beside,
    mix_accuracy,
    shared_accuracy,
    table_sizes,
)
from touchstone.core.evaluate.guided_tests.stored import Guided, guided_of_rows
from touchstone.core.evaluate.guided_tests.suite import Suite, make_suite
