"""How many samples show it? The numbers of a plan for two models on the same samples, for page, command and Python."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from touchstone.core.data import read_predictions
from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import models_in
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.model_comparison import (
    PAIRED,
    ModelComparison,
    compare_paired,
    models_of,
    named_models,
    pilot,
)
from touchstone.core.evaluate.sample_sizes import MOST_SAMPLES, Size, SizePlan, shown_by
from touchstone.core.evaluate.wording import Verdict, bare, count, listed, percent, plural, points
from touchstone.core.figures import model_comparison as figures
from touchstone.core.report.parts import Answer, Column, Figure, Section, Table

UNIT = "unit"


def answer(plan: SizePlan, known: ModelComparison | None = None) -> Answer:
    """What a plan comes to; `known` are the models of the pilot whose guesses it has."""
    unit = UNIT if known is None else known.models.design.word
    sizes, file = plan.sizes(), partial(sample_sizes, plan)
    parts = (_table(plan, sizes, unit), _curve(plan), *([] if known is None else _by_class(plan, known)))
    return Answer(_verdict(plan, sizes, unit, known), (), (Section("", parts),), (), {"Sample sizes": file})


def planned(
    files: Sequence[str | PathLike[str]], said: Mapping[str, Any] = MappingProxyType({})
) -> tuple[SizePlan, ModelComparison | None]:
    """The plan that was `said`, by field, with a pilot of two files (or none) for the guesses that were not.

    Raises DataError where the files are not two, or not of the same samples.
    """
    unknown = said.keys() - {one.name for one in fields(SizePlan)}
    if unknown:
        names = ", ".join(one.name for one in fields(SizePlan))
        raise DataError(f"A plan of sample sizes has no {listed(sorted(unknown))}. Say any of {names}.")
    if not files:
        return SizePlan(**said), None
    if len(files) != 2:
        raise DataError("A pilot is two files of predictions on the same samples. Name both, or none.")
    first, second = (models_in(read_predictions(Path(file))) for file in files)
    titles = (Path(files[0]).name, Path(files[1]).name)
    models = models_of(named_models((first, second), titles), PAIRED, positive=None)
    assert models is not None
    found = compare_paired(models, every_pair=False)
    return SizePlan(**{**pilot(found, found.against_reference[0]), **said}), found


def sample_sizes(plan: SizePlan) -> pd.DataFrame:
    """Tidy rows, a goal each: goal, by (how much), n_samples, n_units, n_of_class; empty where too many are needed."""
    rows = [(size.goal, _aim(plan, size), size.n, size.n_units, size.n_of_class) for size in plan.sizes()]
    table = pd.DataFrame(rows, columns=["goal", "by", "n_samples", "n_units", "n_of_class"])
    return table.astype({"n_samples": "Int64", "n_units": "Int64", "n_of_class": "Int64"})


def _aim(plan: SizePlan, size: Size) -> float:
    return {"difference": plan.difference, "margin": plan.margin}.get(size.goal, plan.half_width)


def _goal(plan: SizePlan, size: Size) -> str:
    by, metric = points(_aim(plan, size)), _metric(plan)
    return {
        "difference": f"Show a difference of {by}",
        "margin": f"Show that a model as good is no worse by {by}",
        "difference_within": f"Tell a difference within ± {by}",
        "accuracy_within": f"Tell {'a recall' if metric == 'recall' else 'an accuracy'} within ± {by}",
    }[size.goal]


def _metric(plan: SizePlan) -> str:
    return "accuracy" if plan.class_share == 1 else "recall"


def _needed(size: Size, unit: str) -> str:
    if size.n is None:
        return f"more than {plural(MOST_SAMPLES, 'sample')}"
    units = "" if size.n_units is None else f" from {plural(size.n_units, unit)}"
    of_class = "" if size.n_of_class is None else f" ({count(size.n_of_class)} of the class{units})"
    return plural(size.n, "sample") + (of_class or units)


def _by_class(plan: SizePlan, known: ModelComparison) -> Iterator[Table]:
    """How many samples show the plan's difference in the recall of each class, as the pilot has them."""
    first = known.against_reference[0]
    lines = []
    for label, each in known.classes.items():
        its = replace(plan, **pilot(known, first, label))
        lines.append((label, each, its, None if plan.difference > its.discordant else its.sizes()[0]))
    columns = (
        Column("Class", lambda line: line[0]),
        Column("Share", lambda line: percent(line[2].class_share)),
        Column("Discordant", lambda line: percent(line[2].discordant), "Of its samples: exactly one model is right"),
        Column("Recall", lambda line: percent(line[2].accuracy), f"Of {first.model}"),
        Column("Samples", lambda line: _of_class(line[3]), "Of all classes, for both models"),
        Column("Of the class", lambda line: _of_class(line[3], "n_of_class")),
    )
    caption = f"How many samples show a difference of recall by {points(plan.difference)}, class by class."
    if any(size is None for *_, size in lines):
        caption += " A dash: models differ on fewer of its samples than that."
    yield Table.of("By class", lines, columns, caption)


def _of_class(size: Size | None, what: str = "n") -> str:
    if size is None:
        return "\u2013"
    n = getattr(size, what)
    return f"> {count(MOST_SAMPLES)}" if size.n is None else count(n)


def _table(plan: SizePlan, sizes: Sequence[Size], unit: str) -> Table:
    by_unit = Column(plural_of(unit).capitalize(), lambda size: "" if size.n_units is None else count(size.n_units))
    columns = (
        Column("To", lambda size: _goal(plan, size)),
        Column("Samples", _of_class, "For both models"),
        *([Column("Of the class", lambda size: _of_class(size, "n_of_class"))] if plan.class_share < 1 else []),
        *([by_unit] if plan.per_unit > 1 else []),
    )
    return Table.of(
        "Sample sizes", sizes, columns, "Intervals are of 95 %; what is there is shown in 4 of 5 test sets."
    )


def _curve(plan: SizePlan) -> Figure:
    curve = [*shown_by(plan)]
    return Figure(
        "sizes",
        partial(figures.sizes, curve, plan.difference),
        "The smallest difference that is shown in 4 of 5 test sets, by how many samples both models predict. Dotted: "
        "the one asked for.",
    )


def _verdict(plan: SizePlan, sizes: Sequence[Size], unit: str, known: ModelComparison | None) -> Verdict:
    difference, margin, *_ = sizes
    of_recall = "" if plan.class_share == 1 else "recall of "
    of_class = of_recall and f" of the class ({percent(plan.class_share)} of all)"
    of_units = ""
    if plan.per_unit > 1:
        alike = bare(plan.intraclass_correlation, 2)
        of_units = f", {plan.per_unit:.3g} samples per {unit} with an intraclass correlation of {alike}"
    by = "guessed" if known is None else f"by the pilot of {known.models.in_words}"
    more = f" More {plural_of(unit)} tell more than more samples of the same ones." if plan.per_unit > 1 else ""
    return Verdict(
        f"About {_needed(difference, unit)} show a difference of {of_recall}{points(plan.difference)} in 4 of 5 test "
        "sets.",
        f"{percent(plan.discordant)} of samples{of_class} on which exactly one model is right, "
        f"{_metric(plan)} {percent(plan.accuracy)}"
        f"{of_units}: {by}.",
        f"Next: draw them at random from where the models will be used.{more}",
        (f"A model as good is shown to be no worse by {points(plan.margin)} with {_needed(margin, unit)}.",),
    )
