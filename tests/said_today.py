"""What does the product say today of what README and the pictures show? Computed anew, each once in a process.

Recipes and data sets are asked through the public door, with what their pages begin with. The network of the pictures
is trained here, and asked by the plans that its pages begin with.
"""

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch

from tests.conftest import ROOT
from touchstone import Result, check
from touchstone.core.data import load_example
from touchstone.core.data.predictions.record import models_in, pair_predictions
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import rows_of_run
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.weak_slices import find_weak_slices
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.models.example_predictions import PREDICTION_EXAMPLES, example_predictions
from touchstone.core.models.model_file import model_fingerprint
from touchstone.core.models.networks import multiplies_bfloat16
from touchstone.core.parameters import About, usual_plan
from touchstone.core.questions import QUESTIONS, plan_class, with_page
from touchstone.core.report import (
    cluster_folds,
    matched_subsets,
    model_comparison,
    overview,
    story,
    test_quality,
    weak_slices,
)
from touchstone.core.report.overview import Answered
from touchstone.core.report.parts import Answer, KeyNumber
from touchstone.core.report.run_report import answer_of
from touchstone.core.trials import Context, FoldPlan, Plan
from touchstone.core.trials.layer_parts import layer_parts, layers_offered, split_of
from touchstone.core.trials.plan import to_json
from touchstone.core.trials.training_plan import TrainingPlan
from touchstone.core.workspace import StoredModel
from touchstone.ui.cluster_folds import results
from touchstone.ui.shell import questions

FOLDER = ROOT / "docs" / "screenshots"
PRINTED = ROOT / "docs" / "report"
FILE = FOLDER / "said.json"
RENEW = "`make screenshots` renews the pictures and docs/screenshots/said.json"
DATA, FILES = "digits", ("digits_own", "digits_shifted")
MODEL_FILES = ("digits_fewer", "digits_own")
SLICED = "digits_own"
"""The data set that README and the pictures are about, and the files of predictions."""
RECIPES = ("cluster_folds", "source_robustness", "data_set_adequacy")
"""The questions that are asked of the digits with what their pages begin with."""
OF_NETWORK = ("average_case", "test_quality", "guided_tests")
NETWORK = TrainingPlan("cnn_1", n_epochs=10)
"""The one model that the other pages are about."""
BESIDE = ("training", "clouds")
"""What is run besides: the training, and the data without groups that held-out clusters are compared with."""


def plain(text: str) -> str:
    """A sentence with one usual space wherever there is space, as a browser and a file may write it differently.

    >>> plain("1\u202f797 images")
    '1 797 images'
    """
    return " ".join(text.split())


@dataclass(frozen=True)
class Card:
    """What the card of a verdict says: the answer, over what, what next; and the numbers beside them."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, verdict: Verdict, metrics: Iterable[KeyNumber]) -> "Card":
        """A verdict and its numbers, as a page draws them."""
        parts = (verdict.headline, verdict.used, verdict.advice)
        written = (plain(f"{metric.label}: {metric.value} {metric.interval}") for metric in metrics)
        return cls(tuple(plain(part) for part in parts if part), tuple(written))


@cache
def asked(question: str) -> Result:
    """A question of the digits, with what its page begins with."""
    return check(question, DATA)


@cache
def network() -> tuple[StoredModel, bytes]:
    """The network of the pictures, trained here, as the workspace would know it."""
    kept: list[tuple[bytes, Mapping[str, Any]]] = []

    def keep(stored: bytes, **about: Any) -> str:
        kept.append((stored, about))
        return model_fingerprint(stored)

    digits = load_example(DATA)
    NETWORK.run_trial(digits, 0, context=Context(keep_model=keep))
    [(stored, about)] = kept
    counted, made_by = (about["n_test"], about["n_correct"]), to_json(NETWORK)
    named = (model_fingerprint(stored), digits.fingerprint, about["name"], NETWORK.model, "", made_by)
    return StoredModel(*named, *counted, created=0.0), stored


@cache
def run_of_network(stem: str) -> tuple[pd.DataFrame, Plan]:
    """The rows of a run about the network, by the plan that its page begins with, and the plan."""
    digits, (model, stored) = load_example(DATA), network()
    kind, settled = plan_class(QUESTIONS[stem]), {"model": model.fingerprint}
    layers = layers_offered(stored, digits)
    if any(field.name == "layer" for field in fields(kind)):
        settled["layer"] = layers[0]
    plan = usual_plan(kind, About(digits, model=model, layers=layers), **settled)
    context = Context(model={model.fingerprint: stored}.__getitem__)
    trials = [plan.run_trial(digits, trial, context=context) for trial in range(plan.n_trials(digits))]
    return pd.concat(trials, ignore_index=True), plan


@cache
def answer_to(stem: str) -> Answer:
    """What a run comes to."""
    digits, question = load_example(DATA), QUESTIONS[stem]
    if stem in RECIPES:
        rows, plan = asked(stem).rows, usual_plan(plan_class(question), About(digits))
    else:
        rows, plan = run_of_network(stem)
    return answer_of(rows, digits, plan)


def card_of_data_set() -> Card:
    """What the page says of the digits before anything is trained on them."""
    return Card.of(asked("data_sets").verdict, asked("data_sets").answer.key_numbers)


def card_of_folds() -> Card:
    """What the page says of a run of folds, once it has looked at what else differs between them."""
    digits, plan = load_example(DATA), usual_plan(FoldPlan, About(load_example(DATA)))
    folded = results.Folded("", rows_of_run(asked("cluster_folds").rows, digits), plan, digits)
    scores = fold_performance(folded.rows, metric=ScoredBy())
    related = results.related(folded, scores, plan.features(digits))
    body = cluster_folds.answer(scores, folded.rows, relations=related.relations, shifts=related.shifts)
    return Card.of(body.verdict, body.key_numbers)


def card_of_test_set() -> Card:
    """What the page says at once of the test set that the network was judged on."""
    digits, (model, stored) = load_example(DATA), network()
    parts = layer_parts(stored, digits, layer=None, **split_of(model.training_plan, digits))
    quality = measure_quality(parts.train, parts.test, rng=np.random.default_rng(0))
    shown = test_quality.answer(quality, is_drawn=parts.is_drawn)
    return Card.of(shown.verdict, shown.key_numbers)


def card_of_files() -> Card:
    """What the page says of the two files of predictions."""
    pairs = pair_predictions(*(example_predictions(name).read() for name in FILES))
    answer = matched_subsets.answer(MatchingPlan().compare(pairs))
    return Card.of(answer.verdict, answer.key_numbers)


def card_of_models() -> Card:
    """What the page says of the two models on the same digits."""
    first, second = (models_in(example_predictions(name).read()) for name in MODEL_FILES)
    titles = tuple(PREDICTION_EXAMPLES[name].title for name in MODEL_FILES)
    answer = model_comparison.answer(model_comparison.compared_models((first, second), titles))
    return Card.of(answer.verdict, answer.key_numbers)


def card_of_slices() -> Card:
    """What the page says of the model on its own digits, which these digits describe."""
    predictions = example_predictions(SLICED).read().select()
    return Card.of(weak_slices.answer(find_weak_slices(predictions, load_example(DATA))).verdict, ())


def card_of_everything() -> Card:
    """What the overview says of all that is asked of the digits here."""
    of_recipes = [Answered(QUESTIONS[stem], stem, asked(stem).verdict, asked(stem).quantities) for stem in RECIPES]
    of_network = [
        Answered(QUESTIONS[stem], stem, answer.verdict, answer.numbers)
        for stem in OF_NETWORK
        if (answer := answer_to(stem)).verdict is not None
    ]
    answers = [*of_recipes, *of_network]
    shown, n_questions = overview.marks(answers, [network()[0]]), sum(bool(each.kind) for each in with_page().values())
    return Card.of(story.summary(answers, shown, n_questions=n_questions), overview.key_numbers(answers))


def card_of_runs() -> Card:
    """What the list of runs says of all that was run for the pictures."""
    run = SimpleNamespace(state="done", fingerprint=DATA)
    return Card.of(questions.in_short([run] * len((*RECIPES, *OF_NETWORK, *BESIDE))), ())


PAGES = {
    "overview": card_of_everything,
    "data_sets": card_of_data_set,
    "cluster_folds": card_of_folds,
    "matched_subsets": card_of_files,
    "model_comparison": card_of_models,
    "weak_slices": card_of_slices,
    "test_quality": card_of_test_set,
    "runs": card_of_runs,
}
"""The pages whose card is not that of a run's report, or has more in it."""


def card_of(stem: str) -> Card:
    """What the card of a page says today of what its picture shows."""
    return PAGES[stem]() if stem in PAGES else Card.of(answer_to(stem).verdict, answer_to(stem).key_numbers)


def processor() -> str:
    """What the weights of a trained network hang on besides its plan: torch and what the processor multiplies in."""
    multiplies = "bfloat16" if multiplies_bfloat16("cpu") else "float32"
    kernels = torch.backends.cpu.get_cpu_capability()
    return f"torch {torch.__version__.partition('+')[0]}, {platform.machine()} {kernels}, {multiplies}"


def digests() -> dict[str, str]:
    """The SHA-256 of every picture, by its path."""
    files = sorted(file for folder in (FOLDER, PRINTED) for file in folder.rglob("*.png"))
    return {file.relative_to(ROOT).as_posix(): sha256(file.read_bytes()).hexdigest() for file in files}


def noted() -> dict[str, Any]:
    """What was written beside the pictures when they were drawn."""
    return json.loads(FILE.read_text("utf-8"))
