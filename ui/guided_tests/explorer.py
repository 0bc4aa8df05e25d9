"""What does a model see on the way from one class to another? A sample is moved step by step, and looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from touchstone.core.evaluate.guided_tests import Walk, nearest, walk_between
from touchstone.core.evaluate.test_quality import Regions, rivals
from touchstone.core.evaluate.test_quality.looked import Looked
from touchstone.core.evaluate.wording import bare, percent
from touchstone.core.figures import guided_tests as figures
from touchstone.core.models.decoder import Decoder
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.training import one_torch_thread
from touchstone.ui.data import samples
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import page

N_STEPS = 41
KEYS = ("class", "towards_", "start_", "place")
"""How the keys of its address begin."""
_OWN, OWN = "own", "its own centroid"
_MOST_COLUMNS = 12


@dataclass(frozen=True)
class Place:
    """A place on the way, from 0 to 100 per cent."""

    key: str
    label: str
    step: int = 5

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        allowed = {str(value) for value in range(0, 101, self.step)}
        return [value for value in written if value and value not in allowed] + list(written[1:])

    def draw(self) -> int:
        """The slider; returns the place."""
        return st.slider(
            self.label, 0, 100, 0, self.step, format="%d %%", key=self.key, bind="query-params", width="stretch"
        )

    def written(self, value: int) -> list[str]:
        """A value as the address holds it."""
        return [str(value)]


def explorer(looked: Looked, within: Regions, decoder: Decoder | None) -> dict[str, list[str]]:
    """The controls of the way, and what lies at the place; returns what the address says of them."""
    with st.container(border=True, gap="small", key="explorer"):
        part, row, label, towards, address = _choose(looked)
        place = Place("place", "Place on the way")
        check_address([place])
        share = place.draw()
        with one_torch_thread():
            way = walk_between(
                within, looked.parts.head, part.features[row], label=label, towards=towards, n_steps=N_STEPS
            )
        at = share * (N_STEPS - 1) // 100
        seen, chart = st.columns([1, 3], gap="large")
        with seen:
            _seen(looked, within, part, row, way, at, decoder)
        with chart:
            drawn = partial(figures.walk_chart, way, at=at, towards=towards)
            caption = (
                "Probability of every class along the straight line in feature space; the vertical line is the "
                "chosen place. Strip below: where the line crosses the class's centroid region or boundary."
            )
            page.figure(drawn, caption, key="walk-chart")
        page.numbers(_numbers(way, within, at, towards))
        if looked.dataset.kind != "image":
            _beside(looked, within, part, row, way, at)
    return address | {place.key: place.written(share)}


def _choose(looked: Looked) -> tuple[LayerSamples, int, int, int, dict[str, list[str]]]:
    """The part and the row of the sample, its class, where it goes, and what the address says of that.

    Each class has controls of its own: Streamlit leaves a value in the address that a control no longer has.
    """
    names, parts = looked.parts.test.class_names, looked.parts
    edge = parts.test.confidence <= looked.choice.theta2
    usual = int(np.bincount(parts.test.labels[edge], minlength=len(names)).argmax())
    first = One("class", "Class", dict(zip(map(str, range(len(names))), names, strict=True)), str(usual))
    check_address([first])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = int(first.draw())
        part = parts.test if (parts.test.labels == label).any() else parts.train
        own = np.flatnonzero(part.labels == label)
        own = own[np.argsort(part.confidence[own], kind="stable")]
        others = {str(code): name for code, name in enumerate(names) if code != label}
        most = np.bincount(rivals(part.proba[own], part.labels[own]), minlength=len(names)).argmax()
        second = One(
            f"towards_{label}",
            "Towards",
            {_OWN: OWN} | others,
            str(most),
            "The class whose centroid is the target. First: the class it is confused with most.",
        )
        third = One(
            f"start_{label}",
            "From the sample" if part is parts.test else "From the training sample",
            {str(part.ids[row]): str(part.ids[row]) for row in own},
            str(part.ids[own[0]]),
            "Samples of the class, the least confident first.",
        )
        check_address([second, third])
        towards, start = second.draw(), third.draw()
    row = own[list(third.titles).index(start)]
    address = {
        control.key: control.written(value)
        for control, value in ((first, str(label)), (second, towards), (third, start))
    }
    return part, int(row), label, label if towards == _OWN else int(towards), address


def _seen(
    looked: Looked, within: Regions, part: LayerSamples, row: int, way: Walk, at: int, decoder: Decoder | None
) -> None:
    """The sample and what stands at the place: decoded, or the nearest real image; words for all else."""
    data, parts = looked.dataset, looked.parts
    start = (parts.test_rows if part is parts.test else parts.train_rows)[row]
    about = f"{part.class_names[way.label]}, predicted as {part.class_names[int(part.predicted[row])]} "
    about += f"({percent(float(part.confidence[row]))})"
    if data.kind != "image":
        st.markdown(f"**The sample** {page.plain(part.ids[row])}: {page.plain(about)}")
        st.markdown(f"**Here**: {page.plain(figures.region_title(way, at))}")
        return
    st.markdown("**The sample**")
    samples.pictures([data.x[start]], [about])
    point = way.features[at : at + 1].astype(np.float32)
    if decoder is not None:
        st.markdown("**Here, decoded**")
        samples.pictures([decoder.decode(point)[0]], [figures.region_title(way, at)])
        return
    close, apart = _nearest(looked, within, way, at)
    st.markdown("**Here, the nearest real test image**")
    caption = f"{parts.test.class_names[parts.test.labels[close]]}, {bare(apart, 2)} away"
    samples.pictures([data.x[parts.test_rows[close]]], [caption])
    st.caption("A run of generated tests adds a decoder, which draws the place itself.")


def _beside(looked: Looked, within: Regions, part: LayerSamples, row: int, way: Walk, at: int) -> None:
    """The sample and the nearest real one, as texts or rows."""
    data, parts = looked.dataset, looked.parts
    close, apart = _nearest(looked, within, way, at)
    start = int((parts.test_rows if part is parts.test else parts.train_rows)[row])
    rows = [start, int(parts.test_rows[close])]
    called = ["the sample", f"nearest real test sample here, {bare(apart, 2)} away"]
    table = samples.table(data, rows)
    table.insert(0, "", called)
    if data.kind == "text":
        st.table(table.map(page.plain).set_index(""), alt="The sample and the nearest real one")
    else:
        shown = table[table.columns[: 3 + _MOST_COLUMNS]]
        st.dataframe(shown, hide_index=True, alt="The sample and the nearest real one")
    st.caption("Places between samples cannot be shown as a text or a row, so the nearest real sample is shown.")


def _nearest(looked: Looked, within: Regions, way: Walk, at: int) -> tuple[int, float]:
    close, apart = nearest(way.features[at : at + 1], looked.parts.test.features)
    return int(close[0]), float(apart[0] / within.units[way.label])


def _numbers(way: Walk, within: Regions, at: int, towards: int) -> list[page.KeyNumber]:
    here, names = way.proba[at], way.class_names
    first = int(here.argmax())
    key_numbers = [
        page.KeyNumber("Predicted as", names[first], percent(float(here[first])), "The most probable class here."),
        page.KeyNumber(names[way.label], percent(float(here[way.label])), "its own class"),
    ]
    if towards != way.label:
        key_numbers.append(page.KeyNumber(names[towards], percent(float(here[towards])), "where the way leads"))
    key_numbers.append(
        page.KeyNumber(
            "Distance to its centroid",
            bare(float(way.distance[at]), 2),
            f"the region ends at {bare(float(within.radii[way.label]), 2)}",
            "In the unit of the class, usually the 99th percentile of its training samples' distances.",
        )
    )
    inside = [
        name for name, inside_at in (("centroid", way.in_centroid), ("boundary", way.in_boundary)) if inside_at[at]
    ]
    region = "both" if len(inside) == 2 else "".join(inside) or "neither"
    key_numbers.append(page.KeyNumber("Region", region, f"{100 * way.t[at]:.0f} % of the way"))
    return key_numbers
