"""From real images to generated ones and back: digits, a small network, its decoder."""

import numpy as np
import pytest

from touchstone.core.data import load_example
from touchstone.core.evaluate.guided_tests.generate import generate_tests, start, walk_between
from touchstone.core.evaluate.guided_tests.results import reconstruction, round_trip
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.evaluate.test_quality.verdict import quality_verdict
from touchstone.core.models.decoder import fit_decoder
from touchstone.core.models.layers import layer_of, layer_samples
from touchstone.core.models.networks import Cnn1


@pytest.fixture(scope="module")
def digits():
    """Model, layer, training and test samples, images of both, and the decoder."""
    data = load_example("digits")
    model = Cnn1(n_epochs=4).fit(data.x[:1000], data.y[:1000], seed=0, n_classes=10).trained(data)
    rows = np.arange(1000), np.arange(1000, data.n_samples)
    train, test = (layer_samples(model, data, of, layer="last convolution") for of in rows)
    decoder = fit_decoder(train.features, data.x[:1000], n_epochs=10, seed=0)
    return model, layer_of(model, "last convolution"), train, test, data.x[1000:], decoder


def test_the_error_of_a_decoder_is_stated_with_its_interval(digits):
    _, _, _, test, images, decoder = digits
    told = reconstruction(decoder, test.features, images)
    assert told.n == len(test)
    assert told.interval.lower < told.error < told.interval.upper < told.baseline


def test_real_images_come_back_as_what_they_were(digits):
    """The whole way: generate near centroids, decode, ask the whole model; it mostly agrees with its head."""
    model, layer, train, test, _, decoder = digits
    regions = fit_regions(train)
    made = start(regions, layer, train=train, test=test)
    near, weak = (generate_tests(made, 6, centroid_share=share, seed=0) for share in (1.0, 0.0))
    trips = [
        round_trip(tests, decoder.decode(tests.features), model=model, layer=layer, regions=regions)
        for tests in (near, weak)
    ]
    disagreed = [trip.disagreement for trip in trips]
    assert disagreed[0][:2] == (int(trips[0].disagrees.sum()), len(near))
    assert disagreed[0][2] < 0.2
    assert disagreed[0][2] <= disagreed[1][2]
    assert all(ends.lower <= share <= ends.upper for _, _, share, ends in disagreed)
    assert len(trips[0].table()) == len(near)
    assert trips[0].kept_region[1] == len(near)
    assert (trips[0].disagrees == (trips[0].predicted != near.predicted)).all()


def test_the_quality_of_a_real_test_set_is_said_in_sentences(digits):
    _, _, train, test, _, _ = digits
    found = measure_quality(train, test, rng=np.random.default_rng(0))
    told = quality_verdict(found)
    assert f"{len(test)} test samples, 1\u202f000 training samples" in told.used
    assert told.headline
    assert told.advice


def test_a_walk_leads_from_the_sample_to_the_centroid(digits):
    _, layer, train, test, _, _ = digits
    regions = fit_regions(train)
    way = walk_between(regions, layer, test.features[0], label=int(test.labels[0]), towards=3, n_steps=11)
    assert way.features[0] == pytest.approx(test.features[0])
    assert way.features[-1] == pytest.approx(regions.centroids[3])
    assert way.proba == pytest.approx(layer(way.features))
    assert way.proba[-1].argmax() == 3
    home = walk_between(regions, layer, test.features[0], label=int(test.labels[0]), towards=int(test.labels[0]))
    assert home.in_centroid[-1]
    assert (np.diff(home.distance) <= 1e-9).all()
    assert len(home.table()) == 410
