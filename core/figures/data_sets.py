"""What is in the data? Samples by class, a number over samples and classes, frequent words (notebook 1 of paper 004)"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Integer

from touchstone.core.evaluate.data_sets import NumberByClass, NumberSummary, SharesByNumber, Word
from touchstone.core.evaluate.wording import MINUS, THIN_SPACE, count, percent, plural, quoted
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import LONGEST_TITLE, Theme, as_name, escape, faded, new_figure, theme

MOST_STACKED = 10
"""With more classes than there are colours, shares are drawn as a heat map."""
_MANY = 30
_RATIO = 2.0  # the heat map's colours end at four times and at a quarter of the share in all samples


def label_distribution(
    class_names: Sequence[str], n_per_class: Integer[np.ndarray, " n_classes"], *, dark: bool = False
) -> go.Figure:
    """Bars with the number of samples of each class, in the order of `class_names`.

    Examples
    --------
    >>> figure = label_distribution(["plum", "melon"], np.array([30, 10]))
    >>> figure.layout.meta["alt"]
    '40 samples of 2 classes, from 10 (“melon”) to 30 (“plum”): 25.0 % to 75.0 % of all.'
    """
    look = theme(dark)
    total, fewest, most = int(n_per_class.sum()), int(n_per_class.argmin()), int(n_per_class.argmax())
    low, high = (f"{count(int(n_per_class[code]))} ({quoted(class_names[code])})" for code in (fewest, most))
    alt = (
        f"{plural(total, 'sample')} of {plural(len(class_names), 'class', 'classes')}, from {low} to {high}: "
        f"{percent(n_per_class[fewest] / total)} to {percent(n_per_class[most] / total)} of all."
    )
    row = _row(len(class_names))
    figure = new_figure(look, "Samples", height=80 + row * max(len(class_names), 3), alt=alt)
    text = [f"{count(int(n))} · {percent(n / total)}" for n in n_per_class]
    _lying(figure, n_per_class, look, text, "%{text}", size=12 if row > 20 else 10)
    draw.name_axis(figure, class_names)
    figure.update_xaxes(rangemode="tozero", range=[0, 1.35 * float(n_per_class.max())], tickformat=",d")
    draw.axis_in_sight(figure, len(class_names), 60)
    return figure.update_layout(separators=f".{THIN_SPACE}")


def _lying(
    figure: go.Figure, x: draw.Values, look: Theme, text: Sequence[str], hover: str, *, size: int = 12, **more
) -> None:
    """A bar in each row with what it stands for at its end."""
    drawn = {"orientation": "h", "width": 0.7, **draw.at_the_end(text, look, size), **more}
    draw.columns(figure, x, np.arange(len(x)), look.inclusive, None, hover, **drawn)


def number_histogram(number: NumberByClass, *, noun: str, dark: bool = False) -> go.Figure:
    """Histogram of a number over all samples, its median as a line; bins without samples are drawn empty."""
    look, overall, bars = theme(dark), number.overall, number.bars
    alt = f"{number.title} of {plural(overall.n, noun)}: {_spread(overall)}."
    x_title = escape(number.title, longest=LONGEST_TITLE)
    figure = new_figure(look, x_title, f"{noun.capitalize()}s", height=270, alt=alt)
    width = np.diff(bars.edges)
    last = bars.edges[1:] - 1 if bars.whole else bars.edges[1:]
    ranges = [
        _number(low) if bars.whole and low == high else f"{_number(low)} to {_number(high)}"
        for low, high in zip(bars.edges[:-1], last, strict=True)
    ]
    x, hover = bars.edges[:-1] + width / 2 - (0.5 if bars.whole else 0.0), f"%{{customdata}}: %{{y:,d}} {noun}s"
    draw.columns(figure, x, bars.n, look.inclusive, None, hover, width=width * 0.94, customdata=ranges)
    draw.rule(figure, look.grey, x=overall.median, text=f"median {_number(overall.median)}")
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(rangemode="tozero", tickformat=",d")
    return figure.update_layout(separators=f".{THIN_SPACE}")


def class_boxes(number: NumberByClass, *, dark: bool = False) -> go.Figure:
    """A box for the number within every class: quartiles, Tukey's whiskers and the mean; the line is the median of all.

    Boxes are drawn from their five numbers, so that a hundred thousand samples are as quick as ten.
    """
    look, rows = theme(dark), number.classes
    least, most = (end(rows, key=lambda row: row.median) for end in (min, max))
    low, high = (f"{_number(row.median)} ({quoted(row.name)})" for row in (least, most))
    alt = (
        f"{number.title} by class: medians from {low} to {high}; the median of all is {_number(number.overall.median)}."
    )
    x_title, height = escape(number.title, longest=LONGEST_TITLE), 80 + _row(len(rows)) * max(len(rows), 3)
    figure = new_figure(look, x_title, height=height, alt=alt)
    draw.rule(figure, look.grey, x=number.overall.median)
    fields = {"q1": "lower_quartile", "median": "median", "q3": "upper_quartile", "mean": "mean"}
    fields |= {"lowerfence": "whisker_low", "upperfence": "whisker_high"}
    data = {name: [getattr(row, field) for row in rows] for name, field in fields.items()}
    shown = {"orientation": "h", "boxmean": True, "hoverinfo": "x", "showlegend": False}
    draw.boxes(figure, draw.Style(look.inclusive), None, width=0.6, y=np.arange(len(rows)), **data, **shown)
    draw.name_axis(figure, [row.name for row in rows])
    draw.axis_in_sight(figure, len(rows), 60)
    return figure


def shares_by_number(shares: SharesByNumber, *, title: str, dark: bool = False) -> go.Figure:
    """The share of every class along a number: bars up to ten classes, for more a heat map of share against the usual.

    Bins hold about equally many samples each.
    """
    look, n_classes = theme(dark), len(shares.class_names)
    ends = [(_number(low, 3), _number(high, 3)) for low, high in zip(shares.lower, shares.upper, strict=True)]
    names = [low if low == high else f"{low} to {high}" for low, high in ends]
    ratio = shares.shares / shares.overall
    at, code = np.unravel_index(int(ratio.argmax()), ratio.shape)
    alt = (
        f"Shares of the classes by {title}. Furthest above its usual share: {shares.class_names[code]} at {names[at]}, "
        f"{percent(shares.shares[at, code])} against {percent(shares.overall[code])} overall."
    )
    x_title, many = escape(title, longest=LONGEST_TITLE), n_classes > MOST_STACKED
    if many:  # columns are too narrow for both ends
        figure = new_figure(look, f"{x_title}, from", height=100 + _row(n_classes) * n_classes, alt=alt)
        _heat(figure, shares, names, look)
        ticks = [low for low, _ in ends]
    else:
        figure = new_figure(look, x_title, "Share of the class (%)", height=320, alt=alt)
        _stacked(figure, shares, look)
        ticks = [low if low == high else f"{low}<br>to {high}" for low, high in ends]
    draw.name_axis(figure, names, axis="x")
    figure.update_xaxes(ticktext=ticks)
    draw.axis_in_sight(figure, n_classes, 60)
    return figure


def _stacked(figure: go.Figure, shares: SharesByNumber, look: Theme) -> None:
    x, edge = np.arange(len(shares.n)), {"width": 0.5, "color": look.paper}
    for code, name in enumerate(escape(as_name(name)) for name in shares.class_names):
        y, n = 100 * shares.shares[:, code], np.column_stack([shares.n[:, code], shares.n.sum(axis=1)])
        hover = f"{name}: %{{y:.1f}} %, %{{customdata[0]}} of %{{customdata[1]}}"
        draw.columns(figure, x, y, look.colours[code], name, hover, width=0.85, marker_line=edge, customdata=n)
    figure.update_layout(barmode="stack", yaxis={"range": [0, 100], "tickformat": "d"})


def _heat(figure: go.Figure, table: SharesByNumber, bins: Sequence[str], look: Theme) -> None:
    with np.errstate(divide="ignore"):
        ratio = np.log2(table.shares / table.overall)
    hover = [
        [
            f"{escape(as_name(name))}: {percent(share)} at {place}, {percent(usual)} overall, n = {count(int(n))}"
            for place, share, n in zip(bins, shares, counts, strict=True)
        ]
        for name, shares, counts, usual in zip(table.class_names, table.shares.T, table.n.T, table.overall, strict=True)
    ]
    texts = ["¼ or less", "half", "as usual", "twice", "4 × or more"]
    bar = draw.colour_bar(look, None, figure) | {"tickvals": [-2, -1, 0, 1, 2], "ticktext": texts}
    drawn = {"zmin": -_RATIO, "zmax": _RATIO, "ygap": None, "colorbar": bar}
    draw.heat(figure, np.clip(ratio.T, -_RATIO, _RATIO), look.diverging, hover, **drawn)
    draw.name_axis(figure, table.class_names)


def _row(n_rows: int) -> int:
    return 24 if n_rows <= _MANY else 16


def _spread(summary: NumberSummary) -> str:
    return (
        f"from {_number(summary.minimum)} to {_number(summary.maximum)}, half of them between "
        f"{_number(summary.lower_quartile)} and {_number(summary.upper_quartile)}, median {_number(summary.median)}"
    )


def _number(value: float, n_digits: int = 4) -> str:
    """Whole numbers in full, others with a few digits."""
    whole = value == int(value) and abs(value) < 1e15
    return (count(int(value)) if whole else f"{value:.{n_digits}g}").replace("-", MINUS)


# Which words are frequent, and which ones set a class apart?


def frequent_words(words: Sequence[Word], *, dark: bool = False) -> go.Figure:
    """Bars with how often each word occurs, the most frequent on top."""
    look = theme(dark)
    first = f", from {words[0].word} ({count(words[0].n)}) to {words[-1].word} ({count(words[-1].n)})" if words else ""
    figure = new_figure(look, "Occurrences", height=_word_height(words), alt=f"The most frequent words{first}.")
    texts = [f"in {plural(word.n_texts, 'text')}, {percent(word.share_of_texts)}" for word in words]
    n, hover = [word.n for word in words], "%{text} times, %{customdata}"
    _lying(figure, n, look, [count(word.n) for word in words], hover, customdata=texts)
    draw.name_axis(figure, [word.word for word in words])
    figure.update_xaxes(tickformat=",d", range=[0, 1.18 * max(n, default=1)])
    return figure.update_layout(separators=f".{THIN_SPACE}")


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
    figure = new_figure(look, "Texts that have the word (%)", height=_word_height(words), alt=alt)
    for stands, name, colour, hatch in (
        (True, f"this {noun}", look.inclusive, ""),
        (False, f"this {noun}, perhaps by chance", faded(look.inclusive), "/"),
    ):
        at = [place for place, word in enumerate(words) if word.stands == stands]
        if at:
            part = [words[place] for place in at]
            texts = [f"{plural(word.n_texts, 'text')}, z = {word.z:.1f}" for word in part]
            drawn = {"orientation": "h", "width": 0.7, "customdata": texts}
            drawn |= {"marker_pattern": {"shape": hatch, "fgcolor": look.inclusive, "size": 6}}
            x, hover = [100 * word.share_of_texts for word in part], f"%{{x:.1f}} % of this {noun}, %{{customdata}}"
            draw.columns(figure, x, at, colour, name, hover, **drawn)
    x, style = [100 * word.share_elsewhere for word in words], draw.Style(look.exclusive, "diamond")
    hover, drawn = "%{x:.1f} % of all others", {"size": 8, "outline": (1, look.paper)}
    draw.dots(figure, x, np.arange(len(words)), style, f"all other {nouns}", hover, **drawn)
    draw.name_axis(figure, [word.word for word in words])
    figure.update_xaxes(rangemode="tozero")
    return figure


def _word_height(words: Sequence[Word]) -> int:
    return 90 + 21 * max(len(words), 3)
