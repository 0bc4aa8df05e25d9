"""What is known of an estimator beside how it computes? One record on each entry, which all that shows it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Mark:
    """How figures draw an estimator: a place in the theme's colours (or ink, or grey), plotly's symbol and dash."""

    colour: int | Literal["ink", "grey"]
    symbol: str
    dash: str = "solid"


@dataclass(frozen=True)
class Facts:
    """What pickers, plan, audit, verdict, figures and report have to know of an estimator.

    Parameters
    ----------
    title, short
        What the screen calls it, and a legend, where there is little room.
    mark
        How figures draw it, the same on every page.
    needs_gradients
        Whether it takes a model with gradients.
    offered
        Whether the page offers it as what a verdict rests on; in the order of the registry, the first as the usual one.
    audited
        Whether audits hold it against Monte-Carlo. Those of new runs only: what was computed stays as it is.
    recommended
        Whether a verdict may name it as closer: not the approximations that are right by luck where they are.
    sigmoid_of
        The estimator whose margins it takes, for one that puts the multivariate sigmoid in place of the normal
        distribution function.
    copies, drawn
        The numbers of noisy copies (its option `n_samples`) whose convergence an audit follows, and how they are drawn,
        in words.
    from_plan
        Which of its options take which field of an AverageCasePlan; others stay as they are.
    """

    title: str
    mark: Mark
    short: str = ""
    needs_gradients: bool = False
    offered: bool = False
    audited: bool = True
    recommended: bool = False
    sigmoid_of: str | None = None
    copies: tuple[int, ...] = ()
    drawn: str = ""
    from_plan: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "short", self.short or self.title)
