"""Simulated populations of sources, and the trials frames that experiments on data drawn from them would write.

A population has classes; a class has sources without end. A source has a size, an accuracy when it is unknown to the
model and one when it is known. A data set holds `n_sources` sources of each class; each of its samples has a number
that says at which accuracies it is right, so that the same samples are easy in both schemes and for every model.
Clusterings of one data set agree on the sources' sizes and accuracies as far as `agreement` says.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from touchstone.core.data.frames import TEXTS

SCHEMES = ("source_exclusive", "source_inclusive", "random")


@dataclass(frozen=True)
class Population:
    n_classes: int = 2
    exclusive: float = 0.82
    inclusive: float = 0.97
    class_sd: float = 0.4
    """Spread of the classes' accuracies (fixed in the population), in logits."""
    source_sd: float = 0.7
    """Spread of the sources' accuracies within a class, in logits."""
    size: float = 40
    size_sd: float = 0.5
    """Spread of the logarithm of the sources' sizes."""
    training_sd: float = 0.1
    """What a draw's training part adds to the logits of all it tests."""
    n_sources: int = 5
    n_clusterings: int = 1
    agreement: float = 1.0

    def sources(self, rng: np.random.Generator, n_sources: int | None = None) -> list[tuple[np.ndarray, ...]]:
        """Of each clustering: sizes, and logits of the exclusive and the inclusive accuracy, by class and source."""
        shape = (4, self.n_classes, n_sources or self.n_sources)
        common = rng.standard_normal(shape)
        return [
            self._of(
                np.sqrt(self.agreement) * common + np.sqrt(1 - self.agreement) * rng.standard_normal(shape)
                if self.agreement < 1
                else common
            )
            for _ in range(self.n_clusterings)
        ]

    def _of(self, normal: np.ndarray) -> tuple[np.ndarray, ...]:
        size = np.maximum(np.round(self.size * np.exp(self.size_sd * normal[0])), 4).astype(int)
        of_class = self.class_sd * np.linspace(-1, 1, self.n_classes)[:, None]
        exclusive = logit(self.exclusive) + of_class + self.source_sd * (0.8 * normal[1] + 0.6 * normal[2])
        inclusive = logit(self.inclusive) + of_class + self.source_sd * (0.8 * normal[1] + 0.6 * normal[3])
        return size, exclusive, inclusive

    def truth(self, n_sources: int = 400_000) -> dict[str, float]:
        """E[AccX], E[AccI] and rho: what the means over ever more data sets and draws come to."""
        rng = np.random.default_rng(2018)
        size, x, i = self.sources(rng, n_sources)[0]
        noise = self.training_sd * rng.standard_normal(n_sources)
        exclusive = float(((size * expit(x + noise)).sum(axis=0) / size.sum(axis=0)).mean())
        sets = (self.n_classes, -1, self.n_sources)
        tested = _tested(size)
        right = (tested * expit(i + noise)).reshape(sets).sum(axis=(0, 2))
        inclusive = float((right / tested.reshape(sets).sum(axis=(0, 2))).mean())
        return {"exclusive": exclusive, "inclusive": inclusive, "rho": exclusive / inclusive}

    def data(self, rng: np.random.Generator) -> "Data":
        clusterings = self.sources(rng)
        ease = [[[logit(rng.uniform(1e-9, 1 - 1e-9, n)) for n in row] for row in size] for size, _, _ in clusterings]
        if self.agreement == 1:  # the same clusters hold the same samples
            ease = ease[:1] * self.n_clusterings
        return Data(self, tuple(clusterings), ease)


@dataclass(frozen=True)
class Data:
    population: Population
    clusterings: tuple[tuple[np.ndarray, ...], ...]
    ease: list

    def trials(
        self,
        rng: np.random.Generator,
        *,
        n_repeats: int = 20,
        model: str = "model",
        shift: float = 0.0,
        schemes: tuple[str, ...] = SCHEMES[:2],
    ) -> pd.DataFrame:
        """The rows of `n_repeats` draws of each scheme; `shift` adds to a model's logits on unknown sources.

        Every model gets the same draws (of its own training noise `rng` decides).
        """
        rows = []
        for number, scheme in enumerate(schemes):
            draws = [np.random.default_rng([number, clustering]) for clustering in range(len(self.clusterings))]
            orders: list[list[np.ndarray]] = [[] for _ in draws]
            for repeat in range(n_repeats):
                clustering = repeat % len(draws)
                noise = self.population.training_sd * rng.standard_normal()
                if scheme == "source_exclusive":
                    if not orders[clustering]:
                        orders[clustering] = self._order(draws[clustering])
                    cells = self._exclusive(clustering, orders[clustering].pop(), noise + shift)
                else:
                    cells = self._inclusive(clustering, draws[clustering], noise)
                rows += trial_rows(
                    cells,
                    model=model,
                    scheme=scheme,
                    repeat=repeat,
                    clustering=clustering,
                    n_samples=int(self.clusterings[clustering][0].sum()),
                )
        return frame(rows)

    def _order(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Each class's sources in an order of their own, so that every source is held out equally often."""
        n_sources = self.population.n_sources
        return list(rng.permuted(np.tile(np.arange(n_sources), (self.population.n_classes, 1)), axis=1).T)

    def _exclusive(self, clustering: int, held_out: np.ndarray, noise: float) -> dict:
        size, x, _ = self.clusterings[clustering]
        ease = self.ease[clustering]
        return {
            (f"class {c}", str(c * size.shape[1] + s)): (int(np.sum(ease[c][s] < x[c, s] + noise)), int(size[c, s]))
            for c, s in enumerate(held_out)
        }

    def _inclusive(self, clustering: int, draws: np.random.Generator, noise: float) -> dict:
        size, _, i = self.clusterings[clustering]
        cells = {}
        for (c, s), n in np.ndenumerate(_tested(size)):
            tested = draws.choice(self.ease[clustering][c][s], n, replace=False)
            cells[f"class {c}", str(c * size.shape[1] + s)] = (int(np.sum(tested < i[c, s] + noise)), int(n))
        return cells


def trial_rows(
    cells: dict[tuple[str, str], tuple[int, int]],
    *,
    model: str = "model",
    scheme: str = "source_exclusive",
    repeat: int = 0,
    clustering: int = 0,
    n_samples: int = 1000,
    source_finder: str = "kmeans",
) -> list[dict]:
    """The rows of one trial from what was right, of how many, in each (label, source); the wrong ones go around."""
    labels = list(dict.fromkeys(label for label, _ in cells))
    n_test = sum(n for _, n in cells.values())
    same = {"model": model, "source_finder": source_finder, "scheme": scheme, "repeat": repeat}
    same |= {"clustering": clustering, "n_train": n_samples - n_test, "n_test": n_test, "seconds": 0.1, "status": "ok"}
    of_label = {name: np.sum([v for (label, _), v in cells.items() if label == name], axis=0) for name in labels}
    wrong = [int(n - right) for right, n in of_label.values()]
    rows = [(None, None, None, n_test - sum(wrong), n_test, n_test)]
    for place, (label, (right, n)) in enumerate(of_label.items()):
        rows.append((label, None, None, int(right), int(n), int(right) + wrong[place - 1]))
    for (label, source), (right, n) in cells.items():
        rows.append((label, source, source if scheme == "source_exclusive" else None, right, n, None))
    names = ("label", "source", "held_out_source", "n_correct", "n_label", "n_predicted")
    return [{**same, **dict(zip(names, row, strict=True))} for row in rows]


def failed_row(**same) -> dict:
    """The row that stands for a trial that could not be finished."""
    return {"source_finder": "kmeans", "clustering": 0, "status": "failed", "seconds": 1.0, **same}


def frame(rows: list[dict]) -> pd.DataFrame:
    """Rows as a trials frame, with the types that touchstone.core.trials gives it."""
    text = ("model", "source_finder", "scheme", "label", "source", "held_out_source", "status")
    whole = ("repeat", "clustering", "n_train", "n_test", "n_correct", "n_label", "n_predicted")
    columns = [*text[:3], *whole[:4], *text[3:6], *whole[4:], "seconds", "status"]
    types = dict.fromkeys(text, TEXTS) | dict.fromkeys(whole, "Int64") | {"seconds": "float64"}
    return pd.DataFrame(rows, columns=columns).astype(types)


def _tested(size: np.ndarray) -> np.ndarray:
    return np.maximum(np.round(0.2 * size), 1).astype(int)
