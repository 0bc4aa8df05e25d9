"""When may a test go on? When the page says so; nothing is read off the clock, for other work shares the machine."""

from contextlib import suppress

from playwright.sync_api import Locator, Page, TimeoutError, expect

PATIENCE = 480_000
"""Milliseconds after which a test gives up on what a page draws. It says nothing of how long that should take.

Nearly every page has something computed, trained or run first, on processors that other tests use as well: figures
that take 2 seconds on an idle machine took 79 under a load of 50.
"""
MOMENT = 10_000
"""Milliseconds in which what is there and at rest is clicked."""
MOST_FOLDS = 40
"""No page has so many parts that are closed at first."""
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"


def settled(page: Page) -> Page:
    """The page once the app has drawn it to its end: nothing in it is from before, moves, or is put in place anew."""
    expect(page.locator(AT_REST)).to_be_attached()
    return page


def click(place: Locator) -> None:
    """Click where nothing moves any more: what is clicked while a page is being drawn can be gone unheard."""
    settled(place.page)
    place.click()


def unfold(page: Page, *titles: str) -> None:
    """Open parts of a page that are closed at first; all of them where none is named.

    A part that is put in place anew is closed for a moment although it was open: one that opens before it is clicked
    is as good as clicked.
    """
    main = settled(page).get_by_test_id("stMain")
    folds = main.locator("details[class]:not([open]) > summary")
    wanted = [folds.filter(has_text=title) for title in titles] or [folds]
    for title in titles:
        expect(main.locator("details > summary").filter(has_text=title)).not_to_have_count(0)
    for closed in wanted:
        for _ in range(MOST_FOLDS):
            if not closed.count():
                break
            with suppress(TimeoutError):
                closed.first.click(timeout=MOMENT)
            settled(page)
        expect(closed).to_have_count(0)
