"""A sheet of mean images: every pixel a square of whole pixels, in its place, and blank where there is nothing."""

import numpy as np
import pytest

from touchstone.core.evaluate.data_sets import mean_images
from touchstone.core.figures.source_robustness import (
    MOST_CLASSES,
    MOST_SOURCES,
    SIDE,
    left_out,
    mean_image_sheet,
)
from touchstone.core.figures.theme import alt_text, theme

PAPER = {dark: [int(theme(dark).paper[at : at + 2], 16) for at in (1, 3, 5)] for dark in (False, True)}


@pytest.mark.parametrize("dark", [False, True])
def test_every_mean_lies_in_the_row_of_its_class_and_the_column_of_its_source(dark):
    x = np.zeros((6, 4, 3, 1))
    x[:, 0, 0, 0] = [0.2, 0.6, 1.0, 0.2, 0.2, 0.2]
    means = mean_images(x, np.array([0, 0, 1, 2, 2, 2]), 4).reshape(2, 2, 4, 3, 1)
    figure = mean_image_sheet(means, class_names=("<b>ant</b>", "bee"), finder="k-means", dark=dark)
    pixels = np.array(figure.data[0].z)
    assert pixels.shape == (2 * 5, 2 * 4, 3)
    for row, column, value in ((0, 0, 0.4), (0, 1, 1.0), (1, 0, 0.2)):
        assert pixels[5 * row, 4 * column].tolist() == [round(255 * value)] * 3
        assert pixels[5 * row + 3, 4 * column + 2].tolist() == [0] * 3
    assert (pixels[5:, 4:] == PAPER[dark]).all(), "a source without a sample is left blank"
    assert (pixels[4] == PAPER[dark]).all()
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;ant&lt;/b&gt;", "bee"]
    assert list(figure.layout.xaxis.ticktext) == ["1", "2"]
    assert alt_text(figure) == "Mean images of the sources that k-means found: 2 classes, 2 sources each."


@pytest.mark.parametrize("side", [8, 28, 32, 100])
def test_pixels_of_the_screen_are_a_whole_multiple(side):
    figure = mean_image_sheet(np.zeros((3, 5, side, side, 3)), class_names=("a", "b", "c"), finder="ACOL")
    layout, pixels = figure.layout, np.array(figure.data[0].z)
    wide = (layout.width - layout.margin.l - layout.margin.r) / pixels.shape[1]
    high = (layout.height - layout.margin.t - layout.margin.b) / pixels.shape[0]
    assert wide == high == max(1, round(SIDE / side))
    assert not layout.xaxis.automargin
    assert not layout.yaxis.automargin


def test_what_does_not_fit_is_left_out_and_told():
    many = np.zeros((MOST_CLASSES + 5, MOST_SOURCES + 1, 2, 2, 1))
    figure = mean_image_sheet(many, class_names=[str(n) for n in range(MOST_CLASSES + 5)], finder="ACOL")
    assert np.array(figure.data[0].z).shape == (3 * MOST_CLASSES, 3 * MOST_SOURCES, 3)
    assert left_out(25, 11) == " Shown are the first 20 of 25 classes and the first 10 of 11 sources of each class."
    assert left_out(20, 10) == ""
