"""Touchstone from Python: from arrays or files to a verdict with its numbers and figures, by the code that pages run.

`check` asks a question of a data set, or of one model on it; `compare` holds two sets of predictions against each
other; `few_labels` says which samples to label, and what their labels tell. `dataset`, `read`, `predictions` and
`record` make what these take, `Result` is what they give. All of these, and the splitters and clusterers that `core`
exports, are the public surface (docs/python.md); everything else may change.
"""

from touchstone.core.public.asking import QUESTIONS, RECIPES, FewLabels, Result, check, compare, few_labels
from touchstone.core.public.data import dataset, predictions, read, record
