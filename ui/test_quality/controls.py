"""Where do a class's centroid region and its boundary end? The controls of the regions, all of them in the address.

Test quality and guided tests share them, keys included: a link from one page to the other keeps the regions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from touchstone.core.asked import About
from touchstone.core.evaluate.test_quality import Regions, fit_regions
from touchstone.core.evaluate.test_quality.regions import FORM, Unit, asks_r, asks_theta1, asks_theta2, asks_unit
from touchstone.core.models.layers import LayerSamples
from touchstone.core.trials.layer_parts import asks_layer
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.shell import page

LAYER = "layer"


@dataclass(frozen=True)
class RegionChoice:
    """A layer and the thresholds of its regions; `r` and `theta1` are None where the usual ones are meant.

    Examples
    --------
    >>> RegionChoice("last hidden").thresholds
    {'r': None, 'theta1': None, 'theta2': 0.7, 'unit': '99th percentile'}
    """

    layer: str = asks_layer()
    theta2: float = asks_theta2()
    r: float | None = asks_r()
    theta1: float | None = asks_theta1()
    unit: Unit = asks_unit()

    @property
    def thresholds(self) -> dict[str, Any]:
        """What `fit_regions` and `measure_quality` take."""
        return {"r": self.r, "theta1": self.theta1, "theta2": self.theta2, "unit": self.unit}

    def regions(self, train: LayerSamples) -> Regions:
        """The regions that training samples draw. Raises DataError where they cannot be drawn."""
        return fit_regions(train, **self.thresholds)


def region_choice(layers: Sequence[str]) -> RegionChoice:
    """The controls in a row of their own, and what they say.

    Where there is one layer there is nothing to choose, and the address need not say it.
    """
    about, settled = About(layers=tuple(layers)), {"layer": layers[0]}
    with st.container(border=True, gap="small", key="regions"):
        if len(layers) == 1:
            st.caption(f"Measured in {page.plain(layers[0])}, the only layer of this model that is known.")
        choice, _ = plan_form(RegionChoice, about, form=FORM, settled=settled, border=False)
    if len(layers) == 1 and LAYER not in st.session_state:  # a widget of the run before is Streamlit's to clear
        st.query_params.pop(LAYER, None)  # it says nothing, and of the next model it would say something wrong
    return choice


def region_parameters(choice: RegionChoice) -> dict[str, list[str]]:
    """The parameters of the address that lead to these regions, defaults written out.

    >>> region_parameters(RegionChoice("inputs", r=0.5))
    {'layer': ['inputs'], 'theta2': ['0.7'], 'r': ['0.5'], 'theta1': ['usual'], 'unit': ['99th percentile']}
    """
    return plan_parameters(choice) or {}
