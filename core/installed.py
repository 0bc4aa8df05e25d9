"""How was Touchstone installed, and what command brings a package that it can do without?"""

import shlex
import sys
from pathlib import Path

from touchstone.core import COMMAND

NAME = "touchstone-dashboard"
PARTS = {
    "cluster": ("sqlalchemy", "distributed", "dask"),
    "torch": ("torch", "safetensors"),
    "onnx": ("onnxruntime",),
    "postgres": ("psycopg",),
    "app": ("streamlit", "umap", "httpx2"),
}
"""What `pip install "touchstone-dashboard[PART]"` brings, by the names that Python imports."""


def command(*packages: str) -> str:
    """What installs these packages beside Touchstone, as it was installed itself: by pipx, uv or pip.

    >>> command("openpyxl").endswith("openpyxl")
    True
    """
    words = " ".join(map(shlex.quote, packages))
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject {NAME} {words}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install {NAME} " + " ".join(f"--with {shlex.quote(each)}" for each in packages)
    settings = prefix / "pyvenv.cfg"
    if settings.exists() and any(line.startswith("uv ") for line in settings.read_text("utf-8").splitlines()):
        return f"uv pip install {words}"
    return f"pip install {words}"


def part(name: str) -> str:
    """What installs a part of Touchstone: from a checkout all of it comes with `make run`.

    >>> "touchstone" in part("torch") or part("torch") == "pip install -r requirements.txt"
    True
    """
    return "pip install -r requirements.txt" if COMMAND != "touchstone" else command(f"{NAME}[{name}]")


def remedy(error: ModuleNotFoundError) -> str | None:
    """What to do about a package that is not installed, in a sentence; None where Touchstone has no use for it.

    >>> remedy(ModuleNotFoundError("No module named 'torch'", name="torch")).startswith("this takes torch, which is")
    True
    >>> remedy(ModuleNotFoundError("No module named 'antigravity2'", name="antigravity2"))
    """
    package = str(error.name).partition(".")[0]
    of = next((name for name, packages in PARTS.items() if package in packages), None)
    return None if of is None else f"this takes {package}, which is not installed. Install it: {part(of)}"
