"""Are hyperparameters chosen within the training part alone, and by sources that are held out there?"""

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.verdict import source_verdict
from touchstone.core.models import MODELS
from touchstone.core.models.classical import Cancelled, Svm
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.tuning import can_be_tuned, tuned


def sites(n_sites: int = 40, n_each: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What tells classes apart everywhere is weak; what tells sites apart is strong, and means nothing elsewhere."""
    rng = np.random.default_rng(seed)
    site = np.repeat(np.arange(n_sites), n_each)
    of_site = rng.integers(2, size=n_sites)
    y = np.where(rng.random(len(site)) < 0.9, of_site[site], 1 - of_site[site])
    place = rng.normal(size=(n_sites, 6))[site] + 0.05 * rng.normal(size=(len(site), 6))
    return np.column_stack([y + 0.7 * rng.normal(size=len(site)), place]), y, site


def test_folds_of_sources_choose_what_serves_new_ones_and_folds_of_samples_do_not():
    """In six worlds; half of the sites of each are new."""
    better = []
    for seed in range(6):
        x, y, site = sites(seed=seed)
        seen, options = site < 20, {"seed": 0, "n_classes": 2}
        right = []
        for groups in (site[seen], np.arange(int(seen.sum()))):
            model = tuned(Svm(), x[seen], y[seen], groups, **options).fit(x[seen], y[seen], **options)
            right.append((model.predict(x[~seen]) == y[~seen]).mean())
        better.append(right[0] - right[1])
    assert np.mean(better) > 0.02, better


def test_it_is_the_best_by_a_slow_loop():
    from sklearn.model_selection import StratifiedGroupKFold
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    x, y, site = sites()
    right = {}
    for train, test in StratifiedGroupKFold(3, shuffle=True, random_state=5).split(x, y, site):
        scale = StandardScaler().fit(x[train])
        for c in Svm.worth_trying["C"]:
            for gamma in Svm.worth_trying["gamma"]:
                fitted = SVC(C=c, gamma=gamma).fit(scale.transform(x[train]), y[train])
                hits = int((fitted.predict(scale.transform(x[test])) == y[test]).sum())
                right[c, gamma] = right.get((c, gamma), 0) + hits
    chosen = tuned(Svm(), x, y, site, seed=5, n_classes=2)
    assert right[chosen.C, chosen.gamma] == max(right.values())


def test_own_values_stay_where_there_is_nothing_to_choose_by():
    x, y, _ = sites()
    assert tuned(Svm(), x, y, np.zeros(len(y), dtype=np.int64), seed=0, n_classes=2) == Svm()
    boosting = MODELS["gradient_boosting"]()
    assert tuned(boosting, x, y, np.arange(len(y)), seed=0, n_classes=2) is boosting


def test_a_class_of_one_sample_and_a_stop_are_heard():
    x, y, site = sites(3, 5)
    y[:] = 0
    y[0] = 1
    assert can_be_tuned(type(tuned(Svm(), x, y, site, seed=0, n_classes=2)))
    with pytest.raises(Cancelled):
        tuned(Svm(), x, y, site, seed=0, n_classes=2, should_stop=lambda: True)


def test_trials_choose_in_the_training_part_and_say_what():
    """What is tested on must not matter: its labels are spoiled, and the choice stays."""
    wine = load_example("wine")
    plan = TrialPlan(
        models=("logistic", "nearest_neighbours"),
        n_repeats=2,
        n_clusterings=1,
        schemes=("source_exclusive",),
        tuned=True,
    )
    draw = plan.draws(wine)[0]
    rows = plan.run_trial(wine, 0, context=Context())
    assert rows["hyperparameters"].str.fullmatch(r"C [\d.]+").all()
    spoiled = wine.y.copy()
    spoiled[plan.split(wine, draw).test] = 0
    other = Dataset("spoiled", "tabular", wine.x, spoiled, wine.class_names, wine.ids)
    split, inner = plan.split(wine, draw), plan.inner(wine, draw, plan.split(wine, draw))
    choices = [
        tuned(MODELS["logistic"](), data.x[split.train], data.y[split.train], inner, seed=1, n_classes=3)
        for data in (wine, other)
    ]
    assert choices[0] == choices[1]
    assert plan.run_trial(wine, 1, context=Context())["hyperparameters"].isna().all(), "there is nothing to choose"


def test_a_verdict_names_what_was_chosen_and_sizes_choose_each_for_itself():
    wine = load_example("wine")
    plan = AdequacyPlan(models=("logistic",), n_repeats=2, n_clusterings=1, sizes=(30, 0), tuned=True)
    small = plan.run_trial(wine, 0, context=Context())
    assert small["hyperparameters"].notna().all()
    trials = TrialPlan(models=("logistic",), n_repeats=2, n_clusterings=1, tuned=True)
    rows = [trials.run_trial(wine, index, context=Context()) for index in range(trials.n_trials(wine))]
    findings = source_verdict(expected_accuracy_intervals(pd.concat(rows, ignore_index=True))).findings
    assert any(each.startswith("Hyperparameters were chosen by inner folds of each training part") for each in findings)
