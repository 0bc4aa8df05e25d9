"""How large is the largest class? The plan of the toy question draws samples anew; and what the draws come to."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.wording import Verdict, percent
from touchstone.core.parameters import asks
from touchstone.core.trials.plan import Context, check_fields


@dataclass(frozen=True)
class LargestClassPlan:
    n_repeats: int = asks(3, label="Draws", address="draws", place="row", lowest=1, highest=100, says="draw")
    seed: int = 0

    kind: ClassVar[str] = "largest_class"
    METHOD_VERSION: ClassVar[int] = 1
    described: ClassVar[str] = "{n_repeats}"

    def __post_init__(self) -> None:
        check_fields(self)

    def n_trials(self, dataset: Dataset) -> int:
        return self.n_repeats

    def stored_models(self) -> tuple[str, ...]:
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        drawn = np.random.default_rng((self.seed, index)).choice(dataset.y, dataset.n_samples)
        largest = int(np.bincount(drawn).max())
        return pd.DataFrame({"trial": [index], "largest": [largest], "n": [dataset.n_samples], "status": ["ok"]})

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        return pd.DataFrame({"trial": [index], "largest": [pd.NA], "n": [dataset.n_samples], "status": ["failed"]})


def largest_class_verdict(rows: pd.DataFrame) -> Verdict:
    share = float((rows["largest"] / rows["n"]).mean())
    return Verdict(f"The largest class holds {percent(share)} of the samples.", f"{len(rows)} draws.", "", ())
