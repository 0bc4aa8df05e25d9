"""What does a list of runs say of a search for sources? Its plan in words, and the address of trials that use it."""

from core.trials import SourcesPlan
from ui.source_robustness.controls import sources_parameters as parameters

__all__ = ["describe", "parameters"]


def describe(plan: SourcesPlan) -> str:
    """A plan in a few words."""
    return plan.title
