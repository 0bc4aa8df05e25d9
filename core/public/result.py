# pyright: strict, reportMissingTypeStubs=false, reportUnknownMemberType=false
"""What did a question come to? The verdict in sentences, its numbers with their intervals, figures and tables.

A result can be shown, compared with others, written as a report, and kept in a file.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from os import PathLike
from pathlib import Path
from textwrap import shorten
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from touchstone.core import version
from touchstone.core.data import DataError
from touchstone.core.data.limits import Limits, read_bytes
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.questions import QUESTIONS, how_to_read
from touchstone.core.report.html import to_cell, to_html
from touchstone.core.report.kept import read_answer, write_answer
from touchstone.core.report.parts import Answer, Figure, Quantity, Report

# What does a result rest on?


@dataclass(frozen=True)
class Basis:
    """What a result rests on, so that somebody else can meet it again.

    Parameters
    ----------
    question
        What was asked: a name as `check` takes them, "model_comparison", "matched_subsets",
        "sample_sizes" or "weak_slices".
    subject
        What it was asked of, in words: the name of the data, or those of the files.
    design
        How the samples came about: "paired" (several models on the same samples), "independent" (two test sets), or ""
        where one data set or nothing was given.
    fingerprints
        SHA-256, in hex, of what was given, by what it is ("data", "model", or the names of what was compared).
    settings
        Everything else that was chosen, seeds among it, as JSON has it.
    """

    question: str = ""
    subject: str = ""
    design: str = ""
    fingerprints: Mapping[str, str] = field(default_factory=dict[str, str])
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def title(self) -> str:
        """The question in words.

        >>> Basis("source_robustness").title
        'How far does accuracy fall on new sources?'
        """
        return _about(self.question)[0]

    @property
    def seed(self) -> int | list[int] | None:
        """The number, or the numbers, that all randomness follows from; None where nothing was drawn.

        >>> Basis(settings={"seed": 3}).seed
        3
        """
        return next((self.settings[name] for name in _SEEDS if name in self.settings), None)


_PAGE = {"covariate_shift": "test_quality", "sample_sizes": "model_comparison"}  # questions that share a page
_SEEDS = ("seed", "seeds")


def _about(question: str) -> tuple[str, str]:
    """A question in words, and how its answer is read."""
    stem = _PAGE.get(question, question)
    asked = QUESTIONS.get(stem)
    title = "Can this accuracy be trusted?" if asked is None else asked.title
    return title, how_to_read(stem)


# What did it come to?


@dataclass(frozen=True, eq=False)
class Result:
    """What a question came to: the `answer` that the app's page shows, and the `rows` of all trials beneath it.

    `basis` says what it rests on. Two results are equal where they say the same of the same.
    """

    answer: Answer
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    basis: Basis = field(default_factory=Basis)

    @property
    def verdict(self) -> Verdict:
        """`headline`, `advice` and further sentences; `text` is all of them."""
        assert self.answer.verdict is not None
        return self.answer.verdict

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the sentences rest on, that of the headline first; each has a `code` (docs/claims.md), a `decision`."""
        return self.answer.claims

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers that can be held against a bound, each with its 95 % interval."""
        return self.answer.numbers

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Each has a `key`, a `caption` that says how to read it, and `draw()`, which gives a plotly figure."""
        return self.answer.figures

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Aggregates as the page shows them, a frame for each title; `answer.files` makes the exact ones."""
        return self.answer.tables

    def figure(self, key: str, *, dark: bool = False) -> go.Figure:
        """The plotly figure of this key. Raises DataError, with the keys that there are, for any other.

        >>> from touchstone import check
        >>> check("data_sets", "wine").figure("map")
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: There is no figure 'map'. Choose from labels, histogram, boxes, ...
        """
        for each in self.figures:
            if each.key == key:
                return each.draw(dark=dark)
        raise DataError(f"There is no figure {key!r}. Choose from {', '.join(each.key for each in self.figures)}.")

    def table(self) -> pd.DataFrame:
        """Tidy rows of `quantities`: number, value, lower, upper, n; ends are of 95 % intervals."""
        return pd.DataFrame(
            [(each.title, each.value, each.interval.lower, each.interval.upper, each.n) for each in self.quantities],
            columns=["number", "value", "lower", "upper", "n"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Basis, verdict, numbers and claims as plain dicts, lists and numbers; None where a number is unknown.

        `RESULT_SCHEMA` is the JSON schema of it. `version` is Touchstone's; `seed`, `settings`, `fingerprints` and
        `design` are what it rests on. Numbers have a name, a value, the ends of a 95 % interval, n, what it is over,
        and a baseline where one is known; claims their code (docs/claims.md), decision, estimate, interval and p-value.
        """
        verdict, basis = self.verdict, self.basis
        numbers = [
            {
                "number": each.title,
                "value": each.value,
                "lower": each.interval.lower,
                "upper": each.interval.upper,
                "n": each.n,
                "over": each.over,
                "baseline": each.baseline,
            }
            for each in self.quantities
        ]
        claims = [
            {
                "code": each.code,
                "decision": each.decision,
                "estimate": each.estimate,
                "lower": each.interval.lower,
                "upper": each.interval.upper,
                "p_value": each.p_value,
            }
            for each in self.claims
        ]
        sentences = {name: str(getattr(verdict, name)) for name in ("headline", "used", "advice")}
        content = {
            "format": FORMAT,
            "version": version(),
            "question": basis.question,
            "subject": basis.subject,
            "design": basis.design,
            "fingerprints": basis.fingerprints,
            "seed": basis.seed,
            "settings": basis.settings,
            "verdict": {**sentences, "findings": list(map(str, verdict.findings))},
            "numbers": numbers,
            "claims": claims,
        }
        return {name: _plain(value) for name, value in content.items()}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def report(self, file: str | PathLike[str]) -> Path:
        """Write one HTML page that needs no network, as the app's *Report*; returns where it is.

        Raises DataError where the file cannot be written.
        """
        title, text = _about(self.basis.question)
        settings = "; ".join(f"{name}: {json.dumps(value)}" for name, value in self.basis.settings.items())
        rests_on = {**self.basis.fingerprints, "Settings": settings, "Version": f"Touchstone {version()}"}
        provenance = tuple((name, value) for name, value in rests_on.items() if value)
        page = Report(title, self.basis.subject, self.answer, text, provenance, "")
        return _written(Path(file), to_html(page))

    def save(self, file: str | PathLike[str]) -> Path:
        """Keep all of it in one file that `load` reads: JSON and tables in a zip archive, nothing that is run.

        Raises DataError where the file cannot be written.
        """
        return _written(Path(file), write_answer(self.answer, self.to_dict(), self.rows))

    def __eq__(self, other: object) -> bool:
        """Whether it says the same of the same; which version computed it does not count."""
        return self._compared == other._compared if isinstance(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._compared)

    @property
    def _compared(self) -> str:
        return json.dumps({**self.to_dict(), "version": ""}, sort_keys=True)

    def __repr__(self) -> str:
        """The verdict and the first numbers, in at most twelve lines."""
        cut = partial(shorten, width=_WIDTH, placeholder=" …")
        lines = [cut(f"<Result: {self.verdict.headline}>"), *filter(None, [cut(self.verdict.used)])]
        lines += [
            f"  {each.title} = {each.value:.4g} [{each.interval.lower:.4g}, {each.interval.upper:.4g}], n = {each.n}"
            for each in self.quantities[:_MOST_SHOWN]
        ]
        if (more := len(self.quantities) - _MOST_SHOWN) > 0:
            lines.append(f"  … and {more} more: table()")
        keys = ", ".join(figure.key for figure in self.figures)
        return "\n".join([*lines, *(["  " + cut(f"figures: {keys}")] if keys else [])])

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, its first four numbers and the main figure, on light or dark ground."""
        return to_cell(self.answer)

    def __reduce__(self) -> tuple[Any, ...]:
        """It pickles with its figures drawn and its tables made: what makes them stays behind."""
        return Result, (self.answer.made(), self.rows, self.basis)


FORMAT = 1
"""Raised when what `to_dict` gives comes to mean something else."""
_WIDTH, _MOST_SHOWN = 110, 4  # letters of a line, and numbers, that a repr shows
RESULT_SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("result.schema.json").read_text("utf-8"))
"""The JSON schema (draft 2020-12) of what `Result.to_dict` gives."""


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: None for a number that is none, or has no end."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, cast(list[Any], value)))
    plain: Any = cast(Any, value).item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def _written(file: Path, content: bytes) -> Path:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise DataError(f"{file}: cannot be written ({error.strerror}). Name a file in a folder that exists.") from None
    return file


# Kept results, and several of them side by side.


def load(file: str | PathLike[str]) -> Result:
    """The result that `Result.save` kept, equal to what it was; nothing in the file is run.

    Raises DataError for any other file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from touchstone import plan
    >>> result = plan(difference=0.02, discordant=0.05)
    >>> with TemporaryDirectory() as folder:
    ...     kept = load(result.save(Path(folder) / "plan.touchstone"))
    >>> kept == result, kept.verdict.headline
    (True, 'About 979 samples show a difference of 2.0 points in 4 of 5 test sets.')
    """
    answer, summary, rows = read_answer(read_bytes(Path(file), Limits()), Path(file).name)
    known = {name: summary.get(name) for name in ("question", "subject", "design", "fingerprints", "settings")}
    return Result(answer, rows, Basis(**{name: value for name, value in known.items() if value is not None}))


def collect(results: Iterable[Result] | Mapping[str, Result]) -> pd.DataFrame:
    """The numbers of several results in one tidy frame: result, question, subject, then as `Result.table`.

    What a result is called is its key in a mapping, or else its position.

    Examples
    --------
    >>> from touchstone import compare, predictions
    >>> truth = np.tile(["cat", "dog"], 300)
    >>> old, new, small = (predictions(truth, np.where(np.arange(600) < n, "cat", truth)) for n in (60, 20, 90))
    >>> frame = collect({"new": compare(old, new), "small": compare(old, small)})
    >>> frame.drop_duplicates("result")[["result", "number", "value"]].round(3)
       result                                            number  value
    0     new  model_comparison.difference[the new model, acc...  0.033
    40  small  model_comparison.difference[the new model, acc... -0.025
    """
    named = cast(Mapping[str, Result], results) if isinstance(results, Mapping) else dict(enumerate(results))
    rows: list[dict[str, Any]] = [
        {"result": name, "question": each.basis.question, "subject": each.basis.subject, **row}
        for name, each in named.items()
        for row in cast(list[dict[str, Any]], each.table().to_dict("records"))
    ]
    return pd.DataFrame(rows, columns=["result", "question", "subject", *Result(Answer(None)).table().columns])
