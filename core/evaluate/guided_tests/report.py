"""What goes with a generated test set to whoever uses it? How it was made, and how the model fares, as Markdown."""

from collections.abc import Sequence

from touchstone.core.evaluate.guided_tests.accuracy import AccuracyGrid, SharedAccuracy
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.guided_tests.properties import Properties
from touchstone.core.evaluate.guided_tests.stored import Guided
from touchstone.core.evaluate.guided_tests.verdict import CHANCE, SIDE, features_findings, guided_verdict, mix_title
from touchstone.core.evaluate.wording import count, percent
from touchstone.core.trials.layer_parts import split_in_words

PAPER_NOTES = (
    "Every 0-100 column of the paper's table 2 is chance for any model. Its features lie at no particular "
    "boundary. Ours lie between their class and one rival, on both sides of the boundary. About half are correct "
    "by construction, fewer where a third class is as probable.",
    "The mixes in between follow: in the paper and here they are weighted means of the first and the last column.",
    "The sizes of table 2 are shares of the whole test set for each class: only then are its printed accuracies "
    "fractions of counts.",
    "The paper gives no thresholds. The radius is the training median of each class here, and a boundary ends at a "
    "confidence of .7 by default.",
    "The paper reads the drop at the boundary, to 10 % and below, as a weakness of models and test sets. Any model "
    "is often wrong at a boundary. Compare with another model on the same regions to judge this one.",
)
"""Where the paper's claims differ from what is found here, and why."""


def guided_report(
    guided: Guided,
    plan: GuidedTestsPlan,
    *,
    title: str,
    properties: Properties | None = None,
    findings: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Write the report: how the tests were made, counts, accuracy, table 2, properties, and how to take all this.

    `findings` are sentences beside those of the verdict, `notes` what has to be known of the split and the head.

    Examples
    --------
    >>> nothing = Guided(("a", "b"), 0, 0, None, None, None, None)
    >>> guided_report(nothing, GuidedTestsPlan("f1"), title="wine").splitlines()[0]
    '# Guided tests: wine'
    """
    verdict = guided_verdict(guided)
    parts = [
        f"# Guided tests: {_cell(title)}",
        f"**{verdict.headline}** {verdict.used}",
        verdict.advice,
        "\n".join(f"- {finding}" for finding in (*verdict.findings, *findings)),
        _pictures(guided),
        "## How they were made",
        _made(plan),
    ]
    if guided.tests is not None:
        features = "\n".join(f"- {finding}" for finding in features_findings(guided))
        parts += ["## How the head classifies generated features", features, _classes(guided)]
    if guided.grid is not None:
        parts += ["## Accuracy of the head over mixes and sizes (table 2)", CHANCE, _grid(guided.grid)]
    if properties is not None:
        parts += ["## Properties of a well-trained classifier (section 4.1)", _properties(properties)]
    parts += ["## How to read this", "\n".join(f"- {note}" for note in (SIDE, *notes, *PAPER_NOTES))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _pictures(guided: Guided) -> str:
    if guided.suite is None:
        return ""
    return (
        "The pictures do not come from the model. A linear reference of principal components generates them, near "
        "class centroids and where its confidence is at most .7. Pictures chosen by the model's own confidence "
        "would only measure its calibration. An oracle (support vector machines) checks each; it was not fitted on "
        "the picture's source sample. All models of a data set get the same suite."
    )


def _made(plan: GuidedTestsPlan) -> str:
    usual = {"r": "each class's training median", "theta1": "one over the number of classes", "wcl": "theta2 - .1"}
    settings = {
        "Model": plan.model,
        "Layer": plan.layer or "the usual one",
        "Mix (centroid-boundary)": mix_title(plan.centroid_share),
        "Size": f"{100 * plan.frequency:g} % of each class's test count",
        "Radius of the centroid region (r)": _or(plan.r, usual["r"]),
        "Unit of distance": f"{plan.unit} of a class's training distances",
        "Boundary from (theta1)": _or(plan.theta1, usual["theta1"]),
        "Boundary up to (theta2)": f"{plan.theta2:g}",
        "Parents' confidence up to (wcl)": _or(plan.wcl, usual["wcl"]),
        "Noise": f"{plan.noise:g} standard deviations of the class's training features",
        "Rivals": plan.rivals,
        "Split": split_in_words(plan.split),
        "Seed": f"{plan.seed}",
    }
    how = (
        "For each class, real samples at its boundary are moved with noise of the class's covariance (Mani et al. "
        "2019, Algorithm 1). They move towards their own centroid, or across the boundary with a rival, until they "
        "reach the requested region. With fewer than ten such samples, the ten least confident are used. The label "
        "is the intended class (a metamorphic rule). Whether a test is kept depends on its region alone."
    )
    return f"{how}\n\n{_table(('', ''), list(settings.items()))}"


def _classes(guided: Guided) -> str:
    rows = [
        (
            row["label"],
            row["region"],
            count(row["asked"]),
            count(row["placed"]),
            count(row["n_parents"]),
            _percent(row["accuracy"], row["lower"], row["upper"]),
        )
        for row in guided.class_table().to_dict("records")
        if row["asked"]
    ]
    return _table(("Class", "Region", "Asked", "Placed", "From samples", "Accuracy"), rows)


def _grid(grid: AccuracyGrid) -> str:
    shares = list(dict.fromkeys(cell.centroid_share for cell in grid.cells))
    rows = []
    for size in dict.fromkeys(cell.n_per_class for cell in grid.cells):
        cells = [cell.overall for cell in grid.cells if cell.n_per_class == size]
        rows.append((count(size), *map(_share, cells)))
    original = percent(grid.accuracy, grid.interval)
    head = ("Tests for each class", *(mix_title(share) for share in shares))
    return f"{_table(head, rows)}\n\nOn the original test set: {original}, n = {count(grid.n_test)}."


def _properties(properties: Properties) -> str:
    rows = [
        (each.name, each.says, count(each.n), count(each.n_violated), percent(each.share, each.interval))
        for each in properties.each
    ]
    return _table(("Property", "It says", "Tested", "Violated", "Share"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """A name from the data in a cell: it ends no cell and no line.

    >>> print(_cell("a | b"))
    a \\| b
    """
    return " ".join(str(text).split()).replace("|", "\\|")


def _share(shared: SharedAccuracy) -> str:
    return percent(shared.accuracy, shared.interval)


def _percent(value: float, lower: float, upper: float) -> str:
    return f"{100 * value:.1f} % [{100 * lower:.1f}, {100 * upper:.1f}]" if value == value else ""


def _or(value: float | None, usual: str) -> str:
    return usual if value is None else f"{value:g}"
