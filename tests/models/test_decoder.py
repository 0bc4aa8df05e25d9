import numpy as np
import pytest

from touchstone.core.data import load_example
from touchstone.core.models import ModelError
from touchstone.core.models.classical import Cancelled
from touchstone.core.models.decoder import Decoder, fit_decoder
from touchstone.core.models.layers import layer_samples
from touchstone.core.models.networks import Cnn1

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def digits():
    """Features of a trained network, and the images they came from: 900 to learn from, the rest to test on."""
    data = load_example("digits")
    trained = Cnn1(n_epochs=3).fit(data.x[:900], data.y[:900], seed=0).trained(data)
    samples = layer_samples(trained, data, np.arange(data.n_samples), layer="last convolution")
    return samples.features, data.x


def test_images_come_back_from_features_they_were_not_learnt_from(digits):
    features, images = digits
    losses = []
    decoder = fit_decoder(
        features[:900], images[:900], n_epochs=8, seed=0, on_epoch=lambda done, of, loss: losses.append(loss)
    )
    errors, plain = decoder.squared_errors(features[900:], images[900:])
    assert errors.mean() < 0.4 * plain.mean()
    assert len(losses) == 8
    assert losses[-1] < losses[0]
    made = decoder.decode(features[900:903])
    assert made.shape == images[:3].shape
    assert ((made >= 0) & (made <= 1)).all()
    assert errors[:3] == pytest.approx(np.square(made - images[900:903]).mean(axis=(1, 2, 3)), rel=1e-5)
    assert plain[0] == pytest.approx(np.square(images[:900].mean(axis=0) - images[900]).mean(), rel=1e-4)


def test_the_same_seed_gives_the_same_decoder_and_bytes_give_it_back(digits):
    features, images = digits
    one, same, other = (fit_decoder(features[:64], images[:64], n_epochs=1, seed=seed) for seed in (1, 1, 2))
    assert one.to_bytes() == same.to_bytes() != other.to_bytes()
    again = Decoder.from_bytes(one.to_bytes())
    assert np.array_equal(again.decode(features[:5]), one.decode(features[:5]))


@pytest.mark.parametrize("shape", [(5, 7, 3), (1, 1, 1), (28, 28, 1), (6, 4, 2)])
def test_images_of_any_size(shape):
    rng = np.random.default_rng(0)
    decoder = fit_decoder(rng.normal(size=(12, 4)), rng.random((12, *shape)), n_epochs=1, seed=0)
    assert decoder.decode(rng.normal(size=(3, 4))).shape == (3, *shape)
    assert decoder.decode(np.zeros((0, 4))).shape == (0, *shape)


def test_features_that_do_not_vary_do_no_harm():
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(12), rng.normal(size=12)])
    decoder = fit_decoder(features, rng.random((12, 4, 4, 1)), n_epochs=1, seed=0)
    assert np.isfinite(decoder.decode(features)).all()


def test_what_does_not_fit_is_refused():
    rng = np.random.default_rng(0)
    features, images = rng.normal(size=(12, 4)), rng.random((12, 4, 4, 1))
    with pytest.raises(ModelError, match="There must be one for each"):
        fit_decoder(features, images[:5], seed=0)
    with pytest.raises(ModelError, match="Pixels run from"):
        fit_decoder(features, 255 * images, seed=0)
    with pytest.raises(ModelError, match="finite features"):
        fit_decoder(np.full((12, 4), np.nan), images, seed=0)
    decoder = fit_decoder(features, images, n_epochs=1, seed=0)
    with pytest.raises(ModelError, match="takes 4 features"):
        decoder.decode(rng.normal(size=(2, 5)))
    with pytest.raises(ModelError, match="not those of a decoder from 5 features"):
        Decoder(5, (4, 4, 1), decoder.state)
    with pytest.raises(ModelError, match="no safetensors file"):
        Decoder.from_bytes(b"no decoder")
    with pytest.raises(Cancelled):
        fit_decoder(features, images, seed=0, should_stop=lambda: True)
