"""How good is a test set, and how does a page show it? Results, the shift of classes, regions, pairs, other models.

Few results of a kind are kept, since each holds the features that it was asked about.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.claims import LEVEL
from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.test_quality import quality as core_quality
from touchstone.core.evaluate.test_quality.missed import PairMap
from touchstone.core.evaluate.test_quality.quality import Curve, Looked, RegionChoice, TestQuality
from touchstone.core.evaluate.test_quality.regions import FORM
from touchstone.core.evaluate.test_quality.shift_plan import FEWEST_RESPLITS, CovariateShiftPlan, shift_of_rows
from touchstone.core.evaluate.test_quality.verdict import MEMORY, disagreement, seen, separation
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift
from touchstone.core.evaluate.wording import count, fixed, percent, plural, quoted
from touchstone.core.figures import test_quality as figures
from touchstone.core.parameters import About
from touchstone.core.report import test_quality as report
from touchstone.core.trials.layer_parts import layer_parts, layers_offered, split_of
from touchstone.core.workspace import Run, StoredModel, View, WorkspaceError, load_plan
from touchstone.ui import cache, page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.models.choice import parts_name
from touchstone.ui.shell import answer, background, downloads, jobs, page, questions, session


@cache.task(max_entries=4)
def quality(looked: Looked) -> background.Work[TestQuality]:
    """The four dimensions of a test set."""
    return background.Work(lambda step: core_quality.measured(looked))


@cache.task(max_entries=16)
def beside(dataset: Dataset, title: str, model: StoredModel, choice: RegionChoice) -> background.Work[figures.Subject]:
    """Another model's test set, by the same thresholds: in the layer of that name, or else in its usual one."""
    owner_name, shelf = session.owner(), session.workspace()

    def measure(step: Callable[[], None]) -> figures.Subject:
        stored = shelf.model_bytes(owner_name, model.fingerprint)
        layer = choice.layer if choice.layer in layers_offered(stored, dataset) else None
        parts = layer_parts(stored, dataset, layer=layer, **split_of(model.training_plan, dataset))
        looked = Looked(dataset, parts, choice, parts_name(dataset, model, parts.layer))
        return report.subject(model.name, title, looked, core_quality.measured(looked))

    return background.Work(measure)


@cache.task(max_entries=4)
def curves(looked: Looked) -> background.Work[tuple[Curve, Curve]]:
    """The shares over both thresholds."""
    return background.Work(lambda step: core_quality.curves(looked))


@cache.task(max_entries=8)
def class_pair(looked: Looked, first: int, second: int) -> background.Work[PairMap]:
    """Two classes in a plane."""
    return background.Work(lambda step: core_quality.pair(looked, first, second))


@cache.task(max_entries=4)
def parts_told(looked: Looked) -> background.Work[PartsTold]:
    """How well a classifier tells training from test samples."""
    return background.Work(lambda step: core_quality.parts_told(looked, step), looked.dataset.n_classes)


@cache.task(max_entries=4)
def smallest_seen(looked: Looked) -> background.Work[SeenShift | None]:
    """How small a shift that classifier would have seen."""
    parts = parts_told(looked)
    return background.Work(lambda step: core_quality.seen(looked, parts.future.result()))


@cache.result(max_entries=4)
def sample_table(looked: Looked) -> pd.DataFrame:
    """Where every test sample lies."""
    return core_quality.samples(looked)


@cache.result(max_entries=8)
def covariate_shift(run: Run) -> CovariateShift:
    """What the finished trials of a run of covariate shift tell."""
    plan, data = load_plan(run.plan), samples.dataset_of(run.fingerprint)
    if not isinstance(plan, CovariateShiftPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} says nothing about a shift")
    return shift_of_rows(session.workspace().rows(session.owner(), run.id), plan, data.class_names, unit=data.unit_word)


# Did classes shift between training and test? What a classifier says at once, and a CovariateShiftPlan as a run.


SHIFT = "Did classes shift between training and test?"


def show_separation(looked: Looked) -> PartsTold | None:
    """What a classifier that tells training from test samples says; None while it is worked out."""
    parts = background.answer(parts_told(looked), "Separating training and test samples", key="parts-told")
    if parts is None:
        st.skeleton(height=60)
        return None
    st.markdown(f"**{page.plain(separation(parts))}**")
    if parts.named or parts.p_together < LEVEL:
        st.caption(MEMORY)
    page.fold("How small a shift would have been detected?", lambda: _seen(looked), key="seen")
    downloads.offer({"AUC of training against test": parts.table}, stem="test-quality")
    return parts


def _seen(looked: Looked) -> None:
    shift = background.answer(smallest_seen(looked), "Planting shifts", key="seen")
    if shift is not None:
        st.markdown(page.plain(seen(shift)))
        st.caption("Artificial shifts of this class, along the direction of its largest variance.")


def shift_plan(dataset: Dataset, model: StoredModel, layer: str) -> CovariateShiftPlan:
    """The controls in a row with the button that starts the run; returns the plan that they say."""
    settled = {"model": model.fingerprint, "layer": layer}
    plan, button = plan_form(CovariateShiftPlan, About(dataset, model=model), settled=settled, key="shift-controls")
    with button:
        jobs.run_button(session.workspace().find_run(session.owner(), plan, dataset.fingerprint), plan, dataset)
    return plan


def show_shift(dataset: Dataset, plan: CovariateShiftPlan, classifier: PartsTold | None) -> Run | None:
    """The run of a plan as far as it has come, or what running it would do."""
    run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint)
    if run is None:
        few = f" Singling out a class needs at least {FEWEST_RESPLITS} re-splits." * (plan.n_resplits < FEWEST_RESPLITS)
        questions.not_computed(
            plan.kind,
            f"**Run** compares each of {plural(dataset.n_classes, 'class', 'classes')} with "
            f"{plural(plan.n_resplits, 'random re-split')}: {jobs.ahead(plan, dataset, plan.n_trials(dataset))}{few}",
        )
        return None
    jobs.follow(run, jobs.progress)
    jobs.follow(run, _shift_results, every=jobs.SECONDS_BETWEEN_DRAWINGS)
    if classifier is not None and run.state == "done":
        st.markdown(page.plain(disagreement(classifier, covariate_shift(run))))
    return run


def _shift_results(run: Run) -> None:
    if run.n_done == run.n_failed:
        page.nothing_yet(running=run.state == "running")
        return
    shown = report.shift_answer(covariate_shift(run), finished=run.state != "running")
    verdict = shown.verdict
    assert verdict is not None
    with st.container(border=True, key="shift-verdict"):
        page.says(verdict, help=about(verdict.claims[0] if verdict.claims else None))
        if any(claim.decision == "above" for claim in verdict.claims):
            st.caption(MEMORY)

    def by_class() -> None:
        answer.parts(shown.sections[0].parts)
        page.findings(verdict)
        page.foot(run)

    page.fold("Divergence of every class", by_class, key="shift-classes")
    downloads.of_page(run, shown, title=SHIFT)


# Where do a class's centroid region and its boundary end? The controls of the regions, all of them in the address.
#
# Test quality and guided tests share them, keys included: a link from one page to the other keeps the regions.


LAYER = "layer"


def region_choice(layers: Sequence[str]) -> RegionChoice:
    """The controls in a row of their own, and what they say.

    Where there is one layer there is nothing to choose, and the address need not say it.
    """
    with st.container(border=True, gap="small", key="regions"):
        if len(layers) == 1:
            st.caption(f"Measured in {page.plain(layers[0])}, the only layer of this model that is known.")
        asked = About(layers=tuple(layers))
        choice, _ = plan_form(RegionChoice, asked, form=FORM, settled={LAYER: layers[0]}, border=False)
    if len(layers) == 1 and LAYER not in st.session_state:  # a widget of the run before is Streamlit's to clear
        st.query_params.pop(LAYER, None)  # it says nothing, and of the next model it would say something wrong
    return choice


def region_parameters(choice: RegionChoice) -> dict[str, list[str]]:
    """The parameters of the address that lead to these regions, defaults written out.

    >>> region_parameters(RegionChoice("inputs", r=0.5))
    {'layer': ['inputs'], 'theta2': ['0.7'], 'r': ['0.5'], 'theta1': ['usual'], 'unit': ['99th percentile']}
    """
    return plan_parameters(choice) or {}


def link_to_guided_tests(address: Mapping[str, str | list[str]]) -> None:
    """The way to the same regions where tests are generated, a page that links do not open."""
    if not session.read_only():
        label, icon = "Generate tests, or find samples to label", ":material/arrow_forward:"
        st.page_link(page_file("guided_tests"), label=label, icon=icon, help="", query_params=dict(address))


# How do two classes lie to one another? The pair in a plane with its samples, and what rests on thresholds.


MOST_SHOWN = 12
CLASS = "class"


def choose_pair(quality: TestQuality) -> tuple[int, int, dict[str, list[str]]]:
    """The class and its rival that are looked at, and the parameters of the address that say so.

    Each class has a control of its own for its rival: Streamlit leaves a value in the address that a control no longer
    has.
    """
    names, pairs = quality.class_names, quality.pairs
    first = _class_control(CLASS, "Class", names, range(len(names)), int(pairs.n_in.sum(axis=1).argmax()))
    check_address([first])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = int(first.draw())
        others = [code for code in range(len(names)) if code != label]
        second = _class_control(
            f"rival_{label}", "Rival", names, others, max(others, key=lambda code: pairs.n_in[label, code])
        )
        check_address([first, second])
        rival = int(second.draw())
    return (
        label,
        rival,
        {control.key: control.written(str(code)) for control, code in ((first, label), (second, rival))},
    )


def _class_control(key: str, label: str, names: tuple[str, ...], codes, default: int) -> One:
    meaning = "Default: the class with the most test samples at its boundary, and the class it is confused with most."
    return One(key, label, {str(code): names[code] for code in codes}, str(default), meaning)


@session.fragment
def show_pair(looked: Looked, label: int, rival: int) -> None:
    """The two classes in a plane (figure 1), and the samples that are selected there or lie at their boundary."""
    plane = background.answer(class_pair(looked, label, rival), "Drawing two classes", key="plane")
    if plane is None:
        st.skeleton(height=540)
        return
    downloads.offer({"Two classes": plane.table}, stem="test-quality")
    dataset, positions = looked.dataset, looked.parts.test_rows[plane.rows]
    chosen = maps.selected(dataset.fingerprint)
    chart, show_beside = st.columns([3, 2], gap="large")
    with chart:
        drawn = figures.pair_map_chart(plane, positions, selected=chosen, dark=page.dark())
        caption = (
            "Dashed circles contain the centroid regions; other samples can fall inside a circle too. The line is "
            f"the boundary in this plane, which keeps {percent(plane.kept_variance)} of the variance. Lasso dots to "
            "list their samples."
        )
        maps.linked_chart(drawn, caption, dataset.fingerprint, key=f"plane-{label}-{rival}")
    with show_beside:
        if chosen:
            maps.show_selection(dataset, chosen)
        else:
            maps.search(dataset)
            _at_the_boundary(looked, plane, label, rival)


def _at_the_boundary(looked: Looked, plane: PairMap, label: int, rival: int) -> None:
    rows = plane.rows[plane.in_boundary]
    st.markdown(f"**{plural(len(rows), 'sample')} of the two at a boundary**")
    if not len(rows):
        st.caption("None: the test set has no information about the boundary of these two.")
        return
    below = st.container()
    shown = page.part_shown(len(rows), MOST_SHOWN, key=f"boundary-page-{label}-{rival}")
    with below:
        _show_samples(looked, plane.rows[plane.in_boundary][shown])


def _show_samples(looked: Looked, places: np.ndarray) -> None:
    """Test samples, by their places in the test part, with predicted class and confidence."""
    dataset, test = looked.dataset, looked.parts.test
    rows = looked.parts.test_rows[places]
    taken = [test.class_names[code] for code in test.predicted[places]]
    sure = test.confidence[places]
    if dataset.kind == "image":
        captions = [
            f"{quoted(dataset.class_names[dataset.y[row]])} predicted {quoted(name)}, {100 * p:.0f}\N{NO-BREAK SPACE}%"
            for row, name, p in zip(rows, taken, sure, strict=True)
        ]
        samples.pictures([dataset.x[row] for row in rows], captions)
        return
    table = samples.table(dataset, rows)
    table.insert(2, "predicted", taken)
    table.insert(3, "confidence (%)", [fixed(100 * float(p), 1) for p in sure])
    first = ["label", "predicted", "confidence (%)", "text", "id"] if dataset.kind == "text" else None
    config = {name: st.column_config.TextColumn(width="small") for name in ("id", "label", "predicted")}
    st.dataframe(table, column_config=config, column_order=first, hide_index=True, alt="Samples at a boundary")


def show_curves(of_class: Sequence[Curve], quality: TestQuality, label: int) -> None:
    """What rests on either threshold."""
    captions = (
        "Effect of the radius. Where the test set is above the training set, it has more typical samples.",
        "Effect of theta 2. The step at the right end is the fully confident samples.",
    )
    for curve, caption, column in zip(of_class, captions, st.columns(2, gap="medium"), strict=True):
        with column:
            drawn = partial(figures.curve_chart, curve, quality.regions, label)
            page.figure(drawn, caption, key=f"curve-{curve.dimension.split()[0]}")


# How do models and data sets differ in what their test sets cover? Box plots over classes, chosen models beside.


BESIDE = "beside"


@dataclass(frozen=True)
class Several:
    """Any of the names in `titles`, of which there may be many; the address holds the titles."""

    key: str
    label: str
    titles: Mapping[str, str]
    help: str

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and value not in self.titles.values()]

    def draw(self) -> list[str]:
        """The widget; returns the chosen names."""
        return st.multiselect(
            self.label,
            list(self.titles),
            format_func=self.titles.__getitem__,
            key=self.key,
            help=self.help,
            placeholder="None",
            bind="query-params",
        )

    def written(self, value: Sequence[str]) -> list[str]:
        """A value as the address holds it."""
        return [self.titles[name] for name in value]


def show_beside(
    looked: Looked, quality: TestQuality, model: StoredModel
) -> tuple[dict[str, list[str]], list[StoredModel]]:
    """The boxes of the model in question and of those chosen; returns what the address says of these, and them."""
    main = report.subject(model.name, data_choice.required().title, looked, quality)
    others = {
        stored.fingerprint: stored
        for stored in session.workspace().models(session.owner())
        if stored.fingerprint != model.fingerprint
    }
    titles = {
        stored.fingerprint: data_choice.name_of(stored) for stored in session.workspace().datasets(session.owner())
    }
    control = Several(
        BESIDE,
        "Other models beside it",
        {name: model_title(stored, titles) for name, stored in others.items() if stored.dataset_fingerprint in titles},
        "Any stored model with its own data set, at the same thresholds.",
    )
    check_address([control])
    chosen = control.draw() if control.titles else []
    subjects = [main, *(_subject(others[name], titles, looked.choice) for name in chosen)]
    known = [subject for subject in subjects if subject is not None]
    caption = (
        "Each box is one model, over its classes. A narrow box: classes are covered equally. The paper reads a "
        "wide box as a model that learned some classes better. Grey: random splits of the same sizes."
    )
    page.figure(partial(figures.box_chart, known), caption, key="quality-boxes")
    return {control.key: control.written(chosen)}, [others[name] for name in chosen]


def view(model: StoredModel, others: Sequence[StoredModel], settled: Mapping[str, list[str]], run: Run | None) -> View:
    """What a link shows: a model and those beside it, each with its data set, and the run of covariate shift."""
    models = (model, *others)
    return View(
        "test_quality",
        {data_choice.ADDRESS: [model.dataset_fingerprint], **settled},
        f"{data_choice.required().title} · {model.name}",
        datasets=tuple(other.dataset_fingerprint for other in models),
        models=tuple(other.fingerprint for other in models),
        runs=() if run is None else (run.id,),
    )


def model_title(model: StoredModel, datasets: Mapping[str, str]) -> str:
    """A model's name, its data set and the beginning of its fingerprint, so that no two are called the same."""
    return f"{model.name} · {datasets[model.dataset_fingerprint]} · {model.fingerprint[:8]}"


def _subject(model: StoredModel, titles: Mapping[str, str], choice: RegionChoice) -> figures.Subject | None:
    try:
        dataset = samples.dataset_of(model.dataset_fingerprint)
        task = beside(dataset, titles[model.dataset_fingerprint], model, choice)
        return background.answer(task, f"Measuring {page.plain(model.name)}", key=f"beside-{model.fingerprint[:8]}")
    except (DataError, WorkspaceError) as problem:
        st.caption(f"{page.plain(model.name)}: {page.plain(problem)}")
        return None


def every_sample(looked: Looked) -> None:
    """The table of test samples: all of them, or those that are selected."""
    table = sample_table(looked)
    chosen = np.isin(looked.parts.test_rows, maps.selected(looked.dataset.fingerprint))
    if chosen.any():
        st.caption(f"The {plural(int(chosen.sum()), 'selected sample')} of {count(len(table))}.")
        table = table[chosen]
    answer.part(report.sample_table(table))


def confusions(looked: Looked, quality: TestQuality) -> None:
    """What each class of the test part is predicted as; a click on a cell selects its samples."""
    parts = looked.parts
    maps.confusions(
        quality.confusions, "the test set", looked.dataset, parts.test_rows, parts.test.predicted, key="confusions"
    )
