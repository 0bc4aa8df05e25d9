"""Whatever stands in a registry has its name everywhere, one that was added later too."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.data import load_example
from touchstone.core.models import MODELS, fits
from touchstone.core.models.networks import LinearNetwork
from touchstone.core.report.run_report import FINDER_TITLES, IN_SENTENCES, MODEL_TITLES, TITLES
from touchstone.core.report.source_robustness import title
from touchstone.core.trials import KNOWN_SOURCES, TrainingPlan, TrialPlan
from touchstone.core.trials.training_plan import trainable

EXAMPLES = ("digits", "wine")


@dataclass
class Toy(LinearNetwork):
    label: ClassVar[str] = "Toy network"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_called_by_its_label_and_planned_where_it_fits(name):
    assert MODEL_TITLES[name] == TITLES[name] == IN_SENTENCES[name] == MODELS[name].label
    for dataset in map(load_example, EXAMPLES):
        plan = TrialPlan(models=(name,), n_repeats=1, n_clusterings=1)
        if fits(MODELS[name], dataset):
            assert plan.n_trials(dataset) == 4
        else:
            with pytest.raises(ValueError, match=f"{MODELS[name].label} cannot be trained on {dataset.name}"):
                plan.n_trials(dataset)


@pytest.mark.parametrize("name", SOURCE_FINDERS)
def test_a_finder_is_called_by_its_entry_and_planned(name):
    finder = SOURCE_FINDERS[name]
    assert (FINDER_TITLES[name], TITLES[name], IN_SENTENCES[name]) == (finder.title, finder.short, finder.in_sentences)
    others = [other for key, other in SOURCE_FINDERS.items() if key != name]
    assert finder.short not in [other.short for other in others]
    assert title(("svm", name), with_finder=True) == f"SVM, {finder.short}"
    needed = TrialPlan(source_finders=(name,)).needs(load_example("digits"))
    assert [plan.finder for plan in needed] == [name] * finder.trains


def test_what_is_added_later_has_its_name_and_its_place(monkeypatch):
    assert "toy" not in TITLES
    monkeypatch.setitem(MODELS, "toy", Toy)
    monkeypatch.setitem(SOURCE_FINDERS, "mine", SourceFinder("my own sources", cluster=lambda x, n, rng: None))
    assert (TITLES["toy"], MODEL_TITLES["toy"]) == ("Toy network", "Toy network")
    assert (TITLES["mine"], FINDER_TITLES["mine"], IN_SENTENCES["mine"]) == ("my own sources",) * 3
    assert trainable()["toy"] is Toy
    assert TrainingPlan("toy").title.startswith("Toy network")
    assert len(TITLES) == len(MODELS) + len(SOURCE_FINDERS) + 1
    assert TITLES[KNOWN_SOURCES] == "known"
