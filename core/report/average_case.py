"""Which samples and classes are fragile under noise? The verdict's numbers, the figures with captions, the audit."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case.class_means import Measured
from touchstone.core.evaluate.average_case.monte_carlo import looked_through
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.average_case.robustness import Audit, AuditedEstimator, Robustness, evaluate_robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict, estimator_title, trust_line
from touchstone.core.evaluate.calibration import overconfidence
from touchstone.core.evaluate.units import design_of
from touchstone.core.evaluate.wording import bare, count, percent, plural, points
from touchstone.core.figures import average_case as figures
from touchstone.core.report import parts

DRAWS_OF_PAPER = 10_000


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: AverageCasePlan) -> parts.Answer:
    """Everything about a run, from the rows of its trials."""
    return answer(evaluate_robustness(rows, class_names=dataset.class_names, design=design_of(dataset)))


def numbers(found: Robustness) -> Iterator[parts.Quantity]:
    """What can be bounded: the mean at every sigma, and mean confidence less accuracy on samples as they are."""
    over = found.design.others
    for at in found.by_sigma:
        yield parts.Quantity("average_case.p_robust", (f"{at.sigma:g}",), at.mean.value, at.mean.interval, at.n, over)
    if found.sigmas:
        samples = found.samples_at(found.sigmas[0]).dropna(subset=["confidence"])
        n = len(samples)
        if n > 1:
            correct = (samples["label"] == samples["predicted"]).to_numpy()
            units = found.design.of(samples["row"].to_numpy()).units(n)
            gap = overconfidence(samples["confidence"].to_numpy(dtype=np.float64), correct, units)
            yield parts.Quantity("average_case.overconfidence", (), gap.value, gap.interval, n, over)


def answer(
    found: Robustness, *, sigma: float | None = None, summarised: bool = True, finished: bool = True
) -> parts.Answer:
    """Everything about a run at one sigma, by default the one of the verdict; what to do next once it has `finished`.

    No single sample is in it, unless its figures are not `summarised`.
    """
    verdict = average_case_verdict(found, sigma)
    if not finished:
        verdict = replace(verdict, advice="")
    if not found.sigmas:
        return parts.Answer(verdict)
    sigma = found.sigmas[len(found.sigmas) // 2] if sigma is None else sigma
    trust = f"Can these numbers be trusted? {trust_line(found, sigma)}"
    sections = [
        parts.Section("", (class_figure(found, sigma, summarised=summarised),)),
        parts.Section("How much noise does it take? Over sigma", partial(_over_sigma, found, sigma), "sigmas"),
        *(
            [parts.Section("Which change breaks a class?", (direction_figure(found, sigma),), "directions")]
            if bool((found.along["sigma"] == sigma).any())
            else []
        ),
        parts.Section(trust, partial(_audited, found.audit, sigma, summarised=summarised), "audit"),
    ]
    files = {
        "Classes": found.class_table,
        "Directions": found.direction_table,
        "Audit": found.audit.table,
        "Convergence": found.audit.convergence_table,
    }
    return parts.Answer(verdict, tuple(key_numbers(found, sigma)), tuple(sections), tuple(numbers(found)), files)


def key_numbers(found: Robustness, sigma: float) -> list[parts.KeyNumber]:
    """Mean robustness, the gap of classes, the share below one, and how far off the numbers are."""
    at, checked = found.at(sigma), found.audit.of(found.estimator, sigma)
    over, kept = found.design.others, "Share of noisy copies that keep the prediction, mean over samples."
    told = [_share("Mean p_robust", at.mean, kept, over)]
    if at.gap is not None:
        told.append(
            parts.KeyNumber(
                "Largest gap of classes",
                points(at.gap.value),
                parts.brackets(points, at.gap.value, at.gap.interval),
                "Between the means of the most and the least robust class, less the bias of having chosen them. The "
                "interval holds for all pairs of classes at once.",
            )
        )
    told.append(
        _share(
            "Adversarial example within reach",
            at.below_one,
            "Share of samples with p_robust below 1: noise changes the prediction more than once in a thousand copies.",
            over,
        )
    )
    if checked is None:
        return [*told, parts.KeyNumber("Error vs. Monte-Carlo", "not audited", f"n = {count(at.n)}")]
    meaning = (
        f"Mean absolute difference from Monte-Carlo on {plural(checked.error.n, 'audited sample')}; "
        f"{bare(checked.by_luck, 3)} of it is expected by chance."
    )
    return [
        *told,
        parts.KeyNumber("Error vs. Monte-Carlo", bare(checked.error.value, 3), _ends(checked.error), meaning),
    ]


def class_figure(found: Robustness, sigma: float, *, summarised: bool = False) -> parts.Figure:
    """Figure 4 of the paper: the distribution of every class, with single samples or summarised."""
    mean = "mean" if found.at(sigma).n_draws is None else "mean by count"
    audited = "Narrow boxes are Monte-Carlo's answers" if summarised else "Ticks are Monte-Carlo's answer"
    return parts.Figure(
        "class-chart",
        partial(figures.class_chart, found, sigma, summarised=summarised),
        f"Each box holds the samples of a class ({estimator_title(found.estimator)}), the diamond is its {mean} with "
        f"the 95 % interval. {audited} for the audited samples. Robust classes lie to the right.",
        sum(share.n > 0 for share in found.at(sigma).classes),
    )


def half_figure(found: Robustness) -> parts.Figure:
    """Sigma-50 of every class."""
    low, high = looked_through(found.sigmas)
    draws = f" of {count(found.half_draws)} draws each" if found.half_draws else ""
    return parts.Figure(
        "half-chart",
        partial(figures.half_chart, found),
        "Sigma-50 is the smallest sigma at which at most half of the noisy copies keep the prediction, searched "
        f"from {low:.2g} to {high:.2g} by counts{draws}. Boxes hold the samples of a class. Robust classes "
        "lie to the right.",
        sum(share.n > 0 for share in found.half_by_class),
    )


def direction_figure(found: Robustness, sigma: float) -> parts.Figure:
    """Every class along every named direction."""
    return parts.Figure(
        "direction-chart",
        partial(figures.direction_chart, found, sigma),
        "Share of copies that keep the prediction when all noise goes one way. Images are changed as strongly as noise "
        "of this sigma would change them, columns of a table by their own part of it. Lowest at the top left.",
        len(found.class_names),
    )


def sigma_figure(found: Robustness) -> parts.Figure:
    """The mean over sigma."""
    return parts.Figure(
        "sigma-chart",
        partial(figures.sigma_chart, found),
        "The mean over samples with its interval; the thin lines are the most and the least robust class.",
    )


def gap_figure(found: Robustness) -> parts.Figure:
    """The largest gap of classes over sigma."""
    return parts.Figure(
        "gap-chart",
        partial(figures.gap_chart, found),
        "The largest gap with its interval for all pairs at once. Grey: the same with labels shuffled at random.",
    )


def error_figure(of: Audit) -> parts.Figure:
    """How far every estimator is off."""
    return parts.Figure(
        "error-chart",
        partial(figures.error_chart, of),
        "Mean absolute error against Monte-Carlo, 95 % intervals over audited samples. Inside the grey band an "
        "exact estimator would look the same.",
    )


def bias_figure(of: Audit) -> parts.Figure:
    """The same with its sign."""
    return parts.Figure(
        "bias-chart",
        partial(figures.error_chart, of, bias=True),
        "The same with its sign, in the same colours: above 0 an estimator overestimates robustness.",
    )


def convergence_figure(of: Audit) -> parts.Figure:
    """The error by the number of copies."""
    return parts.Figure(
        "convergence-chart",
        partial(figures.convergence_chart, of),
        "The error by the number of noisy copies, on the same audited samples. The paper says that around 5 plain ones "
        "are enough for MMSE.",
    )


def sigmoid_figure(of: Audit, sigma: float, *, summarised: bool = False) -> parts.Figure:
    """The multivariate sigmoid against what it stands for, sample by sample or summarised."""
    return parts.Figure(
        "sigmoid-chart",
        partial(figures.sigmoid_chart, of, sigma, summarised=summarised),
        "The multivariate sigmoid in place of the normal distribution function; on the dotted line they agree.",
    )


def estimator_table(of: Audit, sigma: float) -> parts.Table | None:
    """A line for each estimator: error and bias at this sigma, and what a sample takes (the paper's table 1)."""
    rows = sorted((row for row in of.estimators if row.sigma == sigma), key=lambda row: row.error.value)
    if not rows:
        return None
    counted = rows[0]
    seconds = counted.monte_carlo_seconds * DRAWS_OF_PAPER / counted.n_draws

    def audited(write: Callable[[AuditedEstimator], str], of_monte_carlo: str = "") -> Callable[[object], str]:
        return lambda row: write(row) if isinstance(row, AuditedEstimator) else of_monte_carlo

    draws = f"{count(DRAWS_OF_PAPER)} draws"
    return parts.Table.of(
        "Estimators, errors and times",
        [*rows, "Monte-Carlo"],
        (
            parts.Column("Estimator", audited(lambda row: estimator_title(row.estimator), f"Monte-Carlo, {draws}")),
            parts.Column("Error", audited(lambda row: f"{bare(row.error.value, 4)} {_ends(row.error)}")),
            parts.Column("Bias", audited(lambda row: f"{bare(row.bias.value, 4)} {_ends(row.bias)}")),
            parts.Column(
                "Relative error",
                audited(lambda row: percent(row.relative.value)),
                "Mean of the absolute error over Monte-Carlo's p_robust",
            ),
            parts.Column(
                "Inside",
                audited(lambda row: percent(row.inside.value)),
                "Share of estimates inside Monte-Carlo's exact interval",
            ),
            parts.Column("ms per sample", audited(lambda row: _figures(1000 * row.seconds), _figures(1000 * seconds))),
            parts.Column(
                "Times faster",
                audited(lambda row: _figures(seconds / row.seconds), "1"),
                f"Compared with Monte-Carlo of {draws}, extrapolated from the audit's draws",
            ),
        ),
        f"At sigma {sigma:g}, on {plural(counted.error.n, 'sample')}, each estimated in small batches on the machine "
        f"that ran it; Monte-Carlo took {count(round(counted.n_draws))} draws each on average.",
    )


def class_table(found: Robustness, sigma: float) -> parts.Table:
    """The mean of every class with its interval."""
    return parts.Table.of(
        f"Classes at sigma {sigma:g}",
        zip(found.class_names, found.at(sigma).classes, strict=True),
        (
            parts.Column("Class", lambda row: row[0]),
            parts.Column("Mean p_robust", lambda row: percent(row[1].value, row[1].interval)),
            parts.Column("n", lambda row: row[1].n),
        ),
        f"Means of classes at sigma {sigma:g}, with 95 % CIs over {found.design.others}.",
    )


def _over_sigma(found: Robustness, sigma: float) -> tuple[parts.Part, ...]:
    over = (parts.Beside((sigma_figure(found), gap_figure(found))), class_table(found, sigma))
    return (half_figure(found), *over) if len(found.half) else over


def _audited(of: Audit, sigma: float, *, summarised: bool) -> tuple[parts.Part, ...]:
    if not of.estimators:
        return ("Unknown, because no sample was audited.",)
    table = estimator_table(of, sigma)
    last = [convergence_figure(of)] if of.convergence else []
    last += [sigmoid_figure(of, sigma, summarised=summarised)] if len(of.sigmoids(sigma)) else []
    return (
        parts.Beside((error_figure(of), bias_figure(of))),
        *([table] if table is not None else []),
        *([parts.Beside(tuple(last))] if last else []),
    )


def _figures(value: float) -> str:
    """Two or three figures of a positive number, never as a power of ten.

    >>> _figures(1.296), _figures(40.7)
    ('1.3', '41')
    """
    return count(round(value)) if value >= 10 else f"{value:.2g}"


def _share(label: str, of: Measured, meaning: str, over: str) -> parts.KeyNumber:
    interval = parts.brackets(percent, of.value, of.interval)
    return parts.KeyNumber(
        label, percent(of.value), interval, f"{meaning} n = {count(of.n)}; the interval is over {over}."
    )


def _ends(of: Measured) -> str:
    return f"[{bare(of.interval.lower, 3)}, {bare(of.interval.upper, 3)}]" if of.interval.known else ""
