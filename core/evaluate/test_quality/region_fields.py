"""What do plans and pages ask about regions? The fields of their thresholds, the same wherever regions are drawn."""

from typing import Any

from touchstone.core.asked import asks
from touchstone.core.evaluate.test_quality.regions import THETA_2, UNITS

FORM = "regions"
"""The form that asks these: pages of several questions share it, parameters of the address included."""


def asks_theta2() -> Any:
    """Up to which confidence samples lie at the boundary."""
    return asks(
        THETA_2,
        label="Boundary up to",
        help="A sample lies at the boundary if the model's confidence is at most this (theta 2). The paper gives "
        "no value; the curve below shows its effect.",
        address="theta2",
        place="row",
        form=FORM,
        lowest=0.0,
        highest=1.0,
        step=0.05,
        format="%.3f",
    )


def asks_r() -> Any:
    """How far centroid regions reach; None for the median."""
    return asks(
        None,
        label="Radius",
        help="Radius of a centroid region, in the unit of distance. The default is each class's median training "
        "distance: half of the training samples lie inside.",
        address="r",
        place="row",
        form=FORM,
        lowest=0.001,
        highest=10.0,
        word="median",
    )


def asks_theta1() -> Any:
    """From which confidence on samples lie at the boundary; None for the least that there is."""
    return asks(
        None,
        label="Boundary from",
        help="The lowest confidence at the boundary (theta 1). Usually one over the number of classes, the lowest "
        "possible.",
        address="theta1",
        form=FORM,
        lowest=0.001,
        highest=1.0,
        word="usual",
        means=lambda plan, facts: 1 / facts.n_classes,
    )


def asks_unit() -> Any:
    """What distances to a centroid are measured in."""
    return asks(
        UNITS[0],
        label="Unit of distance",
        help="Percentile of a class's training distances to their centroid. The largest depends on a single sample.",
        address="unit",
        form=FORM,
        choices=lambda about: {"99th percentile": "99th percentile", "largest": "the largest"},
    )
