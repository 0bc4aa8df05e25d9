"""What does Touchstone look like? Writes docs/screenshots: every page, and the verdict of each, as a person sees them.

Runs the main jobs on the digits first, so that the pages have something to show. Pages are drawn whole at 1280 px, in
the light and the dark theme; verdicts (docs/screenshots/verdicts) at 1280 and 390 px, too. What the verdicts say is
written to docs/measured/verdicts-in-words.md. What the cards say, and the SHA-256 of every picture, is written to
docs/screenshots/said.json: tests/test_screenshots.py tells by it whether a picture is stale. Reports are printed on A4,
and their first pages drawn by pdftoppm (docs/report). A folder as the first argument is the home to use and keep; what
has been computed there is not computed again. Names of pages after it are those to draw (all, where none is named).
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser.downloads import take
from tests.browser.server import FLAGS, ROOT, Server, chromium, cookies, serve
from tests.plain_words import MOST_WORDS
from tests.said_today import (
    DATA,
    FILE,
    FILES,
    FOLDER,
    MODEL_FILES,
    NETWORK,
    OF_NETWORK,
    PRINTED,
    RECIPES,
    SLICED,
    Card,
    digests,
    noted,
    plain,
    processor,
)
from touchstone.core.models import MODELS
from touchstone.core.questions import QUESTIONS, with_page

VERDICTS = FOLDER / "verdicts"
REPORTS, N_PAGES, DOTS = ("source_robustness", "average_case"), 2, 70
"""The questions of the reports that are printed, how many pages of each are drawn, and at how many dots an inch."""
IN_WORDS = ROOT / "docs" / "measured" / "verdicts-in-words.md"
ABOUT, OF_FILES = f"data={DATA}", "reference={}&target={}".format(*FILES)
"""The queries of pages that are about a data set, and of those that choose files of their own."""
OF_MODELS = "reference={}&target={}".format(*MODEL_FILES)
ANSWERS = re.compile(r"[−.\d]+ (?:% |points )?\[[^]]*]|up to [.\d]+ %|\d[\d\s]* (?:images|runs)")
"""The number of an answer: with its interval or as a bound, or of how many images or runs, which are counted."""
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
SMALLEST = 800
MINUTE = 60_000
CARD = ".st-key-verdict"


def main() -> None:
    assert shutil.which("pdftoppm"), "pdftoppm draws the reports: install it (Debian/Ubuntu: apt install poppler-utils)"
    VERDICTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(sys.argv[1] if len(sys.argv) > 1 else folder)
        home.mkdir(parents=True, exist_ok=True)
        with serve(home) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            pages = addresses(server, browser)
            drawn, cards = sys.argv[2:] or list(pages), {}
            for scheme in SCHEMES:
                for name in drawn:
                    cards[name] = picture(server, browser, name, pages[name], scheme=scheme)
            for name in set(REPORTS) & set(drawn):
                printed(server, browser, name, pages[name])
            browser.close()
    write_said(cards, network=parse_qs(pages["average_case"].partition("?")[2])["model"][0])
    if set(cards) >= set(pages):
        write_in_words({name: card.words for name, card in cards.items()})
    print(f"written: {', '.join(sorted(str(file.relative_to(FOLDER)) for file in FOLDER.rglob('*.png')))}")


def addresses(server: Server, browser: Browser) -> dict[str, str]:
    """Where each page has something to show, below the server's address; what is not computed yet is."""
    with tab(browser) as page:
        for stem in RECIPES:
            page.goto(f"{server.url}/{stem}?{ABOUT}")
            run(page)
        page.goto(f"{server.url}/average_case?{ABOUT}&network={MODELS[NETWORK.model].label}&epochs={NETWORK.n_epochs}")
        train(page)
        run(page)
        judged = page.url.removeprefix(f"{server.url}/")
        about = judged.partition("?")[2]
        of_model = {"average_case": judged}
        for stem in OF_NETWORK[1:]:
            page.goto(f"{server.url}/{stem}?{about}")
            run(page)
            of_model[stem] = page.url.removeprefix(f"{server.url}/")
    usual = {stem: f"{stem}?{ABOUT if page.about_data_set else OF_FILES}" for stem, page in with_page().items()}
    of_files = {"model_comparison": f"model_comparison?{OF_MODELS}", "weak_slices": f"weak_slices?target={SLICED}"}
    return usual | of_model | of_files


def train(page: Page) -> None:
    """Train the network that the address names, unless it is there."""
    button = page.get_by_role("button", name="Train", exact=True)
    verdict_button = page.get_by_role("button", name="Run", exact=True)
    expect(button.or_(verdict_button).first).to_be_visible(timeout=MINUTE)
    settle(page)
    if not verdict_button.count():
        button.click()
    expect(verdict_button).to_be_visible(timeout=5 * MINUTE)


def run(page: Page) -> None:
    """Press Run and wait until all is computed; nothing where it is already."""
    button = page.get_by_role("button", name="Run", exact=True)
    expect(button).to_be_visible(timeout=MINUTE)
    settle(page)
    if button.is_enabled():
        button.click()
    expect(button).to_be_disabled(timeout=MINUTE)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=10 * MINUTE)
    settle(page)


def picture(server: Server, browser: Browser, name: str, path: str, *, scheme: str) -> Card:
    """Draw a page, whole and its verdict at each width; returns what the verdict says."""
    suffix = "" if scheme == "light" else "-dark"
    with tab(browser, scheme=scheme) as page:
        page.goto(f"{server.url}/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=MINUTE)
        settle(page)
        for width in WIDTHS:
            make_as_high_as_its_page(page, width)
            if width == WIDTHS[0]:
                page.screenshot(path=FOLDER / f"{name}{suffix}.png")
            card = page.locator(CARD).first
            card.screenshot(path=VERDICTS / f"{name}-{width}{suffix}.png")
        return Card(words_of_card(card), numbers_of_card(card))


def words_of_card(card: Locator) -> tuple[str, ...]:
    """What a card says: the answer in bold, over what in the same paragraph, and the next paragraph, what next."""
    answer = card.locator("strong").first.inner_text().strip()
    first, *others = (text.strip() for text in card.locator("p").all_inner_texts())
    over = first.removeprefix(answer).strip()
    said = (answer, over, *(text for text in others if text.startswith("Next:")))
    return tuple(plain(text) for text in said if text)


def numbers_of_card(card: Locator) -> tuple[str, ...]:
    """The numbers beside the sentences, each with its name and its interval."""
    numbers = []
    for metric in card.get_by_test_id("stMetric").all():
        label, value, *delta = (
            text
            for part in ("stMetricLabel", "stMetricValue", "stMetricDelta")
            for text in metric.get_by_test_id(part).all_inner_texts()
        )
        numbers.append(plain(f"{label}: {value} {' '.join(delta)}"))
    return tuple(numbers)


def printed(server: Server, browser: Browser, name: str, path: str) -> None:
    """Print the report of a page as chromium prints it, and draw its first pages."""
    with tab(browser) as page, tempfile.TemporaryDirectory() as folder:
        page.goto(f"{server.url}/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=MINUTE)
        settle(page)
        report, paper = Path(folder) / "report.html", Path(folder) / "report.pdf"
        take(page, "Report (HTML)").save_as(report)
        page.goto(report.as_uri())
        settle(page)
        page.pdf(path=paper, format="A4", print_background=True)
        for number in range(1, N_PAGES + 1):
            drawn = ["-png", "-singlefile", "-f", str(number), "-r", str(DOTS)]
            subprocess.run(["pdftoppm", *drawn, str(paper), str(PRINTED / f"{name}-{number}")], check=True)


def write_said(cards: dict[str, Card], *, network: str) -> None:
    """Note what the cards said when they were drawn, of which network, and which pictures show it.

    What was not drawn now stays as it was noted.
    """
    known = noted() if FILE.is_file() else {"pages": {}, "pictures": {}}
    drawn = {path: digest for path, digest in digests().items() if Path(path).stem.partition("-")[0] in cards}
    kept = {path: digest for path, digest in known["pictures"].items() if path in digests()}
    said = {
        "written by": "make screenshots",
        "network": {"fingerprint": network, "processor": processor()},
        "pages": known["pages"] | {name: asdict(card) for name, card in cards.items()},
        "pictures": dict(sorted((kept | drawn).items())),
    }
    FILE.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")


def write_in_words(verdicts: dict[str, tuple[str, ...]]) -> None:
    """What each verdict says, beside its question and its picture."""
    lines = [
        "# Verdicts in words",
        "",
        "`make screenshots` writes this page: what the verdict of each page says of the handwritten digits (or of two",
        f"files of predictions), {date.today()}, in light and dark, at 1280 and 390 px.",
        "`pytest tests/test_screenshots.py` checks each for plain language: the number that answers the page's",
        f"question, over what, what next, and no sentence of more than {MOST_WORDS} words.",
    ]
    for name, texts in verdicts.items():
        answer, *others = texts
        number = ANSWERS.search(answer)
        assert number, f"{name}: no number answers in {answer!r}"
        lines += [
            "",
            f"## {QUESTIONS[name].title}",
            "",
            f"- **Answer**: {answer}",
            f"- **Number**: {number[0].strip()}",
        ]
        for text in others:
            following = text.startswith("Next: ")
            lines.append(f"- **{'What next' if following else 'Over what'}**: {text.removeprefix('Next: ')}")
        lines.append("")
        place = f"../screenshots/verdicts/{name}"
        others = [("1280 px, dark", "1280-dark"), ("390 px", "390"), ("390 px, dark", "390-dark")]
        lines += [f"![{QUESTIONS[name].name}, the verdict]({place}-1280.png)", ""]
        lines += [" · ".join(f"[{words}]({place}-{ending}.png)" for words, ending in others)]
    IN_WORDS.write_text("\n".join(lines) + "\n", "utf-8")


def make_as_high_as_its_page(page: Page, width: int) -> None:
    """Give the window this width, and grow it until nothing is left to scroll."""
    page.set_viewport_size({"width": width, "height": SMALLEST})
    settle(page)
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": height})
    settle(page)


def settle(page: Page) -> None:
    """Wait until nothing is loading and every figure is drawn, twice in a row: what is drawn may ask for more."""
    page.wait_for_load_state("networkidle")
    for _ in range(2):
        page.wait_for_timeout(3000)
        for loading in ("stStatusWidget", "stSkeleton"):
            expect(page.get_by_test_id(loading)).to_have_count(0, timeout=2 * MINUTE)
        charts = page.get_by_test_id("stPlotlyChart").filter(visible=True)  # some are folded away
        for position in range(charts.count()):
            expect(charts.nth(position).locator(".main-svg").first).to_be_visible(timeout=MINUTE)


@contextmanager
def tab(browser: Browser, *, scheme: str = "light") -> Iterator[Page]:
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": SMALLEST}, color_scheme=scheme)
    context.add_cookies(cookies())
    yield context.new_page()
    context.close()


if __name__ == "__main__":
    main()
