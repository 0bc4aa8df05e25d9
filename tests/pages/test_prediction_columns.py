"""What a file of predictions was taken for can be corrected on the page, whatever it was that was decided."""

import io

import numpy as np
import pandas as pd
import pytest

from tests.pages.conftest import texts
from tests.pages.test_matched_subsets import made, store
from touchstone.core.data.predictions.roles import LINE

N = 240
RNG = np.random.default_rng(4)
GOLD = RNG.choice(["ham", "spam"], size=N)
SAID = np.where(RNG.random(N) < 0.8, GOLD, "ham")
SURE = RNG.uniform(0.5, 1, size=N).round(3)


def csv(**columns) -> bytes:
    return pd.DataFrame({"id": np.arange(len(next(iter(columns.values())))), **columns}).to_csv(index=False).encode()


@pytest.fixture(name="give")
def _give(open_page):
    """Give the page files, one control after the other; the first is the reference set's."""

    def give(content: bytes, name: str = "mine.csv"):
        app = open_page("matched_subsets")
        app.file_uploader[0].upload(name, content)
        app.run()
        return app

    return give


def box(app, label: str):
    return next(one for one in (*app.selectbox, *app.multiselect) if one.label.replace("\\", "") == label)


def send(app) -> str:
    next(button for button in app.button if button.label == "Read it this way").click().run()
    assert not app.exception, app.exception[0].value
    return said(app)


def said(app) -> str:
    return texts(app).replace("\\", "")


def place(app, label: str):
    return next(one for one in app.file_uploader if one.label == label)


def test_whose_probability_it_is_can_be_corrected_after_the_values_decided_it(give):
    app = give(csv(gold=GOLD, predicted=SAID, prob=SURE))
    assert "is the probability of the predicted class" in said(app)
    control = box(app, "The probability is that of")
    assert control.options == ["guessed from its values", "ham", "spam", "the predicted class"]
    control.select("spam")
    assert "The probability is that of: spam (as given)" in send(app)
    box(app, "The probability is that of").select_index(0)
    assert "is the probability of the predicted class" in send(app)


def test_of_more_classes_or_none_nobody_asks_whose_probability_it_is(give):
    for content in (made(200, 0.0, 1).replace(b"\t", b","), csv(gold=GOLD, predicted=SAID)):
        labels = [one.label for one in give(content).selectbox]
        assert "Confidence" in labels
        assert "The probability is that of" not in labels


def test_classes_that_were_matched_can_be_matched_otherwise(give):
    numbers = [str(int(label == "spam")) for label in GOLD]
    app = give(csv(gold=numbers, predicted=[f"LABEL_{int(label == 'spam')}" for label in SAID]))
    assert "matched by their numbers" in said(app)
    box(app, "LABEL_0 stands for").select("1")
    box(app, "LABEL_1 stands for").select("0")
    corrected = send(app)
    assert "Predicted names stand for: LABEL_0 for 1, LABEL_1 for 0 (as given)" in corrected
    assert "below the" in corrected, "the turned labels are right less often than by chance, which is told at once"
    box(app, "LABEL_0 stands for").select("0")
    box(app, "LABEL_1 stands for").select("1")
    assert "below the" not in send(app)


def test_an_answer_about_classes_can_be_taken_back(give):
    app = give(csv(gold=[str(int(label == "spam")) for label in GOLD], predicted=SAID))
    assert "Which predicted name stands for which class" in said(app)
    assert "ham for 0, spam for 1 (as given)" in send(app)
    box(app, "ham stands for").select("1")
    box(app, "spam stands for").select("0")
    assert "ham for 1, spam for 0 (as given)" in send(app)


def test_names_of_very_many_classes_are_no_form(give):
    gold = np.arange(N) % 60
    app = give(csv(gold=gold, predicted=[f"LABEL_{code}" for code in np.where(RNG.random(N) < 0.8, gold, 0)]))
    assert "matched by their numbers" in said(app)
    assert not [one.label for one in app.selectbox if "stands for" in one.label]


def test_models_side_by_side_can_be_left_out_and_added(give):
    chance = np.random.default_rng(1).choice(["ham", "spam"], size=N)
    app = give(csv(gold=GOLD, a_pred=SAID, b_pred=SAID, coin=chance))
    control = box(app, "Models or tasks, columns of their own")
    assert control.value == ["a", "b"]
    control.set_value(["b", "coin"])
    assert "model b: b_pred, model coin: coin (as given)" in send(app)
    box(app, "Models or tasks, columns of their own").set_value([])
    box(app, "Predicted label").select("coin")
    assert "Predicted label: column 'coin' (as given)" in send(app)
    assert "Columns by model or task" not in said(app)
    assert "shuffled" in said(app)


def test_a_column_more_makes_several_models_of_one(give):
    app = give(csv(gold=GOLD, predicted=SAID, coin=RNG.choice(["ham", "spam"], size=N)))
    assert "Predicted label: column 'predicted'" in said(app)
    box(app, "Models or tasks, columns of their own").set_value(["predicted", "coin"])
    assert "model predicted: predicted, model coin: coin (as given)" in send(app)


@pytest.mark.parametrize(("column", "offered"), [("gold", ["predictions"]), ("label", ["truth", "predictions"])])
def test_a_truth_that_comes_first_takes_the_predictions_that_belong_to_it(give, workspace, column, offered):
    labels = {"truth": "The truth, in a file of its own", "predictions": "The predictions that belong to it"}
    app = give(csv(**{column: GOLD}), "truth.csv")
    assert "no column holds what a model predicted" in app.error[0].value
    assert ("is it the prediction?" in app.error[0].value) == (column == "label")
    there = [one.label for one in app.file_uploader]
    assert [half for half, label in labels.items() if label in there] == offered
    shuffled = pd.read_csv(io.BytesIO(csv(predicted=SAID, prob=SURE))).sample(frac=1, random_state=0)
    place(app, labels["predictions"]).upload("said.csv", shuffled.to_csv(index=False).encode())
    app.run()
    assert "Joined with truth.csv by id (columns 'id' and 'id')" in said(app)
    app.button(key="use-reference").click().run()
    assert not app.exception
    [kept] = workspace.prediction_files("local")
    table = workspace.predictions("local", kept.fingerprint).read()
    assert table.select().accuracy == np.mean(GOLD == SAID)


def test_a_file_that_only_has_a_label_may_be_the_predictions(give):
    app = give(csv(label=SAID), "said.csv")
    place(app, "The truth, in a file of its own").upload("truth.csv", csv(gold=GOLD))
    app.run()
    assert "Predicted label: column 'label'" in said(app)
    assert "Truth: column 'gold'" in said(app)


def test_labels_under_an_odd_name_may_be_either(give):
    app = give(csv(thing=GOLD), "thing.csv")
    assert "Is it the truth, or is it the prediction?" in said(app)
    place(app, "The predictions that belong to it").upload("said.csv", csv(predicted=SAID))
    app.run()
    assert "Truth: column 'thing'" in said(app)
    assert "Predicted label: column 'predicted'" in said(app)


def test_files_without_ids_join_by_line_and_the_page_says_so(give):
    app = give("\n".join(["gold", *GOLD]).encode(), "truth.csv")
    place(app, "The predictions that belong to it").upload("said.csv", "\n".join(["predicted", *SAID]).encode())
    app.run()
    assert "Joined with truth.csv by line, since neither file has ids" in said(app)


def ways(app) -> list[str]:
    """What rows may belong together by, without the strokes that keep Markdown from being read as such."""
    [control] = app.radio
    return [option.replace("\\", "") for option in control.options]


def test_files_moved_by_a_line_are_asked_about_and_the_answer_is_told_in_words(give):
    app = give("\n".join(["gold", *GOLD]).encode(), "truth.csv")
    place(app, "The predictions that belong to it").upload("said.csv", "\n".join(["predicted", *SAID[1:]]).encode())
    app.run()
    way = "line by line, each with the truth 1 row below"
    assert ways(app) == [f"{way}: {N - 1} of {N} rows, accuracy {100 * np.mean(GOLD[1:] == SAID[1:]):.1f} %"]
    assert "Confirm this only if you know that it is right; else add a column" in said(app)
    page = send(app)
    assert f"Rows of the two files belong together: {way}" in page
    assert way in box(app, "Rows of the two files belong together").options
    assert "(line" not in page
    assert not any("(line" in option for each in app.selectbox for option in each.options)


@pytest.mark.parametrize(
    ("rows", "doubt"),
    [
        (np.random.default_rng(1).permutation(N), "would if rows were shuffled"),
        (np.r_[:80, np.roll(np.arange(80, 200), 1), 200:N], "moved by 1 row"),
    ],
    ids=["shuffled", "partly moved"],
)
def test_files_in_another_order_are_not_joined_without_a_question(give, rows, doubt):
    app = give("\n".join(["gold", *GOLD]).encode(), "truth.csv")
    place(app, "The predictions that belong to it").upload("said.csv", "\n".join(["predicted", *SAID[rows]]).encode())
    app.run()
    assert "Which rows belong together" in said(app)
    assert doubt in said(app)
    assert "Confirm this only if you know that it is right; else add a column" in said(app)
    assert f"accuracy {100 * np.mean(SAID[rows] == GOLD):.1f} %" in ways(app)[-1]


def test_columns_that_contradict_the_lines_are_asked_about_and_the_answer_can_be_changed(give, workspace):
    names = np.array([f"img_{row}.png" for row in range(N)])
    app = give(csv(name=names, gold=GOLD), "truth.csv")
    turned = csv(name=names[::-1], predicted=SAID)
    place(app, "The predictions that belong to it").upload("said.csv", turned)
    app.run()
    assert "Which rows belong together" in said(app)
    [control] = app.radio
    right = np.mean(GOLD[::-1] == SAID)
    by_id, by_name, by_line = (
        f"{way}: {N} of {N} rows, accuracy {100 * share:.1f} %"
        for way, share in (
            ("by column 'id'", np.mean(GOLD == SAID)),
            ("by column 'name'", right),
            ("line by line", np.mean(GOLD == SAID)),
        )
    )
    assert ways(app) == [by_id, by_name, by_line]
    control.set_value("name")
    assert "Joined with truth.csv by id (columns 'name' and 'name')" in send(app)
    box(app, "Rows of the two files belong together").select(LINE)
    assert "Joined with truth.csv by line, as was said" in send(app)
    app.button(key="use-reference").click().run()
    assert not app.exception
    [kept] = workspace.prediction_files("local")
    assert workspace.predictions("local", kept.fingerprint).read().select().accuracy == np.mean(GOLD == SAID)


def test_codes_counted_from_one_in_the_truth_alone_are_asked_about(give):
    gold, codes = (np.array([int(label == "spam") for label in labels]) for labels in (GOLD, SAID))
    app = give(csv(gold=gold + 1, predicted=codes))
    assert "as if one of them counted from 1" in said(app)
    assert "0 for 1, 1 for 2 (as given)" in send(app)
    box(app, "0 stands for").select("0")
    box(app, "1 stands for").select("1")
    assert "0 for 0, 1 for 1 (as given)" in send(app)


def test_which_column_of_a_second_file_is_the_truth_can_be_corrected_before_and_after_use(give):
    app = give(csv(predicted=SAID), "said.csv")
    truth = csv(gold=GOLD, later=np.where(GOLD == "ham", "spam", "ham"))
    place(app, "The truth, in a file of its own").upload("truth.csv", truth)
    app.run()
    assert "Truth: column 'gold' (by its name)" in said(app)
    box(app, "Truth").select("later")
    assert "Truth: column 'later' (as given)" in send(app)
    app.button(key="use-reference").click().run()
    assert "Truth: column 'later'" in said(app)
    app.button(key="correct-reference").click().run()
    box(app, "Truth").select("gold")
    assert "Truth: column 'gold' (as given)" in send(app)
    assert "Joined with truth.csv by id" in said(app)


def test_a_truth_per_task_in_a_file_of_its_own_can_be_used(give, shared_data):
    frame = pd.read_csv(shared_data / "predictions/mrnet__validation_predictions.csv")
    truths = [column for column in frame if column.endswith("_true")]
    app = give(frame.drop(columns=truths).to_csv(index=False).encode(), "said.csv")
    place(app, "The truth, in a file of its own").upload(
        "truth.csv", frame[["exam_id", *truths]].to_csv(index=False).encode()
    )
    app.run()
    app.button(key="use-reference").click().run()
    assert not app.exception
    assert "task acl" in said(app)


def test_what_is_suspicious_is_told_as_soon_as_the_file_is_read_and_while_it_waits_for_the_other(give):
    app = give(csv(gold=GOLD, predicted=np.where(SAID == "ham", "spam", "ham")))
    assert "below the" in app.warning[0].value
    app.button(key="use-reference").click().run()
    assert "below the" in app.warning[0].value
    assert "Predictions on the new set" in [one.label for one in app.file_uploader]


def test_a_suspicion_is_told_once_where_both_sets_are_chosen_and_of_the_model_or_set_that_it_is_about(
    open_page, workspace
):
    turned = pd.DataFrame({"gold": GOLD, "predicted": np.where(SAID == "ham", "spam", "ham"), "prob": SURE})
    bad = store(workspace, "bad.csv", turned.to_csv(index=False).encode(), None)
    good = store(workspace, "good.csv", turned.assign(predicted=SAID).to_csv(index=False).encode(), None)
    app = open_page("matched_subsets", reference=good, target=bad)
    assert sum("below the" in warning.value for warning in app.warning) == 1
    models = pd.concat([turned.assign(model="turned"), turned.assign(predicted=SAID, model="upright")])
    several = store(workspace, "several.csv", models.to_csv(index=False).encode(), None)
    app = open_page("matched_subsets", reference=several)
    assert app.warning[0].value.startswith("turned: Accuracy is")
    assert len(app.warning) == 1
