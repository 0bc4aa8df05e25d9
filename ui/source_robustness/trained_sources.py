"""What has to be known of sources that networks found? That some are not what was asked for, or that they are gone.

Pages never train: the sources are those that a run found and keeps.
"""

from functools import partial

import streamlit as st

from touchstone.core.cluster import SOURCE_FINDERS
from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import listed
from touchstone.core.figures import source_robustness as figures
from touchstone.core.report.run_report import IN_SENTENCES
from touchstone.core.trials import KNOWN_SOURCES, Plan, TrialPlan, needed_by
from touchstone.core.workspace.engine.needed import found_otherwise
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run
from touchstone.ui.data.results import dataset_of
from touchstone.ui.shell import jobs, page
from touchstone.ui.shell.session import owner, read_only, workspace
from touchstone.ui.source_robustness import results


def stored(plan: Plan, fingerprint: str) -> bool:
    """Whether the sources that a plan draws from are at hand; always so where no network finds them."""
    try:
        results.trained_sources(plan, fingerprint)
    except DataError:
        return False
    return True


def notes(run: Run) -> None:
    """Say where a finder fell back on another one or needed several tries; offer to find again what is gone."""
    plan = load_plan(run.plan)
    for note in run.provenance.get("source_notes", []):
        st.warning(page.plain(note), icon=":material/science:")
    if not stored(plan, run.fingerprint):
        if run.state != "running":
            _gone(plan, run.fingerprint)
    elif found_otherwise(run, results.trained_sources(plan, run.fingerprint)):
        st.warning(
            "The sources were computed again and differ from those of these trials. Pictures of sources show the "
            "new ones. To repair this, delete the run and start it again.",
            icon=":material/sync_problem:",
        )


def _gone(plan: Plan, fingerprint: str) -> None:
    """The results stand, what draws on the sources themselves does not."""
    dataset = dataset_of(fingerprint)
    needed = needed_by(plan, dataset)
    titles = listed([SOURCE_FINDERS[search.finder].title for search in needed])
    st.info(
        f"The sources of {page.plain(titles)} were deleted, so they cannot be shown or compared. Results that used "
        f"them remain valid.",
        icon=":material/delete_sweep:",
    )
    for search in needed:
        run = workspace().find_run(owner(), search, fingerprint)
        if run is not None and run.state != "done":
            jobs.follow(run, jobs.progress)
        elif run is None and not read_only():
            label = f"Compute those of {SOURCE_FINDERS[search.finder].title} again"
            st.button(label, key=f"find-{search.finder}", on_click=page.or_toast(jobs.start), args=(search, dataset))


def pictured(run: Run) -> tuple[str, ...]:
    """The finders whose sources have pictures; none but of images."""
    plan = load_plan(run.plan)
    if not isinstance(plan, TrialPlan) or dataset_of(run.fingerprint).kind != "image":
        return ()
    finders = tuple(finder for finder in plan.source_finders if finder != KNOWN_SOURCES)
    return finders if stored(plan, run.fingerprint) else ()


def pictures(run: Run) -> None:
    """The mean image of each source, a sheet for each finder (the paper's figures 1 and 2)."""
    plan, dataset = results.plan_of(run), dataset_of(run.fingerprint)
    finders = pictured(run)
    with st.spinner("Looking at the sources"), st.container(horizontal=True, gap="medium"):
        for finder in finders:
            name = IN_SENTENCES.get(finder, finder)
            with st.container(width="content", gap="xsmall"):
                st.markdown(f"**{page.plain(name[:1].upper() + name[1:])}**")
                page.sheet(
                    partial(
                        figures.mean_image_sheet,
                        results.source_images(plan, run.fingerprint, finder),
                        class_names=dataset.class_names,
                        finder=name,
                    ),
                    key=f"mean-images-{finder}",
                )
    st.caption(
        "The mean image of each source, a row for each class (figures 1 and 2 of the paper). Different pictures in "
        "a row mean different sources; a row of equal pictures suggests that its sources are chance."
        + figures.left_out(dataset.n_classes, plan.n_sources)
        + (" Of the first clustering." if plan.n_clusterings > 1 else "")
    )
