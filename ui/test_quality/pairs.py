"""How do two classes lie to one another? The pair in a plane with its samples, and what rests on thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.test_quality import Curve, PairMap, TestQuality
from touchstone.core.evaluate.test_quality.looked import Looked, RegionChoice
from touchstone.core.evaluate.wording import fixed, percent, plural, quoted
from touchstone.core.figures import test_quality as figures
from touchstone.core.figures.test_quality import Subject
from touchstone.core.report import test_quality as report
from touchstone.core.workspace import Run, StoredModel, View, WorkspaceError
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import background, downloads, page, session
from touchstone.ui.shell.session import owner, workspace
from touchstone.ui.test_quality import results

MOST_SHOWN = 12
CLASS = "class"


def choose(quality: TestQuality) -> tuple[int, int, dict[str, list[str]]]:
    """The class and its rival that are looked at, and the parameters of the address that say so.

    Each class has a control of its own for its rival: Streamlit leaves a value in the address that a control no longer
    has.
    """
    names, pairs = quality.class_names, quality.pairs
    first = _control(CLASS, "Class", names, range(len(names)), int(pairs.n_in.sum(axis=1).argmax()))
    check_address([first])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = int(first.draw())
        others = [code for code in range(len(names)) if code != label]
        second = _control(
            f"rival_{label}", "Rival", names, others, max(others, key=lambda code: pairs.n_in[label, code])
        )
        check_address([first, second])
        rival = int(second.draw())
    return (
        label,
        rival,
        {control.key: control.written(str(code)) for control, code in ((first, label), (second, rival))},
    )


def _control(key: str, label: str, names: tuple[str, ...], codes, default: int) -> One:
    meaning = "Default: the class with the most test samples at its boundary, and the class it is confused with most."
    return One(key, label, {str(code): names[code] for code in codes}, str(default), meaning)


@session.fragment
def plane(looked: Looked, label: int, rival: int) -> None:
    """The two classes in a plane (figure 1), and the samples that are selected there or lie at their boundary."""
    plane = background.answer(results.class_pair(looked, label, rival), "Drawing two classes", key="plane")
    if plane is None:
        st.skeleton(height=540)
        return
    downloads.offer({"Two classes": plane.table}, stem="test-quality")
    dataset, positions = looked.dataset, looked.parts.test_rows[plane.rows]
    chosen = maps.selected(dataset.fingerprint)
    chart, beside = st.columns([3, 2], gap="large")
    with chart:
        drawn = figures.pair_map_chart(plane, positions, selected=chosen, dark=page.dark())
        caption = (
            "Dashed circles contain the centroid regions; other samples can fall inside a circle too. The line is "
            f"the boundary in this plane, which keeps {percent(plane.kept_variance)} of the variance. Lasso dots to "
            "list their samples."
        )
        maps.linked_chart(drawn, caption, dataset.fingerprint, key=f"plane-{label}-{rival}")
    with beside:
        if chosen:
            maps.selection(dataset, chosen)
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
        _show(looked, plane.rows[plane.in_boundary][shown])


def _show(looked: Looked, places: np.ndarray) -> None:
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


def curves(of_class: Sequence[Curve], quality: TestQuality, label: int) -> None:
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


ADDRESS = "beside"


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


def beside(looked: Looked, quality: TestQuality, model: StoredModel) -> tuple[dict[str, list[str]], list[StoredModel]]:
    """The boxes of the model in question and of those chosen; returns what the address says of these, and them."""
    main = report.subject(model.name, data_choice.required().title, looked, quality)
    others = {
        stored.fingerprint: stored for stored in workspace().models(owner()) if stored.fingerprint != model.fingerprint
    }
    titles = {stored.fingerprint: data_choice.name_of(stored) for stored in workspace().datasets(owner())}
    control = Several(
        ADDRESS,
        "Other models beside it",
        {name: title_of(stored, titles) for name, stored in others.items() if stored.dataset_fingerprint in titles},
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


def title_of(model: StoredModel, datasets: Mapping[str, str]) -> str:
    """A model's name, its data set and the beginning of its fingerprint, so that no two are called the same."""
    return f"{model.name} · {datasets[model.dataset_fingerprint]} · {model.fingerprint[:8]}"


def _subject(model: StoredModel, titles: Mapping[str, str], choice: RegionChoice) -> Subject | None:
    try:
        dataset = dataset_of(model.dataset_fingerprint)
        work = results.beside(dataset, titles[model.dataset_fingerprint], model, choice)
        return background.answer(work, f"Measuring {page.plain(model.name)}", key=f"beside-{model.fingerprint[:8]}")
    except (DataError, WorkspaceError) as problem:
        st.caption(f"{page.plain(model.name)}: {page.plain(problem)}")
        return None
