"""What each column is gets known by names and values; what could be two things is asked, and answers are kept."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data import DataError, Roles, RolesNeeded, guess_roles, join_predictions
from touchstone.core.data.predictions.roles import Part
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.data.tables.table import Table, make_table

N = 60
RNG = np.random.default_rng(0)
IDS = [f"r{row}" for row in range(N)]
TRUE = RNG.choice(["cat", "dog", "fox"], size=N).tolist()
SAID = [label if RNG.random() < 0.7 else "dog" for label in TRUE]
TRUE_2 = RNG.choice(["ham", "spam"], size=N).tolist()
SAID_2 = [label if RNG.random() < 0.7 else "ham" for label in TRUE_2]
CONF = [f"{value:.3f}" for value in RNG.uniform(0.51, 1, size=N)]
FREE = RNG.normal(size=N).round(3).astype(str).tolist()
FOLDS = (RNG.integers(5, size=N)).astype(str).tolist()
SETS = RNG.choice(["old", "new"], size=N).tolist()


def proba(names: list[str], said: list[str]) -> dict[str, list[str]]:
    """Probabilities, highest for the label that was said."""
    scores = RNG.uniform(0.1, 1, size=(len(said), len(names)))
    scores[np.arange(len(said)), [names.index(label) for label in said]] += 1.2
    scores /= scores.sum(axis=1, keepdims=True)
    return {name: scores[:, code].astype(str).tolist() for code, name in enumerate(names)}


PROBA = proba(["cat", "dog", "fox"], SAID)
PROBA_2 = proba(["ham", "spam"], SAID_2)


def table(columns: dict[str, list[str]], name: str = "t.tsv") -> Table:
    return make_table(name, list(columns), list(columns.values()), lines=range(2, 2 + N))


def prefixed(prefix: str, columns: dict[str, list[str]] = PROBA, suffix: str = "") -> dict[str, list[str]]:
    return {f"{prefix}{name}{suffix}": values for name, values in columns.items()}


NAMES = {
    "id": ["id", "ids", "idx", "index", "filename", "filepath", "doc_id", "textid", "Doc ID", "_id", "pairID"],
    "truth": [
        *("gold", "gold_label", "y_true", "true_label", "target", "reference", "ground_truth", "actual"),
        *("given_label", "True Label", "Y_TRUE", "groundTruth"),
    ],
    "predicted": ["predicted", "predicted_label", "pred", "y_pred", "yhat", "scored_labels", "Scored Labels"],
    "confidence": ["confidence", "prob", "probability", "max_prob", "y_score", "prediction_proba", "Confidence Score"],
    "fold": ["fold", "cluster", "clustering_labels", "split", "partition"],
    "set": ["set"],
    "source": ["group", "subject", "source", "site", "domain"],
    "model": ["model"],
    "trial": ["trial"],
    "task": ["task"],
}
VALUES = {"id": IDS, "truth": TRUE, "predicted": SAID, "confidence": CONF, "fold": FOLDS}


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in NAMES.items() for name in names])
def test_names(role, name):
    usual = {"id": "id", "truth": "gold", "predicted": "pred", "confidence": "conf"}
    columns = {usual[other]: VALUES[other] for other in usual if other != role}
    guess = guess_roles(table({**columns, name: VALUES.get(role, SETS)}))
    assert getattr(guess, role) == name
    for other, column in usual.items():
        if other != role:
            assert getattr(guess, other) == column
    assert "by its name" in dict(guess.why)[role]


def test_a_split_in_words_is_a_set():
    assert guess_roles(table({"gold": TRUE, "pred": SAID, "split": SETS})).set == "split"


SAME = tuple((name, name) for name in ("cat", "dog", "fox"))
GUESSED = {
    "label and prediction": ({"label": TRUE, "prediction": SAID}, Roles(truth="label", predicted="prediction")),
    "label beside a predicted": ({"label": TRUE, "pred": SAID}, Roles(truth="label", predicted="pred")),
    "label beside a gold": ({"gold": TRUE, "label": SAID}, Roles(truth="gold", predicted="label")),
    "label and score beside a gold": (
        {"gold": TRUE, "label": SAID, "score": CONF},
        Roles(truth="gold", predicted="label", confidence="score"),
    ),
    "class and labels": ({"gold": TRUE, "class": SAID}, Roles(truth="gold", predicted="class")),
    "labels with prediction and score": (
        {"labels": TRUE, "prediction": SAID, "score": CONF},
        Roles(truth="labels", predicted="prediction", confidence="score"),
    ),
    "y and y_pred": ({"y": TRUE, "y_pred": SAID}, Roles(truth="y", predicted="y_pred")),
    "a name of the truth beside it": (
        {"target": TRUE, "label": [{"cat": "0", "dog": "1", "fox": "2"}[name] for name in TRUE], "pred": SAID},
        Roles(truth="target", predicted="pred"),
    ),
    "prob_cat": (
        {"gold": TRUE, **prefixed("prob_")},
        Roles(truth="gold", probabilities=tuple((name, f"prob_{name}") for name in PROBA)),
    ),
    "bare names of classes": ({"gold": TRUE, **PROBA}, Roles(truth="gold", probabilities=SAME)),
    "cat_prob": (
        {"gold": TRUE, **prefixed("", suffix="_prob")},
        Roles(truth="gold", probabilities=tuple((name, f"{name}_prob") for name in PROBA)),
    ),
    **{
        f"{pattern} of {what}": (
            {"gold": TRUE, **{pattern.format(name): values for name, values in PROBA.items()}},
            Roles(truth="gold", probabilities=tuple((name, pattern.format(name)) for name in PROBA)),
        )
        for pattern, what in (
            *(("y_pred_{}", "Keras"), ("pred_{}", "others"), ("class_{}", "others"), ("LABEL_{}", "transformers")),
            *(("{}_logit", "others"), ("P(y={})", "books"), ("log_prob_{}", "scikit-learn"), ("out_{}", "others")),
        )
    },
    "models that contradict each other": (
        {"gold": TRUE_2, "pred_a": SAID_2, "pred_b": [{"ham": "spam", "spam": "ham"}[name] for name in SAID_2]},
        Roles("gold", parts=(Part("model", "a", None, "pred_a"), Part("model", "b", None, "pred_b"))),
    ),
    "an id rather than an unnamed index": (
        {"": [str(row) for row in range(N)], "exam_id": IDS, "gold": TRUE, "pred": SAID},
        Roles("gold", "pred", id="exam_id"),
    ),
    "labels and scores by rank": (
        {"gold": TRUE, "pred_1": SAID, "prob_1": CONF, "pred_2": TRUE, "prob_2": ["0.1"] * N},
        Roles("gold", "pred_1", "prob_1"),
    ),
    "a score that is no probability, beside a label": (
        {"gold": TRUE, "pred": SAID, "score": FREE},
        Roles("gold", "pred"),
    ),
    "columns about classes that are no scores": (
        {"gold": TRUE, "pred": SAID, "class_weight": CONF, "pred_time": CONF},
        Roles("gold", "pred"),
    ),
    "Azure": (
        {"gold": TRUE, **prefixed('Scored Probabilities for Class "', suffix='"'), "Scored Labels": SAID},
        Roles(
            truth="gold",
            predicted="Scored Labels",
            probabilities=tuple((name, f'Scored Probabilities for Class "{name}"') for name in PROBA),
        ),
    ),
    "label beside probabilities": (
        {"label": TRUE, **prefixed("p_")},
        Roles(truth="label", probabilities=tuple((name, f"p_{name}") for name in PROBA)),
    ),
    "principal components are none": ({"gold": TRUE, "pred": SAID, "PC1": FREE, "PC2": FREE}, Roles("gold", "pred")),
    "models by their column": (
        {"gold": TRUE, "resnet": SAID, "vit": TRUE[:30] + SAID[30:]},
        Roles("gold", parts=(Part("model", "resnet", None, "resnet"), Part("model", "vit", None, "vit"))),
    ),
    "models side by side, beside a column that names them all": (
        {"gold": TRUE, "a_pred": SAID, "b_pred": SAID, "model": ["zoo"] * N},
        Roles("gold", parts=(Part("model", "a", None, "a_pred"), Part("model", "b", None, "b_pred"))),
    ),
    "scores of every class, by model": (
        {"gold": TRUE, **prefixed("a_prob_"), **prefixed("b_prob_"), "b_pred": SAID},
        Roles(
            "gold",
            parts=(
                Part("model", "a", probabilities=tuple((name, f"a_prob_{name}") for name in PROBA)),
                Part("model", "b", None, "b_pred", probabilities=tuple((name, f"b_prob_{name}") for name in PROBA)),
            ),
        ),
    ),
    "models by suffix": (
        {"label": TRUE, "a_pred": SAID, "a_conf": CONF, "b_pred": SAID, "b_conf": CONF},
        Roles(
            "label",
            parts=(Part("model", "a", None, "a_pred", "a_conf"), Part("model", "b", None, "b_pred", "b_conf")),
        ),
    ),
    "tasks by suffix": (
        {"a_true": TRUE, "a_pred": SAID, "b_true": TRUE_2, "b_pred": SAID_2},
        Roles(parts=(Part("task", "a", "a_true", "a_pred"), Part("task", "b", "b_true", "b_pred"))),
    ),
    "one model, by its values": ({"gold": TRUE, "resnet": SAID}, Roles("gold", "resnet")),
    "other labels do not agree": ({"gold": TRUE, "pred": SAID, "colour": SETS}, Roles("gold", "pred")),
    "a vector": (
        {"gold": TRUE, "v": [json.dumps([float(c) for c in row]) for row in zip(*PROBA.values(), strict=True)]},
        Roles("gold", vector="v"),
    ),
    "logits under the name of a truth": (
        {"gold_label": [f"[{a}, {b}]" for a, b in zip(FREE, FREE[::-1], strict=True)], "target": TRUE_2},
        Roles("target", vector="gold_label"),
    ),
    "top-k of ranks": (
        {"gold": TRUE, "pred": SAID, "prob_0": CONF, "prob_1": ["0.2"] * N, "prob_2": ["0.1"] * N},
        Roles("gold", "pred", "prob_0"),
    ),
    "Top 1 and Top 2": (
        {"gold": TRUE, "Top 1 Class": SAID, "Top 1 Confidence": CONF, "Top 2 Class": TRUE, "Top 2 Confidence": CONF},
        Roles("gold", "Top 1 Class", "Top 1 Confidence"),
    ),
    "a class in the name of the only probability": (
        {"gold": TRUE_2, "prob_spam": PROBA_2["spam"]},
        Roles("gold", confidence="prob_spam", positive="spam"),
    ),
    "a class at the end of the only probability": (
        {"gold": TRUE_2, "pred": SAID_2, "spam_prob": PROBA_2["spam"]},
        Roles("gold", "pred", "spam_prob", positive="spam"),
    ),
    "a cell that holds one number beside vectors": (
        {
            "settings": ['{"depth": 3}'] * N,
            "gold": TRUE,
            "v": [json.dumps([float(c) for c in row]) for row in zip(*PROBA.values(), strict=True)],
        },
        Roles("gold", vector="v"),
    ),
    "H2O": ({"predict": SAID, **PROBA, "gold": TRUE}, Roles("gold", "predict", probabilities=SAME)),
    "H2O with its response": (
        {"predict": SAID, **PROBA, "response": TRUE},
        Roles("response", "predict", probabilities=SAME),
    ),
    "a response in free text is no truth": (
        {"gold": TRUE, "pred": SAID, "response": [f"I say {row}" for row in range(N)]},
        Roles("gold", "pred"),
    ),
    "a label that is a sign": (
        {"gold": ["?" if row else "yes" for row in range(N)], "pred": ["yes"] * N, "first": CONF, "second": CONF[::-1]},
        Roles("gold", "pred"),
    ),
    "an unnamed index": ({"": IDS, "gold": TRUE, "pred": SAID}, Roles("gold", "pred", id="unnamed column 1")),
}


@pytest.mark.parametrize(("columns", "roles"), GUESSED.values(), ids=GUESSED)
def test_guessed(columns, roles):
    assert guess_roles(table(columns)) == roles
    if roles.vector is None:  # else it has to be asked which position is which class
        prediction_table(table(columns)).select(**_first(roles))


def _first(roles: Roles) -> dict[str, str]:
    return {roles.parts[0].kind: roles.parts[0].name} if roles.parts else {}


ASKED = {
    "label equals the argmax": ({"label": SAID, **prefixed("prob_")}, "truth", "'label' looks like the prediction"),
    "label equals the prediction": ({"label": SAID, "pred": SAID}, "truth", "'label' looks like the prediction"),
    "label and a confidence": ({"label": TRUE_2, "score": CONF}, "truth", "'label' looks like the prediction"),
    "two that could be the truth": ({"pred": SAID, "a": TRUE, "b": SETS}, "truth", "which column holds the truth"),
    "truth and something": ({"gold": TRUE, "thing": FOLDS}, "predicted", "which column holds what the model predicted"),
    "one probability, two classes": (
        {"gold": TRUE_2, "prob": PROBA_2["spam"]},
        "positive",
        "Is it that of ham or of spam",
    ),
    "label and a score around one half": ({"label": TRUE_2, "score": PROBA_2["spam"]}, "positive", "ham or of spam"),
    "a score that follows no threshold": (
        {"gold": TRUE_2, "pred": SAID_2, "score": [f"{row / N:.3f}" for row in range(N)]},
        "positive",
        "or of the predicted one",
    ),
    "numbers and names": (
        {"gold": [str(["cat", "dog", "fox"].index(name)) for name in TRUE], "pred": SAID},
        "classes",
        "says 0, 1, 2, the predictions say cat, dog, fox",
    ),
    "positions and names": (
        {"gold": TRUE, **{f"prob_{code}": values for code, values in enumerate(PROBA.values())}},
        "classes",
        "Which predicted name stands for which class",
    ),
    "labels counted from one": (
        {
            "gold": [str(["cat", "dog", "fox"].index(name)) for name in TRUE],
            "pred": [f"LABEL_{['cat', 'dog', 'fox'].index(name) + 1}" for name in SAID],
        },
        "classes",
        "says 0, 1, 2, the predictions say LABEL_1, LABEL_2, LABEL_3",
    ),
    "predicted labels counted from zero": (
        {
            "gold": [str(["cat", "dog", "fox"].index(name) + 1) for name in TRUE],
            "pred": [str(["cat", "dog", "fox"].index(name)) for name in SAID],
        },
        "classes",
        "says 1, 2, 3, the predictions say 0, 1, 2, as if one of them counted from 1",
    ),
    "counted from one": (
        {
            "gold": [str(["cat", "dog", "fox"].index(name) + 1) for name in TRUE],
            **{f"prob_{code}": values for code, values in enumerate(PROBA.values())},
        },
        "classes",
        "says 1, 2, 3, the predictions say 0, 1, 2",
    ),
}


@pytest.mark.parametrize(("columns", "role", "question"), ASKED.values(), ids=ASKED)
def test_asked(columns, role, question):
    with pytest.raises(RolesNeeded, match=question) as raised:
        prediction_table(table(columns))
    needed = raised.value
    assert needed.role == role
    assert len(needed.choices) > 1
    assert isinstance(needed.guess, Roles)


@pytest.mark.parametrize(
    "case",
    [
        "numbers and names",
        "positions and names",
        "counted from one",
        "labels counted from one",
        "predicted labels counted from zero",
    ],
)
def test_a_guessed_mapping_of_classes_needs_only_to_be_confirmed(case):
    columns = ASKED[case][0]
    with pytest.raises(RolesNeeded) as needed:
        prediction_table(table(columns))
    predictions = prediction_table(table(columns), roles=needed.value.guess).select()
    assert predictions.n_classes == 3
    assert predictions.accuracy == np.mean([a == b for a, b in zip(TRUE, SAID, strict=True)])


def codes(labels: list[str], first: int, names: str = "cat dog fox") -> list[str]:
    return [str(names.split().index(label) + first) for label in labels]


@pytest.mark.parametrize(("of_truth", "of_model"), [(1, 0), (0, 1)])
def test_codes_shifted_by_one_are_asked_about_also_where_a_class_was_never_predicted(of_truth, of_model):
    names = "ant bat cat dog fox gnu"
    truth, said = codes(["ant", "gnu", *TRUE[2:]], of_truth, names), codes(SAID, of_model, names)
    for columns in ({"gold": truth, "pred": said}, {"gold": truth, "a": said, "b": said}):
        roles = Roles("gold", "pred") if "pred" in columns else None
        if roles is None:
            roles = Roles("gold", parts=tuple(Part("model", name, predicted=name) for name in "ab"))
        full = columns | {"pred" if "pred" in columns else "a": codes(["ant", "gnu", *SAID[2:]], of_model, names)}
        with pytest.raises(RolesNeeded, match="as if one of them counted from 1") as needed:
            prediction_table(table(full), roles=roles)
        kept = replace(needed.value.guess, classes=tuple((name, name) for name, _ in needed.value.guess.classes))
        assert {name for _, name in kept.classes} <= set(needed.value.choices)
        as_they_stand = prediction_table(table(full), roles=kept)
        assert set(as_they_stand.class_names) == {*truth, *full["pred" if "pred" in full else "a"]}


def test_codes_that_only_lack_classes_of_each_other_are_not_asked_about():
    truth = [str(code) for code in RNG.choice([1, 2, 5, 9], size=N)]
    said = [str(code) for code in RNG.choice([0, 1, 2, 5], size=N)]
    made = prediction_table(table({"gold": truth, "pred": said}))
    assert made.class_names == ("0", "1", "2", "5", "9")


def test_codes_shifted_by_one_between_two_files_are_asked_about():
    known = table({"id": IDS, "gold": codes(TRUE, 1)}, "truth.tsv")
    given_codes = table({"id": IDS, "pred": codes(SAID, 0)}, "said.tsv")
    with pytest.raises(RolesNeeded, match="Which predicted name stands for which class") as needed:
        join_predictions(known, given_codes)
    joined = join_predictions(known, given_codes, roles=needed.value.guess).select()
    assert joined.accuracy == np.mean([a == b for a, b in zip(TRUE, SAID, strict=True)])


@pytest.mark.parametrize("positive", ["ham", "spam"])
def test_the_answer_says_of_which_class_a_probability_is(positive):
    roles = Roles("gold", confidence="prob", positive=positive)
    predictions = prediction_table(table({"gold": TRUE_2, "prob": PROBA_2["spam"]}), roles=roles).select()
    assert predictions.proba is not None
    column = predictions.proba[:, predictions.class_names.index(positive)]
    np.testing.assert_allclose(column, np.array(PROBA_2["spam"], float))


@pytest.mark.parametrize("positive", ["ham", "spam"])
def test_a_probability_of_exactly_one_half_predicts_its_class(positive):
    columns = {"gold": TRUE_2, "prob": ["0.5", "0.51", "0.49"] * (len(TRUE_2) // 3)}
    predictions = prediction_table(table(columns), roles=Roles("gold", confidence="prob", positive=positive)).select()
    said = [predictions.class_names[code] for code in predictions.y_pred]
    other = "spam" if positive == "ham" else "ham"
    assert said[:3] == [positive, positive, other]


def test_a_score_that_is_no_probability_stays_the_confidence_of_the_predicted_class():
    columns = ASKED["a score that follows no threshold"][0]
    roles = Roles("gold", "pred", "score", positive="predicted")
    predictions = prediction_table(table(columns), roles=roles).select()
    assert predictions.proba is None
    assert predictions.confidence is not None
    assert predictions.confidence[3] == 0.05


def test_given_roles_stand_although_they_look_wrong():
    columns = {"label": SAID, **prefixed("prob_")}
    roles = Roles(truth="label", probabilities=tuple((name, f"prob_{name}") for name in PROBA))
    predictions = prediction_table(table(columns), roles=roles).select()
    assert predictions.accuracy == 1
    assert any("agree in more than 99.9 %" in warning for warning in predictions.warnings)


def test_what_given_roles_lack_is_guessed():
    columns = {"odd": TRUE, "other": SETS, "pred": SAID, "prob": CONF}
    made = prediction_table(table(columns), roles=Roles(truth="odd"))
    assert (made.roles.truth, made.roles.predicted, made.roles.confidence) == ("odd", "pred", "prob")


WRONG = {
    "no such column": (Roles("gold", "said"), "there is no column 'said'. The columns are gold, pred, prob"),
    "twice": (Roles("gold", "gold"), "column 'gold' has two roles"),
    "positive is no class": (Roles("gold", "pred", "prob", positive="eel"), "said to be that of 'eel'"),
    "models in two ways": (
        Roles("gold", model="pred", parts=(Part("model", "a", predicted="prob"),)),
        "models stand side by side and in column 'pred' too",
    ),
    "one class twice": (
        Roles("gold", probabilities=(("ham", "prob"), ("ham", "pred"))),
        "class 'ham' has two columns",
    ),
}


@pytest.mark.parametrize(("roles", "message"), WRONG.values(), ids=WRONG)
def test_wrong_roles(roles, message):
    with pytest.raises(DataError, match=message):
        prediction_table(table({"gold": TRUE_2, "pred": SAID_2, "prob": CONF}), roles=roles)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
maybe = st.none() | names
pairs = st.lists(st.tuples(names, names), max_size=2).map(tuple)
parts = st.lists(st.tuples(st.sampled_from(["model", "task"]), names, maybe, maybe, maybe), max_size=2)
single = ("truth", "predicted", "confidence", "vector", "positive", "id", "model", "set", "fold", "task", "source")


@given(
    st.fixed_dictionaries(
        {
            **dict.fromkeys(single, maybe),
            **dict.fromkeys(("probabilities", "classes"), pairs),
            "scores": st.sampled_from([None, "probabilities", "logits"]),
        }
    ),
    parts,
)
def test_json_round_trip(values, parts):
    roles = Roles(**values, parts=tuple(Part(*part) for part in parts))
    assert Roles.from_json(roles.to_json()) == roles
    assert Roles.from_json(roles.to_json().encode()) == roles
    assert all(isinstance(line, str) for line in roles.lines())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"touchstone": "other"}',
        '{"touchstone": "prediction roles", "colour": "x"}',
        '{"touchstone": "prediction roles", "truth": 3}',
        '{"touchstone": "prediction roles", "truth": ["gold"]}',
        '{"touchstone": "prediction roles", "probabilities": [["a"]]}',
        '{"touchstone": "prediction roles", "parts": [{"kind": "x", "name": "y"}]}',
        '{"touchstone": "prediction roles", "scores": "odds"}',
    ],
)
def test_json_of_something_else(text):
    with pytest.raises(DataError, match="This is no file of roles"):
        Roles.from_json(text)


def test_one_line_per_role():
    guess = guess_roles(table({"id": IDS, "gold": TRUE, **prefixed("prob_"), "fold": FOLDS}))
    assert guess.lines() == [
        "Truth: column 'gold' (by its name)",
        "Scores, a column per class: 'prob_cat' for cat, 'prob_dog' for dog, 'prob_fox' for fox (by their names)",
        "Id: column 'id' (by its name)",
        "Fold: column 'fold' (by its name)",
    ]


def test_models_with_scores_of_every_class_each_have_their_own():
    turned = {name: PROBA[other] for name, other in zip(PROBA, [*list(PROBA)[1:], next(iter(PROBA))], strict=True)}
    made = prediction_table(table({"gold": TRUE, **prefixed("a_prob_"), **prefixed("b_prob_", turned)}))
    assert made.models == ("a", "b")
    for model, columns in (("a", PROBA), ("b", turned)):
        one = made.select(model=model)
        assert one.proba is not None
        np.testing.assert_allclose(one.proba, np.column_stack([np.array(columns[name], float) for name in PROBA]))
    assert prediction_table(made_of := table({"gold": TRUE, **prefixed("a_logit_"), **prefixed("b_logit_")})).models
    assert any("softmax" in note for note in prediction_table(made_of).notes)
    again = Roles.from_json(made.roles.to_json())
    assert again == made.roles
