"""What do the names mean that people give to columns and to classes?

Names of columns are looked up in what people call those of a file of predictions, case and punctuation folded. Names of
classes are the same where nothing else can be meant: `LABEL_0` and 0, 1.0 and 1.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.errors import DataError

NAMES: dict[str, tuple[str, ...]] = {  # compact: lower case, nothing but letters and digits; the likeliest first
    "id": (
        *("id", "ids", "sampleid", "docid", "textid", "exampleid", "imageid", "pairid", "uid", "uuid", "guid", "qid"),
        *("idx", "index", "filename", "filepath", "file", "imagefilename", "imagepath", "path", "key"),
    ),
    "truth": (
        *("gold", "goldlabel", "goldlabels", "ytrue", "truelabel", "truelabels", "target", "targets", "reference"),
        *("groundtruth", "actual", "givenlabel", "truth", "true", "trueclass", "actuallabel", "targetlabel", "ytest"),
        *("goldstandard", "expected", "labeltrue", "correctlabel", "groundtruthlabel", "actualclass", "gtlabel"),
        *("gt", "gtclass", "labelids", "references", "targs", "ideal", "labelvalue", "observed"),
    ),
    "predicted": (
        *("predicted", "predictedlabel", "pred", "ypred", "yhat", "scoredlabels", "preds", "predictedclass"),
        *("predict", "predlabel", "predictionlabel", "predictedlabels", "predclass", "labelpred", "labelpredicted"),
        *("ypredicted", "modelprediction", "predictedcategory", "scoredlabel", "top1", "top1label", "top1class"),
        "guess",  # of Weights & Biases
    ),
    "confidence": (
        *("confidence", "prob", "probability", "maxprob", "yscore", "predictionproba", "confidencescore", "conf"),
        *("proba", "yprob", "yproba", "predictedprobability", "maxprobability", "predproba", "predprob"),
        *("scoredprobabilities", "scoredprobability", "predictionprob", "predictionprobability", "softmax"),
        *("predictionconfidence", "predictionscore", "predscore", "predictionsconfidence", "msp"),
    ),
    "model": ("model", "modelname", "modelid", "classifier", "system"),
    "task": ("task", "taskname", "subtask"),
    "trial": ("trial", "repeat", "repetition", "run", "seed"),
    "set": ("set", "testset", "dataset", "subset", "evaluationset", "splitname"),
    "fold": ("fold", "cluster", "clusteringlabels", "folds", "foldid", "cvfold", "testfold"),
    "split": ("split", "partition"),  # a set or a fold: the values decide
    "source": ("source", "sources", "sourceid", "group", "groups", "groupid", "subject", "site", "domain"),
    "unit": (
        *("unit", "author", "authorid", "user", "userid", "username", "patient", "patientid", "speaker", "speakerid"),
        *("session", "sessionid", "document", "documentid", "doc", "docid", "participant", "participantid", "writer"),
        *("person", "personid", "subjectid", "respondent", "customer", "customerid", "recording", "conversation"),
    ),
}
OF_ITS_OWN = ("subject", *NAMES["unit"])
"""Persons and documents: however few there are, they stand for others."""
MOST_STRATA = 9
"""So many sources are places that one speaks of; more are a sample of others like them, and units."""
_ENDING = re.compile(r"[ _.-]?(id|ids|name|no|nr|number|code|key)$")
ROW_NAMES = {"unnamed column 1", "unnamed: 0", "__index_level_0__"}  # what pandas writes for its index
# These mean opposite things in different tools: what else is there and the values decide.
TRUTH_LIKELY = ("label", "labels", "y", "class", "classes", "category", "response", "obs")  # of H2O and caret
PREDICTED_LIKELY = ("prediction", "predictions", "result", "output", "answer", "estimate", "decoded", "completion")
SCORE_LIKELY = (
    *("score", "scores", "prediction", "predictions", "output", "outputs", "y", "ypred", "yhat", "pred", "preds"),
)

ALSO_OTHERS = ("response", "completion", "obs", "estimate")
"""Names of labels that hold something else as often: there the values have to be labels."""
_SCORES = "|".join(
    (
        r"scored[ _]probabilit(?:y|ies)(?:[ _]for[ _]class)?",
        r"(?:y[ _])?pred(?:ict(?:ed|ions?))?[ _](?:prob(?:a|s|ability|abilities)?|scores?)",
        r"(?:class[ _])?prob(?:a|as|s|ability|abilities)?",
        r"log[ _]?p(?:rob(?:a|s|ability|abilities)?)?",
        r"p|y[ _](?:score|proba?)|logits?|softmax|scores?|confidences?|conf|outputs?|predictions?",
        r"(?:y[ _]?)?pred(?:s|icted)?|y[ _]?hat|class|label|out",
    )
)
# Names that hold something else as often: the values have to say that these are scores.
UNSURE = {"p", "prediction", "predictions", "ypred", "pred", "preds", "predicted", "yhat", "class", "label", "out"}
_FAMILY = re.compile(
    rf"(?P<family>{_SCORES})(?:(?:[\s_:.\-]+|(?=[\[(\"']))[\"'\[(]*(?:\w+\s*=\s*)?(?P<name>.+?)[\"'\])]*|(?P<number>\d+))",
    re.IGNORECASE,
)
_STEM = re.compile(
    r"(?P<stem>.+?)[\s_.\-]+(?P<role>y[ _]true|true|gold|label|target|truth|y[ _]pred|pred|preds|predicted|prediction|"
    r"prob|proba|probability|conf|confidence|score|logits?)",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"(?P<role>y[ _]true|true|gold|target|y[ _]pred|pred|predicted|prediction|conf|confidence)[\s_.\-]+(?P<stem>.+)",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"(?P<model>.+?)[\s_.\-]+(?P<family>prob(?:a|s|ability|abilities)?|logits?|softmax)[\s_.\-]+(?P<name>.+)",
    re.IGNORECASE,
)
_RANK = re.compile(r"top[\s_\-]?(?P<rank>\d+)[\s_\-]*(?P<rest>.*)", re.IGNORECASE)
_STEM_ROLES = {
    **dict.fromkeys(("true", "gold", "label", "target", "truth", "ytrue"), "truth"),
    **dict.fromkeys(("pred", "preds", "predicted", "prediction", "ypred"), "predicted"),
    **dict.fromkeys(("prob", "proba", "probability", "conf", "confidence", "score"), "confidence"),
    **dict.fromkeys(("logit", "logits"), "logit"),
}
# What people call the columns of sources, the likeliest first: who beats where, and where beats when.
SOURCE_STEMS = (
    *("source", "group", "subject", "patient", "participant", "person", "individual", "respondent", "speaker"),
    *("writer", "author", "user", "customer", "client", "donor", "animal", "mouse", "family", "domain", "genre"),
    *("site", "hospital", "clinic", "institution", "center", "centre", "scanner", "device", "camera", "sensor"),
    *("machine", "instrument", "location", "station", "publisher", "newspaper", "journal", "channel", "video"),
    *("recording", "slide", "scene", "sequence", "series", "batch", "plate", "lot", "session", "visit"),
)
OF_SOURCE = re.compile(rf"({'|'.join(SOURCE_STEMS)})s?(id|ids|no|nr|num|number|name|code|key)?")
_MANY_CLASSES = 50
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
_NUMBERED = re.compile(r"(?:label|class|cls|c)?[\s_:-]*(\d+)(?:\.0+)?", re.ASCII | re.IGNORECASE)
_TRUTH_VALUES = {"true": "1", "false": "0"}
_SAME = 0.999  # the share of rows from which on two columns say the same


def compact(name: str) -> str:
    """A name in lower case, with nothing but letters and digits.

    >>> compact("True Label"), compact("_id"), compact("pairID")
    ('truelabel', 'id', 'pairid')
    """
    return re.sub(r"[\W_]+", "", name.casefold())


def called(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns that have one of the names, in the order of the names.

    >>> called(["Filename", "Gold Label", "gold"], NAMES["truth"])
    ['gold', 'Gold Label']
    """
    by_name: dict[str, list[str]] = {}
    for column in columns:
        by_name.setdefault(compact(column), []).append(column)
    return [column for name in names for column in by_name.get(name, ())]


def is_called_source(column: str) -> bool:
    """Whether a column is called like what samples come from, whatever its case and punctuation.

    >>> [is_called_source(column) for column in ("Subject#", "patient_id", "Speakers", "subjective")]
    [True, True, True, False]
    """
    return OF_SOURCE.fullmatch(compact(column)) is not None


def word_for(column: str) -> str:
    """What one of those is called that a column names; nothing where it does not say.

    >>> word_for("Author_ID"), word_for("patients"), word_for("id")
    ('author', 'patient', '')
    """
    return _ENDING.sub("", column.strip().casefold()).replace("_", " ").removesuffix("s")


def plural_of(word: str) -> str:
    """Several of what a word names.

    >>> [plural_of(word) for word in ("author", "family", "day", "batch")]
    ['authors', 'families', 'days', 'batches']
    """
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def sources_are_units(n_sources: int, column: str) -> bool:
    """Whether so many sources, named by this column, are a sample of others: from ten on, or persons and documents.

    >>> sources_are_units(4, "site"), sources_are_units(4, "Patient ID"), sources_are_units(12, "site")
    (False, True, True)
    """
    return n_sources > MOST_STRATA or (n_sources > 1 and compact(column) in OF_ITS_OWN)


def families(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The columns that hold a score per class, by what they are called: class -> column for each family.

    >>> families(["id", "prob_cat", "prob_dog", "p0", "PC1", 'Scored Probabilities for Class "x"'])
    {'prob': {'cat': 'prob_cat', 'dog': 'prob_dog'}, 'p': {'0': 'p0'},
     'scoredprobabilitiesforclass': {'x': 'Scored Probabilities for Class "x"'}}
    """
    matches = filter(None, map(_FAMILY.fullmatch, columns))
    return by_both((compact(match["family"]), match["number"] or match["name"], match.string) for match in matches)


def stems(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The columns that belong to one of several models or tasks, by its name: role -> column for each.

    >>> stems(["acl_true", "acl_prob", "id", "pred_resnet"])
    {'acl': {'truth': 'acl_true', 'confidence': 'acl_prob'}, 'resnet': {'predicted': 'pred_resnet'}}
    """
    matches = filter(None, (_STEM.fullmatch(column) or _REVERSED.fullmatch(column) for column in columns))
    return by_both((match["stem"], _STEM_ROLES[compact(match["role"])], match.string) for match in matches)


def model_families(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The columns that hold a score per class of one of several models: class -> column for each model.

    >>> model_families(["id", "resnet_prob_cat", "resnet_prob_dog", "prob_cat"])
    {'resnet': {'cat': 'resnet_prob_cat', 'dog': 'resnet_prob_dog'}}
    """
    matches = filter(None, map(_MODEL.fullmatch, columns))
    return by_both((match["model"], match["name"], match.string) for match in matches)


def by_both(entries: Iterable[tuple[Any, str, str]]) -> dict[Any, dict[str, str]]:
    """What two names stand for, by the first and then by the second; the earliest where both recur.

    >>> by_both([("train", "x", "train_x"), ("train", "y", "train_y"), ("train", "x", "x_train")])
    {'train': {'x': 'train_x', 'y': 'train_y'}}
    """
    known: dict[Any, dict[str, str]] = {}
    for first, second, entry in entries:
        known.setdefault(first, {}).setdefault(second, entry)
    return known


def ranked(column: str) -> tuple[int, str] | None:
    """The rank that a column of a top-k file is about, and what it holds, compact.

    >>> ranked("Top 2 Confidence"), ranked("topic")
    ((2, 'confidence'), None)
    """
    match = _RANK.fullmatch(column)
    return (int(match["rank"]), compact(match["rest"])) if match else None


def encode(labels: Sequence[str], *, place: str) -> tuple[Integer[np.ndarray, " n_samples"], tuple[str, ...]]:
    """Codes and class names of labels; the names in numeric order where all of them are numbers, else alphabetically.

    DataError, at `place`, where these are no classes: all labels alike, or hardly two that are.

    >>> codes, class_names = encode(["10", "9", "10"], place="t.tsv: column 'y'")
    >>> codes, class_names
    (array([1, 0, 1]), ('9', '10'))
    """
    names = set(labels)
    if len(names) == 1:
        raise DataError(
            f"{place}: {labels[0]!r} is the only class. A classifier needs two classes or more; is this the label?"
        )
    check_few(names, len(labels), place)
    class_names = class_order(names)
    return codes_of(labels, class_names), class_names


def check_few(names: Collection[str], n_samples: int, place: str) -> None:
    """DataError, at `place`, where so many classes are no classes.

    >>> check_few({"cat", "dog"}, 2, "t.tsv")
    """
    if len(names) > max(_MANY_CLASSES, n_samples / 2):
        raise DataError(
            f"{place}: {len(names):,} classes for {n_samples:,} samples. Touchstone tests classifiers, which have "
            f"few classes; are these measurements or ids?"
        )


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Class names in numeric order where all of them are numbers, else alphabetically.

    >>> class_order(["10", "9"]), class_order(["10", "9", "b"])
    (('9', '10'), ('10', '9', 'b'))
    """
    names = set(names)
    if all(NUMBER.fullmatch(name) for name in names):
        return tuple(sorted(names, key=lambda name: (float(name), name)))
    return tuple(sorted(names))


def codes_of(labels: Sequence[str], class_names: Sequence[str]) -> Integer[np.ndarray, " n_samples"]:
    """The positions of labels in `class_names`.

    >>> codes_of(["b", "a"], ("a", "b"))
    array([1, 0])
    """
    code_of = {name: code for code, name in enumerate(class_names)}
    return np.array([code_of[label] for label in labels], dtype=np.int64)


def numbered_names(names: Sequence[str], numbers: Sequence[str]) -> tuple[str, ...]:
    """The names that a file gives to its classes by their numbers, where it names all of them; none otherwise.

    >>> numbered_names(("cat", "dog"), ("1", "0")), numbered_names(("cat", "dog"), ("2",))
    (('dog', 'cat'), ())
    """
    if not all(number.isdecimal() and int(number) < len(names) for number in numbers):
        return ()
    return tuple(names[int(number)] for number in numbers)


def _whole(name: str) -> str:
    match = _WHOLE.fullmatch(name.strip())
    return match.group(1) if match else name


def _numbered(name: str) -> str:
    match = _NUMBERED.fullmatch(name.strip())
    return str(int(match.group(1))) if match else name


def _truth_value(name: str) -> str:
    return _TRUTH_VALUES.get(name.strip().lower(), _whole(name))


def _folded(name: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", name.casefold()).split()) or name


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "": str,
    "without '.0'": _whole,
    "by their numbers": _numbered,
    "true as 1, false as 0": _truth_value,
    "whatever their case and punctuation": _folded,
}


def common_names(truth: Collection[str], predicted: Collection[str]) -> tuple[dict[str, str], str] | None:
    """A name for every name on either side, and how they were matched; None where they have nothing in common.

    Names are kept as they are, unless another way of reading them, that never takes two names of one side for the
    same, brings the sides closer together. Whole numbers lose their ".0" in any case, as in "1.0". Numbers that one
    side may count from 0 and the other from 1 match nothing.

    >>> common_names({"0", "1"}, {"LABEL_0", "LABEL_1"})
    ({'0': '0', '1': '1', 'LABEL_0': '0', 'LABEL_1': '1'}, 'by their numbers')
    >>> common_names({"0", "1"}, {"ham", "spam"}) is None
    True
    >>> common_names({"0", "1"}, {"LABEL_1", "LABEL_2"}) is None
    True
    """
    fitting = {how: spelling for how, spelling in _SPELLINGS.items() if _brings_together(spelling, truth, predicted)}
    if not fitting:
        return None
    names = sorted({*truth, *predicted})
    how = min(fitting, key=lambda how: len({fitting[how](name) for name in names}))  # the first of those alike
    spelling = fitting[how]
    if spelling is _folded:
        shown = {spelling(name): name for name in (*sorted(predicted), *sorted(truth))}
        return {name: shown[spelling(name)] for name in names}, how
    return drop_points({name: spelling(name) for name in names}), how


def _brings_together(spelling: Callable[[str], str], truth: Collection[str], predicted: Collection[str]) -> bool:
    """Whether names of both sides mean the same when spelled so, and no two names of one side do."""
    known, answers = {spelling(name) for name in truth}, {spelling(name) for name in predicted}
    one_to_one = len(known) == len(set(truth)) and len(answers) == len(set(predicted))
    return one_to_one and bool(known & answers) and not (spelling is _numbered and _counted_apart(known, answers))


def _counted_apart(known: set[str], answers: set[str]) -> bool:
    """Whether both sides have numbers that the other lacks, and begin at different ones: as if counted from 0 and 1."""
    if known <= answers or answers <= known:
        return False
    lowest = [min((int(name) for name in names if name.isdecimal()), default=0) for names in (known, answers)]
    return lowest[0] != lowest[1]


def _is_code(name: str) -> bool:
    """Whether a name is a whole number, as one writes it."""
    return name.isdecimal() and name == str(int(name))


def counted_apart(truth: Collection[str], predicted: Collection[str]) -> bool:
    """Whether plain codes of both sides are the same but for one that all are higher by, as if counted from 0 and 1.

    One side may lack some classes. Sides of which one holds all codes of the other are taken as they stand.

    >>> counted_apart({"1", "2", "3"}, {"0", "1", "2"}), counted_apart({"0", "1", "2"}, {"0", "2"})
    (True, False)
    """
    if not all(map(_is_code, {*truth, *predicted})):
        return False
    known, answers = {int(name) for name in truth}, {int(name) for name in predicted}
    if known <= answers or answers <= known or {min(known), min(answers)} != {0, 1}:
        return False
    shifted = {code + min(known) - min(answers) for code in answers}
    return shifted <= known or known <= shifted


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OF_A_SPREADSHEET = re.compile(r"(?P<day>\d{1,2})-(?P<month>[A-Za-z]{3})")
_TAKEN_FOR_A_DATE = re.compile(r"(?P<month>[A-Za-z]{3,9}|\d{1,2})[-/ ]?(?P<day>\d{1,2})")


def stand_for(truth: Collection[str], predicted: Collection[str]) -> dict[str, str]:
    """The true name that each predicted one is which the truth does not know, spelled otherwise; none of several.

    Spelled otherwise are its case, its Unicode form, blanks, quotes and full stops around it, the dates that a
    spreadsheet makes of names, and codes: "LABEL_1", "class 1", "1.0" and, beside 0 and 1 alone, "True".

    >>> stand_for({"yes", "no"}, {"Yes", " no.", "YES", "maybe"}) == {"Yes": "yes", " no.": "no", "YES": "yes"}
    True
    >>> stand_for({"DEC1", "TP53", "5-6"}, {"1-Dec", "TP53", "6-May"}) == {"1-Dec": "DEC1", "6-May": "5-6"}
    True
    >>> stand_for({"0", "1"}, {"LABEL_0", "1.0", "True"}) == {"LABEL_0": "0", "1.0": "1", "True": "1"}
    True
    >>> stand_for({"a", "A"}, {" a"})
    {}
    """
    meant: dict[str, str] = {}
    ways = [(spelled, spelled), (_before_a_date, _of_a_date)]
    strange = set(predicted) - set(truth)
    code = _code_or_truth_value if {*map(_code, truth)} <= {"0", "1"} else _code
    if {*map(code, strange)} - {""} <= {*map(code, truth)}:
        ways.append((code, code))  # and none is moved by one
    for ours, theirs in ways:
        known = _only_names(truth, ours)
        answers = {name: theirs(name) for name in sorted(strange - meant.keys())}
        meant |= {name: known[key] for name, key in answers.items() if key and key in known}
    return meant


def _only_names(names: Iterable[str], key: Callable[[str], str]) -> dict[str, str]:
    """The name of each key that is of one name alone."""
    by_key: dict[str, list[str]] = {}
    for name in names:
        by_key.setdefault(key(name), []).append(name)
    return {each: alike[0] for each, alike in by_key.items() if len(alike) == 1}


def _code(name: str) -> str:
    """The number of what is a code; empty for anything else."""
    number = _numbered(_whole(name))
    return number if number.isdecimal() else ""


def _code_or_truth_value(name: str) -> str:
    return _code(_truth_value(name))


def spelled(name: str) -> str:
    """A name without its case and Unicode form, and without blanks, quotes and full stops around it."""
    return composed(name).casefold().strip(" \t\u00a0\"'`.") or name


def spelled_alike(names: Iterable[str]) -> list[list[str]]:
    """Names that differ in nothing but how they are spelled, group by group.

    >>> spelled_alike(["Yes", "no", "yes"])
    [['Yes', 'yes']]
    """
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(spelled(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def composed(name: str) -> str:
    """A name in the Unicode form in which a letter with its accent is one character (NFC)."""
    return unicodedata.normalize("NFC", name)


def _of_a_date(name: str) -> str:
    """The day and the month of what a spreadsheet shows for a date, such as 1-Dec; empty for anything else."""
    match = _OF_A_SPREADSHEET.fullmatch(name.strip())
    return _day(match["month"], match["day"]) if match else ""


def _before_a_date(name: str) -> str:
    """The day and the month that a spreadsheet takes a name for, such as DEC1 or 12-1; else the name."""
    match = _TAKEN_FOR_A_DATE.fullmatch(name.strip())
    return (match and _day(match["month"], match["day"])) or name


def _day(month: str, day: str) -> str:
    place = (
        int(month)
        if month.isdecimal()
        else 1 + next((at for at, known in enumerate(_MONTHS) if month.casefold().startswith(known)), -1)
    )
    return f"day {int(day)} of month {place}" if 1 <= place <= 12 and 1 <= int(day) <= 31 else ""


def drop_points(names: dict[str, str]) -> dict[str, str]:
    """Whole numbers without ".0", where all names are whole numbers and no two become one.

    >>> drop_points({"0.0": "0.0", "1.0": "1.0"})
    {'0.0': '0', '1.0': '1'}
    """
    shown = set(names.values())
    short = {name: _whole(name) for name in shown}
    if all(re.fullmatch(r"[+-]?\d+", name) for name in short.values()) and len(set(short.values())) == len(shown):
        return {name: short[value] for name, value in names.items()}
    return names


def renaming(names: Sequence[str], labels: Sequence[str], *, least: float = _SAME) -> dict[str, str] | None:
    """Which name stands for which label, row by row; None where rows disagree, or two names stand for one label.

    >>> renaming(["0", "1", "0"], ["cat", "dog", "cat"])
    {'0': 'cat', '1': 'dog'}
    >>> renaming(["0", "1", "0"], ["cat", "dog", "dog"]) is None
    True
    """
    pairs = Counter(zip(names, labels, strict=True))
    mapping: dict[str, str] = {}
    for (name, label), _ in pairs.most_common():
        if name not in mapping:
            mapping[name] = label
    n_same = sum(count for (name, label), count in pairs.items() if mapping[name] == label)
    if len(set(mapping.values())) < len(mapping) or n_same <= least * len(names):
        return None
    return mapping


def several_in_one(labels: Sequence[str]) -> int | None:
    """The first row whose label is several labels, as in "cat|dog" where both stand alone elsewhere; else None.

    >>> several_in_one(["cat", "dog", "cat|dog"]), several_in_one(["black, white", "red"])
    (2, None)
    """
    alone = dict.fromkeys(labels)  # in the order of the rows
    for label in alone:
        for mark in "|;,":
            parts = [part.strip() for part in label.split(mark)]
            if len(parts) > 1 and all(part in alone for part in parts):
                return labels.index(label) if isinstance(labels, list) else list(labels).index(label)
    return None


def agreement_by_chance(truth: Sequence[Hashable], predicted: Sequence[Hashable]) -> tuple[float, float]:
    """How many rows agree if one side is shuffled: the mean over all orders, and the standard deviation. Both exact.

    >>> agreement_by_chance(["a", "a", "b", "b"], ["a", "a", "b", "b"])
    (2.0, 1.1547005383792515)
    """
    n_rows = len(truth)
    known, answers = Counter(truth), Counter(predicted)
    both = [(known[label], answers[label]) for label in known.keys() & answers.keys()]
    counts = np.array(sorted(both), dtype=np.float64).reshape(-1, 2)
    products = counts.prod(axis=1)
    mean = products.sum() / n_rows
    if n_rows < 2:
        return float(mean), 0.0
    own = (products * (n_rows - counts[:, 0]) * (n_rows - counts[:, 1])).sum()
    shared = products.sum() ** 2 - (products**2).sum()
    return float(mean), float(np.sqrt(max(0.0, own + shared) / (n_rows**2 * (n_rows - 1))))
