"""Layouts of scikit-learn, pandas, NumPy, and of libraries that train networks and boosted trees."""

import json

import numpy as np

from tests.data.layouts.made import (
    CODES,
    CODES_2,
    FILES,
    LOGITS,
    NO_TRUTH,
    PROBA,
    PROBA_2,
    SAID,
    SAID_2,
    SAID_NAMES,
    TOP,
    TRUE_NAMES,
    Asked,
    N,
    Read,
    Refused,
    csv,
    frame,
    layout,
    lines,
    npy,
    npz,
    records,
    scores,
    zipped,
)

RESULT = frame(y_true=TRUE_NAMES, y_pred=SAID_NAMES)

WHOLE = frame(y_true=TRUE_NAMES, y_pred=SAID_NAMES, **scores("prob_{}"))

UNSURE = Read(confidence=False)


def split(columns: dict, **more) -> str:
    """Names and rows apart, as `orient="split"`, trackers' tables and evaluations have them."""
    rows = [list(row.values()) for row in records(**columns)]
    return json.dumps({"columns": list(columns), **more, "data": rows})


LAYOUTS = [
    layout("scikit-learn 1.5", "y_test and predict, to_csv with index", "result.csv", RESULT.to_csv(), UNSURE),
    layout(
        "scikit-learn 1.5",
        "np.savez of y_test, y_pred, y_proba",
        "cv.npz",
        npz(y_test=CODES, y_pred=SAID, y_proba=PROBA),
        Read(),
    ),
    layout(
        "scikit-learn 1.5",
        "predict_proba with columns=clf.classes_",
        "proba.csv",
        csv(**scores("{}"), y_true=TRUE_NAMES),
        Read(),
    ),
    layout(
        "scikit-learn 1.5",
        "predict_proba as 0, 1, 2 beside named labels",
        "proba.csv",
        csv(**scores("{}", "012"), y_true=TRUE_NAMES, y_pred=SAID_NAMES),
        Read(),
    ),
    layout(
        "scikit-learn 1.5",
        "predict_proba as 0, 1, 2 beside codes",
        "proba.csv",
        csv(**scores("{}", "012"), y_true=CODES, y_pred=SAID),
        Read(),
    ),
    layout(
        "scikit-learn 1.5",
        "predict_proba as 0, 1, 2 beside a named truth only",
        "proba.csv",
        csv(**scores("{}", "012"), y_true=TRUE_NAMES),
        Asked("classes"),
    ),
    layout(
        "scikit-learn 1.5",
        "y_test and predict_proba[:, 1]",
        "scores.csv",
        csv(y_test=CODES_2, y_score=PROBA_2[:, 1]),
        Asked("positive"),
    ),
    layout(
        "scikit-learn 1.5",
        "y_test, y_pred and predict_proba[:, 1]",
        "scores.csv",
        csv(y_test=CODES_2, y_pred=SAID_2, y_score=PROBA_2[:, 1]),
        Read(2),
    ),
    layout(
        "scikit-learn 1.5",
        "cross_validate results",
        "cv.csv",
        csv(True, fit_time=[0.01] * 5, score_time=[0.002] * 5, test_score=[0.93, 0.9, 1.0, 0.97, 0.93]),
        NO_TRUTH,
    ),
    layout(
        "scikit-learn 1.5",
        "GridSearchCV.cv_results_",
        "grid.csv",
        csv(
            mean_fit_time=[0.01, 0.02, 0.01, 0.02],
            param_C=[0.1, 1, 10, 100],
            params=[f"{{'C': {c}}}" for c in (0.1, 1, 10, 100)],
            split0_test_score=[0.9, 0.93, 0.9, 0.93],
            split1_test_score=[0.9, 0.93, 0.93, 0.93],
            mean_test_score=[0.9, 0.93, 0.915, 0.93],
            rank_test_score=[4, 1, 3, 1],
        ),
        NO_TRUTH,
    ),
    layout(
        "scikit-learn 1.5",
        "classification_report as a table",
        "report.csv",
        ",precision,recall,f1-score,support\nsetosa,1.0,0.9,0.947,20\nversicolor,0.9,0.9,0.9,20\n"
        "virginica,0.9,1.0,0.947,20\naccuracy,0.933,0.933,0.933,0.933\n",
        NO_TRUTH,
    ),
    layout(
        "scikit-learn 1.5",
        "confusion_matrix as a table",
        "confusion.csv",
        ",setosa,versicolor,virginica\nsetosa,18,1,1\nversicolor,0,19,1\nvirginica,0,2,18\n",
        NO_TRUTH,
    ),
    layout("pandas 2.2", "to_json, as it is by default", "result.json", RESULT.to_json(), UNSURE),
    layout("pandas 2.2", 'to_json(orient="split")', "result.json", WHOLE.to_json(orient="split"), Read()),
    layout("pandas 2.2", 'to_json(orient="index")', "result.json", WHOLE.to_json(orient="index"), Read()),
    layout("pandas 2.2", 'to_json(orient="table")', "result.json", WHOLE.to_json(orient="table"), Read()),
    layout("pandas 2.2", 'to_json(orient="records")', "result.json", WHOLE.to_json(orient="records"), Read()),
    layout("pandas 2.2", 'to_json(orient="values")', "result.json", RESULT.to_json(orient="values"), Asked("truth")),
    layout("pandas 2.2", "to_json(lines=True)", "result.jsonl", WHOLE.to_json(orient="records", lines=True), Read()),
    layout("pandas 2.2", "to_parquet of filtered rows", "result.parquet", WHOLE.iloc[::-1].to_parquet(), Read()),
    layout("pandas 2.2", 'to_csv(compression="zip")', "result.zip", zipped(result__csv=WHOLE.to_csv()), Read()),
    layout("pandas 2.2", "to_csv named .csv.zip", "result.csv.zip", zipped(result__csv=WHOLE.to_csv()), Read()),
    layout("pandas 2.2", "to_pickle", "result.pkl", b"\x80\x04\x95", Refused("this is no table")),
    layout(
        "NumPy 2.1",
        "savetxt of y_test and y_pred",
        "both.txt",
        "".join(f"{a:.18e} {b:.18e}\n" for a, b in zip(CODES, SAID, strict=True)),
        Asked("truth"),
    ),
    layout(
        "Keras 3",
        "np.save of predict, y_test in a second file",
        "y_prob.npy",
        npy(PROBA.astype(np.float32)),
        Read(),
        truth=("y_test.npy", npy(CODES)),
    ),
    layout("Keras 3", "np.save of predict alone", "y_prob.npy", npy(PROBA.astype(np.float32)), NO_TRUTH),
    layout(
        "Keras 3",
        "to_categorical and softmax in NPZ",
        "out.npz",
        npz(y_test=np.eye(3)[CODES], y_pred=PROBA.astype(np.float32)),
        Read(),
    ),
    layout(
        "Keras 3",
        "one sigmoid, shape (n, 1)",
        "out.npz",
        npz(y_test=CODES_2, y_pred=PROBA_2[:, 1:].astype(np.float32)),
        Asked("positive"),
    ),
    layout(
        "Keras 3",
        "flow_from_directory, file names and predictions",
        "results.csv",
        csv(Filename=FILES, Predictions=SAID_NAMES),
        NO_TRUTH,
    ),
    layout(
        "Keras 3",
        "CSVLogger",
        "history.csv",
        csv(epoch=range(4), accuracy=[0.5, 0.7, 0.8, 0.9], loss=[1, 0.7, 0.5, 0.4], val_accuracy=[0.5, 0.6, 0.7, 0.7]),
        NO_TRUTH,
    ),
    layout(
        "PyTorch 2.4",
        "image, label, prediction, prob",
        "test.csv",
        csv(image=FILES, label=CODES, prediction=SAID, prob=TOP),
        Read(),
    ),
    layout(
        "PyTorch 2.4",
        "np.savez of outputs and targets",
        "out.npz",
        npz(outputs=LOGITS.astype(np.float32), targets=CODES),
        Read(),
    ),
    layout(
        "PyTorch 2.4",
        "logits and labels in NPZ",
        "out.npz",
        npz(logits=LOGITS.astype(np.float32), labels=CODES),
        Read(),
    ),
    layout("PyTorch 2.4", "torch.save", "out.pt", b"PK\x03\x04", Refused("this is no table")),
    layout(
        "PyTorch Lightning 2.4",
        "predictions with tensors in cells",
        "predict.csv",
        csv(target=CODES, pred=SAID, logits=[f"tensor({row})" for row in LOGITS.tolist()]),
        Read(),
    ),
    layout(
        "PyTorch Lightning 2.4",
        "CSVLogger",
        "metrics.csv",
        "epoch,step,train_loss,val_acc\n0,9,1.1,\n0,9,,0.5\n1,19,0.8,\n1,19,,0.7\n",
        NO_TRUTH,
    ),
    layout("fastai 2.7", "get_preds, np.savez", "preds.npz", npz(preds=PROBA.astype(np.float32), targs=CODES), Read()),
    layout(
        "fastai 2.7",
        "get_preds with decoded",
        "preds.csv",
        csv(fname=FILES, targs=CODES, decoded=SAID, loss=np.round(-np.log(TOP), 4), **scores("{}")),
        Read(),
    ),
    layout("skorch 1.0", "y_true and y_proba in NPZ", "net.npz", npz(y_true=CODES, y_proba=PROBA), Read()),
    layout(
        "mmpretrain 1.2",
        "tools/test.py --out as JSON",
        "results.json",
        json.dumps(
            [
                {"sample_idx": row, "img_path": FILES[row], "gt_label": [t], "pred_label": [p], "pred_score": scores}
                for row, (t, p, scores) in enumerate(zip(CODES.tolist(), SAID.tolist(), PROBA.tolist(), strict=True))
            ]
        ),
        Read(),
    ),
    layout(
        "mmpretrain 1.2",
        "analyze_results",
        "fail.json",
        json.dumps(
            records(
                filename=FILES,
                gt_label=CODES,
                gt_class=TRUE_NAMES,
                pred_label=SAID,
                pred_class=SAID_NAMES,
                pred_score=TOP,
            )
        ),
        Read(),
    ),
    layout(
        "mmpretrain 1.2",
        "ImageClassificationInferencer",
        "inferred.json",
        json.dumps(records(pred_scores=PROBA, pred_label=SAID, pred_score=TOP, pred_class=SAID_NAMES)),
        NO_TRUTH,
    ),
    layout("timm 1.0", "inference.py --topk 1", "out.csv", csv(filename=FILES, label=SAID, prob=TOP), Asked("truth")),
    layout(
        "ultralytics 8.3",
        "classify, to_json",
        "results.json",
        json.dumps(
            [{"name": n, "class": c, "confidence": p} for n, c, p in zip(SAID_NAMES, SAID.tolist(), TOP, strict=True)]
        ),
        NO_TRUTH,
    ),
    layout(
        "XGBoost 2.1",
        "multi:softprob by savetxt, labels in a second file",
        "probs.txt",
        "".join(" ".join(f"{p:.18e}" for p in row) + "\n" for row in PROBA),
        Read(),
        truth=("labels.txt", lines(CODES)),
    ),
    layout(
        "XGBoost 2.1",
        "binary:logistic pred.txt, labels in a second file",
        "pred.txt",
        lines(PROBA_2[:, 1]),
        Asked("positive", before="join"),
        truth=("labels.txt", lines(CODES_2)),
    ),
    layout(
        "LightGBM 4.5",
        "LightGBM_predict_result.txt, labels in a second file",
        "LightGBM_predict_result.txt",
        lines("\t".join(map(str, row)) for row in PROBA),
        Read(),
        truth=("labels.txt", lines(CODES)),
    ),
    layout(
        "CatBoost 1.2",
        "calc, Probability, Class and Label",
        "eval.tsv",
        csv(sep="\t", SampleId=range(N), **scores("Probability:Class={}"), Class=SAID_NAMES, Label=TRUE_NAMES),
        Read(),
    ),
    layout(
        "CatBoost 1.2",
        "calc, RawFormulaVal and Label",
        "eval.tsv",
        csv(sep="\t", SampleId=range(N), **scores("RawFormulaVal:Class={}", proba=LOGITS), Label=TRUE_NAMES),
        Read(),
    ),
]
