"""By which metric is a model judged? One choice for every page that can be about several; the address holds it."""

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, Metric
from touchstone.core.evaluate.source_robustness.by_metric import metrics_of_trials
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import session, share

ADDRESS = "metric"
FORMERLY = "score"
"""What addresses of folds called it; they go on to lead where they led."""
_REMEMBERED = "metric-of-this-session"
_OF_VERDICT = "What the verdict says of the model. Trials count right answers by class, which gives these."
AnyMetric = TypeVar("AnyMetric", ScoredBy, Metric)


def choose(every: Sequence[AnyMetric], *, label: str = "Metric", help: str) -> AnyMetric:
    """What is chosen of these, after the page's offer to share; the first is the usual one.

    A choice that this page does not have is kept for those that do.
    """
    offered = {f"{each.name}-{getattr(each, 'positive', None)}": each for each in every}
    titles = {key: _title(each) for key, each in offered.items()}
    first = next(iter(offered))
    control = One(ADDRESS, label, titles, first, help)
    former, unsaid = st.query_params.get_all(FORMERLY), ADDRESS not in {*st.session_state, *st.query_params}
    remembered = None if session.read_only() else st.session_state.get(_REMEMBERED)
    if unsaid and former:
        st.query_params[ADDRESS] = former
    st.query_params.pop(FORMERLY, None)
    check_address([control])
    if unsaid and (former or remembered in offered):
        st.session_state[ADDRESS] = control.read(former) if former else remembered
    with st.container(width=250):
        chosen = control.draw()
    if chosen != first:
        st.session_state[_REMEMBERED] = chosen
    elif remembered in offered:
        st.session_state.pop(_REMEMBERED)
    share.add(*written(offered[chosen]).popitem())
    return offered[chosen]


def of_counts(usual: ScoredBy, names: Sequence[str], class_names: tuple[str, ...]) -> list[ScoredBy]:
    """What is `usual`, then accuracy, then all of `names`, those of one class for each class."""
    of_all = [name for name in names if not METRICS[name].of_class]
    every = [usual, *map(ScoredBy, (ACCURACY, *of_all))]
    return every + [ScoredBy(name, of_class) for name in names if METRICS[name].of_class for of_class in class_names]


def choose_of_trials(dataset: Dataset, help: str = _OF_VERDICT, *, asked: bool = True) -> ScoredBy:
    """The same of accuracy and what else trials give, which count right answers by class; accuracy if it is not asked.

    Macro recall is left out: where every class is tested it is balanced accuracy by another name.
    """
    if not asked:
        return ScoredBy(ACCURACY)
    names = [name for name in metrics_of_trials(dataset.n_classes) if name != "recall_macro"]
    return choose(of_counts(ScoredBy(ACCURACY), names, dataset.class_names), help=help)


def written(chosen: ScoredBy | Metric) -> dict[str, list[str]]:
    """A choice as the address holds it."""
    return {ADDRESS: [_title(chosen)]}


def _title(metric: ScoredBy | Metric) -> str:
    title = METRICS[metric.name].title if getattr(metric, "positive", None) is None else metric.title
    return title[0].upper() + title[1:]
