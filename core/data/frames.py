"""The type of a frame's texts: one that knows of missing cells, as what pandas 3 calls "str" does and 2 does not."""

import numpy as np
import pandas as pd

try:
    TEXTS = pd.StringDtype(na_value=np.nan)
except TypeError:  # pandas 2.2
    TEXTS = pd.StringDtype("pyarrow_numpy")
"""The type of a frame's texts, missing ones as NaN."""
