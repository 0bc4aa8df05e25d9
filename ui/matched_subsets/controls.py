"""What does a matching of two test sets ask people for?"""

import streamlit as st

from core.workspace.links import View
from ui.forms.controls import Number, One, check_address
from ui.matched_subsets.plan import MatchingPlan, TwoSets
from ui.predictions import choice as prediction_choice


def matching_plan() -> MatchingPlan:
    """The controls of a MatchingPlan, and the plan that they say."""
    main, more = _matching_controls()
    check_address([*main.values(), *more.values()])
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            values = {field: control.draw() for field, control in main.items()}
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return MatchingPlan(**values)


def matching_parameters(plan: MatchingPlan) -> dict[str, list[str]]:
    """The parameters of the address that lead to this plan, defaults written out."""
    main, more = _matching_controls()
    return {control.key: control.written(getattr(plan, field)) for field, control in (main | more).items()}


def view(sets: TwoSets, plan: MatchingPlan | None) -> View:
    """What a link to a comparison shows, and all that settles it; without a plan where nothing can be matched."""
    settled = {name: [value] for name, value in sets.parameters.items()}
    settled |= {} if plan is None else matching_parameters(plan)
    files = (sets.reference, sets.target)
    return View("matched_subsets", settled, prediction_choice.names(sets.parameters), predictions=files)


def _matching_controls() -> tuple[dict[str, One | Number], dict[str, One | Number]]:
    usual = MatchingPlan()
    main: dict[str, One | Number] = {
        "epsilon": Number(
            "epsilon",
            "Epsilon",
            0.0,
            0.5,
            usual.epsilon,
            0.001,
            "The largest difference of confidence within a pair. The curve below shows what rests on it.",
            "%.4f",
        ),
        "by": One(
            "by",
            "Match by",
            {"label": "label and confidence", "probability": "confidence only"},
            usual.by,
            "Whether a pair must have the same predicted label, too (Algorithm 1), or about the same confidence only "
            "(Algorithm 2).",
        ),
        "method": One(
            "method",
            "Matching",
            {"random": "random", "maximum": "as many as possible"},
            usual.method,
            "Random is the published way: each new sample in turn takes a random counterpart that is still free. As "
            "many as possible does not depend on order or luck.",
        ),
    }
    more: dict[str, One | Number] = {
        "n_repeats": Number(
            "repeats",
            "Repeats",
            1,
            200,
            usual.n_repeats,
            1,
            "Random matchings whose mean is shown. More of them change no interval: these speak about data.",
        ),
        "order": One(
            "order",
            "Order",
            {"shuffled": "shuffled", "given": "as in the file"},
            usual.order,
            "In which order new samples take their counterparts; the paper's is that of the file.",
        ),
        "binning": One(
            "bins",
            "Bins of equal",
            {"mass": "mass", "width": "width"},
            usual.binning,
            "Of reliability diagrams: as many samples in each, or as much of the scale.",
        ),
        "n_bins": Number("nbins", "Number of bins", 2, 100, usual.n_bins, 1, "At most so many; ties stay together."),
        "seed": Number("seed", "Seed", 0, 2**31, usual.seed, 1, "All randomness follows from this number."),
    }
    return main, more
