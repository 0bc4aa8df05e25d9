"""The lowest versions that the package says it runs with, one for each dependency: `make lowest` installs these.

Run as `python -m tests.lowest`; prints what pip takes.
"""

import re
import tomllib

from tests.conftest import ROOT


def lowest() -> list[str]:
    """Each dependency at its lower bound."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    return [re.sub(r">=([\w.]+).*", r"==\1", each) for each in declared]


if __name__ == "__main__":
    print("\n".join(lowest()))
