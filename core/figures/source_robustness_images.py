"""What do sources look like? Their mean images, a row for each class (Kilinc & Uysal 2017, figures 1 and 2)."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.figures.theme import as_name, escape, new_figure, theme

SIDE = 42
"""About so many pixels of the screen an image gets; it is enlarged by a whole factor: its pixels stay square."""
MOST_CLASSES, MOST_SOURCES = 20, 10
_LETTER, _LONGEST = 7.5, 14


def mean_image_sheet(images: np.ndarray, *, class_names: Sequence[str], finder: str, dark: bool = False) -> go.Figure:
    """Mean images (n_classes, n_sources, height, width, channels) in [0, 1] on a sheet of just their size.

    A source without a sample is left blank, as are classes and sources beyond `MOST_CLASSES` and `MOST_SOURCES`.
    """
    look = theme(dark)
    images = images[:MOST_CLASSES, :MOST_SOURCES]
    n_classes, n_sources, height, width = images.shape[:4]
    paper = np.array([int(look.paper[place : place + 2], 16) for place in (1, 3, 5)])
    sheet = np.broadcast_to(paper, (n_classes, n_sources, height + 1, width + 1, 3)).copy()
    coloured = np.repeat(images, 3, axis=-1) if images.shape[-1] == 1 else images[..., :3]
    sheet[:, :, :height, :width] = np.rint(np.where(np.isnan(coloured), paper / 255, coloured).clip(0, 1) * 255)
    pixels = sheet.transpose(0, 2, 1, 3, 4).reshape(n_classes * (height + 1), n_sources * (width + 1), 3)
    zoom = max(1, round(SIDE / max(height, width)))
    names = [escape(as_name(name), longest=_LONGEST) for name in class_names[:n_classes]]
    figure = new_figure(look, x_title="", height=100, alt=_alt(finder, n_classes, n_sources))
    figure.add_image(z=pixels.astype(np.uint8), hoverinfo="skip")
    left, top = round(16 + _LETTER * max(min(len(name), _LONGEST) for name in class_names[:n_classes])), 26
    bare = {"showgrid": False, "ticks": "", "showline": False, "automargin": False, "fixedrange": True}
    figure.update_layout(
        width=left + zoom * pixels.shape[1],
        height=top + zoom * pixels.shape[0],
        margin={"l": left, "r": 0, "t": top, "b": 0},
    )
    figure.update_yaxes(
        **bare,
        tickvals=[(height + 1) * row + height / 2 for row in range(n_classes)],
        ticktext=names,
        range=[pixels.shape[0] - 0.5, -0.5],
    )
    figure.update_xaxes(
        **bare,
        side="top",
        tickvals=[(width + 1) * column + width / 2 for column in range(n_sources)],
        ticktext=[str(column + 1) for column in range(n_sources)],
        range=[-0.5, pixels.shape[1] - 0.5],
    )
    return figure


def left_out(n_classes: int, n_sources: int) -> str:
    """A sentence on what does not fit on the sheet; empty where all does.

    Examples
    --------
    >>> left_out(100, 5)
    ' Shown are the first 20 of 100 classes.'
    """
    limits = [(MOST_CLASSES, n_classes, "classes"), (MOST_SOURCES, n_sources, "sources of each class")]
    parts = [f"the first {most} of {n} {what}" for most, n, what in limits if n > most]
    return f" Shown are {' and '.join(parts)}." if parts else ""


def _alt(finder: str, n_classes: int, n_sources: int) -> str:
    return f"Mean images of the sources that {finder} found: {n_classes} classes, {n_sources} sources each."
