"""Models that can be trained and tested; write one and add it to ``MODELS``."""

from touchstone.core.models import networks
from touchstone.core.models.classical import Cancelled, Classifier, GradientBoosting, Logistic, NearestNeighbours, Svm
from touchstone.core.models.errors import ModelError
from touchstone.core.models.networks import check_fitting, fits

MODELS: dict[str, type[Classifier]] = {
    "svm": Svm,
    "logistic": Logistic,
    "nearest_neighbours": NearestNeighbours,
    "gradient_boosting": GradientBoosting,
    "mlp_small": networks.MlpSmall,
    "linear": networks.LinearNetwork,
    "mlp_2048": networks.Mlp2048,
    "cnn_1": networks.Cnn1,
    "cnn_2": networks.Cnn2,
    "cnn_3": networks.Cnn3,
    "lenet": networks.LeNet,
    "resnet18": networks.ResNet18,
    "resnet20": networks.ResNet20,
    "vgg19": networks.Vgg19,
}
