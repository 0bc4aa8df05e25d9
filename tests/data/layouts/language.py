"""Layouts of libraries for texts and of evaluations of language models."""

import json

from tests.data.layouts.made import (
    CODES,
    LOGITS,
    NAMES,
    NO_PREDICTION,
    NO_TRUTH,
    PROBA,
    SAID,
    SAID_NAMES,
    TEXTS,
    TOP,
    TRUE_NAMES,
    Asked,
    N,
    Read,
    Refused,
    arrow,
    csv,
    frame,
    jsonl,
    layout,
    lines,
    npz,
    records,
)

UNSURE = Read(confidence=False)

IDS = [f"s{row:03}" for row in range(N)]

RANKED = [
    [{"label": name, "score": float(p)} for p, name in sorted(zip(row, NAMES, strict=True), reverse=True)]
    for row in PROBA
]

PLAIN = ("truth.csv", csv(species=TRUE_NAMES))

LAYOUTS = [
    layout(
        "Hugging Face transformers 4.45",
        "Trainer.predict as JSON",
        "predict.json",
        json.dumps(
            {
                "predictions": LOGITS.tolist(),
                "label_ids": CODES.tolist(),
                "metrics": {"test_loss": 0.5, "test_runtime": 1.2},
            }
        ),
        Read(),
    ),
    layout(
        "Hugging Face transformers 4.45",
        "Trainer.predict as NPZ",
        "predict.npz",
        npz(predictions=LOGITS.astype("f4"), label_ids=CODES),
        Read(),
    ),
    layout(
        "Hugging Face transformers 4.45",
        "run_glue, predict_results.txt",
        "predict_results_sst2.txt",
        csv(sep="\t", index=False, columns=frame(index=range(N), prediction=SAID_NAMES)),
        NO_TRUTH,
    ),
    layout(
        "Hugging Face transformers 4.45",
        "pipeline of all classes beside the gold label",
        "pipe.jsonl",
        jsonl(records(text=TEXTS, gold=TRUE_NAMES, output=RANKED)),
        Read(),
    ),
    layout(
        "Hugging Face transformers 4.45",
        "pipeline of the best label beside the reference",
        "pipe.jsonl",
        jsonl(records(text=TEXTS, reference=CODES, label=[f"LABEL_{code}" for code in SAID], score=TOP)),
        Read(),
    ),
    layout(
        "Hugging Face transformers 4.45",
        "pipeline of all classes, the truth in a second file",
        "pipe.json",
        json.dumps(RANKED),
        Read(),
        truth=PLAIN,
    ),
    layout(
        "Hugging Face evaluate 0.4",
        "predictions and references",
        "evaluated.json",
        json.dumps({"predictions": SAID.tolist(), "references": CODES.tolist()}),
        UNSURE,
    ),
    layout(
        "Hugging Face evaluate 0.4",
        "evaluate.save",
        "result.json",
        json.dumps({"accuracy": 0.9, "_timestamp": "2024-05-01T10:00:00", "_git_commit_hash": None}),
        Refused("These may be results; what is read are samples"),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_parquet with a list of probabilities",
        "test.parquet",
        frame(text=TEXTS, label=CODES, probs=PROBA.tolist()).to_parquet(),
        Read(),
    ),
    layout(
        "Hugging Face datasets 5.2",
        "save_to_disk",
        "data-00000-of-00001.arrow",
        arrow({"text": TEXTS, "label": CODES, "prediction": SAID}, names=NAMES),
        UNSURE,
    ),
    layout(
        "LightEval 0.13",
        "details of a task of choices",
        "details_flowers_2026-01-01.parquet",
        frame(
            doc=[
                {"query": text, "choices": [f" {name}" for name in NAMES], "gold_index": code, "id": str(row)}
                for row, (text, code) in enumerate(zip(TEXTS, CODES.tolist(), strict=True))
            ],
            metric=[{"acc": int(code == said)} for code, said in zip(CODES, SAID, strict=True)],
            model_response=[{"text": [], "logprobs": row} for row in LOGITS.tolist()],
        ).to_parquet(),
        Read(),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_json of text, label, prediction",
        "test.jsonl",
        jsonl(records(text=TEXTS, label=TRUE_NAMES, prediction=SAID_NAMES)),
        UNSURE,
    ),
    layout(
        "AllenNLP 2.10",
        "predict",
        "allennlp.jsonl",
        jsonl(
            {"logits": a, "probs": b, "token_ids": list(range(3 + r % 4)), "label": n, "tokens": ["a"] * (3 + r % 4)}
            for r, (a, b, n) in enumerate(zip(LOGITS.tolist(), PROBA.tolist(), SAID_NAMES, strict=True))
        ),
        Asked("truth"),
    ),
    layout(
        "spaCy 3.7",
        "doc.cats beside the label",
        "cats.jsonl",
        jsonl(
            records(text=TEXTS, cats=[dict(zip(NAMES, row, strict=True)) for row in PROBA.tolist()], label=TRUE_NAMES)
        ),
        Read(),
    ),
    layout(
        "fastText 0.9",
        "predict, the truth in a second file",
        "said.txt",
        lines(f"__label__{name}" for name in SAID_NAMES),
        UNSURE,
        truth=("truth.txt", lines(f"__label__{name}" for name in TRUE_NAMES)),
    ),
    layout(
        "sentence-transformers 3.1",
        "results of an evaluator",
        "results.csv",
        "epoch,steps,accuracy,f1\n0,-1,0.8,0.81\n1,-1,0.85,0.86\n",
        NO_TRUTH,
    ),
    layout(
        "SemEval",
        "gold and submission",
        "submission.tsv",
        csv(sep="\t", id=IDS[::-1], label=SAID_NAMES[::-1]),
        UNSURE,
        truth=("gold.tsv", csv(sep="\t", id=IDS, label=TRUE_NAMES)),
    ),
    layout(
        "Prodigy 1.15",
        "textcat",
        "prodigy.jsonl",
        jsonl(
            records(
                text=TEXTS,
                _input_hash=range(N),
                label=TRUE_NAMES,
                meta=[{"score": p} for p in TOP],
                answer=["accept" if r % 5 else "reject" for r in range(N)],
            )
        ),
        Refused(r"the predictions say accept, reject\. Which predicted name stands for which class"),
    ),
    layout(
        "Prodigy 1.15",
        "textcat choices",
        "prodigy.jsonl",
        jsonl(
            {"text": t, "options": [{"id": n, "text": n} for n in NAMES], "accept": [a], "answer": "accept"}
            for t, a in zip(TEXTS, TRUE_NAMES, strict=True)
        ),
        NO_TRUTH,
    ),
    layout(
        "doccano 1.8",
        "JSONL alone",
        "doccano.jsonl",
        jsonl({"id": r, "text": TEXTS[r], "label": [TRUE_NAMES[r]], "Comments": []} for r in range(N)),
        NO_PREDICTION,
    ),
    layout(
        "doccano 1.8",
        "JSONL as the truth in a second file",
        "said.csv",
        csv(id=range(N), predicted=SAID_NAMES, confidence=TOP),
        Read(),
        truth=(
            "doccano.jsonl",
            jsonl({"id": r, "text": TEXTS[r], "label": [TRUE_NAMES[r]], "Comments": []} for r in range(N)),
        ),
    ),
    layout(
        "OpenAI evals",
        "samples with ideal and completion",
        "evals.jsonl",
        jsonl(
            records(input=[[{"role": "user", "content": t}] for t in TEXTS], ideal=TRUE_NAMES, completion=SAID_NAMES)
        ),
        UNSURE,
    ),
    layout(
        "OpenAI evals",
        "a log of events",
        "log.jsonl",
        jsonl(
            [
                {"spec": {"completion_fns": ["gpt"], "eval_name": "iris"}},
                *(
                    {
                        "run_id": "r",
                        "event_id": r,
                        "type": "match",
                        "data": {
                            "correct": TRUE_NAMES[r] == SAID_NAMES[r],
                            "expected": TRUE_NAMES[r],
                            "picked": SAID_NAMES[r],
                        },
                    }
                    for r in range(N)
                ),
            ]
        ),
        NO_TRUTH,
    ),
    layout(
        "OpenAI batch API",
        "output",
        "batch_output.jsonl",
        jsonl(
            {
                "id": f"b{r}",
                "custom_id": IDS[r],
                "response": {"status_code": 200, "body": {"choices": [{"message": {"content": SAID_NAMES[r]}}]}},
                "error": None,
            }
            for r in range(N)
        ),
        NO_TRUTH,
    ),
    layout(
        "a language model's evaluation",
        "expected, response, metadata",
        "llm.jsonl",
        jsonl(
            {
                "id": IDS[r],
                "prompt": TEXTS[r],
                "expected": TRUE_NAMES[r],
                "response": SAID_NAMES[r],
                "metadata": {"tokens": r, "usage": {"in": 7}},
            }
            for r in range(N)
        ),
        UNSURE,
    ),
    layout(
        "a language model's evaluation",
        "keys that only some lines have",
        "llm.jsonl",
        jsonl(
            {"id": IDS[r], "gold": TRUE_NAMES[r], "predicted": SAID_NAMES[r], **({"retries": 2} if r % 9 == 4 else {})}
            for r in range(N)
        ),
        UNSURE,
    ),
    layout(
        "lm-evaluation-harness 0.4",
        "samples of multiple choice",
        "samples_iris.jsonl",
        jsonl(
            {
                "doc_id": r,
                "doc": {"text": TEXTS[r]},
                "target": str(CODES[r]),
                "arguments": {"gen_args_0": {"arg_0": "Q"}},
                "resps": [[[str(x), "False"]] for x in LOGITS[r]],
                "filtered_resps": [[str(x), "False"] for x in LOGITS[r]],
                "acc": float(CODES[r] == SAID[r]),
            }
            for r in range(N)
        ),
        Read(),
    ),
    layout(
        "HELM 0.5",
        "display_predictions.json",
        "display_predictions.json",
        json.dumps(
            [
                {
                    "instance_id": f"id{r}",
                    "predicted_text": SAID_NAMES[r],
                    "mapped_output": SAID_NAMES[r],
                    "stats": {"exact_match": 1.0},
                }
                for r in range(N)
            ]
        ),
        NO_TRUTH,
    ),
]
