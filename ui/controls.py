"""What can be chosen? Keyed widgets that the address bar holds, made from the registries, giving frozen plans.

Streamlit replaces a value that it does not know in the address by the default, silently: a link would show another
result than the one that was sent. So the address is checked first, and an unknown value ends the page with a sentence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.cluster import SOURCE_FINDERS
from core.data import Dataset
from core.evaluate.wording import plural
from core.models import MODELS, fits
from core.represent import REPRESENTATIONS, Representation, available
from core.trials import KNOWN_SOURCES, TrialPlan
from ui.matching_plan import MatchingPlan
from ui.page import plain
from ui.session import is_fixed

MOST_SIDE_BY_SIDE = 3
USUAL = "usual"
_GOT = "asked_and_got"
_MARKUP = re.compile(r"[*`$~\\\[\]<]|:\w|_.*_")  # what Streamlit would take for more than a name
MODEL_TITLES = {name: model.label for name, model in MODELS.items()}
FINDER_TITLES = {
    "kmeans": "k-means clusters",
    "same_size_kmeans": "k-means clusters of the same size",
    KNOWN_SOURCES: "known sources",
}


@dataclass(frozen=True)
class Pick:
    """One or several of the names in `titles`; the address holds the titles that the screen shows."""

    key: str
    label: str
    titles: Mapping[str, str]
    default: tuple[str, ...]
    help: str

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and value not in self.titles.values()]

    def draw(self) -> tuple[str, ...]:
        """The widget; returns the chosen names in the registry's order."""
        chosen = st.pills(
            self.label,
            list(self.titles),
            selection_mode="multi",
            default=list(self.default),
            format_func=self.titles.__getitem__,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
        )
        return self.ordered(chosen)

    def ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names in the registry's order, whatever the order of choosing: the same choice is the same plan."""
        return tuple(name for name in self.titles if name in names)

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        return [self.titles[name] for name in value]


@dataclass(frozen=True)
class One:
    """Just one of the names in `titles`; few stand side by side, many in a list, which takes any name as it is."""

    key: str
    label: str
    titles: Mapping[str, str]
    default: str
    help: str | None = None

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and value not in self.titles.values()] + list(written[1:])

    def draw(self, *, side_by_side: bool = False) -> str:
        """The widget; returns the chosen name."""
        names = list(self.titles)
        if side_by_side or (len(names) <= MOST_SIDE_BY_SIDE and not any(map(_MARKUP.search, self.titles.values()))):
            return st.segmented_control(
                self.label,
                names,
                default=self.default,
                format_func=self.titles.__getitem__,
                key=self.key,
                disabled=is_fixed(self.key),
                help=self.help,
                required=True,
                bind="query-params",
            )
        return st.selectbox(
            self.label,
            names,
            index=names.index(self.default),
            format_func=self.titles.__getitem__,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
        )

    def written(self, value: str) -> list[str]:
        """A value as the address holds it."""
        return [self.titles[value]]

    def ordered(self, value: str) -> str:
        """The value itself: one thing has no order."""
        return value


@dataclass(frozen=True)
class OneOrUsual:
    """One of the names in `titles`, or what is usual: None in a plan, "usual" in the address."""

    key: str
    label: str
    titles: Mapping[str, str]
    help: str

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        known = {USUAL, *self.titles.values()}
        return [value for value in written if value and value not in known] + list(written[1:])

    def draw(self) -> str | None:
        """The widget; returns the chosen name, None for what is usual."""
        chosen = st.selectbox(
            self.label,
            ["", *self.titles],
            format_func=lambda name: self.titles.get(name, USUAL),
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
            width=270,
        )
        return chosen or None

    def written(self, value: str | None) -> list[str]:
        """A value as the address holds it."""
        return [self.titles[value] if value else USUAL]

    def ordered(self, value: str | None) -> str | None:
        """The value itself: one thing has no order."""
        return value


@dataclass(frozen=True)
class Number:
    """A number from `lowest` to `highest`, of the type of its default."""

    key: str
    label: str
    lowest: float
    highest: float
    default: float
    step: float
    help: str
    format: str | None = None

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and not self._allows(value)] + list(written[1:])

    def _allows(self, value: str) -> bool:
        try:
            number = type(self.default)(value)
        except ValueError:
            return False
        return self.lowest <= number <= self.highest

    def draw(self) -> Any:
        """The widget; returns the chosen number, the default where the field is empty."""
        chosen = st.number_input(
            self.label,
            self.lowest,
            self.highest,
            self.default,
            self.step,
            self.format,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
            placeholder=str(self.default),
            width=150,
        )
        return self.default if chosen is None else chosen

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        return [str(value)]

    def ordered(self, value: Any) -> Any:
        """The value itself: a number has no order."""
        return value


def check_address(controls: Sequence[Pick | One | OneOrUsual | Number]) -> None:
    """End the page with a sentence where the address asks for a value that no control has.

    What it asked for, and got, may be gone after another choice on the page: then the control takes what is usual.
    """
    asked = {one.key: st.query_params.get_all(one.key) for one in controls}
    got: dict[str, list[str]] = st.session_state.setdefault(_GOT, {})
    wrong = {one.label: one.unknown(asked[one.key]) for one in controls if got.get(one.key) != asked[one.key]}
    wrong = {label: values for label, values in wrong.items() if values}
    if not wrong:
        got.update(asked)
        return
    told = "; ".join(f"{label.lower()}: {', '.join(values)}" for label, values in wrong.items())
    st.error(
        f"It asks for {plain(told)}. No result is shown in its place.",
        title="This address asks for something that cannot be chosen here",
        icon=":material/link_off:",
    )
    st.button("Show the usual settings", on_click=_forget, args=([one.key for one in controls],))
    st.stop()


def _forget(keys: Sequence[str]) -> None:
    for key in keys:
        st.query_params.pop(key, None)


def trial_plan(dataset: Dataset) -> tuple[TrialPlan, DeltaGenerator]:
    """The controls of a TrialPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    main, more = trial_controls(
        has_sources=dataset.sources is not None, representations=available(dataset), models=model_titles(dataset)
    )
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
    controls = main | more
    written = {control.key: control.written(getattr(plan, field)) for field, control in controls.items()}
    if any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    said = TrialPlan(**{field: control.ordered(getattr(plan, field)) for field, control in controls.items()})
    return written if said == plan else None


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


def trial_controls(
    *, has_sources: bool, representations: Mapping[str, Representation], models: Mapping[str, str] = MODEL_TITLES
) -> tuple[dict[str, Pick | Number], dict[str, OneOrUsual | Number]]:
    """The controls of the fields that plans of trials share: those in sight, and those under more options."""
    finders = {name: FINDER_TITLES.get(name, name) for name in [*SOURCE_FINDERS, *[KNOWN_SOURCES] * has_sources]}
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
            "Where a class's samples come from: clusters found within the class, or the sources named in the data.",
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
    more: dict[str, OneOrUsual | Number] = {
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
        "seed": Number("seed", "Seed", 0, 2**31, usual.seed, 1, "All randomness follows from this number."),
    }
    return main, more


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
