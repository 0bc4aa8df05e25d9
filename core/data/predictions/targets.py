"""Which column is the truth, where a prediction is called after it? "Prediction (Species)" beside "Species"."""

import re
from collections.abc import Iterator

from core.data.predictions.reading import Reading
from core.data.tables.class_names import common_names
from core.data.values import quoted

_OF_TARGET = (  # how tools call a prediction, the confidence in it, and the truth after the column they learned from
    (r"prediction ?\((?P<target>.+)\)", r"prediction ?\({}\) ?\(confidence\)", "{}"),
    (r"\$[A-Z]-(?P<target>.+)", r"\$[A-Z]C-{}", "{}"),
    (r"I_(?P<target>.+)", "", "F_{}"),
    (r"_INTO_(?P<target>)", "", "_FROM_"),
    (r"(?P<target>.+)_pred(?:ict(?:ion|ed))?", "", "{}_orig"),
    (r"(?P<target>.+)_pred(?:ict(?:ion|ed))?", "", "{}"),
    (r"pred(?:icted)?_(?P<target>.+)", "", "{}"),
)


def name_targets(reading: Reading) -> Reading:
    """Take a prediction that is called after another column, and that column as the truth, if classes are the same.

    Nothing is taken where the truth is known already, or where several columns are called so: tasks, or models.

    >>> from core.data.tables import make_table
    >>> columns = [["cat", "dog", "cat", "dog"], ["cat", "dog", "dog", "dog"]]
    >>> table = make_table("t.csv", ["pet", "Prediction (pet)"], columns, lines=[2, 3, 4, 5])
    >>> name_targets(Reading(table)).roles.lines()[0]
    "Truth: column 'pet' (named by the prediction, 'Prediction (pet)')"
    """
    if reading.half is not None or reading.roles.has_truth:
        return reading
    pairs = {said: (truth, sure) for said, truth, sure in _pairs(reading)}
    if len(pairs) != 1:
        return reading
    said, (truth, sure) = next(iter(pairs.items()))
    reading = reading.take(f"named by the prediction, {quoted(said)}", truth=truth)
    if reading.roles.predicted is None:
        reading = reading.take("it names the truth", predicted=said)
    return reading if sure is None or reading.roles.confidence else reading.take("it names the truth", confidence=sure)


def _pairs(reading: Reading) -> Iterator[tuple[str, str, str | None]]:
    """A prediction, the truth that its name names, and the confidence that is called after it, if there is one."""
    known_said = reading.roles.predicted
    columns = [*reading.free, *([known_said] if known_said else [])]
    labels = {column.casefold(): column for column in columns if reading.table.is_label(column)}
    for said in [known_said] if known_said else labels.values():
        for prediction, confidence, truth in _OF_TARGET:
            if not (match := re.fullmatch(prediction, said, re.IGNORECASE)):
                continue
            known = labels.get(truth.format(match["target"]).casefold(), said)
            if known == said or not _same_classes(reading, known, said) or _rivals(reading, known, said):
                continue
            pattern = confidence.replace("{}", re.escape(match["target"]))
            called = (c for c in reading.free if pattern and re.fullmatch(pattern, c, re.IGNORECASE))
            yield said, known, next((c for c in called if reading.table.has_numbers(c)), None)
            break


def _rivals(reading: Reading, truth: str, said: str) -> bool:
    """Whether another column of the same classes bears the truth's name, too, such as "true_pet" beside "pet"."""
    others = (c for c in reading.free if c not in (truth, said) and truth.casefold() in c.casefold())
    return any(reading.table.is_label(other) and _same_classes(reading, other, said) for other in others)


def _same_classes(reading: Reading, truth: str, said: str) -> bool:
    """Whether most of what was predicted is a class of the truth."""
    known, answers = set(reading.strings(truth)), set(reading.strings(said))
    common = common_names(known, answers)
    if common is None:
        return False
    return len({common[0][name] for name in known} & {common[0][name] for name in answers}) > len(answers) / 2
