"""The look: exactly the chosen colours, no titles, names from the data taken literally."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.figures.theme import (
    DARK,
    LIGHT,
    LONGEST_NAME,
    escape,
    new_figure,
    theme,
)


def test_the_colours_are_those_that_the_search_found():
    assert " ".join(LIGHT.colours) == (
        "#1B5FAA #C8501C #0B8F80 #5C436C #D3A100 #4AABB3 #794211 #C184FD #4F0935 #2C1088"
    )
    assert " ".join(DARK.colours) == ("#6FB1F2 #F0955F #B3DF51 #9E6BAF #C1850F #4FEEE4 #CC5B62 #D091BC #8679ED #EEABA7")
    assert (LIGHT.paper, DARK.paper) == ("#FFFFFF", "#0F1318")
    for look in (LIGHT, DARK):
        assert (look.inclusive, look.exclusive, look.random) == (look.colours[0], look.colours[1], look.grey)
        assert len(look.sequential) == len(look.diverging) == 10


@pytest.mark.parametrize("dark", [False, True])
def test_a_figure_has_its_theme_and_no_title(dark):
    figure = new_figure(theme(dark), x_title="Accuracy (%)", alt="said")
    layout = figure.layout
    assert layout.title.text is None
    assert layout.template.layout.margin.to_plotly_json() == {"l": 0, "r": 14, "t": 24, "b": 0}
    assert layout.template.layout.paper_bgcolor == theme(dark).paper
    assert layout.xaxis.title.text == "Accuracy (%)"


def test_ink_can_be_read_on_paper():
    """WCAG contrast of text: 4.5 or better for ink and grey, on both papers."""

    def luminance(colour):
        channels = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for look in (LIGHT, DARK):
        for text in (look.ink, look.grey):
            light, dark = sorted((luminance(text), luminance(look.paper)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5


@given(st.text(max_size=60))
def test_no_name_can_smuggle_in_markup(name):
    shown = escape(name)
    assert shown
    assert not set("<>$\n") & set(shown)
    for entity in ("&amp;", "&lt;", "&gt;", "&#36;"):
        shown = shown.replace(entity, "")
    assert "&" not in shown


def test_a_link_in_a_name_is_text():
    assert escape('<a href="//x">y</a>') == '&lt;a href="//x"&gt;y&lt;/a&gt;'
    assert escape("  ") == "(blank)"
    assert len(escape("x" * 200)) == LONGEST_NAME
