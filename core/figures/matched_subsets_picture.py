"""How are two test sets matched? A few samples of each, and who is paired with whom. (Anzaku et al. 2022, figure 2)"""

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.matched_subsets import MatchedSubsets
from touchstone.core.figures.theme import name_axis, new_figure, theme

MOST_DRAWN = 60


def matching_picture(matched: MatchedSubsets, *, dark: bool = False) -> go.Figure:
    """How matching works, on a few samples (figure 2): pairs are joined, what found no partner is hollow.

    One row per set, and with `by` "label" two rows per predicted label. More than 60 samples of a set are not drawn.
    """
    look = theme(dark)
    labels: list[int | None] = [None]
    if matched.by == "label":
        labels = sorted(set(matched.reference.label.tolist()) | set(matched.target.label.tolist()))
    names = [matched.reference.class_names[label] if label is not None else "any label" for label in labels]
    place = {label: float(at) for at, label in enumerate(labels)}
    height = 0.28
    n_left, n_left_reference = len(matched.unmatched_target_index), len(matched.unmatched_reference_index)
    shown = f"{matched.n_pairs} pairs; {n_left} new and {n_left_reference} reference samples unmatched"
    figure = new_figure(
        look,
        x_title="Confidence (%)",
        y_title="Predicted label" if matched.by == "label" else None,
        height=110 + 90 * len(labels),
        alt=f"Samples of both sets by confidence, with a line for every pair: {shown}.",
    )

    def at(label: np.ndarray, offset: float) -> np.ndarray:
        return np.array([place[code if matched.by == "label" else None] for code in label.tolist()]) + offset

    keep = (matched.reference_index < MOST_DRAWN) & (matched.target_index < MOST_DRAWN)
    reference, target = (
        matched.reference.part(matched.reference_index[keep]),
        matched.target.part(matched.target_index[keep]),
    )
    gap = np.full(len(reference), np.nan)
    figure.add_scatter(
        x=100 * np.column_stack([reference.confidence, target.confidence, gap]).ravel(),
        y=np.column_stack([at(reference.label, -height), at(target.label, height), gap]).ravel(),
        mode="lines",
        line={"color": look.faint, "width": 1.5},
        name="pair",
        hoverinfo="skip",
    )
    for name, offset, colour, symbol in (
        ("reference", -height, look.inclusive, "circle"),
        ("target", height, look.exclusive, "diamond"),
    ):
        for part, mark in (("matched", symbol), ("unmatched", f"{symbol}-open")):
            index = getattr(matched, f"{name}_index" if part == "matched" else f"unmatched_{name}_index")
            subset = matched.subsets[name].part(index[index < MOST_DRAWN])
            right = np.where(subset.correct, "right", "wrong")
            figure.add_scatter(
                x=100 * subset.confidence,
                y=at(subset.label, offset),
                mode="markers",
                name=f"{part} {name}",
                marker={"symbol": mark, "color": colour, "size": 11, "line": {"width": 1.8, "color": colour}},
                text=right,
                hovertemplate=f"{part} {name}, confidence %{{x:.1f}} %, %{{text}}<extra></extra>",
            )
    name_axis(figure, names)
    figure.update_layout(xaxis={"tickformat": ".1f"}, yaxis={"showticklabels": matched.by == "label"})
    return figure
