"""What can be trusted here? The sheet of a data set, or of files: an answer to each question, and one axis."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import EXAMPLES
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.wording import plural
from touchstone.core.questions import QUESTIONS, with_page
from touchstone.core.report.overview import baseline_of, marks
from touchstone.core.workspace import StoredModel
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import metric as metric_choice
from touchstone.ui.data.choice import Choice
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.overview import examined, results, sheet
from touchstone.ui.shell import page, questions, session, share

DATA, FILES = "data", "files"
CARD = 400  # pixels that a card is wide at least
LISTED = (
    "One answer per question, each with its 95 % interval. There is no total score. Nothing is known about a question "
    "that has no answer."
)


def about(choice: Choice) -> None:
    """The chosen data set in some words, without reading it, and the way to it."""
    if choice.stored is None:
        sentence = EXAMPLES[str(choice.example)].sentence
    else:
        stored = choice.stored
        classes = plural(stored.n_classes, "class", "classes")
        sentence = f"{stored.kind} data, {plural(stored.n_samples, 'sample')} of {classes}."
    st.markdown(f"**{page.plain(choice.title)}**: {page.plain(sentence)}", width="content")
    if not session.read_only():
        st.page_link(
            page_file("data_sets"),
            label="Look at it, or bring your own",
            query_params={data_choice.ADDRESS: choice.address},
        )


def of_data(choice: Choice, models: Sequence[StoredModel], lead: DeltaGenerator, subject: DeltaGenerator) -> None:
    """The sheet of the chosen data set, or where to begin; with the places of the lead and of what it is about."""
    every = session.workspace().runs(session.owner(), choice.stored.fingerprint) if choice.stored else []
    with subject:
        about(choice)
        model = of_models.draw(label="collapsed") if len(models) > 1 else results.ANY
    mine = results.runs_about(every, model)
    on_sheet, labelled = results.runs_on_sheet(mine), results.few_labels_runs(mine)
    is_asked = bool(on_sheet or labelled)
    with lead:
        page.lead(LISTED if is_asked else results.PURPOSE)
    if choice.stored is None or not is_asked:
        results.start_cards(choice)
        results.ask_all(choice, model)
        sheet.elsewhere(len(every), 0)
        return
    dataset = dataset_of(choice.stored.fingerprint)
    data_choice.say_leaks(dataset)
    with subject:
        metric = sheet.choose_metric(dataset, on_sheet)
    words = metric.words
    known, broken = sheet.answers(on_sheet, None if metric.name == ACCURACY else (metric.name, metric.positive))
    results.ask_all(choice, model)
    counted = [number for run in labelled if (of_labels := questions.answer(run)) for number in of_labels.numbers]
    judged = [each for each in models if model in (results.ANY, each.fingerprint)]
    shown = marks(list(known.values()), judged, beside=counted, metric=metric.name)
    baseline = baseline_of(dataset, words)
    unasked = questions.unasked({run.kind for run in on_sheet.values()})
    verdict = sheet.first_of_data(known, on_sheet, shown, words, n_questions=len(on_sheet) + len(unasked))
    sheet.axis(shown, baseline, words)
    with st.grid(2, min_column_width=CARD):
        for stem, question in with_page().items():
            if stem in on_sheet:
                sheet.card(stem, on_sheet[stem], known.get(stem), broken.get(stem))
            elif question in unasked and not session.read_only():
                results.unasked_card(question, choice, model)
    with st.container(gap="xsmall"):
        sheet.offer(dataset, on_sheet, every, models)
        examined.offer(dataset, on_sheet)
        page.how_to_read(__file__)
    if not session.read_only():
        sheet.elsewhere(len(every), len(on_sheet))
    rests_on = [("Data", f"{choice.title}, fingerprint {dataset.fingerprint}")]
    beside = [*labelled, *(run for run in every if run.kind == QUESTIONS["parametric_null"].kind)]
    settings = ({of_models.key: of_models.written(model)} if model else {}) | metric_choice.written(metric)
    view = sheet.view(choice.title, [*on_sheet.values(), *beside], models, settings)
    answers = list(known.values())
    sheet.take(
        choice.title, answers, shown, baseline, rests_on, words=words, first=verdict, asked=list(on_sheet), view=view
    )
    share.add_check(choice, model)


view = One("sheet", "Sheet of", {DATA: "this data set", FILES: "prediction files"}, DATA)
choice = data_choice.required()
models = session.workspace().models(session.owner(), choice.stored.fingerprint) if choice.stored else []
of_models = results.model_control(models)
check_address([view, of_models])
has_files = view.key in st.query_params or bool(session.workspace().prediction_files(session.owner()))
lead, subject = st.container(), st.container(horizontal=True, vertical_alignment="center", gap="medium")
with subject:
    chosen = view.draw(side_by_side=True, label="collapsed") if has_files else DATA
if chosen == FILES:
    with lead:
        page.lead(LISTED)
    sheet.sheet_of_files(subject)
else:
    of_data(choice, models, lead, subject)
