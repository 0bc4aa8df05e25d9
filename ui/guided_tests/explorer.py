"""What do generated tests show? The way between two classes, the tests, another model on them, three properties."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.guided_tests.generate import Properties, Walk, nearest, walk_between
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.results import REGIONS, GeneratedTests
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, suite_difference
from touchstone.core.evaluate.guided_tests.verdict import difference_finding, oracle_reads, second_model
from touchstone.core.evaluate.test_quality.quality import Looked
from touchstone.core.evaluate.test_quality.regions import Regions, rivals
from touchstone.core.evaluate.wording import bare, count, percent, points, quoted
from touchstone.core.figures import guided_tests as figures
from touchstone.core.models.decoder import Decoder
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.model_file import RECORDED
from touchstone.core.models.networks import one_torch_thread
from touchstone.core.report import guided_tests as report
from touchstone.core.report.parts import KeyNumber, brackets
from touchstone.core.trials.layer_parts import split_of
from touchstone.core.workspace import Run, StoredModel
from touchstone.ui.data import samples
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.guided_tests import results
from touchstone.ui.shell import answer, background, page, session

# What does a model see on the way from one class to another? A sample is moved step by step, and looked at.


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


def show(looked: Looked, within: Regions, decoder: Decoder | None) -> dict[str, list[str]]:
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
    taken = f"{part.class_names[way.label]}, predicted as {part.class_names[int(part.predicted[row])]} "
    taken += f"({percent(float(part.confidence[row]))})"
    if data.kind != "image":
        st.markdown(f"**The sample** {page.plain(part.ids[row])}: {page.plain(taken)}")
        st.markdown(f"**Here**: {page.plain(figures.region_title(way, at))}")
        return
    st.markdown("**The sample**")
    samples.pictures([data.x[start]], [taken])
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


def _numbers(way: Walk, within: Regions, at: int, towards: int) -> list[KeyNumber]:
    here, names = way.proba[at], way.class_names
    first = int(here.argmax())
    key_numbers = [
        KeyNumber("Predicted as", names[first], percent(float(here[first])), "The most probable class here."),
        KeyNumber(names[way.label], percent(float(here[way.label])), "its own class"),
    ]
    if towards != way.label:
        key_numbers.append(KeyNumber(names[towards], percent(float(here[towards])), "where the way leads"))
    key_numbers.append(
        KeyNumber(
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
    key_numbers.append(KeyNumber("Region", region, f"{100 * way.t[at]:.0f} % of the way"))
    return key_numbers


# What do the generated tests look like? Decoded images, or else the nearest real samples, said as such (figure 6).


PER_PAGE = {"image": 12, "text": 6, "tabular": 12}
_ALL = "all"
_SEED = 0  # of the order, so that a page shows some of everything


def gallery(guided: Guided, looked: Looked, within: Regions) -> dict[str, list[str]]:
    """Tests with label, prediction and region, page by page; returns what the address says of which.

    Pictures that judge the whole model where there are any that count, else features.
    """
    st.subheader("Generated tests", anchor=False)
    judged = guided.suite if guided.suite is not None and oracle_reads(guided.suite) else None
    tests, names = (guided.generated if judged is None else judged.kept()), guided.class_names
    of_class = One("shown", "Class", {_ALL: "all classes"} | {str(i): name for i, name in enumerate(names)}, _ALL)
    of_region = One("region", "Region", {_ALL: "both", REGIONS[0]: "centroid", REGIONS[1]: "boundary"}, _ALL)
    of_side = One("taken", "Predicted as", {_ALL: "any class", "right": "its own", "wrong": "another"}, _ALL)
    controls = (of_class, of_region, of_side)
    check_address(controls)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label, region, side = (control.draw() for control in controls)
    rows = _rows(tests, label, region, side)
    if len(rows):
        per_page = PER_PAGE[looked.dataset.kind]
        below = st.container(key="gallery")
        shown = rows[page.part_shown(len(rows), per_page, key=f"gallery-{label}-{region}-{side}")]
        with below:
            few = tests.take(shown)
            _pictures(few) if isinstance(few, JudgedSuite) else _show(guided, few, looked, within)
    else:
        st.caption("No test is of this kind.")
    return {control.key: control.written(value) for control, value in zip(controls, (label, region, side), strict=True)}


def _rows(tests: GeneratedTests | JudgedSuite, label: str, region: str, side: str) -> np.ndarray:
    rows = np.random.default_rng(_SEED).permutation(len(tests))
    keep = np.ones(len(tests), dtype=bool)
    if label != _ALL:
        keep &= tests.y == int(label)
    if region != _ALL:
        keep &= tests.for_centroid == (region == REGIONS[0])
    if side != _ALL:
        keep &= tests.correct == (side == "right")
    return rows[keep[rows]]


def _captions(few: GeneratedTests | JudgedSuite, class_names: Sequence[str]) -> list[str]:
    names = np.array(class_names, dtype=object)
    return [
        f"{quoted(label)}, as {quoted(taken)}{'' if right else ' (wrong)'}, {region}"
        for label, taken, right, region in zip(
            names[few.y], names[few.predicted], few.correct, np.where(few.for_centroid, *REGIONS), strict=True
        )
    ]


def _pictures(few: JudgedSuite) -> None:
    samples.pictures(list(few.suite.pixels), _captions(few, few.suite.class_names))
    st.caption(
        "Under each picture: intended class, predicted class, region. An independent oracle (another classifier) "
        "confirms the intended class of each; none is a real photograph."
    )


def _show(guided: Guided, few: GeneratedTests, looked: Looked, within: Regions) -> None:
    captions = _captions(few, few.class_names)
    if guided.decoder is not None:
        samples.pictures(list(guided.decoder.decode(few.features)), captions)
        st.caption(
            "Decoded from features. Under each picture: intended class, class predicted by the head, region. These "
            "are drawings by the decoder, not real photographs."
        )
        return
    close, apart = nearest(few.features, looked.parts.test.features)
    apart = apart / within.units[few.y]
    if looked.dataset.kind == "image":
        pictures = [looked.dataset.x[row] for row in looked.parts.test_rows[close]]
        samples.pictures(
            pictures, [f"{caption}; {bare(far, 2)} away" for caption, far in zip(captions, apart, strict=True)]
        )
        st.caption(
            "**The nearest real test images**, because there is no decoder. Under each: the test's intended class, "
            "class predicted by the head, region, and distance of the real image."
        )
        return
    _real(few, looked, close, apart)


def _real(few: GeneratedTests, looked: Looked, close: np.ndarray, apart: Sequence[float]) -> None:
    """The nearest real texts or rows, what they stand in for before them."""
    data, names = looked.dataset, np.array(few.class_names, dtype=object)
    stands = pd.DataFrame(
        {
            "made for": names[few.y],
            "predicted as": names[few.predicted],
            "region": np.where(few.for_centroid, *REGIONS),
            "distance": [bare(float(far), 2) for far in apart],
        }
    )
    real = samples.table(data, looked.parts.test_rows[close]).rename(columns={"id": "nearest real", "label": "class"})
    table = pd.concat([stands, real], axis=1)
    if data.kind == "text":
        st.table(table.map(page.plain).set_index("made for"), alt="Generated tests and the nearest real texts")
    else:
        st.dataframe(table, hide_index=True, alt="Generated tests and the nearest real rows")
    st.caption(
        f"A feature cannot be shown as a {'text' if data.kind == 'text' else 'row'}: **the nearest real test sample** "
        f"is shown, with its class and distance. {count(len(few))} shown."
    )


# How does another model do on the same pictures? Paired: both met one suite.


VERSUS = "versus"


def other_models(model: StoredModel) -> dict[str, StoredModel]:
    """The models that can be asked about the same pictures, by title; none through a link."""
    if session.read_only():
        return {}
    stored = session.workspace().models(session.owner(), model.dataset_fingerprint)
    asked = (other for other in stored if other.fingerprint != model.fingerprint and other.architecture != RECORDED)
    return {f"{other.name} · {other.fingerprint[:8]}": other for other in asked}


def show_other_model(run: Run, guided: Guided, model: StoredModel) -> dict[str, list[str]]:
    """The other model, the paired difference, and what it gained and lost; returns what the address says of it."""
    if guided.suite is None or not oracle_reads(guided.suite):
        st.caption("No pictures are available to compare models on.")
        return {}
    known = other_models(model)
    control = One(VERSUS, "Other model", {title: title for title in known}, next(iter(known)))
    check_address([control])
    title = control.draw()
    other = known[title]
    judged = background.answer(results.judged_by(run, other.fingerprint), "Asking the other model", key="versus-task")
    if judged is not None:
        difference = suite_difference(guided.suite, judged)
        st.markdown(page.plain(difference_finding(difference, other.name, model.name)))
        page.numbers(
            [
                KeyNumber(
                    "Difference",
                    points(difference.difference),
                    brackets(points, difference.difference, difference.interval),
                    "Paired, 95 %, over the real samples that pictures were made from. "
                    + about(second_model(difference)),
                ),
                KeyNumber(
                    "Gained", count(difference.n_gained), "tests", "Tests that only the other model predicts correctly."
                ),
                KeyNumber("Lost", count(difference.n_lost), "tests", "Tests that only this model predicts correctly."),
            ]
        )
        if split_of(other.training_plan) != split_of(model.training_plan) or other.training_plan is None:
            st.caption("The other model may have been trained on the samples behind these pictures.")
    return {control.key: control.written(title)}


# Does the model behave like a well-trained classifier? The three properties, and what breaks one, with its samples.


MOST_VIOLATING = 12


def show_properties(tested: Properties, looked: Looked) -> dict[str, list[str]]:
    """The three properties of section 4.1, and the violations of one of them with their samples."""
    table = report.property_table(tested)
    st.table(table.lines.set_index("Property"), alt=table.title)
    st.caption(table.caption)
    rules = {rule.name: rule for rule in tested.each}
    worst = max(rules.values(), key=lambda rule: (rule.n_violated > 0, rule.name == "true class first")).name
    control = One("violations", "Violations of", {name: name for name in rules}, worst)
    check_address([control])
    chosen = control.draw()
    rule = rules[chosen]
    if not rule.n_violated:
        st.caption("None.")
    else:
        answer.part(report.violations_table(rule))
        if rule.name != "between centroids":
            _violating(rule.violations.head(MOST_VIOLATING), looked)
    return {control.key: control.written(chosen)}


def _violating(worst: pd.DataFrame, looked: Looked) -> None:
    """The worst violations as they are."""
    where = {sample_id: row for row, sample_id in enumerate(looked.parts.test.ids)}
    rows = looked.parts.test_rows[np.array([where[sample_id] for sample_id in worst["id"]])]
    data = looked.dataset
    if data.kind == "image":
        captions = [f"{label}, not {other}" for label, other in zip(worst["label"], worst["other"], strict=True)]
        samples.pictures([data.x[row] for row in rows], captions)
    elif data.kind == "text":
        samples.show(data, list(rows[:3]))
    else:
        st.dataframe(samples.table(data, rows), hide_index=True, alt="The worst violations with their columns")
