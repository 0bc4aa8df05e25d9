"""What can be chosen in a plan? The entries of each registry that fit what a form is about, with their titles."""

from typing import Any

from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.models import MODELS, fits
from touchstone.core.parameters import About, Titles, asks, title_of
from touchstone.core.represent import REPRESENTATIONS, available, numbers_of
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.trials.defaults import meant_features
from touchstone.core.trials.sources_plan import KNOWN_SOURCES

KNOWN_TITLE = "known sources"
ACROSS = {"class": "within each class", "all": "over all classes together"}
"""How whole sources are held out, and what the screen calls it; None leaves it to SourceExclusive."""
N_EPOCHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200)
"""The numbers of epochs that the screen offers."""


def models_offered(about: About) -> Titles:
    """The models that can be trained on the data set.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> "cnn_1" in models_offered(About()), "cnn_1" in models_offered(About(load_example("wine")))
    (True, False)
    """
    dataset = about.dataset
    return {name: title_of(model) for name, model in MODELS.items() if dataset is None or fits(model, dataset)}


def finders_offered(about: About) -> Titles:
    """The ways to find sources that fit the data set; the sources that it names itself come last."""
    dataset = about.dataset
    finders = {
        name: title_of(finder) for name, finder in SOURCE_FINDERS.items() if dataset is None or finder.fits(dataset)
    }
    return finders | ({KNOWN_SOURCES: KNOWN_TITLE} if dataset is None or has_sources(about) else {})


def features_offered(about: About) -> Titles:
    """The representations that fit the data set, the usual one of its kind first."""
    entries = REPRESENTATIONS if about.dataset is None else available(about.dataset)
    return {name: title_of(entry) for name, entry in entries.items()}


def asks_features(label: str, *, help: str = "", says: str) -> Any:
    """The field `representation` of a plan: the features that something is done in, None for the usual ones."""
    return asks(
        None,
        label,
        address="features",
        choices=features_offered,
        word="usual",
        differs=lambda about: {
            "help": f"{help}Default: {next(iter(features_offered(about).values()))}. Models are always trained on the "
            "data themselves."
        },
        says=lambda name: f"{says}{title_of(REPRESENTATIONS[name])}" if name else "",
        means=meant_features,
    )


def fold_schemes_offered(about: About) -> Titles:
    """The ways to make folds that fit the data set."""
    able = about.dataset is None or has_sources(about)
    return {name: title_of(scheme) for name, scheme in FOLD_SCHEMES.items() if able or scheme.needs != "groups"}


def numbers_offered(about: About) -> Titles | None:
    """The numbers that each sample has, by their names, as an address holds them; None where that is not known."""
    return None if about.dataset is None else {name: name for name in numbers_of(about.dataset)}


def has_sources(about: About) -> bool:
    """Whether the data set names the source of every sample.

    >>> has_sources(About())
    False
    """
    return about.dataset is not None and about.dataset.sources is not None


def first_four(names: tuple[str, ...]) -> str:
    """The titles of some fold schemes in a line: of four, and how many others there are."""
    rest = len(names) - 4
    return ", ".join(
        [*(FOLD_SCHEMES[name].title for name in names[:4]), *([f"{rest} other{'s' * (rest > 1)}"] if rest > 0 else [])]
    )
