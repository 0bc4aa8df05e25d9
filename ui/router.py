"""Which page is it? Every session runs this file: the navigation, the question, the data-set control, the page.

Worker processes import the main script, and under Streamlit that is this file: so it does nothing, and imports nothing
of Streamlit, unless it is the main script itself.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ABOUT = (
    "**Touchstone** says whether a test accuracy can be trusted. It runs on this machine and sends nothing anywhere."
)
# Per group of the navigation: file stem, name, icon, and the question that the page answers. (Not a string below it:
# in a main script Streamlit writes bare strings onto the page.)
PAGES = {
    "Data": [
        ("data_sets", "Data sets", ":material/table_rows:", "What is in the data?"),
        (
            "cluster_folds",
            "Cluster folds",
            ":material/scatter_plot:",
            "How do folds that are made to differ behave?",
        ),
    ],
    "Trust": [
        (
            "source_robustness",
            "Source robustness",
            ":material/straighten:",
            "How far does accuracy fall on unfamiliar sources?",
        ),
        (
            "data_set_adequacy",
            "Data-set adequacy",
            ":material/stacked_line_chart:",
            "Would more data help, or new sources?",
        ),
        (
            "matched_subsets",
            "Matched subsets",
            ":material/compare_arrows:",
            "Does accuracy really drop on the new test set?",
        ),
        (
            "average_case",
            "Average case",
            ":material/grain:",
            "Which samples and classes are fragile under noise?",
        ),
        (
            "test_quality",
            "Test quality",
            ":material/target:",
            "Does the test set cover the feature space?",
        ),
        (
            "guided_tests",
            "Guided tests",
            ":material/experiment:",
            "Which tests are missing?",
        ),
    ],
    "Work": [
        ("overview", "Overview", ":material/list_alt:", "What can be trusted here?"),
        ("runs", "Runs", ":material/history:", "What has been computed?"),
    ],
}
# Pages about files of predictions, which have controls of their own instead of the data-set control.
WITHOUT_DATA_SET = ("matched_subsets",)


def main() -> None:
    """Draw what every page has, and then the page."""
    import streamlit as st

    from ui import data_choice, share

    def declare(stem: str, name: str, icon: str, question: str) -> st.Page:
        file = ROOT / "pages" / f"{stem}.py"
        return st.Page(file, title=name, icon=icon, help=question, url_path=stem, default=stem == "overview")

    st.set_page_config(
        page_icon=str(ROOT / "ui" / "favicon.png"),
        layout="wide",
        initial_sidebar_state=240,
        menu_items={"About": ABOUT},
    )
    st.logo(str(ROOT / "ui" / "logo.svg"), size="large")
    page = st.navigation({group: [declare(*entry) for entry in entries] for group, entries in PAGES.items()})
    st.set_page_config(page_title=f"{page.title} · Touchstone")
    share.clear()
    with st.container(horizontal=True, vertical_alignment="center", key="header"):
        st.title(page.help, anchor=False)
        of_data_set = page.url_path not in WITHOUT_DATA_SET
        if of_data_set:
            data_choice.control()
        menu = st.container(width="content")
    page.run()
    with menu:
        share.menu(page.url_path, of_data_set=of_data_set)


if __name__ == "__main__":
    main()
