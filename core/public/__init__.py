"""Touchstone from Python: from arrays or files to a verdict with its numbers and figures, by the code that pages run.

`card` says what is understood of a file, before anything counts. `check` asks a question of a data set, or of one model
on it; `compare` holds two sets of predictions against each other, and `assert_not_worse` fails where the new one may be
worse; `plan` says how many samples show a difference, `few_labels` which samples to label, and what their labels tell.
`dataset`, `read`, `predictions` and `record` make what these take, `Result` is what they give. All of these, and the
splitters and clusterers that `core` exports, are the public surface (docs/python.md); everything else may change.
"""

from touchstone.core.public.asking import QUESTIONS, RECIPES, check
from touchstone.core.public.comparing import assert_not_worse, compare, plan
from touchstone.core.public.data import card, dataset, predictions, read, record
from touchstone.core.public.labelling import FewLabels, few_labels
from touchstone.core.public.result import RESULT_SCHEMA, Basis, Result, collect, load
