"""Slices of predictions where it is known which are weak: real models on drawn columns, mistakes planted or by lot.

Where nothing is, the columns that make rules are drawn apart from everything that the model learns from; mistakes come
in clumps where samples do (three or four of an author). Where something is, labels are turned in a rule of two columns.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from tests.worlds.world import World
from touchstone.core.data import Predictions
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import UNKNOWN
from touchstone.core.evaluate.weak_slices import WEAK, WeakSlices, find_weak_slices

N_TRAIN, N_COLUMNS = 400, 4
Drawn = tuple[Predictions, dict[str, np.ndarray], np.ndarray]
"""Answers, columns beside them, and the samples of the planted rule."""


def drawn(seed: int, n: int = 1000, *, planted: bool = False, authors: int = 0, beside: int = N_COLUMNS) -> Drawn:
    """A logistic regression's answers on new samples, with numbers and two kinds beside them."""
    rng = np.random.default_rng([seed, n, authors])
    y = rng.integers(2, size=N_TRAIN + n)
    x = rng.normal(size=(N_TRAIN + n, 3)) + 1.5 * y[:, None] * np.array([1.0, 0.5, 0.0])
    author = rng.integers(authors, size=n) if authors else np.arange(n)
    if authors:
        x[N_TRAIN:] += rng.normal(size=(authors, 3))[author]
    columns: dict[str, np.ndarray] = {f"number {i}": rng.normal(size=n) for i in range(beside)}
    columns |= {name: rng.choice(list("abcd"), n) for name in ("region", "device")}
    if authors:
        columns["region"] = rng.choice(list("abcd"), authors)[author]
    truth = y[N_TRAIN:].copy()
    members = (columns["number 0"] >= 0.4) & np.isin(columns["region"], ["b"])
    if planted:
        turned = members & (rng.random(n) < 0.5)
        truth[turned] = 1 - truth[turned]
    model = LogisticRegression().fit(x[:N_TRAIN], y[:N_TRAIN])
    proba, groups = model.predict_proba(x[N_TRAIN:]), {"unit": [f"author {i}" for i in author]} if authors else None
    ids = [f"s{i}" for i in range(n)]
    answers = Predictions(ids, truth, proba.argmax(1), ["a", "b"], proba=proba, groups=groups, unit_name="author")
    return answers, columns, members


def most_sure(made: WeakSlices) -> Claim:
    """The claim that is made most surely; an undecided one where no slice was judged."""
    known = [each.claim for each in made.slices if each.interval.known]
    return min(known, key=lambda each: each.p_value, default=claim(WEAK, 0.0, UNKNOWN, 1.0))


def _world(name: str, effect: float, **how: int) -> World:
    def claims(data_seed: int, method_seed: int) -> dict[str, Claim]:
        answers, columns, _ = drawn(data_seed, planted=effect > 0, **how)
        return {WEAK: most_sure(find_weak_slices(answers, columns, seed=method_seed))}

    return World("weak_slices", name, {WEAK: effect}, claims)


WORLDS = (
    _world("1,000 samples, 6 columns of nothing", 0.0),
    _world("300 authors of 1,000 samples, 6 columns of nothing", 0.0, authors=300),
    _world("1,200 samples, half of a rule of two columns turned", 0.35, n=1200),
)
