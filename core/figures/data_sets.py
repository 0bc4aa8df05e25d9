"""What is in the data? How many samples each class has, and how long the texts are."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Integer

from core.evaluate.wording import THIN_SPACE, count, percent, plural
from core.figures.theme import name_axis, new_figure, theme


def label_distribution(
    class_names: Sequence[str], n_per_class: Integer[np.ndarray, " n_classes"], *, dark: bool = False
) -> go.Figure:
    """Bars with the number of samples of each class, in the order of `class_names`.

    Examples
    --------
    >>> figure = label_distribution(["plum", "melon"], np.array([30, 10]))
    >>> figure.layout.meta["alt"]
    '40 samples of 2 classes, from 10 (melon) to 30 (plum): 25.0 % to 75.0 % of all.'
    """
    look = theme(dark)
    total, fewest, most = int(n_per_class.sum()), int(n_per_class.argmin()), int(n_per_class.argmax())
    alt = (
        f"{plural(total, 'sample')} of {plural(len(class_names), 'class', 'classes')}, from "
        f"{count(int(n_per_class[fewest]))} ({class_names[fewest]}) to {count(int(n_per_class[most]))} "
        f"({class_names[most]}): {percent(n_per_class[fewest] / total)} to {percent(n_per_class[most] / total)} of all."
    )
    row = 24 if len(class_names) <= 30 else 16
    figure = new_figure(look, x_title="Samples", height=80 + row * max(len(class_names), 3), alt=alt)
    counts = [count(int(n)) for n in n_per_class]
    figure.add_bar(
        x=n_per_class,
        y=np.arange(len(class_names)),
        orientation="h",
        width=0.7,
        marker={"color": look.inclusive, "line": {"width": 0}},
        text=counts,
        textposition="outside",
        textfont={"size": 12 if row > 20 else 10, "color": look.ink},
        cliponaxis=False,
        customdata=100 * n_per_class / total,
        hovertemplate="%{text} samples, %{customdata:.1f} %<extra></extra>",
    )
    name_axis(figure, class_names)
    figure.update_xaxes(rangemode="tozero", range=[0, 1.18 * float(n_per_class.max())], tickformat=",d")
    figure.update_layout(separators=f".{THIN_SPACE}")
    return figure


def text_lengths(n_words: Integer[np.ndarray, " n_samples"], *, dark: bool = False) -> go.Figure:
    """Histogram of the number of words of each text; bins without texts are drawn empty.

    Examples
    --------
    >>> text_lengths(np.array([4, 5, 5, 40])).layout.meta["alt"]
    '4 texts of 4 to 40 words, half of them at most 5.'
    """
    look = theme(dark)
    alt = (
        f"{plural(len(n_words), 'text')} of {count(int(n_words.min()))} to {count(int(n_words.max()))} words, half of "
        f"them at most {np.median(n_words):g}."
    )
    figure = new_figure(look, x_title="Length (words)", y_title="Texts", height=280, alt=alt)
    width = max(int(np.ceil((n_words.max() + 1) / 40)), 1)
    edges = np.arange(0, n_words.max() + width + 1, width)
    n_texts = np.histogram(n_words, bins=edges)[0]
    figure.add_bar(
        x=edges[:-1] + width / 2,
        y=n_texts,
        width=width * 0.94,
        marker={"color": look.inclusive, "line": {"width": 0}},
        customdata=np.column_stack([edges[:-1], edges[1:] - 1]),
        hovertemplate="%{customdata[0]} to %{customdata[1]} words: %{y} texts<extra></extra>",
    )
    figure.update_xaxes(showgrid=False, rangemode="tozero")
    figure.update_yaxes(rangemode="tozero", tickformat=",d")
    figure.update_layout(separators=f".{THIN_SPACE}")
    return figure
