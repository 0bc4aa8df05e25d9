"""What can be tried without any data of one's own? Real data sets that need no network."""

import ast
import hashlib
import importlib.util
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from touchstone import core
from touchstone.core.data.dataset import Dataset, Kind, with_usual_units
from touchstone.core.data.errors import DataError
from touchstone.core.data.home import home, write_whole

# Can a text data set with true sources be had offline? The docstrings of the six libraries that Touchstone stands on.
#
# The first paragraph of a docstring is the text, the library its class, the subpackage its source. Files are parsed,
# never imported: importing torch to read what it says about itself would cost seconds and memory.

LIBRARIES = {  # the name that pip knows, which is the class name: the name that Python imports
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "scikit-learn": "sklearn",
    "torch": "torch",
    "plotly": "plotly",
}
MIN_WORDS = 4
MAX_PER_LIBRARY = 1500
MIN_PER_SOURCE = 30
SCHEMA = 1  # raise it when the rules below change, so that an older file is not taken for a new one

_LEFT_OUT = {"tests", "test", "graph_objs"}  # plotly.graph_objs is generated
_GENERATED = re.compile(rb"#[\s-]*this file is (auto-?)?generated", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\S*\w\S*")


class Paragraph(NamedTuple):
    """The first paragraph of one public object's docstring, with the object's qualified name as its id."""

    id: str
    text: str
    library: str
    source: str


def docstrings_ready() -> bool:
    """Whether the docstrings of the installed versions are stored already, so that loading them takes no time.

    >>> import tempfile
    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", TOUCHSTONE_HOME=folder):
    ...     docstrings_ready()
    False
    """
    return _stored().exists()


def load_docstrings() -> Dataset:
    """Load the docstrings of the installed libraries; the first time with these versions they are scanned (seconds).

    Of each library all modules and public names count; subpackages whose name starts with an underscore (but for
    numpy._core, which is most of numpy), tests and generated code do not. A source is the first name below the library,
    be it a subpackage or a module; small ones together are the library's "other".
    """
    import pyarrow.parquet

    stored = _stored()
    if not stored.exists():
        write_whole(stored, _parquet(_scan()))
    columns = pyarrow.parquet.read_table(stored).to_pydict()
    class_names = tuple(LIBRARIES)
    dataset = Dataset(
        name="docstrings",
        kind="text",
        x=columns["text"],
        y=[class_names.index(library) for library in columns["library"]],
        class_names=class_names,
        ids=columns["id"],
        sources=columns["source"],
        notes=(
            "Read from " + ", ".join(f"{name} {version}" for name, version in core.versions(*LIBRARIES).items()) + ".",
        ),
    )
    return with_usual_units(dataset)


def paragraphs(folder: Path, library: str) -> Iterator[Paragraph]:
    """All first paragraphs of the public docstrings in a library's folder, file by file in alphabetical order.

    >>> next(paragraphs(_folder("plotly"), "plotly")).id
    'plotly'
    """
    for file in _modules(folder):
        parts = (folder.name, *file.relative_to(folder).with_suffix("").parts)
        module = parts[:-1] if parts[-1] == "__init__" else parts
        for name, docstring in _docstrings(file.read_bytes(), module):
            first = " ".join(_BLANK_LINE.split(docstring.strip(), maxsplit=1)[0].split())
            yield Paragraph(name, first, library, ".".join(module[:2]))


def select(paragraphs: Iterable[Paragraph]) -> list[Paragraph]:
    """The paragraphs that make the data set, ordered by library and id.

    Those of fewer than four words are left out. A text that occurs twice in one library counts once, under its
    alphabetically first id; one that occurs in two libraries has no true class and is left out. Of each library at most
    1,500 stay, those whose text has the smallest SHA-256: the choice looks random, but is the same everywhere.

    >>> twice = [Paragraph(name, "Add two numbers up.", name, f"{name}.maths") for name in ("numpy", "torch")]
    >>> select([*twice, Paragraph("numpy.dot", "Multiply a by b.", "numpy", "numpy.maths")])
    [Paragraph(id='numpy.dot', text='Multiply a by b.', library='numpy', source='numpy.other')]
    """
    by_text: dict[str, Paragraph] = {}
    libraries: dict[str, set[str]] = {}
    for paragraph in sorted(paragraphs):
        if len(_WORD.findall(paragraph.text)) >= MIN_WORDS:
            by_text.setdefault(paragraph.text, paragraph)
            libraries.setdefault(paragraph.text, set()).add(paragraph.library)
    unambiguous = [paragraph for text, paragraph in by_text.items() if len(libraries[text]) == 1]
    unambiguous.sort(key=lambda paragraph: hashlib.sha256(paragraph.text.encode()).digest())
    by_library: dict[str, list[Paragraph]] = {}
    for paragraph in unambiguous:
        by_library.setdefault(paragraph.library, []).append(paragraph)
    taken = [each for _, all_of in sorted(by_library.items()) for each in sorted(all_of[:MAX_PER_LIBRARY])]  # by ids
    n_per_source = Counter(paragraph.source for paragraph in taken)
    return [
        paragraph
        if n_per_source[paragraph.source] >= MIN_PER_SOURCE
        else paragraph._replace(source=f"{paragraph.source.split('.')[0]}.other")
        for paragraph in taken
    ]


def _scan() -> list[Paragraph]:
    return select(paragraph for library in LIBRARIES for paragraph in paragraphs(_folder(LIBRARIES[library]), library))


def _folder(import_name: str) -> Path:
    spec = importlib.util.find_spec(import_name)  # finds a top-level package without importing it
    if spec is None or spec.origin is None:
        raise DataError(f"The docstrings of {import_name} cannot be read: it is not installed.")
    return Path(spec.origin).parent


def _modules(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(("_", ".")) and (folder.name, path.name) != ("numpy", "_core")
            if not hidden and path.name not in _LEFT_OUT:
                yield from _modules(path)
        elif path.suffix == ".py" and path.name != "conftest.py" and not path.name.startswith("test_"):
            yield path


def _docstrings(code: bytes, module: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Qualified name and docstring of a module's public objects, each name once, and of the module if it is public."""
    has_docstring = b'"""' in code or b"'''" in code
    if not has_docstring or _GENERATED.match(code):
        return
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):  # a template, or written for a later Python
        return
    docstring_of = {}
    if not module[-1].startswith("_") and (docstring := ast.get_docstring(tree)):
        docstring_of[".".join(module)] = docstring
    for name, docstring in _public(tree, ".".join(module)):
        docstring_of.setdefault(name, docstring)
    yield from docstring_of.items()


def _public(parent: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    """Public functions and classes with a docstring, those in classes and under `if` and `try` included."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name.startswith("_"):
                continue
            name = f"{prefix}.{node.name}"
            if docstring := ast.get_docstring(node):
                yield name, docstring
            if isinstance(node, ast.ClassDef):
                yield from _public(node, name)
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            yield from _public(node, prefix)


def _stored() -> Path:
    versions = "_".join(f"{library}-{version}" for library, version in core.versions(*LIBRARIES).items())
    return home() / "examples" / f"docstrings-{SCHEMA}_{versions}.parquet"


def _parquet(taken: list[Paragraph]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    columns = dict(zip(Paragraph._fields, map(list, zip(*taken, strict=True)), strict=True))
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


# The examples.


@dataclass(frozen=True)
class Example:
    """A built-in data set: what a picker shows about it, and the function that loads it.

    >>> EXAMPLES["digits"].title
    'Handwritten digits'
    """

    name: str
    title: str
    kind: Kind
    sentence: str
    load: Callable[[], Dataset]


def load_example(name: str) -> Dataset:
    """Load a built-in data set by its name in `EXAMPLES`.

    >>> load_example("wine").n_per_class
    array([59, 71, 48])
    """
    if name not in EXAMPLES:
        raise DataError(f"There is no example {name!r}. The examples are {', '.join(EXAMPLES)}.")
    return EXAMPLES[name].load()


def _digits() -> Dataset:
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    scale = 16.0  # each pixel counts the ink in a block of 4 × 4
    return Dataset(
        name="digits",
        kind="image",
        x=bunch.images[..., None] / scale,
        y=bunch.target,
        class_names=tuple(str(name) for name in bunch.target_names),
        ids=None,
        scale=scale,
        notes=("Pixels were divided by 16 and lie in [0, 1].",),
    )


def _table(name: str) -> Dataset:
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        kind="tabular",
        x=bunch.data,
        y=bunch.target,
        class_names=tuple(str(name) for name in bunch.target_names),
        ids=None,
        feature_names=tuple(str(name) for name in bunch.feature_names),
    )


_DIGITS = "1,797 scanned digits of 8 × 8 pixels, ten classes (UCI optical digits, from scikit-learn)."
_WINE = "178 wines of three growers, 13 chemical measurements each (UCI, from scikit-learn)."
_BREAST_CANCER = "569 tumours, malignant or benign, 30 measurements of cell nuclei each (UCI, from scikit-learn)."
_DOCSTRINGS = (
    "Docstrings of numpy, scipy, pandas, scikit-learn, torch and plotly: which library is it? "
    "Sources are their subpackages."
)

EXAMPLES: dict[str, Example] = {
    example.name: example
    for example in (
        Example("digits", "Handwritten digits", "image", _DIGITS, _digits),
        Example("wine", "Wine", "tabular", _WINE, partial(_table, "wine")),
        Example("breast_cancer", "Breast cancer", "tabular", _BREAST_CANCER, partial(_table, "breast_cancer")),
        Example("docstrings", "Docstrings", "text", _DOCSTRINGS, load_docstrings),
    )
}
