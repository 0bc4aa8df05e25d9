"""In somebody's own tests: `def test_it(assert_not_worse): assert_not_worse("new.csv", "old.csv", margin=.01)`.

pytest finds this by its entry point where Touchstone is installed; nothing else is imported before a test asks.
"""

from collections.abc import Callable

import pytest


@pytest.fixture
def assert_not_worse() -> Callable[..., object]:
    """`touchstone.assert_not_worse`: fails unless a new model is surely no worse than an old one, by a margin."""
    from touchstone import assert_not_worse as it

    return it
