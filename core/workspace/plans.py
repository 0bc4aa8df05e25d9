"""Which kinds of plan can be stored and run?"""

from core.evaluate.average_case.plan import AverageCasePlan
from core.evaluate.data_set_adequacy.plan import AdequacyPlan
from core.evaluate.guided_tests.plan import GuidedTestsPlan
from core.evaluate.test_quality.shift_plan import CovariateShiftPlan
from core.trials import FoldPlan, MapPlan, Plan, SourcesPlan, TrainingPlan, TrialPlan, from_json

PLANS: dict[str, type] = {
    plan.kind: plan
    for plan in (
        *(TrialPlan, AdequacyPlan, FoldPlan, MapPlan, TrainingPlan, SourcesPlan),
        *(AverageCasePlan, CovariateShiftPlan, GuidedTestsPlan),
    )
}
"""Every kind of plan that can be stored and run."""


def load_plan(text: str) -> Plan:
    """The plan of any known kind that `to_json` wrote.

    Examples
    --------
    >>> load_plan('{"kind":"trials","models":["svm"]}').models
    ('svm',)
    """
    return from_json(text, PLANS)
