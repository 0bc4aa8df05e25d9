"""Are entries of other packages offered, run and checked as those that are built in, or else refused in words?"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT
from touchstone.core import registry, testing
from touchstone.core.data import DataError
from touchstone.core.evaluate.metrics import METRICS, Metric
from touchstone.core.models import MODELS
from touchstone.core.registry import GROUPS, PluginWarning, Registry, plugin_versions
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.split.folds import FOLD_SCHEMES, RandomFolds
from touchstone.core.trials import TrialPlan
from touchstone.testing import check_plugin

SAMPLE, PAGE = ROOT / "docs" / "plugins", ROOT / "docs" / "plugins.md"


def python(code: str, site: Path, cwd: Path = ROOT) -> str:
    """What a fresh process prints that has the plugins of a folder."""
    known = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=cwd, env=known, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    """The folder in which the sample plugin is installed; it is built of a copy, for building writes beside sources."""
    source, site = tmp_path_factory.mktemp("source") / "plugins", tmp_path_factory.mktemp("site")
    copytree(SAMPLE, source, ignore=lambda _, names: [name for name in names if name.startswith("__")])
    words = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--target", str(site))
    subprocess.run([sys.executable, "-m", "pip", "-q", "install", *words, str(source)], check=True, timeout=120)
    return site


def test_the_sample_keeps_every_law_that_entries_of_touchstone_keep(sample):
    kept = python("from touchstone.testing import check_plugin; print(check_plugin('touchstone-sample'))", sample)
    assert [line.partition(":")[0] for line in kept.splitlines()] == list(GROUPS)
    assert f"touchstone.models: nearest_mean ({len(testing.LAWS['touchstone.models'])} laws)" in kept


def test_the_sample_is_used_from_python_as_what_is_built_in(sample, tmp_path):
    code = """
        import json
        from touchstone import check, compare, read
        wine = read("wine")
        asked = {"models": ("logistic", "nearest_mean"), "source_finders": ("ward",), "representation": "ranks"}
        print(check("source_robustness", wine, n_repeats=3, **asked).verdict.headline)
        folds = check("cluster_folds", wine, schemes=("blocks", "random_folds"), seeds=(0,), n_folds=3)
        print("blocks" in folds.table().to_string())
        for name, n_right in (("old", 270), ("new", 210)):
            rows = [(number, "cat" if number % 3 else "dog") for number in range(300)]
            other = {"cat": "dog", "dog": "cat"}
            answers = [truth if number < n_right else other[truth] for number, truth in rows]
            samples = [
                {"question": number, "expected": truth, "answered": answer, "passed": answer == truth}
                for (number, truth), answer in zip(rows, answers)
            ]
            open(f"{name}.json", "w").write(json.dumps(samples))
        print(compare("old.json", "new.json", metric="informedness", positive="dog").verdict.headline)
        from touchstone.core.workspace.engine.executor import versions_here
        print(versions_here("trials")["touchstone-sample"])
    """
    printed = python("\n".join(line[8:] for line in code.splitlines()), sample, tmp_path).splitlines()
    assert re.search("Nearest mean|Logistic regression", printed[0])
    assert printed[1] == "True"
    assert printed[2].startswith("new.json is worse than old.json: informedness for “dog” .400 against .800")
    assert printed[3] == "1.0"


def test_the_sample_is_used_from_the_command_line(sample, tmp_path):
    plan = json.dumps({"kind": "trials", "models": ["nearest_mean"], "source_finders": ["ward"], "n_repeats": 3})
    known = os.environ | {"PYTHONPATH": f"{sample}{os.pathsep}{ROOT}", "TOUCHSTONE_HOME": str(tmp_path)}
    words = [sys.executable, "-m", "core", "run", plan, "--data", "wine"]
    done = subprocess.run(words, cwd=ROOT, env=known, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "nearest_mean\tward\t" in done.stdout, "its trials, which other processes did"
    assert "clusters" in done.stderr


def test_the_page_shows_the_sample_as_it_is():
    """Its blocks of code stand in the sample's files, word by word."""
    files = [(SAMPLE / name).read_text("utf-8") for name in ("pyproject.toml", "touchstone_sample.py")]
    files.append((SAMPLE / "test_touchstone_sample.py").read_text("utf-8"))
    blocks = re.findall(r"^```(?:toml|python)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        assert any(block in file for file in files), block


def test_the_page_names_every_group():
    assert set(re.findall(r"`(touchstone\.\w+)`", PAGE.read_text("utf-8"))) >= {*GROUPS, "touchstone.testing"}


# What is not taken?


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Installs a made-up package: its module, and what it offers by group."""

    def install(code: str, points: dict[str, dict[str, str]], name: str = "made-up") -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code)
        about = tmp_path / f"{module}-2.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
        lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in of.items()) for group, of in points.items()]
        (about / "entry_points.txt").write_text("\n".join(lines))
        registry.offered.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    registry.offered.cache_clear()
    for module in [name for name in sys.modules if name.startswith("made_up")]:
        del sys.modules[module]


def metrics() -> Registry[Metric]:
    """The metrics, of which no plugin has been read yet."""
    return Registry(METRICS.group, Metric, {"accuracy": METRICS["accuracy"]}, taken=("acc",))


GOOD = """
from touchstone.plugins import Metric

HALF = Metric("half", "half of it", lambda scored, weights: 0.5)
AGAIN = Metric("accuracy", "another one", lambda scored, weights: 0.5)
SAME = Metric("same", "Accuracy", lambda scored, weights: 0.5)
NOTHING = 3
"""


def test_what_is_built_in_waits_for_no_plugin(plugin):
    plugin("raise SystemExit('imported')", {METRICS.group: {"half": "made_up:HALF"}})
    assert metrics()["accuracy"] is METRICS["accuracy"]
    assert "accuracy" in metrics()


def test_an_entry_of_a_plugin_is_there_after_those_that_are_built_in(plugin):
    plugin(GOOD, {METRICS.group: {"half": "made_up:HALF"}})
    there = metrics()
    assert list(there) == ["accuracy", "half"]
    assert there["half"].title == "half of it"
    assert len(there) == 2
    assert there.refused == ()
    assert plugin_versions()["made-up"] == "2.0"


@pytest.mark.parametrize(
    ("code", "name", "target", "why"),
    [
        ("import there_is_no_such_library", "half", "HALF", "it could not be used (ModuleNotFoundError: No module"),
        (GOOD, "half", "WHOLE", "it could not be used (AttributeError"),
        (GOOD, "accuracy", "AGAIN", "Touchstone has an entry of this name"),
        (GOOD, "acc", "AGAIN", "another name is needed, of small letters, digits and _"),
        (GOOD, "half.of-it", "HALF", "another name is needed"),
        (GOOD, "same", "SAME", "'accuracy' is called 'Accuracy' already"),
        (GOOD, "half", "NOTHING", "it is no Metric, but int"),
        ("raise RuntimeError('no licence')", "half", "HALF", "it could not be used (RuntimeError: no licence)"),
    ],
)
def test_what_cannot_be_an_entry_is_left_out_with_a_warning(plugin, code, name, target, why):
    plugin(code, {METRICS.group: {name: f"made_up:{target}"}})
    there = metrics()
    expected = f"The plugin made-up 2.0 offers {name!r} in touchstone.metrics. It is left out: {why}"
    with pytest.warns(PluginWarning, match=re.escape(expected)):
        assert list(there) == ["accuracy"]
    assert list(there) == ["accuracy"], "it is said once"
    with pytest.raises(KeyError):
        there["half"]


def test_what_is_installed_and_left_out_stands_where_the_app_speaks_of_itself(plugin, monkeypatch):
    monkeypatch.setattr(registry, "_REFUSED", [])
    assert "made-up" not in registry.about_plugins()
    plugin(GOOD, {METRICS.group: {"half": "made_up:HALF", "accuracy": "made_up:AGAIN"}})
    assert registry.about_plugins() == "Plugins: made-up 2.0.", "nothing is imported to say it"
    with pytest.warns(PluginWarning):
        assert len(metrics()) == 2
    assert registry.about_plugins() == (
        "Plugins: made-up 2.0. The plugin made-up 2.0 offers 'accuracy' in touchstone.metrics. "
        "It is left out: Touchstone has an entry of this name."
    )
    shown = []
    monkeypatch.setattr("streamlit.set_page_config", lambda **config: shown.append(config.get("menu_items")))
    AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=60).run()
    assert "It is left out: Touchstone has an entry of this name" in shown[0]["About"]


def test_of_two_plugins_the_first_by_name_has_the_name(plugin):
    for name in ("made-up", "made-up-too"):
        plugin(GOOD, {METRICS.group: {"half": f"{name.replace('-', '_')}:HALF"}}, name)
    with pytest.warns(PluginWarning, match=r"made-up-too 2\.0 offers 'half'.*the plugin made-up 2\.0 has an entry"):
        assert list(metrics()) == ["accuracy", "half"]


def test_a_plugin_that_reads_a_registry_while_it_is_imported_sees_what_is_built_in(plugin, monkeypatch):
    there = metrics()
    monkeypatch.setattr(registry, "under_test", there, raising=False)
    code = f"{GOOD}\nfrom touchstone.core import registry\nSEEN = list(registry.under_test)"
    plugin(code, {METRICS.group: {"half": "made_up:HALF"}})
    assert list(there) == ["accuracy", "half"]
    assert sys.modules["made_up"].SEEN == ["accuracy"]


def test_importing_all_of_touchstone_reads_no_registry():
    """Else a plugin would be imported while what it imports itself is half made."""
    code = """
import importlib, pkgutil, sys
from touchstone import core, ui
for top in (core, ui):
    for module in pkgutil.walk_packages(top.__path__, top.__name__ + "."):
        if module.name.rpartition(".")[2] not in ("__main__", "pytest_plugin", "router"):
            importlib.import_module(module.name)
from touchstone.core.testing import REGISTRIES
print(sorted(group for group, registry in REGISTRIES.items() if registry._is_read), sorted(REGISTRIES))
"""
    known = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, env=known, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == f"[] {sorted(GROUPS)}\n", done.stderr


def test_a_plan_that_names_what_no_plugin_has_says_so():
    with pytest.raises(DataError, match=r"'nearest_mean' cannot be chosen: no plugin that is installed here has it"):
        TrialPlan(models=("nearest_mean",))
    with pytest.raises(DataError, match=r"'ward' cannot be chosen: no plugin that is installed here has it.*known"):
        TrialPlan(source_finders=("ward",))


# Does the check of a plugin find what is wrong with one?


def test_a_package_that_is_not_there_or_offers_nothing_is_no_plugin(plugin):
    with pytest.raises(AssertionError, match=r"no-such-package is not installed here: pip install it first"):
        check_plugin("no-such-package")
    plugin(GOOD, {"touchstone.metric": {"half": "made_up:HALF"}})
    with pytest.raises(AssertionError, match=r"touchstone\.metric: half: there is no such group; there are touchstone"):
        check_plugin("made-up")


def test_each_law_that_is_broken_is_a_line(plugin, monkeypatch):
    code = GOOD + "\nWRONG = Metric('other', 'wrong', lambda scored, weights: 2.0 + scored.y_true[0])\n"
    plugin(code, {METRICS.group: {"wrong": "made_up:WRONG", "accuracy": "made_up:AGAIN"}})
    there = metrics()
    monkeypatch.setitem(testing.REGISTRIES, METRICS.group, there)
    with pytest.warns(PluginWarning), pytest.raises(AssertionError) as broken:
        check_plugin("made-up")
    lines = str(broken.value).splitlines()
    assert "touchstone.metrics: accuracy: Touchstone has an entry of this name." in lines
    assert "touchstone.metrics: wrong: metric has the name of its entry: the metric calls itself 'other'" in lines
    assert any("lies outside of its range" in line for line in lines)
    assert any("the order of samples matters" in line for line in lines)


RECALL = METRICS["balanced_accuracy"]
LOGISTIC = MODELS["logistic"]


@dataclass
class Deaf(LOGISTIC):
    def fit(self, x, y, *, seed, n_classes=None, should_stop=None):
        return super().fit(x, y, seed=seed, n_classes=n_classes)


@dataclass
class Moody(LOGISTIC):
    def predict_proba(self, x):
        proba = super().predict_proba(x) + np.random.default_rng().uniform(0, 1e-3, (len(x), 1))
        return proba / proba.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Lost(RandomFolds):
    column = "lost"

    def assign(self, X, y=None, groups=None):
        return np.maximum(super().assign(X, y, groups) - 1, 0)


@pytest.mark.parametrize(
    ("law", "entry", "words"),
    [
        ("metric_is_best_of_what_is_right", replace(RECALL, larger_is_better=False), "is larger better"),
        (
            "metric_knows_how_much_each_sample_moves_it",
            replace(RECALL, of_counts=None, function=lambda s, w: RECALL.value(s), influence=lambda s: np.zeros(s.n)),
            "a sample moves it by",
        ),
        (
            "metric_says_the_same_in_each_of_its_forms",
            replace(RECALL, function=lambda s, w: METRICS["accuracy"].value(s)),
            "its forms differ",
        ),
        ("model_stops_when_asked_to", Deaf, "it goes on though"),
        ("model_is_the_same_for_the_same_seed", Moody, "the same seed gives another model"),
        (
            "representation_says_whether_it_saw_labels",
            replace(REPRESENTATIONS["network"], label_informed=False, kinds=("tabular",)),
            "labels play a part",
        ),
        ("splitter_keeps_what_it_promises", Lost, "folds are called"),
        ("splitter_is_a_frozen_dataclass", FOLD_SCHEMES["random_folds"], ""),
    ],
)
def test_laws_are_broken_by_what_breaks_them(law, entry, words):
    [broken] = [each for laws in testing.LAWS.values() for each in laws if each.__name__ == law]
    problem = testing._problem_with(broken, "toy", entry)
    assert words in problem
    assert bool(words) == bool(problem)
