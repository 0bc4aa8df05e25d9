"""Have classes moved from training to test by more than chance? (Mani et al. 2019, section 5.2 and figure 3)"""

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.covariate_shift import ClassShift, CovariateShift
from touchstone.core.evaluate.wording import bare, count, listed, p_value, plural
from touchstone.core.figures.data_sets import MOST_IN_SIGHT
from touchstone.core.figures.theme import escape, faded, name_axis, new_figure, padded, theme


def shift_chart(shift: CovariateShift, *, dark: bool = False) -> go.Figure:
    """The divergence of every class beside its null: re-splits of the same sizes as a grey box.

    Dots are filled where a class has moved by more than chance, corrected for the number of classes; their bars are
    the Monte-Carlo error of the divergence, at 95 %.
    """
    look, classes = theme(dark), shift.classes
    known = [row for row in classes if not np.isnan(row.observed.value)]
    moved = [row.label for row in classes if row.shifted]
    alt = f"Jensen-Shannon divergence of training and test part of {plural(len(known), 'class', 'classes')}. " + (
        f"Significantly different: {listed(moved)}." if moved else "No class differs significantly."
    )
    per_class = 30 if len(classes) <= 12 else 22 if len(classes) <= 40 else 16
    height = 96 + per_class * max(len(classes), 3)
    title = "Jensen-Shannon divergence (bits; 0 alike, 1 apart)"
    figure = new_figure(look, x_title=title, height=height, alt=alt)
    for place, row in enumerate(classes):
        figure.add_box(
            x=row.null,
            y0=place,
            orientation="h",
            width=0.55,
            boxpoints=False,
            name="re-splits at random",
            legendgroup="null",
            showlegend=place == 0,
            line={"color": look.random, "width": 1.1},
            fillcolor=faded(look.random),
            hoverinfo="skip",
        )
    for shifted, name, symbol in (
        (True, "test set, significant (Holm)", "circle"),
        (False, "test set, no significant difference", "circle-open"),
    ):
        mine = [place for place, row in enumerate(classes) if row in known and row.shifted == shifted]
        figure.add_scatter(
            x=[classes[place].observed.value for place in mine],
            y=mine,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 10, "color": look.exclusive, "line": {"width": 1.8}},
            error_x={
                "type": "data",
                "array": [1.96 * classes[place].observed.error for place in mine],
                "color": look.exclusive,
                "thickness": 1.3,
                "width": 3,
            },
            text=[_hover(classes[place]) for place in mine],
            hovertemplate="%{text}<extra></extra>",
        )
    name_axis(figure, [row.label for row in classes])
    figure.update_xaxes(range=padded(figure, include=0.0))
    if len(classes) > MOST_IN_SIGHT:
        figure.update_xaxes(side="top")
        figure.update_layout(margin_t=104)
    return figure.update_layout(boxmode="overlay")


def _hover(row: ClassShift) -> str:
    null = f"; re-splits {bare(float(row.null.mean()), 3)}" if len(row.null) else ""
    return (
        f"{escape(row.label)}: {bare(row.observed.value, 3)} ± {bare(1.96 * row.observed.error, 3)}{null}<br>"
        f"{p_value(row.p_corrected)}, {count(row.n_train)} training and {count(row.n_test)} test samples"
    )
