"""Layouts of statistics packages, commercial workbenches and spreadsheets."""

import io

import openpyxl

from tests.data.layouts.made import (
    CODES,
    CODES_2,
    LENGTHS,
    PROBA,
    PROBA_2,
    SAID_2,
    SAID_NAMES,
    TOP,
    TRUE_NAMES,
    Asked,
    N,
    Read,
    Refused,
    csv,
    layout,
    lines,
    scores,
)

UNSURE = Read(confidence=False)

COMMAS = [f"{p:.2f}".replace(".", ",") for p in TOP]


def sheet(header: list[str], rows: list[list]) -> bytes:
    """A workbook of one sheet."""
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in (header, *rows):
        book.active.append(row)
    book.save(stream)
    return stream.getvalue()


LAYOUTS = [
    layout(
        "Orange 3.37",
        "Predictions, Save Data as CSV",
        "orange.csv",
        csv(
            length=LENGTHS,
            iris=TRUE_NAMES,
            **{"Logistic Regression": SAID_NAMES},
            **scores("Logistic Regression ({})"),
            fold=[1] * N,
        ),
        Asked("truth"),
    ),
    layout(
        "RapidMiner 10.4",
        "Write CSV",
        "rapidminer.csv",
        csv(
            sep=";",
            id=range(1, N + 1),
            label=TRUE_NAMES,
            **{"prediction(label)": SAID_NAMES},
            **scores("confidence({})"),
            length=LENGTHS,
        ),
        Read(),
    ),
    layout(
        "SAS 9.4",
        "PREDPROBS=INDIVIDUAL",
        "sas.csv",
        csv(_FROM_=TRUE_NAMES, _INTO_=SAID_NAMES, **scores("IP_{}")),
        Read(),
    ),
    layout(
        "SAS Enterprise Miner 15",
        "scored data",
        "em.csv",
        csv(F_Species=TRUE_NAMES, I_Species=SAID_NAMES, **scores("P_Species{}")),
        Read(),
    ),
    layout(
        "SPSS 29",
        "LOGISTIC, saved PRE_1 and PGR_1",
        "spss.csv",
        csv(default=CODES_2, PRE_1=PROBA_2[:, 1], PGR_1=SAID_2),
        Asked("truth"),
    ),
    layout("SPSS 29", "a data file", "spss.sav", b"$FL2@(#) IBM SPSS", Refused("this is no table")),
    layout(
        "SPSS Modeler 18.4",
        "$C- and $CC-",
        "modeler.csv",
        csv(**{"Species": TRUE_NAMES, "$C-Species": SAID_NAMES, "$CC-Species": TOP}),
        Read(),
    ),
    layout(
        "Stata 18",
        "predict pr*, export delimited",
        "stata.csv",
        csv(outcome=CODES + 1, **scores("pr{}", "123")),
        Asked("truth"),
    ),
    layout(
        "MATLAB R2024b",
        "writetable of YTrue, YPred, Score",
        "matlab.csv",
        csv(YTrue=TRUE_NAMES, YPred=SAID_NAMES, **scores("Score_{}", "123")),
        Read(),
    ),
    layout(
        "ML.NET 3.0",
        "SaveAsText",
        "mlnet.tsv",
        csv(sep="\t", Label=TRUE_NAMES, PredictedLabel=SAID_NAMES, **scores("Score.{}")),
        Read(),
    ),
    layout(
        "Dataiku 13",
        "a scored data set",
        "scored.csv",
        csv(length=LENGTHS, species=TRUE_NAMES, **scores("proba_{}"), prediction=SAID_NAMES),
        Asked("truth"),
    ),
    layout("Alteryx 2024", "Score tool", "alteryx.csv", csv(Species=TRUE_NAMES, **scores("Score_{}")), Asked("truth")),
    layout(
        "DataRobot 10",
        "batch predictions with the target passed through",
        "datarobot.csv",
        csv(
            **scores("species_{}_PREDICTION"),
            species_PREDICTION=SAID_NAMES,
            DEPLOYMENT_APPROVAL_STATUS=["APPROVED"] * N,
            species=TRUE_NAMES,
        ),
        Read(),
    ),
    layout(
        "Excel 365",
        "German CSV: semicolons and decimal commas",
        "mappe.csv",
        lines(
            [
                "id;label;prediction;confidence",
                *(f"{row};{TRUE_NAMES[row]};{SAID_NAMES[row]};{COMMAS[row]}" for row in range(N)),
            ]
        ),
        Read(),
    ),
    layout(
        "Excel 365",
        "French CSV: a column per class",
        "classeur.csv",
        "gold;prob_setosa;prob_versicolor;prob_virginica\r\n"
        + "".join(
            f"{TRUE_NAMES[r]};" + ";".join(f"{p:.6f}".replace(".", ",") for p in PROBA[r]) + "\r\n" for r in range(N)
        ),
        Read(),
    ),
    layout(
        "Excel 365",
        "sep=; in the first line",
        "mappe.csv",
        "sep=;\r\n" + csv(sep=";", gold=TRUE_NAMES, predicted=SAID_NAMES),
        UNSURE,
    ),
    layout(
        "Excel 365",
        "Unicode text",
        "book.txt",
        csv(sep="\t", gold=TRUE_NAMES, predicted=SAID_NAMES).encode("utf-16"),
        UNSURE,
    ),
    layout(
        "Excel 365",
        "empty rows at the end",
        "book.csv",
        csv(gold=TRUE_NAMES, predicted=SAID_NAMES, confidence=TOP) + ",,\r\n" * 20,
        Read(),
    ),
    layout(
        "Excel 365",
        "a workbook",
        "book.xlsx",
        sheet(
            ["id", "gold", "predicted", "confidence"],
            [[f"r{r}", TRUE_NAMES[r], SAID_NAMES[r], float(TOP[r])] for r in range(N)],
        ),
        Read(),
    ),
]
