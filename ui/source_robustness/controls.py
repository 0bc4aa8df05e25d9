"""What does a plan of trials ask people for? What stands beside its fields; here is how a page asks it."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.cluster import trains
from touchstone.core.data import Dataset
from touchstone.core.evaluate import source_robustness
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.wording import count, percent, plural, quoted, ratio
from touchstone.core.parameters import About
from touchstone.core.report.source_robustness import Row, title
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.trials import KNOWN_SOURCES, SourcesPlan, TrialPlan
from touchstone.core.workspace import Run, load_plan
from touchstone.ui.data.samples import dataset_of, enlarged, portrait
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.shell import page
from touchstone.ui.source_robustness import results
from touchstone.ui.source_robustness.results import OwnModels


def trial_plan(dataset: Dataset) -> tuple[TrialPlan, DeltaGenerator]:
    """The controls of a TrialPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    return plan_form(TrialPlan, About(dataset))


def sources_parameters(plan: SourcesPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to usual trials with the sources of this plan."""
    n_repeats = max(TrialPlan.n_repeats, plan.n_clusterings)
    return plan_parameters(
        TrialPlan(
            source_finders=(plan.finder,),
            n_sources=plan.n_sources,
            n_clusterings=plan.n_clusterings,
            n_repeats=n_repeats,
            seed=plan.seed,
        )
    )


# What do the sources of a run look like on the page? The row in question, and portraits of the hardest.


N_PORTRAITS = 6
LEADING = "leading model"
_LEADING_HELP = (
    "The model and sources of the verdict. First: a model that no other significantly beats in accuracy kept "
    "(corrected), with known sources if the data name them."
)
ROOM = 560  # pixels


def looked_at(run: Run | None, own: OwnModels | None) -> Row | None:
    """The control of what the verdict and the details are about, where there are two; None for the leading one.

    It offers all that was planned, finished or not, so that an address means the same before and after.
    """
    rows = planned(run, own)
    several = len({finder for _, finder in rows}) > 1
    titles: dict[Row | None, str] = {row: title(row, with_finder=several) for row in rows}
    if len(rows) > 1:
        titles = {None: LEADING, **titles}
    with st.container(width=ROOM):
        return choose("about", "The verdict is about", titles, help=_LEADING_HELP) if titles else None


def planned(run: Run | None, own: OwnModels | None) -> list[Row]:
    """Every model and source finder that a run has, or will have, and uploaded ones."""
    plan = None if run is None else load_plan(run.plan)
    rows = [(model, finder) for finder in plan.source_finders for model in plan.models] if plan is not None else []
    if own is not None:
        rows += list(dict.fromkeys(zip(own.trials["model"], own.trials["source_finder"], strict=True)))
    return rows


def row_of(
    rows: Sequence[source_robustness.ExpectedInterval],
    comparisons: Sequence[source_robustness.ModelComparison],
    asked: Row | None,
    own: OwnModels | None,
) -> source_robustness.ExpectedInterval | None:
    """The row that was asked for, None while it has no results.

    Somebody who brought a model along means the leading one of those.
    """
    if asked is not None:
        return next((row for row in rows if (row.model, row.source_finder) == asked), None)
    brought = [] if own is None else [row for row in rows if row.model in set(own.trials["model"])]
    return source_robustness.leading_row(brought or rows, comparisons)


def features(run: Run) -> None:
    """What sources were found in, where somebody chose it; and a warning where that saw the labels."""
    plan = results.plan_of(run)
    clustered = [finder for finder in plan.source_finders if finder != KNOWN_SOURCES and not trains(finder)]
    if plan.representation is None or not clustered:
        return
    chosen = REPRESENTATIONS[plan.representation]
    informed = " These features were trained on the labels, so the sources do not depend on inputs alone."
    st.caption(page.plain(f"Sources were found in: {chosen.title}.{informed * chosen.label_informed}"))


def closer(
    run: Run, interval: source_robustness.ExpectedInterval, held_out: Sequence[source_robustness.HeldOutSource]
) -> None:
    """The sources themselves: how the worst look, how far they stand apart, and what they were found in."""
    plan = results.plan_of(run)
    if results.stored(plan, run.fingerprint):
        portraits(run, held_out)
        if len(plan.source_finders) == 1:  # else all stand side by side above
            separation(run, interval.source_finder)
    features(run)


def nothing_computed(plan: TrialPlan, ahead: str) -> None:
    """What stands where neither the run nor anybody else has tested a model."""
    page.not_computed(
        f"**Run** trains {plural(len(plan.models), 'model')} on splits "
        f"that hold whole sources out and on splits that do not: {ahead}"
    )


def separation(run: Run, source_finder: str) -> None:
    """How well the sources stand apart, in a line."""
    with st.spinner("Measuring how well the sources are separated"):
        silhouette = results.silhouettes(results.plan_of(run), run.fingerprint, source_finder)
    used = f"n = {count(silhouette.n_used)}" + (
        f" of {count(silhouette.n_samples)}" * (silhouette.n_used < silhouette.n_samples)
    )
    st.caption(
        f"Separation of these sources: silhouette {ratio(silhouette.mean_within)} within classes (mean), "
        f"{ratio(silhouette.pooled)} pooled over all classes, {used}. 1 is well separated, 0 touching, "
        "below 0 overlapping; the paper's pooled one was .046."
    )


def portraits(run: Run, held_out: Sequence[source_robustness.HeldOutSource]) -> None:
    """The hardest held-out sources, each once and with its picture, words or columns."""
    if not held_out:
        return
    finder, dataset = held_out[0].source_finder, dataset_of(run.fingerprint)
    with st.spinner("Looking at the hardest"):
        hard = source_robustness.hardest(
            held_out, same=results.same_sources(results.plan_of(run), run.fingerprint, finder)
        )[:N_PORTRAITS]
        if not hard:
            return
        harder = sum(hardness.claim.decision == "above" for hardness in hard)
        known = f"{count(harder)} of them significantly" if harder else "undecided"
        st.markdown(f"**Hardest held-out {noun(finder)}s** ({known})")
        with st.grid(len(hard), min_column_width=125, border=True):
            for hardness in hard:
                with st.container(gap="xsmall"):
                    _portrait(run, dataset, hardness)
    st.caption(_CAPTIONS[dataset.kind] + _SHRUNK)


_SHRUNK = " Accuracies are shrunk towards their class mean; the 95 % intervals hold for all at once."
_CAPTIONS = {
    "image": "The mean image of each source, with the accuracy on it when it was held out.",
    "text": "The most characteristic words of each source within its class, with the accuracy when it was held out.",
    "tabular": "The columns in which each source differs most from the rest of its class, in standard deviations.",
}


def _sources_of(run: Run, source: source_robustness.HeldOutSource) -> np.ndarray:
    """The name of the source of every sample, in the clustering that a source is of."""
    return results.source_of_each(results.plan_of(run), run.fingerprint, source.source_finder, source.clustering)


def _portrait(run: Run, dataset: Dataset, hard: source_robustness.Hardness) -> None:
    source = hard.source
    mine = _sources_of(run, source) == source.source
    rest = ~mine
    if source.label is not None:
        of_class = dataset.y == dataset.class_names.index(source.label)
        mine, rest = mine & of_class, rest & of_class
    drawn = portrait(dataset, mine, rest)
    known = source.label is None or source.source_finder == KNOWN_SOURCES
    name = source.source if known else f"{quoted(source.label)}, cluster {source.source}"
    if drawn.picture is not None:
        st.image(enlarged(drawn.picture), alt=f"Mean image of {name}", output_format="PNG")
    st.markdown(f"**{page.plain(name)}**")
    if drawn.words:
        st.markdown(page.plain(drawn.words))
    accuracy = percent(hard.shrunk, hard.interval)
    st.caption(f"{page.plain(accuracy)}  \nn = {count(source.n)}, {plural(source.n_repeats, 'repeat')}")
