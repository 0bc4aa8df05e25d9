"""What does a list of runs say of a search for sources? The address of trials that use it."""

from touchstone.ui.source_robustness.controls import sources_parameters as parameters

__all__ = ["parameters"]
