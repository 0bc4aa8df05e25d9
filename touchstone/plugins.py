"""What plugins are made of: the classes of entries, what these work on, and what they raise (docs/plugins.md)."""

from touchstone.core.cluster.finders import SourceFinder as SourceFinder
from touchstone.core.cluster.sources import FoundSources as FoundSources
from touchstone.core.cluster.sources import by_estimator as by_estimator
from touchstone.core.data import DataError as DataError
from touchstone.core.data import Dataset as Dataset
from touchstone.core.data.tables.logs import Log as Log
from touchstone.core.evaluate.metric_functions import Counts as Counts
from touchstone.core.evaluate.metric_functions import Scored as Scored
from touchstone.core.evaluate.metrics import Metric as Metric
from touchstone.core.models.classical import Cancelled as Cancelled
from touchstone.core.models.classical import Classifier as Classifier
from touchstone.core.parameters import asks as asks
from touchstone.core.represent.representations import Representation as Representation
from touchstone.core.split.scheme import FoldScheme as FoldScheme
from touchstone.core.split.scheme import KFolds as KFolds
