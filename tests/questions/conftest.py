"""The toy question is code of another house: it is imported where a test puts it in, and not collected."""

from tests.pages.conftest import fresh_process, wine, workspace

__all__ = ["fresh_process", "wine", "workspace"]
collect_ignore = ["largest_class"]
