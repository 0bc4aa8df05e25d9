"""The look of the page and of its figures is one."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from touchstone.core.figures.theme import DARK, LIGHT, Theme

CONFIG = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text("utf-8"))


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: look.name)
def test_pages_and_figures_have_the_same_colours(look: Theme):
    said = CONFIG["theme"][look.name]
    assert said["backgroundColor"] == look.paper
    assert said["textColor"] == look.ink
    assert tuple(said["chartCategoricalColors"]) == look.colours
    assert tuple(said["chartSequentialColors"]) == look.sequential
    assert tuple(said["chartDivergingColors"]) == look.diverging
    assert (said["blueColor"], said["orangeColor"]) == (look.inclusive, look.exclusive)


def test_streamlit_takes_ten_colours_or_falls_back_to_its_own():
    for name in ("light", "dark"):
        said = CONFIG["theme"][name]
        assert [len(said[f"chart{kind}Colors"]) for kind in ("Categorical", "Sequential", "Diverging")] == [10, 10, 10]


def test_nothing_is_sent_or_fetched():
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["showEmailPrompt"] is False
    assert "http" not in str(CONFIG)


LEAST_CONTRAST = 4.5
"""Of text to be read by people who see little, by the Web Content Accessibility Guidelines (1.4.3)."""
CAPTION = 0.6
"""The opacity at which Streamlit sets captions, icons of the navigation and folded titles in the colour of text."""


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: look.name)
def test_grey_text_can_be_read(look: Theme):
    said = CONFIG["theme"][look.name]
    for paper in (said["backgroundColor"], said["sidebar"]["backgroundColor"]):
        assert contrast(rgb(said["grayColor"]), rgb(paper)) >= LEAST_CONTRAST
        assert contrast(rgb(look.grey), rgb(paper)) >= LEAST_CONTRAST
        caption = CAPTION * rgb(said["textColor"]) + (1 - CAPTION) * rgb(paper)
        assert contrast(caption, rgb(paper)) >= LEAST_CONTRAST


def test_contrast_is_that_of_the_guidelines():
    assert contrast(rgb("#000000"), rgb("#FFFFFF")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#FFFFFF")) == pytest.approx(4.48, abs=0.005)


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)], dtype=float)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The ratio of two colours' luminances, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: np.ndarray) -> float:
    """The relative luminance of an sRGB colour."""
    parts = colour / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
