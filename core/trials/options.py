"""Which options do the chosen entries of a registry have in a plan? Checked, and one form for what means the same."""

from collections.abc import Collection, Mapping

from touchstone.core.asked import ANYTHING, Ask, options_of, title_of
from touchstone.core.data import DataError

Options = tuple[tuple[float | int | str | bool | None, ...], ...]


def checked_options(options: object, chosen: Collection[str], registry: Mapping[str, type]) -> Options:
    """Options as (entry, option, value), sorted, those left out that have their default.

    Raises DataError, in the words of the screen, for an entry that is not chosen, an option that it does not have, a
    value of another kind, and for an option that stands twice.

    Examples
    --------
    >>> from touchstone.core.split import FOLD_SCHEMES
    >>> checked_options((("sds_folds", "n_init", 20),), ["sds_folds"], FOLD_SCHEMES)
    (('sds_folds', 'n_init', 20),)
    >>> checked_options((("sds_folds", "n_init", 8),), ["sds_folds"], FOLD_SCHEMES)
    ()
    """
    if not isinstance(options, tuple):
        raise DataError(f"options: a list of (name, option, value) is expected, not {options!r}.")
    checked: dict[tuple[str, str], float | int | str | bool | None] = {}
    for option in options:
        if not (isinstance(option, tuple) and len(option) == 3):
            raise DataError(f"options: each is a name, an option and its value, not {option!r}.")
        entry, name, value = option
        if entry not in chosen:
            raise DataError(f"options: {entry} is not among what is chosen: {', '.join(chosen)}.")
        own = options_of(registry[entry])
        if name not in own:
            has = f"Its options are {', '.join(own)}." if own else "It has none."
            raise DataError(f"{title_of(registry[entry])} has no option {name!r}. {has}")
        if (entry, name) in checked:
            raise DataError(f"options: {name} of {title_of(registry[entry])} stands twice.")
        [ask] = own[name].metadata["asks"]
        checked[entry, name] = _checked(value, ask, title_of(registry[entry]))
    usual = {key: options_of(registry[key[0]])[key[1]].default for key in checked}
    return tuple((*key, value) for key, value in sorted(checked.items()) if value != usual[key])


def _checked(value: object, ask: Ask, title: str) -> float | int | str | bool | None:
    """A value of the kind that is asked for; its range is for the entry to refuse."""
    if value is None and ask.word is not None:
        return None
    if ask.choices is not None:
        titles = ask.choices(ANYTHING) or {}
        if isinstance(value, str | bool | int) and value in titles:
            return value
        raise DataError(f"{title}: {ask.label.lower()} is one of {', '.join(titles.values())}, not {value!r}.")
    if isinstance(ask.lowest, float) and type(value) in (int, float):
        return float(value)  # JSON may say 1 for 1.0
    if type(ask.lowest) is int and type(value) is int:
        return value
    kind = "a whole number" if type(ask.lowest) is int else "a number"
    also = f", or nothing for “{ask.word}”" if ask.word else ""
    raise DataError(f"{title}: {ask.label.lower()} is {kind}{also}, not {value!r}.")
