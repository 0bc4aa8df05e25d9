"""Where do results come from? Versions of Touchstone and the numeric libraries, the device, the kind of executor."""

import platform
from pathlib import Path

from touchstone import core
from touchstone.core.workspace.engine.executor import Executor

LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "umap-learn")


def provenance(executor: Executor) -> dict[str, object]:
    """Where results come from: versions of Touchstone and the numeric libraries, Python, device, kind of executor."""
    return {
        "touchstone": core.version(),
        "versions": core.versions(*LIBRARIES),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "device": device() if executor.address is None else "as the workers of the cluster have it",
        "executor": "processes on this machine" if executor.address is None else "a dask cluster",
        "n_workers": executor.n_workers,
    }


def device(processors: Path = Path("/proc")) -> str:
    """What networks are trained on here: the name of the graphics processor where torch can use one, else the CPU's.

    It is asked of the system, since importing torch takes seconds.
    """
    if not core.versions("torch")["torch"].endswith("+cpu"):
        told = [file.read_text("utf-8") for file in sorted(processors.glob("driver/nvidia/gpus/*/information"))]
        names = [line.partition(":")[2].strip() for text in told for line in text.splitlines() if "Model:" in line]
        if names:
            return f"cuda, {', '.join(dict.fromkeys(names))}"
    try:
        lines = (processors / "cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    name = next(named, platform.processor())
    return f"cpu, {name}" if name else "cpu"
