"""Where do a class's centroid region and its boundary end? The controls of the regions, all of them in the address.

Test quality and guided tests share them, keys included: a link from one page to the other keeps the regions.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from touchstone.core.evaluate.test_quality.quality import RegionChoice
from touchstone.core.evaluate.test_quality.regions import FORM
from touchstone.core.parameters import About
from touchstone.ui import page_file
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.shell import page
from touchstone.ui.shell.session import read_only

LAYER = "layer"


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


def link_to_guided_tests(address: Mapping[str, str | list[str]]) -> None:
    """The way to the same regions where tests are generated, a page that links do not open."""
    if not read_only():
        label, icon = "Generate tests, or find samples to label", ":material/arrow_forward:"
        st.page_link(page_file("guided_tests"), label=label, icon=icon, help="", query_params=dict(address))
