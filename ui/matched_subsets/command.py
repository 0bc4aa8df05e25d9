"""Which commands say what this page says? Of the stored predictions, and of the files with what their columns are."""

from touchstone.core.command.compared_files import compare_command, settled
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.ui import cache
from touchstone.ui.predictions.results import table_of
from touchstone.ui.shell import share
from touchstone.ui.shell.session import owner, workspace

LONGEST_ROLES = 2000
"""Roles of more characters (of a thousand classes, say) are no part of a line that anybody copies."""


def check_of_stored(sets: TwoSets, plan: MatchingPlan) -> str:
    """The command that checks two sets of stored predictions."""
    return share.check_command(["--predictions", sets.reference, sets.target], compare=settled(sets, plan))


def commands(sets: TwoSets, plan: MatchingPlan) -> tuple[tuple[str, str], ...]:
    """What each command is, and the command."""
    stored = {"reference": sets.reference, "target": sets.target}
    names = {f"Command: compares them in a terminal{share.FOLDER}": stored}
    files = [_file(side, fingerprint) for side, fingerprint in stored.items()]
    if all(files):
        names["Command: the same, read from your files"] = {name: file for each in files for name, file in each.items()}
    compare = [(what, compare_command(sides, settled(sets, plan))) for what, sides in names.items()]
    return (*compare, (share.CHECK, check_of_stored(sets, plan)))


@cache.result(max_entries=16)
def _file(side: str, fingerprint: str) -> dict[str, str]:
    """The options that name files of stored predictions, their truth and all roles; none where no line holds them."""
    known = {file.fingerprint: file for file in workspace().prediction_files(owner())}
    if fingerprint not in known or known[fingerprint].example is not None:
        return {}
    roles = table_of(fingerprint).roles.to_json(indent=None)
    if len(roles) > LONGEST_ROLES:
        return {}
    upload = workspace().predictions(owner(), fingerprint)
    truth = {f"{side}_truth": upload.truth.name} if upload.truth else {}
    return {side: upload.name, **truth, f"{side}_roles": roles}
