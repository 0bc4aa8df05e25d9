"""What does every figure look like? Calm, like a figure on printed paper, in light and in dark."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.wording import quoted

FONT = "'Source Sans', 'Source Sans Pro', 'Helvetica Neue', Arial, sans-serif"
LONGEST_NAME = 36
LONGEST_TITLE = 60
"""Letters of a name from the data in the title of an axis."""
_JOINERS = "\u200c\u200d"  # scripts and emoji need them
RIGHT = 14
"""Pixels to the right of the axes: plotly leaves out a tick's label, such as 100, of which half would be cut off."""
_WHOLE_LEGEND = {"maxheight": 1.0} if "maxheight" in go.layout.Legend() else {}
"""As high as the figure, where plotly (since 6.3) has a limit at all: its own would scroll from half of it on."""


@dataclass(frozen=True)
class Theme:
    """Colours by their role. The same thing has the same colour in every figure."""

    name: str
    paper: str
    ink: str
    grey: str
    faint: str
    line: str
    colours: tuple[str, ...]
    """Ten, told apart also by people with colour-vision deficiencies."""
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]

    @property
    def inclusive(self) -> str:
        """Familiar sources, the reference set, "as the data are"."""
        return self.colours[0]

    @property
    def exclusive(self) -> str:
        """Unfamiliar sources, the target set."""
        return self.colours[1]

    @property
    def random(self) -> str:
        """Random, null, chance."""
        return self.grey

    @property
    def rising(self) -> tuple[str, ...]:
        """From what lies near the paper to what stands out."""
        return self.sequential if self.name == "dark" else self.sequential[::-1]

    @cached_property
    def template(self) -> go.layout.Template:
        """The plotly template: no title, thin lines, horizontal legend above the axes."""
        axis = {
            "gridcolor": self.line,
            "gridwidth": 1,
            "zeroline": False,
            "linecolor": self.faint,
            "tickcolor": self.faint,
            "ticks": "outside",
            "ticklen": 4,
            "automargin": True,
            "title": {"standoff": 10, "font": {"size": 13, "color": self.grey}},
            "tickfont": {"size": 12, "color": self.ink},
        }
        return go.layout.Template(
            layout={
                "font": {"family": FONT, "size": 13, "color": self.ink},
                "paper_bgcolor": self.paper,
                "plot_bgcolor": self.paper,
                "colorway": list(self.colours),
                "colorscale": {"sequential": scale(self.sequential), "diverging": scale(self.diverging)},
                "margin": {"l": 0, "r": RIGHT, "t": 24, "b": 0},
                "xaxis": axis,
                "yaxis": axis,
                "legend": {
                    "orientation": "h",
                    "x": 0,
                    "y": 1,
                    "yref": "container",  # at the figure's top: plotly can leave it where the margin was before
                    "yanchor": "top",
                    "bgcolor": "rgba(0,0,0,0)",
                    "font": {"size": 12},
                    "itemsizing": "constant",
                    **_WHOLE_LEGEND,
                },
                "hoverlabel": {
                    "bgcolor": self.paper,
                    "bordercolor": self.faint,
                    "align": "left",
                    "font": {"family": FONT, "size": 12, "color": self.ink},
                },
                "hovermode": "closest",
                "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": self.faint, "activecolor": self.ink},
            }
        )


_GREY_TO_GOLD = ("#00224E", "#123570", "#3B496C", "#575D6D", "#707173", "#8A8678", "#A59C74", "#C3B369", "#E1CC55")

LIGHT = Theme(
    name="light",
    paper="#FFFFFF",
    ink="#14181E",
    grey="#666F7B",
    faint="#A7AFB8",
    line="#E7EAED",
    colours=(
        *("#1B5FAA", "#C8501C", "#0B8F80", "#5C436C", "#D3A100"),
        *("#4AABB3", "#794211", "#C184FD", "#4F0935", "#2C1088"),
    ),
    sequential=(*_GREY_TO_GOLD, "#FEE838"),
    diverging=(
        *("#1B5FAA", "#5282BD", "#82A5CF", "#B3C7E0", "#E5EBF0"),
        *("#F5EAE4", "#EEC5B5", "#E49F86", "#D77956", "#C8501C"),
    ),
)

DARK = Theme(
    name="dark",
    paper="#0F1318",
    ink="#E4E8EC",
    grey="#98A2AD",
    faint="#56606B",
    line="#232A32",
    colours=(
        *("#6FB1F2", "#F0955F", "#B3DF51", "#9E6BAF", "#C1850F"),
        *("#4FEEE4", "#CC5B62", "#D091BC", "#8679ED", "#EEABA7"),
    ),
    sequential=(*_GREY_TO_GOLD, "#FEE838"),
    diverging=LIGHT.diverging,
)


def theme(dark: bool) -> Theme:
    """Colours for a light or a dark page.

    >>> theme(dark=True).paper
    '#0F1318'
    """
    return DARK if dark else LIGHT


def new_figure(
    look: Theme, x_title: str, y_title: str | None = None, *, height: int = 320, alt: str | Sequence[str] = ""
) -> go.Figure:
    """An empty figure in a theme: axis titles with their units, no title, and what it shows, in sentences, as `alt`.

    >>> alt_text(new_figure(LIGHT, x_title="Accuracy (%)", alt="Accuracy falls by a tenth."))
    'Accuracy falls by a tenth.'
    """
    meta = {"alt": alt if isinstance(alt, str) else " ".join(alt)}
    titles = {"xaxis_title": x_title, "yaxis_title": y_title}
    return go.Figure().update_layout(template=look.template, height=height, meta=meta, **titles)


def alt_text(figure: go.Figure) -> str:
    """What the figure shows, in words, for who cannot see it."""
    return figure.layout.meta["alt"]


def escape(name: str, *, longest: int = LONGEST_NAME) -> str:
    """A name from the data as plotly will show it: pseudo-HTML, entities, formulas and templates are taken literally.

    >>> escape("<b>cat</b> & $dog$"), escape("%{x}")
    ('&lt;b&gt;cat&lt;/b&gt; &amp; &#36;dog&#36;', '&#37;{x}')
    """
    plain = " ".join("".join(filter(_visible, name)).split()) or "(blank)"
    if len(plain) > longest:
        plain = plain[: longest - 1] + "…"
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;"), ("%{", "&#37;{")):
        plain = plain.replace(character, entity)
    return plain


def _visible(character: str) -> bool:
    """Whether it may stand in a figure: neither a control character nor one that turns what follows around."""
    return character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Cs") or character in _JOINERS


def faded(colour: str, opacity: float = 0.2) -> str:
    """A colour with an opacity; bands and bars of an interval have its hue at 20 %.

    >>> faded("#1B5FAA")
    'rgba(27, 95, 170, 0.2)'
    """
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


def scale(colours: Sequence[str]) -> list[list[object]]:
    """Colours as plotly's colour scale, evenly spaced.

    >>> scale(("#000000", "#FFFFFF"))
    [[0.0, '#000000'], [1.0, '#FFFFFF']]
    """
    return [[float(at), colour] for at, colour in zip(np.linspace(0, 1, len(colours)), colours, strict=True)]


def inks_on(colours: Sequence[str], shares: np.ndarray) -> list[str]:
    """Black or white, whichever is read better on the colour that an evenly spaced scale has at each share of it.

    >>> inks_on(("#000000", "#FFFFFF"), np.array([0.1, 0.45, 0.5]))
    ['white', 'white', 'black']
    """
    ends = np.array([[int(colour[start : start + 2], 16) for start in (1, 3, 5)] for colour in colours]) / 255
    at = np.linspace(0, 1, len(colours))
    linear = [np.interp(shares, at, channel) ** 2.2 for channel in ends.T]
    return np.where(np.dot([0.2126, 0.7152, 0.0722], linear) > 0.179, "black", "white").tolist()


def as_name(name: str) -> str:
    """A name from the data where it stands alone; one that is a number is quoted, as in sentences.

    >>> as_name("3"), as_name("cat")
    ('“3”', 'cat')
    """
    return quoted(name) if name.isdecimal() else name
