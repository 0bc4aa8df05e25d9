"""Would more data help, or new sources? (Kilinc & Uysal 2017, section 5.2)

`AdequacyPlan` (in `plan`) trains every model on parts of the training set; `adequacy_of(rows, ...)` (in `adequacy`)
turns its rows into curves over the size of the training set; `adequacy_verdict(...)` (in `verdict`) says it in
sentences.
"""
