"""What does a list of runs say of a map? Its plan in words, and its address on the page of data sets."""

from ui.data_sets.maps import describe, parameters

__all__ = ["describe", "parameters"]
