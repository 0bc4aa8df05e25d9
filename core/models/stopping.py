"""When has a network learned what it can? A rule in updates, the same for every size of a training part.

A number of epochs is no such rule: 20 epochs of 100 samples are 20 updates, of 10,000 they are 1,600. So a curve over
the size of the training part that was trained by epochs shows the length of training along with it.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Integer

LEARNED, PLATEAU, ENDED, CEILING_REACHED, NOT_LEARNED = "learned", "plateau", "ended", "ceiling", "not learned"
Stopped = Literal["learned", "plateau", "ended", "ceiling", "not learned"]

WINDOW = 150
"""Losses are averaged over so many updates, in whole epochs, or over one epoch where that is longer."""
FLOOR, CEILING = 4, 40
"""Windows that training lasts at least and at most."""
LEAST, MOST = FLOOR * WINDOW, CEILING * WINDOW
"""Updates, where an epoch is no longer than a window."""
WHOLLY = 0.02
"""The share of the loss of guessing below which there is nothing left to learn from the training part."""
GAIN = 0.02
"""A window has to lower the loss by this share, else training has come to a plateau."""
GUESSING = 0.99
"""The share of the loss of guessing above which nothing has been learned; of weak signals there is little to learn."""


@dataclass(frozen=True)
class Training:
    """How long a network was trained, why no longer, and what became of it on its own training part.

    `stopped`: "learned" (its loss is nearly 0), "plateau" (the loss falls no more), "ended" (it still fell when the
    epochs that were asked for were over), "ceiling" (it still fell at the most updates that the rule allows), "not
    learned" (it stayed near that of guessing). `accuracy` is that on the training part, from 0 to 1.

    Examples
    --------
    >>> Training(n_updates=600, stopped="learned", accuracy=1.0).is_done
    True
    """

    n_updates: int
    stopped: Stopped
    accuracy: float

    @property
    def is_done(self) -> bool:
        """Whether longer training would hardly have changed it."""
        return self.stopped in (LEARNED, PLATEAU)


def loss_of_guessing(y: Integer[np.ndarray, " n_train"]) -> float:
    """The cross-entropy of who knows nothing but how frequent each class is, in nats.

    Examples
    --------
    >>> round(loss_of_guessing(np.array([0, 1, 1, 0])), 3) == round(math.log(2), 3)
    True
    """
    shares = np.bincount(y) / len(y)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


class Watch:
    """Hears of the loss after every epoch of one fit, and says when to stop; of a number of epochs, after these.

    Parameters
    ----------
    guessing
        The loss of who knows nothing (`loss_of_guessing`).
    updates_per_epoch
        Updates in one epoch.
    n_epochs
        How many epochs are asked for, whatever the loss; None asks for the rule.

    Examples
    --------
    >>> watch = Watch(math.log(10), updates_per_epoch=1)
    >>> while not watch.heard(2.3 * 0.99**watch.n_done):
    ...     pass
    >>> watch.n_done, watch.stopped
    (600, 'learned')
    """

    def __init__(self, guessing: float, *, updates_per_epoch: int, n_epochs: int | None = None):
        self._guessing, self._per_epoch, self._asked = guessing, updates_per_epoch, n_epochs
        self._in_window = -(-WINDOW // updates_per_epoch)
        self._losses: list[float] = []
        self._best = math.inf
        self._gained = True
        self.n_done = 0
        self.is_best = False
        """Whether the last epoch ended a window with the lowest loss so far."""

    @property
    def most(self) -> int:
        """How many epochs it can last."""
        return self._asked if self._asked is not None else CEILING * self._in_window

    @property
    def expected(self) -> int:
        """How many epochs it will last as far as is known: to the end of this window, where the rule decides."""
        windows = max(FLOOR, -(-self.n_done // self._in_window))
        return self._asked if self._asked is not None else windows * self._in_window

    @property
    def keeps_best(self) -> bool:
        """Whether the network is left as it was at its lowest loss; whoever asks for epochs gets the last one."""
        return self._asked is None

    def heard(self, loss: float) -> bool:
        """Take in the mean loss of an epoch; gives whether training is over."""
        self.n_done += 1
        self._losses.append(loss)
        self.is_best = False
        if len(self._losses) == self._in_window:
            mean = sum(self._losses) / len(self._losses)
            self._losses = []
            self._gained = mean <= (1 - GAIN) * self._best
            self.is_best = mean < self._best
            self._best = min(self._best, mean)
            if self._asked is None and self.n_done >= FLOOR * self._in_window and self.stopped in (LEARNED, PLATEAU):
                return True
        return self.n_done >= self.most

    @property
    def stopped(self) -> Stopped:
        """Why training would be over now."""
        if self.n_done < FLOOR * self._in_window:
            return ENDED
        if not self._guessing:  # of a single class there is nothing to learn
            return LEARNED
        if self._best > GUESSING * self._guessing:
            return NOT_LEARNED
        if self._best < WHOLLY * self._guessing:
            return LEARNED
        if not self._gained:
            return PLATEAU
        return CEILING_REACHED if self._asked is None else ENDED

    def training(self, *, accuracy: float) -> Training:
        """What became of it, with its accuracy on its training part."""
        return Training(self.n_done * self._per_epoch, self.stopped, accuracy)
