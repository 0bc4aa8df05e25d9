"""The controls of a form, for tests that need no page."""

from touchstone.core.parameters import ANYTHING, About, asked
from touchstone.ui.forms.controls import Control
from touchstone.ui.forms.plan_form import control


def controls_of(plan: type, about: About = ANYTHING) -> dict[str, Control]:
    """Every control of a plan, by parameter of the address."""
    return {question.ask.address: control(question, about) for question in asked(plan, about) if question.ask.address}
