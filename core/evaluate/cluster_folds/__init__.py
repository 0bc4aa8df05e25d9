"""How do models fare on folds that are made to differ? (Wecker, Friedrich & Adel 2020, sections 4.3 and 5)

`rows_of_run(rows, dataset)` (of a run) or `rows_of_tables(...)` (uploaded) say what was predicted on which fold;
`fold_performance(...)` scores it by fold, seed and scheme; `characteristics_of` and `relations` look for what goes with
the scores, `predicted_on` and `predicted_on_sources` for what they predict; `fold_verdict(...)` says it in sentences.
"""
