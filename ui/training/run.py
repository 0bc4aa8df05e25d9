"""What does a list of runs say of a training? Its plan in words, and the address of the form that it came from."""

from core.trials import TrainingPlan
from ui.models.training import parameters

__all__ = ["describe", "parameters"]


def describe(plan: TrainingPlan) -> str:
    """A plan in a few words."""
    return plan.title
