"""Tables of numbers as libraries, statistics programs and spreadsheets write them."""

import io

import pandas as pd

from tests.data.sets.made import (
    CODE_NAMES,
    CODES,
    FROM_1,
    IDS,
    LENGTHS,
    PARTS,
    SITES,
    TRUE_NAMES,
    WIDTHS,
    Data,
    N,
    Proposed,
    Refused,
    csv,
    flowers,
    jsonl,
    layout,
    lines,
    npz,
    packed,
)

NO_ENDING = Refused("cannot be read. Give one that ends in")
SPECIES = Proposed("species")


def parquet(frame: pd.DataFrame, **more) -> bytes:
    stream = io.BytesIO()
    frame.to_parquet(stream, **more)
    return stream.getvalue()


def workbook(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_excel(stream, index=False)
    return stream.getvalue()


def named(label: str, **more) -> str:
    return csv(flowers(label, **more))


CODED = Data(labels=CODE_NAMES)
VECTORS = [{"type": 1, "values": [length, width]} for length, width in zip(LENGTHS, WIDTHS, strict=True)]
LAYOUTS = [
    layout("pandas 2.2", "to_csv with its index", "f.csv", csv(flowers("target"), index=True), Data()),
    layout("pandas 2.2", "to_csv, the label called species", "f.csv", named("species"), SPECIES),
    layout(
        "pandas 2.2",
        "to_csv packed with gzip",
        "f.csv.gz",
        __import__("gzip").compress(named("label").encode()),
        Data(),
    ),
    layout("pandas 2.2", "to_csv packed in a zip", "f.csv.zip", packed({"f.csv": named("label")}), Data()),
    layout(
        "pandas 2.2",
        "to_parquet with its index",
        "f.parquet",
        parquet(flowers("label")[::-1], index=True),
        Data(labels=TRUE_NAMES[::-1]),
    ),
    layout(
        "pandas 2.2",
        "to_parquet of a category",
        "f.parquet",
        parquet(flowers("label").astype({"label": "category"})),
        Data(),
    ),
    layout("pandas 2.2", "to_json", "f.json", flowers("label").to_json(), Data()),
    layout("pandas 2.2", 'to_json(orient="split")', "f.json", flowers("label").to_json(orient="split"), Data()),
    layout("pandas 2.2", 'to_json(orient="table")', "f.json", flowers("label").to_json(orient="table"), Data()),
    layout(
        "pandas 2.2", "to_json(lines=True)", "f.jsonl", flowers("label").to_json(orient="records", lines=True), Data()
    ),
    layout("pandas 2.2", "to_excel", "f.xlsx", workbook(flowers("label")), Data()),
    layout("pandas 2.2", "to_pickle", "f.pkl", b"\x80\x04.", NO_ENDING),
    layout("pandas 2.2", "to_hdf", "f.h5", b"\x89HDF", NO_ENDING),
    layout("polars 1.9", "write_csv", "f.csv", named("class"), Data()),
    layout("polars 1.9", "write_ndjson", "f.ndjson", jsonl(flowers("class")), Data()),
    layout("polars 1.9", "write_parquet", "f.parquet", parquet(flowers("class")), Data()),
    layout(
        "scikit-learn 1.5",
        "load_iris(as_frame=True).frame",
        "iris.csv",
        csv(pd.DataFrame({"sepal length (cm)": LENGTHS, "sepal width (cm)": WIDTHS, "target": CODES})),
        CODED,
    ),
    layout(
        "scikit-learn 1.5",
        "its own iris.csv, whose header counts",
        "iris.csv",
        f"{N},2,setosa,versicolor,virginica\n" + lines(LENGTHS, WIDTHS, CODES),
        Refused("3 cells, but the header has 5"),
    ),
    layout(
        "scikit-learn 1.5",
        "dump_svmlight_file",
        "f.svmlight",
        lines(CODES, [f"0:{x}" for x in LENGTHS], sep=" "),
        NO_ENDING,
    ),
    layout(
        "NumPy 2.1",
        "savetxt with delimiter and header",
        "f.csv",
        "# length,width,label\n" + lines(LENGTHS, WIDTHS, CODES),
        CODED,
    ),
    layout(
        "NumPy 2.1",
        "savetxt with a delimiter, without header",
        "f.csv",
        lines(*([f"{float(x):.18e}" for x in column] for column in (LENGTHS, WIDTHS, CODES))),
        Proposed("column 3"),
    ),
    layout(
        "NumPy 2.1",
        "savetxt, as it is by default",
        "f.txt",
        lines(*([f"{float(x):.18e}" for x in column] for column in (LENGTHS, WIDTHS, CODES)), sep=" "),
        Proposed("column 3"),
    ),
    layout(
        "UCI", "wine.data renamed, without header", "wine.csv", lines(FROM_1, LENGTHS, WIDTHS), Proposed("column 1")
    ),
    layout(
        "UCI",
        "iris.data renamed, without header",
        "iris.csv",
        lines(LENGTHS, WIDTHS, [f"Iris-{name}" for name in TRUE_NAMES]),
        Proposed("column 3"),
    ),
    layout("UCI", "iris.data", "iris.data", lines(LENGTHS, WIDTHS, TRUE_NAMES), NO_ENDING),
    layout(
        "UCI",
        "winequality-red.csv",
        "winequality-red.csv",
        csv(flowers("quality", FROM_1).rename(columns={"length": "fixed acidity"}), sep=";", quoting=2),
        Proposed("quality"),
    ),
    layout(
        "UCI",
        "parkinsons.data renamed",
        "parkinsons.csv",
        named("status", labels=CODES, name=[f"phon_R01_S{row // 6:02}_{row % 6}" for row in range(N)]),
        Proposed("status"),
    ),
    layout(
        "UCI",
        "wdbc with names, as on Kaggle: a comma at each line's end",
        "data.csv",
        csv(flowers("diagnosis", id=range(100, 100 + N))).replace("\n", ",\n"),
        Proposed("diagnosis"),
    ),
    layout("UCI", "banknote authentication", "banknote.txt", lines(LENGTHS, WIDTHS, CODES), Proposed("column 3")),
    layout(
        "UCI",
        "adult.data renamed",
        "adult.csv",
        lines(
            [30 + row % 40 for row in range(N)],
            [" Private" if row % 3 else " State-gov" for row in range(N)],
            [" <=50K" if row % 4 else " >50K" for row in range(N)],
        ),
        Proposed("column 3"),
    ),
    layout(
        "UCI",
        "HAR with subject and Activity, as on Kaggle",
        "train.csv",
        named("Activity", subject=[row // 10 for row in range(N)]),
        Proposed("Activity"),
    ),
    layout(
        "UCR 2018",
        "a TSV without header, the label first",
        "Beef_TRAIN.tsv",
        lines(FROM_1, LENGTHS, WIDTHS, WIDTHS - 3, sep="\t"),
        Proposed("column 1"),
    ),
    layout(
        "OpenML",
        "get_data as CSV",
        "dataset.csv",
        csv(flowers("class", [f"Iris-{name}" for name in TRUE_NAMES])),
        Data(labels=[f"Iris-{name}" for name in TRUE_NAMES]),
    ),
    layout("Weka 3.8", "ARFF", "iris.arff", "@relation iris\n", NO_ENDING),
    layout("Weka 3.8", "CSVSaver", "iris.csv", named("class"), Data()),
    layout(
        "R 4.4",
        "write.csv of iris",
        "iris.csv",
        csv(flowers("Species").set_index(pd.RangeIndex(1, N + 1)), index=True, quoting=2),
        Proposed("Species"),
    ),
    layout("R 4.4", "write.csv2", "iris.csv", csv(flowers("class"), sep=";", decimal=","), Data()),
    layout(
        "R 4.4",
        "write.table, with its own defaults",
        "iris.txt",
        '"length" "width" "class"\n'
        + lines([f'"{row + 1}"' for row in range(N)], LENGTHS, WIDTHS, [f'"{name}"' for name in TRUE_NAMES], sep=" "),
        Data(),
    ),
    layout(
        "R data.table 1.16",
        "fwrite with logical labels",
        "f.csv",
        named("y", labels=["TRUE" if code else "FALSE" for code in CODES]),
        Data(labels=["TRUE" if code else "FALSE" for code in CODES]),
    ),
    layout("R readr 2.1", "write_excel_csv", "f.csv", "\ufeff" + named("class"), Data()),
    layout("R jsonlite 1.8", "toJSON of rows", "f.json", flowers("class").to_json(orient="records"), Data()),
    layout(
        "R arrow 17",
        "write_parquet of a factor",
        "f.parquet",
        parquet(flowers("class").astype({"class": "category"})),
        Data(),
    ),
    layout("R arrow 17", "write_feather", "f.feather", b"ARROW1", NO_ENDING),
    layout("SAS 9.4", "PROC EXPORT as CSV", "f.csv", named("Class", ID=IDS).replace("\n", "\r\n"), Data()),
    layout(
        "SPSS 29",
        "SAVE TRANSLATE as CSV with BOM",
        "f.csv",
        "\ufeff" + named("target", id=IDS).replace("\n", "\r\n"),
        Data(),
    ),
    layout("SPSS 29", "a data file", "f.sav", b"$FL2", NO_ENDING),
    layout(
        "Stata 18",
        "export delimited",
        "f.csv",
        named("category", patient=[f"p{row % 9}" for row in range(N)]),
        Data(n_sources=9),
    ),
    layout("MATLAB R2024b", "writetable", "f.csv", named("Class"), Data()),
    layout("MATLAB R2024b", "writematrix", "f.csv", lines(LENGTHS, WIDTHS, CODES), Proposed("column 3")),
    layout("MATLAB R2024b", "a MAT file", "f.mat", b"MATLAB 5.0", NO_ENDING),
    layout("Excel 365", "CSV with empty rows at the end", "book.csv", named("class") + ",,\r\n,,\r\n", Data()),
    layout(
        "Excel 365",
        "CSV with empty columns at the end",
        "book.csv",
        csv(flowers("class").assign(**{"": "", " ": ""})),
        Data(),
    ),
    layout(
        "Excel 365",
        "German CSV: semicolons and decimal commas",
        "mappe.csv",
        csv(flowers("class"), sep=";", decimal=",").replace("\n", "\r\n"),
        Data(),
    ),
    layout("Excel 365", "sep=; in the first line", "mappe.csv", "sep=;\r\n" + csv(flowers("class"), sep=";"), Data()),
    layout("Excel 365", "Unicode text", "book.txt", csv(flowers("class"), sep="\t").encode("utf-16"), Data()),
    layout(
        "Excel 365",
        "CSV of Western letters",
        "book.csv",
        named("class", labels=[f"{name}é" for name in TRUE_NAMES]).encode("cp1252"),
        Data(labels=[f"{name}é" for name in TRUE_NAMES]),
    ),
    layout("LibreOffice 24", "CSV, all texts quoted", "sheet.csv", csv(flowers("label"), quoting=2), Data()),
    layout(
        "Google Sheets",
        "CSV with spaces in its names",
        "sheet.csv",
        csv(flowers("label")).replace("length,width,label", "length , width, label"),
        Data(),
    ),
    layout(
        "Orange 3.37",
        "CSV with roles in its names",
        "iris.csv",
        csv(flowers("C#class").rename(columns={"C#class": "class"})),
        Data(),
    ),
    layout(
        "KNIME 5.3",
        "CSV Writer with row ids",
        "f.csv",
        csv(flowers("class").set_index("Row" + pd.Series(range(N)).astype(str)).rename_axis("row ID"), index=True),
        Data(),
    ),
    layout(
        "RapidMiner 10.4", "Write CSV", "f.csv", csv(flowers("label", id=range(1, N + 1)), sep=";", quoting=2), Data()
    ),
    layout(
        "Spark MLlib 3.5",
        "write.json, features as a vector",
        "part-00000.json",
        jsonl(pd.DataFrame({"features": VECTORS, "label": CODES.astype(float)})),
        CODED,
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_parquet with embeddings",
        "e.parquet",
        parquet(pd.DataFrame({"id": IDS, "embedding": [each["values"] for each in VECTORS], "label": TRUE_NAMES})),
        Data(),
    ),
    layout(
        "a table put together by cat",
        "the header once more in the middle",
        "all.csv",
        csv(flowers("label")[:30]) + csv(flowers("label")[30:]),
        Data(),
    ),
    layout(
        "a table put together by cat",
        "of texts and quoted cells",
        "all.csv",
        csv(flowers("label")[:30], quoting=1) + csv(flowers("label")[30:], quoting=1),
        Data(),
    ),
    layout(
        "a split of somebody's own",
        "a column of train, val and test",
        "f.csv",
        named("label", split=["val" if part == "validation" else part for part in PARTS]),
        Data(parts=tuple(PARTS)),
    ),
    layout(
        "a split of somebody's own",
        "with sites",
        "f.csv",
        named("label", site=SITES, split=["dev" if part == "validation" else part for part in PARTS]),
        Data(n_sources=6, parts=tuple(PARTS)),
    ),
]
del npz
