"""What do the names of a table's columns say?

They are looked up in what people call the columns of a file of predictions, case and punctuation folded.
"""

import re
from collections.abc import Iterable, Sequence

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
        *(
            "predict",
            "predlabel",
            "predictionlabel",
            "predictedlabels",
            "predclass",
            "labelpred",
            "labelpredicted",
            "ypredicted",
        ),
        *("modelprediction", "predictedcategory", "scoredlabel", "top1", "top1label", "top1class"),
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
}
ROW_NAMES = {"unnamed column 1", "unnamed: 0", "__index_level_0__"}  # what pandas writes for its index
# These mean opposite things in different tools: what else is there and the values decide.
TRUTH_LIKELY = ("label", "labels", "y", "class", "classes", "category", "response", "obs")  # of H2O and caret
PREDICTED_LIKELY = ("prediction", "predictions", "result", "output", "answer", "estimate", "decoded", "completion")
SCORE_LIKELY = (
    "score",
    "scores",
    "prediction",
    "predictions",
    "output",
    "outputs",
    "y",
    "ypred",
    "yhat",
    "pred",
    "preds",
)

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
UNSURE = {
    *("p", "prediction", "predictions", "ypred", "pred", "preds", "predicted", "yhat", "class", "label", "out"),
}
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


def families(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The columns that hold a score per class, by what they are called: class -> column for each family.

    >>> families(["id", "prob_cat", "prob_dog", "p0", "PC1", 'Scored Probabilities for Class "x"'])
    {'prob': {'cat': 'prob_cat', 'dog': 'prob_dog'}, 'p': {'0': 'p0'},
     'scoredprobabilitiesforclass': {'x': 'Scored Probabilities for Class "x"'}}
    """
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        if match := _FAMILY.fullmatch(column):
            family = found.setdefault(compact(match["family"]), {})
            family.setdefault(match["number"] or match["name"], column)
    return found


def stems(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The columns that belong to one of several models or tasks, by its name: role -> column for each.

    >>> stems(["acl_true", "acl_prob", "id", "pred_resnet"])
    {'acl': {'truth': 'acl_true', 'confidence': 'acl_prob'}, 'resnet': {'predicted': 'pred_resnet'}}
    """
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        if match := _STEM.fullmatch(column) or _REVERSED.fullmatch(column):
            found.setdefault(match["stem"], {}).setdefault(_STEM_ROLES[compact(match["role"])], column)
    return found


def model_families(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The columns that hold a score per class of one of several models: class -> column for each model.

    >>> model_families(["id", "resnet_prob_cat", "resnet_prob_dog", "prob_cat"])
    {'resnet': {'cat': 'resnet_prob_cat', 'dog': 'resnet_prob_dog'}}
    """
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        if match := _MODEL.fullmatch(column):
            found.setdefault(match["model"], {}).setdefault(match["name"], column)
    return found


def ranked(column: str) -> tuple[int, str] | None:
    """The rank that a column of a top-k file is about, and what it holds, compact.

    >>> ranked("Top 2 Confidence"), ranked("topic")
    ((2, 'confidence'), None)
    """
    match = _RANK.fullmatch(column)
    return (int(match["rank"]), compact(match["rest"])) if match else None
