"""Which commands say what this page says? Of the stored predictions, and of the files with what their columns are."""

from touchstone.core.command.compared_files import compare_command
from touchstone.ui import cache
from touchstone.ui.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.ui.predictions.results import table_of
from touchstone.ui.shell import share
from touchstone.ui.shell.session import owner, workspace

LONGEST_ROLES = 2000
"""Roles of more characters (of a thousand classes, say) are no part of a line that anybody copies."""


def command_of_stored(sets: TwoSets, plan: MatchingPlan) -> str:
    """The command that compares two sets of stored predictions."""
    return compare_command(_stored(sets), _settled(sets, plan))


def check_of_stored(sets: TwoSets, plan: MatchingPlan) -> str:
    """The command that checks two sets of stored predictions."""
    return share.check_command(["--predictions", *_stored(sets).values()], compare=_given(sets, plan))


def commands(sets: TwoSets, plan: MatchingPlan) -> tuple[tuple[str, str], ...]:
    """What each command is, and the command."""
    known = (f"Command: compares them in a terminal{share.FOLDER}", command_of_stored(sets, plan))
    check = (share.CHECK, check_of_stored(sets, plan))
    given = [(side, file) for side, fingerprint in _stored(sets).items() if (file := _file(fingerprint)) is not None]
    if len(given) < 2:
        return (known, check)
    files = {option: value for side, file in given for option, value in _options(side, file)}
    return (
        known,
        (
            "Command: the same, read from your files",
            compare_command(files, _settled(sets, plan)),
        ),
        check,
    )


def _settled(sets: TwoSets, plan: MatchingPlan) -> dict[str, str | int | float | None]:
    return {**sets.parts, "of_task": sets.task, **plan.matching, "repeats": plan.n_repeats, "seed": plan.seed}


def _given(sets: TwoSets, plan: MatchingPlan) -> dict[str, str | int | float]:
    """What is settled, without what is not."""
    return {name: value for name, value in _settled(sets, plan).items() if value is not None}


def _stored(sets: TwoSets) -> dict[str, str]:
    return {"reference": sets.reference, "target": sets.target}


def _options(side: str, file: tuple[str | None, ...]) -> list[tuple[str, str]]:
    options = zip((side, f"{side}_truth", f"{side}_roles"), file, strict=True)
    return [(option, value) for option, value in options if value is not None]


@cache.result(max_entries=16)
def _file(fingerprint: str) -> tuple[str, str | None, str] | None:
    """The names of the files of stored predictions and their truth, and all roles; None where no line holds them."""
    stored = {stored_file.fingerprint: stored_file for stored_file in workspace().prediction_files(owner())}.get(
        fingerprint
    )
    if stored is None or stored.example is not None:
        return None
    roles = table_of(fingerprint).roles.to_json(indent=None)
    if len(roles) > LONGEST_ROLES:
        return None
    upload = workspace().predictions(owner(), fingerprint)
    return upload.name, upload.truth.name if upload.truth else None, roles
