"""What every model must do, on every kind of data that it takes; a new entry of MODELS is tested without a new test.

The papers' networks are trained for one epoch here: they keep their promises, but have not learned much yet.
"""

import numpy as np
import pytest

from touchstone.core.models import MODELS, Cancelled
from touchstone.core.testing import LAWS
from touchstone.core.testing.models import easy_inputs


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("law", LAWS[MODELS.group], ids=lambda law: law.__name__)
def test_a_model_keeps_every_law(law, name):
    law(name, MODELS[name])


@pytest.mark.parametrize("name", ["gradient_boosting", "mlp_small", "linear"])
def test_long_training_stops_in_the_middle(name):
    y = np.tile([0, 1], 50)
    n_asked = 0

    def at_the_fifth_time() -> bool:
        nonlocal n_asked
        n_asked += 1
        return n_asked == 5

    with pytest.raises(Cancelled):
        MODELS[name]().fit(easy_inputs("tabular", y), y, seed=0, should_stop=at_the_fifth_time)
    assert n_asked == 5
