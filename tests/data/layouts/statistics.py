"""Layouts of R, the JVM and workbenches."""

import json

import numpy as np

from tests.data.layouts.made import (
    CODES,
    CODES_2,
    LENGTHS,
    LOGITS,
    NAMES,
    NO_YES,
    PROBA,
    PROBA_2,
    SAID,
    SAID_2,
    SAID_2_NAMES,
    SAID_NAMES,
    TOP,
    TRUE_2,
    TRUE_NAMES,
    WIDTHS,
    Asked,
    N,
    Read,
    Refused,
    csv,
    frame,
    jsonl,
    layout,
    lines,
    scores,
)

UNSURE = Read(confidence=False)

FOLDS = [f"Fold{1 + row % 5}" for row in range(N)]


def vector(values) -> dict:
    """A dense vector as Spark writes it into JSON."""
    return {"type": 1, "values": list(map(float, values))}


def weka(codes: np.ndarray) -> list[str]:
    """Classes with their numbers before them."""
    return [f"{code + 1}:{NAMES[code]}" for code in codes]


SPARK = [
    {
        "label": float(true),
        "features": vector([length, width]),
        "rawPrediction": vector(raw),
        "probability": vector(proba),
        "prediction": float(said),
    }
    for true, said, raw, proba, length, width in zip(CODES, SAID, LOGITS, PROBA, LENGTHS, WIDTHS, strict=True)
]

LAYOUTS = [
    layout(
        "R 4.4",
        "write.csv of actual and predicted",
        "r.csv",
        csv(True, actual=TRUE_NAMES, predicted=SAID_NAMES),
        UNSURE,
    ),
    layout(
        "R 4.4",
        "write.table, with its own defaults",
        "r.txt",
        '"actual" "predicted"\n'
        + lines(f'"{row + 1}" "{a}" "{b}"' for row, (a, b) in enumerate(zip(TRUE_NAMES, SAID_NAMES, strict=True))),
        UNSURE,
    ),
    layout("R randomForest 4.7", "votes with the class", "votes.csv", csv(True, **scores("{}"), y=TRUE_NAMES), Read()),
    layout(
        "R jsonlite 1.8",
        "toJSON, a list of columns",
        "r.json",
        json.dumps({"truth": TRUE_NAMES, "estimate": SAID_NAMES}),
        UNSURE,
    ),
    layout(
        "caret 6.0",
        "savePredictions with classProbs",
        "pred.csv",
        csv(
            True,
            pred=SAID_NAMES,
            obs=TRUE_NAMES,
            **scores("{}"),
            rowIndex=range(1, N + 1),
            mtry=[2] * N,
            Resample=FOLDS,
        ),
        Read(),
    ),
    layout("caret 6.0", 'predict(type = "prob") with obs', "prob.csv", csv(**scores("{}"), obs=TRUE_NAMES), Read()),
    layout("caret 6.0", "obs and pred", "two.csv", csv(obs=TRUE_NAMES, pred=SAID_NAMES), UNSURE),
    layout(
        "tidymodels 1.2",
        "collect_predictions over resamples",
        "resampled.csv",
        csv(
            **{"id": FOLDS, ".pred_class": SAID_NAMES, ".row": range(1, N + 1)},
            **scores(".pred_{}"),
            **{"class": TRUE_NAMES, ".config": ["Preprocessor1_Model1"] * N},
        ),
        Read(),
    ),
    layout(
        "tidymodels 1.2",
        "collect_predictions of last_fit",
        "last.csv",
        csv(
            **{".pred_class": SAID_NAMES},
            **scores(".pred_{}"),
            **{"id": ["train/test split"] * N, "class": TRUE_NAMES, ".row": range(3, N + 3)},
        ),
        Read(),
    ),
    layout(
        "tidymodels 1.2",
        "augment, the outcome called Species",
        "augmented.csv",
        csv(**{".pred_class": SAID_NAMES}, **scores(".pred_{}"), Sepal=LENGTHS, Species=TRUE_NAMES),
        Asked("truth"),
    ),
    layout(
        "tidymodels 1.2",
        "augment of two classes, the outcome called class",
        "augmented.csv",
        csv(Sepal=LENGTHS, **{"class": TRUE_2, ".pred_class": SAID_2_NAMES}, **scores(".pred_{}", NO_YES, PROBA_2)),
        Read(2),
    ),
    layout(
        "yardstick 1.3",
        "two_class_example",
        "two.csv",
        csv(
            truth=[f"Class{c + 1}" for c in CODES_2],
            **scores("Class{}", "12", PROBA_2),
            predicted=[f"Class{c + 1}" for c in SAID_2],
        ),
        Read(2),
    ),
    layout(
        "yardstick 1.3",
        "hpc_cv",
        "hpc.csv",
        csv(obs=TRUE_NAMES, pred=SAID_NAMES, **scores("{}"), Resample=FOLDS),
        Read(),
    ),
    layout(
        "mlr3 0.20",
        "as.data.table(prediction)",
        "mlr3.csv",
        csv(row_ids=range(1, N + 1), truth=TRUE_NAMES, response=SAID_NAMES, **scores("prob.{}")),
        Read(),
    ),
    layout(
        "mlr 2.19",
        "getPredictions",
        "mlr.csv",
        csv(id=range(1, N + 1), truth=TRUE_NAMES, **scores("prob.{}"), response=SAID_NAMES),
        Read(),
    ),
    layout(
        "H2O 3.46",
        "predict beside a response",
        "h2o.csv",
        csv(response=TRUE_NAMES, predict=SAID_NAMES, **scores("{}")),
        Read(),
    ),
    layout(
        "H2O 3.46",
        "predict, p0, p1 beside actual",
        "h2o.csv",
        csv(actual=CODES_2, predict=SAID_2, **scores("p{}", "01", PROBA_2)),
        Read(2),
    ),
    layout(
        "H2O 3.46",
        "predict beside a frame with species",
        "h2o.csv",
        csv(length=LENGTHS, species=TRUE_NAMES, predict=SAID_NAMES, **scores("{}")),
        Asked("truth"),
    ),
    layout("Spark MLlib 3.5", "write.json", "part-00000.json", jsonl(SPARK), Read()),
    layout(
        "Spark MLlib 3.5",
        "toPandas().to_csv",
        "spark.csv",
        csv(
            **{
                name: [str(v["values"]) if isinstance(v, dict) else v for v in (row[name] for row in SPARK)]
                for name in SPARK[0]
            }
        ),
        Read(),
    ),
    layout(
        "Spark MLlib 3.5",
        "write.parquet, vectors as structs",
        "part-00000.parquet",
        frame(
            **{
                name: [
                    {"type": 1, "size": None, "indices": None, "values": v["values"]} if isinstance(v, dict) else v
                    for v in (row[name] for row in SPARK)
                ]
                for name in SPARK[0]
            }
        ).to_parquet(),
        Read(),
    ),
    layout(
        "Spark MLlib 3.5",
        "StringIndexer and IndexToString",
        "indexed.json",
        jsonl({**row, "predictedLabel": name} for row, name in zip(SPARK, SAID_NAMES, strict=True)),
        Asked("classes"),
    ),
    layout(
        "Weka 3.8",
        "-p 0 -classifications CSV",
        "weka.csv",
        csv(
            **{
                "inst#": range(1, N + 1),
                "actual": weka(CODES),
                "predicted": weka(SAID),
                "error": ["+" if c != s else "" for c, s in zip(CODES, SAID, strict=True)],
                "prediction": np.round(TOP, 3),
            }
        ),
        Read(),
    ),
    layout(
        "Weka 3.8",
        "CSV with -distribution",
        "weka.csv",
        "inst#,actual,predicted,error,distribution\n"
        + lines(
            f"{row + 1},{weka(CODES)[row]},{weka(SAID)[row]},{'+' * int(CODES[row] != SAID[row])},"
            + ",".join(f"{'*' * int(SAID[row] == code)}{p:.3f}" for code, p in enumerate(PROBA[row]))
            for row in range(N)
        ),
        Read(),
    ),
    layout(
        "Weka 3.8", "ARFF", "weka.arff", "@relation r\n@attribute class {a,b}\n@data\na\n", Refused("this is no table")
    ),
    layout(
        "KNIME 5.3",
        "CSV Writer after a Predictor",
        "knime.csv",
        csv(
            **{"row ID": [f"Row{row}" for row in range(N)], "length": LENGTHS, "Species": TRUE_NAMES},
            **scores("P (Species={})"),
            **{"Prediction (Species)": SAID_NAMES},
        ),
        Read(),
    ),
    layout(
        "KNIME 5.3",
        "with the predictor's confidence",
        "knime.csv",
        csv(**{"Species": TRUE_NAMES, "Prediction (Species)": SAID_NAMES, "Prediction (Species) (Confidence)": TOP}),
        Read(),
    ),
]
