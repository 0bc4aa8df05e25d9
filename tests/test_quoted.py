"""Do README and docs quote what the product says today? What they quote is computed here, and compared to the letter.

The tutorials' quotations are what their own commands print (tests/test_tutorials.py); numbers of docs/measured,
docs/decisions and docs/reproduction.md are dated, with the commands that print them.
"""

import io
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tests.conftest import ROOT
from tests.quotes import numbers_outside_quotations, printed, quotations, stale
from tests.said_today import DATA, Card, asked
from touchstone.core.data import EXAMPLES, load_example
from touchstone.core.data.examples import LIBRARIES, MAX_PER_LIBRARY, MIN_PER_SOURCE
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, make_suite, suite_archive
from touchstone.core.public.asking import QUESTIONS
from touchstone.core.questions import QUESTIONS as RECORDS
from touchstone.core.trials.training_plan import TrainingPlan
from touchstone.ui.test_quality.results import SHIFT

README, SUITE = "README.md", "docs/how-to-read/guided-tests.md"
COMPARED = {README, SUITE, *(f"docs/tutorials/{file.name}" for file in (ROOT / "docs" / "tutorials").glob("*.md"))}
"""The files that quote the product."""
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(file for file in (ROOT / "docs").glob("*.md") if file.name != "reproduction.md"),
    *(file for folder in ("docs/how-to-read", "docs/tutorials", "pages") for file in (ROOT / folder).glob("*.md")),
]
RENEW = (
    "Write what is said today; this prints it: "
    f".venv/bin/python -c \"import touchstone; print(touchstone.check('{{}}', '{DATA}').verdict.text)\". "
    "Then `make screenshots`, since the picture shows the same."
)


def text_of(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def stale_in_readme(text: str) -> list[str]:
    """What a README of this text quotes that the page of source robustness does not say of the digits today."""
    question = "source_robustness"
    words, renew = Card.of(asked(question).verdict, ()).words, RENEW.format(question)
    return stale(README, quotations(text), words, renew=renew, on_any_machine=True)


def test_readme_quotes_what_the_page_says_today():
    text = text_of(README)
    assert len(quotations(text)) == 2
    assert not stale_in_readme(text), "\n".join(stale_in_readme(text))


def test_the_first_screen_of_readme_is_what_the_tutorial_prints():
    """Whose code and output tests/test_tutorials.py runs and compares."""
    command, *sentences = printed(text_of(README))
    assert command == "$ touchstone compare old.csv new.csv"
    assert sentences == quotations(text_of("docs/tutorials/two-files.md"))[: len(sentences)]


@pytest.mark.parametrize("place", range(13))
def test_a_changed_digit_in_readme_is_found(place):
    """Each number of the quoted verdict in turn: one digit of it is another one, by more than rounding."""
    text = text_of(README)
    [verdict] = [line for line in text.splitlines() if line.startswith("> **")]
    digit = list(re.finditer(r"\d+", verdict))[place].start()
    changed = verdict[:digit] + str((int(verdict[digit]) + 2) % 10) + verdict[digit + 1 :]
    [told] = stale_in_readme(text.replace(verdict, changed))
    for part in (README, changed.strip("> *"), asked("source_robustness").verdict.headline, "make screenshots"):
        assert part in told, told


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_no_page_quotes_what_nothing_compares(file):
    text, name = file.read_text("utf-8"), file.relative_to(ROOT).as_posix()
    loose = list(numbers_outside_quotations(text))
    assert not loose, f"{name} gives numbers that no test compares with the product's: quote them. {loose}"
    assert not (quotations(text) or printed(text)) or name in COMPARED, f"{name}: compare its quotations in this file."


def test_a_page_that_begins_to_quote_is_found():
    assert list(numbers_outside_quotations("On the digits it is 91.9 % [89.9, 93.5]."))
    assert quotations("> Accuracy falls by 3.0 points [1.0, 5.0].")
    assert printed("```\naccuracy 86.4 % [84.3, 88.3] on 1387 generated pictures\n```\n")


def test_the_page_on_python_has_the_questions_in_the_products_words():
    rows = dict(re.findall(r'^\| `"(\w+)"` \| (.*?) \|', text_of("docs/python.md"), re.MULTILINE))
    titles = {stem: RECORDS[stem].title for stem in QUESTIONS if stem in RECORDS}
    assert {stem: rows[stem] for stem in titles} == titles
    assert set(rows) - set(titles) <= {"covariate_shift"}, "a part of test quality: its title is on that page"
    assert rows["covariate_shift"] == SHIFT


def rows_of_examples() -> dict[str, list[str]]:
    """The table of built-in data sets: what is said of each, and how many classes."""
    table = text_of("docs/file-formats.md").partition("### Built in")[2].partition("\n\n`")[0]
    return {
        name: [what, classes] for name, what, classes in re.findall(r"^\| `(\w+)` \| (.*?) \| (\d+) \|", table, re.M)
    }


@pytest.mark.parametrize(
    ("name", "noun"), [("digits", "scanned digits"), ("wine", "wines"), ("breast_cancer", "tumours")]
)
def test_the_table_of_examples_has_their_sizes(name, noun):
    data, (what, classes) = load_example(name), rows_of_examples()[name]
    assert what.startswith(f"{data.n_samples:,} {noun}")
    form = f"of {data.x.shape[1]} × {data.x.shape[2]} pixels, divided by {data.scale:g}" if data.kind == "image" else ""
    assert (form or f"{data.x.shape[1]} measurements") in what
    assert int(classes) == data.n_classes


def test_the_table_of_examples_has_all_of_them_and_the_limits_of_the_docstrings():
    rows, text = rows_of_examples(), text_of("docs/file-formats.md").replace("\n", " ")
    assert list(rows) == list(EXAMPLES)
    what, classes = rows["docstrings"]
    assert int(classes) == len(LIBRARIES)
    assert all(name in what for name in LIBRARIES)
    assert f"Of each library the {MAX_PER_LIBRARY:,} with" in text
    assert f"under {MIN_PER_SOURCE} texts" in text


EVERY = 4
"""In the page's example, the new version has learned from labels of which one in so many is wrong."""


@pytest.fixture(scope="module")
def suite_output(tmp_path_factory) -> str:
    """What the archive's tests print of a logistic regression of the digits that has learned from wrong labels."""
    digits, folder = load_example(DATA), tmp_path_factory.mktemp("suite")
    train, test = TrainingPlan("linear").split(digits)
    parts = {"train_rows": train, "test_rows": test, "class_names": digits.class_names, "seed": 0}
    suite = make_suite(digits.x, digits.y, digits.ids, **parts)
    wrong = np.where(np.arange(len(train)) % EVERY, digits.y[train], (digits.y[train] + 1) % digits.n_classes)
    before, now = (
        LogisticRegression(tol=1e-9, max_iter=5000)
        .fit(digits.x[train].reshape(len(train), -1), labels)
        .predict_proba(suite.pixels.reshape(len(suite), -1))
        for labels in (digits.y[train], wrong)
    )
    judged = JudgedSuite(suite, before.argmax(axis=1), before.max(axis=1))
    content = suite_archive(judged, model="of this test", dataset=digits.fingerprint, seed=0)
    zipfile.ZipFile(io.BytesIO(content)).extractall(folder)
    met = suite.kept | suite.kept_again.any(axis=1)
    np.save(folder / "answers.npy", now.argmax(axis=1)[met])
    (folder / "my_model.py").write_text("import numpy\ndef predict(images):\n    return numpy.load('answers.npy')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_guided_suite.py"]
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))}
    done = subprocess.run(command, cwd=folder, env=known, text=True, capture_output=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.evidence
def test_the_suite_prints_what_its_page_shows(suite_output):
    text = text_of(SUITE)
    assert f"1 label in {EVERY} was wrong" in text.replace("\n", " ")
    assert len(printed(text)) == 3
    renew = "Write what is said today. This prints it: .venv/bin/python -m pytest -m evidence tests/test_quoted.py"
    told = stale(SUITE, printed(text), suite_output.splitlines(), renew=renew, on_any_machine=True)
    assert not told, "\n".join(told)
