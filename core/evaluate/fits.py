"""Did the networks of these trials learn what they could? What rests on networks that did not says so."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from touchstone.core.evaluate.wording import count, listed, plural
from touchstone.core.models.stopping import CEILING_REACHED, ENDED, NOT_LEARNED
from touchstone.core.trials.run import TUNED

MANY = 0.1
"""The share of unfinished networks above which nothing is concluded from how accuracy changes with the data."""


@dataclass(frozen=True)
class Fits:
    """How the trainings of one network ended, counted over its trials."""

    n: int
    n_ended: int = 0
    """The epochs that were asked for were over, and the loss still fell."""
    n_at_ceiling: int = 0
    """The loss still fell at the most updates that the rule allows."""
    n_not_learned: int = 0
    """The loss stayed near that of guessing."""

    @property
    def n_unfinished(self) -> int:
        """Those that longer, or other, training would change."""
        return self.n_ended + self.n_at_ceiling + self.n_not_learned

    @property
    def are_finished(self) -> bool:
        """Whether nearly all learned what they could."""
        return self.n_unfinished <= MANY * self.n

    def sentence(self, what: str) -> str:
        """Which of these trainings did not, and why; empty where all did.

        >>> Fits(40, n_ended=8, n_not_learned=4).sentence("of CNN-3")
        'Of 40 trainings of CNN-3, 8 ended while the loss still fell and 4 learned nothing.'
        >>> Fits(40, n_ended=40).sentence("of CNN-3")
        'All 40 trainings of CNN-3 ended while the loss still fell.'
        """
        why = {
            "ended while the loss still fell": self.n_ended,
            "still improved at the most updates allowed": self.n_at_ceiling,
            "learned nothing": self.n_not_learned,
        }
        if self.n and self.n in why.values():
            [how] = [how for how, n in why.items() if n]
            return f"All {plural(self.n, 'training')} {what} {how}." if self.n > 1 else f"The training {what} {how}."
        parts = [f"{count(n)} {how}" for how, n in why.items() if n]
        return f"Of {plural(self.n, 'training')} {what}, {listed(parts)}." if parts else ""

    @property
    def advice(self) -> str:
        """What to do about it; empty where nearly all learned what they could."""
        if self.are_finished:
            return ""
        if self.n_ended:
            return "Next: train longer; leave the epochs of networks as usual."
        return "Next: choose another network; this one does not learn these data as it is trained here."


def usual_choices(trials: pd.DataFrame, by: Sequence[str]) -> dict[Hashable, str]:
    """What inner folds chose most often, in a sentence, by the values of these columns; as `fits_of`.

    >>> rows = pd.DataFrame({"model": ["svm"] * 3, "hyperparameters": ["C 1", "C 10", "C 10"]})
    >>> usual_choices(rows.assign(label=None, source=None), ["model"])
    {'svm': 'Hyperparameters were chosen by inner folds of each training part, most often C 10 (2 of 3 trainings).'}
    """
    sentences = {}
    for named, chosen in _whole(trials, TUNED, by):
        usual, n = chosen.mode().iloc[0], count(int((chosen == chosen.mode().iloc[0]).sum()))
        how = f"most often {usual} ({n} of {plural(len(chosen), 'training')})"
        sentences[named] = f"Hyperparameters were chosen by inner folds of each training part, {how}."
    return sentences


def fits_of(trials: pd.DataFrame, by: Sequence[str]) -> dict[Hashable, Fits]:
    """How trainings ended by the values of these columns (a tuple of them where there are several).

    `trials` are rows of finished trials; models that are no networks, and runs that did not note it, are not in it.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["cnn_1", "cnn_1", "svm"], "stopped": ["ended", "learned", None]})
    >>> fits_of(rows.assign(label=None, source=None), ["model"])
    {'cnn_1': Fits(n=2, n_ended=1, n_at_ceiling=0, n_not_learned=0)}
    """
    return {
        named: Fits(len(ended), *(int((ended == why).sum()) for why in (ENDED, CEILING_REACHED, NOT_LEARNED)))
        for named, ended in _whole(trials, "stopped", by)
    }


def _whole(trials: pd.DataFrame, column: str, by: Sequence[str]) -> Iterator[tuple[Hashable, pd.Series]]:
    """A column of the rows of whole test parts, where it is known, by the values of others."""
    if column in trials.columns:
        is_known = trials["label"].isna() & trials["source"].isna() & trials[column].notna()
        key = list(by) if len(by) > 1 else by[0]
        yield from trials.loc[is_known.to_numpy(dtype=bool)].groupby(key, sort=False, observed=True)[column]
