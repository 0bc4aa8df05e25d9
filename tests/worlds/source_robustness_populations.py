"""Populations of sources on which real models are fitted: other sources are other tests and another training set.

A population has classes and sources without end; a source moves its samples, of all its classes or of its one. A data
set draws a few sources and samples of each. Ridge classifiers are fitted on the splits of the real schemes and counted
in the real format, so that nothing here knows what the estimator assumes. What is to be held is the mean over very many
such data sets (`TRUTHS`, computed once by `python -m tests.worlds.source_robustness_populations`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from touchstone.core.split.scheme import SourceExclusive, SourceInclusive, Split, turns_of, without
from touchstone.core.split.units import partners
from touchstone.core.trials.run import as_frame, count

SCHEMES = ("source_exclusive", "source_inclusive")
KINDS = (SourceExclusive, SourceInclusive)
MODELS = {"all features": (8, 1.0), "half of them": (4, 30.0)}
"""How many of the features each ridge sees, and its penalty."""


class Truth(NamedTuple):
    """Means over very many data sets: of both accuracies, and of rho of both models' mean accuracies."""

    exclusive: float
    inclusive: float
    other_exclusive: float
    other_inclusive: float

    @property
    def rho(self) -> float:
        """Of the first model."""
        return self.exclusive / self.inclusive

    @property
    def fall(self) -> float:
        """Of the first model."""
        return self.inclusive - self.exclusive

    @property
    def difference(self) -> float:
        """Rho of the first model less that of the other."""
        return self.rho - self.other_exclusive / self.other_inclusive


@dataclass(frozen=True)
class RealPopulation:
    """Sources and samples without end, and how data sets and trials are drawn from them."""

    n_sources: int = 5
    shared: bool = True
    n_classes: int = 2
    size: float = 40
    """Typical number of samples of a source in a class."""
    size_sd: float = 0.0
    """Spread of the logarithm of the sources' sizes."""
    apart: float = 1.5
    """Distance of a class's mean from the origin."""
    source_sd: float = 0.6
    """How far a source moves its samples, in each direction, if the spread of samples is 1."""
    catastrophic: float = 0.0
    """Share of the sources that look like another class altogether."""
    n_repeats: int = 20
    n_features: int = 8

    def data(self, rng: np.random.Generator) -> "DataSet":
        """A data set: other sources, other samples."""
        n_features = self.n_features
        means = np.random.default_rng(self.n_classes).standard_normal((self.n_classes, n_features))
        means *= self.apart / np.sqrt(np.mean(means**2, axis=1, keepdims=True) * n_features)
        shape = (1 if self.shared else self.n_classes, self.n_sources)
        size = np.maximum(np.round(self.size * np.exp(self.size_sd * rng.standard_normal(shape))), 6).astype(int)
        moved = self.source_sd * rng.standard_normal((*shape, n_features))
        foreign = rng.random(shape) < self.catastrophic
        size, moved, foreign = (np.broadcast_to(a, (self.n_classes, *a.shape[1:])) for a in (size, moved, foreign))
        y, source = (np.repeat(code.ravel(), size.ravel()) for code in np.indices(size.shape))
        centre = np.where(foreign[..., None], np.roll(means, 1, axis=0)[:, None], means[:, None]) + moved
        x = centre[y, source] + rng.standard_normal((len(y), n_features))
        return DataSet(self, x, y, source if self.shared else y * self.n_sources + source)


@dataclass(frozen=True)
class DataSet:
    """Samples with labels and sources; of these, trials."""

    population: RealPopulation
    x: np.ndarray
    y: np.ndarray
    sources: np.ndarray

    def tested(self, *, left_out: bool = False) -> Iterator[tuple[str, str, int, int | None, Split, np.ndarray]]:
        """Every trial: model, scheme, repeat, turn that is left out, split, and what was predicted of its test part."""
        target = np.eye(self.population.n_classes)[self.y]
        turns = turns_of(self.y, self.sources)
        n_repeats = self.population.n_repeats
        held_out, seen = (list(kind(n_repeats=n_repeats).split(None, self.y, self.sources)) for kind in KINDS)
        drawn: dict[str, list[tuple[int, int | None, Split]]] = {scheme: [] for scheme in SCHEMES}
        for turn in (None, *range(turns.max() + 1 if left_out else 0)):
            rest = [
                splits if turn is None else [without(split, turns, turn, self.y) for split in splits]
                for splits in (held_out, seen)
            ]
            same_size = partners(rest[1], rest[0], self.y, seed=0)
            for scheme, splits in zip(SCHEMES, (rest[0], same_size), strict=True):
                drawn[scheme] += [(repeat, turn, split) for repeat, split in enumerate(splits)]
        for scheme, of_scheme in drawn.items():
            for model, (n_features, penalty) in MODELS.items():
                z = np.column_stack([np.ones(len(self.y)), self.x[:, :n_features]])
                ridge = penalty * np.diag([1e-6] + [1.0] * (z.shape[1] - 1))
                for repeat, turn, split in of_scheme:
                    known = z[split.train]
                    weights = np.linalg.solve(known.T @ known + ridge, known.T @ target[split.train])
                    yield model, scheme, repeat, turn, split, (z[split.test] @ weights).argmax(axis=1)

    def trials(self, *, left_out: bool = False) -> pd.DataFrame:
        """The trials frame that a run on these data would write; `left_out` asks for those without some sources."""
        parts = []
        for model, scheme, repeat, turn, (train, test), predicted in self.tested(left_out=left_out):
            counts = count(self.y[test], predicted, self.sources[test], self.population.n_classes)
            if turn is not None:  # a trial without some sources writes no rows of sources
                counts = {name: values[counts["source"] < 0] for name, values in counts.items()}
            same = {"model": model, "scheme": scheme, "repeat": repeat, "left_out": turn}
            same |= {"n_train": len(train), "n_test": len(test)}
            n_rows = len(counts["label"])
            parts.append(counts | {name: np.full(n_rows, value, dtype=object) for name, value in same.items()})
        rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        label = np.append([f"class {c}" for c in range(self.population.n_classes)], [None])[rows["label"]]
        source = np.append(np.arange(self.sources.max() + 1).astype(str).astype(object), None)[rows["source"]]
        held_out = np.where(rows["scheme"] == "source_exclusive", source, None)
        everywhere = {"source_finder": "known", "clustering": 0, "seconds": 0.0, "status": "ok"}
        rows |= {"label": label, "source": source, "held_out_source": held_out}
        rows |= {name: np.full(len(label), value, dtype=object) for name, value in everywhere.items()}
        frame = as_frame(rows | {"n_predicted": pd.array(rows["n_predicted"], dtype="Int64")})
        return frame.assign(left_out=pd.array(rows["left_out"], dtype="Int64")) if left_out else frame

    def accuracies(self) -> Truth:
        """Mean accuracy over the trials of these data, by scheme and model: a single draw of what `Truth` is of."""
        right: dict[tuple[str, str], list[float]] = {}
        for model, scheme, _, _, split, predicted in self.tested():
            right.setdefault((model, scheme), []).append(float(np.mean(predicted == self.y[split.test])))
        return Truth(*(float(np.mean(right[model, scheme])) for model in MODELS for scheme in SCHEMES))


def measured_truth(population: RealPopulation, n_data_sets: int, seed: int = 2018) -> tuple[Truth, Truth]:
    """The means over so many data sets, and their standard errors."""
    rng = np.random.default_rng(seed)
    drawn = np.array([population.data(rng).accuracies() for _ in range(n_data_sets)])
    return Truth(*drawn.mean(axis=0).tolist()), Truth(*(drawn.std(axis=0, ddof=1) / np.sqrt(n_data_sets)).tolist())


POPULATIONS = {
    "5 sources within a class, uneven": RealPopulation(shared=False, size_sd=0.7),
    "5 shared sources, uneven": RealPopulation(size_sd=0.7),
    "5 shared sources, even": RealPopulation(),
    "10 shared sources": RealPopulation(n_sources=10, size=20, size_sd=0.4),
    "20 shared sources": RealPopulation(n_sources=20, size=12, size_sd=0.4),
    "10 classes, 5 sources within": RealPopulation(shared=False, n_classes=10, size=24, apart=3.0, size_sd=0.4),
    "5 shared sources, accurate models": RealPopulation(apart=2.6, source_sd=0.5),
    "5 shared sources, uneven, 3 repeats": RealPopulation(size_sd=0.7, n_repeats=3),
    "5 sources within a class, 100 repeats": RealPopulation(shared=False, size_sd=0.7, n_repeats=100),
    "5 shared sources, 8 % catastrophic": RealPopulation(catastrophic=0.08),
    "5 persons of both classes": RealPopulation(size=30, apart=2.2, source_sd=1.0, n_features=5),
}

TRUTHS = {
    "5 sources within a class, uneven": Truth(0.7877, 0.8661, 0.6748, 0.7500),
    "5 shared sources, uneven": Truth(0.8182, 0.8519, 0.7132, 0.7359),
    "5 shared sources, even": Truth(0.8209, 0.8496, 0.7154, 0.7332),
    "10 shared sources": Truth(0.8261, 0.8447, 0.7192, 0.7300),
    "20 shared sources": Truth(0.8304, 0.8410, 0.7226, 0.7284),
    "10 classes, 5 sources within": Truth(0.6097, 0.6896, 0.3995, 0.4538),
    "5 shared sources, accurate models": Truth(0.9553, 0.9670, 0.8527, 0.8678),
    "5 shared sources, uneven, 3 repeats": Truth(0.8183, 0.8518, 0.7137, 0.7353),
    "5 sources within a class, 100 repeats": Truth(0.7876, 0.8662, 0.6746, 0.7496),
    "5 shared sources, 8 % catastrophic": Truth(0.7547, 0.7904, 0.6726, 0.6947),
    "5 persons of both classes": Truth(0.8680, 0.9251, 0.8226, 0.8771),
}
"""Means over 3,000 data sets; their standard errors are a fiftieth of a data set's own spread."""
SURELY_SEEN = [name for name in POPULATIONS if "catastrophic" not in name]
"""Where intervals have to hold: a source that fails altogether, and of which the data hold none, cannot be seen."""


def main() -> None:
    """Print the truths that stand above."""
    for name, population in POPULATIONS.items():
        truth, se = measured_truth(population, 3000)
        print(name, *(f"{value:.4f}" for value in truth), "standard errors", *(f"{value:.4f}" for value in se))


if __name__ == "__main__":
    main()
