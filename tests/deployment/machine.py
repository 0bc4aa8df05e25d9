"""A machine on which the commands of docs/deployment.md run as they stand: below a temporary folder, at free ports.

The test plays systemd: it reads the units, starts what they say and starts it again where they say so. What would
change accounts of the real machine is noted, not done.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import free_port
from tests.conftest import ROOT
from tests.test_installed_tool import tracked
from touchstone.core.workspace.engine.worker import LAST_COMPILED

SECONDS = 120
PORTS = ("8501", "8786", "5432", "443")
NOTED = ("useradd", "chgrp", "chown")
SYSTEM = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
"""What a unit has of the environment, and nothing of the tests'."""
URL = "https://example.org/touchstone.git"
PROGRAMS = Path(__file__).parent / "programs"
"""What stands in for programs of a server: python3, whose venvs fetch nothing, and systemd-run."""


class Machine:
    """Folders, ports, programs and units of a machine; to be closed."""

    def __init__(self, root: Path):
        self.root = root
        self.ports = {port: str(free_port()) for port in PORTS}
        self.checkout, self.home = root / "opt/touchstone", root / "var/lib/touchstone"
        self.origin = root / "origin"
        self.settings = root / "etc/touchstone/environment"
        self.noted: list[list[str]] = []
        self.units: dict[str, Unit] = {}
        for folder in ("bin", "opt", "etc/systemd/system", "var/lib", "var/backups"):
            (root / folder).mkdir(parents=True)
        for program in PROGRAMS.iterdir():
            self.program(program.name, program.read_text())
        self.env = SYSTEM | {"HOME": str(self.home), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        self.env["PYTHON_HERE"] = sys.executable
        self.env["PATH"] = f"{root / 'bin'}{os.pathsep}{self.checkout / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
        self._first_env = dict(self.env)
        as_compiled(root / "var/cache/touchstone")
        self._publish_first()

    def program(self, name: str, text: str) -> None:
        """Put a program first on the path."""
        (self.root / "bin" / name).write_text(text)
        (self.root / "bin" / name).chmod(0o755)

    def here(self, text: str) -> str:
        """A text with the folders and ports of this machine in the place of those of the page."""
        text = re.sub(r"(?<![\w./])/(?=(opt|etc|var)/)", f"{self.root}/", text)
        text = re.sub(r"\b(" + "|".join(PORTS) + r")\b", lambda port: self.ports[port[0]], text)
        return text.replace(URL, str(self.origin))

    def _publish_first(self) -> None:
        """The project as it is here, in a repository that is cloned, as version 0.2.0."""
        for name in tracked():
            if not name.startswith(("docs/", "tests/", "benchmarks/")):
                (self.origin / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.origin / name, follow_symlinks=False)
        for file in (self.origin / "deploy").iterdir():
            file.write_text(self.here(file.read_text()))
        self._git("init", "-q")
        self.publish("0.2.0")

    def publish(self, version: str) -> None:
        """Another version of the project in that repository."""
        package = self.origin / "core" / "__init__.py"
        package.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', package.read_text()))
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", version)
        self._git("tag", f"v{version}")

    def _git(self, *words: str) -> None:
        who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
        subprocess.run(["git", *who, *words], cwd=self.origin, env=self.env, check=True)

    def do(self, *commands: str) -> str:
        """Run commands as they stand on the page; gives what they print, and fails where one of them does."""
        printed = ""
        for command in map(self.here, commands):
            words = shlex.split(command)
            if words[0] in NOTED:
                self.noted.append(words)
            elif words[0] == "systemctl":
                self.systemctl(*words[1:])
            else:
                printed += self._run(re.sub(r"^runuser -u \w+ -- ", "", command))
        return printed

    def _run(self, command: str) -> str:
        folder = self.checkout if self.checkout.is_dir() else self.root
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}{self.logs()}"
        return done.stdout

    def systemctl(self, verb: str, *names: str) -> None:
        """What systemd does with the units of this machine."""
        self.noted.append(["systemctl", verb, *names])
        for name in (name for name in names if not name.startswith("-")):
            if verb in ("stop", "restart") and name in self.units:
                self.units.pop(name).stop()
            if verb in ("enable", "start", "restart"):
                assert verb != "enable" or "--now" in names
                self.units[name] = Unit(self, name)

    @contextmanager
    def begun(self, command: str) -> Iterator[None]:
        """A command that goes on until it is stopped, as in a terminal of its own."""
        with (self.root / "terminals.log").open("a") as log:
            process = subprocess.Popen(
                ["bash", "-c", self.here(command)],
                cwd=self.checkout,
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=SECONDS)

    def set_there(self) -> dict[str, str]:
        """What the file of settings says."""
        return dict(line.split("=", 1) for line in self.settings.read_text().splitlines())

    def url(self, path: str) -> str:
        """An address of the app."""
        return f"http://127.0.0.1:{self.ports['8501']}{path}"

    def health(self) -> dict[str, str] | None:
        """What the app says of itself; None where it does not answer."""
        return ask(self.url("/health"))

    def wait_for_health(self, **expected: str) -> None:
        """Wait until the app says this of itself."""
        until = time.monotonic() + SECONDS
        while (said := self.health()) != expected:
            assert time.monotonic() < until, f"{said} {self.logs()}"
            time.sleep(0.2)

    def logs(self) -> str:
        """What the units have printed."""
        return "\n".join(f"--- {log.name}\n{log.read_text()[-800:]}" for log in self.root.glob("*.log"))

    def close(self) -> None:
        """Stop all units, and forget what was set in terminals."""
        for name in list(self.units):
            self.units.pop(name).stop()
        self.env = dict(self._first_env)


def as_compiled(cache: Path) -> None:
    """Have a server find its loops compiled, as after its first start: compiling them takes half a minute."""
    (cache / "core").mkdir(parents=True)
    for file, loop in LAST_COMPILED.items():
        (cache / "core" / f"{Path(file).stem}.{loop}-1.py311.nbi").touch()


class Unit:
    """A service of systemd as its file says: what it starts, with which settings, and what happens when it ends."""

    def __init__(self, machine: Machine, name: str):
        base, at, self.instance = name.partition("@")
        self.machine, self.name = machine, name
        self.said = read_unit((machine.root / "etc/systemd/system" / f"{base}{at}.service").read_text())
        self.n_starts, self._wanted, self._lock = 0, True, threading.Lock()
        for kind, below in (("StateDirectory", "var/lib"), ("CacheDirectory", "var/cache")):
            mode = int(self.said.get(f"{kind}Mode", ["0755"])[0], 8)
            for name_of_folder in self.said.get(kind, []):
                (machine.root / below / name_of_folder).mkdir(mode=mode, parents=True, exist_ok=True)
        self._log = machine.root / f"{name}.log"
        self._start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _start(self) -> None:
        settings = SYSTEM | {"HOME": str(self.machine.home)}
        settings |= dict(line.split("=", 1) for line in self.said.get("Environment", []))
        for file in self.said.get("EnvironmentFile", []):
            settings |= dict(line.split("=", 1) for line in Path(file).read_text().splitlines())
        [command] = self.said["ExecStart"]
        command = re.sub(r"\$\{(\w+)\}", lambda setting: settings[setting[1]], command.replace("%i", self.instance))
        [folder] = self.said["WorkingDirectory"]
        self.n_starts += 1
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                shlex.split(command), cwd=folder, env=settings, stdout=log, stderr=log, start_new_session=True
            )

    def _watch(self) -> None:
        while True:
            self.process.wait()
            self._end_all()
            if not self._wanted or self.said["Restart"] != ["always"]:
                return
            time.sleep(float(self.said["RestartSec"][0]))
            with self._lock:
                if not self._wanted:
                    return
                self._start()

    def stop(self) -> None:
        """Ask it to end: its main process alone, where the unit says so."""
        with self._lock:
            self._wanted = False
        if self.process.poll() is None:
            ask_to_end = os.kill if self.said.get("KillMode") == ["mixed"] else os.killpg
            ask_to_end(self.process.pid, signal.SIGTERM)
        self._watcher.join(timeout=SECONDS)
        assert not self._watcher.is_alive(), f"{self.name} does not end"

    def _end_all(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def read_unit(text: str) -> dict[str, list[str]]:
    """The settings of a unit, whichever section they stand in; one may stand several times."""
    said: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith(("#", "[")):
            name, _, value = line.partition("=")
            said.setdefault(name, []).append(value)
    return said


def ask(url: str) -> dict[str, str] | None:
    """What an address says as JSON, also with an error's status; None where nothing answers."""
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        return json.load(refused)
    except OSError:
        return None
