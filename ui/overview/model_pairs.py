"""Which model is better? Pairs of models over all questions, from the runs that tried both alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.guided_tests.verdict import oracle_reads
from touchstone.core.report import model_pairs as report
from touchstone.core.report.model_pairs import ModelPair
from touchstone.core.report.overview import Answered
from touchstone.core.trials import FoldPlan, Plan, TrialPlan
from touchstone.core.trials.plan import to_json
from touchstone.core.workspace import Run, StoredModel, load_plan
from touchstone.ui import cache
from touchstone.ui.average_case import controls as average_case_results
from touchstone.ui.cluster_folds import results as cluster_folds_results
from touchstone.ui.guided_tests import gallery
from touchstone.ui.guided_tests import results as guided_results
from touchstone.ui.shell import background, downloads, page, session

TITLE = "Which model is better?"
MOST_MODELS = 12
"""So many models of prediction files are compared, those of the newest comparisons."""
MOST_ASKED = 2
"""So many other models are asked about generated pictures, the newest."""
RECIPES = ("source_robustness", "cluster_folds", "data_set_adequacy")
CAPTION = (
    "Each pair was tried on the same draws (rho), samples, noise or pictures; n counts them. Differences are the first "
    "model less the second, with 95 % intervals; on folds these cover other samples and trainings. What is undecided "
    "says how much data would settle it."
)


@dataclass(frozen=True)
class _Pictures:
    """The run that made pictures of a model, and other models that can be asked about them."""

    run: Run
    own: StoredModel
    others: tuple[StoredModel, ...]


def offer(dataset: Dataset, on_sheet: Mapping[str, Run], runs: Sequence[Run], models: Sequence[StoredModel]) -> None:
    """The part of the sheet, closed at first; nothing where no question has tried two models alike."""
    recipes = {stem: run for stem in RECIPES if _has_two(run := on_sheet.get(stem))}
    alike, pictures = _alike(runs), _pictures(on_sheet.get("guided_tests"), models)
    if recipes or alike or pictures:
        page.fold(TITLE, partial(_show, dataset, recipes, alike, pictures, models), key="model-pairs")


def offer_of_files(cards: Sequence[ModuleType], shown: Sequence[Answered]) -> None:
    """The same of prediction files, which are read when it is opened; nothing where one model was compared once."""
    if len(shown) > 1 or len({number.of for number in shown[0].quantities}) > 1:
        page.fold(TITLE, partial(_of_files, cards), key="model-pairs")


def _of_files(cards: Sequence[ModuleType]) -> None:
    models = [model for card in cards for model in card.models()]
    _say(report.on_files(models[:MOST_MODELS]))


def _has_two(run: Run | None) -> bool:
    plan = None if run is None or run.n_done == run.n_failed else _plan(run)
    return isinstance(plan, TrialPlan | FoldPlan | AdequacyPlan) and len(plan.models) > 1


def _plan(run: Run) -> Plan | None:
    """What a run was asked; None where that is of a registry's entry that is no longer there, as its card says."""
    try:
        return load_plan(run.plan)
    except DataError:
        return None


def _alike(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The newest finished runs of average-case robustness that differ in nothing but the model; none if only one."""
    by_settings: dict[str, dict[str, Run]] = {}
    for run in runs:
        plan = _plan(run) if run.kind == AverageCasePlan.kind and run.state == "done" else None
        if isinstance(plan, AverageCasePlan) and not run.older_method:
            by_settings.setdefault(to_json(replace(plan, model="any")), {}).setdefault(plan.model, run)
    return next((tuple(alike.values()) for alike in by_settings.values() if len(alike) > 1), ())


def _pictures(run: Run | None, models: Sequence[StoredModel]) -> _Pictures | None:
    """The pictures that were made of a model, and the newest other models of the data set, which can be asked, too."""
    plan = _plan(run) if run is not None and run.state == "done" else None
    own = next((model for model in models if model.fingerprint == getattr(plan, "model", "")), None)
    if run is None or own is None:
        return None
    others = tuple(gallery.others(own).values())[:MOST_ASKED]
    return _Pictures(run, own, others) if others else None


def _show(
    dataset: Dataset,
    recipes: Mapping[str, Run],
    alike: tuple[Run, ...],
    pictures: _Pictures | None,
    models: Sequence[StoredModel],
) -> None:
    pairs: list[ModelPair] = []
    for stem, run in recipes.items():
        pairs += _on_folds(dataset, run) if stem == "cluster_folds" else _but(pairs, _on_draws(run))
    if pictures is not None:
        pairs += _on_pictures(pictures)
    if alike:
        pairs += _under_noise(alike, tuple((model.fingerprint, model.name) for model in models))
    _say(pairs)


def _say(pairs: Sequence[ModelPair]) -> None:
    """The answer, the table that it rests on, and that to take away."""
    verdict = report.pairs_verdict(pairs)
    page.says(verdict, help=about(verdict.claims[0] if verdict.claims else None))
    page.findings(verdict)
    if pairs:
        st.dataframe(report.pairs_lines(pairs), hide_index=True, alt=verdict.headline)
        st.caption(CAPTION)
        downloads.offer({"Models side by side": lambda: report.pairs_table(pairs)}, stem="models")


def _but(known: Sequence[ModelPair], pairs: Sequence[ModelPair]) -> list[ModelPair]:
    """Those that are not known: a learning curve may end with the very draws of source robustness."""
    values = [(pair.first, pair.second, pair.values, pair.n) for pair in known]
    return [pair for pair in pairs if (pair.first, pair.second, pair.values, pair.n) not in values]


def _on_pictures(pictures: _Pictures) -> tuple[ModelPair, ...]:
    """Those who were asked already; each of the others is asked beside the page."""
    own = guided_results.guided(pictures.run).suite
    if own is None or not oracle_reads(own):
        return ()
    judged = {}
    for other in pictures.others:
        task = guided_results.judged_by(pictures.run, other.fingerprint)
        name = other.name if other.name not in (pictures.own.name, *judged) else f"{other.name} {other.fingerprint[:8]}"
        answer = background.answer(
            task, f"Asking {page.plain(name)} about the pictures", key=f"asked-{other.fingerprint}"
        )
        if answer is not None:
            judged[name] = answer
    return report.on_pictures(pictures.own.name, own, judged)


@cache.result(max_entries=4)
def _on_draws(run: Run) -> tuple[ModelPair, ...]:
    trials = session.workspace().rows(session.owner(), run.id)
    return report.on_sizes(trials) if "size" in trials else report.on_sources(trials)


@cache.result(max_entries=4)
def _on_folds(dataset: Dataset, run: Run) -> tuple[ModelPair, ...]:
    folded = cluster_folds_results.of_run(run).rows
    return report.on_folds(folded.rows, dataset.y, folded.design)


@cache.result(max_entries=4)
def _under_noise(runs: tuple[Run, ...], names: tuple[tuple[str, str], ...]) -> tuple[ModelPair, ...]:
    """Models by their names; two of one name are numbered by when they were made."""
    titles, known = dict(names), {}
    for run in runs:
        name = titles.get(getattr(load_plan(run.plan), "model", ""), "a deleted model")
        same = sum(title.startswith(name) for title in known)
        known[f"{name} ({same + 1})" if same else name] = average_case_results.robustness(run)
    return report.under_noise(known)
