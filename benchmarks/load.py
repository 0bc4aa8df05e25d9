"""How long do readers wait while runs compute, and do memory and descriptors of the server stay what they are?

Each reader is a websocket of its own, as a browser's tab is, that reruns its page every few seconds; readers share out
all pages among them. Two more press Run, again and again with other parameters. Prints a table; asserts nothing.
`python -m benchmarks.load --minutes 5` (30 by hand); `--runs 0` shows what readers alone cost.
"""

import argparse
import asyncio
import os
import platform
import random
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.server import Server, cookies, serve
from touchstone.core.questions import FIRST, with_page
from touchstone.core.workspace import LOCAL_OWNER, Workspace

SECONDS_BETWEEN_RERUNS = 3.0
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_AT_MOST = 120.0
REPEATS = 30
"""How many repeats the first runs have."""
DATA = ("wine", "digits")


@dataclass
class Tab:
    """One reader: its page, its address, and the seconds that each rerun took."""

    server: Server
    page: str
    query: str
    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    buttons: dict[str, str] = field(default_factory=dict)

    async def open(self) -> "Tab":
        """Connect, as the page does, and have it drawn once."""
        [cookie] = cookies()
        headers = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        self.socket = await websockets.connect(
            self.server.url.replace("http", "ws") + "/_stcore/stream",
            origin=self.server.url,
            subprotocols=["streamlit"],
            additional_headers=headers,
            max_size=None,
        )
        self.first = await self.rerun()
        return self

    async def rerun(self, press: str | None = None) -> float:
        """Have the page drawn anew, with a button pressed where one is named; gives the seconds until it was whole."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = "" if self.page == FIRST else self.page
        if press is not None:
            widget = message.rerun_script.widget_states.widgets.add()
            widget.id, widget.trigger_value = self.buttons[press], True
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(SECONDS_AT_MOST):
            while not self._hear(await self.socket.recv()):
                pass
        return time.perf_counter() - began

    def _hear(self, content: bytes) -> bool:
        """Note what a message of the server says; whether the page is whole."""
        said = ForwardMsg.FromString(content)
        if said.WhichOneof("type") == "delta" and said.delta.new_element.WhichOneof("type") == "button":
            self.buttons[said.delta.new_element.button.label] = said.delta.new_element.button.id
        if said.WhichOneof("type") == "delta" and said.delta.new_element.WhichOneof("type") == "exception":
            self.errors += 1
        return said.WhichOneof("type") == "script_finished" and said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY

    async def read(self, until: float) -> None:
        """Rerun every few seconds, not all tabs at once."""
        rng = random.Random(id(self))
        while time.monotonic() < until:
            await asyncio.sleep(rng.uniform(0.5, 1.5) * SECONDS_BETWEEN_RERUNS)
            self.seconds.append(await self.rerun())

    async def compute(self, until: float) -> float:
        """Press Run, wait until the run has ended, open the page anew with a repeat more; gives the seconds of runs.

        A page that is open keeps what its form says, whatever its address says then: so it is opened anew.
        """
        repeats, seconds = REPEATS, 0.0
        while time.monotonic() < until:
            began = time.monotonic()
            await self.rerun("Run")
            while "Cancel" in await self.buttons_now() and time.monotonic() < until:
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            seconds += time.monotonic() - began
            repeats += 1
            await self.socket.close()
            self.query = f"{self.query.partition('&')[0]}&repeats={repeats}"
            await self.open()
        return seconds

    async def buttons_now(self) -> set[str]:
        """The buttons of the page as it is now."""
        self.buttons.clear()
        await self.rerun()
        return set(self.buttons)


@dataclass(frozen=True)
class Held:
    """What the server's own process holds at one time."""

    mebibytes: float
    descriptors: int
    threads: int


def held(process: int) -> Held:
    """Memory, open files and threads, from /proc."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    n_files = len(list(Path(f"/proc/{process}/fd").iterdir()))
    return Held(int(status["VmRSS"].split()[0]) / 1024, n_files, int(status["Threads"]))


async def watch(process: int, until: float, seen: list[Held]) -> None:
    """Look every few seconds."""
    while time.monotonic() < until:
        seen.append(held(process))
        await asyncio.sleep(5)


async def under_load(
    server: Server, n_readers: int, n_runs: int, seconds: float
) -> tuple[list[Tab], list[Held], list[float]]:
    """Readers and runs for so long; gives the readers, what the server held, and how long runs were under way."""
    stems, seen = list(with_page()), []
    tabs = [await Tab(server, stems[n % len(stems)], f"data={DATA[n % len(DATA)]}").open() for n in range(n_readers)]
    computing = [
        await Tab(server, "source_robustness", f"data={DATA[n % len(DATA)]}&repeats={REPEATS}").open()
        for n in range(n_runs)
    ]
    until = time.monotonic() + seconds
    readers = asyncio.gather(*[tab.read(until) for tab in tabs])
    runs = asyncio.gather(*[tab.compute(until) for tab in computing])
    await asyncio.gather(watch(server.process, until, seen), readers, runs)
    for tab in (*tabs, *computing):
        await tab.socket.close()
    return tabs, seen, runs.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--runs", type=int, default=2)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server:
        load = os.getloadavg()[0]
        work = under_load(server, chosen.readers, chosen.runs, 60 * chosen.minutes)
        tabs, seen, busy = asyncio.run(work)
        with closing(Workspace(Path(folder))) as workspace:
            runs = workspace.runs(LOCAL_OWNER)
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, load before: {load:.1f}")
    print(
        f"{chosen.readers} readers, {chosen.runs} runs, {chosen.minutes:g} minutes; {len(runs)} runs begun, of which "
        f"{sum(run.n_done for run in runs):,} trials were computed"
    )
    print(f"runs were under way for {', '.join(f'{share / 60:.1f}' for share in busy)} minutes\n")
    print("| page | reruns | p50 (s) | p95 (s) | longest (s) | first drawn (s) | errors |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for page in [*dict.fromkeys(tab.page for tab in tabs), "all"]:
        mine = [tab for tab in tabs if page in (tab.page, "all")]
        seconds = np.array([one for tab in mine for one in tab.seconds])
        p50, p95 = np.quantile(seconds, [0.5, 0.95])
        first, errors = max(tab.first for tab in mine), sum(tab.errors for tab in mine)
        print(f"| {page} | {len(seconds)} | {p50:.2f} | {p95:.2f} | {seconds.max():.2f} | {first:.1f} | {errors} |")
    print("\n| the server holds | after a fifth | at the end | at most |")
    print("|---|---:|---:|---:|")
    for name in ("mebibytes", "descriptors", "threads"):
        values = [getattr(one, name) for one in seen]
        print(f"| {name} | {values[len(values) // 5]:.0f} | {values[-1]:.0f} | {max(values):.0f} |")


if __name__ == "__main__":
    main()
