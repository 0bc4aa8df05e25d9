"""What does a plan of trials ask people for? Models, sources, repeats; and, folded, all else."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.cluster import SOURCE_FINDERS
from core.data import Dataset
from core.evaluate.wording import plural
from core.models import MODELS, fits
from core.report.names import FINDER_TITLES, MODEL_TITLES
from core.represent import REPRESENTATIONS, Representation, available
from core.trials import KNOWN_SOURCES, SourcesPlan, TrialPlan
from core.trials.epochs import EPOCHS
from ui.forms.controls import Number, One, OneOrUsual, Pick, check_address

N_EPOCHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200)
EPOCH = One(
    "epoch",
    "Networks are tested after",
    EPOCHS,
    TrialPlan.epoch,
    "The best epoch on the test part is what the paper takes: optimistic, since the test part chose. What is "
    "held out for it, whole sources where sources are held out, is taken from the training part of every model.",
)


def trial_plan(dataset: Dataset) -> tuple[TrialPlan, DeltaGenerator]:
    """The controls of a TrialPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    main, more = trial_controls(
        has_sources=dataset.sources is not None,
        representations=available(dataset),
        models=model_titles(dataset),
        finders=finder_titles(dataset),
    )
    more["epoch"] = EPOCH
    check_address([*main.values(), *more.values()])
    with st.container(border=True, gap="small"):
        values = {"models": main.pop("models").draw()}
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            values |= {field: control.draw() for field, control in main.items()}
            st.space("stretch")
            button = st.container(width="content")
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return TrialPlan(**values), button


def trial_parameters(plan: TrialPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan, defaults written out; None where no address does."""
    main, more = trial_controls(has_sources=True, representations=REPRESENTATIONS)
    controls = {**main, **more, "epoch": EPOCH}
    written = {control.key: control.written(getattr(plan, field)) for field, control in controls.items()}
    if any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    said = TrialPlan(**{field: control.ordered(getattr(plan, field)) for field, control in controls.items()})
    return written if said == plan else None


def sources_parameters(plan: SourcesPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to usual trials with the sources of this plan."""
    n_repeats = max(TrialPlan.n_repeats, plan.n_clusterings)
    return trial_parameters(
        TrialPlan(
            source_finders=(plan.finder,),
            n_sources=plan.n_sources,
            n_clusterings=plan.n_clusterings,
            n_repeats=n_repeats,
            seed=plan.seed,
        )
    )


def describe_trials(plan: TrialPlan) -> str:
    """A plan in a few words, for lists of runs.

    >>> describe_trials(TrialPlan(models=("svm",), n_repeats=20))
    'SVM · k-means clusters · 20 repeats'
    """
    main, more = trial_controls(has_sources=True, representations=REPRESENTATIONS)
    models, finders = (main[field].written(getattr(plan, field)) for field in ("models", "source_finders"))
    features = f" in {more['representation'].written(plan.representation)[0]}" if plan.representation else ""
    return f"{', '.join(models)} · {' and '.join(finders)}{features} · {plural(plan.n_repeats, 'repeat')}"


def model_titles(dataset: Dataset) -> dict[str, str]:
    """The models that can be trained on a data set: a name and what the screen calls it."""
    return {name: model.label for name, model in MODELS.items() if fits(model, dataset)}


def finder_titles(dataset: Dataset) -> dict[str, str]:
    """The ways to find sources that fit a data set: a name and what the screen calls it."""
    return {name: finder.title for name, finder in SOURCE_FINDERS.items() if finder.fits(dataset)}


def trial_controls(
    *,
    has_sources: bool,
    representations: Mapping[str, Representation],
    models: Mapping[str, str] = MODEL_TITLES,
    finders: Mapping[str, str] = FINDER_TITLES,
) -> tuple[dict[str, Pick | Number], dict[str, One | OneOrUsual | Number]]:
    """The controls of the fields that plans of trials share: those in sight, and those under more options."""
    finders = {name: title for name, title in finders.items() if name != KNOWN_SOURCES}
    finders |= {KNOWN_SOURCES: FINDER_TITLES[KNOWN_SOURCES]} if has_sources else {}
    usual = TrialPlan()
    main: dict[str, Pick | Number] = {
        "models": Pick(
            "models",
            "Models",
            models,
            usual.models,
            "Each is trained anew on the same splits, so that models are compared split by split.",
        ),
        "source_finders": Pick(
            "sources",
            "Sources",
            finders,
            (KNOWN_SOURCES,) if has_sources else usual.source_finders,
            "Where a class's samples come from: clusters found within the class, or the sources named in the data. "
            "Deep k-means and ACOL train networks to find them, for minutes, and once; ACOL is experimental.",
        ),
        "n_repeats": Number(
            "repeats",
            "Repeats",
            1,
            1000,
            usual.n_repeats,
            10,
            "Splits drawn per scheme: 20 for a quick look, 100 as in the paper. More repeats narrow what is said over "
            "draws, never what is said over sources and samples.",
        ),
    }
    more: dict[str, One | OneOrUsual | Number] = {
        "representation": OneOrUsual(
            "features",
            "Features for finding sources",
            {name: entry.title for name, entry in representations.items()},
            f"In which clusters are found; the usual ones are: {next(iter(representations.values())).title}. Models "
            "are trained on the data themselves, whatever is chosen here.",
        ),
        "n_sources": Number(
            "clusters", "Clusters per class", 2, 50, usual.n_sources, 1, "The paper's k; 5 makes test parts of a fifth."
        ),
        "n_clusterings": Number(
            "clusterings",
            "Clusterings",
            1,
            100,
            usual.n_clusterings,
            1,
            "Repeats are spread over this many clusterings, so that one lucky one decides nothing.",
        ),
        "test_share": Number(
            "share", "Test share", 0.05, 0.5, usual.test_share, 0.05, "The share of each class that is tested on."
        ),
        "n_epochs": OneOrUsual(
            "epochs",
            "Epochs of networks",
            {number: str(number) for number in N_EPOCHS},
            "How long networks are trained. The usual number is 20, and 30 for the small one. Fewer are a quick look "
            "at models that have not finished learning.",
            width=150,
        ),
        "seed": Number("seed", "Seed", 0, 2**31, usual.seed, 1, "All randomness follows from this number."),
    }
    return main, more
