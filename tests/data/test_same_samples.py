"""Are files of the same samples, and which of their rows belong together?"""

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, Dataset, Predictions, Roles
from touchstone.core.data.predictions.same_samples import could_be_either, rows_in, same_samples
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.data.tables.table import make_table

N = 60
Y = np.random.default_rng(0).integers(0, 3, N)
IDS = [f"text {row}" for row in range(N)]


def file(ids=IDS, y=Y, name="a file", **more) -> Predictions:
    return Predictions(ids, y, y, ["a", "b", "c"], name=name, **more)


def test_the_same_file_twice_is_whole_and_by_ids():
    common = same_samples([file(), file()])
    assert (common.by, common.n, common.is_whole) == ("ids", N, True)


def test_shuffled_rows_are_found_by_their_ids():
    order = np.random.default_rng(1).permutation(N)
    shuffled = file([IDS[row] for row in order], Y[order])
    common = same_samples([file(), shuffled])
    assert common.is_whole
    own, its = common.rows
    assert [IDS[row] for row in own] == [shuffled.ids[row] for row in its]


def test_where_half_of_the_ids_are_missing_the_others_are_common():
    common = same_samples([file(), file(IDS[: N // 2] + [f"new {row}" for row in range(N // 2)])])
    assert (common.n, common.is_whole, common.n_given) == (N // 2, False, (N, N))


@pytest.mark.parametrize("write", ["{:04}", "{}", "0{}"])
def test_numbers_as_ids_are_the_same_however_they_are_written(write):
    numbers = [7 * row + 3 for row in range(N)]
    common = same_samples([file(list(map(str, numbers))), file([write.format(number) for number in numbers])])
    assert (common.by, common.n) == ("ids", N)


def test_numbers_that_would_stand_twice_stay_as_they_are():
    assert (
        same_samples([file([f"{row // 2:0{2 + row % 2}}" for row in range(N)]), file([f"9{row}" for row in range(N)])])
        is None
    )


def test_other_true_classes_for_common_ids_are_refused_and_three_are_named():
    other = Y.copy()
    other[[3, 8, 20, 31]] = (other[[3, 8, 20, 31]] + 1) % 3
    with pytest.raises(DataError, match=r"4 of 60 samples have another true class in old\.csv .*text 3 \((a|b|c) and"):
        same_samples([file(name="old.csv"), file(y=other)])
    with pytest.raises(DataError) as problem:
        same_samples([file(), file(y=other)])
    assert all(f"text {row}" in str(problem.value) for row in (3, 8, 20))


def test_ids_that_count_rows_of_other_samples_do_not_pair_them():
    other = np.random.default_rng(5).integers(0, 3, N)
    assert same_samples([file(), file(y=other)]) is None


def test_without_ids_the_order_of_true_classes_tells():
    rows = list(map(str, range(N)))
    common = same_samples([file(rows), file(rows)])
    assert (common.by, common.is_whole) == ("order", True)
    assert same_samples([file(rows), file(IDS)]).by == "order"
    assert same_samples([file(rows), file(rows, np.roll(Y, 1))]) is None
    assert same_samples([file(rows), file(rows[:-1], Y[:-1])]) is None


def test_sorted_classes_do_not_tell():
    rows, in_order = list(map(str, range(N))), np.sort(Y)
    assert same_samples([file(rows, in_order), file(rows, in_order)]) is None


def test_what_could_be_either_is_paired_once_somebody_says_so():
    rows, in_order = list(map(str, range(N))), np.sort(Y)
    pair = [file(rows, in_order), file(rows, in_order)]
    assert could_be_either(pair)
    assert same_samples(pair, are_same=True).by == "order"
    assert not could_be_either([file(rows), file(rows)])
    assert not could_be_either([file(), file()])
    assert same_samples([file(rows, in_order), file(rows, in_order[::-1])], are_same=True) is None


def test_ids_within_trials_are_pairs():
    trials = {"trial": ["1"] * (N // 2) + ["2"] * (N // 2)}
    ids = IDS[: N // 2] * 2
    common = same_samples([file(ids, groups=trials), file(ids[::-1], Y[::-1], groups={"trial": trials["trial"][::-1]})])
    assert common.is_whole
    assert (Y[common.rows[0]] == Y[::-1][common.rows[1]]).all()


def test_three_files_have_in_common_what_all_have():
    common = same_samples([file(), file(IDS[10:], Y[10:]), file(IDS[:50], Y[:50])])
    assert common.n == 40
    assert {IDS[row] for row in common.rows[0]} == set(IDS[10:50])


def test_an_order_of_many_classes_tells_the_same_samples_and_a_sorted_one_does_not():
    rng, names = np.random.default_rng(0), [f"class {each}" for each in range(200)]

    def file(y):
        return Predictions([str(row) for row in range(300)], y, rng.integers(0, 200, 300), names)

    y = rng.integers(0, 200, 300)
    assert same_samples([file(y), file(y)]).by == "order"
    assert same_samples([file(np.sort(y)), file(np.sort(y))]) is None


WORDS = ["the plot is fine", "it was far too long", "a very good film", "nothing works in here", "the cast is great"]
TEXTS = np.array([f"{WORDS[row % 5]} number {row}" for row in range(N)], dtype=object)
ROWS = [str(row) for row in range(N)]


def texted(order=slice(None), column="review", texts=TEXTS, y=Y, **more) -> Predictions:
    y = y[order]
    return file([str(row) for row in range(len(y))], y, inputs={column: texts[order]}, **more)


def test_shuffled_rows_without_ids_are_found_by_their_texts():
    order = np.random.default_rng(1).permutation(N)
    common = same_samples([texted(), texted(order)])
    assert (common.by, common.column, common.is_whole) == ("inputs", "review", True)
    own, its = common.rows
    assert TEXTS[own].tolist() == TEXTS[order][its].tolist()


def test_a_text_that_stands_twice_is_paired_within_its_class():
    texts, order = TEXTS.copy(), np.arange(N)[::-1]
    texts[1] = texts[0]
    y = Y.copy()
    y[0], y[1] = 0, 1
    common = same_samples([texted(texts=texts, y=y), texted(order, texts=texts, y=y)])
    assert common.is_whole
    own, its = common.rows
    assert y[own].tolist() == y[order][its].tolist()


def test_half_of_the_texts_are_enough_and_fewer_are_of_two_test_sets():
    assert same_samples([texted(), texted(slice(0, N // 2))]).n == N // 2
    for n_common, same in ((N // 2, True), (N // 3, False)):
        others = TEXTS.copy()
        others[n_common:] = [f"another text of file {row}" for row in range(N - n_common)]
        assert (same_samples([texted(), texted(texts=others)]) is not None) is same


def test_other_texts_outweigh_the_same_order_of_classes():
    others = np.array([f"an other text {row}" for row in range(N)], dtype=object)
    assert same_samples([file(ROWS), file(ROWS)]).by == "order"
    assert same_samples([texted(column="text"), texted(column="text", texts=others)]) is None
    assert not could_be_either([texted(column="text"), texted(column="text", texts=others)])
    assert same_samples([texted(column="rationale"), texted(column="rationale", texts=others)]).by == "order"
    assert same_samples([texted(column="text"), texted(column="text", texts=others)], are_same=True).by == "order"


def test_ids_come_before_texts():
    with_ids = [file(inputs={"text": texts}) for texts in (TEXTS, TEXTS[::-1])]
    assert same_samples(with_ids).by == "ids"


def test_a_text_with_another_truth_is_named():
    other = Y.copy()
    other[3] = (other[3] + 1) % 3
    with pytest.raises(DataError, match=r"1 of 60 samples .* nothing works in here number 3 \("):
        same_samples([texted(), texted(y=other)])


def test_files_are_met_again_by_their_measurements_but_not_by_counts_of_rows():
    rng = np.random.default_rng(2)
    cells = {"width": rng.normal(size=N).round(3), "height": rng.normal(size=N).round(3), "row": np.arange(N)}
    frame = pd.DataFrame({"gold": Y, "predicted": Y} | cells).sort_values("gold", kind="stable")
    other = frame.sample(frac=1, random_state=0).assign(row=np.arange(N))

    def read(table: pd.DataFrame) -> Predictions:
        rows = make_table(
            "a.csv", list(table), [table[name].astype(str).tolist() for name in table], lines=range(2, N + 2)
        )
        return prediction_table(rows, roles=Roles(truth="gold", predicted="predicted")).select()

    common = same_samples([read(frame), read(other)])
    assert (common.by, common.column, common.is_whole) == ("inputs", "width + height", True)
    losses = [table.assign(loss=rng.normal(size=N)) for table in (frame, other)]
    assert same_samples([read(table) for table in losses]).column == "width + height"
    counted = ["gold", "predicted", "row"]
    assert read(frame[counted]).inputs == {}
    assert same_samples([read(frame[counted]), read(other[counted])]) is None


def trials(orders: list[np.ndarray], *, texts: bool, wrong: float = 0.3, seed: int = 0) -> Predictions:
    """A recipe trained several times, in a file without ids."""
    rng, parts = np.random.default_rng(seed), []
    for place, order in enumerate(orders):
        said = np.where(rng.random(len(order)) < wrong, (Y[order] + 1) % 3, Y[order])
        columns = {"gold": Y[order], "predicted": said, "seed": place}
        parts.append(pd.DataFrame(columns | ({"review": TEXTS[order]} if texts else {})))
    frame = pd.concat(parts).astype(str)
    rows = make_table("a.csv", list(frame), [frame[name].tolist() for name in frame], lines=range(2, len(frame) + 2))
    return prediction_table(rows).select()


def test_trials_without_ids_are_of_the_same_samples_by_their_truths_or_texts():
    rng, in_order = np.random.default_rng(3), [np.arange(N)] * 3
    shuffled = [rng.permutation(N) for _ in range(3)]
    for orders, texts in ((in_order, False), (shuffled, True)):
        files = [trials(orders, texts=texts, seed=seed) for seed in (1, 2)]
        assert len(set(files[0].ids.tolist())) == N
        common = same_samples(files)
        assert common.is_whole
        own, its = common.rows
        assert (files[0].y_true[own] == files[1].y_true[its]).all()
        assert (files[0].groups["trial"][own] == files[1].groups["trial"][its]).all()
    assert len(set(trials(shuffled, texts=False).ids.tolist())) == 3 * N
    assert len(set(trials([np.arange(N), np.arange(N - 1)], texts=True).ids.tolist())) == 2 * N - 1


def test_two_recipes_without_ids_on_other_samples_sorted_by_class_are_not_the_same():
    in_order = [np.argsort(Y, kind="stable")] * 3
    assert same_samples([trials(in_order, texts=False, seed=seed) for seed in (1, 2)]) is None


def test_rows_that_are_only_counted_are_of_a_data_set_where_their_order_tells_it():
    def data(y: np.ndarray) -> Dataset:
        return Dataset("notes", "tabular", np.arange(2.0 * N).reshape(N, 2), y, ("a", "b", "c"), None)

    in_order = np.sort(Y)
    assert rows_in(data(Y), file(ROWS)).tolist() == list(range(N))
    assert rows_in(data(in_order), file(ROWS, in_order)) is None
    assert rows_in(data(Y), file(ROWS[:40], Y[:40])) is None
    assert rows_in(data(in_order), file([f"row {row}" for row in range(5, 40)], in_order[5:40])).tolist() == list(
        range(5, 40)
    )
