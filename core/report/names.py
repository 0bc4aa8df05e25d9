"""What are models and ways of finding sources called, on every page and in every report?"""

from collections.abc import Callable, Iterator, Mapping

from touchstone.core.cluster import SOURCE_FINDERS
from touchstone.core.models import MODELS
from touchstone.core.trials import KNOWN_SOURCES


class Names(Mapping[str, str]):
    """What the entries of a registry are called, read off them whenever somebody asks.

    >>> Names(lambda: {"svm": "SVM"})["svm"]
    'SVM'
    """

    def __init__(self, read: Callable[[], dict[str, str]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> str:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


MODEL_TITLES = Names(lambda: {name: model.label for name, model in MODELS.items()})
FINDER_TITLES = Names(
    lambda: {**{name: finder.title for name, finder in SOURCE_FINDERS.items()}, KNOWN_SOURCES: "known sources"}
)
TITLES = Names(
    lambda: {**MODEL_TITLES, **{name: finder.short for name, finder in SOURCE_FINDERS.items()}, KNOWN_SOURCES: "known"}
)
"""What models are called, and finders beside a model's name, where there is little room."""

IN_SENTENCES = Names(
    lambda: {
        **MODEL_TITLES,
        **{name: finder.in_sentences for name, finder in SOURCE_FINDERS.items()},
        KNOWN_SOURCES: "known sources",
    }
)
"""What models and finders are called in a sentence."""
