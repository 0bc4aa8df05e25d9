"""What does a comparison of two test sets ask people for? How to match, and which model the verdict is about."""

from touchstone.core.command.given_files import compare_command, settled
from touchstone.core.data.predictions.record import PredictionPairs
from touchstone.core.evaluate.matched_subsets import ModelComparisons, SetComparison
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.core.evaluate.metric_estimates import classes_of, metrics_given
from touchstone.core.parameters import About
from touchstone.core.workspace import View
from touchstone.ui import cache
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import share
from touchstone.ui.shell.session import owner, workspace

MODEL = "model"
"""The parameter of the address that names the model in question."""


def about(pairs: PredictionPairs) -> About:
    """What the form of a comparison is about: classes and metrics, and whether there are confidences to match by."""
    model = pairs.models[0]
    sides = pairs.references[model], pairs.targets[model]
    return About(classes=classes_of(*sides), metrics=metrics_given(*sides), has_confidence=pairs.can_match)


def matching_plan(pairs: PredictionPairs) -> MatchingPlan:
    """The controls of a MatchingPlan, and the plan that they say."""
    return plan_form(MatchingPlan, about(pairs))[0]


def view(sets: TwoSets, plan: MatchingPlan, pairs: PredictionPairs) -> View:
    """What a link to a comparison shows, and all that settles it."""
    parameters = {name: [value] for name, value in sets.parameters.items()}
    parameters |= plan_parameters(plan, about(pairs)) or {}
    files = (sets.reference, sets.target)
    return View("matched_subsets", parameters, prediction_choice.names(sets.parameters), predictions=files)


def choose_model(comparisons: ModelComparisons) -> SetComparison:
    """The model that the verdict and the details are about; a control only where there are several."""
    rows = {row.model: row for row in reversed(comparisons.rows)}
    control = One(MODEL, "The verdict is about", {name: name for name in rows}, next(iter(rows)))
    check_address([control])
    return rows[control.draw()] if len(rows) > 1 else comparisons.rows[0]


# Which commands say what this page says? Of the stored predictions, and of the files with what their columns are.


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
    roles = prediction_choice.table_of(fingerprint).roles.to_json(indent=None)
    if len(roles) > LONGEST_ROLES:
        return {}
    upload = workspace().predictions(owner(), fingerprint)
    truth = {f"{side}_truth": upload.truth.name} if upload.truth else {}
    return {side: upload.name, **truth, f"{side}_roles": roles}
