"""Which words are frequent, and which ones set a class apart?"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.data_sets import Word
from touchstone.core.evaluate.wording import THIN_SPACE, count, percent, plural
from touchstone.core.figures.theme import faded, name_axis, new_figure, theme


def frequent_words(words: Sequence[Word], *, dark: bool = False) -> go.Figure:
    """Bars with how often each word occurs, the most frequent on top."""
    look = theme(dark)
    first = f", from {words[0].word} ({count(words[0].n)}) to {words[-1].word} ({count(words[-1].n)})" if words else ""
    alt = f"The most frequent words{first}."
    figure = new_figure(look, x_title="Occurrences", height=_word_height(words), alt=alt)
    figure.add_bar(
        x=[word.n for word in words],
        y=np.arange(len(words)),
        orientation="h",
        width=0.7,
        marker={"color": look.inclusive, "line": {"width": 0}},
        text=[count(word.n) for word in words],
        textposition="outside",
        textfont={"size": 12, "color": look.ink},
        cliponaxis=False,
        customdata=[f"in {plural(word.n_texts, 'text')}, {percent(word.share_of_texts)}" for word in words],
        hovertemplate="%{text} times, %{customdata}<extra></extra>",
    )
    name_axis(figure, [word.word for word in words])
    figure.update_xaxes(tickformat=",d", range=[0, 1.18 * max((word.n for word in words), default=1)])
    figure.update_layout(separators=f".{THIN_SPACE}")
    return figure


def characteristic_words(
    words: Sequence[Word], *, noun: str = "class", nouns: str = "classes", dark: bool = False
) -> go.Figure:
    """For each word the share of the class's texts that have it (bar) beside that of all other texts (diamond).

    `noun` and `nouns` say what the texts are grouped by, where that is not their class. Words that chance could
    explain, after correction for all words, are hatched.
    """
    look = theme(dark)
    surest = [word.word for word in words if word.stands]
    alt = (
        f"{plural(len(surest), 'word')} are significantly more frequent in the {noun}, above all "
        f"{', '.join(surest[:3])}."
        if surest
        else f"No word is significantly more frequent in the {noun}."
    )
    figure = new_figure(look, x_title="Texts that have the word (%)", height=_word_height(words), alt=alt)
    for stands, name in ((True, f"this {noun}"), (False, f"this {noun}, perhaps by chance")):
        part = [(at, word) for at, word in enumerate(words) if word.stands == stands]
        if part:
            figure.add_bar(
                x=[100 * word.share_of_texts for _, word in part],
                y=[at for at, _ in part],
                orientation="h",
                width=0.7,
                name=name,
                marker={
                    "color": look.inclusive if stands else faded(look.inclusive),
                    "line": {"width": 0},
                    "pattern": {"shape": "" if stands else "/", "fgcolor": look.inclusive, "size": 6},
                },
                customdata=[f"{plural(word.n_texts, 'text')}, z = {word.z:.1f}" for _, word in part],
                hovertemplate=f"%{{x:.1f}} % of this {noun}, %{{customdata}}<extra></extra>",
            )
    figure.add_scatter(
        x=[100 * word.share_elsewhere for word in words],
        y=np.arange(len(words)),
        mode="markers",
        name=f"all other {nouns}",
        marker={"symbol": "diamond", "size": 8, "color": look.exclusive, "line": {"width": 1, "color": look.paper}},
        hovertemplate="%{x:.1f} % of all others<extra></extra>",
    )
    name_axis(figure, [word.word for word in words])
    figure.update_xaxes(rangemode="tozero")
    return figure


def _word_height(words: Sequence[Word]) -> int:
    return 90 + 21 * max(len(words), 3)
