"""Are shapes and types of signatures checked, and agree sizes within a call, not between calls?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float

from tests.typechecked import checked


@checked()
def total(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return a + b if len(a) < 4 else np.append(a + b, 0.0)


@checked()
@dataclass
class Pair:
    first: int
    second: "NotKnownYet | None" = None  # type: ignore[name-defined]


@checked()
def both(n: int) -> Iterator[Float[np.ndarray, " n"]]:
    yield np.zeros(n)
    yield np.zeros(n + 1)


@checked()
def named(n: int) -> str:
    return "x" if n else None  # type: ignore[return-value]


def test_what_a_call_gets_and_gives_has_the_sizes_and_types_that_are_written():
    for n in (2, 3):
        assert len(total(np.ones(n), np.ones(n))) == n
    for wrong in (
        lambda: total(np.ones(2), np.ones(3)),
        lambda: total(np.ones(4), np.ones(4)),
        lambda: total(np.ones((2, 2)), np.ones((2, 2))),
        lambda: total(np.arange(2), np.ones(2)),
        lambda: Pair("1"),  # type: ignore[arg-type]
        lambda: named("1"),  # type: ignore[arg-type]
        lambda: named(0),
    ):
        with pytest.raises(BeartypeCallHintViolation):
            wrong()
    assert Pair(1, "anything").second == "anything"
    assert [len(each) for each in both(2)] == [2, 3], "each may have a size of its own"


def test_the_engine_is_checked():
    from touchstone.core.evaluate.intervals import Interval

    with pytest.raises(BeartypeCallHintViolation):
        Interval("a", 1.0)  # type: ignore[arg-type]
