"""How do repeats of one network's trial become one piece of work? Trained together, each tested on its own part."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from jaxtyping import Integer

from core.data import Dataset
from core.models import Classifier
from core.models.paper_networks import PaperNetwork
from core.models.together import fit_together, why_not_together
from core.models.training import best_device
from core.split import Split
from core.trials.epochs import Chosen

AT_ONCE = 16
"""So many networks are trained together at most: each brings its weights, gradients and velocities to the GPU."""


def trained_together(model: Classifier, dataset: Dataset, together: bool | None = None) -> bool:
    """Whether repeats of a model on this data set are trained together; None asks whether there is a GPU for it.

    Examples
    --------
    >>> from core.data import load_example
    >>> from core.models import MODELS
    >>> trained_together(MODELS["cnn_1"](), load_example("digits"), together=True)
    True
    >>> trained_together(MODELS["svm"](), load_example("digits"), together=True)
    False
    """
    if why_not_together(model, dataset) is not None:
        return False
    return best_device() != "cpu" if together is None else together


def in_groups(models: Mapping[int, str], together: Collection[str]) -> list[tuple[int, ...]]:
    """Put trials, by the names of their models, into groups of at most AT_ONCE; models not `together` stay alone.

    Groups stand in the order of their first trials.

    Examples
    --------
    >>> in_groups({0: "svm", 1: "cnn_1", 2: "svm", 3: "cnn_1"}, {"cnn_1"})
    [(0,), (1, 3), (2,)]
    """
    groups = [(trial,) for trial, name in models.items() if name not in together]
    for name in together:
        of_model = [trial for trial, model in models.items() if model == name]
        groups += [tuple(of_model[first : first + AT_ONCE]) for first in range(0, len(of_model), AT_ONCE)]
    return sorted(groups)


def predict_together(
    epochs: tuple[str, ...],
    model: PaperNetwork,
    dataset: Dataset,
    splits: Sequence[Split],
    *,
    seeds: Sequence[int],
    should_stop: Callable[[], bool],
    validations: Sequence[Integer[np.ndarray, " _"] | None] | None = None,
    at_once: int = AT_ONCE,
    device: str | None = None,
) -> list[tuple[dict[str, Integer[np.ndarray, " _"]], float]]:
    """Give what `predict_at` gives for each split and seed, at most `at_once` networks trained together.

    The seconds are a network's share of what those trained with it took. Raises ModelError where the model cannot be
    trained so (see `why_not_together`) and where training diverges for one of them, and Cancelled when `should_stop`
    turns true between epochs.

    Examples
    --------
    >>> from core.data import load_example
    >>> from core.models import MODELS
    >>> wine = load_example("wine")
    >>> splits = [Split(np.arange(0, 178, 2), np.arange(1, 178, 2)), Split(np.arange(1, 178, 2), np.arange(0, 178, 2))]
    >>> options = dict(seeds=[0, 1], should_stop=lambda: False)
    >>> predicted = predict_together(("last", "best"), MODELS["linear"](), wine, splits, **options)
    >>> [bool((labels["best"] == wine.y[split.test]).mean() > 0.9) for (labels, _), split in zip(predicted, splits)]
    [True, True]
    """
    held_back = validations or [None] * len(splits)
    given, results = list(zip(splits, seeds, held_back, strict=True)), []
    for first in range(0, len(given), at_once):
        start = time.perf_counter()
        group = given[first : first + at_once]
        chosen = [Chosen(epochs, dataset, split.test, validation) for split, _, validation in group]

        def look(_n_done: int, _n_epochs: int, models: list[PaperNetwork], chosen: list[Chosen] = chosen) -> None:
            for one, trained in zip(chosen, models, strict=True):
                one.look(trained)

        fitted = fit_together(
            model,
            dataset,
            [split.train for split, _, _ in group],
            [seed for _, seed, _ in group],
            device=device,
            on_epoch=look if chosen[0].judges else None,
            should_stop=should_stop,
        )
        predicted = [one.at_the_end(trained) for one, trained in zip(chosen, fitted, strict=True)]
        seconds = (time.perf_counter() - start) / len(group)
        results += [(labels, seconds) for labels in predicted]
    return results
