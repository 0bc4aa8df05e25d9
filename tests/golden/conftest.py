"""Old addresses are opened as the tests of pages open theirs."""

from tests.pages.conftest import fresh_process, open_page

__all__ = ["fresh_process", "open_page"]
