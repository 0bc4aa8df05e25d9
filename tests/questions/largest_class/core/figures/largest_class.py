"""How large is the largest class, in every draw?"""

import pandas as pd
import plotly.graph_objects as go

from touchstone.core.figures.theme import new_figure, theme


def draws_chart(rows: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    figure = new_figure(theme(dark), x_title="Samples of the largest class", y_title="Draw", alt="The largest class")
    return figure.add_scatter(x=rows["largest"].tolist(), y=rows["trial"].tolist(), mode="markers")
