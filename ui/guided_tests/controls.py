"""Which mix, how many, how are they made? The controls of a GuidedTestsPlan, all of them in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data import Dataset
from core.evaluate.guided_tests import FREQUENCIES, MIXES
from core.evaluate.guided_tests.plan import GuidedTestsPlan
from core.evaluate.guided_tests.verdict import mix_title
from core.trials.layer_parts import split_of
from core.workspace.errors import WorkspaceError
from core.workspace.links import View
from core.workspace.models import StoredModel
from ui.data import choice as data_choice
from ui.forms.controls import Number, One, check_address
from ui.models import choice as model_choice
from ui.shell.session import owner, read_only, workspace
from ui.test_quality import controls as test_quality_controls
from ui.test_quality.controls import RegionChoice

_USUAL = GuidedTestsPlan("usual")
_DECODER_EPOCHS = 10
_RIVALS = {"nearest": "each sample's own", "even": "all in turn"}
_WITH_TABLE = {"yes": "yes", "no": "no"}


@dataclass(frozen=True)
class Place:
    """A place on the way, from 0 to 100 per cent."""

    key: str
    label: str
    step: int = 5

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        allowed = {str(value) for value in range(0, 101, self.step)}
        return [value for value in written if value and value not in allowed] + list(written[1:])

    def draw(self) -> int:
        """The slider; returns the place."""
        return st.slider(
            self.label, 0, 100, 0, self.step, format="%d %%", key=self.key, bind="query-params", width="stretch"
        )

    def written(self, value: int) -> list[str]:
        """A value as the address holds it."""
        return [str(value)]


def guided_tests_plan(
    dataset: Dataset, model: StoredModel, choice: RegionChoice
) -> tuple[GuidedTestsPlan, DeltaGenerator]:
    """The controls of a GuidedTestsPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    main, more = _controls(dataset.kind)
    check_address([*main.values(), *more.values()])
    with st.container(border=True, gap="small", key="guided-controls"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            values = {
                field: control.draw(side_by_side=True) if isinstance(control, One) else control.draw()
                for field, control in main.items()
            }
            st.space("stretch")
            button = st.container(width="content")
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return _plan(values, model, choice), button


def parameters(plan: GuidedTestsPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan; None where no address does, or its model is gone."""
    if plan.layer is None:
        return None
    try:
        model = workspace().stored_model(owner(), plan.model)
        kind = workspace().stored_dataset(owner(), model.dataset_fingerprint).kind
    except WorkspaceError:
        return None
    main, more = _controls(kind)
    controls, values, choice = main | more, _values(plan), choice_of(plan)
    if any(values[field] not in control.titles for field, control in controls.items() if isinstance(control, One)):
        return None
    written = {control.key: control.written(values[field]) for field, control in controls.items()}
    if any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    if _plan({field: values[field] for field in controls}, model, choice) != plan:
        return None
    return written | test_quality_controls.region_parameters(choice) | model_choice.parameters(model)


def choice_of(plan: GuidedTestsPlan) -> RegionChoice:
    """The regions of a plan."""
    return RegionChoice(str(plan.layer), plan.theta2, plan.r, plan.theta1, plan.unit)


def describe(plan: GuidedTestsPlan) -> str:
    """A plan in a few words, for lists of runs.

    >>> describe(GuidedTestsPlan("f1f2f3", layer="last hidden", centroid_share=0.2, frequency=0.25))
    '20-80, 25 % of the test set · last hidden · model f1f2f3'
    """
    layer = plan.layer or "usual layer"
    return (
        f"{mix_title(plan.centroid_share)}, {_size(plan.frequency)} of the test set · {layer} · model {plan.model[:12]}"
    )


def _size(frequency: float) -> str:
    return f"{100 * frequency:g} %"


def _plan(values: Mapping[str, Any], model: StoredModel, choice: RegionChoice) -> GuidedTestsPlan:
    return GuidedTestsPlan(
        model.fingerprint,
        layer=choice.layer,
        **choice.thresholds,
        wcl=values["wcl"] or None,
        noise=values["noise"],
        rivals=values["rivals"],
        centroid_share=float(values["mix"]),
        frequency=float(values["size"]),
        table=values["table"] == "yes",
        decoder_epochs=values.get("decoder_epochs", 0),
        seed=values["seed"],
        **split_of(model.training_plan),
    )


def _values(plan: GuidedTestsPlan) -> dict[str, Any]:
    """A plan as its controls say it."""
    return {
        "mix": str(plan.centroid_share),
        "size": str(plan.frequency),
        "table": "yes" if plan.table else "no",
        "decoder_epochs": plan.decoder_epochs,
        "wcl": plan.wcl or 0.0,
        "noise": plan.noise,
        "rivals": plan.rivals,
        "seed": plan.seed,
    }


def _controls(kind: str) -> tuple[dict[str, One | Number], dict[str, One | Number]]:
    main: dict[str, One | Number] = {
        "mix": One(
            "mix",
            "Mix",
            {str(share): mix_title(share) for share in MIXES},
            str(_USUAL.centroid_share),
            "How many of the tests lie near their class's centroid, and how many at its boundary: centroid first, in "
            "per cent.",
        ),
        "size": One(
            "size",
            "Size",
            {str(frequency): _size(frequency) for frequency in FREQUENCIES},
            str(_USUAL.frequency),
            "Tests for each class, as a share of its number of test samples.",
        ),
    }
    more: dict[str, One | Number] = {
        "table": One(
            "table2",
            "Table 2, too",
            _WITH_TABLE,
            "yes",
            "Accuracy over mixes and sizes, up to as many tests for each class as a tenth of the test set, as in the "
            "paper's table 2.",
        ),
        "wcl": Number(
            "wcl",
            "Parents up to (0: usual)",
            0.0,
            1.0,
            0.0,
            0.05,
            "Samples of which the model is no surer than this are what tests are made from; usually a tenth below "
            "where the boundary ends.",
            "%.3f",
        ),
        "noise": Number(
            "perturbed",
            "Noise",
            0.0,
            10.0,
            _USUAL.noise,
            0.1,
            "In standard deviations of the class's training features; what cannot be placed is tried again with less.",
            "%.2f",
        ),
        "rivals": One(
            "rivals",
            "Rivals",
            _RIVALS,
            _USUAL.rivals,
            "Which classes the boundary lies with: the one that each sample is confused with, or all others in turn.",
        ),
        "seed": Number("seed", "Seed", 0, 2**31, _USUAL.seed, 1, "All randomness follows from this number."),
    }
    if kind == "image":
        epochs = Number(
            "decoder",
            "Decoder's epochs",
            0,
            1000,
            _DECODER_EPOCHS,
            5,
            "How long a network is trained that shows features as images. 0: the nearest real images are shown.",
        )
        more = {"decoder_epochs": epochs, **more}
    return main, more


def view(dataset: Dataset, model: StoredModel, settled: Mapping[str, list[str]]) -> View:
    """What a link shows before any test was generated: walks between classes, properties, and what to label next."""
    return View(
        "guided_tests",
        {data_choice.ADDRESS: [dataset.fingerprint], **settled},
        f"{data_choice.required().title} · {model.name}",
        datasets=(dataset.fingerprint,),
        models=(model.fingerprint,),
    )


def link_to_quality(page: Path, dataset: Dataset, model: StoredModel, choice: RegionChoice) -> None:
    """The way to the page that measures what the test set has in these very regions; none through a link."""
    if read_only():
        return
    st.page_link(
        page,
        label="How well the test set covers these regions",
        icon=":material/target:",
        help="",
        query_params={
            data_choice.ADDRESS: dataset.fingerprint,
            **model_choice.parameters(model),
            **test_quality_controls.region_parameters(choice),
        },
    )
