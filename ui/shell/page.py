"""What does every page have? The same skeleton: header, verdict, how to read, downloads, empty state, foot."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import plotly.graph_objects as go
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.descriptions import describe as describe_plan
from touchstone.core.report.parts import NOTHING_YET, Figure, KeyNumber
from touchstone.core.report.run_report import OLDER_METHOD, provenance
from touchstone.core.trials import Plan
from touchstone.core.workspace import Run, WorkspaceError, load_plan
from touchstone.core.workspace.engine.executor import versions_used
from touchstone.core.workspace.errors import DamagedTrials
from touchstone.ui.shell import charts, session

# What was computed, in a few words? A run's plan as the screen says it: models by the names that people gave them.


UNKNOWN = "settings that this version of Touchstone, with its plugins, does not know"


def plan_of(run: Run) -> Plan | None:
    """The plan of a run; None where it names what this version does not have."""
    try:
        return load_plan(run.plan)
    except DataError:
        return None


def describe(run: Run) -> str:
    """A run's plan in a few words."""
    plan = plan_of(run)
    if plan is None:
        return UNKNOWN
    words = describe_plan(plan)
    for model in plan.stored_models():
        with suppress(WorkspaceError):  # one that was deleted keeps its identifier
            words = words.replace(
                f"model {model[:12]}", f"model “{session.workspace().stored_model(session.owner(), model).name}”"
            )
    return words


# What does every page have? The same skeleton: header, verdict, how to read, downloads, empty state, foot.


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|$~<>&=])")
FIGURE_FORMATS = ("SVG", "PNG")
FIGURE_FORMAT = "figure_format"
Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")
_SHORTCODE = re.compile(r":(?=[\w+\-/]+:)")  # Streamlit puts an emoji or an icon in the place of :smile:
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=\w)", re.IGNORECASE)  # and makes a link of an address


def plain(text: object) -> str:
    r"""Somebody's own words (a class, a file's name) for a place where Streamlit expects Markdown.

    >>> print(plain("50 $ [a]"))
    50 \$ \[a\]
    """
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub("\u2060", _SHORTCODE.sub(":\u2060", str(text))))


def day(when: float) -> str:
    """A moment (seconds since 1970) as pages say it.

    >>> day(0)
    '01 Jan 1970, 00:00 UTC'
    """
    return f"{datetime.fromtimestamp(when, UTC):%d %b %Y, %H:%M} UTC"


def lead(sentence: str) -> None:
    """The line under the question: what the page answers, and what it cannot tell."""
    st.caption(sentence)


def verdict(
    shown: Verdict,
    key_numbers: Sequence[KeyNumber],
    *,
    beside: bool = False,
    more: Callable[[], None] | None = None,
) -> None:
    """The verdict card: one sentence with its interval, n, what to do now; and a few numbers, beneath or `beside`.

    `more` draws what belongs to the sentences.
    """
    with st.container(border=True, key="verdict"):
        two = beside and key_numbers
        sentences, few = st.columns([3, 2], gap="medium") if two else (st.container(), st.container())
        with sentences:
            says(shown, help=about(shown.claims[0] if shown.claims else None))
            if more is not None:
                more()
        if key_numbers:
            with few:
                numbers(key_numbers)


def says(verdict: Verdict, *, help: str = "") -> None:
    """What a verdict found, what it used in smaller letters, and what to do next; its findings are left to others."""
    used = f" :small[{plain(verdict.used)}]" if verdict.used else ""
    st.markdown(f"**{plain(verdict.headline)}**{used}", help=help or None)
    advice(verdict)


def advice(verdict: Verdict) -> None:
    """What a verdict says to do next; nothing where it says nothing."""
    if verdict.advice:
        st.markdown(re.sub("^Next:", "**Next:**", plain(verdict.advice)))


def findings(verdict: Verdict, *, most: int | None = None) -> None:
    """What else the verdict found, a line each; those beyond the first `most` are folded."""
    _lines(verdict.findings[:most])
    if most is not None and verdict.findings[most:]:
        fold("More findings", lambda: _lines(verdict.findings[most:]), key="more-findings")


def _lines(sentences: Sequence[str]) -> None:
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences))


def dark() -> bool:
    """Whether this browser shows the dark theme."""
    return st.context.theme.type == "dark"


def figure(draw: Callable[..., go.Figure], how_to_read: str, *, key: str) -> None:
    """A figure at the full width of where it stands, and the one line beneath that says how to read it.

    `draw` is what `charts.drawn` takes: a function of touchstone.core.figures with results that are kept.
    """
    drawn = charts.drawn(draw, dark=dark())
    st.plotly_chart(drawn, theme=None, key=key, alt=drawn.alt, config=saving(key))
    st.caption(how_to_read)


def sheet(draw: Callable[..., go.Figure], *, key: str) -> None:
    """A figure of just its own size, such as one of pictures whose pixels are whole; `draw` as in `charts.drawn`."""
    drawn = charts.drawn(draw, dark=dark())
    st.plotly_chart(drawn, theme=None, key=key, width="content", alt=drawn.alt, config=saving(key))


def saving(name: str, **more: Any) -> dict[str, Any]:
    """Plotly's configuration: one button, over a figure that is pointed at, saves it as a file, in the browser itself.

    The file's format is chosen in the menu of what can be taken away. `more` is configuration of this figure's own.
    """
    form = st.session_state.get(FIGURE_FORMAT, FIGURE_FORMATS[0])
    file = {"format": form.lower(), "filename": name, "scale": 2 if form == "PNG" else 1}
    return {"displaylogo": False, "modeBarButtons": [["toImage"]], "toImageButtonOptions": file, **more}


def draw(drawing: Figure) -> None:
    """A figure that the page shares with its report."""
    figure(drawing.draw, plain(drawing.caption), key=drawing.key)


def numbers(key_numbers: Sequence[KeyNumber]) -> None:
    """A few numbers on a grid, each with its interval (or n) and its baseline in grey beneath."""
    with st.grid(len(key_numbers), min_column_width=140):
        for number in key_numbers:
            with st.container(gap="xsmall"):
                st.metric(
                    plain(number.label),
                    plain(number.value),
                    delta=plain(number.interval) or None,
                    delta_color="off",
                    delta_arrow="off",
                    help=plain(number.help) if number.help else None,
                )
                if number.baseline:
                    st.caption(plain(number.baseline))


def empty(sentence: str, *, button: str | None = None, on_click: Callable[..., Any] | None = None) -> bool:
    """What stands where nothing has been computed: one sentence and (at most) one button."""
    with st.container(border=True, key="empty", horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown(sentence, text_alignment="center")
        clicked = button is not None and st.button(button, type="primary", on_click=on_click, key="empty-button")
        st.space("small")
    return clicked


def not_computed(how: str) -> None:
    """What stands where nothing has been computed of a choice: how it would be, for those who can have it computed."""
    empty("Not computed for these settings." if session.read_only() else f"Not computed yet for these settings. {how}")


def part_shown(n_items: int, per_page: int, *, key: str) -> slice:
    """Draw the control that leads through many things, where they need it; returns which ones are shown."""
    n_pages = max(1, -(-n_items // per_page))
    at = min(st.pagination(n_pages, key=key), n_pages) if n_pages > 1 else 1
    return slice((at - 1) * per_page, at * per_page)


def nothing_yet(*, running: bool) -> None:
    """What stands where results will be, before the first trial has come to one."""
    if running:
        st.skeleton(height=320)
    else:
        empty(NOTHING_YET)


def error(problem: Exception) -> None:
    """A DataError or WorkspaceError, as written; beneath damaged trials the button that computes them again."""
    st.error(plain(problem), icon=":material/error:")
    if isinstance(problem, DamagedTrials) and problem.mendable and not session.read_only():
        again = or_toast(_compute_again)
        st.button("Compute again", key=f"again-{problem.run_id}", on_click=again, args=(problem.run_id,))


def _compute_again(run_id: str) -> None:
    session.workspace().forget_damaged(session.owner(), run_id)
    session.engine().start(session.owner(), run_id)


def or_toast(call: Callable[Given, object]) -> Callable[Given, None]:
    """The same callback, which says a DataError or WorkspaceError as written: nothing above it catches one."""

    @wraps(call)
    def callback(*args: Given.args, **kwargs: Given.kwargs) -> None:
        try:
            call(*args, **kwargs)
        except (DataError, WorkspaceError) as problem:
            st.toast(plain(problem), icon=":material/error:")

    return callback


def delete_or_keep(delete: Callable[[], object]) -> None:
    """The end of a dialog that asks whether something shall go: both answers, and why it could not go."""
    with st.container(horizontal=True):
        gone = st.button("Delete", type="primary", key="really-delete")
        kept = st.button("Keep", key="keep")
    try:
        if gone:
            delete()
    except (DataError, WorkspaceError) as problem:
        error(problem)
    else:
        if gone or kept:
            st.rerun()


def download(label: str, data: bytes | Callable[[], bytes], *, name: str, mime: str, key: str | None = None) -> None:
    """A quiet button that gives a file."""
    st.download_button(
        label,
        data=session.bound(data) if callable(data) else data,
        file_name=name,
        mime=mime,
        key=key or f"download-{name}",
        on_click="ignore",
        icon=":material/download:",
        type="tertiary",
    )


def how_to_read(file: str | Path, picture: Callable[[], None] | None = None) -> None:
    """The formula, the assumptions and the paper, folded: the text beside the page's file, then a picture of it."""

    def draw() -> None:
        st.markdown(Path(file).with_suffix(".md").read_text("utf-8"))
        if picture is not None:
            picture()

    fold("How to read this", draw, key="how-to-read")


def fold(
    title: str, draw: Callable[[], Drawn], *, key: str, opened: bool = False, asked_by: Sequence[str] = ()
) -> Drawn | None:
    """A part of a page that is closed at first unless `opened`, and computed by `draw` only while it is open.

    It is open at once, too, where the address has one of the parameters `asked_by`, which are controls of this part.
    Returns what `draw` returns, None while it is closed.
    """
    if opened or any(name in st.query_params for name in asked_by):
        st.session_state.setdefault(f"fold-{key}", True)
    part = st.expander(title, key=f"fold-{key}", on_change="rerun")
    if not part.open:
        return None
    with part:
        return draw()


def foot(run: Run) -> None:
    """What was computed and when, in grey; all else that the result rests on opens beside it."""
    ours = f"Touchstone {run.provenance['touchstone']}" if "touchstone" in run.provenance else ""
    older = OLDER_METHOD.rstrip(".").lower() if run.older_method else ""
    others = "computed with other versions than are installed now" if _other_versions(run) else ""
    rests_on((describe(run), older, others, ours, day(run.finished or run.created)), provenance(run), key=run.id)


def rests_on(line: Sequence[str], details: Sequence[tuple[str, str]], *, key: str) -> None:
    """The foot of a result: a line in grey, of what is known, and everything by its name where somebody asks for it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(" · ".join(filter(None, line))), width="stretch")
        with st.popover("Parameters", type="tertiary", key=f"rests-on-{key}"):
            st.markdown("\n".join(f"- {plain(name)}: {plain(value)}" for name, value in details))


def versions() -> str:
    """The versions of the libraries and plugins that numbers rest on."""
    return ", ".join(f"{name} {number}" for name, number in versions_used().items())


def _other_versions(run: Run) -> bool:
    computed_with = run.provenance.get("versions", {})
    return any(computed_with.get(name, number) != number for name, number in versions_used().items())
