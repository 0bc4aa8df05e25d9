"""Of which model is the sheet, where a data set has several? Of any, by the newest answers, or of one of them."""

from collections.abc import Sequence

from touchstone.core.workspace.models import StoredModel
from touchstone.core.workspace.run import Run
from touchstone.ui.forms.controls import One
from touchstone.ui.shell.plan_words import plan_of

KEY = "sheet_model"
ANY = ""


def control(models: Sequence[StoredModel]) -> One:
    """The control; models of one name have their fingerprints beside it."""
    names = [model.name for model in models]
    titles = {
        model.fingerprint: name if names.count(name) == 1 else f"{name}, {model.fingerprint[:8]}"
        for model, name in zip(models, names, strict=True)
    }
    return One(KEY, "Answers about", {ANY: "any model", **titles}, ANY)


def runs_about(runs: Sequence[Run], model: str) -> list[Run]:
    """The runs that speak of this model, or of none, such as those of a recipe; all of them where none is chosen."""
    if model == ANY:
        return list(runs)
    asked = [(run, plan_of(run)) for run in runs]
    return [run for run, plan in asked if plan is None or model in plan.stored_models() or not plan.stored_models()]
