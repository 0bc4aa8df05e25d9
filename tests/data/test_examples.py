"""The built-in data sets are real, offline and the same everywhere."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from touchstone import core
from touchstone.core.data import EXAMPLES, DataError, docstrings_ready, examples, load_example
from touchstone.core.data.examples import LIBRARIES, MAX_PER_LIBRARY, MIN_PER_SOURCE, Paragraph, paragraphs, select


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    """The docstrings data set, scanned once for all tests, and the folder that keeps it."""
    home = tmp_path_factory.mktemp("scanned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHSTONE_HOME", str(home))
        return load_example("docstrings"), home


@pytest.mark.parametrize(
    ("name", "kind", "n_samples", "n_classes"),
    [("digits", "image", 1797, 10), ("wine", "tabular", 178, 3), ("breast_cancer", "tabular", 569, 2)],
)
def test_small_examples(name, kind, n_samples, n_classes):
    dataset = load_example(name)
    assert (dataset.name, dataset.kind, dataset.n_samples, dataset.n_classes) == (name, kind, n_samples, n_classes)
    assert EXAMPLES[name].kind == kind
    assert dataset.sources is None
    assert dataset.fingerprint == load_example(name).fingerprint


def test_digits_are_divided_by_16():
    dataset = load_example("digits")
    assert (dataset.x.shape, dataset.scale) == ((1797, 8, 8, 1), 16.0)
    assert np.array_equal(np.unique(dataset.x), np.arange(17, dtype=np.float32) / 16)


def test_an_unknown_example_is_refused_by_name():
    with pytest.raises(
        DataError, match=r"no example 'iris'\. The examples are digits, wine, breast_cancer, docstrings"
    ):
        load_example("iris")


def test_docstrings_are_what_they_claim(scanned):
    dataset, _ = scanned
    assert dataset.class_names == tuple(LIBRARIES)
    assert (dataset.n_per_class <= MAX_PER_LIBRARY).all()
    assert (dataset.n_per_class >= 200).all()
    assert len(set(dataset.x)) == dataset.n_samples
    assert all(len(text.split()) >= 4 and text == " ".join(text.split()) for text in dataset.x)
    position = dict(zip(dataset.ids, range(dataset.n_samples), strict=True))
    solve = next(at for name, at in position.items() if name.startswith("numpy.linalg") and name.endswith(".solve"))
    assert dataset.x[solve] == "Solve a linear matrix equation, or system of linear scalar equations."
    assert dataset.class_names[dataset.y[solve]] == "numpy"


def test_sources_of_docstrings_are_subpackages_within_their_library(scanned):
    dataset, _ = scanned
    for source, count in Counter(dataset.sources).items():
        library, subpackage = source.split(".")
        classes = {dataset.class_names[code] for code in dataset.y[dataset.sources == source]}
        assert {LIBRARIES[name] for name in classes} == {library}
        assert count >= MIN_PER_SOURCE or subpackage == "other"
    assert {"numpy.ma", "scipy.stats", "sklearn.linear_model", "torch.nn", "plotly.express"} <= set(dataset.sources)


def test_tests_and_generated_code_and_hidden_packages_are_left_out(scanned):
    dataset, _ = scanned
    for name in dataset.ids:
        parts = name.split(".")
        assert not {"tests", "graph_objs", "conftest"} & set(parts), name
        assert not parts[-1].startswith("_"), name
        assert not name.startswith(("torch._inductor.", "pandas._testing.", "scipy._lib.")), name


def test_docstrings_are_stored_under_their_versions_and_read_back(scanned, monkeypatch):
    dataset, home = scanned
    monkeypatch.setenv("TOUCHSTONE_HOME", str(home))
    (stored,) = home.rglob("*.parquet")
    assert all(library in stored.name for library in LIBRARIES)
    assert np.__version__ in stored.name
    assert docstrings_ready()
    monkeypatch.setattr(examples, "_scan", None)
    assert load_example("docstrings").fingerprint == dataset.fingerprint
    monkeypatch.setattr(core, "versions", lambda *libraries: {"numpy": "0.1"})
    assert not docstrings_ready()


def test_scanning_imports_none_of_the_libraries():
    code = (
        "import sys; from touchstone.core.data.examples import LIBRARIES, _folder, paragraphs;"
        "n = sum(1 for name in ('plotly', 'sklearn') for _ in paragraphs(_folder(name), name)); _folder('torch');"
        "print(n > 1000, sorted({'torch', 'plotly', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "True []"


MODULE = '''
"""The module's own words,
in two lines.

More."""

def shown():
    """Shown to everybody who asks.   And more."""
    def inner():
        """Inner functions are not shown."""

def _hidden():
    """Hidden from everybody who asks."""

class Shape:
    """  A shape with some corners
    \t
    Second paragraph."""

    def area(self):
        """Area of this very shape."""

    def __len__(self):
        """Number of corners it has."""

class _Secret:
    def open(self):
        """Open the secret of all."""

if True:
    def sometimes():
        """Only sometimes there for you."""
else:
    def sometimes():
        """The second of two definitions."""

try:
    import fast
except ImportError:
    def slow():
        """Slow, but it is there."""
'''


@pytest.fixture
def library(tmp_path):
    files = {
        "__init__.py": '"""A library made for tests."""',
        "shapes/__init__.py": "",
        "shapes/_flat.py": MODULE,
        "shapes/round.py": MODULE,
        "shapes/tests/test_flat.py": MODULE,
        "shapes/test_round.py": MODULE,
        "shapes/generated.py": "#  --- THIS FILE IS AUTO-GENERATED ---\n" + MODULE,
        "shapes/broken.py": '"""This is no Python at all."""\ndef (',
        "_private/code.py": MODULE,
        "graph_objs/code.py": MODULE,
        "conftest.py": MODULE,
        "top.py": '"""A module at the top level."""',
    }
    folder = tmp_path / "lib"
    for name, code in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(code)
    return folder


def test_public_names_of_all_modules_are_found(library):
    found = list(paragraphs(library, "lib"))
    names = ("shown", "Shape", "Shape.area", "sometimes", "slow")
    assert sorted(paragraph.id for paragraph in found) == sorted(
        ["lib", "lib.top", "lib.shapes.round"]
        + [f"lib.shapes.{module}.{name}" for module in ("_flat", "round") for name in names]
    )
    texts = {paragraph.id: paragraph.text for paragraph in found}
    assert texts["lib.shapes.round"] == "The module's own words, in two lines."
    assert texts["lib.shapes.round.Shape"] == "A shape with some corners"
    assert texts["lib.shapes.round.shown"] == "Shown to everybody who asks. And more."
    assert texts["lib.shapes.round.sometimes"] == "Only sometimes there for you."
    assert {paragraph.source for paragraph in found} == {"lib", "lib.top", "lib.shapes"}


def test_selection_does_not_depend_on_the_order_of_finding(library):
    found = list(paragraphs(library, "lib"))
    assert select(found) == select(reversed(found))
    assert "lib.shapes._flat.shown" in {paragraph.id for paragraph in select(found)}  # "_flat" comes before "round"
    assert "lib.shapes.round.shown" not in {paragraph.id for paragraph in select(found)}


def test_a_library_is_cut_by_the_hash_of_the_text_and_not_by_its_place():
    found = [Paragraph(f"lib.a.f{n:05}", f"Does thing number {n}.", "lib", "lib.a") for n in range(4000)]
    taken = select(found)
    assert len(taken) == MAX_PER_LIBRARY
    numbers = [int(paragraph.id[-5:]) for paragraph in taken]
    assert 1900 < np.mean(numbers) < 2100
    fewer = select(paragraph for paragraph in found if paragraph not in set(taken[:100]))
    assert set(taken[100:]) < set(fewer)  # what goes is replaced, what stays stays


def test_small_sources_join_other():
    found = [Paragraph(f"lib.a.f{n}", f"Adds {n} to it.", "lib", "lib.a") for n in range(30)]
    found += [Paragraph(f"lib.b.f{n}", f"Takes {n} from it.", "lib", "lib.b") for n in range(29)]
    assert Counter(paragraph.source for paragraph in select(found)) == {"lib.a": 30, "lib.other": 29}
