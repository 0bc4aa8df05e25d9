"""How are predictions written? As a TSV that reads back the same; beside it a file to fill in, and one to try."""

import csv
import io

import numpy as np

from touchstone.core.data.predictions.record import Predictions


def write_predictions(predictions: Predictions) -> bytes:
    """The predictions as TSV, which `read_predictions` understands without a question.

    Columns are id, y_true, y_pred, then `prob_` and the class for each class or else confidence, then the groups.
    Without probabilities a class that no row speaks of is forgotten.

    >>> predictions = Predictions(["a", "b"], [0, 1], [0, 0], ["cat", "dog"], confidence=[0.9, 0.6])
    >>> print(write_predictions(predictions).decode())
    id	y_true	y_pred	confidence
    a	cat	cat	0.9
    b	dog	cat	0.6
    <BLANKLINE>
    """
    names = np.array(predictions.class_names, dtype=object)
    columns = {"id": predictions.ids, "y_true": names[predictions.y_true], "y_pred": names[predictions.y_pred]}
    if predictions.proba is not None:
        columns |= {f"prob_{name}": predictions.proba[:, code] for code, name in enumerate(names)}
    elif predictions.confidence is not None:
        columns["confidence"] = predictions.confidence
    return _tsv(columns | predictions.groups)


def _tsv(columns: dict[str, np.ndarray]) -> bytes:
    rows = [tuple(columns), *zip(*(values.tolist() for values in columns.values()), strict=True)]
    cells = (cell for row in rows for cell in row if isinstance(cell, str))
    plain = not any(mark in cell for cell in cells for mark in '"\t\r\n') and not rows[0][0].startswith("#")
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL
    )
    writer.writerows(rows)
    return stream.getvalue().encode()


def template() -> bytes:
    """A file of predictions to fill in, as TSV: the columns that Touchstone likes best, with two rows of example.

    >>> print(template().decode().splitlines()[0])
    id	gold	predicted	confidence	set	model
    """
    rows = ("r1\tcat\tcat\t0.93\toriginal\tmodel A", "r2\tdog\tcat\t0.58\tnew\tmodel A")
    return "\n".join(("id\tgold\tpredicted\tconfidence\tset\tmodel", *rows, "")).encode()


def sample() -> bytes:
    """A file of simulated predictions to try, as TSV: one model of three classes on an original and a harder new set.

    >>> from touchstone.core.data import read_predictions
    >>> file = io.BytesIO(sample())
    >>> file.name = "sample.tsv"
    >>> read_predictions(file).sets
    ('original', 'new')
    """
    rng = np.random.default_rng(0)
    names = np.array(["cat", "dog", "fox"], dtype=object)
    parts = []
    for label, n_samples, distance in (("original", 600, 2.5), ("new", 200, 1.2)):
        y_true = rng.integers(3, size=n_samples)
        logits = rng.normal(size=(n_samples, 3))
        logits[np.arange(n_samples), y_true] += distance
        proba = np.exp(1.3 * logits)
        proba = np.round(proba / proba.sum(axis=1, keepdims=True), 4)
        ids = [f"{label}-{row}" for row in range(n_samples)]
        parts.append((ids, names[y_true], names[proba.argmax(axis=1)], proba, [label] * n_samples))
    ids, gold, predicted, proba, sets = (np.concatenate(values) for values in zip(*parts, strict=True))
    columns = {f"prob_{name}": proba[:, code] for code, name in enumerate(names)}
    return _tsv({"id": ids, "gold": gold, "predicted": predicted, **columns, "set": sets})
