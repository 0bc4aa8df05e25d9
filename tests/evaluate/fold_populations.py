"""Predictions on folds whose truth is known: how often a model errs in each scheme, and which rows err in all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_letters

import numpy as np
import pandas as pd

from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions
from touchstone.core.trials.fold_plan import COLUMNS


def simulated(
    error: Mapping[str, float],
    *,
    n: int = 600,
    n_classes: int = 3,
    n_folds: int = 5,
    seeds: Sequence[int] = (0,),
    models: Sequence[str] = ("model",),
    shared: float = 0.5,
    concentrated: Sequence[str] = (),
    rare: float = 1.0,
    rng: np.random.Generator | None = None,
) -> FoldPredictions:
    """Rows as of a run. `error` is by scheme the chance that a row is wrong; a row's luck is `shared` by all schemes
    and seeds with that probability, so that schemes are positively dependent, as those of real models are. Folds are
    random, but of the schemes that are `concentrated` each has classes of its own. The last class is `rare` times as
    frequent as the first.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    shares = np.geomspace(1.0, rare, n_classes)
    y = rng.choice(n_classes, size=n, p=shares / shares.sum())
    luck, parts = rng.random(n), []
    for scheme, chance in error.items():
        for seed in seeds:
            random = rng.permutation(np.arange(n) % n_folds)
            fold = y * n_folds // n_classes if scheme in concentrated else random
            parts.append(frame(scheme, seed, None, fold, np.arange(n), None))
            for model in models:
                own = np.where(rng.random(n) < shared, luck, rng.random(n))
                y_pred = np.where(own < chance, (y + 1 + rng.integers(n_classes - 1, size=n)) % n_classes, y)
                parts.append(frame(scheme, seed, model, fold, np.arange(n), y_pred))
    ids = np.array([f"row {row}" for row in range(n)], dtype=object)
    return FoldPredictions(
        pd.concat(parts, ignore_index=True), y, tuple(ascii_letters[:n_classes]), ids, {}, planned=True
    )


def frame(scheme, seed, model, fold, row, y_pred, status="ok") -> pd.DataFrame:
    """Rows of `core.trials.fold_plan.COLUMNS`."""
    n = len(row)
    cells = {
        "scheme": pd.Series([scheme] * n, dtype=TEXTS),
        "seed": np.full(n, seed),
        "model": pd.Series([model] * n, dtype=TEXTS),
        "fold": pd.array(fold, dtype="Int16"),
        "row": pd.array(row, dtype="Int32"),
        "y_pred": pd.array([pd.NA] * n if y_pred is None else y_pred, dtype="Int32"),
        "confidence": np.full(n, np.nan),
        "n_train": pd.array([pd.NA] * n, dtype="Int32"),
        "seconds": np.full(n, 0.1),
        "status": pd.Series([status] * n, dtype=TEXTS),
    }
    return pd.DataFrame(cells, columns=list(COLUMNS))


def without_makers(folded: FoldPredictions, scheme: str) -> FoldPredictions:
    """As if the trial that makes the folds of `scheme` were not there (yet)."""
    made = folded.rows["model"].isna() & (folded.rows["scheme"] == scheme)
    return replace(folded, rows=folded.rows[~made.to_numpy(dtype=bool)])
