"""How does a result get into MLflow? Its numbers with their intervals, its claims, and all of it as JSON."""

import re
from itertools import count
from textwrap import shorten
from typing import Any

from touchstone.core.integrations.evaluated import needed
from touchstone.core.public.result import Result

MOST_AT_ONCE = 1000
"""So many metrics does MLflow take in one call."""
_LONGEST = 240  # letters of a name, "low" and so on apart


def log_to_mlflow(result: Result, name: str = "") -> None:
    """Log a result into MLflow's active run, or into a new one where none is active, as MLflow's own functions do.

    Each number is a metric, with `.low` and `.high`, the ends of its 95 % interval, and `.n` beside it; what is unknown
    is left out. Names keep letters, digits, points and hyphens: "source_robustness.rho[svm]" is
    source_robustness.rho_svm. Tags are `touchstone.version`, `touchstone.headline` and the decision of each kind of
    claim, such as `touchstone.claim.M01` (docs/claims.md). The whole result is the artifact touchstone/result.json.

    `name` tells several results of a run apart: it begins the names of all of these. It needs mlflow, of which
    mlflow-skinny is enough: ImportError says so.

    Examples
    --------
    >>> log_to_mlflow(compare("old.csv", "new.csv"), "test set")  # doctest: +SKIP
    """
    mlflow = needed("mlflow", "mlflow-skinny")
    content = result.to_dict()
    metrics = _metrics(content, name)
    for start in range(0, len(metrics), MOST_AT_ONCE):
        mlflow.log_metrics(dict(metrics[start : start + MOST_AT_ONCE]))
    mlflow.set_tags(_tags(content, name))
    mlflow.log_text(result.to_json(), f"touchstone/{_plain(name) or 'result'}.json")


def _metrics(content: dict[str, Any], name: str) -> list[tuple[str, float | int]]:
    """Every number that is known, under a name that MLflow takes.

    >>> number = {"number": "rho[svm, kmeans]", "value": 0.9, "lower": 0.8, "upper": None, "n": 40}
    >>> _metrics({"numbers": [number, {**number, "number": "rho[svm/kmeans]"}]}, "new sites")
    [('new_sites.rho_svm_kmeans', 0.9), ('new_sites.rho_svm_kmeans.low', 0.8), ('new_sites.rho_svm_kmeans.n', 40),
     ('new_sites.rho_svm_kmeans_2', 0.9), ('new_sites.rho_svm_kmeans_2.low', 0.8), ('new_sites.rho_svm_kmeans_2.n', 40)]
    """
    metrics: dict[str, float | int] = {}
    for number in content["numbers"]:
        plain = ".".join(filter(None, map(_plain, (name, number["number"]))))[:_LONGEST]
        titles = (f"{plain}_{times}" if times > 1 else plain for times in count(1))
        title = next(title for title in titles if title not in metrics)
        ends = {"": "value", ".low": "lower", ".high": "upper", ".n": "n"}
        metrics |= {title + end: number[key] for end, key in ends.items() if number[key] is not None}
    return [*metrics.items()]


def _tags(content: dict[str, Any], name: str) -> dict[str, str]:
    """What is said of all, in a word each: the headline, what each kind of claim is decided as, the version.

    >>> claims = [{"code": "M01", "decision": "above"}, {"code": "M01", "decision": "undecided"}]
    >>> _tags({"version": "0.2", "verdict": {"headline": "It falls."}, "claims": claims}, "")
    {'touchstone.headline': 'It falls.', 'touchstone.claim.M01': 'above, undecided', 'touchstone.version': '0.2'}
    """
    decisions: dict[str, dict[str, None]] = {}
    for claim in content["claims"]:
        decisions.setdefault(claim["code"], {})[claim["decision"]] = None
    tags = {"headline": shorten(content["verdict"]["headline"], 1000, placeholder=" …")}
    tags |= {f"claim.{code}": ", ".join(each) for code, each in decisions.items()}
    tags |= {key: str(value) for key, value in content.items() if isinstance(value, str | int | float)}
    return {".".join(filter(None, ("touchstone", _plain(name), key))): value for key, value in tags.items()}


def _plain(text: str) -> str:
    """A name of letters, digits, points and hyphens alone; all else is an underscore."""
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("_.")
