"""How large is the largest class?"""

from pathlib import Path

import streamlit as st
from touchstone.core.evaluate.largest_class import LargestClassPlan
from touchstone.core.report.largest_class import answer_of_rows

from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import answer, downloads, jobs, page, share
from touchstone.ui.shell.session import owner, workspace

page.lead("Draws of the samples, and how many of each are of the largest class.")
dataset = data_choice.dataset()
plan = LargestClassPlan(n_repeats=int(st.query_params.get("draws", LargestClassPlan.n_repeats)))
run = workspace().find_run(owner(), plan, dataset.fingerprint)
jobs.run_button(run, plan, dataset)
share.offer(plan, {"draws": [str(plan.n_repeats)]})
if run is None:
    page.not_computed("**Run** draws the samples anew.")
else:
    shown = answer_of_rows(workspace().rows(owner(), run.id), dataset, plan)
    answer.show(shown)
    downloads.of_page(run, shown)
page.how_to_read(Path(__file__).with_suffix(".md"))
