"""When was it? Dates as numbers that can be put in order, averaged and cut."""

from datetime import date
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped


def days(values: Shaped[np.ndarray, " n_rows"]) -> Float[np.ndarray, " n_rows"]:
    """Dates as days since the beginning of 1970 (UTC), with a fraction for the time of day; NaN where there is none.

    Dates are numpy's, Python's and pandas's, and texts as ISO 8601 writes them, such as 2020-03-01 or
    2020-03-01T12:00+02:00. Without a time zone a date counts as UTC.

    >>> days(np.array(["1970-01-03", "1970-01-01T12:00Z", "soon"]))
    array([2. , 0.5, nan])
    """
    import pandas as pd

    if values.dtype.kind == "M":
        micros = values.astype("datetime64[us]")
    else:
        cells = [value if isinstance(value, _DATES) else None for value in values.tolist()]
        read: Any = pd.to_datetime(pd.Series(cells, dtype=object), format="ISO8601", utc=True, errors="coerce")
        micros = read.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(micros), np.nan, micros.astype(np.float64) / _MICROSECONDS)


_DATES = (str, date, np.datetime64)
_MICROSECONDS = 86_400e6
