"""How does the sheet look? Every accuracy on one axis, then a card for each question: its answer, or its run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.guided_tests.verdict import oracle_reads
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.wording import Verdict, plural
from touchstone.core.figures.overview import Mark
from touchstone.core.questions import FIRST, QUESTIONS, module_of
from touchstone.core.report import model_pairs, story
from touchstone.core.report import overview as report
from touchstone.core.report.run_report import takes_metric
from touchstone.core.trials import FoldPlan, TrialPlan
from touchstone.core.trials.plan import to_json
from touchstone.core.workspace import Run, StoredModel, View, WorkspaceError, load_plan
from touchstone.ui import cache, page_file
from touchstone.ui.average_case import controls as average_case_controls
from touchstone.ui.cluster_folds import results as cluster_folds_results
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import metric as metric_choice
from touchstone.ui.guided_tests import explorer
from touchstone.ui.guided_tests import results as guided_tests_results
from touchstone.ui.overview import results
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import background, downloads, jobs, page, questions, session, share

Way = tuple[str, Mapping[str, str | list[str]]]
"""A page, and the parameters of the address that lead to an answer there."""


def choose_metric(dataset: Dataset, on_sheet: Mapping[str, Run]) -> ScoredBy:
    """What the axis is of, and answers are about where they can be; asked where one of them can."""
    if not any(takes_metric(QUESTIONS[stem]) for stem in on_sheet):
        return ScoredBy(ACCURACY)
    return metric_choice.choose_of_trials(dataset, "What the axis is of. Answers that can be about it are.")


def answers(
    on_sheet: Mapping[str, Run], metric: tuple[str, str | None] | None
) -> tuple[dict[str, report.Answered], dict[str, Exception]]:
    """What is known so far, by stem; and what is wrong with runs whose rows cannot be read."""
    known: dict[str, report.Answered] = {}
    broken: dict[str, Exception] = {}
    for stem, run in on_sheet.items():
        try:
            answer = results.answer(QUESTIONS[stem], run, metric)
        except (DataError, WorkspaceError) as problem:
            broken[stem] = problem
        else:
            if answer is not None:
                known[stem] = answer
    return known, broken


def first(
    known: Sequence[report.Answered],
    shown: Sequence[Mark],
    ways: Mapping[str, Way | None],
    *,
    words: InWords = OF_ACCURACY,
    n_questions: int = 0,
    finished: bool = True,
) -> Verdict:
    """What all answers come to: the number to expect, what limits it and what to do, with the way to each.

    `ways` are the pages of answers, by `way_of`.
    """
    verdict = story.summary(known, shown, words=words, n_questions=n_questions, finished=finished)
    if not known and not shown:
        return verdict
    lead = story.expected(known, shown, words)
    advised = [each for each in story.leading(known, lead) if verdict.advice and each.verdict.advice == verdict.advice]

    def lead_on() -> None:
        if limited := story.limits(known, lead):
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key="limits"):
                st.markdown("**What limits it:**", width="content")
                for answer, in_short in limited:
                    _lead_to(in_short, ways.get(way_of(answer)))
        page.advice(verdict)
        for answer in advised[:1]:
            _lead_to(answer.question.title, ways.get(way_of(answer)))

    page.verdict(replace(verdict, advice=""), report.key_numbers(known), beside=True, more=lead_on)
    return verdict


def first_of_data(
    known: Mapping[str, report.Answered],
    on_sheet: Mapping[str, Run],
    shown: Sequence[Mark],
    words: InWords,
    *,
    n_questions: int,
) -> Verdict:
    """The same of a data set, whose answers are those of runs, by stem."""
    is_link = session.read_only()
    ways = {} if is_link else {way_of(answer): questions.way(on_sheet[stem]) for stem, answer in known.items()}
    finished = all(run.state == "done" for run in on_sheet.values())
    return first(list(known.values()), shown, ways, words=words, n_questions=n_questions, finished=finished)


def way_of(answer: report.Answered) -> str:
    """What tells an answer from the others of its sheet."""
    return f"{answer.question.stem} {answer.about}"


def _lead_to(label: str, way: Way | None) -> None:
    if way is None:
        st.markdown(page.plain(label), width="content")
    else:
        where, query = way
        st.page_link(page_file(where), label=label, icon=":material/arrow_forward:", help="", query_params=dict(query))


def axis(shown: Sequence[Mark], baseline: float | None, words: InWords = OF_ACCURACY) -> None:
    """All that speaks of accuracy, or of another metric, on one axis; nothing where there is none."""
    if shown:
        page.draw(report.axis_figure(shown, baseline, words=words))


def card(stem: str, run: Run, known: report.Answered | None, broken: Exception | None) -> None:
    """One question of the data set: its answer, or where its run stands, and the way to its page."""
    with st.container(border=True, height="stretch", key=f"card-{run.id}", gap="xsmall"):
        st.markdown(questions.card_title(run))
        if broken is not None:
            page.error(broken)
        elif known is not None:
            page.says(known.verdict, help=known.trusted)
        jobs.follow(run, jobs.progress)
        st.space("stretch")
        with foot(known):
            has_page = session.read_only() or questions.link(run, icon=":material/arrow_forward:")
        if not has_page:
            st.caption(questions.NO_PAGE)


def foot(known: report.Answered | None) -> DeltaGenerator:
    """The last line of a card: what an answer speaks of and when it was computed; the place for the way to its page."""
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        parts = () if known is None else (f"About {known.speaks_of}", known.computed)
        st.caption(page.plain(" · ".join(part for part in parts if part)), width="stretch")
    return line


def take(
    subject: str,
    known: Sequence[report.Answered],
    shown: Sequence[Mark],
    baseline: float | None,
    provenance: Sequence[tuple[str, str]],
    *,
    words: InWords = OF_ACCURACY,
    first: Verdict,
    asked: Sequence[str],
    view: View,
) -> None:
    """Have the menus offer the sheet: as tables, as a report for one page of A4, and by a link to `view`."""
    unasked = [
        question.title
        for question in QUESTIONS.values()
        if question.kind and question.name and question.speaks_of and question.stem not in asked
    ]
    made = {"shown": shown, "baseline": baseline, "words": words, "unasked": unasked, "provenance": provenance}
    made["story"] = first
    downloads.offer(
        {"Answers": lambda: report.table(known), "Accuracies": lambda: report.accuracies(shown, words.metric.name)},
        stem="sheet",
    )
    share.offer(None, view.settings, view=view)
    share.offer_report(report.TITLE, lambda: report.sheet(subject, known, **made), name="sheet")


def view(title: str, runs: Sequence[Run], models: Sequence[StoredModel], settings: Mapping[str, Sequence[str]]) -> View:
    """What a link to the sheet of a data set shows: the runs on it, and those that its sentences rest on."""
    data = (runs[0].fingerprint,)
    return View(
        FIRST,
        {data_choice.ADDRESS: data, **settings},
        title,
        datasets=data,
        models=tuple(model.fingerprint for model in models),
        runs=tuple(run.id for run in runs),
    )


def elsewhere(n_runs: int, n_shown: int) -> None:
    """The way to the runs that stand on no sheet."""
    if n_runs > n_shown:
        label = f"All {plural(n_runs, 'run')} of this data set"
        st.page_link(page_file("runs"), label=label, icon=":material/history:", help="")


# The sheet of prediction files: what questions that are about no data set came to, without model or data.


MOST = 6
SUBJECT = "Prediction files"
SHEET = {"sheet": ["prediction files"]}
"""The parameter of the address that leads to this sheet."""
COMPARED = "compared"
"""The parameter of the address that names a comparison, by the parameters of its own page."""
QUESTION, FIRST_OF_FILES = "question", "matched_subsets"
_METRIC_HELP = (
    "What the axis is of. Each answer stays about the metric that its files were compared by. Sensitivity and the like "
    "are of the positive class of each comparison."
)
Known = tuple[report.Answered, Mapping[str, str | list[str]], str]
"""An answer, the parameters of its address, and the command that checks it."""


def sheet_of_files(beside: DeltaGenerator) -> None:
    """Every answer that is known, the newest first, on one axis; where there is none, where to begin.

    What the axis is of is chosen in the place `beside`; all of it was told when files were compared.
    """
    about_files = [question for question in QUESTIONS.values() if not question.about_data_set]
    modules = {question.stem: module_of(question, "card") for question in about_files}
    named = st.query_params.get_all(COMPARED)
    try:
        for written in named[:MOST]:
            stem, parameters = _read(written)
            if stem not in modules:
                raise DataError(f"This address names a question that there is not: {stem}.")
            modules[stem].compare_again(parameters)
    except (DataError, WorkspaceError) as problem:
        page.error(problem)
        return
    if not named:
        _again(modules)
    known = [answer for module in modules.values() for answer in module.answers()]
    known = [answer for answer in known if not named or _written(answer) in named]
    known.sort(key=lambda each: named.index(_written(each)) if named else -(each[0].when or 0.0))
    shown = [answer for answer, _, _ in known[:MOST]]
    metric = METRICS[ACCURACY]
    if shown:
        with beside:
            metric = metric_choice.choose(report.metrics_of(shown), help=_METRIC_HELP)
    words, marks = InWords(metric), report.marks(shown, metric=metric.name)
    ways = {way_of(answer): (answer.question.page, query) for answer, query, _ in known[:MOST]}
    verdict = first(shown, marks, ways, words=words)
    axis(marks, None, words)
    for place, (answer, query, _) in enumerate(known[:MOST]):
        with st.container(border=True, key=f"card-files-{place}", gap="small"):
            _card(answer, dict(query))
    if len(known) > MOST:
        st.page_link(
            page_file("runs"), label=f"{len(known) - MOST} more under Runs", icon=":material/history:", help=""
        )
    if known:
        with st.container(gap="xsmall"):
            offer_of_files([*modules.values()], shown)
        every = [question.stem for question in QUESTIONS.values()]
        rests_on, linked = _rests_on(known[:MOST]), _view(known[:MOST], metric_choice.written(metric))
        take(SUBJECT, shown, marks, None, rests_on, words=words, first=verdict, asked=every, view=linked)
        share.add_commands([(f"Command: checks {answer.about}", command) for answer, _, command in known[:MOST]])
    for module in modules.values():
        module.begin()


def _again(modules: Mapping[str, ModuleType]) -> None:
    """Compute what was asked before this server began, the newest; what can no longer be is said."""
    for each in compared.remembered()[:MOST]:
        if each.question in modules:
            try:
                modules[each.question].compare_again(parse_qs(each.address))
            except (DataError, WorkspaceError) as problem:
                st.caption(f"{page.plain(compared.words_of(each))}: {page.plain(str(problem))}")


def _written(known: Known) -> str:
    """A comparison as an address names it: the parameters of its page, after its question where that is not the first.

    Addresses are older than the second question.
    """
    answer, query, _ = known
    asked = {} if answer.question.stem == FIRST_OF_FILES else {QUESTION: answer.question.stem}
    return urlencode({**asked, **query}, doseq=True)


def _read(written: str) -> tuple[str, dict[str, list[str]]]:
    """The question of a comparison as an address names it, and the parameters of its page."""
    parameters = parse_qs(written)
    return parameters.pop(QUESTION, [FIRST_OF_FILES])[0], parameters


def _view(known: Sequence[Known], metric: Mapping[str, Sequence[str]]) -> View:
    """What a link to this sheet shows: the comparisons on it, which are made anew where it is opened."""
    settings = {**SHEET, COMPARED: [_written(each) for each in known], **metric}
    return View(FIRST, settings, SUBJECT, predictions=tuple(_files(known)))


def _files(known: Sequence[Known]) -> dict[str, str]:
    """Every file that the answers are about, by fingerprint, with its name."""
    named = {value for _, query, _ in known for value in query.values() if isinstance(value, str)}
    return {file: title for file, title in prediction_choice.stored_titles().items() if file in named}


def _rests_on(known: Sequence[Known]) -> list[tuple[str, str]]:
    return [(title, f"fingerprint {file}") for file, title in _files(known).items()]


def _card(answer: report.Answered, query: dict[str, str | list[str]]) -> None:
    st.markdown(f"**{answer.question.title}**  \n:gray[{page.plain(answer.about)}]")
    page.says(answer.verdict, help=answer.trusted)
    where = page_file(answer.question.page)
    with foot(answer):
        st.page_link(where, label="Open", icon=":material/arrow_forward:", help="", query_params=query)


# Which model is better? Pairs of models over all questions, from the runs that tried both alike.


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


def offer_of_files(cards: Sequence[ModuleType], shown: Sequence[report.Answered]) -> None:
    """The same of prediction files, which are read when it is opened; nothing where one model was compared once."""
    on_two_sets = [each for each in shown if each.question.stem == FIRST_OF_FILES]
    if len(on_two_sets) > 1 or len({number.of[0] for each in on_two_sets for number in each.quantities}) > 1:
        page.fold(TITLE, partial(_of_files, cards), key="model-pairs")


def _of_files(cards: Sequence[ModuleType]) -> None:
    models = [model for card in cards for model in card.models()]
    _say(model_pairs.on_files(models[:MOST_MODELS]))


def _has_two(run: Run | None) -> bool:
    plan = None if run is None or run.n_done == run.n_failed else page.plan_of(run)
    return isinstance(plan, TrialPlan | FoldPlan | AdequacyPlan) and len(plan.models) > 1


def _alike(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The newest finished runs of average-case robustness that differ in nothing but the model; none if only one."""
    by_settings: dict[str, dict[str, Run]] = {}
    for run in runs:
        plan = page.plan_of(run) if run.kind == AverageCasePlan.kind and run.state == "done" else None
        if isinstance(plan, AverageCasePlan) and not run.older_method:
            by_settings.setdefault(to_json(replace(plan, model="any")), {}).setdefault(plan.model, run)
    return next((tuple(alike.values()) for alike in by_settings.values() if len(alike) > 1), ())


def _pictures(run: Run | None, models: Sequence[StoredModel]) -> _Pictures | None:
    """The pictures that were made of a model, and the newest other models of the data set, which can be asked, too."""
    plan = page.plan_of(run) if run is not None and run.state == "done" else None
    own = next((model for model in models if model.fingerprint == getattr(plan, "model", "")), None)
    if run is None or own is None:
        return None
    others = tuple(explorer.other_models(own).values())[:MOST_ASKED]
    return _Pictures(run, own, others) if others else None


def _show(
    dataset: Dataset,
    recipes: Mapping[str, Run],
    alike: tuple[Run, ...],
    pictures: _Pictures | None,
    models: Sequence[StoredModel],
) -> None:
    pairs: list[model_pairs.ModelPair] = []
    for stem, run in recipes.items():
        pairs += _on_folds(dataset, run) if stem == "cluster_folds" else _but(pairs, _on_draws(run))
    if pictures is not None:
        pairs += _on_pictures(pictures)
    if alike:
        pairs += _under_noise(alike, tuple((model.fingerprint, model.name) for model in models))
    _say(pairs)


def _say(pairs: Sequence[model_pairs.ModelPair]) -> None:
    """The answer, the table that it rests on, and that to take away."""
    verdict = model_pairs.pairs_verdict(pairs)
    page.says(verdict, help=about(verdict.claims[0] if verdict.claims else None))
    page.findings(verdict)
    if pairs:
        st.dataframe(model_pairs.pairs_lines(pairs), hide_index=True, alt=verdict.headline)
        st.caption(CAPTION)
        downloads.offer({"Models side by side": lambda: model_pairs.pairs_table(pairs)}, stem="models")


def _but(known: Sequence[model_pairs.ModelPair], pairs: Sequence[model_pairs.ModelPair]) -> list[model_pairs.ModelPair]:
    """Those that are not known: a learning curve may end with the very draws of source robustness."""
    values = [(pair.first, pair.second, pair.values, pair.n) for pair in known]
    return [pair for pair in pairs if (pair.first, pair.second, pair.values, pair.n) not in values]


def _on_pictures(pictures: _Pictures) -> tuple[model_pairs.ModelPair, ...]:
    """Those who were asked already; each of the others is asked beside the page."""
    own = guided_tests_results.guided(pictures.run).suite
    if own is None or not oracle_reads(own):
        return ()
    judged = {}
    for other in pictures.others:
        task = guided_tests_results.judged_by(pictures.run, other.fingerprint)
        name = other.name if other.name not in (pictures.own.name, *judged) else f"{other.name} {other.fingerprint[:8]}"
        answer = background.answer(
            task, f"Asking {page.plain(name)} about the pictures", key=f"asked-{other.fingerprint}"
        )
        if answer is not None:
            judged[name] = answer
    return model_pairs.on_pictures(pictures.own.name, own, judged)


@cache.result(max_entries=4)
def _on_draws(run: Run) -> tuple[model_pairs.ModelPair, ...]:
    trials = session.workspace().rows(session.owner(), run.id)
    return model_pairs.on_sizes(trials) if "size" in trials else model_pairs.on_sources(trials)


@cache.result(max_entries=4)
def _on_folds(dataset: Dataset, run: Run) -> tuple[model_pairs.ModelPair, ...]:
    folded = cluster_folds_results.of_run(run).rows
    return model_pairs.on_folds(folded.rows, dataset.y, folded.design)


@cache.result(max_entries=4)
def _under_noise(runs: tuple[Run, ...], names: tuple[tuple[str, str], ...]) -> tuple[model_pairs.ModelPair, ...]:
    """Models by their names; two of one name are numbered by when they were made."""
    titles, known = dict(names), {}
    for run in runs:
        name = titles.get(getattr(load_plan(run.plan), "model", ""), "a deleted model")
        same = sum(title.startswith(name) for title in known)
        known[f"{name} ({same + 1})" if same else name] = average_case_controls.robustness(run)
    return model_pairs.under_noise(known)
