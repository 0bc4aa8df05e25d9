"""What are models and ways of finding sources called, on every page and in every report?"""

from core.cluster import SOURCE_FINDERS
from core.models import MODELS
from core.trials import KNOWN_SOURCES

MODEL_TITLES = {name: model.label for name, model in MODELS.items()}
FINDER_TITLES = {**{name: finder.title for name, finder in SOURCE_FINDERS.items()}, KNOWN_SOURCES: "known sources"}
SHORT_FINDERS = {
    "kmeans": "k-means",
    "same_size_kmeans": "same-size",
    "deep_kmeans": "deep k-means",
    "acol": "ACOL",
    KNOWN_SOURCES: "known",
}
"""What a finder is called beside a model's name, where there is little room."""

TITLES = {**MODEL_TITLES, **SHORT_FINDERS}
IN_SENTENCES = {**TITLES, "same_size_kmeans": "same-size k-means", KNOWN_SOURCES: "known sources"}
"""What a finder is called in a sentence."""
