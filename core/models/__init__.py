"""Models that can be trained and tested; write one and add it to ``MODELS``."""

from touchstone.core.models.classical import Cancelled, Classifier, GradientBoosting, Logistic, NearestNeighbours, Svm
from touchstone.core.models.errors import ModelError
from touchstone.core.models.networks import (
    Cnn1,
    Cnn2,
    Cnn3,
    LeNet,
    LinearNetwork,
    Mlp2048,
    MlpSmall,
    ResNet18,
    ResNet20,
    Vgg19,
    check_fitting,
    fits,
)
from touchstone.core.registry import Registry

_BUILT_IN: dict[str, type[Classifier]] = {
    "svm": Svm,
    "logistic": Logistic,
    "nearest_neighbours": NearestNeighbours,
    "gradient_boosting": GradientBoosting,
    "mlp_small": MlpSmall,
    "linear": LinearNetwork,
    "mlp_2048": Mlp2048,
    "cnn_1": Cnn1,
    "cnn_2": Cnn2,
    "cnn_3": Cnn3,
    "lenet": LeNet,
    "resnet18": ResNet18,
    "resnet20": ResNet20,
    "vgg19": Vgg19,
}
MODELS: Registry[type[Classifier]] = Registry("touchstone.models", Classifier, _BUILT_IN)
"""Every model that can be trained here, by its name."""
