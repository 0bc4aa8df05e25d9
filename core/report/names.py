"""What are models and ways of finding sources called, on every page and in every report?"""

from core.models import MODELS
from core.trials import KNOWN_SOURCES

MODEL_TITLES = {name: model.label for name, model in MODELS.items()}
FINDER_TITLES = {
    "kmeans": "k-means clusters",
    "same_size_kmeans": "k-means clusters of the same size",
    KNOWN_SOURCES: "known sources",
}
SHORT_FINDERS = {"kmeans": "k-means", "same_size_kmeans": "same-size", KNOWN_SOURCES: "known"}
"""What a finder is called beside a model's name, where there is little room."""

TITLES = {**MODEL_TITLES, **SHORT_FINDERS}
IN_SENTENCES = {**TITLES, "same_size_kmeans": "same-size k-means", KNOWN_SOURCES: "known sources"}
"""What a finder is called in a sentence."""
