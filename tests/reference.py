"""The reference of what `from touchstone import …` gives, made from its docstrings: docs/reference.md.

Run as `python -m tests.reference`, which writes the page.
"""

import inspect
import re
from importlib import import_module

from numpy.typing import ArrayLike

from tests.conftest import ROOT
from touchstone.core import PUBLIC

PAGE = ROOT / "docs" / "reference.md"
HEAD = """# Reference

Every name that `from touchstone import …` gives, with its docstring.
[From Python](python.md) shows how they go together.
Written by `python -m tests.reference`; examples are run by the tests.
"""


def page() -> str:
    """The whole page, a section for each name in the order of the alphabet."""
    members = {name: getattr(import_module(module), name) for module, names in PUBLIC.items() for name in names}
    return HEAD + "".join(_section(name, members[name]) for name in sorted(members, key=str.lower))


def _section(name: str, member: object) -> str:
    lines = ["", f"## {name}", ""]
    if callable(member):
        lines += ["```python", _signature(name, member), "```", ""]
        lines += [_markdown(inspect.getdoc(member) or "")]
        for called, method in sorted(vars(member).items()) if isinstance(member, type) else ():
            said = inspect.getdoc(method)
            if not called.startswith("_") and said and (callable(method) or isinstance(method, property)):
                lines += ["", f"### {name}.{called}", "", _markdown(said)]
    else:
        lines += [f"A {type(member).__name__}; see [results](python.md#results-that-stay)."]
    return "\n".join(lines) + "\n"


def _signature(name: str, member: object) -> str:
    plain = _unqualified(str(inspect.signature(member))).replace(_ARRAY_LIKE, "ArrayLike")
    plain = plain.replace("Union[ArrayLike]", "ArrayLike").replace("mappingproxy({})", "{}")
    return name + plain.replace("str | PathLike[str] | Any", "File | Frame")


def _unqualified(types: str) -> str:
    return re.sub(r"\b(touchstone|collections|numpy|pandas|plotly|jaxtyping|typing|os)(\.\w+)*\.", "", types)


_ARRAY_LIKE = _unqualified(inspect.formatannotation(ArrayLike)).removeprefix("Union[").removesuffix("]")
"""What numpy's union is written out as, in the version that is installed."""


def _markdown(said: str) -> str:
    """A docstring's paragraphs, its headings in bold and its examples as code."""
    said = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"**\1**\n", said, flags=re.MULTILINE)
    return re.sub(r"^>>>.*(?:\n.+)*", _code, said, flags=re.MULTILINE).rstrip()


def _code(found: re.Match[str]) -> str:
    return f"```python\n{found[0]}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
