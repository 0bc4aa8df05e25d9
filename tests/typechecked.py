"""How are shapes in core's signatures checked? By beartype, but for functions within functions.

Such a one is made anew at every call of the function around it, and beartype would be, too: that took most of the time
of the simulations among the tests.
"""

from collections.abc import Callable
from typing import TypeVar

from beartype import beartype

Checked = TypeVar("Checked", bound=Callable)


def outermost(checked: Checked) -> Checked:
    """Check a function or class where it is defined once."""
    return checked if "<locals>" in checked.__qualname__ else beartype(checked)
