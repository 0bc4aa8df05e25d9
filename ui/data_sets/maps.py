"""What is in a data set, and where do its samples lie? The map with what is selected, words, images and duplicates.

A selection is kept as positions in the data set, for the data set's fingerprint, from the moment it is made: the
browser forgets it as soon as the figure changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from jaxtyping import Integer

from touchstone.core.data import EXAMPLES, DataError, Dataset
from touchstone.core.data.dataset import CONTENT, with_copies_together, without_copies
from touchstone.core.evaluate import data_sets
from touchstone.core.evaluate.confusion_matrix import ConfusionMatrix
from touchstone.core.evaluate.data_sets import (
    DataLook,
    ExactCopies,
    NearCopies,
    NumberByClass,
    WordCounts,
    english_stop_words,
    label_counts,
)
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted
from touchstone.core.figures.confusion_matrix import confusion_chart
from touchstone.core.figures.data_sets import characteristic_words, frequent_words
from touchstone.core.figures.marks import MOST_COLOURS, map_chart
from touchstone.core.figures.theme import alt_text
from touchstone.core.parameters import About
from touchstone.core.report.confusion_matrix import matrix_part
from touchstone.core.report.parts import Table
from touchstone.core.represent import number_title, numbers_of
from touchstone.core.represent.representations import pca_map
from touchstone.core.trials import FoldPlan, MapPlan
from touchstone.core.workspace import Run, View
from touchstone.ui import cache
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples, upload
from touchstone.ui.forms.controls import Number, One, check_address, choice_line
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.shell import answer, background, downloads, jobs, page, session

# What is in the data, and where do samples lie on maps and in folds? Worked out once, and kept.


@cache.task(max_entries=4)
def look(dataset: Dataset) -> background.Work[DataLook]:
    """Classes, copies, columns or mean images of a data set."""
    return background.Work(lambda step: data_sets.look(dataset))


@cache.task(max_entries=16)
def number(dataset: Dataset, name: str) -> background.Work[NumberByClass]:
    """One number of every sample of a data set, over all and by class."""
    return background.Work(lambda step: data_sets.number(dataset, name))


@cache.task(max_entries=4)
def words(dataset: Dataset) -> background.Work[WordCounts]:
    """The words of a data set of texts, by class."""
    return background.Work(lambda step: data_sets.words(dataset))


@cache.task(max_entries=4)
def features(dataset: Dataset, representation: str) -> background.Work[np.ndarray]:
    """The features that maps are drawn and near duplicates are found in."""
    return background.Work(lambda step: data_sets.features(dataset, representation))


@cache.result(max_entries=4)
def pca_points(dataset: Dataset, representation: str) -> np.ndarray:
    """Where the samples lie on the map of principal components, once their features are known."""
    return pca_map(features(dataset, representation).future.result())


@cache.task(max_entries=8)
def near_copies(dataset: Dataset, representation: str, similarity: float) -> background.Work[NearCopies]:
    """Pairs of nearly equal samples."""
    known, vectors = look(dataset), features(dataset, representation)

    def compare(step: Callable[[], None]) -> NearCopies:
        copies = known.future.result().copies
        return data_sets.near_copies_of(dataset, representation, vectors.future.result, copies, similarity, step)

    return background.Work(compare, data_sets.n_steps_of_near_copies(dataset, representation))


@cache.result(max_entries=8)
def map_of(run: Run) -> np.ndarray:
    """Where the samples of a data set lie on the map of a run; NaN where it has not come to one."""
    rows = session.workspace().rows(session.owner(), run.id)
    rows = rows[rows["status"] == "ok"]
    points = np.full((samples.dataset_of(run.fingerprint).n_samples, 2), np.nan)
    points[rows["row"].to_numpy(dtype=np.int64)] = rows[["x", "y"]].to_numpy(dtype=np.float64)
    return points


@cache.result(max_entries=4)
def folds_of(run: Run) -> dict[str, np.ndarray]:
    """The fold of every sample (−1 for none) by every scheme and seed of a run of folds, as far as they are made."""
    rows, n_samples = session.workspace().rows(session.owner(), run.id), samples.dataset_of(run.fingerprint).n_samples
    made = rows[rows["model"].isna() & (rows["status"] == "ok")]
    folds = {}
    for group, part in made.groupby(["scheme", "seed"], sort=False):
        scheme, seed = cast(tuple[str, int], group)
        folds[data_sets.fold_title(scheme, int(seed))] = data_sets.folds(part, n_samples)
    return folds


# Where do the samples lie? A map to draw a lasso on or to search, and the samples that are selected.


_SELECTED, _DRAWN, _ROUND = "map_selected", "map_drawn", "map_round"
_PICTURES = 24
_FIND = "find-samples"
COMPONENTS = ("First principal component", "Second principal component")
"""What the axes of a map of principal components are called."""
_COLOUR = "colour"
"""The parameter of the address that says by what dots are coloured."""


class Grouping(NamedTuple):
    """What dots are coloured by: the code of each sample into `names`, −1 for none."""

    title: str
    codes: np.ndarray
    names: Sequence[str]


class MapLook(NamedTuple):
    """What dots are coloured by, and which of its groups where there are more than colours.

    `parameters` say so in the address; `run` is the one that made the folds, where it is these.
    """

    by: Grouping
    coloured: list[int]
    parameters: dict[str, list[str]]
    run: Run | None


def map_plan(dataset: Dataset) -> MapPlan:
    """What the map is made of, and how; also the features in which near duplicates are looked for."""
    plan, button = plan_form(MapPlan, About(dataset), border=False)
    if plan.method == "umap":
        with button:
            jobs.run_button(session.workspace().find_run(session.owner(), plan, dataset.fingerprint), plan, dataset)
    if plan.label_informed:
        st.caption("Supervised features: class separation here is not evidence.")
    return plan


def show_map(dataset: Dataset, plan: MapPlan, look: MapLook) -> None:
    """The map of a plan as far as it is known, the samples that are selected beside it."""
    if plan.method == "pca":
        task = features(dataset, str(plan.representation))
        try:
            encoded = background.answer(task, "Making features for the map", key="features")
        except DataError as problem:
            page.error(problem)
            return
        if encoded is None:
            st.skeleton(height=400)
        else:
            _map_alone(dataset, pca_points(dataset, str(plan.representation)), plan, look)
        return
    run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint)
    if run is None:
        page.not_computed("**Run** makes this map: about a minute for 20,000 samples.")
        return
    jobs.follow(run, jobs.progress)
    jobs.follow(run, lambda now: _map_of_run(dataset, plan, now, look))
    page.foot(run)


def _map_of_run(dataset: Dataset, plan: MapPlan, run: Run, look: MapLook) -> None:
    if run.n_done == run.n_failed:
        page.nothing_yet(running=run.state == "running")
        return
    for note in plan.notes(dataset):
        st.caption(page.plain(note))
    _map(dataset, map_of(run), plan, look)


def view(dataset: Dataset, plan: MapPlan, title: str) -> View | None:
    """What a link to a look at this data set shows: the data set and its map.

    None where no address leads to the plan of the map.
    """
    led = plan_parameters(plan)
    if led is None:
        return None
    run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint) if plan.method == "umap" else None
    settled = {data_choice.ADDRESS: [dataset.fingerprint]} | led
    runs = () if run is None else (run.id,)
    return View("data_sets", settled, title, datasets=(dataset.fingerprint,), runs=runs)


def _latest_folds(dataset: Dataset) -> Run | None:
    runs = session.workspace().runs(session.owner(), dataset.fingerprint)
    return next((run for run in runs if run.kind == FoldPlan.kind and run.n_done), None)


def groupings(dataset: Dataset) -> dict[str, Grouping]:
    """What dots can be coloured by: class, source where it is known, and the folds that the latest run has made."""
    by_name = {"class": Grouping("class", dataset.y, dataset.class_names)}
    if dataset.sources is not None:
        names, codes = np.unique(dataset.sources.astype(str), return_inverse=True)
        by_name["source"] = Grouping("source", codes, names.tolist())
    run = _latest_folds(dataset)
    for name, folds in (folds_of(run) if run else {}).items():
        numbered = [f"fold {fold + 1}" for fold in range(int(folds.max()) + 1)]
        by_name[name] = Grouping(name, folds, numbered)
    return by_name


@session.fragment
def _map_alone(dataset: Dataset, points: np.ndarray, plan: MapPlan, look: MapLook) -> None:
    """A map that is drawn anew without the rest of the page when something is selected on it."""
    _map(dataset, points, plan, look)


def _map(dataset: Dataset, points: np.ndarray, plan: MapPlan, look: MapLook) -> None:
    chart, beside = st.columns([3, 2], gap="large")
    with chart:
        _chart(dataset.fingerprint, points, look, plan)
    with beside:
        show_selection(dataset, selected(dataset.fingerprint))


def colours(dataset: Dataset) -> MapLook:
    """The controls of colours: not drawn anew with the map alone, as what they say is part of what a link shows."""
    choices = groupings(dataset)
    control = One(_COLOUR, "Colour by", {name: by.title for name, by in choices.items()}, "class")
    check_address([control])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = control.draw() if len(choices) > 1 else control.default
        by = choices[chosen]
        coloured = _in_colour(by) if len(by.names) > MOST_COLOURS else []
    written = {control.key: control.written(chosen)} if len(choices) > 1 else {}
    return MapLook(by, coloured, written, None if chosen in ("class", "source") else _latest_folds(dataset))


def _in_colour(by: Grouping) -> list[int]:
    return st.multiselect(
        f"In colour, of {count(len(by.names))}",
        range(len(by.names)),
        format_func=by.names.__getitem__,
        max_selections=MOST_COLOURS,
        placeholder="The ten largest",
        key=f"coloured-{by.title}",
        width=340,
    )


def _chart(fingerprint: str, points: np.ndarray, look: MapLook, plan: MapPlan) -> None:
    by, coloured = look.by, look.coloured
    drawn_of = (fingerprint, plan, by.title, tuple(coloured), page.dark())
    before, highlight = st.session_state.get(_DRAWN, (None, ()))
    if before != drawn_of:  # a new figure: the browser has forgotten the selection, so it is drawn into the figure
        highlight = selected(fingerprint)
        st.session_state[_DRAWN] = (drawn_of, highlight)
    axes = COMPONENTS if plan.method == "pca" else ("", "")
    figure = map_chart(points, by.codes, by.names, coloured=coloured, selected=highlight, axes=axes, dark=page.dark())
    key = f"map-{st.session_state.setdefault(_ROUND, 0)}"
    st.plotly_chart(
        figure,
        theme=None,
        key=key,
        alt=alt_text(figure),
        config=page.saving("map", scrollZoom=True),
        on_select=lambda: _keep(fingerprint, st.session_state[key]),
        selection_mode=("lasso", "box"),
    )
    distances = "Distances across the map mean little." if plan.method == "umap" else "Both axes have the same scale."
    st.caption(f"Each dot is a sample. Lasso dots to list them; zoom with the wheel. {distances}")


def linked_chart(
    figure: go.Figure, caption: str, fingerprint: str, *, key: str, by: tuple[str, ...] = ("lasso", "box")
) -> None:
    """A chart that selects samples for every chart and map of this data set, by lasso, or by a click on a point.

    `customdata` has positions, of one sample or of several.
    """
    key = f"{key}-{st.session_state.setdefault(_ROUND, 0)}"
    st.plotly_chart(
        figure,
        theme=None,
        key=key,
        alt=alt_text(figure),
        config=page.saving(key),
        on_select=lambda: _keep(fingerprint, st.session_state[key]),
        selection_mode=by,
    )
    st.caption(caption)


def confusions(
    matrix: ConfusionMatrix, what: str, dataset: Dataset, rows: np.ndarray, y_pred: np.ndarray, *, key: str
) -> None:
    """A confusion matrix of these samples of a data set; a click on a cell selects what is in it, and lists it.

    Of many classes it is a list of confusions, whose lines can be clicked.
    """
    shown = matrix_part(matrix, what)
    cells = {at: rows[(dataset.y[rows] == at[0]) & (y_pred == at[1])].tolist() for at in matrix.cells}
    if isinstance(shown, Table):
        clickable = replace(shown, caption=f"{shown.caption} Click a line to list its samples.")
        answer.table(clickable, key=key, on_line=lambda line: _select(dataset, cells[matrix.mistakes[line]]))
    else:
        figure = confusion_chart(matrix, what, rows=cells, dark=page.dark())
        caption = f"{page.plain(shown.caption)} Click a cell to list its samples."
        linked_chart(figure, caption, dataset.fingerprint, key=key, by=("points",))
    called = dict(zip(rows.tolist(), np.array(dataset.class_names, dtype=object)[y_pred], strict=True))
    chosen = [row for row in selected(dataset.fingerprint) if row in called]
    if not chosen:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        words = f"**{plural(len(chosen), 'sample')} selected**, here and on every map of this data set"
        st.markdown(words, width="stretch")
        st.button("Clear", key=f"clear-{key}", type="tertiary", icon=":material/close:", on_click=_forget)
    if dataset.kind == "image":
        shown = chosen[:_PICTURES]
        words = [f"{dataset.class_names[dataset.y[row]]}, predicted {called[row]}" for row in shown]
        samples.pictures([dataset.x[row] for row in shown], words)
    table = samples.table(dataset, chosen)
    table.insert(2, "predicted", [called[row] for row in chosen])
    st.dataframe(table, hide_index=True, lazy=len(chosen) > samples.LAZY_ROWS, alt="The samples of the cell")


def _keep(fingerprint: str, event: Any) -> None:
    """Remember what was just selected. Nothing selected is no news: that is also what a changed figure says."""
    points = [point["customdata"] for point in event["selection"]["points"] if "customdata" in point]
    if points:
        chosen = np.unique(np.concatenate([np.ravel(point) for point in points]).astype(np.int64))
        st.session_state[_SELECTED] = (fingerprint, tuple(chosen.tolist()))


def selected(fingerprint: str) -> tuple[int, ...]:
    """The positions of the selected samples of this data set."""
    selected_of, chosen = st.session_state.get(_SELECTED, ("", ()))
    return chosen if selected_of == fingerprint else ()


def _forget() -> None:
    st.session_state.pop(_SELECTED, None)
    st.session_state.pop(_DRAWN, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1  # a new chart, without the lasso


def _find_key(dataset: Dataset) -> str:
    return f"{_FIND}-{dataset.fingerprint[:12]}"


def _clear(dataset: Dataset) -> None:
    _forget()
    st.session_state.pop(_find_key(dataset), None)


def search(dataset: Dataset) -> None:
    """The way beside the lasso for whoever has no mouse: samples by id, class, source or word."""
    st.text_input(
        "Find samples",
        key=_find_key(dataset),
        placeholder="ids, classes, sources or words, separated by commas",
        help="Selects samples as the lasso does: those with this id, class or source, and texts with this word.",
        on_change=_find,
        args=(dataset,),
    )
    missing = data_choice.find_samples(dataset, st.session_state.get(_find_key(dataset)) or "").missing
    if missing:
        st.caption(page.plain(f"Not found: {listed([quoted(wanted) for wanted in missing])}."))


def _find(dataset: Dataset) -> None:
    rows = data_choice.find_samples(dataset, st.session_state[_find_key(dataset)]).rows
    if len(rows):
        _select(dataset, rows.tolist())
    else:
        _forget()  # a search that was cleared must not leave other pages faded


def _select(dataset: Dataset, rows: Sequence[int]) -> None:
    _forget()
    st.session_state[_SELECTED] = (dataset.fingerprint, tuple(rows))


def show_selection(dataset: Dataset, chosen: tuple[int, ...]) -> None:
    """What the lasso or the search holds: how many of which class, the samples, and a file of them."""
    search(dataset)
    if not chosen:
        page.empty("Lasso points on the map, or search, to list samples here.")
        return
    rows = np.array(chosen)
    counts = label_counts(dataset.y[rows], dataset.class_names)
    first = sorted((row for row in counts.rows if row.n), key=lambda row: -row.n)
    shares = listed([f"{quoted(row.label)} {percent(row.share)}" for row in first])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plural(len(rows), 'sample')} selected** of {count(dataset.n_samples)}", width="stretch")
        about = {"on_click": _clear, "args": (dataset,), "type": "tertiary", "icon": ":material/close:"}
        st.button("Clear", key="clear-selection", **about)
    st.caption(page.plain(shares))
    if dataset.kind == "image":
        below = st.container()
        shown = rows[page.part_shown(len(rows), _PICTURES, key="selection-page")]
        with below:
            samples.show(dataset, shown)
    else:
        lazy = len(rows) > samples.LAZY_ROWS
        table = samples.table(dataset, rows)
        config = {name: st.column_config.TextColumn(width="small") for name in ("id", "label", "source")}
        first = ["label", "text", "id", "source"] if dataset.kind == "text" else None
        st.dataframe(
            table,
            column_config=config,
            column_order=first,
            hide_index=True,
            lazy=lazy,
            height=430,
            alt="The selected samples",
        )
    downloads.here({"Selected samples": lambda: samples.table(dataset, rows)}, stem="data-set")


# What does a page of a data set draw itself? The number in question, words by class, and mean images.


N_WORDS = 15


def choose_number(dataset: Dataset) -> tuple[str, dict[str, list[str]]]:
    """Which number of every sample the figures are about, and how the address says so.

    There is a control only where there are several.
    """
    titles = {name: number_title(dataset, name) for name in numbers_of(dataset)}
    if len(titles) == 1:
        return next(iter(titles)), {}
    control = One("number", "Column in question", titles, next(iter(titles)))
    check_address([control])
    chosen = control.draw()
    return chosen, {control.key: control.written(chosen)}


def show_words(dataset: Dataset) -> None:
    """The most frequent words, and those that set a class apart."""
    counts = background.answer(words(dataset), "Counting words", key="words")
    if counts is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = st.selectbox("Class", dataset.class_names, key="words-class", width=250)
        plain_only = st.toggle(
            "Leave out common English words", key="stop-words", help="scikit-learn's list: the, of, and, is, ..."
        )
    everywhere, here, apart = st.columns(3, gap="medium")
    with everywhere:
        figure = partial(_frequent_words, counts, None, plain_only)
        page.figure(figure, f"Most frequent in all texts; {count(counts.n_words)} words in all.", key="frequent")
    with here:
        figure = partial(_frequent_words, counts, label, plain_only)
        page.figure(figure, f"Most frequent in {page.plain(quoted(label))}.", key="frequent-class")
    with apart:
        figure = partial(_characteristic_words, counts, label, plain_only)
        caption = f"Most characteristic of {page.plain(quoted(label))}, largest z first (log-odds over their SE)."
        page.figure(figure, caption, key="characteristic")
    downloads.offer({"Words": counts.table}, stem="data-set")


def _frequent_words(counts: WordCounts, label: str | None, plain_only: bool, *, dark: bool) -> go.Figure:
    return frequent_words(_shown(counts, plain_only).frequent(label, most=N_WORDS), dark=dark)


def _characteristic_words(counts: WordCounts, label: str, plain_only: bool, *, dark: bool) -> go.Figure:
    return characteristic_words(_shown(counts, plain_only).characteristic(label, most=N_WORDS), dark=dark)


def _shown(counts: WordCounts, plain_only: bool) -> WordCounts:
    return counts.without(english_stop_words()) if plain_only else counts


def show_mean_images(dataset: Dataset, pictures: np.ndarray) -> None:
    """The mean image of each class, its n beneath."""
    with st.grid("auto", min_column_width=72, gap="xsmall"):
        for name, n, picture in zip(dataset.class_names, dataset.n_per_class, pictures, strict=True):
            caption = f"{page.plain(name)}  \nn = {count(int(n))}"
            st.image(samples.enlarged(picture), caption=caption, alt=f"Mean image of {name}", output_format="PNG")
    st.caption("The mean of all images of a class: sharp parts are common to all images, blurred parts vary.")


# Where does a data set come from? The examples as cards, and the place for a file that may take the page over.


ANOTHER = "choose another"


def choose_data() -> bool:
    """The examples as cards, and the place for a file; whether a file takes the page over."""
    top, below = st.container(horizontal=True, key="choose-data"), st.container()
    line = top.container()
    with top.container(width=420):
        files = upload.control()
    with below:
        if upload.takes_over(files):
            return True
    chosen = data_choice.current()
    name, taken = (chosen.name, page.plain(chosen.title)) if chosen else ("", "none")
    with line, choice_line(f"Data set **{taken}**", key="data", chosen=name, change=ANOTHER, expanded=chosen is None):
        cards(chosen)
    return False


def cards(chosen: data_choice.Choice | None) -> None:
    """The examples, each with what it is."""
    with st.grid(len(EXAMPLES), min_column_width=190):
        for address, choice in data_choice.choices().items():
            if choice.example is None:
                continue
            example = EXAMPLES[choice.example]
            with st.container(border=True, height="stretch", key=f"example-{choice.example}"):
                st.markdown(f"**{example.title}**  \n:gray[{example.sentence}]")
                st.space("stretch")
                st.button(
                    "Chosen" if choice == chosen else "Choose",
                    key=f"choose-{choice.example}",
                    on_click=data_choice.choose,
                    args=(address,),
                    disabled=choice == chosen,
                    width="stretch",
                )


# Which samples are there twice? Exact and near duplicates side by side, first those whose labels differ.


PER_PAGE = 4
MOST_OF_GROUP = 6
"""Of so many copies of one content the page shows some; the table has all."""
SIMILARITY = Number(
    "similarity",
    "Similarity",
    0.8,
    0.999,
    0.95,
    0.01,
    "The lowest cosine similarity of near-duplicates; 1 is the same direction. Texts are compared by word weights, "
    "other data by the features chosen above.",
    "%.3f",
)


def show_copies(dataset: Dataset, exact: ExactCopies, *, representation: str) -> tuple[str, list[str]]:
    """Exact duplicates in a line, near ones at the chosen similarity, and what they look like.

    Returns the parameter of the address that says of it, and what it says.
    """
    check_address([SIMILARITY])
    say_removed(dataset.fingerprint, "undo-removal-here")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        similarity = SIMILARITY.draw()
        which = st.container()
    near, why_not = None, "Searching for near-duplicates."
    try:
        task = near_copies(dataset, representation, similarity)
        near = background.answer(task, "Comparing every sample with every other", key="near")
    except DataError:  # said where the map would be, which has the same features
        why_not = "No search for near-duplicates in these features."
    choices = _choices(exact, near)
    with which:
        st.markdown(page.plain(_copies_in_words(exact, near, why_not)))
    if any(choices.values()):
        _show_groups(dataset, {title: groups for title, groups in choices.items() if groups})
    _offer_ways(dataset, exact, near)
    tables = {"Exact duplicates": lambda: exact.table(dataset.ids, dataset.class_names)}
    if near is not None:
        tables["Near-duplicates"] = lambda: near.table(dataset.ids, dataset.y, dataset.class_names)
    downloads.offer(tables, stem="data-set")
    return SIMILARITY.key, SIMILARITY.written(similarity)


def _offer_ways(dataset: Dataset, exact: ExactCopies, near: NearCopies | None) -> None:
    """Buttons that remove copies, or make them one unit; nothing where a link is looked at."""
    if session.read_only():
        return
    pairs = np.empty((0, 2), dtype=np.int64) if near is None else near.pairs
    alike = pairs[:0] if near is None else pairs[near.same_label]
    with st.container(horizontal=True):
        if exact.n_copies:
            _removal("Remove duplicates", dataset, pairs[:0], key="remove-exact")
        if len(alike):
            too = "Remove near-duplicates, too" if exact.n_copies else "Remove near-duplicates"
            _removal(too, dataset, alike, key="remove-near")
        if _can_be_together(dataset, exact, pairs):
            st.button(
                "Keep duplicates on one side of every split",
                key="together",
                help="They become one unit, in a data set of its own: duplicates across a split inflate accuracy.",
                on_click=_use_together,
                args=(dataset, pairs),
            )
    if exact.n_copies or len(alike):
        st.caption(_removing_in_words(exact.n_conflicting_contents, len(pairs) - len(alike)))


def _removing_in_words(n_contested: int, n_near_contested: int) -> str:
    exact = f"Exact duplicates with different labels ({count(n_contested)}) are all removed." if n_contested else ""
    near = f"Near-duplicates with different labels ({count(n_near_contested)}) stay." if n_near_contested else ""
    return " ".join(["Removing keeps the first of each.", exact, near]).strip()


def _removal(label: str, dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"], *, key: str) -> None:
    about = "Stores the data without them, as a data set of its own. This one is kept."
    st.button(label, key=key, help=about, on_click=_use_without, args=(dataset, pairs))


def _can_be_together(dataset: Dataset, exact: ExactCopies, pairs: Integer[np.ndarray, "n_pairs 2"]) -> bool:
    """Whether copies can become one unit: neither where they are one, nor where units are named."""
    if dataset.unit_name not in (None, CONTENT):
        return False
    return bool(len(pairs)) or (dataset.unit_name != CONTENT and bool(exact.n_copies))


@page.or_toast
def _use_together(dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"]) -> None:
    together = with_copies_together(dataset, pairs)
    data_choice.choose(
        session.workspace().add_dataset(session.owner(), replace(together, name=f"{dataset.name}, duplicates together"))
    )


# What was just removed? A line above the data set that is left, and the way back.


_REMOVED = "duplicates_removed"


class Removal(NamedTuple):
    """Which data set is left, which one it was, how many samples went, and whether the one left is new."""

    left: str
    whole: str
    n_removed: int
    is_new: bool


@page.or_toast
def _use_without(dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"]) -> None:
    left = without_copies(dataset, pairs)
    is_new = all(stored.fingerprint != left.fingerprint for stored in session.workspace().datasets(session.owner()))
    data_choice.choose(session.workspace().add_dataset(session.owner(), left))
    n_removed = dataset.n_samples - left.n_samples
    st.session_state[_REMOVED] = Removal(left.fingerprint, dataset.fingerprint, n_removed, is_new)


def say_removed(fingerprint: str, key: str) -> None:
    """How many samples were just removed to make this data set, and the way back, until something is computed on it.

    It stands above the data set, and where the button was that removed them.
    """
    removal: Removal | None = st.session_state.get(_REMOVED)
    if removal is None or removal.left != fingerprint or session.read_only():
        return
    if session.workspace().runs(session.owner(), fingerprint):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{plural(removal.n_removed, 'sample')} removed.", width="content")
        st.button("Undo", key=key, icon=":material/undo:", type="tertiary", on_click=_undo, args=(removal,))


@page.or_toast
def _undo(removal: Removal) -> None:
    """Go back to the whole data set, and delete the one that is left, unless it was there before."""
    st.session_state.pop(_REMOVED, None)
    if removal.is_new:
        session.workspace().delete_dataset(session.owner(), removal.left)
    data_choice.choose(removal.whole)


def _copies_in_words(exact: ExactCopies, near: NearCopies | None, why_not: str) -> str:
    sentence = f"{plural(exact.n_copies, 'sample repeats', 'samples repeat')} an earlier one exactly."
    if exact.n_copies == 0:
        sentence = "No exact duplicates."
    if near is None:
        return f"{sentence} {why_not}"
    if len(near.pairs) == 0:
        return f"{sentence} No near-duplicates at this similarity."
    more = " or more" if near.full else ""
    differ = int((~near.same_label).sum())
    labels = f"{count(differ)} of them with different labels" if differ else "all with equal labels"
    pairs = f"{count(len(near.pairs))}{more} near-duplicate pairs ({plural(near.n_samples, 'sample')})"
    return f"{sentence} {pairs}, {labels}."


def _choices(exact: ExactCopies, near: NearCopies | None) -> dict[str, Sequence[tuple[int, ...]]]:
    groups: dict[str, Sequence[tuple[int, ...]]] = {
        "Exact duplicates, different labels": exact.groups(conflicting=True)
    }
    if near is not None:
        groups["Near-duplicates, different labels"] = near.chosen(same_label=False)
    groups["Exact duplicates, same label"] = exact.groups(conflicting=False)
    if near is not None:
        groups["Near-duplicates, same label"] = near.chosen(same_label=True)
    return groups


def _show_groups(dataset: Dataset, choices: dict[str, Sequence[tuple[int, ...]]]) -> None:
    title = st.segmented_control(
        "Shown",
        list(choices),
        default=next(iter(choices)),
        format_func=lambda name: f"{name} ({count(len(choices[name]))})",
        key=f"copies-{len(choices)}",
        label_visibility="collapsed",
        required=True,
    )
    groups = choices[title or next(iter(choices))]
    below = st.container()
    shown = groups[page.part_shown(len(groups), PER_PAGE, key="copies-page")]
    with below, st.grid(2, min_column_width=300, border=True):
        for group in shown:
            with st.container(gap="xsmall"):
                samples.show(dataset, group[:MOST_OF_GROUP])
                if len(group) > MOST_OF_GROUP:
                    st.caption(f"and {plural(len(group) - MOST_OF_GROUP, 'more copy', 'more copies')}")
