"""What do clients take of a server with sign-in that it should not give them?

Twenty files of 60 MB by one that never signed in, and by an open page of one that has; and how long another client's
health check waits while a hundred websockets of foreign origins knock. Run it with nothing else on the machine:
`python -m benchmarks.bench_guards`.
"""

import multiprocessing
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.browser.provider import Client, provide, secrets_for
from tests.browser.server import Server, serve
from tests.ui.test_signed_in import FOREIGN, page, upload

N_FILES, FILE_BYTES, N_SOCKETS, N_CHECKS = 20, 60 * 10**6, 100, 50


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as home,
        provide(Path(folder), "alice") as provider,
        serve(Path(home), secrets=secrets_for(provider)) as server,
    ):
        alice = Client(server.url)
        alice.sign_in("alice")
        alice.ask("/_stcore/health")
        with page(alice) as (_, session):
            print(f"memory before: {memory(server):.0f} MB")
            stranger = Client(server.url)
            stranger.ask("/_stcore/health")
            files(server, "who never signed in", stranger, session)
            files(server, "an open page of alice", alice, session)
        print("health check beside foreign sockets, ms (largest):")
        print(f"  none: {1000 * slowest(server):.1f}")
        for origin in FOREIGN:
            knocking = multiprocessing.Process(target=knock_all, args=(server.url, alice.cookies(), origin))
            knocking.start()
            waited = 0.0
            while knocking.is_alive():
                waited = max(waited, slowest(server, 1))
            print(f"  {N_SOCKETS} of {origin}: {1000 * waited:.1f}")


def files(server: Server, who: str, client: Client, session: str) -> None:
    answers = []
    for number in range(N_FILES):
        try:
            answers.append(upload(client, session, f"f{number}", size=FILE_BYTES))
        except OSError:  # the server has answered, and reads no more
            answers.append(("closed", ""))
    print(f"{who}: {dict(Counter(status for status, _ in answers))}, last: {answers[-1][1]!r}, {memory(server):.0f} MB")


def knock_all(url: str, cookies: str, origin: str | None) -> None:
    """A hundred sockets at once, of a process of their own."""
    threads = [threading.Thread(target=knock, args=(url, cookies, origin)) for _ in range(N_SOCKETS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def knock(url: str, cookies: str, origin: str | None) -> None:
    headers = {"Cookie": cookies, **({} if origin is None else {"Origin": origin})}
    try:
        with connect(f"{url.replace('http', 'ws', 1)}/_stcore/stream", additional_headers=headers, proxy=None):
            print("a foreign socket was let in")
    except InvalidStatus as refused:
        if refused.response.status_code != 403:
            raise


def slowest(server: Server, n_checks: int = N_CHECKS) -> float:
    longest = 0.0
    for _ in range(n_checks):
        began = time.perf_counter()
        assert Client(server.url).ask("/_stcore/health") == (200, "ok")
        longest = max(longest, time.perf_counter() - began)
    return longest


def memory(server: Server) -> float:
    status = Path(f"/proc/{server.process}/status").read_text()
    return next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
