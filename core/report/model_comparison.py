"""Is the new model better? Verdict, differences, ranks, and which samples changed, for page, report and command."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan

import numpy as np
import pandas as pd
from jaxtyping import Bool

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.inputs import texts_of
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import listed, shortened
from touchstone.core.evaluate.metric_estimates import MOST_AREAS, InWords, MetricEstimate
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, metric_named
from touchstone.core.evaluate.model_comparison import (
    ModelComparison,
    by_group,
    class_sentences,
    compare_paired,
    comparison_verdict,
    difference,
    models_of,
    named_models,
    value_of,
)
from touchstone.core.evaluate.wording import bare_p, count, percent, points
from touchstone.core.figures import model_comparison as figures
from touchstone.core.report.parts import Answer, Column, Figure, KeyNumber, Quantity, Section, Table, brackets

MOST_SAMPLES = 200
"""So many changed samples are in a report; the file has all."""
MOST_LETTERS = 300
"""So much of a text is in a report and on the screen."""
_DECISIONS = {"above": "better", "below": "worse", "small": "as good", "undecided": "undecided"}
_FOUND = {"above": "more often", "below": "less often", "small": "as often", "undecided": "undecided"}


def answer(found: ModelComparison) -> Answer:
    """Everything about models on the same samples."""
    several = len(found.against_reference) > 1
    sections = [
        Section("", (ladder_figure(found) if several else forest_figure(found),)),
        *(
            [Section("Pair by pair", (square_figure(found), forest_figure(found), pairs_table(found)), "pairs")]
            * several
        ),
        Section("Class by class", (*class_sentences(found), classes_table(found)), "classes"),
        Section("By confidence and group", partial(_by_group, found), "groups"),
        *([] if several else [Section("By metric", partial(_metrics, found), "metrics")]),
        Section("Samples that changed", partial(_samples, found), "samples"),
        Section("In numbers", (models_table(found), pairs_table(found)), "table"),
    ]
    files = {"Differences": partial(differences, found), "Changed samples": partial(changed_samples, found)}
    return Answer(comparison_verdict(found), key_numbers(found), tuple(sections), tuple(numbers(found)), files)


def compared_models(
    sides: Sequence[Mapping[str, Predictions]],
    titles: Sequence[str],
    design: str | None = None,
    margin: float | None = None,
    *,
    metric: str = ACCURACY,
    positive: str | None = None,
    **_: object,
) -> ModelComparison | None:
    """The models of files, called by their `titles`, compared; None where two are of different samples.

    Raises DataError where the files are not as `design` says, where more than two have no samples in common, and where
    there is a margin and nothing that it is about.
    """
    models = models_of(named_models(sides, titles), design, positive=positive)
    if models is not None:
        return compare_paired(models, metric=metric_named(metric).name, margin=margin)
    if len(sides) > 2:
        raise DataError(
            f"{listed(titles)} have no samples in common, as far as ids, inputs and true classes tell. Two test sets "
            "are compared by themselves."
        )
    if margin is not None:
        raise DataError("A margin is about models on the same samples; these files are of different ones.")
    return None


def numbers(found: ModelComparison) -> Iterator[Quantity]:
    """What can be bounded: the metric of every model, every difference from the reference, and answers that changed."""
    over = found.models.design.others
    for each in found.against_reference:
        yield Quantity(
            "model_comparison.difference", (each.model, found.metric), each.value, each.interval, each.n, over
        )
    for name, made in every_metric(found):
        reference = ("reference",) * (name == found.models.names[0])
        of = (name, made.metric, *reference)
        yield Quantity("model_comparison.metric", of, made.value, made.interval, made.n, over)
    changed = (found.models.names[1],)
    yield Quantity("model_comparison.changed", changed, found.changed, found.of_changed, found.models.n, over)


def every_metric(found: ModelComparison) -> Iterator[tuple[str, MetricEstimate]]:
    """Of two models every metric that they give, of more the one that they are compared by; by the model's name."""
    models, few = found.models, len(found.models.names) == 2 and len(found.models.class_names) <= MOST_AREAS
    for metric in METRICS.values() if few else [METRICS[found.metric]]:
        of_none = metric.of_class and models.positive is None
        if not of_none and all(metric.applies(scored) for scored in models.scored.values()):
            for name in models.names:
                made = value_of(models, metric, name)
                if not isnan(made.value):
                    yield name, made


def key_numbers(found: ModelComparison) -> tuple[KeyNumber, ...]:
    """The difference, both metrics and how many answers changed; of many models those of the best and the reference."""
    words, reference = found.words, found.models.names[0]
    by_name = {each.model: each for each in found.ranked}
    first = max(found.against_reference, key=lambda each: each.value)
    shown = [by_name[first.model], by_name[reference]]
    return (
        KeyNumber(
            f"{first.model} less {reference}",
            words.difference(first.value),
            brackets(words.difference, first.value, first.interval) or first.why_not,
            "How much better the model is. The 95 % CI is paired: what both models share cancels.",
        ),
        *(
            KeyNumber(each.model, words.value(each.value), brackets(words.value, each.value, each.interval), words.name)
            for each in shown
        ),
        KeyNumber(
            "Answers that changed",
            percent(found.changed),
            brackets(percent, found.changed, found.of_changed),
            f"Of {found.models.names[1]} against {reference}, right or wrong.",
        ),
    )


def forest_figure(found: ModelComparison) -> Figure:
    """Every model less the reference."""
    reference = found.models.names[0]
    return Figure(
        "forest",
        partial(figures.forest, found),
        f"How much better models are than {reference}, with paired 95 % CIs for new data. Right of 0 is better.",
        len(found.against_reference),
    )


def ladder_figure(found: ModelComparison) -> Figure:
    """Every model by its metric."""
    return Figure(
        "ladder",
        partial(figures.ladder, found),
        "Each model's own 95 % CI for new data. Differences have shorter ones, since samples are the same. Filled "
        "marks may be the best: no other model is significantly better.",
        len(found.ranked),
    )


def square_figure(found: ModelComparison) -> Figure:
    """Every model against every other one."""
    return Figure(
        "square",
        partial(figures.square, found),
        "Who beats whom, best models first: by how much the model of the row is better than that of the column. Empty: "
        "no significant difference.",
        len(found.ranked),
    )


def models_table(found: ModelComparison) -> Table:
    """A line for each model, best first."""
    words = found.words
    columns = (
        Column("Model", "model"),
        Column(words.title, lambda each: words.value(each.value, each.interval), "95 % CI for new data"),
        Column("Rank", "ranks", "Ranks that are possible: models that are significantly better or worse are counted"),
    )
    return Table.of("Models", found.ranked, columns)


def pairs_table(found: ModelComparison) -> Table:
    """A line for each pair of models, those with the reference first."""
    words = found.words
    columns = (
        Column("Model", "model"),
        Column("Against", "other"),
        Column("Better by", lambda each: words.difference(each.value, each.interval), "Paired 95 % CI for new data"),
        Column("Gained", lambda each: count(each.n_gained), "Samples that only the first model gets right"),
        Column("Lost", lambda each: count(each.n_lost), "Samples that only the second model gets right"),
        Column("p (Holm)", lambda each: "" if isnan(each.claim.p_value) else bare_p(each.claim.p_value)),
        Column("Model is", lambda each: each.why_not or _DECISIONS[each.claim.decision]),
    )
    return Table.of("Differences", found.differences, columns, "P-values are corrected for all pairs of the table.")


def classes_table(found: ModelComparison) -> Table:
    """A line for each class: by how much more of its samples are found."""
    columns = (
        Column("Class", lambda each: each[0]),
        Column("n", lambda each: count(each[1].n)),
        Column(
            "Found more often by",
            lambda each: points(each[1].value, each[1].interval),
            "Difference of recalls; paired 95 % CI",
        ),
        Column("Gained", lambda each: count(each[1].n_gained)),
        Column("Lost", lambda each: count(each[1].n_lost)),
        Column("Found", lambda each: each[1].why_not or _FOUND[each[1].claim.decision]),
    )
    reference, model, *_ = found.models.names
    caption = f"{model} against {reference}. Claims are corrected for all classes (Holm){_chosen(found)}."
    return Table.of("Class by class", found.classes.items(), columns, caption)


def _chosen(found: ModelComparison) -> str:
    """That the model was chosen from several, where it was."""
    n = len(found.models.names) - 1
    return f", and for the choice of the best of {count(n)} models" if n > 1 else ""


def _by_group(found: ModelComparison) -> tuple[Table | str]:
    """A line for each band of confidences and each value of a column."""
    reference, model, *_ = found.models.names
    columns = (
        Column("By", lambda line: line[0][0]),
        Column("Of", lambda line: line[0][1]),
        Column("n", lambda line: count(line[1].n)),
        Column("Accuracy better by", lambda line: points(line[1].value, line[1].interval), "Paired 95 % CI"),
        Column("Gained", lambda line: count(line[1].n_gained)),
        Column("Lost", lambda line: count(line[1].n_lost)),
        Column("Model is", lambda line: line[1].why_not or _DECISIONS[line[1].claim.decision]),
    )
    caption = (
        f"{model} against {reference}, by the mean confidence of both, and by columns. Corrected for all lines "
        f"(Holm){_chosen(found)}."
    )
    parts = by_group(found)
    if not parts:
        return ("Neither confidence nor columns of both files divide these samples.",)
    return (Table.of("By confidence and group", parts.items(), columns, caption),)


def _metrics(found: ModelComparison) -> tuple[Table]:
    """A line for each metric that both models give: of probabilities, too, such as the Brier score and log loss."""
    reference, model, *_ = found.models.names
    known: dict[str, dict[str, MetricEstimate]] = {}
    for name, made in every_metric(found):
        known.setdefault(made.metric, {})[name] = made
    lines = [
        (
            InWords(METRICS[metric], found.models.positive),
            made,
            difference(found.models, METRICS[metric], model, reference, known=made),
        )
        for metric, made in known.items()
        if {reference, model} <= made.keys()
    ]

    def of(name: str) -> Column:
        return Column(name, lambda line: line[0].value(line[1][name].value, line[1][name].interval))

    columns = (
        Column("Metric", lambda line: line[0].name),
        of(reference),
        of(model),
        Column("Better by", lambda line: line[0].difference(line[2].value, line[2].interval), "Paired 95 % CI"),
    )
    why = dict.fromkeys(made.why_not for line in lines for made in line[1].values() if made.why_not)
    without = f" Without a CI: {'; '.join(why)}." if why else ""
    caption = (
        f"{model} against {reference}, n = {found.models.in_words}. Losses are better where lower. These intervals are "
        f"not corrected for their number: a claim is made by the chosen metric alone.{without}"
    )
    return (Table.of("By metric", lines, columns, caption),)


def _samples(found: ModelComparison) -> tuple[Table]:
    return (samples_table(found, changed_samples(found)),)


def samples_table(found: ModelComparison, changed: pd.DataFrame, of: str = "") -> Table:
    """The first of these `changed_samples`, or of those `of` a part of them; of texts the beginnings."""
    shown = changed.head(MOST_SAMPLES)
    shown = shown.map(lambda cell: shortened(cell, MOST_LETTERS) if isinstance(cell, str) else cell)
    rest = f" The first {count(MOST_SAMPLES)} are shown." if len(changed) > MOST_SAMPLES else ""
    caption = f"n = {count(len(changed))} samples{of} that one of both models gets right.{rest}"
    return Table("Samples that changed", shown, (), caption)


def changed_samples(found: ModelComparison, rows: Bool[np.ndarray, " n_samples"] | None = None) -> pd.DataFrame:
    """Tidy rows, a sample each that one model gets right and the reference wrong, or the other way round.

    Of all samples, or of some `rows` of them. Texts of the reference's file stand at the end.
    """
    models, (reference, model, *_) = found.models, found.models.names
    own, its = (models.predictions[name] for name in (model, reference))
    changed = own.correct != its.correct
    at = np.flatnonzero(changed if rows is None else changed & rows)
    names = [np.array(each.class_names, dtype=object) for each in (own, its)]
    table = pd.DataFrame(
        {
            "id": models.ids[at],
            "true class": names[1][its.y_true[at]],
            reference: names[1][its.y_pred[at]],
            model: names[0][own.y_pred[at]],
            "change": np.where(own.correct[at], "gained", "lost"),
        }
    )
    if own.confidence is not None:
        table["confidence"] = own.confidence[at]
    for column, texts in texts_of(its.inputs).items():
        if column not in table:
            table[column] = texts[at]
    return table.sort_values("change", kind="stable", ignore_index=True)


def differences(found: ModelComparison) -> pd.DataFrame:
    """Tidy rows, a pair each: metric, model, other, difference, lower, upper, p_holm, decision, n_gained, n_lost, n."""
    return pd.DataFrame(
        [
            {
                "metric": found.metric,
                "model": each.model,
                "other": each.other,
                "difference": each.value,
                "lower": each.interval.lower,
                "upper": each.interval.upper,
                "p_holm": each.claim.p_value,
                "decision": each.claim.decision,
                "n_gained": each.n_gained,
                "n_lost": each.n_lost,
                "n": each.n,
            }
            for each in found.differences
        ]
    )
