"""How does somebody else see the very same? By a file, by a link, by its address, or by the command for it."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from touchstone.core import COMMAND
from touchstone.core.data import DataError
from touchstone.core.data.tables.roles import FileReading
from touchstone.core.evaluate.wording import plural
from touchstone.core.report.html import to_html
from touchstone.core.report.markdown import to_markdown
from touchstone.core.report.parts import Report
from touchstone.core.trials import Plan, to_json
from touchstone.core.workspace import Run, SharedWorkspace, View, WorkspaceError, events
from touchstone.core.workspace.access import DEAD, USUAL_DAYS, DeadLink, Link, link_id
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell import addresses, only_links, questions, session, sign_in
from touchstone.ui.shell.page import day, download, error, or_toast, plain

# What does a link open? The page of its result, with what the link settles.


PATH = addresses.SHARED
"""The address of every link."""
TOKEN = addresses.TOKEN
"""The parameter of that address that holds the token."""
SECONDS_BETWEEN_QUESTIONS = 2.0
"""How often an open tab asks whether its link still works."""
READ_ONLY = "Shared by a link: you can explore this result and download its tables, but not change it."
_SETTLED, _LOOKED_AT, _NOTED = "settled_address", "looked_at_beside_it", "noted_link"
SECONDS_BEFORE_SETTLING = 0.2


@dataclass(frozen=True)
class Opened:
    """A link that works: what it shows, on which page, with which parameters of the address."""

    through: SharedWorkspace
    page: str
    title: str
    parameters: Mapping[str, list[str]]


def asked_for() -> bool:
    """Whether the address holds a token, or nobody gets an answer here without one."""
    return TOKEN in st.query_params or only_links.only()


def parameters_of(shown: Run | View) -> tuple[str, dict[str, list[str]]] | None:
    """The page of a result and the parameters that lead there; None for a run that no link can show."""
    if isinstance(shown, View):
        return shown.page, {name: list(values) for name, values in shown.settings.items()}
    led = questions.address_of(shown)
    if led is None or not questions.is_result(shown):
        return None
    return led[0], {data_choice.ADDRESS: [shown.fingerprint], **led[1]}


def title_of(shown: Run | View) -> str:
    """What is said to be shown: the data set of a run, or what a view was called when its link was made."""
    return shown.title if isinstance(shown, View) else data_choice.title_of(shown)


def opened() -> Opened | None:
    """The link whose token the address holds, through which this session then looks.

    None where it does not work, whatever the reason. Raises WorkspaceError where nobody can say: a database that is
    busy or damaged makes no link a dead one.
    """
    token = st.query_params.get(TOKEN, "")
    try:
        through = session.shared(token)
        session.look_through(through)
        shown = through.shown(through.owner)
        led = parameters_of(shown)
        if led is not None:
            _note(token, works=True)
            session.look_through(through, fixed=led[1])
            return Opened(through, led[0], title_of(shown), led[1])
    except DeadLink:
        pass
    _note(token, works=False)
    session.look_through(None)
    return None


def _note(token: str, *, works: bool) -> None:
    """Have it written down what came of a link in this session, once, and again when it has ended meanwhile."""
    came = (link_id(token), works)
    if st.session_state.get(_NOTED) != came:
        st.session_state[_NOTED] = came
        events.note("link_asked", link=events.short(came[0]), works=works)


def settle(link: Opened, page: Any) -> bool:
    """Have the address ask for the result of the link, whatever else it asks for; gives whether the page can be drawn.

    Controls that were drawn hold on to their part of the address: where the browser went back to another one, nothing
    is drawn once, which makes them let go.
    """
    link_owner, settled = st.session_state.get(_SETTLED, ("", {}))
    drawn = link_owner == link.through.owner
    ours = settled if drawn else {}
    if all(asked in (link.parameters[key], ours.get(key)) for key, asked in _asked(link).items()):
        return True
    rest = {key: st.query_params.get_all(key) for key in st.query_params if key not in link.parameters}
    if not drawn:
        st.switch_page(page, query_params={**st.session_state.pop(_LOOKED_AT, rest), **link.parameters})
    _soon_again()
    del st.session_state[_SETTLED]
    st.session_state[_LOOKED_AT] = rest
    return False


@st.fragment(run_every=SECONDS_BEFORE_SETTLING)
def _soon_again() -> None:
    if _SETTLED not in st.session_state:
        st.rerun()


def settled(link: Opened) -> None:
    """Remember how the address says the same once the page was drawn: controls leave out of it what is usual."""
    st.session_state[_SETTLED] = (link.through.owner, _asked(link))


def _asked(link: Opened) -> dict[str, list[str]]:
    return {key: st.query_params.get_all(key) for key in link.parameters}


def head(link: Opened) -> None:
    """What is said above a shared result, in the place of the controls of the owner."""
    st.markdown(f"**{plain(link.title)}**", width="content")
    st.badge("Read-only", icon=":material/visibility:", color="gray", help=READ_ONLY)


@st.fragment(run_every=SECONDS_BETWEEN_QUESTIONS)
def watch(link: Opened) -> None:
    """Clear the page soon after its link was revoked; what else is wrong stands where it is looked for."""
    try:
        link.through.shown(link.through.owner)
    except DeadLink:
        st.rerun()
    except WorkspaceError as problem:
        error(problem)


def dead() -> None:
    """What every link that does not work shows."""
    st.error(DEAD, title="This link does not work", icon=":material/link_off:")


# How does somebody else see the very same? By a file, by a link, by its address, or by the command for it.


FOLDER = "" if COMMAND == "touchstone" else ", in Touchstone's folder"
"""Where a command works: anywhere, or only there."""
CHECK = "Command: the same as a check; --require adds a bound that has to hold"
DAYS = (1, 7, USUAL_DAYS, 90, 365)
REPORT_FORMATS = {"HTML": (to_html, "html", "text/html"), "Markdown": (to_markdown, "md", "text/markdown")}
A_FILE = "**A file** opens in any browser, without Touchstone, and prints. Send it like any other."
IN_CHATS = (
    "For chats and issues: Markdown, or one figure by the camera over it. *Take away* sets its format, PNG or SVG."
)
A_LINK = "**A link** opens for whoever has it, without signing in."
FOR_OTHERS = "**A link** opens for whoever has it and can reach `{url}` in your network."
ABOUT_LINKS = (
    "They see this result and the samples on its page, nothing else of yours, and cannot start or change anything."
)
HERE_ONLY = (
    "**A link** would open for you alone. Start Touchstone like this, and links open for colleagues in your network:"
)
START = f"{only_links.SETTING}=1 {'touchstone' if COMMAND == 'touchstone' else 'make run'}"
"""How Touchstone is usually started, with links that open for others."""
NOT_OPEN = "**A link** should open for others, and does not: the server printed why."
NO_RESULT = "There is no result to send yet. Run this first, or wait until it is computed."
NOTHING = "There is nothing to send on this page."
ICON, HELP = ":material/send:", "As a file · by a link · by its address or command"
_OFFER, _REPORTS, _MADE = "share_offer", "share_reports", "links_made"


@dataclass(frozen=True)
class Offer:
    """What a page shows: its plan, and every parameter of the address that leads to it, defaults included.

    `plan` is None where no command computes what is shown. `view` is what a link shows that shows more than the run of
    the plan, or what is no run, once it is worked out; `rests_on` are runs of which more of the page is drawn.
    `commands` compute what no plan does, each with what it is.
    """

    plan: Plan | None
    parameters: Mapping[str, Sequence[str]]
    view: View | None = None
    rests_on: tuple[Run, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


def offer(
    plan: Plan | None,
    parameters: Mapping[str, Sequence[str]],
    *,
    view: View | None = None,
    commands: tuple[tuple[str, str], ...] = (),
) -> None:
    """Say what this page shows, so that the header can offer it as an address, as a command and by a link."""
    st.session_state[_OFFER] = Offer(plan, parameters, view, commands=commands)


def add(key: str, written: Sequence[str]) -> None:
    """Say what else of the address leads to what this page shows, after its offer."""
    offered: Offer | None = st.session_state.get(_OFFER)
    if offered is not None:
        st.session_state[_OFFER] = replace(offered, parameters={**offered.parameters, key: written})


def add_check(choice: data_choice.Choice, model: str = "") -> None:
    """Say which command asks all that this page shows, after its offer: of the stored data, and of their file.

    `model` is the fingerprint of the stored model that it asks about; without one it is the newest.
    """
    file = _file_of(choice)
    about = ["--model", model] if model else []
    words_of = {f"Command: asks every question in a terminal{FOLDER}": ["--data", choice.address, *about]}
    if file is not None:
        words_of["Command: the same, read from your file"] = [*file.arguments(), *about]
    add_commands([(what, f"{COMMAND} check {shlex.join(words)}") for what, words in words_of.items()])


def add_commands(commands: Sequence[tuple[str, str]]) -> None:
    """Say which commands compute what this page shows, after its offer, each with what it is."""
    offered: Offer | None = st.session_state.get(_OFFER)
    if offered is not None:
        st.session_state[_OFFER] = replace(offered, commands=(*offered.commands, *commands))


def rest_on(run: Run) -> None:
    """Say that what this page shows is drawn of this run, too, after its offer: a link to it has to show that."""
    offered: Offer | None = st.session_state.get(_OFFER)
    if offered is not None:
        st.session_state[_OFFER] = replace(offered, rests_on=(*offered.rests_on, run))


def offer_report(title: str, report: Callable[[], Report], *, name: str) -> None:
    """Have the menu offer a report of what the page shows, as files of this name; `title` tells it from others."""
    st.session_state.setdefault(_REPORTS, {})[name] = (title, report)


def clear() -> None:
    """Forget what the page drawn before this one offered."""
    for offered in (_OFFER, _REPORTS):
        st.session_state.pop(offered, None)


def menu(path: str, *, of_data_set: bool = True) -> None:
    """The menu that stands at the top right of every page, for the page just drawn."""
    choice = data_choice.current() if of_data_set else None
    offered: Offer | None = st.session_state.get(_OFFER)
    with st.popover("Send", icon=ICON, help=HELP):
        if choice is None and offered is None:
            st.markdown(NOTHING)
            return
        about = {data_choice.ADDRESS: choice.address} if choice else {}
        has_report = _files()
        if offered and (shown := _shown(offered, choice)):
            links(shown, offered.parameters)
        elif offered and not has_report:
            st.caption(NO_RESULT)
        st.caption("Address, for yourself")
        st.code(address(path, {**about, **(offered.parameters if offered else {})}), language=None, wrap_lines=True)
        for about_it, line in _commands(offered, choice):
            st.caption(about_it)
            st.code(line, language="bash", wrap_lines=True)


def menu_of_link() -> None:
    """The same for whoever has a link: the file alone, and nothing where there is none."""
    if st.session_state.get(_REPORTS):
        with st.popover("Send", icon=ICON, help="As a file"):
            _files()


def _files() -> bool:
    """The reports of the page, for a browser and for chats; gives whether it has any."""
    reports: dict[str, tuple[str, Callable[[], Report]]] = st.session_state.get(_REPORTS, {})
    if reports:
        st.markdown(A_FILE)
    for name, (title, report) in reports.items():
        if len(reports) > 1:
            st.caption(plain(title))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for form, (write, ending, mime) in REPORT_FORMATS.items():
                file = partial(_written, report, write)
                download(f"Report ({form})", file, name=f"{name}.{ending}", mime=mime)
    if reports:
        st.caption(IN_CHATS)
    return bool(reports)


def _written(report: Callable[[], Report], write: Callable[[Report], bytes]) -> bytes:
    return write(report())


def _commands(offered: Offer | None, choice: data_choice.Choice | None) -> tuple[tuple[str, str], ...]:
    """The commands that compute what a page offers, each with what it is."""
    if offered is None or offered.plan is None or choice is None:
        return offered.commands if offered else ()
    stored = (f"Command: computes it in a terminal{FOLDER}", command(offered.plan, choice.address))
    check = (CHECK, check_command(["--data", choice.address], plans=[json.loads(to_json(offered.plan))]))
    file = _file_of(choice)
    if file is None:
        return (stored, check)
    return (stored, ("Command: the same, read from your file", command_of_file(offered.plan, file)), check)


def _shown(offered: Offer, choice: data_choice.Choice | None) -> Run | View | None:
    """What a link to what a page offers shows: its view, its run, or that run with what else it is drawn of."""
    shown, view = None, offered.view
    if view is None and offered.plan and choice and choice.stored:
        shown = session.workspace().find_run(session.owner(), offered.plan, choice.stored.fingerprint)
        led = parameters_of(shown) if shown and offered.rests_on else None
        view = View(*led, title_of(shown), runs=(shown.id,)) if shown and led else None
    if view is None:
        return shown
    return replace(view, runs=(*view.runs, *(run.id for run in offered.rests_on)))


def links_open() -> bool:
    """Whether a link that is made here would open for anybody else."""
    return sign_in.is_set_up() or only_links.address() is not None


@st.fragment
def links(shown: Run | View, view: Mapping[str, Sequence[str]] | None = None) -> None:
    """Make a link to a result where it would open for others, else say what makes links do; and revoke those there are.

    `view` is how the address says to look at it. The token finds all that the link settles, so that the address holds
    only that and how to look at it. Nothing for a run that no link can show.
    """
    led = parameters_of(shown)
    if led is None:
        return
    what = shown if isinstance(shown, View) else shown.id
    try:
        known = session.workspace().links(session.owner(), what)
    except WorkspaceError as problem:
        error(problem)
        return
    if links_open():
        name = shown.page if isinstance(shown, View) else shown.id
        parameters = {name: values for name, values in (view or {}).items() if name not in led[1]}
        _new_link(what, name, parameters)
    elif only_links.is_wanted():
        st.markdown(NOT_OPEN)
    else:
        st.markdown(HERE_ONLY)
        st.code(START, language="bash")
    for link in known:
        link_line(link, to_this=link.shows == what)


def _new_link(what: str | View, name: str, parameters: Mapping[str, Sequence[str]]) -> None:
    url = only_links.address()
    st.markdown(A_LINK if url is None else FOR_OTHERS.format(url=url))
    st.caption(ABOUT_LINKS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        days = st.selectbox(
            "It works for",
            DAYS,
            index=DAYS.index(USUAL_DAYS),
            format_func=lambda n: plural(n, "day"),
            key=f"link-days-{name}",
            width=130,
        )
        st.button("Create a link", key=f"link-{name}", on_click=_create, args=(what, parameters, days))


def link_line(link: Link, *, to_this: bool = True, where: str = "") -> None:
    """A link as its owner sees it: its address where it was made just now, when it was used, and the way to revoke.

    `to_this` is false of a link to the same in other settings; `where` tells apart places of a page that show the same.
    """
    address_of_it = st.session_state.get(_MADE, {}).get(link.id)
    if link.works and address_of_it is not None:
        st.code(address_of_it, language=None, wrap_lines=True)
        st.caption("Copy it now: it is not stored and cannot be shown again later.")
    used = f"last opened {day(link.used)}" if link.used else "never opened"
    made = f"Made {day(link.created)}{'' if to_this else ', with other settings'}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if link.works:
            st.caption(f"{made}, works until {day(link.expires)}, {used}", width="stretch")
            st.button("Revoke", key=f"revoke-{where}{link.id}", type="tertiary", on_click=_revoke, args=(link.id,))
        else:
            ended = f"revoked {day(link.revoked)}" if link.revoked else f"expired {day(link.expires)}"
            st.caption(f"{made}, {ended}, {used}")


@or_toast
def _create(shown: str | View, parameters: Mapping[str, Sequence[str]], days: int) -> None:
    token = session.workspace().create_link(session.owner(), shown, days=days)
    made = st.session_state.setdefault(_MADE, {})
    query = {TOKEN: token, **parameters}
    made[link_id(token)] = address(PATH, query, root=only_links.address())


@or_toast
def _revoke(link: str) -> None:
    session.workspace().revoke_link(session.owner(), link)


def address(path: str, parameters: Mapping[str, str | Sequence[str]], *, root: str | None = None) -> str:
    """The whole address of a view; defaults are written out, so that it means the same when a default changes.

    `root` is where the server is, if not where this page was opened.
    """
    here = urlsplit(root or st.context.url or "")
    at = here.path.rsplit("/", 1)[0]
    return urlunsplit((here.scheme, here.netloc, f"{at}/{path}", urlencode(parameters, doseq=True), ""))


def _file_of(choice: data_choice.Choice) -> FileReading | None:
    """How the file of an upload was read; None of an example, of a file without columns and of what is not there."""
    if choice.stored is None or choice.example is not None:
        return None
    try:
        read_as = dataset_of(choice.stored.fingerprint).read_as
    except (DataError, WorkspaceError):
        return None
    return None if read_as is None else FileReading.from_json(read_as)


def command_of_file(plan: Plan, file: FileReading) -> str:
    """The command that computes a plan on a file, with what its columns are."""
    return f"{COMMAND} run {shlex.join([*file.arguments(), to_json(plan)])}"


def command(plan: Plan, data: str) -> str:
    """The command that computes a plan on a stored data set."""
    return f"{COMMAND} run {shlex.join(['--data', data, to_json(plan)])}"


def check_command(words: Sequence[str], **sheet: object) -> str:
    """The command that checks what a sheet holds, of what the `words` name.

    >>> print(check_command(["--data", "wine"], plans=[{"kind": "trials"}]))
    python -m core check --data wine '{"plans": [{"kind": "trials"}]}'
    """
    return f"{COMMAND} check {shlex.join([*words, json.dumps(sheet)])}"
