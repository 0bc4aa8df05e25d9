"""Does accuracy really drop on the new test set? The gap and its parts, of one model and of all; its calibration."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.calibration import (
    FEWEST_OF_CLASS,
    Calibration,
    ClassCalibration,
    calibration_table,
    class_sentence,
)
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.matched_subsets import (
    MatchedSubsets,
    ModelComparisons,
    SetComparison,
    SetEstimate,
    matched_verdict,
    models_verdict,
)
from touchstone.core.evaluate.matched_subsets.findings import confused
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, Reliability, TwoSets
from touchstone.core.evaluate.matched_subsets.results import KINDS
from touchstone.core.evaluate.matched_subsets.verdict import words_of_units
from touchstone.core.evaluate.metric_estimates import MOST_AREAS, Confusion, InWords, MetricEstimate, MetricsOnSets
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.thresholds import Decisions, Outcome
from touchstone.core.evaluate.wording import Verdict, bare_p, count, percent, plural, points, quoted, resting
from touchstone.core.figures import matched_subsets as figures
from touchstone.core.figures.confusion_matrix import MOST_CLASSES, confusion_chart
from touchstone.core.parameters import label_of
from touchstone.core.report.confusion_matrix import MOST_CONFUSIONS, share_of
from touchstone.core.report.parts import (
    Answer,
    Beside,
    Column,
    Figure,
    KeyNumber,
    Note,
    Part,
    Quantity,
    Section,
    Table,
    brackets,
)

Curve = tuple[SetComparison, ...]
Classes = tuple[ClassCalibration, ...]
CONFUSIONS = "Largest confusions"
CALIBRATED = "Is the model calibrated?"
NO_CLASSES = "No calibration by class: the file has one probability per row, not one for every class."


def answer(
    comparisons: ModelComparisons,
    *,
    model: str | None = None,
    curve: Callable[[str], Curve | None] | None = None,
    reliability: Callable[[MatchedSubsets], Reliability | None] | None = None,
    classes: Callable[[MatchedSubsets, str, str], Classes | None] | None = None,
    subset: str = "",
) -> Answer:
    """Everything about one model, by default the only one; of several without a name, what all of them come to.

    What takes time is asked for when its section is shown, as `MatchingPlan` computes it: the `curve` of a model over
    epsilon, the `reliability` of its matched subsets, and the calibration of the `classes` in one of them, `subset`.
    """
    rows, several = comparisons.rows, len(comparisons.rows) != 1
    files = {"Comparison": comparisons.table}
    if several and model is None:
        every = Section("", every_model(rows) if rows else ())
        return Answer(verdict_of_all(comparisons), (), (every,), tuple(numbers(rows)), files)
    row = rows[0] if model is None else next(each for each in rows if each.model == model)
    shown = (gap_figure(row),) if row.can_match else every_model(rows) if several else ()
    sections = [Section("", shown), *[Section("", (about,)) for about in [about_all(comparisons)] if about]]
    if row.matched is not None:
        if several:
            sections.append(Section("Every model", partial(every_model, rows), "models"))
        sections.append(Section("By epsilon and by predicted label", partial(by_epsilon, row, curve), "matched"))
        if reliability is not None and row.can_calibrate:
            made = partial(calibrated, row.model, row.matched, reliability, classes, subset)
            sections.append(Section(CALIBRATED, made, "calibration"))
        files["Labels"] = row.labels_table
    if row.metrics is not None:
        sections.append(Section("By metric and class", partial(by_metric, row.metrics), "metrics"))
    if row.decisions is not None:
        sections.append(Section("At other thresholds", partial(by_threshold, row.decisions), "thresholds"))
    sections.append(Section("In numbers", partial(in_numbers, row), "table"))
    return Answer(matched_verdict(row), key_numbers(row), tuple(sections), tuple(numbers([row])), files)


def about_all(comparisons: ModelComparisons) -> str:
    """What is said of all models before that of one; nothing where there is just one."""
    return models_verdict(comparisons) if len(comparisons.rows) > 1 or comparisons.in_one_set_only else ""


def verdict_of_all(comparisons: ModelComparisons) -> Verdict:
    """What the comparison of many models comes to, with the largest fall and all claims."""
    rows = sorted(comparisons.rows, key=lambda row: -row.gap.value)
    if not rows:
        return Verdict(models_verdict(comparisons), "", "", ())
    n = f"n = {count(rows[0].n_reference)} reference and {count(rows[0].n_target)} new samples"
    words = rows[0].words
    used = (
        f"Largest {words.fall}: {rows[0].model}, {words.difference(rows[0].gap.value, rows[0].gap.interval)}, {n}. "
        f"It is the largest of {count(len(rows))} models, and its interval is not corrected for that choice."
    )
    claims = [made for row in rows for made in matched_verdict(row).claims]
    claims.sort(key=lambda made: made.kind != KINDS["falls"])
    return Verdict(models_verdict(comparisons), resting(used, KINDS["falls"]), "", (), tuple(claims))


def numbers(rows: Sequence[SetComparison]) -> Iterator[Quantity]:
    """What can be bounded: of every model the gap and its parts, accuracies and overconfidence."""
    for row in rows:
        alone = row.units is None or row.units.n == (row.n_reference, row.n_target)
        of, over = row.by_metric, "samples" if alone else words_of_units(row)
        for name in ("gap", "matched_gap", "mix", "unmatched"):
            part = getattr(row, name)
            yield Quantity(f"matched_subsets.{name}", of, part.value, part.interval, row.n_target, over)
        reached = [(side, side, getattr(row, f"n_{side}")) for side in ("reference", "target")]
        if row.enough:
            reached.append(("matched", "matched target", round(row.subset("matched target").n)))
        for name, subset, n in reached:
            made = row.subset(subset).reached
            yield Quantity(f"matched_subsets.{name}", of, made.value, made.interval, n, over)
        for on_sets in () if row.metrics is None else row.metrics.rows:
            for side in ("reference", "target"):
                made = getattr(on_sets, side)
                what, baseline = (row.model, made.metric, side), None if isnan(made.baseline) else made.baseline
                yield Quantity("matched_subsets.metric", what, made.value, made.interval, made.n, over, baseline)
        for each in row.calibrations:
            n, name = getattr(row, f"n_{each.set}"), f"matched_subsets.{each.set}_overconfidence"
            yield Quantity(name, of, each.claim.estimate, each.claim.interval, n, over)


def key_numbers(row: SetComparison) -> tuple[KeyNumber, ...]:
    """The gap and its three parts, which add up to it; without confidences both accuracies."""
    called, words = {"target": "new"}, row.words
    against = " and ".join(
        f"{words.value(baseline.reached)} ({called.get(baseline.set, baseline.set)})" for baseline in row.baselines
    )
    of_what = "majority class" if row.metric == ACCURACY else "baseline"
    ends = ("the reference set", "the new set")
    first, second = ends if words.metric.larger_is_better else reversed(ends)
    fall = KeyNumber(
        f"{words.title} {words.falls} by",
        *_split(words.difference, row.gap),
        f"{words.title} on {first} minus {words.name} on {second}; negative: it {words.rises}.",
        baseline=f"{of_what} {against}" if against else "",
    )
    if not row.can_match:
        return (fall, _reached(row, "reference", "reference"), _reached(row, "target", "new"))
    alike_in = plural_of(row.alike_in)
    return (
        fall,
        KeyNumber(
            f"At equal {row.alike_in}",
            *_split(words.difference, row.matched_gap),
            f"The matched gap: the same difference on pairs of samples with equal {row.alike_in}. "
            f"95 % CI, by: {row.matched_gap.by}.",
        ),
        KeyNumber(
            f"Mix of {alike_in}",
            *_split(words.difference, row.mix),
            f"The loss of the reference set if it had the {alike_in} of the new set. Unlabelled data show this part.",
        ),
        KeyNumber(
            "Unmatched samples",
            *_split(words.difference, row.unmatched),
            f"The loss of unmatched samples beyond their {row.alike_in} and the matched gap. They are "
            f"{percent(row.unmatched_target.value)} of the new set.",
        ),
    )


def _reached(row: SetComparison, subset: str, name: str) -> KeyNumber:
    known, words = [each for each in row.baselines if each.set == subset], row.words
    of_what = "majority class" if row.metric == ACCURACY else "baseline"
    baseline = f"{of_what} {words.value(known[0].reached)}" if known else ""
    return KeyNumber(f"{words.title}, {name} set", *_split(words.value, row.subset(subset).reached), baseline=baseline)


def _split(write: Callable[..., str], estimate: SetEstimate) -> tuple[str, str]:
    return write(estimate.value), brackets(write, estimate.value, estimate.interval)


def gap_figure(row: SetComparison) -> Figure:
    """The gap and its parts."""
    alike_in = plural_of(row.alike_in)
    return Figure(
        "gap",
        partial(figures.gap_chart, row),
        f"Right of zero, {row.words.name} {row.words.falls}; the parts add up to the gap. Mix of {alike_in}: the loss "
        f"if only {alike_in} had changed. Bars are 95 % CIs.",
    )


def every_model(rows: Sequence[SetComparison]) -> tuple[Part, ...]:
    """Every model side by side (figures 3, 4, 6 and 7, and 1), and in numbers."""
    sure = [row for row in rows if row.can_match]
    words = rows[0].words
    of_what = "majority-class baselines" if words.metric.name == ACCURACY else "baselines"
    known = f"Grey: {of_what}. " if any(row.baselines for row in rows) else ""
    matched_ones = "Solid: all samples; dotted: matched ones. " if sure else ""
    unmatched = ", and the unmatched share of the new set" if sure else ""
    beside = Beside(
        (
            Figure("accuracies", partial(figures.accuracy_lines, rows), f"{matched_ones}{known}Bars are 95 % CIs."),
            Figure("gaps", partial(figures.gap_lines, rows), f"How far {words.name} {words.falls}{unmatched}."),
        )
    )
    rest = f" {plural(len(rows) - len(sure), 'model')} without confidences not shown." * (len(sure) < len(rows))
    caption = f"A point below the line is an overconfident model, on that set.{rest}"
    scatter = (Figure("confidence", partial(figures.confidence_scatter, sure), caption),)
    scatter = scatter if sure and words.metric.name == ACCURACY else ()
    return (beside, *scatter, models_table(rows))


def by_epsilon(row: SetComparison, curve: Callable[[str], Curve | None] | None) -> tuple[Part, ...]:
    """The gap at equal confidence, by epsilon and by predicted label."""
    parts: list[Part] = []
    if curve is not None and (rows := curve(row.model)) is not None:
        caption = "Effect of epsilon: closer matches leave more samples unmatched."
        parts.append(Figure("curve", partial(figures.epsilon_chart, rows), caption))
    if any(label.enough for label in row.labels):
        caption = "Filled marks differ significantly from zero (corrected); the band is all labels."
        parts.append(Figure("labels", partial(figures.label_chart, row), caption))
    else:
        parts.append(Note("No predicted label has enough pairs for a claim of its own."))
    return (Beside(tuple(parts)),)


def by_metric(found: MetricsOnSets) -> tuple[Part, ...]:
    """Every metric on both sets, and the confusion matrices; of many classes the largest confusions."""
    of_cells = (confused(found), confusions_table(found)) if found.mistakes else ()
    if len(found.class_names) > MOST_CLASSES:
        return (metrics_table(found), *of_cells)
    sides = {"reference": "reference set", "target": "new set"}
    matrices = tuple(
        Figure(
            f"confusion-{side}",
            partial(confusion_chart, found.matrices[side], f"the {name}"),
            f"What each true class was predicted as (%), {name}, n = {count(getattr(found.rows[0], side).n)}.",
        )
        for side, name in sides.items()
    )
    return (metrics_table(found), Beside(matrices), *of_cells)


def metrics_table(found: MetricsOnSets) -> Table:
    """Every metric: its value on both sets, by how much the new set is worse, and its baseline."""
    columns = (
        Column("Metric", lambda row: row.metric.title),
        Column("Reference", lambda row: _of_metric(row.reference), "With its 95 % CI"),
        Column("New", lambda row: _of_metric(row.target), "With its 95 % CI"),
        Column(
            "New is worse by",
            lambda row: "" if isnan(row.worse) else InWords(row.metric).difference(row.worse, row.interval),
            "Of losses and the Brier score: how much higher they are. The CI is not corrected for many metrics",
        ),
        Column(
            "Baseline, new",
            lambda row: "" if isnan(row.target.baseline) else InWords(row.metric).value(row.target.baseline),
            "The best that a model reaches which knows nothing but how frequent classes are",
        ),
    )
    first = found.rows[0]
    n = f"n = {count(first.reference.n)} reference and {count(first.target.n)} new samples."
    caption = f"{n} Areas, correlations and losses are bare numbers."
    if found.positive is not None:
        by = "by its name" if found.sure else "the rarer class"
        about = "Sensitivity, precision, F1"
        caption += f" {about} and the like are of the positive class, {quoted(found.positive)} ({by})."
    if len(found.class_names) > MOST_AREAS:
        caption += f" Areas under curves are left out: there are more than {MOST_AREAS} classes."
    short = {row.target.why_not: None for row in found.rows} | {row.reference.why_not: None for row in found.rows}
    if why := [each for each in short if each]:
        caption += f" Without a CI: {'; '.join(why)}."
    return Table.of("Metrics on both sets", found.rows, columns, caption)


def confusions_table(found: MetricsOnSets) -> Table:
    """The classes that are confused most often on the new set."""
    rows = found.mistakes[:MOST_CONFUSIONS]
    columns = (
        Column("Class", "truth"),
        Column("Predicted as", "predicted"),
        Column("New", lambda each: each.target.n_predicted, "Samples of the new set", 0),
        Column("In class, new", lambda each: each.target.n, "Samples of the class in the new set", 0),
        Column("New (%)", lambda each: share_of(each.target), "With its 95 % CI"),
        Column("Reference", lambda each: each.reference.n_predicted, "Samples of the reference set", 0),
        Column("In class, ref.", lambda each: each.reference.n, "Samples of the class in the reference set", 0),
        Column("Reference (%)", lambda each: share_of(each.reference), "With its 95 % CI"),
        Column("New is higher by", _more, "In points, with its 95 % CI"),
        Column("Significantly", _decided, "Corrected for all confusions (Holm)"),
    )
    every = plural(len(found.mistakes), "confusion")
    several = f"{every} in all" if len(rows) == len(found.mistakes) else f"The {count(len(rows))} largest of {every}"
    caption = f"{several}, by samples of the new set."
    return Table.of(CONFUSIONS, rows, columns, caption)


def _more(each: Confusion) -> str:
    made = each.claim
    return "" if made is None else points(made.estimate, made.interval).replace(" points", "")


def _decided(each: Confusion) -> str:
    """What the claim about a confusion says; nothing while it is undecided."""
    return {"above": "more often", "below": "less often"}.get("" if each.claim is None else each.claim.decision, "")


def by_threshold(made: Decisions, threshold: float | None = None) -> tuple[Part, ...]:
    """Both curves of a decision between two classes, and what a threshold costs, or each of nine."""
    curves = (
        Figure(
            "roc",
            partial(figures.roc_chart, made, threshold),
            f"ROC curve of {quoted(made.positive)}: up and to the left is better. Bands are 95 % CIs of sensitivity "
            "at each threshold.",
        ),
        Figure(
            "precision-recall",
            partial(figures.precision_recall_chart, made, threshold),
            "Precision-recall curve: up and to the right is better. Bands are 95 % CIs of precision at each threshold.",
        ),
    )
    shown = [each / 10 for each in range(1, 10)] if threshold is None else [threshold]
    guessed = f"{quoted(made.positive)} is taken as the positive class, because it is the rarer one."
    asked = () if made.sure else (Note(f"{guessed} Choose the other one where that is wrong."),)
    return (*asked, Beside(curves), thresholds_table(made, shown))


def cost_of(made: Decisions, threshold: float) -> str:
    """What a threshold finds and costs on the new set, against what the file predicts."""
    found, alarms = made.cost(threshold)
    n = f"n = {count(len(made.target.score))} new samples"
    if not found and not alarms:
        return f"At a threshold of {threshold:.2f} nothing changes on the new set, {n}."
    gained = f"{plural(abs(found), 'sample')} {'more' if found >= 0 else 'fewer'} of {quoted(made.positive)}"
    raised = f"{plural(abs(alarms), 'false alarm')} {'more' if alarms >= 0 else 'fewer'}"
    return f"At a threshold of {threshold:.2f} the model finds {gained} and raises {raised}, {n}."


def thresholds_table(made: Decisions, thresholds: Sequence[float]) -> Table:
    """What thresholds come to on both sets, first what the files predict."""
    outcomes = [
        (name, getattr(made, side).at(at)) for at in (float("nan"), *thresholds) for side, name in _SIDES.items()
    ]
    columns = (
        Column("Threshold", lambda each: "as predicted" if isnan(each[1].threshold) else f"{each[1].threshold:.2f}"),
        Column("Set", lambda each: each[0]),
        Column("Found", lambda each: each[1].hits, f"Samples of {quoted(made.positive)} that are called so", 0),
        Column("Missed", lambda each: each[1].missed, f"Samples of {quoted(made.positive)} that are not", 0),
        Column("False alarms", lambda each: each[1].false_alarms, "Other samples that are called so", 0),
        Column("Left alone", lambda each: each[1].left_alone, "Other samples that are not", 0),
        *(
            Column(f"{name.capitalize()} (%)", partial(_share_of_outcome, name), "With its 95 % CI")
            for name in ("sensitivity", "specificity", "precision")
        ),
    )
    caption = f"A sample is called {quoted(made.positive)} where its probability is at least the threshold."
    return Table.of("What thresholds cost", outcomes, columns, caption)


_SIDES = {"reference": "reference", "target": "new"}


def _share_of_outcome(name: str, each: tuple[str, Outcome]) -> str:
    share = each[1].share(name)
    return "" if isnan(share) else percent(share, getattr(each[1], name)).replace(" %", "")


def samples_of_cell(reference: Predictions, target: Predictions, truth: str, predicted: str) -> Table:
    """The samples of both sets that are of one class and were predicted as one, the most confident first."""
    parts = []
    for name, side in (("reference", reference), ("new", target)):
        code = {each: i for i, each in enumerate(side.class_names)}
        rows = np.flatnonzero((side.y_true == code.get(truth, -1)) & (side.y_pred == code.get(predicted, -1)))
        confidence = np.full(len(rows), np.nan) if side.confidence is None else side.confidence[rows]
        parts.append(pd.DataFrame({"set": name, "sample": side.ids[rows], "confidence": confidence}))
    table = pd.concat(parts, ignore_index=True).sort_values("confidence", ascending=False, kind="stable")
    n = [int((table["set"] == name).sum()) for name in ("reference", "new")]
    title = f"Samples of {quoted(truth)} predicted as {quoted(predicted)}"
    known = bool(table["confidence"].notna().any())
    order = "; the most confident first" if known else ""
    caption = f"{title}: {count(n[0])} in the reference set, {count(n[1])} in the new set{order}."
    of_confidence = (Column("Confidence", "confidence", decimals=4),) if known else ()
    columns = (Column("Set", "set"), Column("Sample", "sample"), *of_confidence)
    return Table.of(title, table.itertuples(), columns, caption)


def _of_metric(made: MetricEstimate) -> str:
    return "not defined" if isnan(made.value) else InWords(METRICS[made.metric]).value(made.value, made.interval)


def picture(example: MatchedSubsets) -> Figure:
    """How matching works, on a few samples (figure 2)."""
    caption = "An invented example: lines join matched pairs, unmatched samples are hollow."
    return Figure("picture", partial(figures.matching_picture, example), caption)


# What does it look like in numbers? Tables of subsets, labels, models and samples.


def in_numbers(row: SetComparison) -> tuple[Part, ...]:
    """Subsets and, where there are any, labels side by side."""
    return (Beside((subsets_table(row), labels_table(row)) if row.labels else (subsets_table(row),)),)


def subsets_table(row: SetComparison) -> Table:
    """The subsets: samples, the metric beside what no learning would reach, mean confidence."""
    words = row.words
    baselines = (
        Column("Majority (%)", "majority", "Accuracy of always predicting the majority class of this subset", 1, 100),
        Column("Chance (%)", "chance", "Accuracy of random guesses with the class shares of this subset", 1, 100),
    )
    columns = (
        Column("Subset", "name"),
        Column("n", "n", "Mean over the repeats", 0),
        Column(words.axis, lambda subset: subset.reached.value, decimals=words.decimals, factor=words.factor),
        Column(
            "95 %",
            lambda subset: _split(words.value, subset.reached)[1],
            "Of a share Wilson's interval; of units by as many samples as tell as much",
        ),
        *(baselines if row.baselines and row.metric == ACCURACY else ()),
        *([Column("Confidence (%)", "mean_confidence", "Mean confidence", 1, 100)] if row.can_match else ()),
    )
    return Table.of(f"n and {words.name} of every subset", row.subsets, columns)


def labels_table(row: SetComparison) -> Table:
    """The predicted labels: pairs, accuracies on matched samples, their difference."""
    columns = (
        Column("Label", "label", "Label predicted by the model"),
        Column("Pairs", "n_pairs", "Mean over the repeats", 0, width=55),
        Column("Ref. (%)", "matched_reference_accuracy", f"{row.words.title} on matched references", 1, 100, 64),
        Column("New (%)", "matched_target_accuracy", f"{row.words.title} on matched new samples", 1, 100, 64),
        _matched_gap(row.words),
        Column(
            "p",
            lambda label: _p(label.claim),
            "p-value of no matched gap, corrected for all claims of the verdict",
            width=55,
        ),
        Column("Decision", lambda label: _decision(label.claim), _DECISION),
    )
    return Table.of("Matched gap of every label", row.labels, columns)


def models_table(rows: Sequence[SetComparison]) -> Table:
    """All models: metric and gap and, where anything was matched, matched gap and unmatched share."""
    words = rows[0].words
    majority = Column("Majority, new (%)", lambda row: row.subset("target").majority, decimals=1, factor=100)
    of_pairs = (
        _matched_gap(words),
        Column("Unmatched (%)", lambda row: row.unmatched_target.value, decimals=1, factor=100),
        Column(
            "p",
            lambda row: _p(row.claim("residual")),
            "p-value of no matched gap, corrected for all claims of all models",
        ),
        Column("Decision", lambda row: _decision(row.claim("residual")), _DECISION),
    )
    unit = " (%)" if words.metric.in_percent else ""
    columns = (
        Column("Model", "model"),
        Column(f"Reference{unit}", lambda row: _value(words, row.subset("reference").reached), "With its 95 % CI"),
        Column("n", "n_reference", "Reference samples"),
        Column(f"New{unit}", lambda row: _value(words, row.subset("target").reached), "With its 95 % CI"),
        Column("n new", "n_target", "New samples"),
        *([majority] if any(row.baselines for row in rows) and rows[0].metric == ACCURACY else ()),
        Column(words.axis_of("Gap"), lambda row: _difference(words, row.gap)),
        *(of_pairs if any(row.can_match for row in rows) else ()),
    )
    return Table.of("Gap and matched gap of every model", reversed(rows), columns)


def samples(table: pd.DataFrame) -> Table:
    """Every sample of both sets and the subset that it is in."""
    caption = "Of the first random matching; samples of one pair share its number."
    return Table("Samples and their subsets", table, (Column("confidence", "confidence", decimals=4),), caption)


def _difference(words: InWords, estimate: SetEstimate) -> str:
    return words.difference(estimate.value, estimate.interval).replace(" points", "")


def _value(words: InWords, estimate: SetEstimate) -> str:
    return words.value(estimate.value, estimate.interval).replace(" %", "")


def _p(claim: Claim | None) -> str:
    return "" if claim is None else bare_p(claim.p_value)


def _decision(claim: Claim | None) -> str:
    return "" if claim is None else {"above": "falls", "below": "rises"}.get(claim.decision, claim.decision)


_DECISION = "The claim about the matched gap; “small” is significantly less than half a point either way"


def _matched_gap(words: InWords) -> Column:
    def written(of: Any) -> str:
        return _difference(words, of.matched_gap) if of.enough else "too few pairs"

    return Column(words.axis_of("Matched gap"), written)


# Is the model calibrated? By subset, and by class of one subset.


def calibrated(
    model: str,
    matched: MatchedSubsets,
    reliability: Callable[[MatchedSubsets], Reliability | None],
    classes: Callable[[MatchedSubsets, str, str], Classes | None] | None,
    subset: str,
) -> tuple[Part, ...]:
    """Calibration of every subset, more of one of them, and its classes."""
    known = reliability(matched)
    if known is None:
        return ()
    shown = subset if subset in known.subsets else usual_subset(known)
    by_class = () if classes is None else of_classes(classes(matched, model, shown), shown)
    return (*of_subsets(known), *of_subset(known, shown), *by_class)


def usual_subset(known: Reliability) -> str:
    """The subset of which more is shown unless another one is chosen."""
    return "matched target" if "matched target" in known.subsets else next(iter(known.subsets))


def of_subsets(known: Reliability) -> tuple[Part, ...]:
    """All subsets at once: accuracy over confidence, and how confident the model is."""
    scale = " Logit scale: more than half of the confidences are above 99 %." if known.logit else ""
    curves = Figure(
        "reliability",
        partial(figures.reliability_curves, known.subsets, logit=known.logit),
        f"On the dotted line confidence equals accuracy; below it the model is overconfident.{scale}",
    )
    densities = Figure(
        "densities",
        partial(figures.density_chart, known.densities, logit=known.logit),
        "Density of confidences; matching makes those of the matched subsets alike.",
    )
    return (Beside((curves, densities)),)


def of_subset(known: Reliability, subset: str) -> tuple[Part, ...]:
    """The diagram of one subset, accuracy by coverage, and every subset in numbers."""
    one = known.subsets[subset]
    diagram = Figure("one", partial(figures.reliability_chart, one, subset=subset, logit=known.logit), one.sentence)
    coverage = Figure(
        "coverage",
        partial(figures.coverage_chart, known.coverage),
        "Accuracy after removing the least confident samples.",
    )
    return (Beside((diagram, coverage)), calibration_of_subsets(known.subsets))


def of_classes(rows: Classes | None, subset: str) -> tuple[Part, ...]:
    """The classes of a subset that have samples enough, the largest error on top."""
    if rows is None:
        return (Note(NO_CLASSES),)
    sentence = f"Class by class, {subset}: {class_sentence(rows)}"
    enough = sorted((row for row in rows if row.enough), key=lambda row: -row.ece)
    return (sentence, classes_table(enough)) if enough else (sentence,)


_PERFECT = "Median error (%) that a perfectly calibrated model would show at this n"
_PERFECT_95 = "95 % of perfectly calibrated models would show less (%)"


def classes_table(rows: Sequence[ClassCalibration]) -> Table:
    """A line for each class, its error beside what a perfect model would show."""
    columns = (
        Column("Class", "label"),
        Column("n", "n", "Samples that are of this class", 0),
        Column("ECE", "ece", "Of this class's probability, over all samples (%)", 2, 100),
        Column("perfect", "ece_if_perfect", _PERFECT, 2, 100),
        Column("95 %", "ece_if_perfect_95", _PERFECT_95, 2, 100),
        Column(
            "p",
            lambda row: bare_p(row.p_holm),
            "p-value: share of perfectly calibrated models with at least this error, corrected for the number "
            f"of classes (Holm). Classes with fewer than {FEWEST_OF_CLASS} samples are left out.",
        ),
    )
    return Table.of("Calibration of every class", rows, columns)


def calibration_of_subsets(by_subset: Mapping[str, Calibration]) -> Table:
    """The calibration of every subset in numbers, each error beside what a perfect model would show."""
    ece = "Expected calibration error (%): mean distance of accuracy and confidence over bins"
    squared = "Debiased squared calibration error: zero on average for a perfect model"
    brier = "Brier score: mean squared difference of confidence and correctness (1 or 0)"
    columns = (
        Column("Subset", "subset"),
        Column("n", "n", "Samples", 0, width=64),
        Column("Accuracy (%)", "accuracy", decimals=1, factor=100),
        Column("Confidence (%)", "mean_confidence", "Mean confidence", 1, 100),
        Column("ECE", "ece", ece, 1, 100, 64),
        Column("perfect", "ece_if_perfect", _PERFECT, 1, 100, 64),
        Column("95 %", "ece_if_perfect_95", _PERFECT_95, 1, 100, 64),
        Column("Smooth", "smooth_ece", "Smooth calibration error (%): no bins", 1, 100, 64),
        Column("Squared", "squared_error", squared, 4, width=64),
        Column("Brier", "brier_score", brier, 4, width=64),
        Column("miscal.", "brier_miscalibration", "Miscalibration: what recalibration could remove", 4, width=64),
        Column("discr.", "brier_discrimination", "Discrimination: gain from separating samples", 4, width=64),
        Column("uncert.", "brier_uncertainty", "Uncertainty: the score from knowing the accuracy alone", 4, width=64),
    )
    return Table.of(
        "Calibration of every subset",
        calibration_table(by_subset).itertuples(),
        columns,
        "Accuracy, confidence and errors in percent. The calibration error (ECE) is never zero, so its values for "
        "a perfectly calibrated model are given too (median and 95th percentile). Squared is debiased, so it may "
        "be negative. "
        "Brier = miscalibration − discrimination + uncertainty. Matched subsets are those of the first matching.",
    )


def chosen_of(sets: TwoSets) -> tuple[str, ...]:
    """What is chosen of files that hold several sets, in words."""
    return tuple(f"{name.replace('_', ' ')} {value}" for name, value in sets.parts.items())


def rests_on(sets: TwoSets, plan: MatchingPlan, versions: str) -> tuple[tuple[str, str], ...]:
    """Name and value of all that a comparison rests on: files, what is chosen of them, settings, versions."""
    chosen = {} if sets.task is None else {"Task": sets.task}
    chosen |= {name.replace("_", " ").capitalize(): value for name, value in sets.parts.items()}
    settings = {label_of(plan, name): str(value) for name, value in asdict(plan).items() if value is not None}
    files = ", ".join([f"reference {sets.reference}, target {sets.target}", *sets.further])
    return tuple({"Predictions": files, **chosen, **settings, "Versions": versions}.items())
