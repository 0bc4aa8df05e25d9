"""Fitted networks held against Monte-Carlo: is the estimator biased, is plain MMSE farther off than Taylor?

These worlds were chosen after the others were frozen. Of a linear model both Taylor and MMSE with antithetic copies are
exact, so that neither has a bias, and plain noise only adds its own luck to MMSE. Of a network whose boundary is a
ring, the tangent at a sample says too much, and the mean of five tangents less so. True effects are means over 40 other
data sets, each with 100,000 draws (`truth`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tests.evaluate.small_networks import Logits
from tests.worlds.average_case_claims import claims_of
from tests.worlds.world import World
from touchstone.core.evaluate.average_case import ESTIMATORS, estimate
from touchstone.core.evaluate.average_case.estimators import PAIRED_COPIES, PAPER_COPIES
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.claims import Claim
from touchstone.core.models.networks import one_torch_thread

BIASED, FARTHER = "average_case.biased", "average_case.mmse_farther_off"
N_TRAINING, N_DRAWS = 300, 2000


@dataclass(frozen=True)
class Design:
    """Two clouds `apart`, or class 1 in a `ring` of that radius around class 0; the estimator that is audited."""

    name: str
    n: int
    estimator: str
    sigma: float
    effects: Mapping[str, float] = field(hash=False)
    apart: float = 2.0
    ring: bool = False

    def world(self) -> World:
        """The world of this design."""
        name = f"{self.name}, {self.estimator}, sigma {self.sigma:g}, n = {self.n}"
        return World("average_case", name, dict(self.effects), self.claims)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of a network fitted to data drawn anew."""
        with one_torch_thread():
            rows = self.rows(data_seed, method_seed, n_draws=N_DRAWS)
        return claims_of(evaluate_robustness(rows, class_names=("a", "b"), seed=method_seed), self.sigma)

    def rows(self, data_seed: int, method_seed: int, *, n_draws: int) -> pd.DataFrame:
        """The rows that a run would write: the samples, and the audit of all of them."""
        from torch import Generator, from_numpy

        rng = np.random.default_rng([data_seed, self.n])
        model = self.fitted(*self.drawn(rng, N_TRAINING), seed=data_seed)
        x, y = self.drawn(rng, self.n)
        generator, parts = Generator().manual_seed(method_seed), []
        for part, name, options in self.asked(n_draws):
            estimator = ESTIMATORS[name](**options)
            made = estimate(model, from_numpy(x), sigma=self.sigma, estimator=estimator, generator=generator)
            same = {"part": part, "row": np.arange(self.n), "label": y, "estimator": name}
            parts.append(made.table().assign(**same, seconds=0.01, status="ok"))
        return pd.concat(parts, ignore_index=True)

    def asked(self, n_draws: int) -> tuple[tuple[str, str, dict[str, int]], ...]:
        """What is estimated: the part of the run, the estimator, its options."""
        return (
            ("samples", self.estimator, {}),
            ("audit", "monte_carlo", {"n_samples": n_draws}),
            *(("audit", name, {}) for name in dict.fromkeys(("taylor", self.estimator))),
            ("convergence", "mmse_plain", {"n_samples": PAPER_COPIES}),
            ("convergence", "mmse", {"n_samples": PAIRED_COPIES}),
        )

    def drawn(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Two classes in two columns."""
        y = np.arange(n) % 2
        x = rng.normal(size=(n, 2)) * (0.5 if self.ring else 1.0)
        angle = 2 * np.pi * rng.random(n) * self.ring
        x += self.apart * y[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return x.astype(np.float32), y

    def fitted(self, x: np.ndarray, y: np.ndarray, *, seed: int) -> Logits:
        """A linear model, or a network with 16 hidden units where the boundary is a ring."""
        import torch
        from torch import nn

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            bent = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
            network = bent if self.ring else nn.Linear(2, 2)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
        inputs, labels = torch.from_numpy(x), torch.from_numpy(y)
        for _ in range(150):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(inputs), labels).backward()
            optimizer.step()
        return Logits(network.eval())


def truth(design: Design, n_data_sets: int = 40) -> dict[str, tuple[float, float]]:
    """Bias, and by how much plain MMSE is farther off than Taylor: means over data sets and their standard errors."""
    values = []
    for seed in range(10_000, 10_000 + n_data_sets):
        with one_torch_thread():
            rows = design.rows(seed, seed, n_draws=100_000)
        audit = evaluate_robustness(rows, class_names=("a", "b")).audit
        checked = audit.of(design.estimator, design.sigma)
        assert checked is not None
        assert audit.paper is not None
        values.append((checked.bias.value, audit.paper.plain_less_taylor.value))
    means, errors = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(n_data_sets)
    return {kind: (float(m), float(e)) for kind, m, e in zip((BIASED, FARTHER), means, errors, strict=True)}


DESIGNS = (
    Design("a linear model", 50, "mmse", 1.0, {BIASED: 0.0, FARTHER: 0.077}),
    Design("a linear model", 15, "mmse", 1.0, {BIASED: 0.0}),
    Design("a linear model, clouds far apart", 50, "mmse", 0.1, {BIASED: 0.0, FARTHER: 0.0}, apart=12.0),
    Design("class 1 in a ring", 100, "taylor", 1.0, {BIASED: 0.134, FARTHER: -0.047}, ring=True),
)
WORLDS = tuple(design.world() for design in DESIGNS)
