"""Touchstone from Python: from arrays or files to a verdict with its numbers and figures, by the code that pages run.

`card` says what is understood of a file, before anything counts. `check` asks a question of a data set, or of one model
on it; `compare` holds two sets of predictions against each other, and `assert_not_worse` fails where the new one may be
worse; `plan` says how many samples show a difference, `few_labels` which samples to label, and what their labels tell.
`dataset`, `read`, `predictions` and `record` make what these take, `Result` is what they give; `load` reads a kept one,
and `collect` holds several side by side. All of these, and the splitters and clusterers that `core` exports, are the
public surface (docs/python.md); everything else may change.

Nothing is imported here: `touchstone` has each name from its own module, and what it needs with it (`core.PUBLIC`).
"""
