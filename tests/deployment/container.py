"""deploy/Containerfile, built and run without a container runtime: each step is done below a temporary folder.

Packages are those that are here, in a venv in the place of the image's Python; folders of the image lie in the folder.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import free_port
from tests.conftest import ROOT
from tests.deployment.machine import PROGRAMS, SECONDS, SYSTEM, as_compiled
from tests.test_installed_tool import tracked

KNOWN = {
    *("FROM", "ENV", "ARG", "RUN", "COPY", "WORKDIR", "USER", "VOLUME", "EXPOSE"),
    *("HEALTHCHECK", "STOPSIGNAL", "ENTRYPOINT", "CMD"),
}


def steps(file: Path) -> list[tuple[str, str]]:
    """The instructions of a container file, each with what it says."""
    lines = re.sub(r"\\\n\s*", " ", file.read_text("utf-8")).splitlines()
    said = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    assert {name for name, _, _ in said} <= KNOWN
    return [(name, rest) for name, _, rest in said]


class Container:
    """An image, built in a folder, and its container."""

    def __init__(self, file: Path, root: Path):
        self.root, self.port = root, str(free_port())
        self.said: dict[str, str] = {}
        self.env = SYSTEM | {"PYTHON_HERE": sys.executable}
        self.folder = root
        python = root / "usr/local"
        subprocess.run([PROGRAMS / "python3", "-m", "venv", python], env=self.env, check=True)
        self.env["PATH"] = f"{python / 'bin'}{os.pathsep}{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        ours = [name for name in tracked() if (ROOT / name).is_file()]
        for name, rest in steps(file):
            if name == "COPY":
                self._copy(shlex.split(rest), ours)
            else:
                self._do(name, self.here(rest))
        as_compiled(Path(self.env["NUMBA_CACHE_DIR"]))
        self.built = time.time()

    def here(self, text: str) -> str:
        """A text with the folders and the port of this container in the place of those of the image."""
        return re.sub(r"(?<![\w./])/(?=(opt|var)/)", f"{self.root}/", text).replace("8501", self.port)

    def _do(self, name: str, rest: str) -> None:
        if name == "ENV":
            self.env |= dict(word.split("=", 1) for word in shlex.split(rest))
        elif name == "ARG":
            variable, _, usual = rest.partition("=")
            self.env[variable] = usual
        elif name == "WORKDIR":
            self.folder = Path(rest)
            self.folder.mkdir(parents=True, exist_ok=True)
        elif name == "RUN":
            done = subprocess.run(
                ["sh", "-euc", rest], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=SECONDS
            )
            assert done.returncode == 0, f"{rest}\n{done.stdout}{done.stderr}"
        else:
            self.said[name] = rest

    def _copy(self, words: list[str], ours: list[str]) -> None:
        """What git tracks of these files or folders: a checkout of nobody who builds has more that is ours."""
        *sources, target = words
        into = self.folder / target
        for source in sources:
            inside = [name for name in ours if name == source or name.startswith(f"{source}/")]
            assert inside, f"nothing is called {source}"
            for name in inside:
                to = into / Path(name).name if name == source else into / Path(name).relative_to(source)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, to, follow_symlinks=False)

    def command(self, *words: str) -> list[str]:
        """What its container runs."""
        return [
            *json.loads(self.said["ENTRYPOINT"]),
            *(map(self.here, words) if words else json.loads(self.said["CMD"])),
        ]

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen]:
        """Its container, stopped as it asks to be."""
        with (self.root / "log").open("w") as log:
            process = subprocess.Popen(
                self.command(*words),
                cwd=self.folder,
                env=self.env | {"HOME": str(self.home)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.send_signal(getattr(signal, self.said["STOPSIGNAL"]))
            process.wait(timeout=SECONDS)

    @property
    def home(self) -> Path:
        """The folder that outlives the container."""
        return Path(self.said["VOLUME"])

    @property
    def log(self) -> str:
        """What the container has printed."""
        return (self.root / "log").read_text()

    def is_healthy(self) -> bool:
        """What its health check says."""
        check = json.loads(self.said["HEALTHCHECK"].partition(" CMD ")[2])
        done = subprocess.run(check, cwd=self.folder, env=self.env, capture_output=True, timeout=SECONDS)
        return done.returncode == 0
