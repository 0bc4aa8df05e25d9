"""Units, equal confidence and one family: whole verdicts, counted where nothing differs and where something does."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from tests.worlds.designs import NULLS, POWER, Authors, Design
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.data.tables.table import make_table
from touchstone.core.evaluate.matched_subsets import Outcomes, compare_pairs, compare_sets, matched_verdict
from touchstone.core.evaluate.matched_subsets.outcomes import fitted, levels_of_accuracy, log_odds_of, outcomes_of
from touchstone.core.figures.matched_subsets import gap_chart
from touchstone.core.figures.theme import alt_text


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def of_design(design: Design, seed: int = 1):
    compared, _ = design.compared(seed)
    return compared.rows[0]


def test_a_verdict_says_by_how_many_of_what_and_speaks_of_others():
    said = matched_verdict(of_design(NULLS[0]))
    used = said.used.replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "n = 1 000 samples from 10 authors in the reference set" in used
    assert "95 % CIs for other authors" in said.used
    assert "authors are in both" not in said.used
    shared = matched_verdict(of_design(NULLS[4]))
    assert "10 authors are in both." in shared.used
    assert " authors (now 10)." in matched_verdict(of_design(NULLS[0], 3)).text


@pytest.mark.parametrize("metric", ["accuracy", "recall"])
@pytest.mark.parametrize("n_wrong", [2, 9])
def test_a_set_has_one_interval_wherever_it_stands(metric, n_wrong):
    """Among the parts of a comparison and among its metrics: of rare errors in few units these lay 10 points apart."""
    rng, sides = generator(), []
    for _ in range(2):
        unit, y = np.repeat([f"patient {number}" for number in range(40)], 3), np.repeat(np.arange(40) % 2, 3)
        wrong = np.isin(unit, [f"patient {number}" for number in range(n_wrong)])
        known = (np.arange(120).astype(str), y, np.where(wrong, 1 - y, y), ["benign", "malignant"])
        sides.append(
            Predictions(*known, confidence=rng.uniform(0.5, 1, 120), groups={"unit": unit}, unit_name="patient")
        )
    [row] = compare_pairs({"m": sides[0]}, {"m": sides[1]}, rng=rng, metric=metric).rows
    known = row.metrics.of(metric)
    for name, beside in (("reference", known.reference), ("target", known.target)):
        [part] = [each for each in row.subsets if each.name == name]
        assert part.reached.value == pytest.approx(beside.value)
        assert part.reached.interval.lower == pytest.approx(beside.interval.lower)
        assert part.reached.interval.upper == pytest.approx(beside.interval.upper)


def test_of_fewer_than_five_units_that_is_said_first_and_nothing_is_claimed():
    row = of_design(replace(NULLS[0], n_units=(3, 8), flipped=0.5))
    said = matched_verdict(row)
    assert said.headline.startswith("Only 3 authors in the reference set: too few to say anything about others")
    assert all(not claim.decided for claim in said.claims)
    assert "nan" not in said.text
    assert "[" not in said.text, "no interval stands anywhere"
    assert "significant" not in said.text
    assert "A fall on the new set is undecided: " in said.headline, "the sheet counts it by that word"
    assert "more authors" in said.advice


def test_samples_of_few_known_sources_speak_of_these_only():
    row = of_design(Design("sites", Authors(style=0.0), n_samples=(300, 300)))
    said = matched_verdict(replace(row, n_strata=(4, 4)))
    assert "CIs for new data of these 4 sources" in said.used


def test_a_claim_that_only_the_family_withholds_is_said_to_be_so():
    row = of_design(NULLS[-2])
    falls = row.claim("falls")
    ends = type(falls.interval)(0.001, 0.06)
    near = replace(falls, estimate=0.03, interval=ends, p_value=0.06, decision="undecided")
    gap = replace(row.gap, value=0.03, interval=ends)
    said = matched_verdict(replace(row, gap=gap, claims=(near, *row.claims[1:])))
    assert "not significant among all claims here" in said.headline


def test_an_author_column_is_the_unit_where_its_values_repeat_and_another_can_be_named():
    columns = {
        "gold": ["x", "y"] * 6,
        "predicted": ["x", "y"] * 6,
        "Author_ID": [f"a{i // 2}" for i in range(12)],
        "room": [f"r{i // 3}" for i in range(12)],
    }
    table = make_table("t.tsv", list(columns), list(columns.values()), lines=list(range(2, 14)))
    read = prediction_table(table)
    assert "Unit: column 'Author_ID' (by its name)." in read.notes
    predictions = read.select()
    assert (predictions.unit_word, len(set(predictions.units))) == ("author", 6)
    by_room = prediction_table(table, roles=replace(read.roles, unit="room")).select()
    assert len(set(by_room.units)) == 4
    assert predictions.fingerprint != by_room.fingerprint
    unnamed = prediction_table(table, roles=replace(read.roles, unit=None)).select()
    assert unnamed.units is None
    once = {**columns, "Author_ID": [f"a{i}" for i in range(12)]}
    alone = prediction_table(make_table("t.tsv", list(once), list(once.values()), lines=list(range(2, 14))))
    blank = {**columns, "Author_ID": ["a1", None, *columns["Author_ID"][2:]]}
    unsaid = prediction_table(make_table("t.tsv", list(blank), list(blank.values()), lines=list(range(2, 14))))
    assert unsaid.roles.unit is None, "a file that could be read without units still can"
    assert alone.roles.unit is None
    assert alone.select().units is None


def test_known_sources_are_units_from_ten_on_or_where_they_are_persons():
    def of(name: str, n_sources: int):
        columns = [["x", "y"] * 12, ["x", "y"] * 12, [f"s{i % n_sources}" for i in range(24)]]
        table = make_table("t.tsv", ["gold", "predicted", name], columns, lines=list(range(2, 26)))
        return prediction_table(table).select()

    assert (of("site", 12).units is None, of("site", 12).unit_word) == (False, "site")
    assert (of("site", 4).units, of("site", 4).n_strata) == (None, 4)
    assert (of("subject", 4).units is None, of("subject", 4).n_strata) == (False, 0)


def test_the_map_is_the_most_likely_one_by_firths_penalty():
    """A second opinion that shares nothing: the penalised likelihood, maximised by a search."""
    from scipy.optimize import minimize

    rng = generator(3)
    logit = rng.normal(2, 1.5, 120)
    correct = rng.random(120) < special.expit(0.4 * logit + 0.3)
    x = np.column_stack([logit, np.ones(120)])

    def loss(beta: np.ndarray) -> float:
        p = special.expit(x @ beta)
        information = x.T @ ((p * (1 - p))[:, None] * x)
        return -float(
            special.log_expit(np.where(correct, 1, -1) * (x @ beta)).sum() + np.linalg.slogdet(information)[1] / 2
        )

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000})
    assert fitted(logit, correct) == pytest.approx(tuple(best.x), abs=1e-5)
    assert fitted(-logit, correct)[0] == 0.0, "never falling"


def test_what_was_rounded_to_1_is_apart_only_where_it_may_differ():
    rng = generator(5)
    logit = np.abs(rng.normal(0, 4.5, 4000))

    def made(temperature: float, decimals: int) -> Outcomes:
        sure = special.expit(temperature * logit).round(decimals)
        return Outcomes(np.zeros(4000, int), sure, rng.random(4000) < special.expit(logit), ("any",))

    for temperature, decimals, apart in ((10.0, 4, True), (1.0, 4, False), (10.0, 2, False)):
        outcomes = made(temperature, decimals)
        levels = levels_of_accuracy(outcomes, outcomes, epsilon=0.005)
        assert (outcomes.confidence == 1).any()
        assert levels.rounded.any() == apart
        assert not (levels.rounded & (outcomes.confidence < 1)).any()
    outcomes = made(10.0, 4)
    of = compare_sets(outcomes, outcomes, rng=generator())
    names = [subset.name for subset in of.subsets]
    assert "rounded target" in names
    assert of.matched is not None
    assert (of.matched.subsets["rounded target"].confidence == 1).all()
    assert set(of.matched.table()["subset"]) >= {"rounded target", "rounded reference", "matched target"}
    assert sum(map(len, of.matched.rows.values())) == 4 * 4000, "each sample is in its set and in one part of it"
    assert of.rounded.value + sum(part.value for part in of.parts.values()) == pytest.approx(of.gap.value, abs=1e-12)
    assert "cannot be compared: their confidence was rounded to 1. They add " in matched_verdict(of).text
    assert of.rounded.interval.holds(0.0), "nothing differs"
    assert "rounded to 1: " in alt_text(gap_chart(of))


def test_more_is_known_of_a_confidence_where_all_probabilities_are_there():
    proba = np.array([[1.0, 1e-12, 1e-13], [0.2, 0.5, 0.3]])
    assert log_odds_of(proba) == pytest.approx([-np.log(1.1e-12), 0.0])
    from touchstone.core.data.predictions.record import Predictions

    [outcomes] = outcomes_of(
        Predictions(["a", "b"], [0, 1], [0, 1], ["x", "y", "z"], proba=proba / proba.sum(1)[:, None])
    )
    assert np.isfinite(outcomes.logit).all()


def test_equal_confidence_means_equal_accuracy_however_sure_the_model_says_it_is():
    for temperature in (1, 10):
        [design] = [each for each in NULLS if each.name == f"too sure, T = {temperature}, 3,000 x 1,500"]
        rows = [of_design(design, seed) for seed in range(6)]
        residuals = [row.matched_gap.value for row in rows]
        assert abs(np.mean(residuals)) < 0.012
        assert all(not row.claim("residual").decided for row in rows)
    assert any("On raw confidences, as published" in matched_verdict(row).text for row in rows)


N_DATA_SETS = 16
QUICK = [i for i, design in enumerate(NULLS) if "classes" not in design.name and "eight" not in design.name]


@pytest.mark.evidence
def test_any_sentence_of_a_verdict_is_wrong_in_five_of_a_hundred_at_most(capsys):
    wrong = {NULLS[i].name: [set(NULLS[i].wrong(seed)) for seed in range(500, 500 + N_DATA_SETS)] for i in QUICK}
    counts = {name: sum(map(bool, each)) for name, each in wrong.items()}
    with capsys.disabled():
        print(f"\n{counts}", Counter(kind for each in wrong.values() for one in each for kind in one))
    n = N_DATA_SETS * len(QUICK)
    assert sum(counts.values()) <= 0.05 * n + 2 * (0.05 * 0.95 * n) ** 0.5


@pytest.mark.evidence
def test_falls_are_found_where_units_differ(capsys):
    found = {design.name: [design.found(seed) for seed in range(500, 500 + N_DATA_SETS)] for design in POWER}
    shares = {
        name: {kind: np.mean([each[kind] for each in rows]) for kind in ("falls", "residual")}
        for name, rows in found.items()
    }
    with capsys.disabled():
        print(f"\n{shares}")
    assert all(share >= 0.5 for each in shares.values() for share in each.values())


ANY_SET = st.tuples(
    st.integers(1, 80),
    st.integers(0, 999),
    st.sampled_from(["any", "one", "rounded", "flat", "zero"]),
    st.sampled_from([0.0, 0.5, 0.95, 1.0]),
    st.sampled_from([None, 1, 4, 12]),
)
"""How many samples, drawn by which seed, how sure the model is, how often right, and of how many authors."""


def small(n: int, seed: int, kind: str, accuracy: float, n_authors: int | None, *, n_labels: int) -> Outcomes:
    rng = generator(seed)
    sure = {
        "any": rng.uniform(0, 1, n),
        "one": np.ones(n),
        "rounded": special.expit(rng.normal(6, 4, n)).round(4),
        "flat": np.full(n, 0.7),
        "zero": np.zeros(n),
    }[kind]
    label = rng.integers(n_labels, size=n)
    truth = np.where(rng.random(n) < accuracy, label, (label + 1) % n_labels)
    unit = None if n_authors is None else np.array([f"a{i}" for i in rng.integers(n_authors, size=n)], dtype=object)
    names = tuple(f"class {i}" for i in range(n_labels))
    return Outcomes(label, sure, truth == label, names, truth, unit, "author")


@given(
    ANY_SET,
    ANY_SET,
    st.integers(1, 3),
    st.sampled_from(["label", "probability"]),
    st.sampled_from(["random", "maximum"]),
)
@settings(deadline=None, max_examples=60)
def test_whatever_two_sets_are_the_verdict_is_whole_and_the_parts_add_up(one, other, n_labels, by, method):
    sets = small(*one, n_labels=n_labels), small(*other, n_labels=n_labels)
    of = compare_sets(*sets, by=by, method=method, n_repeats=3, more=False, rng=generator())
    said = matched_verdict(of)
    assert "nan" not in said.text
    assert said.headline
    if of.n_pairs:
        total = sum(part.value for part in of.parts.values()) + of.rounded.value
        assert total == pytest.approx(of.gap.value, abs=1e-9)
    for claim in said.claims:
        assert not claim.interval.known or claim.interval.lower <= claim.estimate + 1e-9 <= claim.interval.upper + 2e-9
