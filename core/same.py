"""How is `core` the very same as `touchstone.core`? In a checkout its folder lies on the path under its own name, too.

`python -m core` and code that says `from core import check` go on working there, and each module exists once.
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import CodeType, ModuleType


def as_core() -> None:
    """Have `core`, and every name below it, mean the modules of `touchstone.core`."""
    sys.modules["core"] = import_module("touchstone.core")
    sys.meta_path.insert(0, _Same())


class _Same(MetaPathFinder, Loader):
    """Finds below `core` what stands below `touchstone.core`."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}
        """What a module says of how it was found, while it is imported by its other name."""

    def find_spec(self, fullname: str, _path: object, _target: ModuleType | None = None) -> ModuleSpec | None:
        """How to import a module below `core`; None of all others, whose paths may be of any kind (a namespace's)."""
        if not fullname.startswith("core.") or (there := find_spec(f"touchstone.{fullname}")) is None:
            return None
        is_package = there.submodule_search_locations is not None
        return spec_from_loader(fullname, self, origin=there.origin, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, which may have been imported before."""
        module = import_module(f"touchstone.{spec.name}")
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed again; what the module says of itself stays."""
        if module.__spec__ is not None:
            module.__spec__ = self._specs.pop(module.__spec__.name)

    def get_code(self, fullname: str) -> CodeType | None:
        """Its code, for `python -m`."""
        there = find_spec(f"touchstone.{fullname}")
        return there.loader.get_code(there.name) if there and there.loader else None
