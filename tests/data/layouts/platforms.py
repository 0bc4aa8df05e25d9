"""Layouts of clouds, competitions and labelling tools."""

import json

from tests.data.layouts.made import (
    CODES,
    CODES_2,
    FILES,
    LENGTHS,
    NAMES,
    NO_TRUTH,
    PROBA,
    PROBA_2,
    SAID,
    SAID_2,
    SAID_NAMES,
    TEXTS,
    TOP,
    TRUE_NAMES,
    Asked,
    N,
    Read,
    Refused,
    csv,
    frame,
    jsonl,
    layout,
    lines,
    records,
    scores,
    zipped,
)

UNSURE = Read(confidence=False)

IDS = [f"s{row:03}" for row in range(N)]

RANKED = [
    [{"label": name, "score": float(p)} for p, name in sorted(zip(row, NAMES, strict=True), reverse=True)]
    for row in PROBA
]

TRUTH = ("truth.csv", csv(id=IDS, species=TRUE_NAMES))

PLAIN = ("truth.csv", csv(species=TRUE_NAMES))


def renamed(cells, **names: str) -> list:
    """The rankings with other keys."""
    return [[{names[key]: value for key, value in item.items()} for item in cell] for cell in cells]


LAYOUTS = [
    layout("Kaggle", "a submission alone", "submission.csv", csv(id=IDS, target=SAID_2), Refused("second file")),
    layout(
        "Kaggle",
        "a submission and the solution",
        "submission.csv",
        csv(id=IDS, target=SAID_2),
        Read(2, False),
        truth=("solution.csv", csv(id=IDS, target=CODES_2, Usage=["Public", "Private"] * (N // 2))),
    ),
    layout(
        "Kaggle",
        "a column per class and the solution",
        "submission.csv",
        csv(id=IDS, **scores("{}")),
        Read(),
        truth=TRUTH,
    ),
    layout(
        "Kaggle",
        "a submission in a zip, and the solution",
        "submission.zip",
        zipped(submission__csv=csv(id=IDS, species=SAID_NAMES)),
        UNSURE,
        truth=TRUTH,
    ),
    layout(
        "ISIC challenge",
        "one-hot truth and scores by class",
        "scores.csv",
        csv(image=IDS, **scores("{}", ["MEL", "NV", "BCC"])),
        Read(),
        truth=(
            "truth.csv",
            csv(image=IDS, **{name: (code == CODES).astype(float) for code, name in enumerate(["MEL", "NV", "BCC"])}),
        ),
    ),
    layout(
        "Vertex AI",
        "AutoML tables, batch prediction as CSV",
        "vertex.csv",
        csv(length=LENGTHS, species=TRUE_NAMES, **scores("species_{}_score")),
        Read(),
    ),
    layout(
        "Vertex AI",
        "AutoML tables, batch prediction as JSONL",
        "predictions_00001.jsonl",
        jsonl(
            {"instance": {"length": x, "species": t}, "prediction": {"classes": NAMES, "scores": row}}
            for x, t, row in zip(LENGTHS.tolist(), TRUE_NAMES, PROBA.tolist(), strict=True)
        ),
        Refused(r"no column holds the truth\. .*second file"),
    ),
    layout(
        "Vertex AI",
        "AutoML images, batch prediction",
        "predictions_00001.jsonl",
        jsonl(
            {
                "instance": {"content": f"gs://b/{f}", "mimeType": "image/jpeg"},
                "prediction": {"ids": ["1", "2", "3"], "displayNames": NAMES, "confidences": row},
            }
            for f, row in zip(FILES, PROBA.tolist(), strict=True)
        ),
        NO_TRUTH,
    ),
    layout(
        "Vertex AI", "a shard without an ending", "prediction.results-00000-of-00001", "{}", Refused("this is no table")
    ),
    layout(
        "BigQuery ML",
        "ML.PREDICT as JSONL",
        "bq.jsonl",
        jsonl(
            records(
                predicted_label=SAID_NAMES,
                predicted_label_probs=renamed(RANKED, label="label", score="prob"),
                length=LENGTHS,
                label=TRUE_NAMES,
            )
        ),
        Read(),
    ),
    layout(
        "BigQuery ML",
        "ML.PREDICT of a label called species",
        "bq.jsonl",
        jsonl(
            records(
                predicted_species=SAID_NAMES,
                predicted_species_probs=renamed(RANKED, label="label", score="prob"),
                species=TRUE_NAMES,
            )
        ),
        Read(),
    ),
    layout(
        "SageMaker Autopilot",
        "all inference response keys",
        "autopilot.csv",
        csv(
            target=TRUE_NAMES,
            predicted_label=SAID_NAMES,
            probability=TOP,
            probabilities=[str(row) for row in PROBA.tolist()],
            labels=[str(NAMES)] * N,
        ),
        Read(),
    ),
    layout(
        "SageMaker BlazingText",
        "batch transform beside a truth",
        "blazing.jsonl",
        jsonl({"label": [f"__label__{n}"], "prob": [p]} for n, p in zip(SAID_NAMES, TOP.tolist(), strict=True)),
        Read(),
        truth=("truth.txt", lines(f"__label__{name}" for name in TRUE_NAMES)),
    ),
    layout(
        "Amazon Comprehend",
        "custom classification beside a truth",
        "predictions.jsonl",
        jsonl(
            {"File": "in.csv", "Line": str(row), "Classes": cell}
            for row, cell in enumerate(renamed(RANKED, label="Name", score="Score"))
        ),
        Read(),
        truth=PLAIN,
    ),
    layout(
        "Azure ML designer",
        "Score Model",
        "scored.csv",
        csv(Label=TRUE_NAMES, **scores("Scored Probabilities_{}"), **{"Scored Labels": SAID_NAMES}),
        Read(),
    ),
    layout(
        "Azure ML Studio (classic)",
        "Score Model",
        "scored.csv",
        csv(Label=TRUE_NAMES, **scores('Scored Probabilities for Class "{}"'), **{"Scored Labels": SAID_NAMES}),
        Read(),
    ),
    layout(
        "Azure AutoML",
        "a test run's predictions",
        "predictions.csv",
        csv(label_orig=TRUE_NAMES, label_predicted=SAID_NAMES, **scores("{}_predicted_proba")),
        Read(),
    ),
    layout(
        "Snowflake",
        "upper case columns",
        "export.csv",
        csv(ID=IDS, ACTUAL=TRUE_NAMES, PREDICTED=SAID_NAMES, PROBABILITY=TOP),
        Read(),
    ),
    layout(
        "Snowflake ML",
        "classification PREDICTIONS",
        "cortex.csv",
        csv(
            LABEL=TRUE_NAMES,
            PREDICTIONS=[
                json.dumps({"class": n, "logs": None, "probability": dict(zip(NAMES, row, strict=True))})
                for n, row in zip(SAID_NAMES, PROBA.tolist(), strict=True)
            ],
        ),
        Read(),
    ),
    layout(
        "KServe",
        "an answer",
        "served.json",
        json.dumps({"data": {"names": ["t:0", "t:1"], "ndarray": PROBA_2.tolist()}, "meta": {}}),
        NO_TRUTH,
    ),
    layout(
        "Label Studio 1.13",
        "JSON",
        "export.json",
        json.dumps(
            [
                {
                    "id": r,
                    "annotations": [{"result": [{"value": {"choices": [n]}, "from_name": "s", "type": "choices"}]}],
                    "predictions": [],
                    "data": {"text": t},
                    "meta": {},
                }
                for r, (n, t) in enumerate(zip(TRUE_NAMES, TEXTS, strict=True))
            ]
        ),
        NO_TRUTH,
    ),
    layout(
        "Label Studio 1.13",
        "CSV",
        "export.csv",
        csv(
            annotation_id=range(N), annotator=[1] * N, id=range(N), lead_time=LENGTHS, sentiment=TRUE_NAMES, text=TEXTS
        ),
        NO_TRUTH,
    ),
    layout(
        "ProPublica",
        "COMPAS",
        "compas.csv",
        csv(
            id=range(N),
            sex=["m", "f"] * (N // 2),
            decile_score=[1 + r % 10 for r in range(N)],
            score_text=[("Low", "Medium", "High")[s] for s in SAID],
            two_year_recid=CODES_2,
        ),
        Asked("truth"),
    ),
    layout(
        "MONAI 1.4",
        "CSVSaver, without names",
        "predictions.csv",
        csv(columns=frame(f=FILES, **scores("{}"))).split("\n", 1)[1],
        NO_TRUTH,
    ),
    layout(
        "Google Sheets",
        "CSV with spaces in its names",
        "sheet.csv",
        csv(**{"Image name": FILES, "True label": TRUE_NAMES, "Predicted label": SAID_NAMES, "Confidence score": TOP}),
        Read(),
    ),
    layout(
        "a paper's supplement",
        "one decimal",
        "table.csv",
        csv(gold=TRUE_NAMES, predicted=SAID_NAMES, **scores("prob_{}", proba=PROBA.round(1))),
        Read(),
    ),
    layout(
        "a paper's supplement",
        "percent",
        "table.csv",
        csv(gold=TRUE_NAMES, **scores("prob_{}", proba=100 * PROBA)),
        Refused("Divide them by 100"),
    ),
]
