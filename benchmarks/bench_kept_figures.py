"""What does a figure cost a rerun: drawn anew, kept as plotly has it, and kept as it is sent? Prints milliseconds.

Each is handed to Streamlit as a page does; the fastest of several times counts.
"""

import logging
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from touchstone.core.data import load_example
from touchstone.core.figures.data_sets import label_distribution
from touchstone.core.figures.marks import map_chart
from touchstone.core.represent.representations import pca_map
from touchstone.ui.shell.charts import Ready

N_TIMES = 15


def fastest(call: Callable[[], object]) -> float:
    """Milliseconds of processor of the fastest call."""
    times = []
    for _ in range(N_TIMES):
        begun = time.process_time()
        call()
        times.append(1000 * (time.process_time() - begun))
    return min(times)


def main() -> None:
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # there is no browser, and it says so each time
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    digits = load_example("digits")
    figures: dict[str, Callable[[], go.Figure]] = {
        "bars of 10 classes": partial(label_distribution, digits.class_names, digits.n_per_class),
        "map of 1,797 samples": partial(
            map_chart, pca_map(digits.x.reshape(len(digits.x), -1)), digits.y, digits.class_names
        ),
    }
    print(f"{'figure':24}{'drawn anew':>12}{'kept':>8}{'ready':>8}  ms of a rerun")
    for name, draw in figures.items():
        kept, ready = draw(), Ready(draw())
        costs = [
            fastest(lambda draw=draw: st.plotly_chart(draw(), theme=None)),
            fastest(lambda kept=kept: st.plotly_chart(kept, theme=None)),
            fastest(lambda ready=ready: st.plotly_chart(ready, theme=None)),
        ]
        print(f"{name:24}{costs[0]:12.1f}{costs[1]:8.1f}{costs[2]:8.1f}")


if __name__ == "__main__":
    main()
