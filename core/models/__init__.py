"""Models that can be trained and tested; write one and add it to ``MODELS``."""

from core.models.classical import GradientBoosting, Logistic, NearestNeighbours, Svm
from core.models.classifier import Cancelled, Classifier
from core.models.networks import MlpSmall

MODELS: dict[str, type[Classifier]] = {
    "svm": Svm,
    "logistic": Logistic,
    "nearest_neighbours": NearestNeighbours,
    "gradient_boosting": GradientBoosting,
    "mlp_small": MlpSmall,
}

__all__ = ["MODELS", "Cancelled", "Classifier"]
