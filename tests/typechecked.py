"""How are shapes in core's signatures checked? By beartype, once for each function, with sizes that agree in each call.

`jaxtyping.jaxtyped` would check every argument twice and bind each call to its signature, to say more of what is wrong:
a fifth of the time of all tests. Functions within functions are left alone: they are made anew at every call of the one
around them, and beartype's checks would be, too.
"""

import dataclasses
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_args, get_type_hints

from beartype import beartype
from jaxtyping import AbstractArray, jaxtyped

Checked = TypeVar("Checked", bound=Callable)


def checked(**_: Any) -> Callable[[Checked], Checked]:
    """Stands in for `jaxtyping.jaxtyped`, which its import hook calls for every class and function of core."""
    return _checked


def _checked(made: Checked) -> Checked:
    """The function with its checks; of classes those made by @dataclass have some: their fields."""
    if inspect.isclass(made):
        if dataclasses.is_dataclass(made) and "__init__" in vars(made):
            made.__init__ = _checked(made.__init__)
        return made
    if "<locals>" in made.__qualname__ or getattr(made, "__no_type_check__", False):
        return made
    written = made.__annotations__
    meant = {name: _type(hint, made) for name, hint in written.items()}
    has_arrays = any(map(_is_of_arrays, meant.values()))
    if has_arrays and inspect.isgeneratorfunction(made):
        return jaxtyped(made, typechecker=beartype)  # at the call: beartype alone looks when the first is asked for
    made.__annotations__ = meant
    by_type = beartype(made)
    made.__annotations__ = written
    if not has_arrays:
        return by_type

    @wraps(made)
    def by_shape(*args: Any, **kwargs: Any) -> Any:
        with jaxtyped("context"):
            return by_type(*args, **kwargs)

    return by_shape


def _type(hint: Any, made: Callable) -> Any:
    """What an annotation means where it stands; anything, where it names what comes later or only for type checkers."""
    try:
        return get_type_hints(_Of(hint), made.__globals__, include_extras=True)["of"]
    except Exception:
        return Any


class _Of:
    def __init__(self, hint: Any):
        self.__annotations__ = {"of": hint}


def _is_of_arrays(hint: Any) -> bool:
    return (inspect.isclass(hint) and issubclass(hint, AbstractArray)) or any(map(_is_of_arrays, get_args(hint)))
