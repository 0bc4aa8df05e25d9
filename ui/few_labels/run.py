"""What does a list of runs say of an accuracy from few labels? The place where such labels are brought back."""

from touchstone.core.evaluate.guided_tests.few_labels_plan import FewLabelsPlan


def parameters(plan: FewLabelsPlan) -> dict[str, list[str]]:
    """The parameters of the address where labels of this model's samples are counted."""
    return {"model": [plan.model], "for": ["know the accuracy"]}
