"""How are two test sets matched? A few samples of each, and who is whose counterpart. (Anzaku et al. 2022, figure 2)"""

import numpy as np
import plotly.graph_objects as go

from core.evaluate.matched_subsets import MatchedSubsets
from core.figures.theme import name_axis, new_figure, theme

MOST_DRAWN = 60


def matching_picture(of: MatchedSubsets, *, dark: bool = False) -> go.Figure:
    """How matching works, on a few samples (figure 2): pairs are joined, what found no partner is hollow.

    One row per set, and with `by` "label" two rows per predicted label. More than 60 samples of a set are not drawn.
    """
    look = theme(dark)
    labels = sorted(set(of.reference.label.tolist()) | set(of.target.label.tolist())) if of.by == "label" else [None]
    names = [of.reference.class_names[label] if label is not None else "any label" for label in labels]
    place = {label: float(at) for at, label in enumerate(labels)}
    height = 0.28
    shown = f"{of.n_pairs} pairs; {len(of.unmatched_target_index)} targets and {len(of.unmatched_reference_index)} "
    figure = new_figure(
        look,
        x_title="Confidence (%)",
        y_title="Predicted label" if of.by == "label" else None,
        height=110 + 90 * len(labels),
        alt=f"Samples of both sets by confidence, with a line for every pair: {shown}references without a partner.",
    )

    def at(label: np.ndarray, offset: float) -> np.ndarray:
        return np.array([place[one if of.by == "label" else None] for one in label.tolist()]) + offset

    keep = (of.reference_index < MOST_DRAWN) & (of.target_index < MOST_DRAWN)
    reference, target = of.reference.part(of.reference_index[keep]), of.target.part(of.target_index[keep])
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
            index = getattr(of, f"{name}_index" if part == "matched" else f"unmatched_{name}_index")
            one = of.subsets[name].part(index[index < MOST_DRAWN])
            right = np.where(one.correct, "right", "wrong")
            figure.add_scatter(
                x=100 * one.confidence,
                y=at(one.label, offset),
                mode="markers",
                name=f"{part} {name}",
                marker={"symbol": mark, "color": colour, "size": 11, "line": {"width": 1.8, "color": colour}},
                text=right,
                hovertemplate=f"{part} {name}, %{{x:.1f}} % sure, %{{text}}<extra></extra>",
            )
    name_axis(figure, names)
    figure.update_layout(xaxis={"tickformat": ".1f"}, yaxis={"showticklabels": of.by == "label"})
    return figure
