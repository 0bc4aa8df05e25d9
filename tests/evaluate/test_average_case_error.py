"""How far off are the estimators on a CNN trained on digits? Against 40,000 draws, over five seeds of their noise."""

import numpy as np
import pytest

from tests.evaluate.small_networks import digits_cnn, generator
from touchstone.core.evaluate.average_case import MMSE, GaussianLogits, MonteCarlo, Taylor, estimate
from touchstone.core.evaluate.intervals import t_interval
from touchstone.core.models.networks import one_torch_thread

ASKED = {
    "taylor": Taylor(),
    "mmse, antithetic, N = 6": MMSE(6),
    "mmse, plain, N = 5": MMSE(5, antithetic=False),
    "gaussian_logits, 128": GaussianLogits(128),
}


@pytest.mark.evidence
def test_antithetic_noise_makes_mmse_better_than_taylor_and_plain_noise_does_not(capsys):
    with one_torch_thread():
        model, x, y = digits_cnn()
    x = x[:50]
    error = {}
    with capsys.disabled(), one_torch_thread():
        print(f"\naccuracy {(model(digits_cnn()[1]).argmax(1).numpy() == y).mean():.3f}, 50 samples, 40,000 draws")
        for sigma in (0.1, 0.3):
            counted = MonteCarlo(40_000)
            truth = estimate(model, x, sigma=sigma, estimator=counted, generator=generator(9), batch_size=250).p_robust
            for name, asked in ASKED.items():
                means = np.array(
                    [
                        np.abs(
                            estimate(model, x, sigma=sigma, estimator=asked, generator=generator(seed)).p_robust - truth
                        ).mean()
                        for seed in range(5)
                    ]
                )
                error[name, sigma] = means.mean()
                found = t_interval(float(means.mean()), float(means.std(ddof=1) / 5**0.5), 4.0)
                print(f"sigma {sigma}  {name:25} {means.mean():.4f} [{found.lower:.4f}, {found.upper:.4f}]")
    for sigma in (0.1, 0.3):
        antithetic, plain = error["mmse, antithetic, N = 6", sigma], error["mmse, plain, N = 5", sigma]
        assert antithetic < error["taylor", sigma] < plain
