"""What went wrong with a user's data, or is odd about it, in words that the user can act on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class DataError(ValueError):
    """Data that cannot be used; the message names the place, what was expected and what to do, and is shown as written.

    >>> raise DataError("scores.tsv, line 14: 2 cells. Each row must have 3 cells like the header.")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: scores.tsv, line 14: 2 cells. Each row must have 3 cells like the header.
    """


class SmallClasses(DataError):
    """Classes with too few samples for a question, which can be asked without these `classes` (`Dataset.without`).

    >>> SmallClasses("No sources can be found in rare (1 row).", ("rare",)).classes
    ('rare',)
    """

    def __init__(self, message: str, classes: tuple[str, ...]):
        super().__init__(message)
        self.classes = classes

    def __reduce__(self) -> tuple[type["SmallClasses"], tuple[str, tuple[str, ...]]]:
        return SmallClasses, (str(self), self.classes)


class Oddity(str):
    """A sentence on what is odd about data that are read all the same, and what programs need of it.

    `code` names its kind; `count` of `n` rows are concerned (0 of 0 where it is about none in particular); `options`
    are those of the command that read it otherwise, and `features` those without which it would not be so.

    >>> odd = Oddity("3 of 4 answers are empty.", "unanswered", 3, 4, ("--unanswered=left out",))
    >>> print(odd.of("resnet"), odd.of("resnet").share)
    resnet: 3 of 4 answers are empty. 0.75
    """

    code: str
    count: int
    n: int
    options: tuple[str, ...]
    features: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        code: str,
        count: int = 0,
        n: int = 0,
        options: tuple[str, ...] = (),
        features: tuple[str, ...] = (),
    ) -> "Oddity":
        """It is its text, wherever sentences are shown."""
        odd = super().__new__(cls, text)
        odd.code, odd.count, odd.n, odd.options, odd.features = code, count, n, options, features
        return odd

    def __getnewargs__(self) -> tuple[str, str, int, int, tuple[str, ...], tuple[str, ...]]:
        return str(self), self.code, self.count, self.n, self.options, self.features

    @property
    def share(self) -> float | None:
        """The fraction of rows that it concerns; None where it is about none in particular."""
        return self.count / self.n if self.n else None

    def of(self, name: str) -> "Oddity":
        """The same, said of a model, a set or a task."""
        return Oddity(f"{name}: {self}", self.code, self.count, self.n, self.options, self.features)


@contextmanager
def refusing(message: str, *errors: type[Exception]) -> Iterator[None]:
    """Refuse in these words what goes wrong within by one of the errors, or by any; what is refused already stays.

    >>> with refusing("pets.csv: this is no number.", ValueError):
    ...     float("nine")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: pets.csv: this is no number.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        if errors and not isinstance(error, errors):
            raise
        raise DataError(message) from error


class RolesNeeded(DataError):
    """A table that is fine, but whose columns may mean several things: somebody has to say which one it is.

    `question` is what to ask, `guess` the roles as far as they could be guessed (`DatasetRoles` or, of predictions,
    `Roles`), `choices` the columns (or classes) to choose from, `role` the field of the guess that is asked for.
    `meanings` say, where that is known, what each choice comes to.

    >>> needed = RolesNeeded("Which column holds the label?", guess=None, choices=("colour", "shape"))
    >>> needed.choices
    ('colour', 'shape')
    """

    def __init__(
        self,
        question: str,
        guess: Any,
        choices: tuple[str, ...],
        role: str | None = None,
        meanings: tuple[str, ...] = (),
    ):
        # All of it in `args`, so that the error survives pickling.
        super().__init__(question, guess, choices, role, meanings)
        self.question, self.guess, self.choices = question, guess, choices
        self.role, self.meanings = role, meanings

    def __str__(self) -> str:
        return self.question


class SizeNeeded(DataError):
    """Images that are fine, but not of one size: somebody has to ask for one, since resizing changes them.

    `size` (height, width) is that of the first image.

    >>> SizeNeeded("b.png has 4 × 3 pixels, but a.png has 2 × 2.", (2, 2)).size
    (2, 2)
    """

    def __init__(self, message: str, size: tuple[int, int]):
        super().__init__(message, size)  # both in `args`, so that the error survives pickling
        self.size = size

    def __str__(self) -> str:
        return self.args[0]
