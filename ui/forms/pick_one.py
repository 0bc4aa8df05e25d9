"""Which of several things is looked at? Controls that the address holds, so that a copied link opens the very same."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import share

Thing = TypeVar("Thing", bound=Hashable)


def choose(key: str, label: str, titles: Mapping[Thing, str], usual: Thing | None = None, *, help: str = "") -> Thing:
    """One of the things in `titles` (the first, unless another is `usual`); a control only where there are several.

    `key` is its parameter of the address, which holds titles. A page whose address asks for a thing that is not there
    says so, and ends.
    """
    by_title = {title: thing for thing, title in titles.items()}
    first = next(iter(titles)) if usual is None else usual
    control = One(key, label, {title: title for title in by_title}, titles[first], help or None)
    check_address([control])
    if len(by_title) < 2:
        return first
    title = control.draw()
    share.add(control.key, control.written(title))
    return by_title[title]
