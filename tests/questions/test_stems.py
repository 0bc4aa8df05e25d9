"""One question, one stem: what a layer is made of is named after a question, or is shared by all and named here."""

from importlib.util import find_spec

import pytest

from touchstone.core.questions import FIRST, MODULES, QUESTIONS, named, plan_class, with_page
from touchstone.ui import ROOT, page_file

OURS = {stem: question for stem, question in QUESTIONS.items() if not (question.plan or "core.").startswith("tests.")}
"""Without those that other tests have added."""
ASKED = [question for question in with_page().values() if question.group in ("Data", "Questions")]
WITH_RUNS = [question for question in OURS.values() if question.kind]
SHARED = {
    "core/evaluate": {
        "calibration",
        "claims",
        "claim_error_rates",
        "confusion_matrix",
        "covariate_shift",
        "fits",
        "intervals",
        "leaks",
        "metric_estimates",
        "metric_functions",
        "sample_sizes",
        "thresholds",
        "metrics",
        "two_samples",
        "units",
        "wording",
    },
    "core/figures": {"theme", "marks", "confusion_matrix"},
    "core/report": {
        "card",
        "confusion_matrix",
        "descriptions",
        "files",
        "html",
        "kept",
        "markdown",
        "markup",
        "model_pairs",
        "parts",
        "recreate",
        "run_report",
        "sample_sizes",
        "stated",
        "story",
    },
    "ui": {"shell", "forms", "data", "predictions", "models", "cache"},
    "pages": {"shared_run"},
}
"""What belongs to no question, in every layer."""
EVERY = ("hostile_names",)


def each(questions):
    return pytest.mark.parametrize("question", questions, ids=lambda question: question.stem)


def names(folder: str) -> set[str]:
    """The modules and packages of a folder."""
    return {one.stem for one in (ROOT / folder).iterdir() if one.stem[0] not in "_." and one.suffix in ("", ".py")}


@pytest.mark.parametrize("folder", SHARED)
def test_nothing_in_a_layer_has_a_name_of_its_own(folder):
    begins = tuple(f"{stem}_" for stem in OURS) if folder == "core/figures" else ()
    others = {name for name in names(folder) - OURS.keys() if not name.startswith(begins)}
    assert others == SHARED[folder]


@pytest.mark.parametrize("folder", ["core/evaluate", "core/figures"])
def test_tests_of_a_layer_are_named_after_what_they_test(folder):
    """What they say of all questions at once stands in EVERY."""
    known = tuple(f"test_{stem}" for stem in (*OURS, *SHARED[folder], *EVERY))
    named = [file.stem for file in (ROOT / "tests" / folder.removeprefix("core/")).glob("test_*.py")]
    assert [stem for stem in named if not stem.startswith(known)] == []


@each(ASKED)
def test_what_is_asked_has_tests_of_its_evaluation_its_figures_and_its_page(question):
    for layer in ("evaluate", "figures", "pages"):
        assert list((ROOT / "tests" / layer).glob(f"test_{question.stem}*.py")), layer


@each(OURS.values())
def test_a_record_is_whole(question):
    assert OURS[question.stem] is question
    assert (question.kind is None) == (question.plan is None)
    assert bool(question.name) == bool(question.icon) == (not question.serves)
    assert set(question.serves) <= set(with_page())
    assert question.page in with_page()
    assert question.group or question.serves or question.stem == FIRST


def test_no_two_questions_share_a_kind():
    kinds = [question.kind for question in WITH_RUNS]
    assert len(kinds) == len(set(kinds))


@each(with_page().values())
def test_a_page_has_its_file(question):
    assert page_file(question.stem).is_file()


@each(ASKED)
def test_what_is_asked_is_evaluated_drawn_and_explained_under_its_stem(question):
    for layer in ("evaluation", "figures"):
        assert find_spec(MODULES[layer].format(stem=question.stem)), layer
    assert (ROOT / "ui" / question.stem).is_dir()
    assert page_file(question.stem).with_suffix(".md").is_file()
    assert (ROOT / "docs" / "how-to-read" / f"{question.stem.replace('_', '-')}.md").is_file()


@each(WITH_RUNS)
def test_what_has_runs_has_a_plan_and_a_report_and_its_address_is_made(question):
    assert plan_class(question).kind == question.kind
    assert find_spec(MODULES["report"].format(stem=question.stem))
    assert not question.address or callable(named(question.address))


def test_the_readme_names_every_page_in_its_order():
    readme = (ROOT / "README.md").read_text("utf-8")
    table = readme.partition("| page | question |")[2].partition("\n\n")[0].splitlines()[2:]
    lines = [line.strip("| ").split(" | ", 1) for line in table]
    assert [name for name, _ in lines] == [_readme_name(question) for question in with_page().values()]
    for (_, text), question in zip(lines, with_page().values(), strict=True):
        assert text.startswith(question.title)


def _readme_name(question) -> str:
    if question not in ASKED:
        return question.name
    return f"[{question.name}](docs/how-to-read/{question.stem.replace('_', '-')}.md)"
