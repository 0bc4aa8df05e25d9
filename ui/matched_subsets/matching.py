"""What does a comparison of two test sets look like in numbers? Metrics, the paper's subsets, labels and models."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from math import isnan

import pandas as pd
import streamlit as st

from touchstone.core.asked import label_of
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.matched_subsets import ModelComparisons, SetComparison, SetEstimate
from touchstone.core.evaluate.wording import p_value, percent, plural, points
from touchstone.core.figures import matched_subsets as figures
from touchstone.core.figures.matched_subsets import matching_picture
from touchstone.ui.data.samples import LAZY_ROWS
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.matched_subsets import results
from touchstone.ui.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.ui.shell import background, page
from touchstone.ui.shell.page import Metric

MODEL = "model"
"""The parameter of the address that names the model in question."""


def choose_model(comparisons: ModelComparisons) -> SetComparison:
    """The model that the verdict and the details are about; a control only where there are several."""
    rows = {row.model: row for row in reversed(comparisons.rows)}
    control = One(MODEL, "The verdict is about", {name: name for name in rows}, next(iter(rows)))
    check_address([control])
    return rows[control.draw()] if len(rows) > 1 else comparisons.rows[0]


def metrics(comparison: SetComparison) -> list[Metric]:
    """The gap and its three parts, which add up to it."""
    called = {"target": "new"}
    against = " and ".join(
        f"{percent(baseline.majority)} ({called.get(baseline.set, baseline.set)})" for baseline in comparison.baselines
    )
    fall = Metric(
        "Accuracy falls by",
        *_split(points, comparison.gap),
        "Accuracy on the reference set minus accuracy on the new set; negative: it rises.",
        baseline=f"majority class {against}" if against else "",
    )
    if not comparison.can_match:
        return [fall, *(_accuracy(comparison, *names) for names in (("reference", "reference"), ("target", "new")))]
    alike_in = plural_of(comparison.alike_in)
    return [
        fall,
        Metric(
            f"At equal {comparison.alike_in}",
            *_split(points, comparison.matched_gap),
            f"The matched gap: the same difference on pairs of samples with equal {comparison.alike_in}. "
            f"95 % CI, by: {comparison.matched_gap.by}.",
        ),
        Metric(
            f"Mix of {alike_in}",
            *_split(points, comparison.mix),
            f"The loss of the reference set if it had the {alike_in} of the new set. Unlabelled data show this part.",
        ),
        Metric(
            "Unmatched samples",
            *_split(points, comparison.unmatched),
            f"The loss of unmatched samples beyond their {comparison.alike_in} and the matched gap. They are "
            f"{percent(comparison.unmatched_target.value)} of the new set.",
        ),
    ]


def _accuracy(comparison: SetComparison, subset: str, name: str) -> Metric:
    accuracy = comparison.subset(subset)
    baseline = "" if isnan(accuracy.majority) else f"majority class {percent(accuracy.majority)}"
    return Metric(f"Accuracy, {name} set", *_split(percent, accuracy.accuracy), baseline=baseline)


def _split(write: Callable[..., str], estimate: SetEstimate) -> tuple[str, str]:
    value = write(estimate.value)
    return value, write(estimate.value, estimate.interval).removeprefix(value).strip()


def _points(estimate: SetEstimate) -> str:
    return points(estimate.value, estimate.interval).replace(" points", "")


def samples(table: pd.DataFrame) -> None:
    """Every sample of both sets and the subset that it is in."""
    config = {"confidence": st.column_config.NumberColumn(format="%.4f")}
    lazy = len(table) > LAZY_ROWS
    st.dataframe(table, column_config=config, hide_index=True, lazy=lazy, alt="Samples and their subsets")
    st.caption("Of the first random matching; samples of one pair share its number.")


def tables(comparison: SetComparison) -> None:
    """Subsets and labels side by side."""
    subsets, labels = st.columns(2, gap="medium")
    with subsets:
        subsets_table(comparison)
    with labels:
        labels_table(comparison)


def subsets_table(comparison: SetComparison) -> None:
    """The subsets: samples, accuracy beside what no learning would reach, mean confidence."""
    lines = [
        {
            "Subset": subset.name,
            "n": subset.n,
            "Accuracy (%)": 100 * subset.accuracy.value,
            "95 %": _split(percent, subset.accuracy)[1],
        }
        | ({"Majority (%)": 100 * subset.majority, "Chance (%)": 100 * subset.chance} if comparison.baselines else {})
        | ({"Confidence (%)": 100 * subset.mean_confidence} if comparison.can_match else {})
        for subset in comparison.subsets
    ]
    config = {
        "n": st.column_config.NumberColumn(format="%.0f", help="Mean over the repeats"),
        "Accuracy (%)": st.column_config.NumberColumn(format="%.1f"),
        "95 %": st.column_config.TextColumn(help="Wilson's interval; of units by as many samples as tell as much"),
        "Majority (%)": st.column_config.NumberColumn(
            format="%.1f", help="Accuracy of always predicting the majority class of this subset"
        ),
        "Chance (%)": st.column_config.NumberColumn(
            format="%.1f", help="Accuracy of random guesses with the class shares of this subset"
        ),
        "Confidence (%)": st.column_config.NumberColumn(format="%.1f", help="Mean confidence"),
    }
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt="n and accuracy of every subset")


def labels_table(comparison: SetComparison) -> None:
    """The predicted labels: pairs, accuracies on matched samples, their difference."""
    if not comparison.labels:
        return
    lines = [
        {
            "Label": row.label,
            "Pairs": row.n_pairs,
            "Ref. (%)": 100 * row.matched_reference_accuracy,
            "New (%)": 100 * row.matched_target_accuracy,
            "Matched gap (points)": _points(row.matched_gap) if row.enough else "too few pairs",
            "p": _p(row.claim),
            "Decision": _decision(row.claim),
        }
        for row in comparison.labels
    ]
    config = {
        "Label": st.column_config.TextColumn(help="Label predicted by the model"),
        "Pairs": st.column_config.NumberColumn(format="%.0f", width=55, help="Mean over the repeats"),
        "Ref. (%)": st.column_config.NumberColumn(format="%.1f", width=64, help="Accuracy on matched references"),
        "New (%)": st.column_config.NumberColumn(format="%.1f", width=64, help="Accuracy on matched new samples"),
        "p": st.column_config.TextColumn(
            width=55, help="p-value of no matched gap, corrected for all claims of the verdict"
        ),
        "Decision": _DECISION,
    }
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt="Matched gap of every label")


def all_models(comparisons: ModelComparisons) -> None:
    """Every model side by side (figures 3, 4, 6 and 7, and 1), and in numbers."""
    sure = [row for row in comparisons.rows if row.can_match]
    lines, gaps = st.columns(2, gap="medium")
    with lines:
        known = "Grey: majority-class baselines. " if any(row.baselines for row in comparisons.rows) else ""
        caption = f"{'Solid: all samples; dotted: matched ones. ' if sure else ''}{known}Bars are 95 % CIs."
        page.figure(partial(figures.accuracy_lines, comparisons.rows), caption, key="accuracies")
    with gaps:
        caption = f"How far accuracy falls{', and the unmatched share of the new set' if sure else ''}."
        page.figure(partial(figures.gap_lines, comparisons.rows), caption, key="gaps")
    if sure:
        rest = f" {plural(len(comparisons.rows) - len(sure), 'model')} without confidences not shown."
        caption = "A point below the line is an overconfident model, on that set."
        caption += rest if len(sure) < len(comparisons.rows) else ""
        page.figure(partial(figures.confidence_scatter, sure), caption, key="confidence")
    models_table(comparisons.rows)


def models_table(rows: Sequence[SetComparison]) -> None:
    """All models: accuracies and gap and, where anything was matched, matched gap and unmatched share."""
    lines = []
    for row in reversed(rows):
        line = {
            "Model": row.model,
            "Reference (%)": 100 * row.subset("reference").accuracy.value,
            "New (%)": 100 * row.subset("target").accuracy.value,
            **({"Majority, new (%)": 100 * row.subset("target").majority} if row.baselines else {}),
            "Gap (points)": _points(row.gap),
        }
        if any(each.can_match for each in rows):
            line |= {
                "Matched gap (points)": _points(row.matched_gap) if row.enough else "too few pairs",
                "Unmatched (%)": 100 * row.unmatched_target.value,
                "p": _p(row.claim("residual")),
                "Decision": _decision(row.claim("residual")),
            }
        lines.append(line)
    config = {name: st.column_config.NumberColumn(format="%.1f") for name in lines[0] if name.endswith("(%)")}
    config["p"] = st.column_config.TextColumn(help="p-value of no matched gap, corrected for all claims of all models")
    config["Decision"] = _DECISION
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt="Gap and matched gap of every model")


def _p(claim: Claim | None) -> str:
    return "" if claim is None else p_value(claim.p_value).removeprefix("p ").removeprefix("= ")


def _decision(claim: Claim | None) -> str:
    return "" if claim is None else {"above": "falls", "below": "rises"}.get(claim.decision, claim.decision)


_DECISION = st.column_config.TextColumn(
    help="The claim about the matched gap; “small” is significantly less than half a point either way"
)


def picture() -> None:
    """How matching works, on a few samples (figure 2)."""
    matched = background.answer(results.matching_example(), "Loading the files to match", key="picture", wait=0.0)
    if matched is not None:
        caption = "An invented example: lines join matched pairs, unmatched samples are hollow."
        page.figure(partial(matching_picture, matched), caption, key="picture")


def foot(sets: TwoSets, plan: MatchingPlan | None) -> None:
    """What was compared, in grey; all else that the result rests on opens beside it."""
    asked = {label_of(plan, name): value for name, value in asdict(plan).items()} if plan else {}
    parts = {name.replace("_", " "): value for name, value in sets.parts.items()}
    files = {"reference": sets.reference, "target": sets.target}
    details = {"Predictions": ", ".join(f"{side} {address}" for side, address in files.items()), **parts, **asked}
    page.rests_on(
        ("Two files of predictions", *(f"{name} {value}" for name, value in parts.items())),
        [
            (name[:1].upper() + name[1:], str(value))
            for name, value in (details | {"versions": page.versions()}).items()
        ],
        key="matching",
    )
