"""Layouts of automatic training, of trackers of runs, and of tools that look at data and fairness."""

import json

import numpy as np

from tests.data.layouts.made import (
    CODES,
    CODES_2,
    FILES,
    LENGTHS,
    NO_TRUTH,
    PROBA,
    PROBA_2,
    SAID,
    SAID_2,
    SAID_NAMES,
    TEXTS,
    TOP,
    TRUE_NAMES,
    WIDTHS,
    Asked,
    N,
    Read,
    csv,
    jsonl,
    layout,
    records,
    scores,
)

UNSURE = Read(confidence=False)


def split(columns: dict, **more) -> str:
    """Names and rows apart, as `orient="split"`, trackers' tables and evaluations have them."""
    rows = [list(row.values()) for row in records(**columns)]
    return json.dumps({"columns": list(columns), **more, "data": rows})


LAYOUTS = [
    layout(
        "AutoGluon 1.1",
        "predict_proba with the label",
        "leaderboard_proba.csv",
        csv(**scores("{}"), label=TRUE_NAMES),
        Read(),
    ),
    layout(
        "PyCaret 3.3",
        "predict_model",
        "predicted.csv",
        csv(length=LENGTHS, width=WIDTHS, target=TRUE_NAMES, prediction_label=SAID_NAMES, prediction_score=TOP),
        Read(),
    ),
    layout(
        "PyCaret 3.3",
        "predict_model(raw_score=True), the target called species",
        "predicted.csv",
        csv(length=LENGTHS, species=TRUE_NAMES, prediction_label=SAID_NAMES, **scores("prediction_score_{}")),
        Asked("truth"),
    ),
    layout(
        "PyCaret 2.3",
        "predict_model, Label and Score",
        "predicted.csv",
        csv(length=LENGTHS, species=TRUE_NAMES, Label=SAID_NAMES, Score=TOP),
        Asked("truth"),
    ),
    layout(
        "TPOT 0.12",
        "class and predicted",
        "tpot.csv",
        csv(length=LENGTHS, **{"class": TRUE_NAMES}, predicted=SAID_NAMES),
        UNSURE,
    ),
    layout(
        "FLAML 2.3",
        "the log of a search",
        "flaml.jsonl",
        jsonl(
            {
                "record_id": i,
                "logged_metric": {"n": 1},
                "validation_loss": 0.1 / (i + 1),
                "config": {"C": i},
                "learner": "lgbm",
            }
            for i in range(5)
        ),
        NO_TRUTH,
    ),
    layout(
        "Optuna 4.0",
        "trials_dataframe",
        "trials.csv",
        csv(number=range(4), value=[0.9, 0.91, 0.93, 0.9], params_C=[1, 2, 3, 4.5], state=["COMPLETE"] * 4),
        NO_TRUTH,
    ),
    layout(
        "Ludwig 0.10",
        "predictions without the truth",
        "predictions.csv",
        csv(species_predictions=SAID_NAMES, **scores("species_probabilities_{}"), species_probability=TOP),
        NO_TRUTH,
    ),
    layout(
        "Weights & Biases 0.18",
        "a logged table (JSON)",
        "table.table.json",
        split(
            {
                "id": [str(row) for row in range(N)],
                "image": [{"_type": "image-file", "path": path, "width": 8, "height": 8} for path in FILES],
                "guess": SAID,
                "truth": CODES,
                **scores("score_{}", "012"),
            },
            ncols=7,
            nrows=N,
        ),
        Read(),
    ),
    layout(
        "Weights & Biases 0.18",
        "a table exported as CSV",
        "wandb_export.csv",
        csv(id=range(N), guess=SAID, truth=CODES, **scores("score_{}", "012")),
        Read(),
    ),
    layout(
        "MLflow 2.16",
        "eval_results_table.json",
        "eval_results_table.json",
        split({"length": LENGTHS, "target": TRUE_NAMES, "prediction": SAID_NAMES}),
        UNSURE,
    ),
    layout(
        "MLflow 2.16",
        "log_table of prediction and label",
        "predictions.json",
        split({"inputs": TEXTS, "ground_truth": TRUE_NAMES, "outputs": SAID_NAMES}, index=list(range(N))),
        UNSURE,
    ),
    layout(
        "MLflow 2.16", "an answer of a served model", "served.json", json.dumps({"predictions": SAID_NAMES}), NO_TRUTH
    ),
    layout(
        "TensorBoard 2.18", "scalars as CSV", "run.csv", "Wall time,Step,Value\n1.7e9,0,0.5\n1.8e9,1,0.7\n", NO_TRUTH
    ),
    layout(
        "TensorBoard 2.18", "scalars as JSON", "run.json", "[[1583949923.2, 0, 0.5], [1583949924.1, 1, 0.7]]", NO_TRUTH
    ),
    layout(
        "DVC 3.55",
        "classes.csv of a confusion plot",
        "classes.csv",
        csv(actual=TRUE_NAMES, predicted=SAID_NAMES),
        UNSURE,
    ),
    layout(
        "Evidently 0.4",
        "target, prediction, a column per class",
        "current.csv",
        csv(target=TRUE_NAMES, prediction=SAID_NAMES, **scores("{}")),
        Read(),
    ),
    layout(
        "NannyML 0.12",
        "y_pred, y_pred_proba and a target of its own name",
        "analysis.csv",
        csv(id=range(N), salary=LENGTHS, repaid=CODES_2, y_pred=SAID_2, y_pred_proba=PROBA_2[:, 1]),
        Asked("truth"),
    ),
    layout(
        "Arize 7",
        "prediction_label, prediction_score, actual_label",
        "arize.csv",
        csv(
            prediction_id=[f"p{row}" for row in range(N)],
            prediction_label=SAID_NAMES,
            prediction_score=TOP,
            actual_label=TRUE_NAMES,
        ),
        Read(),
    ),
    layout(
        "cleanlab 2.7",
        "find_label_issues",
        "issues.csv",
        csv(
            True,
            is_label_issue=CODES != SAID,
            label_quality=np.round(PROBA[range(N), CODES], 4),
            given_label=CODES,
            predicted_label=SAID,
        ),
        UNSURE,
    ),
    layout(
        "FiftyOne 1.0",
        "samples.json",
        "samples.json",
        json.dumps(
            {
                "samples": [
                    {
                        "filepath": path,
                        "tags": ["test"],
                        "ground_truth": {"_cls": "Classification", "tags": [], "label": t},
                        "predictions": {"_cls": "Classification", "tags": [], "label": p, "confidence": c},
                    }
                    for path, t, p, c in zip(FILES, TRUE_NAMES, SAID_NAMES, TOP, strict=True)
                ]
            }
        ),
        Read(),
    ),
    layout(
        "Fairlearn 0.10",
        "y_true, y_pred and a sensitive feature",
        "fair.csv",
        csv(y_true=CODES_2, y_pred=SAID_2, sex=["f", "m"] * (N // 2)),
        Read(2, False),
    ),
    layout(
        "Aequitas 1.0",
        "entity_id, score, label_value",
        "aequitas.csv",
        csv(entity_id=range(N), score=SAID_2, label_value=CODES_2, race=["a", "b", "c"] * (N // 3)),
        Read(2, False),
    ),
]
