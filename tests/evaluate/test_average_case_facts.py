"""What every entry of ESTIMATORS promises, from the plan to the report; a new entry is tested without a new test."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.average_case_rows import counted, rows_of, skewed
from touchstone.core.evaluate.average_case import ESTIMATORS, Estimator, Facts, Mark, facts_of, offered
from touchstone.core.evaluate.average_case.plan import AverageCasePlan, Trial, asked_of
from touchstone.core.evaluate.average_case.robustness import CONFIDENCE, MONTE_CARLO, evaluate_robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict, estimator_title
from touchstone.core.figures import average_case as figures
from touchstone.core.figures.average_case import estimator_style
from touchstone.core.figures.theme import theme
from touchstone.core.models.uploaded_model import ForeignModel
from touchstone.core.report import average_case as report

AUDITED = [name for name, kind in ESTIMATORS.items() if kind.facts.audited]
each = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Rows of an audit of every estimator that is audited."""
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    p = skewed(60, 0.8, rng)
    parts = [rows_of(p, y), rows_of(p, y, estimator=CONFIDENCE), counted(p, y, rng=rng)]
    for name in AUDITED:
        said = np.clip(p + rng.normal(0, 0.02, 60), 0, 1)
        parts.append(rows_of(said, y, estimator=name, part="audit"))
        parts += [
            rows_of(said, y, estimator=name, part="convergence", n_draws=n) for n in ESTIMATORS[name].facts.copies
        ]
    return pd.concat(parts, ignore_index=True)


@each
def test_the_facts_of_an_entry_are_its_own_and_hold(name):
    kind, facts = ESTIMATORS[name], ESTIMATORS[name].facts
    assert isinstance(kind(), Estimator)
    assert facts is facts_of(name)
    others = [other.facts for key, other in ESTIMATORS.items() if key != name]
    assert facts.title not in [other.title for other in others]
    assert facts.short not in [other.short for other in others]
    assert facts.mark not in [other.mark for other in others]
    options = {field.name for field in fields(kind)}
    assert set(facts.from_plan) <= options
    assert set(facts.from_plan.values()) <= {field.name for field in fields(AverageCasePlan)}
    assert not facts.copies or "n_samples" in options
    assert facts.sigmoid_of is None or (facts.sigmoid_of in ESTIMATORS and facts_of(facts.sigmoid_of).audited)


@each
def test_a_plan_takes_it_with_the_options_that_it_asks_for(name):
    plan = AverageCasePlan("f1", n_copies=8, n_passes=64, temperature=2.0, audit_draws=99)
    made = plan.estimator(name)
    assert isinstance(made, ESTIMATORS[name])
    for option, field in ESTIMATORS[name].facts.from_plan.items():
        assert getattr(made, option) == getattr(plan, field)
    if facts_of(name).offered:
        assert AverageCasePlan("f1", estimators=(name, CONFIDENCE)).estimators[0] == name


@each
def test_it_is_offered_and_audited_where_its_facts_and_the_model_allow(name):
    facts, plan = facts_of(name), AverageCasePlan("f1")
    for gradients, allowed in ((True, True), (False, not facts.needs_gradients)):
        model = ForeignModel(lambda x: x, ("a", "b"), has_gradients=gradients)
        assert (name in offered(has_gradients=model.has_gradients)) == (facts.offered and allowed)
        audit, convergence = (asked_of(plan, Trial(part, (0.1,), 0, 1), model, 2) for part in ("audit", "convergence"))
        audited = [asked.name for asked in audit]
        assert audited[0] == MONTE_CARLO
        assert (name in audited[1:]) == (facts.audited and allowed)
        followed = tuple(asked.made_by[1].n_samples for asked in convergence if asked.name == name)
        assert followed == (facts.copies if facts.audited and allowed else ())


@pytest.mark.parametrize("name", AUDITED)
def test_the_audit_its_figures_the_verdict_and_the_report_have_it(name, rows):
    robustness = evaluate_robustness(rows, class_names=("plum", "melon", "fig"))
    facts, style = facts_of(name), estimator_style(name, theme(dark=False))
    assert name in robustness.audit.names
    (drawn,) = [trace for trace in figures.error_chart(robustness.audit).data if trace.name == facts.short]
    assert (drawn.line.color, drawn.marker.symbol, drawn.line.dash) == (style.colour, style.symbol, style.dash)
    followed = {one.n_copies for one in robustness.audit.convergence if one.estimator == name}
    assert followed == set(facts.copies)
    curves = [trace.name for trace in figures.convergence_chart(robustness.audit).data]
    assert ((facts.drawn or facts.short) in curves) == bool(facts.copies)
    table = report.estimator_table(robustness.audit, 0.1)
    assert facts.title in table.lines["Estimator"].tolist()
    said = " ".join(average_case_verdict(robustness, 0.1).findings)
    assert (f"{facts.title} " in said) == (facts.sigmoid_of is None)


def test_rows_of_an_estimator_that_is_gone_are_drawn_all_the_same():
    assert facts_of("long gone") == Facts("long gone", Mark(0, "star"))
    assert estimator_title("long gone") == "long gone"
    assert estimator_style("long gone", theme(dark=True)).symbol == "star"
