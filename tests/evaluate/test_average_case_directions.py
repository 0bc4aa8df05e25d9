"""Noise along named directions, and noise of their covariance: held against models whose answer is known."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from tests.evaluate.small_networks import Logits, generator
from tests.evaluate.test_average_case_plan import planned, rows_of
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.average_case import estimate
from touchstone.core.evaluate.average_case.noise import (
    IMAGE_CHANGES,
    N_STRENGTHS,
    Noise,
    NoisyInputs,
    covariance_of_changes,
    directions_of,
    kept_along,
    quantiles,
    shapes_offered,
    spread_of,
)
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.figures.average_case import direction_chart
from touchstone.core.figures.theme import alt_text
from touchstone.core.parameters import About


def pictures(n=12, side=8, seed=0):
    return torch.rand((n, 1, side, side), generator=generator(seed))


@pytest.mark.parametrize("scales", [None, np.array([1.0, 3.0])])
def test_of_a_linear_model_the_share_is_the_normal_probability(scales):
    weights, x = torch.tensor([2.0, -1.0]), torch.tensor([[0.3, 0.2], [-0.4, 0.5]], dtype=torch.float64)

    def logits(x):
        return torch.stack([x @ weights.to(x.dtype), torch.zeros(len(x), dtype=x.dtype)], dim=1)

    margin = (x @ weights.double()).abs().numpy()
    inputs = NoisyInputs(logits, x, Noise(0.3, scales=scales), generator(), batch_size=64)
    kept = kept_along(inputs, logits(x).argmax(dim=1).numpy(), directions_of(x, ("first", "second")))
    spread = 0.3 * weights.abs().numpy() * (1.0 if scales is None else scales)
    np.testing.assert_allclose(kept, norm.cdf(margin[:, None] / spread), atol=1 / N_STRENGTHS)


def test_of_a_covariance_a_column_has_its_own_part_alone():
    covariance = np.array([[4.0, 1.9], [1.9, 1.0]])

    def logits(x):  # of the second column only: however it goes with the first
        return torch.stack([x[:, 1] + 0.5, torch.zeros(len(x), dtype=x.dtype)], dim=1)

    inputs = NoisyInputs(logits, torch.zeros(1, 2), Noise(0.5, covariance=covariance), generator(), batch_size=64)
    kept = kept_along(inputs, np.array([0]), directions_of(inputs.x, ("first", "second")))
    assert kept[0, 0] == 1.0
    assert kept[0, 1] == pytest.approx(norm.cdf(1.0), abs=1 / N_STRENGTHS)


@pytest.mark.parametrize("kind", ["gaussian", "uniform", "laplace"])
def test_strengths_have_variance_one_and_either_sign(kind):
    strengths = quantiles(kind, 2000)
    assert strengths.var() == pytest.approx(1.0, abs=0.03)
    np.testing.assert_allclose(strengths, -strengths[::-1], atol=1e-9)


def test_changes_are_those_that_they_are_called():
    x = torch.zeros((1, 1, 8, 8))
    x[..., 4:] = 1.0  # dark on the left, bright on the right
    found = {name: of.reshape(8, 8) for name, of in directions_of(x).items()}
    assert list(found) == list(IMAGE_CHANGES)
    assert found["brightness"].std() == 0
    assert float(found["shift up or down"].abs().max()) == 0
    assert set(found["shift sideways"].nonzero()[:, 1].tolist()) == {3, 4}
    assert set(found["blur"].nonzero()[:, 1].tolist()) == {3, 4}
    assert (found["contrast"][:, 4:] > 0).all()
    assert (found["contrast"][:, :4] < 0).all()
    for name in ("brightness", "contrast", "blur", "shift sideways"):
        assert found[name].norm() == pytest.approx(8.0, rel=1e-5)  # as long as unit noise in 64 pixels


def test_a_picture_that_a_change_leaves_alone_keeps_its_prediction():
    x = torch.full((2, 1, 8, 8), 0.5)
    inputs = NoisyInputs(lambda x: x.flatten(1)[:, :2], x, Noise(9.0), generator(), batch_size=64)
    kept = kept_along(inputs, np.array([0, 0]), directions_of(x))
    assert kept[:, list(IMAGE_CHANGES).index("blur")].tolist() == [1.0, 1.0]


def test_the_covariance_of_changes_is_theirs():
    x = pictures().double()
    covariance = covariance_of_changes(x)
    assert np.trace(covariance) == pytest.approx(64)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9
    flat = np.ones(64) / 8
    assert flat @ covariance @ flat > 64 / 5 - 1e-6  # all of brightness, a fifth of the changes, lies along it
    alone = np.stack([of[0].numpy() for of in directions_of(x[:1]).values()])
    expected = alone.T @ alone
    np.testing.assert_allclose(covariance_of_changes(x[:1]), expected * 64 / np.trace(expected), atol=1e-9)


def test_noise_of_that_covariance_moves_samples_as_far_as_other_noise():
    noise = Noise(0.2, covariance=covariance_of_changes(pictures().double()))
    drawn = noise.draw(4000, pictures()[0].flatten(), generator())
    assert float(drawn.square().sum(dim=1).mean()) == pytest.approx(0.04 * 64, rel=0.05)


def repeats(n_sources=300, n_repeats=4, seed=0):
    """Two columns whose means differ much between sources, and whose repeats vary by a known covariance."""
    rng = np.random.default_rng(seed)
    within = np.array([[1.0, 0.6], [0.6, 0.5]])
    centre = rng.normal(0, 20, (n_sources, 2)).repeat(n_repeats, axis=0)
    x = centre + rng.multivariate_normal([0, 0], within, n_sources * n_repeats)
    sources = [f"subject {i}" for i in range(n_sources) for _ in range(n_repeats)]
    y = (np.arange(n_sources) % 2).repeat(n_repeats)
    ids = [str(i) for i in range(len(x))]
    data = Dataset("repeats", "tabular", x, y, ["a", "b"], ids, sources=sources, feature_names=["u", "v"])
    return data, within


def test_repeats_of_a_source_give_their_own_covariance():
    data, within = repeats()
    found = spread_of("repeated", data, torch.as_tensor(np.array(data.x)))["covariance"]
    np.testing.assert_allclose(found, within, atol=0.1)
    assert "repeated" in shapes_offered(About(data))


def test_shapes_that_a_data_set_has_not_are_not_offered_and_refused():
    wine = load_example("wine")
    assert list(shapes_offered(About(wine))) == ["isotropic", "per_feature", "covariance"]
    for shape, said in (("repeated", "which samples are of one source"), ("changes", "blurred or shifted")):
        plan, data, _ = planned("wine", shape=shape, rows="all")
        with pytest.raises(DataError, match=said):
            plan.n_trials(data)
    alone, _ = repeats(n_repeats=1)
    with pytest.raises(DataError, match="nothing is repeated"):
        spread_of("repeated", alone, torch.as_tensor(np.array(alone.x)))


def test_a_run_tells_which_change_breaks_which_class():
    plan, data, context = planned(directions=True, n_audit=0, shape="changes")
    rows = rows_of(plan, data, context)
    of = rows[rows["part"] == "directions"]
    assert len(of) == 60 * 2 * len(IMAGE_CHANGES)
    found = evaluate_robustness(rows, class_names=data.class_names)
    table = found.direction_table()
    assert len(table) == 2 * len(IMAGE_CHANGES) * 10
    assert (table["lower"] <= table["p_robust"]).all()
    assert (table["p_robust"] <= table["upper"]).all()
    lowest = table[table["sigma"] == 0.3].sort_values("p_robust").iloc[0]
    said = next(line for line in average_case_verdict(found, 0.3).findings if "named directions" in line)
    assert f"Lowest observed of 5 named directions: {lowest['direction']} for “" in said
    assert lowest["direction"] in alt_text(direction_chart(found, 0.3))
    near, far = (table.loc[table["sigma"] == sigma, "p_robust"].mean() for sigma in (0.1, 0.3))
    assert far < near


def test_a_model_of_brightness_alone_is_broken_by_brightness_alone():
    x = pictures(40)
    level = x.mean(dim=(1, 2, 3)).sort().values[19:21].mean()  # between two pictures, on none of them

    def logits(x):
        off = x.mean(dim=(1, 2, 3)) - level
        return torch.stack([off, -off], dim=1)

    predicted = logits(x).argmax(dim=1).numpy()
    kept = kept_along(NoisyInputs(logits, x, Noise(0.3), generator(), 64), predicted, directions_of(x))
    of = dict(zip(IMAGE_CHANGES, kept.mean(axis=0), strict=True))
    assert of["brightness"] < 0.7
    assert of["contrast"] == 1.0
    even = estimate(Logits(logits), x, sigma=0.3, estimator="monte_carlo", generator=generator()).p_robust.mean()
    assert of["brightness"] < even


def test_columns_of_a_table_are_directions_and_texts_have_none():
    plan, wine, context = planned("wine", directions=True, rows="all", shape="per_feature", sigmas=(1.0,), n_audit=0)
    found = evaluate_robustness(rows_of(plan, wine, context), class_names=wine.class_names)
    assert set(found.directions_at(1.0)) == set(wine.feature_names)
    plan, _, _ = planned(directions=True, rows="all")
    texts = Dataset("words", "text", ["a b", "c d"] * 20, [0, 1] * 20, ["x", "y"], [str(i) for i in range(40)])
    with pytest.raises(DataError, match="Named directions are those of images"):
        plan.n_trials(texts)
