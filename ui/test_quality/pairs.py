"""How do two classes lie to one another? The pair in a plane with its samples, and what rests on thresholds."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from touchstone.core.evaluate.test_quality.missed import PairMap
from touchstone.core.evaluate.test_quality.quality import Curve, Looked, TestQuality
from touchstone.core.evaluate.wording import fixed, percent, plural, quoted
from touchstone.core.figures import test_quality as figures
from touchstone.ui.data import samples
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import background, downloads, page, session
from touchstone.ui.test_quality import results

MOST_SHOWN = 12
CLASS = "class"


def choose(quality: TestQuality) -> tuple[int, int, dict[str, list[str]]]:
    """The class and its rival that are looked at, and the parameters of the address that say so.

    Each class has a control of its own for its rival: Streamlit leaves a value in the address that a control no longer
    has.
    """
    names, pairs = quality.class_names, quality.pairs
    first = _control(CLASS, "Class", names, range(len(names)), int(pairs.n_in.sum(axis=1).argmax()))
    check_address([first])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = int(first.draw())
        others = [code for code in range(len(names)) if code != label]
        second = _control(
            f"rival_{label}", "Rival", names, others, max(others, key=lambda code: pairs.n_in[label, code])
        )
        check_address([first, second])
        rival = int(second.draw())
    return (
        label,
        rival,
        {control.key: control.written(str(code)) for control, code in ((first, label), (second, rival))},
    )


def _control(key: str, label: str, names: tuple[str, ...], codes, default: int) -> One:
    meaning = "Default: the class with the most test samples at its boundary, and the class it is confused with most."
    return One(key, label, {str(code): names[code] for code in codes}, str(default), meaning)


@session.fragment
def plane(looked: Looked, label: int, rival: int) -> None:
    """The two classes in a plane (figure 1), and the samples that are selected there or lie at their boundary."""
    plane = background.answer(results.class_pair(looked, label, rival), "Drawing two classes", key="plane")
    if plane is None:
        st.skeleton(height=540)
        return
    downloads.offer({"Two classes": plane.table}, stem="test-quality")
    dataset, positions = looked.dataset, looked.parts.test_rows[plane.rows]
    chosen = maps.selected(dataset.fingerprint)
    chart, beside = st.columns([3, 2], gap="large")
    with chart:
        drawn = figures.pair_map_chart(plane, positions, selected=chosen, dark=page.dark())
        caption = (
            "Dashed circles contain the centroid regions; other samples can fall inside a circle too. The line is "
            f"the boundary in this plane, which keeps {percent(plane.kept_variance)} of the variance. Lasso dots to "
            "list their samples."
        )
        maps.linked_chart(drawn, caption, dataset.fingerprint, key=f"plane-{label}-{rival}")
    with beside:
        if chosen:
            maps.selection(dataset, chosen)
        else:
            maps.search(dataset)
            _at_the_boundary(looked, plane, label, rival)


def _at_the_boundary(looked: Looked, plane: PairMap, label: int, rival: int) -> None:
    rows = plane.rows[plane.in_boundary]
    st.markdown(f"**{plural(len(rows), 'sample')} of the two at a boundary**")
    if not len(rows):
        st.caption("None: the test set has no information about the boundary of these two.")
        return
    below = st.container()
    shown = page.part_shown(len(rows), MOST_SHOWN, key=f"boundary-page-{label}-{rival}")
    with below:
        _show(looked, plane.rows[plane.in_boundary][shown])


def _show(looked: Looked, places: np.ndarray) -> None:
    """Test samples, by their places in the test part, with predicted class and confidence."""
    dataset, test = looked.dataset, looked.parts.test
    rows = looked.parts.test_rows[places]
    taken = [test.class_names[code] for code in test.predicted[places]]
    sure = test.confidence[places]
    if dataset.kind == "image":
        captions = [
            f"{quoted(dataset.class_names[dataset.y[row]])} predicted {quoted(name)}, {100 * p:.0f}\N{NO-BREAK SPACE}%"
            for row, name, p in zip(rows, taken, sure, strict=True)
        ]
        samples.pictures([dataset.x[row] for row in rows], captions)
        return
    table = samples.table(dataset, rows)
    table.insert(2, "predicted", taken)
    table.insert(3, "confidence (%)", [fixed(100 * float(p), 1) for p in sure])
    first = ["label", "predicted", "confidence (%)", "text", "id"] if dataset.kind == "text" else None
    config = {name: st.column_config.TextColumn(width="small") for name in ("id", "label", "predicted")}
    st.dataframe(table, column_config=config, column_order=first, hide_index=True, alt="Samples at a boundary")


def curves(of_class: Sequence[Curve], quality: TestQuality, label: int) -> None:
    """What rests on either threshold."""
    captions = (
        "Effect of the radius. Where the test set is above the training set, it has more typical samples.",
        "Effect of theta 2. The step at the right end is the fully confident samples.",
    )
    for curve, caption, column in zip(of_class, captions, st.columns(2, gap="medium"), strict=True):
        with column:
            drawn = partial(figures.curve_chart, curve, quality.regions, label)
            page.figure(drawn, caption, key=f"curve-{curve.dimension.split()[0]}")
