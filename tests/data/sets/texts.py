"""Texts with labels, as corpora, annotation tools and cloud services have them."""

import pandas as pd

from tests.data.sets.made import (
    CODES,
    FROM_1,
    IDS,
    NAMES,
    PARTS,
    TEXTS,
    TRUE_NAMES,
    Data,
    N,
    Proposed,
    Refused,
    csv,
    jsonl,
    layout,
    lines,
    packed,
)
from tests.data.sets.tables import parquet

BINARY = [str(code % 2) for code in CODES]
SENTENCES = [f"{text[0].upper()}{text[1:]}." for text in TEXTS]


def texts(label: str = "label", /, labels=TRUE_NAMES, text: str = "text", **more) -> pd.DataFrame:
    """Texts and labels, and perhaps more columns in front."""
    return pd.DataFrame({**more, text: SENTENCES, label: labels})


def read(labels=TRUE_NAMES, **more) -> Data:
    return Data("text", labels, 1, **more)


QUOTED = [f'"{text}"' for text in SENTENCES]
LAYOUTS = [
    layout("GLUE", "SST-2 train.tsv", "train.tsv", csv(texts(labels=BINARY, text="sentence"), sep="\t"), read(BINARY)),
    layout(
        "GLUE",
        "CoLA train.tsv, without header",
        "train.tsv",
        lines(["gj04"] * N, BINARY, ["" if code == "1" else "*" for code in BINARY], SENTENCES, sep="\t"),
        Proposed("column 2"),
    ),
    layout(
        "GLUE",
        "MRPC: two sentences",
        "msr.tsv",
        csv(
            pd.DataFrame(
                {
                    "Quality": BINARY,
                    "#1 ID": range(N),
                    "#2 ID": range(90, 90 + N),
                    "#1 String": SENTENCES,
                    "#2 String": SENTENCES[::-1],
                }
            ),
            sep="\t",
        ),
        Proposed("Quality"),
    ),
    layout(
        "SNLI 1.0",
        "JSONL of two sentences",
        "snli.jsonl",
        jsonl(
            texts(
                "gold_label",
                text="sentence1",
                annotator_labels=[[name] for name in TRUE_NAMES],
                sentence2=SENTENCES[::-1],
            )
        ),
        Proposed("gold_label"),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_csv",
        "train.csv",
        csv(texts(labels=CODES)),
        read([str(code) for code in CODES]),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_json",
        "train.jsonl",
        jsonl(texts(labels=CODES.tolist())),
        read([str(code) for code in CODES]),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "label and label_text",
        "train.jsonl",
        jsonl(texts("label_text", label=CODES.tolist())),
        read(),
    ),
    layout(
        "AG News",
        "train.csv, without header",
        "train.csv",
        lines([f'"{code}"' for code in FROM_1], ['"Flowers"'] * N, QUOTED),
        Proposed("column 1"),
    ),
    layout(
        "Yelp polarity",
        "train.csv, without header",
        "train.csv",
        lines([f'"{code}"' for code in FROM_1], QUOTED),
        Proposed("column 1"),
    ),
    layout(
        "Sentiment140",
        "six columns, Western letters",
        "training.csv",
        lines(
            [f'"{4 * int(code)}"' for code in BINARY],
            [f'"{1467810369 + row}"' for row in range(N)],
            ['"Mon Apr 06 2009"'] * N,
            ['"NO_QUERY"'] * N,
            [f'"user{row}é"' for row in range(N)],
            QUOTED,
        ).encode("cp1252"),
        Proposed("column 1"),
    ),
    layout(
        "SMS Spam Collection",
        "a TSV without header",
        "sms.tsv",
        lines(["ham" if code == "0" else "spam" for code in BINARY], SENTENCES, sep="\t"),
        Proposed("column 1"),
    ),
    layout(
        "SMS Spam Collection",
        "spam.csv of Kaggle, three empty columns",
        "spam.csv",
        csv(
            pd.DataFrame(
                {
                    "v1": ["ham" if code == "0" else "spam" for code in BINARY],
                    "v2": SENTENCES,
                    "Unnamed: 2": "",
                    "Unnamed: 3": "",
                    "Unnamed: 4": "",
                }
            ).rename(columns=lambda name: "" if name.startswith("Un") else name)
        ).encode("cp1252"),
        Proposed("v1"),
    ),
    layout(
        "fastText 0.9",
        "__label__ before the text",
        "train.txt",
        "".join(f"__label__{name} {text}\n" for name, text in zip(TRUE_NAMES, TEXTS, strict=True)),
        read(),
    ),
    layout(
        "spaCy 3.7",
        "JSONL of categories",
        "train.jsonl",
        jsonl(
            pd.DataFrame(
                {"text": SENTENCES, "cats": [{name: float(name == label) for name in NAMES} for label in TRUE_NAMES]}
            )
        ),
        Refused("label"),
    ),
    layout(
        "Prodigy 1.15",
        "db-out of textcat",
        "out.jsonl",
        jsonl(texts(answer=["accept"] * N, _input_hash=range(N))),
        read(),
    ),
    layout(
        "doccano 1.8",
        "JSONL with lists of labels",
        "all.jsonl",
        jsonl(texts(labels=[[name] for name in TRUE_NAMES], id=range(N))),
        read(),
    ),
    layout("doccano 1.8", "CSV", "all.csv", csv(texts(id=range(N))), read()),
    layout(
        "Label Studio 1.13",
        "CSV of a choice",
        "project.csv",
        csv(texts("sentiment", annotation_id=range(N), annotator=["1"] * N)),
        Proposed("sentiment"),
    ),
    layout(
        "Label Studio 1.13",
        "JSON-MIN",
        "project.json",
        texts("sentiment", id=range(N)).to_json(orient="records"),
        Proposed("sentiment"),
    ),
    layout(
        "Argilla 2",
        "to_datasets, to_json",
        "records.jsonl",
        jsonl(texts("label", status=["completed"] * N, metadata=[{}] * N)),
        read(),
    ),
    layout(
        "Google AutoML",
        "text, label and the part, without header",
        "import.csv",
        lines(
            ["TRAIN" if part == "train" else "VALIDATION" if part == "validation" else "TEST" for part in PARTS],
            QUOTED,
            TRUE_NAMES,
        ),
        Proposed("column 3"),
    ),
    layout(
        "Google Vertex AI",
        "JSONL of nested annotations",
        "import.jsonl",
        jsonl(
            pd.DataFrame(
                {"textContent": SENTENCES, "classificationAnnotation": [{"displayName": name} for name in TRUE_NAMES]}
            )
        ),
        Refused("label"),
    ),
    layout(
        "Amazon Comprehend",
        "label and text, without header",
        "train.csv",
        lines(TRUE_NAMES, QUOTED),
        Proposed("column 1"),
    ),
    layout(
        "IBM Watson NLC", "text and label, without header", "train.csv", lines(QUOTED, TRUE_NAMES), Proposed("column 2")
    ),
    layout(
        "OpenAI", "prompt and completion", "ft.jsonl", jsonl(texts("completion", text="prompt")), Proposed("completion")
    ),
    layout("Cohere", "text and label", "train.jsonl", jsonl(texts()), read()),
    layout(
        "scikit-learn 1.5",
        "a folder per class for load_files",
        "texts.zip",
        packed({f"{name}/{row}.txt": SENTENCES[row] for row, name in enumerate(TRUE_NAMES)}),
        Refused("folders of text files are not read"),
    ),
    layout("Kaggle", "a zip of one table", "archive.zip", packed({"train.csv": csv(texts(id=IDS))}), read()),
    layout(
        "Kaggle",
        "a zip of train.csv and test.csv",
        "archive.zip",
        packed({"train.csv": csv(texts()), "test.csv": csv(texts().drop(columns="label"))}),
        Refused("2 tables in it"),
    ),
    layout(
        "Kaggle",
        "a zip of tables for train and test",
        "archive.zip",
        packed({"train.csv": csv(texts()), "test.csv": csv(texts())}),
        read((*TRUE_NAMES, *TRUE_NAMES), parts=("train",) * N + ("test",) * N),
    ),
    layout("BigQuery", "JSONL", "bq.jsonl", jsonl(texts("category")), read()),
    layout("DuckDB 1.1", "COPY to CSV", "out.csv", csv(texts("category")), read()),
    layout("PostgreSQL 17", "\\copy with header", "out.csv", csv(texts("category", id=range(N))), read()),
    layout("SQLite 3.46", "-header -csv", "out.csv", csv(texts("class", rowid=range(N))).replace("\n", "\r\n"), read()),
    layout(
        "MySQL 9",
        "INTO OUTFILE, without header",
        "out.tsv",
        lines(range(N), SENTENCES, TRUE_NAMES, sep="\t"),
        Proposed("column 3"),
    ),
    layout("Spark 3.5", "write.csv, without header", "part-00000.csv", lines(QUOTED, TRUE_NAMES), Proposed("column 2")),
    layout("Spark 3.5", "write.json", "part-00000.json", jsonl(texts()), read()),
    layout("Athena", "CSV, all cells quoted", "result.csv", csv(texts(), quoting=1), read()),
    layout(
        "Twitter v2",
        "tweets with marks and line breaks",
        "tweets.csv",
        csv(texts("sentiment", text="tweet").assign(tweet=[f'{text} "so", he said\nagain' for text in SENTENCES])),
        Proposed("sentiment"),
    ),
    layout("Apple Create ML", "JSON of text and label", "train.json", texts().to_json(orient="records"), read()),
    layout("Hugging Face datasets 3.0", "to_parquet", "train.parquet", parquet(texts()), read()),
]
