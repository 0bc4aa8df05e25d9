"""What is known of every question? Its newest run with results, as an answer of the sheet."""

from collections.abc import Sequence

from touchstone.core.evaluate.guided_tests.few_labels_plan import FewLabelsPlan
from touchstone.core.questions import Question, with_page
from touchstone.core.report.overview import Answered
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run
from touchstone.ui.shell import questions


def runs_on_sheet(runs: Sequence[Run]) -> dict[str, Run]:
    """The run that stands for each question, by stem in the order of the navigation; `runs` are the newest first.

    The newest with results that today's method computed to the end; else the newest with results, else the newest.
    """
    return {
        stem: max(mine, key=_worth)
        for stem, question in with_page().items()
        if question.kind and (mine := [run for run in runs if run.kind == question.kind])
    }


def _worth(run: Run) -> tuple[bool, bool]:
    has_results = run.n_done > run.n_failed
    return has_results and run.state == "done" and not run.older_method, has_results


def answer(question: Question, run: Run) -> Answered | None:
    """A run as an answer; None where it has no verdict yet. Raises WorkspaceError where its rows are damaged."""
    verdict, known = questions.verdict(run), questions.answer(run)
    if verdict is None or known is None:
        return None
    finished = run.finished if run.state == "done" else None
    seal = run.provenance.get("seal", "") if run.state == "done" else ""
    return Answered(question, questions.describe(run), verdict, known.numbers, finished, seal)


def few_labels(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The newest accuracy from few labels of each model and pool; `runs` are the newest first.

    Where the same list came back with more labels, the newest of them stands for all.
    """
    newest: dict[tuple[str, str], Run] = {}
    for run in runs:
        if run.kind == FewLabelsPlan.kind and run.state == "done" and run.n_failed == 0:
            plan = load_plan(run.plan)
            newest.setdefault((plan.model, plan.pool), run)
    return tuple(newest.values())
