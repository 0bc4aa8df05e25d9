"""How many samples show it? The numbers of a plan for two models on the same samples, for page, command and Python."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
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
    parts = (_table(plan, sizes, unit), _curve(plan))
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
    models = models_of(named_models(first, second, titles), PAIRED, positive=None)
    assert models is not None
    found = compare_paired(models, every_pair=False)
    return SizePlan(**{**pilot(found, found.against_reference[0]), **said}), found


def sample_sizes(plan: SizePlan) -> pd.DataFrame:
    """Tidy rows, a goal each: goal, by (what it is about), n_samples, n_units; empty where too many are needed."""
    rows = [(size.goal, _aim(plan, size), size.n, size.n_units) for size in plan.sizes()]
    table = pd.DataFrame(rows, columns=["goal", "by", "n_samples", "n_units"])
    return table.astype({"n_samples": "Int64", "n_units": "Int64"})


def _aim(plan: SizePlan, size: Size) -> float:
    return {"difference": plan.difference, "margin": plan.margin}.get(size.goal, plan.half_width)


def _goal(plan: SizePlan, size: Size) -> str:
    by = points(_aim(plan, size))
    return {
        "difference": f"Show a difference of {by}",
        "margin": f"Show that a model as good is no worse by {by}",
        "difference_within": f"Tell a difference within ± {by}",
        "accuracy_within": f"Tell an accuracy within ± {by}",
    }[size.goal]


def _needed(size: Size, unit: str) -> str:
    if size.n is None:
        return f"more than {plural(MOST_SAMPLES, 'sample')}"
    return plural(size.n, "sample") + ("" if size.n_units is None else f" from {plural(size.n_units, unit)}")


def _table(plan: SizePlan, sizes: Sequence[Size], unit: str) -> Table:
    by_unit = Column(plural_of(unit).capitalize(), lambda size: "" if size.n_units is None else count(size.n_units))
    columns = (
        Column("To", lambda size: _goal(plan, size)),
        Column("Samples", lambda size: count(size.n) if size.n else f"> {count(MOST_SAMPLES)}", "For both models"),
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
    of_units = ""
    if plan.per_unit > 1:
        alike = bare(plan.intraclass_correlation, 2)
        of_units = f", {plan.per_unit:.3g} samples per {unit} with an intraclass correlation of {alike}"
    by = "guessed" if known is None else f"by the pilot of {known.models.in_words}"
    more = f" More {plural_of(unit)} tell more than more samples of the same ones." if plan.per_unit > 1 else ""
    return Verdict(
        f"About {_needed(difference, unit)} show a difference of {points(plan.difference)} in 4 of 5 test sets.",
        f"{percent(plan.discordant)} of samples on which exactly one model is right, accuracy {percent(plan.accuracy)}"
        f"{of_units}: {by}.",
        f"Next: draw them at random from where the models will be used.{more}",
        (f"A model as good is shown to be no worse by {points(plan.margin)} with {_needed(margin, unit)}.",),
    )
