"""What need not be read or computed twice? Every cache of the app is here, named by strings and counts.

Streamlit hashes large arrays by a sample and forgets the class of a nested dataclass, so no array and no dataclass is
ever an argument: fingerprints and run ids name the big object, which the function fetches for itself.
"""

from ui.cache.average_case import robustness
from ui.cache.cluster_folds import (
    fold_description,
    fold_features,
    fold_performance,
    fold_relations,
    fold_run,
    fold_uploads,
    fold_words,
)
from ui.cache.common import dataset
from ui.cache.data_set_adequacy import adequacy, adequacy_trials
from ui.cache.data_sets import data_look, features, folds_of, map_of, near_copies, number, words
from ui.cache.guided_tests import guided, missing_tests, properties, regions, sent_again
from ui.cache.layers import layer_samples, layers, parts_name
from ui.cache.matched_subsets import (
    class_calibration,
    compared,
    comparisons,
    curve,
    matched_samples,
    matching_example,
    reliability,
)
from ui.cache.predictions import columns_of, prediction_choices, prediction_pairs, prediction_table, uploaded
from ui.cache.source_robustness import (
    OwnModels,
    SourceRobustness,
    own_trials,
    silhouettes,
    source_of_each,
    source_robustness,
    trials,
    with_labels,
)
from ui.cache.test_quality import (
    class_pair,
    covariate_shift,
    quality_beside,
    quality_curves,
    quality_samples,
    test_quality,
)

__all__ = [
    "OwnModels",
    "SourceRobustness",
    "adequacy",
    "adequacy_trials",
    "class_calibration",
    "class_pair",
    "columns_of",
    "compared",
    "comparisons",
    "covariate_shift",
    "curve",
    "data_look",
    "dataset",
    "features",
    "fold_description",
    "fold_features",
    "fold_performance",
    "fold_relations",
    "fold_run",
    "fold_uploads",
    "fold_words",
    "folds_of",
    "guided",
    "layer_samples",
    "layers",
    "map_of",
    "matched_samples",
    "matching_example",
    "missing_tests",
    "near_copies",
    "number",
    "own_trials",
    "parts_name",
    "prediction_choices",
    "prediction_pairs",
    "prediction_table",
    "properties",
    "quality_beside",
    "quality_curves",
    "quality_samples",
    "regions",
    "reliability",
    "robustness",
    "sent_again",
    "silhouettes",
    "source_of_each",
    "source_robustness",
    "test_quality",
    "trials",
    "uploaded",
    "with_labels",
    "words",
]
