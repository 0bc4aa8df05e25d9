"""The look of the page and of its figures is one."""

import tomllib
from pathlib import Path

import pytest

from core.figures.theme import DARK, LIGHT, Theme

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
