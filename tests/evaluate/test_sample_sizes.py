"""Do as many samples as planned show what they are planned for? By drawing them, thousands of times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data import DataError, Predictions
from touchstone.core.evaluate.model_comparison import (
    compare_paired,
    comparison_verdict,
    mcnemar_mid_p,
    models_on_samples,
    pilot,
    tango_interval,
)
from touchstone.core.evaluate.sample_sizes import SizePlan, guesses_of, shown_by
from touchstone.core.evaluate.units import Design
from touchstone.core.evaluate.wording import count
from touchstone.core.report import sample_sizes

DISCORDANT = [(0.05, 0.01), (0.1, 0.02), (0.03, 0.02), (0.2, 0.05)]


@pytest.mark.parametrize(("discordant", "apart"), DISCORDANT)
def test_a_difference_and_a_margin_are_shown_in_four_of_five_sets(discordant, apart):
    rng, n_sets = np.random.default_rng(0), 2000
    difference, margin, *_ = SizePlan(difference=apart, margin=apart, discordant=discordant).sizes()
    shares = [(discordant + apart) / 2, (discordant - apart) / 2, 1 - discordant]
    drawn = rng.multinomial(difference.n, shares, n_sets)[:, :2].tolist()
    assert np.mean([mcnemar_mid_p(*counts) < 0.05 for counts in drawn]) == pytest.approx(0.8, abs=0.04)
    drawn = rng.multinomial(margin.n, [discordant / 2, discordant / 2, 1 - discordant], n_sets // 4)[:, :2].tolist()
    shown = [tango_interval(*counts, margin.n).lower > -apart for counts in drawn]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.06)


def test_the_recall_of_a_class_needs_as_many_more_samples_as_the_class_is_rare():
    rng, n_sets = np.random.default_rng(0), 2000
    needed = SizePlan(difference=0.05, discordant=0.2, class_share=0.1).sizes()[0]
    assert needed.n_of_class == SizePlan(difference=0.05, discordant=0.2).sizes()[0].n
    n_of_class = rng.binomial(needed.n, 0.1, n_sets)  # a set holds more of it or fewer
    drawn = [rng.multinomial(n, [0.125, 0.075, 0.8])[:2].tolist() for n in n_of_class]
    assert np.mean([mcnemar_mid_p(*counts) < 0.05 for counts in drawn]) == pytest.approx(0.8, abs=0.04)


def test_a_pilot_plans_each_class_by_its_own_samples():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.1).astype(int)
    wrong = {
        "old": rng.random(2000) < np.where(y == 1, 0.3, 0.02),
        "new": rng.random(2000) < np.where(y == 1, 0.2, 0.02),
    }
    files = {
        name: Predictions([f"text {i}" for i in range(2000)], y, np.where(each, 1 - y, y), ["ham", "spam"])
        for name, each in wrong.items()
    }
    found = compare_paired(models_on_samples(files, positive="spam"))
    known = pilot(found, found.against_reference[0], "spam")
    rare = y == 1
    assert known["class_share"] == rare.mean()
    assert known["discordant"] == (wrong["old"] ^ wrong["new"])[rare].mean()
    assert known["accuracy"] == 1 - wrong["new"][rare].mean()
    shown = sample_sizes.answer(SizePlan(**pilot(found, found.against_reference[0])), found)
    table = shown.sections[0].parts[-1].lines.set_index("Class")
    of_class = SizePlan(**known).sizes()[0]
    assert table.loc["spam", ["Samples", "Of the class"]].tolist() == [count(of_class.n), count(of_class.n_of_class)]
    assert of_class.n == pytest.approx(10 * SizePlan(discordant=known["discordant"]).sizes()[0].n, rel=0.2)


def test_an_interval_is_as_short_as_planned():
    _, _, difference, accuracy = SizePlan(discordant=0.1, accuracy=0.8, half_width=0.01, difference=0.01).sizes()
    counts = np.random.default_rng(0).multinomial(difference.n, [0.05, 0.05, 0.9], 100)[:, :2].tolist()
    assert np.mean([tango_interval(*each, difference.n).width for each in counts]) == pytest.approx(0.02, rel=0.03)
    right = np.arange(accuracy.n) < 0.8 * accuracy.n
    assert Design().wilson(right).width == pytest.approx(0.02, rel=0.03)


def authors(rng: np.random.Generator, n_units: int, per_unit: int, *, spread: float, gain: float, noise: float):
    """Two models on texts of authors, who like one of the models more: gains and losses are an author's own."""
    n = n_units * per_unit
    shift = np.repeat(rng.normal(0, spread, n_units), per_unit)
    y, u = np.arange(n) % 2, rng.random(n)
    gained = u < np.clip(noise + gain / 2 + shift, 0, 0.5)
    lost = ~gained & (u > 1 - np.clip(noise - gain / 2 - shift, 0, 0.5))
    old, new = np.where(gained, 1 - y, y), np.where(lost, 1 - y, y)
    ids, groups = [f"text {i}" for i in range(n)], {"unit": [f"author {i // per_unit}" for i in range(n)]}
    files = {
        name: Predictions(ids, y, said, ["a", "b"], groups=groups, unit_name="author")
        for name, said in (("old", old), ("new", new))
    }
    return models_on_samples(files)


@pytest.mark.parametrize("n_pilot", [40, 400])
def test_of_units_as_many_as_a_pilot_says_show_a_difference(n_pilot):
    """A pilot of few authors knows their spread badly: its plan shows it rather less or more often, not far off."""
    world = {"per_unit": 10, "spread": 0.03, "gain": 0.03, "noise": 0.1}
    found = compare_paired(authors(np.random.default_rng(0), n_pilot, **world))
    known = pilot(found, found.against_reference[0])
    assert known["per_unit"] == 10
    assert 0 < known["intraclass_correlation"] < 0.5
    needed = SizePlan(**known | {"difference": 0.03}).sizes()[0]
    assert needed.n == 10 * needed.n_units
    drawn = (authors(np.random.default_rng([1, seed]), needed.n_units, **world) for seed in range(150))
    shown = [compare_paired(each).against_reference[0].claim.p_value < 0.05 for each in drawn]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.1 if n_pilot > 100 else 0.2)


@given(
    discordant=st.floats(0.01, 1.0),
    share=st.floats(0.01, 1.0),
    per_unit=st.floats(1.0, 200.0),
    alike=st.floats(0.0, 1.0),
)
def test_more_is_needed_of_smaller_differences_and_of_samples_that_are_alike(discordant, share, per_unit, alike):
    plan = SizePlan(
        difference=discordant * share, discordant=discordant, per_unit=per_unit, intraclass_correlation=alike
    )
    smaller = SizePlan(
        difference=plan.difference / 2, discordant=discordant, per_unit=per_unit, intraclass_correlation=alike
    )
    alone = SizePlan(difference=plan.difference, discordant=discordant)
    for own, more, less in zip(plan.sizes(), smaller.sizes(), alone.sizes(), strict=True):
        assert own.n is None or more.n is None or more.n >= own.n
        assert own.n is None or own.n >= less.n
        assert own.n_units is None or own.n_units >= 5


def test_so_many_samples_show_what_needs_so_many():
    plan = SizePlan(difference=0.01, discordant=0.05)
    assert plan.detectable(plan.sizes()[0].n) == pytest.approx(0.01, rel=1e-3)
    n, smallest = zip(*shown_by(plan), strict=True)
    assert list(smallest) == sorted(smallest, reverse=True)
    assert n[0] < 3923 < n[-1]
    assert np.isnan(SizePlan(difference=0.001, discordant=0.001).detectable(50))


def test_what_cannot_be_true_is_refused():
    with pytest.raises(DataError, match=r"differ on 2\.0 % of samples cannot differ by 5\.0 points"):
        SizePlan(difference=0.05, discordant=0.02).sizes()


def test_a_pilot_without_a_changed_answer_guesses_one():
    known = {"discordant": 0.02, "accuracy": 1.0, "per_unit": 1.0, "intraclass_correlation": 0.0}
    assert guesses_of(np.zeros(50), 1.0, Design()) == known


def test_the_advice_names_samples_and_units():
    found = compare_paired(authors(np.random.default_rng(3), 20, per_unit=5, spread=0.05, gain=0.01, noise=0.05))
    advice = comparison_verdict(found).advice
    assert "samples from" in advice
    assert "authors for both models" in advice
