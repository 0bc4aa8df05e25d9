"""How do repeats of one network's trial become one piece of work? Trained together, each tested on its own part."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.data import Dataset
from touchstone.core.models import MODELS, Classifier
from touchstone.core.models.networks import PaperNetwork
from touchstone.core.models.together import fit_together, why_not_together
from touchstone.core.models.training import best_device
from touchstone.core.split import Split
from touchstone.core.trials.draws import trial_at
from touchstone.core.trials.epochs import Chosen, of_turn, untrained
from touchstone.core.trials.plan import Context
from touchstone.core.trials.run import table_of

if TYPE_CHECKING:
    from touchstone.core.trials.trial_plan import TrialPlan

AT_ONCE = 16
"""So many networks are trained together at most: each brings its weights, gradients and velocities to the GPU."""


def trained_together(model: Classifier, dataset: Dataset, together: bool | None = None) -> bool:
    """Whether repeats of a model on this data set are trained together; None asks whether there is a GPU for it.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
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
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
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


def groups_of(plan: "TrialPlan", dataset: Dataset, indices: Sequence[int]) -> list[tuple[int, ...]]:
    """Trials of the same network of a plan together, as far as it can be trained so; the others each for themselves."""
    fit = {name: trained_together(untrained(MODELS[name], None), dataset, together=True) for name in plan.models}
    trials = {index: trial_at(plan, dataset, index) for index in indices}
    # A trial that leaves sources out may have nothing to train for, and stays alone.
    names = {index: model if turn is None else "" for index, (_, model, turn) in trials.items()}
    return in_groups(names, {n for n in fit if fit[n]})


def run_together(
    plan: "TrialPlan", dataset: Dataset, indices: Sequence[int], *, context: Context, together: bool | None
) -> list[pd.DataFrame]:
    """The rows of several trials of a plan, networks of one architecture trained together where they can be."""
    rows: dict[int, pd.DataFrame] = {}
    for name in plan.models:
        model = untrained(MODELS[name], plan.n_epochs)
        of_model = [index for index in indices if trial_at(plan, dataset, index)[1] == name]
        leaves_out = any(trial_at(plan, dataset, index)[2] is not None for index in of_model)
        if not of_model or leaves_out or not trained_together(model, dataset, together):
            rows |= {index: plan.run_trial(dataset, index, context=context) for index in of_model}
            continue
        draws = [trial_at(plan, dataset, index)[0] for index in of_model]
        splits, validations = zip(*(plan.fitted_and_held_back(dataset, draw) for draw in draws), strict=True)
        predicted = predict_together(
            *((plan.epoch,), model, dataset, splits),
            seeds=[plan.fit_seed(draw) for draw in draws],
            validations=validations,
            should_stop=context.should_stop,
        )
        for index, draw, split, (labels, seconds) in zip(of_model, draws, splits, predicted, strict=True):
            counted = plan.counted(dataset, draw, labels[plan.epoch], model=name, seconds=seconds, split=split)
            rows[index] = table_of([of_turn(counted, None) if plan.left_out else counted])
    return [rows[index] for index in indices]
