"""What do runs tell of more samples and new sources?"""

from dataclasses import replace

import pandas as pd

from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy
from touchstone.core.evaluate.units import design_beside_sources
from touchstone.core.workspace.run import Run
from touchstone.ui import cache
from touchstone.ui.data.results import dataset_of
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=16)
def adequacy(run: Run) -> Adequacy:
    """All that the finished trials of a run tell of the size of the training set; by class once it has ended."""
    data = dataset_of(run.fingerprint)
    n_per_class = dict(zip(data.class_names, data.n_per_class.tolist(), strict=True))
    evaluated = adequacy_of(trials(run), n_per_class=n_per_class, by_class=run.state != "running")
    return replace(evaluated, design=design_beside_sources(data))


def trials(run: Run) -> pd.DataFrame:
    """The rows of a run's trials."""
    return workspace().rows(owner(), run.id)
