"""Where do a class's centroid region and its boundary end? The controls of the regions, all of them in the address.

Test quality and guided tests share them, keys included: a link from one page to the other keeps the regions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.evaluate.test_quality import THETA_2, UNITS, Regions, fit_regions
from core.evaluate.test_quality.regions import Unit
from core.models.layers import LayerSamples
from ui.forms.controls import Number, One, check_address
from ui.shell import page

Control = One | Number
_UNIT_TITLES = {"99th percentile": "99th percentile", "largest": "the largest"}


@dataclass(frozen=True)
class RegionChoice:
    """A layer and the thresholds of its regions; `r` and `theta1` are None where the usual ones are meant.

    Examples
    --------
    >>> RegionChoice("last hidden").thresholds
    {'r': None, 'theta1': None, 'theta2': 0.7, 'unit': '99th percentile'}
    """

    layer: str
    theta2: float = THETA_2
    r: float | None = None
    theta1: float | None = None
    unit: Unit = UNITS[0]

    @property
    def thresholds(self) -> dict[str, Any]:
        """What `fit_regions` and `measure_quality` take."""
        return {"r": self.r, "theta1": self.theta1, "theta2": self.theta2, "unit": self.unit}

    def regions(self, train: LayerSamples) -> Regions:
        """The regions that training samples draw. Raises DataError where they cannot be drawn."""
        return fit_regions(train, **self.thresholds)


def region_choice(layers: Sequence[str]) -> RegionChoice:
    """The controls in a row of their own, and what they say."""
    main, more = region_controls(layers)
    layer = _layer_control(layers)
    check_address([layer, *main.values(), *more.values()])
    if len(layers) == 1 and layer.key not in st.session_state:  # a widget of the run before is Streamlit's to clear
        st.query_params.pop(layer.key, None)  # it says nothing, and of the next model it would say something wrong
    with st.container(border=True, gap="small", key="regions"):
        if len(layers) == 1:
            st.caption(f"Measured in {page.plain(layers[0])}, the only layer of this model that is known.")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            values = {field: control.draw() for field, control in main.items()}
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return choice_of({"layer": layers[0]} | values)


def region_controls(layers: Sequence[str]) -> tuple[dict[str, Control], dict[str, Control]]:
    """The controls by field of `RegionChoice`: the main ones, and the rest. `layers` are those offered, usual first.

    Where there is one layer there is nothing to choose, and the address need not say it.
    """
    main: dict[str, Control] = {"layer": _layer_control(layers)} if len(layers) > 1 else {}
    main |= {
        "theta2": Number(
            "theta2",
            "Boundary up to",
            0.0,
            1.0,
            THETA_2,
            0.05,
            "A sample lies at the boundary where the model's confidence is at most this (theta 2). The paper gives no "
            "value; the curve below shows what rests on it.",
            "%.3f",
        ),
        "r": Number(
            "r",
            "Radius (0: median)",
            0.0,
            10.0,
            0.0,
            0.05,
            "How far a centroid region reaches, in the unit of distance. 0 is the median of each class's training "
            "samples, so that half of them lie inside.",
            "%.3f",
        ),
    }
    more: dict[str, Control] = {
        "theta1": Number(
            "theta1",
            "Boundary from",
            0.0,
            1.0,
            0.0,
            0.05,
            "The least confidence at the boundary (theta 1). None lies below one over the number of classes.",
            "%.3f",
        ),
        "unit": One(
            "unit",
            "Unit of distance",
            _UNIT_TITLES,
            UNITS[0],
            "Of the distances of a class's training samples to their centroid; the largest is a single sample.",
        ),
    }
    return main, more


def _layer_control(layers: Sequence[str]) -> One:
    return One(
        "layer",
        "Layer",
        {name: name for name in layers},
        layers[0],
        "Features are what this layer of the model makes of a sample; its head is everything behind it.",
    )


def choice_of(values: Mapping[str, Any]) -> RegionChoice:
    """What the controls say; 0 stands for what is usual.

    >>> choice_of({"layer": "inputs", "theta2": 0.7, "r": 0.0, "theta1": 0.4, "unit": "largest"})
    RegionChoice(layer='inputs', theta2=0.7, r=None, theta1=0.4, unit='largest')
    """
    return RegionChoice(
        values["layer"], values["theta2"], values["r"] or None, values["theta1"] or None, values["unit"]
    )


def region_parameters(choice: RegionChoice) -> dict[str, list[str]]:
    """The parameters of the address that lead to these regions, defaults written out.

    >>> region_parameters(RegionChoice("inputs", r=0.5))
    {'layer': ['inputs'], 'theta2': ['0.7'], 'r': ['0.5'], 'theta1': ['0.0'], 'unit': ['99th percentile']}
    """
    main, more = region_controls([])
    main = {"layer": _layer_control([choice.layer])} | main
    values = {**vars(choice), "r": choice.r or 0.0, "theta1": choice.theta1 or 0.0}
    return {control.key: control.written(values[field]) for field, control in (main | more).items()}
